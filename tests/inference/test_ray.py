"""The same file from a Ray cluster, also when workers and nodes are lost."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import little_runs
import pytest
from command import Command

from inference.ray_run import on_ray


@pytest.fixture(autouse=True)
def _ray(require: Callable[[str, bool, str], None]) -> None:
    require("ray", find_spec("ray") is not None, "the package is absent")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes of one core on this machine."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    yield cluster
    cluster.shutdown()


def test_a_cluster_that_loses_a_worker_and_a_node_gives_the_bytes_of_one_process(
    cluster: Any, example: Path, tmp_path: Path
) -> None:
    alone, out, marker = tmp_path / "alone.parquet", tmp_path / "cluster.parquet", tmp_path / "marker"
    conditions = (little_runs.Deadly("clean", "clean", marker), little_runs.Deadly("identity", "other", marker))
    little_runs.run(example, alone, batch=2, workers=0, conditions=conditions)
    marker.touch()
    nodes: set[int] = set()

    def lose_a_node(done: int, total: int) -> None:
        if done >= 10 and cluster.worker_nodes:
            nodes.add(len(cluster.worker_nodes))
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    report = little_runs.run(
        example,
        out,
        batch=2,
        workers=0,
        conditions=conditions,
        elsewhere=on_ray(cluster.address),
        progress=lose_a_node,
    )
    assert not marker.exists()
    assert nodes == {1}
    assert report.rows == 2 * little_runs.IMAGES
    assert out.read_bytes() == alone.read_bytes()


def test_a_cluster_that_is_not_there_is_refused(example: Path, tmp_path: Path, command: Command) -> None:
    arguments = little_runs.arguments(example, tmp_path / "records.parquet", "--ray", "nonsense")
    assert "--ray 'nonsense': no cluster is reached" in command(*arguments).refused()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert f"--ray '{address}': no cluster is reached" in command(*arguments[:-1], address).refused()
    assert "--ray computes elsewhere" in command(*arguments, "--workers", 2).refused()
