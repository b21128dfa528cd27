"""The main job on the example inside the package: intervals at every level of knowledge, and a few audited claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from bounds.interval import Interval
from bounds.tables import paired_text, range_text, text

if TYPE_CHECKING:
    from bounds.auditing import Verdict
    from bounds.persistence import Gain

__all__ = [
    "CLAIMS",
    "COUNTS",
    "PERSISTENCE",
    "RATES",
    "RECORDS",
    "THRESHOLD",
    "claims_text",
    "example",
    "gains",
    "gains_text",
    "intervals",
    "intervals_text",
]

RECORDS = "cifar10_resnet20.parquet"
CLAIMS = "claims.csv"
THRESHOLD = "0.8"
RATES = ("lost-acceptance", "gained-acceptance", "mean-probability-decrease")
COUNTS = ("retained-correct", "lost", "recovered", "flips", "persistent-wrong", "changed-wrong")

PERSISTENCE = "screen_simulated"
"""The condition for which the demo shows what persistence adds."""

QUESTION = (
    "Two files say how a model does on clean images and on perturbed ones, but not which record goes with which.\n"
    "What can the retained-correct quantities be, over all correspondences that agree with what is known?"
)

HEADERS = {
    "marginals": "marginals",
    "total-correct-correct": "total-\ncorrect-correct",
    "correct-correct": "correct-correct",
    "five-state": "five-state",
}


@contextmanager
def example(name: str) -> Iterator[Path]:
    """The path of a file of the example, `RECORDS` or `CLAIMS`."""
    with as_file(files("bounds").joinpath("data", name)) as path:
        yield path


def intervals() -> list[Interval]:
    """Every quantity of the example at every level of knowledge: the rates over their defaults, the rest as counts."""
    from bounds.knowledge import Level, know
    from bounds.records import load_records
    from bounds.solve import bound

    found = []
    with example(RECORDS) as path:
        for evaluation in load_records(path).evaluations():
            at = evaluation.at_threshold(THRESHOLD)
            known = [know(at, level) for level in Level]
            for name in (*RATES, *COUNTS):
                denominator = "none" if name in COUNTS else None
                found += [bound(at, name, knowledge, denominator=denominator) for knowledge in known]
    return found


def intervals_text(found: Sequence[Interval]) -> str:
    """A table a condition: one row a quantity, one column a level of knowledge, the paired value last."""
    first = found[0]
    conditions = list(dict.fromkeys(interval.perturbed for interval in found))
    parts = [
        QUESTION,
        "",
        f"Data: {first.model} on {first.images} CIFAR-10 test images in {first.classes} classes, {first.clean} against "
        f"{', '.join(conditions)};\naccepted at confidence >= {first.threshold}. A cell is the least and the greatest "
        "value. The first three quantities are over the\nretained-correct images, the others count images.",
    ]
    for condition, group in groupby(found, lambda interval: interval.perturbed):
        rows: dict[str, dict[str, str]] = {}
        for interval in group:
            row = rows.setdefault(interval.quantity, {condition: interval.quantity})
            if interval.knowledge in HEADERS:
                row[HEADERS[interval.knowledge]] = range_text(interval)
            else:
                row["true value"] = paired_text(interval)
        parts += ["", text(list(rows.values()), ["left", *["right"] * (len(HEADERS) + 1)])]
    parts += ["", "Rates are rounded outward: lower ends down, upper ends up; a point to the nearest."]
    return "\n".join(parts)


def gains() -> list[Gain]:
    """What the persistent-wrong counts add to the retained-correct ones, for the accepted-error transitions."""
    from bounds.persistence import persistence_gain
    from bounds.quantities import QUANTITIES
    from bounds.records import load_records

    names = [name for name in QUANTITIES if name.endswith("accepted-error")]
    with example(RECORDS) as path:
        evaluation = load_records(path).evaluation(perturbed=PERSISTENCE)
    return persistence_gain(evaluation.at_threshold(THRESHOLD), names)


def gains_text(found: Sequence[Gain]) -> str:
    """The same, as a table."""
    from bounds.cli_persistence import gain_text

    title = "Wrong answers that persist or change: what knowing their counts adds, as shares of all images."
    return f"{title}\n\n{gain_text(found)}"


def claims_text(verdicts: Sequence[Verdict]) -> str:
    """The audit of the example's claims."""
    from bounds.cli_audit import verdict_text

    return f"What is reported of these records ({CLAIMS}), audited:\n\n{verdict_text(verdicts)}"
