"""The command `pairbounds`: one verb a job, each loaded only when it is used.

Exit codes: 0 done and everything holds; 1 done and something does not; 2 input that cannot be used, told in one line
on stderr; 70 a fault of the program itself, with its traceback; 130 interrupted; 141 the reader of the output has gone,
in silence, as where the signal ends a program.

Standard output carries results only. Solvers print on file descriptor 1 even when they are told not to, and libraries
through `sys.stdout`; so the descriptor is pointed at nothing before anything else happens, `sys.stdout` at stderr while
a verb works, and results go out through `emit`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TextIO, cast

import click

from bounds.errors import MissingExtraError, PairboundsError, printable

__all__ = ["Verb", "emit", "main", "run"]

TOP_LEVEL = ("bounds", "proofs", "inference", "ranking")
"""The packages of this distribution."""

VERBS = {
    "advise": ("bounds.cli_advise", "advise"),
    "audit": ("bounds.cli_audit", "audit"),
    "bands": ("bounds.cli_bands", "bands"),
    "audit-report": ("bounds.cli_report", "audit_report"),
    "bounds": ("bounds.cli_bounds", "bounds"),
    "demo": ("bounds.cli_demo", "demo"),
    "mcnemar": ("bounds.cli_mcnemar", "mcnemar"),
    "persistence": ("bounds.cli_persistence", "persistence"),
    "policies": ("bounds.cli_policies", "policies"),
    "region": ("bounds.cli_region", "region"),
    "sampling": ("bounds.cli_sampling", "sampling"),
}
"""Verbs of this package: name -> (module, attribute)."""

VERB_GROUP = "pairbounds.verbs"
"""Entry-point group through which the packages above add theirs: name -> click.Command."""

FAULT = 70
INTERRUPTED = 130
READER_GONE = 141

_STDOUT = "pairbounds.stdout"


class Verb(click.Command):
    """A verb; while it works, what others print on `sys.stdout` goes to stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        ctx.meta[_STDOUT] = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):
            return super().invoke(ctx)


def emit(text: str) -> None:
    """Write a result, with a newline, to the standard output. Only inside a `Verb`."""
    stream: IO[str] = click.get_current_context().meta[_STDOUT]
    stream.write(text if text.endswith("\n") else text + "\n")
    stream.flush()


class _Verbs(click.Group):
    """The verbs of this package and of those above it, loaded on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*VERBS, *metadata.entry_points(group=VERB_GROUP).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in VERBS:
            module, attribute = VERBS[cmd_name]
            return cast(click.Command, getattr(importlib.import_module(module), attribute))
        for entry in metadata.entry_points(group=VERB_GROUP, name=cmd_name):
            try:
                return cast(click.Command, entry.load())
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] in TOP_LEVEL:
                    raise
                raise MissingExtraError(
                    "verb",
                    cmd_name,
                    f"needs the package {error.name}, which is absent",
                    "pip install 'pairbounds[all]'",
                ) from error
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            try:
                command = self.get_command(ctx, name)
            except MissingExtraError as error:
                rows.append((name, f"({error.rule}; {error.way_out})"))
            else:
                rows.append((name, command.get_short_help_str(80) if command else ""))
        with formatter.section("Verbs"):
            formatter.write_dl(rows)


@click.group(cls=_Verbs, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pairbounds", message="%(prog)s %(version)s")
def pairbounds() -> None:
    """What a paired robustness evaluation does and does not reveal.

    A correspondence is a bijection between the clean and the perturbed records of one class; every number here is a
    minimum or a maximum over the correspondences that agree with what is known.
    """


def check_names() -> None:
    """Check that the four top-level names are this distribution's.

    They are common words, and another package may own one: in a folder that comes earlier on the path, or installed
    over ours in the same folder, which the hashes of the installed distribution tell.

    Raises:
        PairboundsError: naming the first that is not, and the file that is there instead.
    """
    home = Path(__file__).resolve().parent.parent
    hashes = _installed_hashes(home)
    for name in TOP_LEVEL:
        spec = find_spec(name)
        origin = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
        if origin is not None and origin.parent.parent == home:
            listed = hashes.get(f"{name}/__init__.py")
            if listed is None or listed == _hash(origin):
                continue
        raise PairboundsError(
            "package",
            name,
            f"is not the one of pairbounds but {origin or 'absent'}",
            "install pairbounds in an environment of its own",
        )


def _installed_hashes(home: Path) -> dict[str, str]:
    """SHA-256 of each file installed in `home`, as its RECORD lists them; empty for a source tree."""
    try:
        distribution = metadata.distribution("pairbounds")
    except metadata.PackageNotFoundError:
        return {}
    if Path(str(distribution.locate_file(""))).resolve() != home:
        return {}
    rows = (line.split(",") for line in (distribution.read_text("RECORD") or "").splitlines())
    return {row[0]: row[1].removeprefix("sha256=") for row in rows if len(row) == 3 and row[1]}


def _hash(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        check_names()
        with pairbounds.make_context("pairbounds", list(arguments)) as context:
            pairbounds.invoke(context)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("pairbounds: interrupted", err=True)
        return INTERRUPTED
    except PairboundsError as error:
        return _fail(error.line)
    except click.ClickException as error:
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "pairbounds"
        return _fail(f"{error.format_message().rstrip('.')}; see {command} --help")
    except BrokenPipeError:
        return READER_GONE
    except OSError as error:
        reason = f"{error.filename or 'output'}: {error.strerror or error}"
        return _fail(f"{reason}; check that it can be read or written and that there is room")
    except Exception:
        traceback.print_exc()
        return FAULT
    return 0


def _fail(line: str) -> int:
    click.echo("pairbounds: error: " + printable(" ".join(line.split())), err=True)
    return 2


def _claim_stdout() -> TextIO:
    """A private stream onto the standard output, while file descriptor 1 leads nowhere."""
    private = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return open(private, "w", encoding="utf-8")


def main() -> None:
    """Entry point of the command `pairbounds`."""
    if sys.stdout is None:
        sys.exit(_fail("standard output: is closed; redirect it to a file or to /dev/null"))
    sys.stdout = _claim_stdout()
    code = run(sys.argv[1:])
    try:
        sys.stdout.close()
    except OSError:
        # The reader is gone or the disk is full; that was told when the text was first flushed.
        code = code or 2
    sys.exit(code)
