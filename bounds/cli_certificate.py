"""`--certificate FILE`: the writer lives in a package above this one and is found through an entry point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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
    from bounds.report_answers import Answer

__all__ = [
    "GROUP",
    "CertificateFile",
    "ReportCertificateFile",
    "certificate_file",
    "certificate_option",
    "report_certificate_file",
]

GROUP = "pairbounds.certificates"
"""Entry-point group: `write` and `write-report` take a path and give a context with a file to add to."""

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
    with _writer("write")(path) as file:
        yield file
    if file.uncertified:
        note(f"--certificate: {len(file.uncertified)} not certified, the first as {file.uncertified[0]}")


class ReportCertificateFile(Protocol):
    """Takes answers about printed reports; the file appears when its block has ended well."""

    def add(self, answer: Answer, node_limit: int | None) -> None:
        """Add what was answered of one row."""


def report_certificate_file(path: Path) -> AbstractContextManager[ReportCertificateFile]:
    """A new certificate of printed reports at `path`.

    Raises:
        MissingExtraError: if no package that is installed writes certificates.
    """
    file: AbstractContextManager[ReportCertificateFile] = _writer("write-report")(path)
    return file


def _writer(name: str) -> Any:
    for entry in metadata.entry_points(group=GROUP, name=name):
        try:
            return entry.load()
        except ModuleNotFoundError:
            break
    raise MissingExtraError(
        "--certificate", None, "no package that is installed writes certificates", "pip install pairbounds"
    )
