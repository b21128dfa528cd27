"""What the verbs share: how results go out, lists of names, and progress."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from bounds.cli import emit
from bounds.errors import PairboundsError, printable
from bounds.files import check_apart, check_output

__all__ = [
    "Output",
    "average_option",
    "backend_option",
    "chosen",
    "denominator_option",
    "is_all",
    "json_text",
    "node_limit_option",
    "note",
    "output_options",
    "parse_level",
    "plot_option",
    "progress",
    "split",
]

T = TypeVar("T")

QUIET_SECONDS = 2.0
"""Work that takes longer shows its progress, where stderr is a terminal."""

SHOWN_NAMES = 30


def json_text(value: Any) -> str:
    """Strict JSON; a list has one element a line."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json_text(item) for item in value) + "\n]" if value else "[]"
    return json.dumps(value, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Output:
    """Where the results go: `--json`, or `--format` with `--out`, or a table for people."""

    as_json: bool
    format: str | None
    out: Path | None

    def check(
        self,
        inputs: Iterable[tuple[str, Path | None]],
        *,
        witness: Path | None = None,
        plot: Path | None = None,
        certificate: Path | None = None,
    ) -> None:
        """Check, before long work, that the files asked for can be written and replace none that is read.

        Args:
            inputs: what is read, as `bounds.files.check_apart` takes it.
            witness, plot, certificate: what is written besides `out`.

        Raises:
            PairboundsError: if one cannot.
            MissingExtraError: if there is a picture to draw and no matplotlib.
        """
        if witness is not None:
            check_output("--witness", witness, (".csv", ".parquet"))
        if plot is not None:
            from bounds.plots import SUFFIXES, require_matplotlib

            check_output("--plot", plot, SUFFIXES)
            require_matplotlib()
        if certificate is not None:
            check_output("--certificate", certificate, (".json",))
        outputs = [("--witness", witness), ("--plot", plot), ("--certificate", certificate), ("--out", self.out)]
        check_apart(outputs, inputs)

    def write(
        self,
        objects: list[dict[str, Any]] | dict[str, Any],
        readable: Callable[[], str],
        latex: Callable[[], str],
        rows: list[dict[str, Any]] | None = None,
        columns: Mapping[str, type] | None = None,
    ) -> None:
        """Print or write the results.

        Args:
            objects: what `--json` prints.
            readable, latex: make the table for people and the LaTeX one.
            rows: of CSV and Parquet; `objects` by default, if they are a list.
            columns: that CSV and Parquet have whatever the rows, with their types.
        """
        from bounds import tables

        if rows is None:
            assert isinstance(objects, list)
            rows = objects

        if self.format == "parquet" and self.out is not None:
            tables.write_parquet(rows, self.out, columns)
            return
        if self.as_json:
            text = json_text(objects)
        elif self.format == "csv":
            text = tables.csv_text(rows, columns)
        else:
            text = latex() if self.format == "latex" else readable()
        if self.out is None:
            emit(text)
        else:
            tables.write_text(text, self.out)


average_option = click.option(
    "--average", type=click.Choice(["micro", "macro"]), default="micro", show_default=True, help="Over classes."
)
backend_option = click.option(
    "--backend", type=click.Choice(["highs", "cvxpy"]), default="highs", show_default=True, help="The solver."
)
denominator_option = click.option(
    "--denominator", metavar="D", help="What rates are taken over  [default: the quantity's own]"
)
node_limit_option = click.option(
    "--node-limit", type=click.IntRange(min=0), metavar="N", help="Branch-and-bound nodes of one program."
)
plot_option = click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Picture: .png, .svg or .pdf."
)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json`, `--format` and `--out`, handed to the verb as one `output`."""

    @click.option("--json", "as_json", is_flag=True, help="Print strict JSON and nothing else.")
    @click.option("--format", "format_", type=click.Choice(["csv", "parquet", "latex"]), help="Write a table.")
    @click.option("--out", type=click.Path(path_type=Path), help="The file that --format writes.")
    @functools.wraps(function)
    def wrapped(*args: Any, as_json: bool, format_: str | None, out: Path | None, **kwargs: Any) -> Any:
        if as_json and format_ is not None:
            raise PairboundsError("--format", format_, "cannot go with --json", "give one of the two")
        if out is not None and format_ is None:
            raise PairboundsError("--out", str(out), "needs a format", "add --format csv, parquet or latex")
        if format_ == "parquet" and out is None:
            raise PairboundsError("--format", format_, "is not written to a terminal", "add --out FILE")
        if out is not None:
            check_output("--out", out)
        return function(*args, output=Output(as_json, format_, out), **kwargs)

    return wrapped


def split(values: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """The names in a repeated option, each once: a value is split at commas unless it is a known name as it stands.

    >>> split(["fog/3,snow/3", "fog/3", "a,b"], known=["a,b"])
    ['fog/3', 'snow/3', 'a,b']
    """
    parts = [part for value in values for part in ([value] if value in known else value.split(","))]
    return list(dict.fromkeys(part if part in known else part.strip() for part in parts))


def chosen(option: str, values: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names asked for among the known ones; `all` means every one.

    Raises:
        PairboundsError: if one is unknown, naming those that come near it, or `all` is not alone.
    """
    names = split(values, known)
    if is_all(option, names):
        return list(known)
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 3) or known[:SHOWN_NAMES]
            more = " …" if len(near) < len(known) else ""
            raise PairboundsError(option, name, "unknown", f"choose among {', '.join(near)}{more}, or all")
    return names


def is_all(option: str, names: Sequence[str]) -> bool:
    """Whether the names are the one word `all`.

    Raises:
        PairboundsError: if they are that and others.
    """
    if "all" in names and len(names) > 1:
        others = ", ".join(name for name in names if name != "all")
        raise PairboundsError(option, "all", f"cannot go with {others}", "give all, or the names")
    return "all" in names


def parse_level(option: str, text: str, example: str) -> Fraction:
    """A level of significance or of confidence as typed: a decimal strictly between 0 and 1.

    Raises:
        PairboundsError: if it is another.

    >>> parse_level("--level", "0.05", "0.05")
    Fraction(1, 20)
    """
    from bounds.exact import exact_number

    try:
        level = exact_number(text)
    except ValueError as error:
        raise PairboundsError(option, text, str(error), f"give such as {example}") from None
    if not 0 < level < 1:
        raise PairboundsError(option, text, "a level lies strictly between 0 and 1", f"give such as {example}")
    return level


def progress(tasks: Iterable[T], total: Callable[[], int], label: str) -> Iterator[T]:
    """The tasks, with a bar on stderr once they have taken a while, if that is a terminal.

    `total` is asked for when the bar appears; it may depend on the tasks begun before.
    """
    iterator = iter(tasks)
    started = time.monotonic()
    done = 0
    for task in iterator:
        yield task
        done += 1
        if sys.stderr.isatty() and time.monotonic() - started > QUIET_SECONDS:
            break
    else:
        return
    with click.progressbar(length=total(), label=label, file=sys.stderr) as bar:
        bar.update(done)
        for task in iterator:
            yield task
            bar.update(1)


def note(text: str) -> None:
    """One line on stderr, for what is worth knowing though nothing is wrong."""
    click.echo(f"pairbounds: note: {printable(text)}", err=True)
