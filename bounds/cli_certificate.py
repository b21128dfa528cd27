"""`--certificate FILE`: the writer lives in a package above this one and is found through an entry point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from bounds.cli_options import note
from bounds.errors import MissingExtraError

if TYPE_CHECKING:
    from bounds.auditing import Verdict
    from bounds.evaluation import Evaluation
    from bounds.interval import Interval
    from bounds.knowledge import Knowledge

__all__ = ["GROUP", "CertificateFile", "certificate_file", "certificate_option"]

GROUP = "pairbounds.certificates"
"""Entry-point group whose `write` takes a path and gives a context with a `CertificateFile`."""

certificate_option = click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Proofs of what is shown, for `pairbounds check`.",
)


class CertificateFile(Protocol):
    """Takes what is to be certified; the file appears when its block has ended well."""

    @property
    def uncertified(self) -> Sequence[str]:
        """Why ends and verdicts so far are not certified, one reason each."""

    def add(self, evaluation: Evaluation, knowledge: Knowledge, interval: Interval) -> int:
        """Add an interval with its correspondences."""

    def add_verdicts(self, verdicts: Sequence[Verdict]) -> list[str]:
        """Add verdicts; the ids of those left out are given back."""


@contextmanager
def certificate_file(path: Path) -> Iterator[CertificateFile]:
    """A new certificate at `path`; what it could not certify is noted once it is written.

    Raises:
        MissingExtraError: if no package that is installed writes certificates.
    """
    with _writer()(path) as file:
        yield file
    if file.uncertified:
        note(f"--certificate: {len(file.uncertified)} not certified, the first as {file.uncertified[0]}")


def _writer() -> Any:
    for entry in metadata.entry_points(group=GROUP, name="write"):
        try:
            return entry.load()
        except ModuleNotFoundError:
            break
    raise MissingExtraError(
        "--certificate", None, "no package that is installed writes certificates", "pip install pairbounds"
    )
