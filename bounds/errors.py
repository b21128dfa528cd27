"""What can go wrong, each with one line that a user can act on.

Every message names the thing, its value, the rule that it breaks and a way out. The command line prints the line
and exits with 2; in Python the exception carries the four parts.
"""

from __future__ import annotations

__all__ = [
    "BackendError",
    "ClaimError",
    "CountError",
    "InfeasibleError",
    "MissingExtraError",
    "PairboundsError",
    "PolicyError",
    "QuantityError",
    "RecordError",
    "SolverError",
    "printable",
]


def printable(text: str) -> str:
    r"""The text for a terminal or a table: what is not printable is escaped.

    >>> printable("caf\u00e9 \x1b[31m")
    'café \\x1b[31m'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class PairboundsError(Exception):
    """Input that cannot be used: `name`, `value`, `rule`, `way_out`."""

    def __init__(self, name: str, value: object, rule: str, way_out: str) -> None:
        self.name = name
        self.value = value
        self.rule = rule
        self.way_out = way_out
        super().__init__(self.line)

    @property
    def line(self) -> str:
        """The whole message on one line.

        >>> PairboundsError("threshold", "1.2", "a confidence lies in [0, 1]", "give a decimal such as 0.8").line
        "threshold '1.2': a confidence lies in [0, 1]; give a decimal such as 0.8"
        """
        shown = "" if self.value is None else f" {self.value!r}"
        return " ".join(f"{self.name}{shown}: {self.rule}; {self.way_out}".split())

    def __reduce__(self) -> tuple[type[PairboundsError], tuple[str, object, str, str]]:
        return type(self), (self.name, self.value, self.rule, self.way_out)


class RecordError(PairboundsError, ValueError):
    """Prediction records that break a rule of the record format."""


class CountError(PairboundsError, ValueError):
    """A count outside its range, or of the wrong shape."""


class InfeasibleError(CountError):
    """Counts that no correspondence has; `rule` is the violated condition."""


class QuantityError(PairboundsError, ValueError):
    """An unknown quantity, denominator, average or level of knowledge, or two that do not go together."""


class ClaimError(PairboundsError, ValueError):
    """A row of a claims file that cannot be read."""


class PolicyError(PairboundsError, ValueError):
    """A policy, or a file of them, that cannot be used."""


class BackendError(PairboundsError, ValueError):
    """A backend or method that does not exist or cannot do what was asked."""


class MissingExtraError(BackendError):
    """A part that was not installed; `way_out` holds the pip line."""


class SolverError(PairboundsError, RuntimeError):
    """A solver's answer that is unknown, or that did not survive the check in exact arithmetic."""
