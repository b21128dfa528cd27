"""The units of a run as tasks of a Ray cluster.

Ray hands a task whose worker or node is lost to another one. A unit gives the same rows wherever it is computed, and
only this process writes, so no row is lost or written twice.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bounds.errors import MissingExtraError, PairboundsError
from inference.forward import Forward
from inference.work import Done, Job, compute

if TYPE_CHECKING:
    from inference.models import Model
    from inference.run import Compute

__all__ = ["on_ray"]

RETRIES = 5
"""How often a unit is tried again whose worker died."""

REACH_SECONDS = 20.0
"""How long a cluster may take to answer."""

LAST_PORT = 65535


def on_ray(address: str) -> Compute:
    """What computes units on a cluster; images and imported modules have to have the same paths on all its nodes.

    Args:
        address: of the cluster; `local` starts one on this machine for the time of the run. A task takes one core, and
            one GPU if the network is to run on a GPU.

    Raises:
        PairboundsError: if Ray is absent, or the cluster is not reached.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtraError("--ray", address, "Ray is absent", "pip install 'pairbounds[ray]'") from error

    def computed(job: Job, units: list[int], model: Model, device: str, precision: str) -> Iterator[Done]:
        try:
            _check_reached(address)
            ray.init(
                address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                # A network or a transformation of the user's own is imported by the workers too.
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
            )
        except (OSError, ValueError, RuntimeError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise PairboundsError(
                "--ray", address, f"no cluster is reached ({reason})", "give local, or HOST:PORT of its head"
            ) from error
        try:
            yield from _tasks(ray, job, units, model, device, precision)
        finally:
            ray.shutdown()

    return computed


def _check_reached(address: str) -> None:
    """Check that something answers at HOST:PORT: Ray itself tries for minutes. Other forms are left to Ray.

    Raises:
        OSError: if nothing does.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), min(int(port), LAST_PORT)), timeout=REACH_SECONDS).close()


def _tasks(ray: Any, job: Job, units: list[int], model: Model, device: str, precision: str) -> Iterator[Done]:
    work = ray.put((job, model.module, device, precision))
    task = ray.remote(_unit).options(
        num_cpus=1, num_gpus=1 if device.startswith("cuda") else 0, max_retries=RETRIES, retry_exceptions=False
    )
    waiting = list(reversed(units))
    running: list[Any] = []
    while waiting or running:
        while waiting and len(running) < 2 * max(1, int(ray.cluster_resources().get("CPU", 1))):
            running.append(task.remote([work], waiting.pop()))
        finished, running = ray.wait(running)
        for one in finished:
            try:
                yield ray.get(one)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, PairboundsError):
                    raise error.cause from None
                raise
            except ray.exceptions.RayError as error:
                raise PairboundsError(
                    "--ray",
                    None,
                    f"a unit was lost {RETRIES + 1} times ({type(error).__name__})",
                    "run again, which goes on where this stopped",
                ) from error


def _unit(work: list[Any], unit: int) -> Done:
    """One unit; the reference comes in a list, so that a worker fetches what is behind it once."""
    job, forward = _fetched(work[0])
    return next(compute(job, [unit], forward, workers=0, threads=1))


@functools.lru_cache(maxsize=1)
def _fetched(reference: Any) -> tuple[Job, Forward]:
    import ray

    job, module, device, precision = ray.get(reference)
    return job, Forward(module, device, precision)
