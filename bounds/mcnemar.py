"""McNemar's test when only the margins are printed: statistics and p-values over all correspondences.

Of n images A are correct on the first side and B on the second. With b lost and c recovered images, b - c = A - B is
fixed, and the number of discordant pairs d = b + c takes every other whole number from \\|A - B\\| to
min(A + B, 2n - A - B). Everything that the test looks at is a function of D = \\|A - B\\| and d.

For fixed D every p-value here grows with d, and for fixed d it falls with D, so that its ends are at corners: the
exact one is P(\\|S_d\\| >= D) for the sum S_d of d fair signs, where P(S_{d+2} >= D) - P(S_d >= D) is a quarter of
P(S_d = D - 2) - P(S_d = D), which is not negative for D >= 1; the mid p-value is the mean of that at D and at D + 2;
and the two asymptotic ones fall with D^2 / d. A step to (d + 1, D + 1) lowers all of them: S_{d+1} >= D + 1 asks for
S_d >= D. So they fall with D where d - D does not rise. D = 0 gives 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bounds.errors import CountError
from bounds.printed import Printed

__all__ = [
    "TESTS",
    "Discordant",
    "Outcome",
    "PValue",
    "correct_counts",
    "discordant",
    "discordant_by_class",
    "holm",
    "holm_ends",
    "mcnemar",
    "p_value",
    "verdict",
]

PValue = Fraction | float
"""Exact for the binomial tests, a float64 for the asymptotic ones."""


@dataclass(frozen=True, slots=True)
class Discordant:
    """Which discordant counts the margins allow.

    Attributes:
        images: n.
        ranges: difference A - B -> (least, most) discordant pairs; every other whole number between is attained.
    """

    images: int
    ranges: Mapping[int, tuple[int, int]]

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most discordant pairs; both attained."""
        return min(low for low, _ in self.ranges.values()), max(high for _, high in self.ranges.values())

    @property
    def step(self) -> int | None:
        """2 where the margins are known, so that every other number is attained; None where several are possible."""
        return 2 if len(self.ranges) == 1 else None

    @property
    def lost(self) -> tuple[int, int]:
        """The least and the most images correct on the first side only; both attained."""
        pairs = self.ranges.items()
        return min((low + gap) // 2 for gap, (low, _) in pairs), max((high + gap) // 2 for gap, (_, high) in pairs)

    @property
    def recovered(self) -> tuple[int, int]:
        """The least and the most images correct on the second side only; both attained."""
        pairs = self.ranges.items()
        return min((low - gap) // 2 for gap, (low, _) in pairs), max((high - gap) // 2 for gap, (_, high) in pairs)

    def corners(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """(D, d) among which the least p-values are, and those among which the greatest are."""
        least = {abs(gap): low for gap, (low, _) in self.ranges.items()}
        most: dict[int, int] = {}
        for gap, (low, high) in self.ranges.items():
            least[abs(gap)] = min(least[abs(gap)], low)
            most[abs(gap)] = max(most.get(abs(gap), 0), high)
        return _front(least, -1), _front(most, 1)


def _front(of_gap: Mapping[int, int], sign: int) -> list[tuple[int, int]]:
    """Those that no other one beats in both: small D and large d - D (sign 1), or large D and small d - D (-1)."""
    found: list[tuple[int, int]] = []
    best = None
    for gap, pairs in sorted(of_gap.items(), reverse=sign < 0):
        if best is None or sign * (pairs - gap) > best:
            best = sign * (pairs - gap)
            found.append((gap, pairs))
    return found


def correct_counts(images: int, printed: Printed) -> range:
    """The counts of correct images that print so.

    Args:
        images: n >= 1.
        printed: an accuracy, or a count.

    Returns:
        Ascending, none skipped; empty if there is none.

    >>> from bounds.printed import parse
    >>> list(correct_counts(17, parse("0.88", "fraction"))), list(correct_counts(17, parse("0.87", "fraction")))
    ([15], [])
    """
    scale = 1 if printed.unit == "count" else images
    return range(max(0, math.ceil(printed.low * scale)), min(images, math.floor(printed.high * scale)) + 1)


def _counts(name: str, images: int, value: int | range) -> range:
    counts = value if isinstance(value, range) else range(value, value + 1)
    if not len(counts):
        raise CountError(name, None, f"no number of {images} images prints so", "check the images and the digits")
    if counts[0] < 0 or counts[-1] > images:
        outside = counts[0] if counts[0] < 0 else counts[-1]
        raise CountError(name, outside, f"there are {images} images", f"give 0 to {images}")
    return counts


def discordant(images: int, first: int | range, second: int | range, retained: int | None = None) -> Discordant:
    """The discordant counts that two margins allow.

    Args:
        images: n >= 0.
        first, second: correct images of each side: a count, or the counts that are possible.
        retained: images correct on both sides, if that is known.

    Raises:
        CountError: if a count is outside 0..n, or no correspondence retains so many.

    >>> discordant(100, 92, 60).ranges, discordant(100, 92, 60, retained=55).ranges
    ({32: (32, 48)}, {32: (42, 42)})
    """
    if images < 0:
        raise CountError("images", images, "negative", "give how many there are")
    firsts, seconds = _counts("first", images, first), _counts("second", images, second)
    ranges: dict[int, tuple[int, int]] = {}
    for gap in range(firsts[0] - seconds[-1], firsts[-1] - seconds[0] + 1):
        # first = second + gap, second in low..high.
        low, high = max(seconds[0], firsts[0] - gap), min(seconds[-1], firsts[-1] - gap)
        if retained is None:
            nearest = min(max((images - gap) // 2, low), high)
            ranges[gap] = abs(gap), _most(images, gap, nearest)
            continue
        sums = [2 * s + gap - 2 * retained for s in range(low, high + 1) if _retains(images, s + gap, s, retained)]
        if sums:
            ranges[gap] = sums[0], sums[-1]
    if not ranges:
        raise CountError("retained", retained, "no correspondence of these margins has it", "check the three counts")
    return Discordant(images, ranges)


def _most(images: int, gap: int, second: int) -> int:
    total = 2 * second + gap
    return min(total, 2 * images - total)


def _retains(images: int, first: int, second: int, retained: int) -> bool:
    return max(0, first + second - images) <= retained <= min(first, second)


def discordant_by_class(parts: Iterable[Discordant]) -> Discordant:
    """The discordant counts of all classes together, each class with known margins.

    Args:
        parts: one a class, with one difference each.

    >>> discordant_by_class([discordant(50, 48, 10), discordant(50, 44, 50)]).ranges
    {32: (44, 48)}
    """
    images = gap = low = high = 0
    for part in parts:
        ((one, (least, most)),) = part.ranges.items()
        images, gap, low, high = images + part.images, gap + one, low + least, high + most
    return Discordant(images, {gap: (low, high)})


# --- tests ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _both_tails(gap: int, pairs: int) -> int:
    """2^d P(|S_d| >= D) for D >= 1: the outer terms of d over i, or all but the inner ones, whichever are fewer."""
    last = (pairs - gap) // 2
    if last <= gap:
        term = total = 1
        for i in range(1, last + 1):
            term = term * (pairs - i + 1) // i
            total += term
        return 2 * total
    # Inner terms: i from last + 1 to d - last - 1, symmetric about d / 2.
    middle = pairs // 2
    if last >= middle:
        return 1 << pairs
    term = math.comb(pairs, middle)
    inner = term if pairs % 2 == 0 else 2 * term
    for i in range(middle, last + 1, -1):
        term = term * i // (pairs - i + 1)
        inner += 2 * term
    return (1 << pairs) - inner


def _exact(gap: int, pairs: int) -> Fraction:
    return Fraction(_both_tails(gap, pairs), 1 << pairs) if gap else Fraction(1)


def _mid(gap: int, pairs: int) -> Fraction:
    """The exact p-value less the chance of the outcome itself."""
    if not gap:
        return Fraction(1)
    return Fraction(_both_tails(gap, pairs) - math.comb(pairs, (pairs - gap) // 2), 1 << pairs)


def _chi_squared(gap: int, pairs: int) -> Fraction:
    return Fraction(gap * gap, pairs) if pairs else Fraction(0)


def _corrected(gap: int, pairs: int) -> Fraction:
    """With Edwards' correction, which does not go below 0."""
    return Fraction(max(0, gap - 1) ** 2, pairs) if pairs else Fraction(0)


def _upper_tail(statistic: Fraction) -> float:
    """P(X >= statistic) for a chi-squared X with one degree of freedom; float64."""
    return math.erfc(math.sqrt(statistic / 2))


@dataclass(frozen=True, slots=True)
class _Test:
    """A test: its statistic at (D, d), and its p-value there."""

    statistic: Callable[[int, int], Fraction]
    p_value: Callable[[int, int], PValue]


_TESTS = {
    "exact": _Test(lambda gap, pairs: Fraction((pairs - gap) // 2), _exact),
    "mid-p": _Test(lambda gap, pairs: Fraction((pairs - gap) // 2), _mid),
    "asymptotic": _Test(_chi_squared, lambda gap, pairs: _upper_tail(_chi_squared(gap, pairs))),
    "continuity-corrected": _Test(_corrected, lambda gap, pairs: _upper_tail(_corrected(gap, pairs))),
}

TESTS = tuple(_TESTS)
"""Two-sided: exact binomial and its mid p-value (statistic: the smaller of lost and recovered), and McNemar's
asymptotic test without and with Edwards' correction (statistic: chi-squared with one degree of freedom)."""


def p_value(test: str, lost: int, recovered: int) -> PValue:
    """The p-value of a paired table.

    Args:
        test: one of `TESTS`.
        lost, recovered: discordant pairs of each kind; with none of either it is 1.

    >>> p_value("exact", 8, 1), p_value("mid-p", 8, 1)
    (Fraction(5, 128), Fraction(11, 512))
    """
    return _TESTS[test].p_value(abs(lost - recovered), lost + recovered)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test over all correspondences.

    Attributes:
        name: one of `TESTS`.
        statistic: its least and greatest value.
        p: the least and the greatest p-value; both attained.
        level: of significance.
        significant: "always", "sometimes" or "never".
    """

    name: str
    statistic: tuple[Fraction, Fraction]
    p: tuple[PValue, PValue]
    level: Fraction
    significant: str

    def to_dict(self) -> dict[str, Any]:
        """The object of the JSON output."""
        return {
            "name": self.name,
            "statistic": {"lower": float(self.statistic[0]), "upper": float(self.statistic[1])},
            "p": {"lower": float(self.p[0]), "upper": float(self.p[1])},
            "significant": self.significant,
            "level": float(self.level),
        }


def verdict(p: tuple[PValue, PValue], level: Fraction) -> str:
    """Whether every, some or no p-value between two attained ones is at most the level; exact for fractions.

    >>> verdict((Fraction(1, 100), Fraction(1, 20)), Fraction(1, 20))
    'always'
    """
    if p[1] <= level:
        return "always"
    return "sometimes" if p[0] <= level else "never"


def mcnemar(pairs: Discordant, level: Fraction = Fraction(1, 20)) -> list[Outcome]:
    """Every test over all correspondences that the margins allow.

    Args:
        pairs: as `discordant` or `discordant_by_class` gives it.
        level: of significance, 0 < level < 1.

    Returns:
        One object for each of `TESTS`. The ends are attained; the exact and the mid p-value are fractions, the
        asymptotic ones float64.

    >>> exact, *_ = mcnemar(discordant(100, 92, 60))
    >>> exact.significant, float(exact.p[1]) < 1e-5
    ('always', True)
    """
    low, high = pairs.corners()
    found = []
    for name, test in _TESTS.items():
        p = min(test.p_value(*corner) for corner in low), max(test.p_value(*corner) for corner in high)
        statistics = [test.statistic(*corner) for corner in (*low, *high)]
        found.append(Outcome(name, (min(statistics), max(statistics)), p, level, verdict(p, level)))
    return found


def holm(p: Sequence[PValue]) -> list[PValue]:
    """Holm's adjusted p-values (Holm 1979), in the order given.

    >>> holm([Fraction(1, 100), Fraction(4, 100), Fraction(3, 100)])
    [Fraction(3, 100), Fraction(3, 50), Fraction(3, 50)]
    """
    adjusted: list[PValue] = [Fraction(1)] * len(p)
    largest: PValue = Fraction(0)
    for place, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        scaled: PValue = (len(p) - place) * p[index]
        largest = max(largest, Fraction(1) if scaled > 1 else scaled)
        adjusted[index] = largest
    return adjusted


def holm_ends(p: Sequence[tuple[PValue, PValue]]) -> list[tuple[PValue, PValue]]:
    """The least and the greatest adjusted p-value of each comparison, every p-value being free within its ends.

    Holm's adjusted p-value is the largest, over the sets I that hold the comparison, of min(1, \\|I\\| min p_j) (closed
    testing with Bonferroni's bound), so it grows with every p-value: all at their least give the least, all at their
    greatest the greatest.

    Args:
        p: ends of each; the comparisons share at most their first side, so that each has a correspondence of its own.

    Returns:
        Both ends of each, attained together.
    """
    return list(zip(holm([low for low, _ in p]), holm([high for _, high in p]), strict=True))
