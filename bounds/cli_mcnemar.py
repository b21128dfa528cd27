"""`pairbounds mcnemar`: McNemar's test over all correspondences of two accuracies."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bounds.cli import Verb
from bounds.cli_options import Output, output_options, parse_level
from bounds.errors import ClaimError, PairboundsError, printable

if TYPE_CHECKING:
    from bounds.mcnemar import Discordant, Outcome, PValue

__all__ = ["mcnemar", "p_span"]

ENDS = ("lower", "upper")
COUNTED = ("discordant", "lost", "recovered")
MEASURED = ("statistic", "p", "holm")

COLUMNS: dict[str, type] = {
    "comparison": str,
    "images": int,
    **dict.fromkeys(
        (f"{name}_{end}" for name in ("discordant", "lost", "recovered") for end in ("lower", "upper")), int
    ),
    "test": str,
    **dict.fromkeys((f"{name}_{end}" for name in MEASURED for end in ENDS), float),
    **dict.fromkeys(("significant", "significant_holm"), str),
    **dict.fromkeys(("level", "paired_p"), float),
}
HEADER = ("comparison", "images", "first", "second")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides compared.

    Attributes:
        name: for tables.
        pairs: the discordant counts that are possible, one object for each count of the shared first side.
        paired: lost and recovered images, where the correspondence is at hand.
    """

    name: str
    pairs: Sequence[Discordant]
    paired: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Tested:
    """A comparison with its tests.

    Attributes:
        comparison: what was compared.
        outcomes: one a test.
        holm: adjusted p-values of each test; None for a single comparison.
    """

    comparison: Comparison
    outcomes: Sequence[Outcome]
    holm: Sequence[tuple[PValue, PValue]] | None


@click.command(cls=Verb)
@click.argument("numbers", nargs=-1, metavar="[N CORRECT_1 CORRECT_2]")
@click.option("--retained", type=click.IntRange(min=0), metavar="K", help="Images correct on both sides, if known.")
@click.option(
    "--comparisons",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Several at once: CSV with comparison, images, first, second; all share their first side.",
)
@click.option(
    "--records",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RECORDS",
    help="Prediction records: the margins of each class, and the paired test beside.",
)
@click.option("--model", metavar="M", help="Of --records; needed where there are several.")
@click.option("--perturbed", multiple=True, metavar="COND", help="Conditions of --records  [default: all]")
@click.option("--level", default="0.05", show_default=True, metavar="P", help="Of significance, a decimal.")
@output_options
def mcnemar(
    *,
    numbers: Sequence[str],
    retained: int | None,
    comparisons: Path | None,
    records: Sequence[Path],
    model: str | None,
    perturbed: Sequence[str],
    level: str,
    output: Output,
) -> None:
    """McNemar's test when only the two accuracies on the same images are known.

    N images, CORRECT_1 and CORRECT_2 of them correct on each side: counts, or accuracies as printed (0.92, 92%). The
    p-value of every test is an interval over all correspondences; several comparisons get Holm's correction as well.
    """
    inputs: list[tuple[str, Path | None]] = [("--comparisons", comparisons), *(("--records", path) for path in records)]
    output.check(inputs)
    _one_way(numbers, comparisons, records, model, perturbed, retained)
    share = parse_level("--level", level, "0.05")
    if records:
        found = _from_records(records, model, perturbed)
    elif comparisons is not None:
        found = _from_file(comparisons)
    else:
        found = [Comparison("", [_pairs(numbers, retained)])]
    tested = _tested(found, share)
    objects = [_object(one) for one in tested]
    output.write(
        objects if comparisons is not None or records else objects[0],
        lambda: tested_text(tested),
        lambda: _latex(tested),
        rows=_flat(tested),
        columns=COLUMNS,
    )


def _one_way(
    numbers: Sequence[str],
    comparisons: Path | None,
    records: Sequence[Path],
    model: str | None,
    perturbed: Sequence[str],
    retained: int | None,
) -> None:
    ways = [bool(numbers), comparisons is not None, bool(records)]
    if sum(ways) != 1 or (numbers and len(numbers) != 3):
        rule = "one comparison is three numbers: images, and correct ones of each side"
        raise PairboundsError("N CORRECT_1 CORRECT_2", " ".join(numbers), rule, "or give --comparisons or --records")
    if not records and (model is not None or perturbed):
        option, value = ("--model", model) if model is not None else ("--perturbed", perturbed[0])
        raise PairboundsError(option, value, "is of --records", "add --records, or leave it out")
    if retained is not None and not numbers:
        raise PairboundsError(
            "--retained", retained, "is of one comparison", "give N CORRECT_1 CORRECT_2, or leave it out"
        )


def _images(text: str, name: str = "N") -> int:
    from bounds.exact import whole_number

    images = whole_number(text.strip())
    if images is None or not 0 < images <= 10**7:
        raise PairboundsError(name, text, "is no number of images from 1 to 10000000", "give how many there are")
    return images


def _correct(text: str, images: int, name: str) -> range:
    """The counts that a number as typed stands for: digits alone are a count."""
    from bounds.exact import whole_number
    from bounds.mcnemar import correct_counts
    from bounds.printed import parse

    if (count := whole_number(text.strip())) is not None:
        if count > images:
            raise PairboundsError(name, text, f"there are {images} images", "give a count, or an accuracy such as 0.92")
        return range(count, count + 1)
    counts = correct_counts(images, parse(text, "" if "%" in text else "fraction", name=name))
    if not len(counts):
        rule = f"no number of {images} images prints so"
        raise PairboundsError(name, text, rule, "check the number of images and the digits")
    return counts


def _pairs(numbers: Sequence[str], retained: int | None) -> Discordant:
    from bounds.mcnemar import discordant

    images, first, second = numbers
    many = _images(images)
    return discordant(many, _correct(first, many, "CORRECT_1"), _correct(second, many, "CORRECT_2"), retained)


def _from_file(path: Path) -> list[Comparison]:
    """Every row of the file, for each count that the first side may have."""
    from bounds.mcnemar import discordant

    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True))
    except OSError as error:
        raise ClaimError("--comparisons", str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ClaimError("--comparisons", str(path), f"is no CSV in UTF-8 ({error})", "save it as such") from error
    lines = [line for line in lines if any(cell.strip() for cell in line)]
    if len(lines) < 2 or sorted(cell.strip() for cell in lines[0]) != sorted(HEADER):
        rule = f"needs the columns {', '.join(HEADER)}, and a row"
        raise ClaimError("--comparisons", str(path), rule, "see docs/mcnemar.md")
    header = [cell.strip() for cell in lines[0]]
    rows = []
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            raise ClaimError("--comparisons: row", number, f"has {len(line)} fields", f"give {len(header)}")
        rows.append({name: cell.strip() for name, cell in zip(header, line, strict=True)})
    shared = {(row["images"], row["first"]) for row in rows}
    if len(shared) > 1:
        shown = " and ".join(f"{first} of {images}" for images, first in sorted(shared)[:2])
        rule = f"the comparisons share their first side, and these have {shown}"
        raise ClaimError("--comparisons", str(path), rule, "give each first side a file of its own")
    names = [row["comparison"] for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ClaimError("--comparisons: comparison", twice, "occurs twice", "give each a name of its own")
    images = _images(rows[0]["images"], "images")
    firsts = _correct(rows[0]["first"], images, "first")
    found = []
    for row in rows:
        seconds = _correct(row["second"], images, f"{row['comparison']}: second")
        found.append(Comparison(row["comparison"], [discordant(images, first, seconds) for first in firsts]))
    return found


def _from_records(paths: Sequence[Path], model: str | None, perturbed: Sequence[str]) -> list[Comparison]:
    from bounds.cli_records import Choice
    from bounds.mcnemar import discordant, discordant_by_class

    choice = Choice(paths, [] if model is None else [model], perturbed or ("all",), "clean", None)
    source = choice.load()
    found = []
    asked = choice.sides(source)
    for evaluation in choice.evaluations(source, asked):
        clean, other = evaluation.clean.correct, evaluation.perturbed.correct
        parts = [
            discordant(int(last - first), int(clean[first:last].sum()), int(other[first:last].sum()))
            for first, last in zip(evaluation.starts[:-1], evaluation.starts[1:], strict=True)
        ]
        paired = int((clean & ~other).sum()), int((~clean & other).sum())
        name = (
            evaluation.perturbed_condition
            if len(asked) == 1
            else f"{evaluation.model}: {evaluation.perturbed_condition}"
        )
        found.append(Comparison(name, [discordant_by_class(parts)], paired))
    return found


def _tested(found: Sequence[Comparison], level: Fraction) -> list[Tested]:
    """Every comparison tested; with several, Holm's correction too.

    Where the first side has several possible counts, it has the same one in all comparisons: ends are taken over these.
    """
    from bounds.mcnemar import Discordant, Outcome, holm_ends, mcnemar, verdict

    outcomes: list[list[list[Outcome]]] = [[mcnemar(pairs, level) for pairs in one.pairs] for one in found]
    joined = []
    for each in outcomes:
        merged = []
        for tests in zip(*each, strict=True):
            p = min(test.p[0] for test in tests), max(test.p[1] for test in tests)
            statistic = min(test.statistic[0] for test in tests), max(test.statistic[1] for test in tests)
            merged.append(Outcome(tests[0].name, statistic, p, level, verdict(p, level)))
        joined.append(merged)
    holm: list[list[tuple[PValue, PValue]]] | None = None
    if len(found) > 1:
        holm = [[] for _ in found]
        for test in range(len(joined[0])):
            of_first = [holm_ends([each[first][test].p for each in outcomes]) for first in range(len(outcomes[0]))]
            for number, ends in enumerate(zip(*of_first, strict=True)):
                holm[number].append((min(low for low, _ in ends), max(high for _, high in ends)))
    results = []
    for number, (one, merged) in enumerate(zip(found, joined, strict=True)):
        ranges: dict[int, tuple[int, int]] = {}
        for pairs in one.pairs:
            for gap, (low, high) in pairs.ranges.items():
                before = ranges.get(gap, (low, high))
                ranges[gap] = min(before[0], low), max(before[1], high)
        whole = Comparison(one.name, [Discordant(one.pairs[0].images, ranges)], one.paired)
        results.append(Tested(whole, merged, None if holm is None else holm[number]))
    return results


def _ends(ends: tuple[int, int]) -> dict[str, int]:
    return {"lower": ends[0], "upper": ends[1]}


def _object(one: Tested) -> dict[str, Any]:
    from bounds.mcnemar import p_value, verdict

    (pairs,) = one.comparison.pairs
    tests = []
    for number, outcome in enumerate(one.outcomes):
        told = outcome.to_dict()
        if one.holm is not None:
            low, high = one.holm[number]
            told["holm"] = {
                "lower": float(low),
                "upper": float(high),
                "significant": verdict((low, high), outcome.level),
            }
        if one.comparison.paired is not None:
            told["paired_p"] = float(p_value(outcome.name, *one.comparison.paired))
        tests.append(told)
    found: dict[str, Any] = {"comparison": one.comparison.name} if one.comparison.name else {}
    return found | {
        "images": pairs.images,
        "discordant": _ends(pairs.ends) | {"step": pairs.step},
        "lost": _ends(pairs.lost),
        "recovered": _ends(pairs.recovered),
        "tests": tests,
    }


def _flat(tested: Sequence[Tested]) -> list[dict[str, Any]]:
    rows = []
    for one in tested:
        whole = _object(one)
        shared = {"comparison": whole.get("comparison", ""), "images": whole["images"]}
        for name in COUNTED:
            shared |= {f"{name}_{end}": whole[name][end] for end in ("lower", "upper")}
        for told in whole["tests"]:
            row = shared | {"test": told["name"]}
            for name in MEASURED:
                row |= {f"{name}_{end}": told[name][end] for end in ("lower", "upper") if name in told}
            row |= {"significant": told["significant"], "level": told["level"]}
            row |= {"significant_holm": told["holm"]["significant"]} if "holm" in told else {}
            rows.append(row | ({"paired_p": told["paired_p"]} if "paired_p" in told else {}))
    return rows


def p_text(value: PValue) -> str:
    """A p-value for people.

    >>> p_text(Fraction(1, 32)), p_text(1e-9)
    ('0.0312', '1.00e-09')
    """
    number = float(value)
    return f"{number:.4f}" if number >= 0.0001 or number == 0 else f"{number:.2e}"


def p_span(ends: dict[str, float]) -> str:
    """Both ends of a p-value for people.

    >>> p_span({"lower": 0.25, "upper": 0.5})
    '[0.2500, 0.5000]'
    """
    return _span(ends["lower"], ends["upper"])


def _span(low: PValue, high: PValue) -> str:
    ends = p_text(low), p_text(high)
    return ends[0] if low == high else f"[{ends[0]}, {ends[1]}]"


def _rows(one: Tested) -> list[dict[str, Any]]:
    from bounds.mcnemar import p_value, verdict

    rows = []
    for number, outcome in enumerate(one.outcomes):
        row: dict[str, Any] = {"test": outcome.name, "p": _span(*outcome.p), "significant": outcome.significant}
        if one.comparison.paired is not None:
            row["paired p"] = p_text(p_value(outcome.name, *one.comparison.paired))
        if one.holm is not None:
            row["adjusted p"] = _span(*one.holm[number])
            row["after Holm"] = verdict(one.holm[number], outcome.level)
        rows.append(row)
    return rows


def _title(one: Tested) -> str:
    (pairs,) = one.comparison.pairs
    low, high = pairs.ends
    every = "every other number from " if pairs.step and low < high else ""
    told = f"{every}{low} to {high}" if low < high else str(low)
    name = f"{printable(one.comparison.name)}: " if one.comparison.name else ""
    lost, recovered = (f"{a} to {b}" if a < b else str(a) for a, b in (pairs.lost, pairs.recovered))
    return f"{name}{pairs.images} images, discordant {told} (lost {lost}, recovered {recovered})"


def tested_text(tested: Sequence[Tested]) -> str:
    """Tables for people, one for each comparison."""
    from bounds.tables import text

    parts = []
    for one in tested:
        rows = _rows(one)
        align = ["left" if key in ("test", "significant", "after Holm") else "right" for key in rows[0]]
        parts.append(f"{_title(one)}\n{text(rows, align)}\n")
    level = float(tested[0].outcomes[0].level)
    parts.append(f"p is an interval over all correspondences, both ends attained; significant at {level:g} for always")
    parts[-1] += " (every), sometimes (some) or never (none) of them."
    return "\n".join(parts)


def _latex(tested: Sequence[Tested]) -> str:
    from bounds.tables import latex

    return latex([({"comparison": one.comparison.name} | row) for one in tested for row in _rows(one)])
