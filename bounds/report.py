"""Printed reports: what a paper's table says, as statements about counts.

A report is a TOML file, or a CSV file with one row an answer (docs/report.md). Every number is a statement as printed,
`bounds.report_sheet.Said`; it stands for the closed set of values that print so. Nothing is computed here.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from bounds.errors import ClaimError
from bounds.exact import whole_number
from bounds.printed import ROUNDINGS
from bounds.quantities import QUANTITIES
from bounds.report_sheet import COUNTS, Counted, Relation, Said, Sheet

__all__ = [
    "ASSUMPTIONS",
    "RATES",
    "Ask",
    "Claimed",
    "ReportRow",
    "Stated",
    "load_report",
    "needs_acceptance",
    "parse_ask",
]

RATES: Mapping[str, tuple[str, str]] = {
    "clean-accuracy": ("clean-correct", "images"),
    "perturbed-accuracy": ("perturbed-correct", "images"),
    "clean-coverage": ("clean-accepted", "images"),
    "perturbed-coverage": ("perturbed-accepted", "images"),
    "clean-selective-accuracy": ("clean-accepted-correct", "clean-accepted"),
    "perturbed-selective-accuracy": ("perturbed-accepted-correct", "perturbed-accepted"),
    "clean-selective-risk": ("clean-accepted-errors", "clean-accepted"),
    "perturbed-selective-risk": ("perturbed-accepted-errors", "perturbed-accepted"),
}
"""Names of rates that papers print: numerator and denominator in `bounds.report_sheet.COUNTS`."""

ASSUMPTIONS: Mapping[str, str] = {"none-recovered": "recovered", "none-lost": "lost"}
"""Assumptions that need no file: name -> the count that is 0."""

LABELS = "labels"
ASKED = ("retained-correct/none", "lost/none", "recovered/none", "flips/none")
ASKED_OF_ACCEPTANCE = ("lost-acceptance", "new-accepted-error/none")
TOP = ("name", "unit", "rounding", "images", "classes", LABELS, "ask", "shared", "model", "assume", "row")
IN_ROW = ("name", "model", "class", "claim", "ask")
CSV_PLAIN = ("row", "model", "images", "unit", "rounding")

_BETWEEN = re.compile(r"(?P<lower>\S.*?)\s+to\s+(?P<upper>\S.*)")
_SIDE = re.compile(r"(?P<sign>>=|<=|≥|≤)\s*(?P<number>\S.*)")


@dataclass(frozen=True, slots=True)
class Ask:
    """A quantity asked for.

    Attributes:
        key: as typed, `QUANTITY` or `QUANTITY/DENOMINATOR`.
        counted: what it counts.
    """

    key: str
    counted: Counted


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement of a row.

    Attributes:
        words: the statement for people, with the place where it stands.
        said: the statement.
        assumption: the assumption that it is part of; None for what the report says.
        claimed: whether it is a claim to be judged, which nothing is given by.
    """

    words: str
    said: Said
    assumption: str | None = None
    claimed: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim to be judged: an interval of a quantity over all tables, or one value of it.

    Attributes:
        words: for people.
        said: "between" for an interval; else a value, or a bound for it.
        number: of a value: where it stands among the statements of the row.
    """

    words: str
    said: Said
    number: int | None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """What one row says, with what is shared by all.

    Attributes:
        name: of the row.
        sheet: classes and statements, those of assumptions and claimed values last.
        stated: the same statements with their words.
        claims: to be judged.
        asks: quantities whose ranges are wanted.
    """

    name: str
    sheet: Sheet
    stated: tuple[Stated, ...]
    claims: tuple[Claimed, ...]
    asks: tuple[Ask, ...]

    @property
    def given(self) -> tuple[int, ...]:
        """Numbers of the statements that the report itself makes."""
        return self.assuming(())

    def assuming(self, names: Iterable[str]) -> tuple[int, ...]:
        """Those, and the statements of some assumptions."""
        chosen = set(names)
        return tuple(
            number
            for number, one in enumerate(self.stated)
            if not one.claimed and (one.assumption is None or one.assumption in chosen)
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Names of the assumptions that can be switched on, in the order of the file."""
        return tuple(dict.fromkeys(one.assumption for one in self.stated if one.assumption is not None))


def load_report(path: str | Path, assume: Sequence[str] = ()) -> list[ReportRow]:
    """The rows of a report.

    Args:
        path: `.csv` for a table, else TOML.
        assume: names of `ASSUMPTIONS` to add.

    Raises:
        ClaimError: if the file cannot be read, naming the row, the key and the value.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ClaimError("report", str(path), f"is not UTF-8 ({error.reason})", "save it as UTF-8") from error
    except OSError as error:
        raise ClaimError("report", str(path), f"cannot be read: {error.strerror}", "check the path") from error
    for name in assume:
        if name not in ASSUMPTIONS:
            _refuse("--assume", name, "unknown", f"choose among {', '.join(ASSUMPTIONS)}")
    content = _csv_content(path, text) if path.suffix.lower() == ".csv" else _toml_content(path, text)
    return _Reader(path.name, content, assume).rows()


def _toml_content(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ClaimError("report", str(path), f"is no TOML ({error})", "see docs/report.md") from error


def _csv_content(path: Path, text: str) -> dict[str, Any]:
    """A table as the content of a TOML file: one row an answer, a statement a column, claims as `claim:QUANTITY`."""
    if "\x00" in text:
        _refuse("report", str(path), "holds a NUL character", "save it as CSV in UTF-8")
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        lines = [line for line in reader if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise ClaimError("report", str(path), f"is no CSV ({error})", "quote fields that hold commas") from error
    if not lines:
        _refuse("report", str(path), "holds no row", "give a header and at least one row")
    header = [cell.strip() for cell in lines[0]]
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        _refuse("column", repeated[0], f"occurs twice in the header of {path.name}", "rename one of the two")
    rows = []
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            rule = f"has {len(line)} fields where the header has {len(header)}"
            _refuse("row", number, rule, "give every row as many fields")
        cells = {name: cell.strip() for name, cell in zip(header, line, strict=True) if cell.strip()}
        row: dict[str, Any] = {"name": cells.pop("row", str(number))}
        for name, cell in cells.items():
            if name == "images":
                row[name] = _count("images", cell)
            elif name.startswith("claim:"):
                row.setdefault("claim", {})[name.removeprefix("claim:")] = cell
            else:
                row[name] = cell
        rows.append(row)
    return {"row": rows}


def _count(name: str, text: str) -> int:
    number = whole_number(text)
    if number is None:
        _refuse(name, text, "is no number of images", "give a whole number")
    return number


def _refuse(name: str, value: object, rule: str, way_out: str) -> NoReturn:
    raise ClaimError(name, value, rule, way_out)


def parse_ask(key: str) -> Ask:
    """A quantity as typed.

    Raises:
        ClaimError: if there is none of that name.

    >>> parse_ask("flips/none").counted, parse_ask("clean-accuracy").counted.denominator
    (Counted(numerator='flips', denominator=None, of_class=None), 'images')
    """
    return Ask(key, _counted("quantity", key, None))


def _counted(where: str, key: str, of_class: int | None) -> Counted:
    name, slash, below = key.partition("/")
    if name in RATES:
        numerator, default = RATES[name]
    elif name in COUNTS:
        numerator = name
        default = QUANTITIES[name].denominators[0] if name in QUANTITIES else "images"
    else:
        known = [*RATES, *COUNTS]
        near = get_close_matches(name, known, 3) or known
        _refuse(where, key, "no quantity of that name", f"choose among {', '.join(near)}")
    if not slash:
        return Counted(numerator, default, of_class)
    if below == "none":
        return Counted(numerator, None, of_class)
    if below not in COUNTS:
        near = get_close_matches(below, list(COUNTS), 3) or ["none", *COUNTS]
        _refuse(where, key, f"no denominator {below!r}", f"choose among {', '.join(near)}")
    return Counted(numerator, below, of_class)


@dataclass(slots=True)
class _Scope:
    """How the numbers of one row are read."""

    unit: str
    rounding: str


@dataclass(slots=True)
class _Reader:
    file: str
    content: Mapping[str, Any]
    assume: Sequence[str]
    classes: list[str] = field(default_factory=list)

    def rows(self) -> list[ReportRow]:
        content = self.content
        self._only("report", content, TOP, "report")
        self.classes = self._classes()
        rows = content.get("row")
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            _refuse("row", None, f"{self.file} has no [[row]]", "give at least one row")
        found = [self._row(row, str(row.get("name", number))) for number, row in enumerate(rows, 1)]
        names = [row.name for row in found]
        for name in names:
            if names.count(name) > 1:
                _refuse("row", name, "occurs twice", "give every row a name of its own")
        return found

    def _only(self, where: str, table: Mapping[str, Any], known: Sequence[str], what: str) -> None:
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, 3) or known
                _refuse(where, key, f"no key of a {what}", f"choose among {', '.join(near)}")

    def _classes(self) -> list[str]:
        images, classes = self.content.get("images"), self.content.get("classes")
        if classes is not None:
            named = isinstance(classes, list) and all(isinstance(name, str) for name in classes)
            if isinstance(images, dict):
                _refuse("classes", None, "and images name the classes", "leave classes out")
            if not named or len(set(classes)) != len(classes) or not classes:
                _refuse("classes", classes, "is no list of different names", 'give such as ["cat", "dog"]')
            return list(classes)
        return list(images) if isinstance(images, dict) else []

    def _images(self, row: Mapping[str, Any], where: str) -> tuple[list[int | None], list[tuple[str, int]]]:
        """Images of each class, None where only their sum is known; and sums to state."""
        images = row.get("images", self.content.get("images"))
        if isinstance(images, dict):
            if list(images) != self.classes:
                _refuse(where, images, "names other classes than the report", "name the same classes")
            counts = [self._size(f"{where}: images.{name}", images[name]) for name in images]
            return list(counts), []
        total = None if images is None else self._size(f"{where}: images", images)
        if not self.classes:
            return [total], []
        return [None] * len(self.classes), [] if total is None else [("images", total)]

    def _size(self, where: str, value: Any) -> int:
        if isinstance(value, str):
            value = whole_number(value) if whole_number(value) is not None else value
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 10**9:
            _refuse(where, value, "is no number of images from 0 to 1000000000", "give a whole number")
        return value

    def _row(self, row: Mapping[str, Any], name: str) -> ReportRow:
        where = f"row {name!r}"
        scope = _Scope(
            self._word(where, row, "unit", ("fraction", "percent"), "fraction"),
            self._word(where, row, "rounding", ROUNDINGS, "nearest"),
        )
        images, sums = self._images(row, where)
        stated = [self._said_count(where, key, total) for key, total in sums]
        if (labels := self.content.get(LABELS)) is not None and self._labels(labels) == 2:
            stated.append(self._zero(f"{LABELS} = 2", "changed-wrong"))
        shared = self.content.get("shared", {})
        stated += self._statements("shared", shared, scope, ("class",))
        model = row.get("model")
        if model is not None and isinstance(self.content.get("model"), dict):
            models = self.content["model"]
            if model not in models:
                _refuse(where, model, "no [model] of that name", f"choose among {', '.join(models)}")
            stated += self._statements(f"model {model!r}", models[model], scope, ("class",))
        stated += self._statements(where, row, scope, (*IN_ROW, "images", "unit", "rounding"))
        for assumption in self.assume:
            stated.append(self._zero(assumption, ASSUMPTIONS[assumption], assumption))
        assumed = self.content.get("assume", {})
        if not isinstance(assumed, dict):
            _refuse("assume", assumed, "is no table of assumptions", "write [assume.NAME]")
        for assumption, table in assumed.items():
            stated += self._statements(f"assume {assumption!r}", table, scope, ("class",), assumption)
        claims = []
        for words, said in self._claims(where, row.get("claim", {}), scope):
            claims.append(Claimed(words, said, None if said.relation == "between" else len(stated)))
            if said.relation != "between":
                stated.append(Stated(words, said, claimed=True))
        asks = self._asks(where, row)
        counted = [one.said.counted for one in stated] + [one.said.counted for one in claims]
        acceptance = any(needs_acceptance(one) for one in [*counted, *(ask.counted for ask in asks)])
        if not asks and not claims:
            asks = tuple(parse_ask(key) for key in ASKED + (ASKED_OF_ACCEPTANCE if acceptance else ()))
        named: list[str | None] = [*self.classes] or [None]
        classes = tuple(zip(named, images, strict=True))
        sheet = Sheet(name, classes, acceptance, tuple(one.said for one in stated))
        return ReportRow(name, sheet, tuple(stated), tuple(claims), asks)

    def _word(self, where: str, row: Mapping[str, Any], key: str, known: Sequence[str], default: str) -> str:
        value = row.get(key, self.content.get(key, default))
        if value not in known:
            _refuse(f"{where}: {key}", value, "unknown", f"choose {' or '.join(known)}")
        return str(value)

    def _labels(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 2:
            _refuse(LABELS, value, "is no number of labels from 2", "give a whole number, or leave it out")
        return value

    def _said_count(self, where: str, key: str, total: int) -> Stated:
        return Stated(f"{where}: {key} = {total}", Said(Counted(key), "is", str(total), unit="count"))

    def _zero(self, words: str, count: str, assumption: str | None = None) -> Stated:
        return Stated(f"{words}: {count} = 0", Said(Counted(count), "is", "0", unit="count"), assumption)

    def _asks(self, where: str, row: Mapping[str, Any]) -> tuple[Ask, ...]:
        asked = row.get("ask", self.content.get("ask", []))
        if not isinstance(asked, list) or not all(isinstance(key, str) for key in asked):
            _refuse(f"{where}: ask", asked, "is no list of quantities", 'give such as ["flips", "lost/none"]')
        return tuple(Ask(key, _counted(f"{where}: ask", key, None)) for key in asked)

    def _statements(
        self, where: str, table: Any, scope: _Scope, other: Sequence[str], assumption: str | None = None
    ) -> Iterator[Stated]:
        for key, value, of_class in self._cells(where, table, other):
            said, words = self._said(where, key, value, scope, of_class)
            yield Stated(words, said, assumption)

    def _claims(self, where: str, table: Any, scope: _Scope) -> Iterator[tuple[str, Said]]:
        for key, value, of_class in self._cells(f"{where}: claim", table, ("class",)):
            said, words = self._said(f"{where}: claim", key, value, scope, of_class)
            yield words, said

    def _cells(self, where: str, table: Any, other: Sequence[str]) -> Iterator[tuple[str, Any, int | None]]:
        """Key, value and class of what a table says."""
        if not isinstance(table, dict):
            _refuse(where, table, "is no table", "see docs/report.md")
        for key, value in table.items():
            if key not in other:
                yield key, value, None
        classes = table.get("class", {})
        if not isinstance(classes, dict):
            _refuse(f"{where}: class", classes, "is no table of classes", "write [row.class.NAME]")
        for name, cells in classes.items():
            if name not in self.classes:
                shown = ", ".join(self.classes) or "none: name them in images or classes"
                _refuse(f"{where}: class", name, "no class of that name", f"the report's classes are {shown}")
            for key, value, _ in self._cells(f"{where}: class {name!r}", cells, ()):
                yield key, value, self.classes.index(name)

    def _said(self, where: str, key: str, value: Any, scope: _Scope, of_class: int | None) -> tuple[Said, str]:
        if isinstance(value, Decimal | float):
            _refuse(f"{where}: {key}", value, "a number without quotes has lost its digits", "quote it as printed")
        plain = isinstance(value, int) and not isinstance(value, bool)
        if not plain and not isinstance(value, str):
            _refuse(f"{where}: {key}", value, "is no printed number", 'give such as "0.92", or 92 for a count')
        counted = _counted(where, key, of_class)
        if plain and "/" in key and counted.denominator is not None:
            _refuse(
                f"{where}: {key}",
                value,
                "a number without quotes is a count, and this is a rate",
                "quote it as printed",
            )
        if plain:
            counted = Counted(counted.numerator, None, of_class)
        text = str(value).strip()
        relation: Relation = "is"
        lower, upper = text, ""
        if between := _BETWEEN.fullmatch(text):
            relation, lower, upper = "between", between["lower"], between["upper"]
        elif side := _SIDE.fullmatch(text):
            relation = "at least" if side["sign"] in (">=", "≥") else "at most"
            lower = side["number"]
        unit = "count" if counted.denominator is None else ("" if "%" in text else scope.unit)
        said = Said(counted, relation, lower, upper, unit, scope.rounding)
        try:
            low, high = said.sides
        except ClaimError as error:
            raise ClaimError(f"{where}: {key}", error.value, error.rule, error.way_out) from None
        if low is not None and high is not None and low > high:
            _refuse(f"{where}: {key}", text, "its lower end lies above its upper end", "print the lower end first")
        place = where if of_class is None else f"{where}, class {self.classes[of_class]!r}"
        return said, f"{place}: {key} = {text}"


def needs_acceptance(counted: Counted) -> bool:
    """Whether a count depends on what is accepted."""
    names = [counted.numerator] + ([] if counted.denominator is None else [counted.denominator])
    return any((COUNTS[name] != COUNTS[name][:, :1, :1]).any() for name in names)
