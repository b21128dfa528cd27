"""What one kind of evidence says of one claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["KINDS", "Cell", "Counterexample", "Kind", "Outcome", "fails", "holds", "not_checked", "required"]

Kind = Literal["enumeration", "programs", "symbolic", "smt", "coq"]
Outcome = Literal["holds", "fails", "unknown", "not checked"]

KINDS: tuple[Kind, ...] = ("enumeration", "programs", "symbolic", "smt", "coq")


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of one kind of evidence for one claim.

    Attributes:
        kind: which evidence.
        outcome: "holds", "fails", "unknown" (a solver gave up; never counted as holding) or "not checked".
        reason: why it is not checked, unknown or fails, or what was shown; one line.
        counts: what was looked at, measured while it ran; the first entry is shown in the table.
        tool: name and version of what decided, empty where nothing ran.
        seconds: time taken; of the shared build, for Coq.
        counterexample: where the claim fails, in words and numbers; None elsewhere.
    """

    kind: Kind
    outcome: Outcome
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    tool: str = ""
    seconds: float = 0.0
    counterexample: str | None = None

    @property
    def short(self) -> str:
        """A few characters for a table.

        >>> holds("smt", "Z3 4.13", queries=12480).short
        'holds 12 480'
        """
        if self.outcome == "holds":
            first = next(iter(self.counts.values()), None)
            return "holds" if first is None else f"holds {first:,}".replace(",", " ")
        return "FAILS" if self.outcome == "fails" else self.outcome

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers and None."""
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            "counts": dict(self.counts),
            "tool": self.tool,
            "seconds": round(self.seconds, 3),
            "counterexample": self.counterexample,
        }


def holds(kind: Kind, tool: str, reason: str = "", **counts: int) -> Cell:
    """A check that found nothing wrong; `counts` say how much it looked at, the first being the headline."""
    return Cell(kind, "holds", reason, counts, tool)


def fails(kind: Kind, tool: str, counterexample: str, reason: str = "", **counts: int) -> Cell:
    """A check that found a counterexample."""
    return Cell(kind, "fails", reason, counts, tool, counterexample=counterexample)


def not_checked(kind: Kind, reason: str) -> Cell:
    """A check that did not run."""
    return Cell(kind, "not checked", reason)


class Counterexample(Exception):
    """What was found against a claim, in words and numbers; evidence turns it into a cell that fails."""


def required(true: bool, otherwise: str) -> None:
    """Raise `Counterexample` unless it is true."""
    if not true:
        raise Counterexample(otherwise)
