"""Checks certificates of intervals (CERTIFICATE.md): is every end attained, and never exceeded?

This file stands alone. It imports the standard library only and shares no code with what computed the intervals; every
decision is made in integers and fractions. What it takes on trust are the closed forms that a certificate names
(`closed_form` below) and, where the text of the records is given, SHA-256.

    python checker.py CERTIFICATE.json [--records LINES.txt ...] [--json]

Exit code 0: every item is certified; 1: one is not, or is rejected; 2: the file cannot be read.

From top to bottom: what quantities mean, reading, the two sides of a class, closed forms, the compact program and
its branching trees, questions, ends, audits, records, the report.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn, Protocol

__all__ = ["Checked", "Item", "Report", "Unreadable", "check", "main"]

LARGEST_FILE = 1 << 29
LARGEST_COUNT = 10**7
LONGEST_INTEGER = 18
LONGEST_RATIONAL = 4000
DEEPEST_TREE = 200
MOST_CELLS = 5_000_000
REPORTS = "pairbounds report certificate"

# --- what quantities mean ---------------------------------------------------------------------------------------------

BITS = ((0, 0), (0, 1), (1, 0), (1, 1))
Cell = tuple[str, int, int]
"""State of a pair (CC, CW, WC, WS, WD), whether its clean record is accepted, whether its perturbed one is."""


def cells(text: str) -> frozenset[Cell]:
    """The cells in a text such as "CC10 WS.1": state, clean accepted, perturbed accepted; a dot stands for both."""
    return frozenset((p[:2], a, b) for p in text.split() for a, b in BITS if p[2] in f".{a}" and p[3] in f".{b}")


DENOMINATORS = {
    "images": cells("CC.. CW.. WC.. WS.. WD.."),
    "clean-correct": cells("CC.. CW.."),
    "retained-correct": cells("CC.."),
    "retained-correct-accepted": cells("CC1."),
    "retained-correct-rejected": cells("CC0."),
    "clean-accepted-errors": cells("WC1. WS1. WD1."),
    "perturbed-accepted-errors": cells("CW.1 WS.1 WD.1"),
}
ALWAYS_FIXED = {"images", "clean-correct", "clean-accepted-errors", "perturbed-accepted-errors"}
MARKED = {"retained-correct-accepted", "retained-correct-rejected"}
TRANSITION = ("images", "clean-accepted-errors", "perturbed-accepted-errors", "none")
ACCEPTANCE = ("retained-correct", "images", "none")
DECREASE = "mean-probability-decrease"

QUANTITIES: dict[str, tuple[frozenset[Cell], str, tuple[str, ...]]] = {
    "lost-acceptance": (cells("CC10"), "lost_acceptance", (*ACCEPTANCE, "retained-correct-accepted")),
    "gained-acceptance": (cells("CC01"), "lost_acceptance", (*ACCEPTANCE, "retained-correct-rejected")),
    DECREASE: (cells(""), "mean_probability_decrease", ("retained-correct", "none")),
    "retained-correct": (cells("CC.."), "plain", ("images", "clean-correct", "none")),
    "lost": (cells("CW.."), "plain", ("images", "clean-correct", "none")),
    "recovered": (cells("WC.."), "plain", ("images", "none")),
    "flips": (cells("CW.. WC.."), "plain", ("images", "none")),
    "persistent-wrong": (cells("WS.."), "feasible_persistent", ("images", "none")),
    "changed-wrong": (cells("WD.."), "feasible_persistent", ("images", "none")),
    "new-accepted-error": (cells("CW.1 WS01 WD01"), "transition_counts", TRANSITION),
    "resolved-accepted-error": (cells("WC1. WS10 WD10"), "transition_counts", TRANSITION),
    "kept-accepted-error": (cells("WS11 WD11"), "transition_counts", TRANSITION),
    "kept-persistent-accepted-error": (cells("WS11"), "transition_counts", TRANSITION),
    "kept-changed-accepted-error": (cells("WD11"), "transition_counts", TRANSITION),
    "rejected-wrong-to-accepted-error": (cells("WS01 WD01"), "transition_counts", TRANSITION),
    "correct-to-accepted-error": (cells("CW.1"), "transition_counts", TRANSITION),
    "accepted-correct-to-accepted-error": (cells("CW11"), "transition_counts", TRANSITION),
}
"""name: the cells that it counts, the claim of its closed form, the denominators it may be taken over."""

# --- reading ----------------------------------------------------------------------------------------------------------


class Unreadable(Exception):
    """The file as a whole cannot be read."""


def shown(number: Fraction | None) -> str:
    """A number for a sentence."""
    if number is None:
        return "no value"
    return str(number) if max(abs(number.numerator), number.denominator) < 10**40 else "a number of many digits"


class Refused(Exception):
    """An item does not hold; one line: where, what value, which rule."""


class Uncertified(Exception):
    """Nothing is wrong, but something that was needed is not there."""


class At:
    """A JSON value and where it stands; its methods read it as one kind of thing or refuse it."""

    __slots__ = ("key", "parent", "value")

    def __init__(self, value: Any, parent: At | str, key: str | int = "") -> None:
        self.value, self.parent, self.key = value, parent, key

    @property
    def where(self) -> str:
        """The path, such as `intervals[0].upper.value`."""
        if isinstance(self.parent, str):
            return self.parent
        step = f"[{self.key}]" if type(self.key) is int else f".{self.key}"
        return f"{self.parent.where}{step}".lstrip(".")

    def refuse(self, rule: str) -> NoReturn:
        text = json.dumps(self.value)
        raise Refused(f"{self.where or 'certificate'} {text if len(text) <= 60 else text[:57] + '...'}: {rule}")

    def object(self, *keys: str) -> dict[str, At]:
        """The members of an object with exactly these keys."""
        if type(self.value) is not dict:
            self.refuse("has to be an object")
        for key in sorted(set(keys) ^ set(self.value)):
            self.refuse(f"the key {key!r} is {'missing' if key in keys else 'unknown'}")
        return {key: At(self.value[key], self, key) for key in keys}

    def list(self, length: int | None = None) -> list[At]:
        if type(self.value) is not list:
            self.refuse("has to be a list")
        if length is not None and len(self.value) != length:
            self.refuse(f"has to have {length} entries, not {len(self.value)}")
        return [At(item, self, index) for index, item in enumerate(self.value)]

    def member(self, key: str) -> At:
        """The member that says what kind of object this is; None where it is missing."""
        return At(self.value.get(key) if type(self.value) is dict else None, self, key)

    @property
    def null(self) -> bool:
        return self.value is None

    def be_null(self, why: str) -> None:
        if self.value is not None:
            self.refuse(f"has to be null {why}")

    def integer(self, low: int | None = None, high: int | None = None) -> int:
        if type(self.value) is not int:
            self.refuse("has to be an integer")
        if (low is not None and self.value < low) or (high is not None and self.value > high):
            self.refuse(f"has to lie in {'...' if low is None else low}..{'...' if high is None else high}")
        return int(self.value)

    def text(self, *choices: str) -> str:
        if type(self.value) is not str:
            self.refuse("has to be text")
        if choices and self.value not in choices:
            self.refuse(f"has to be one of {', '.join(choices)}")
        return str(self.value)

    def name(self) -> str | int:
        """A class: text or an integer."""
        if type(self.value) not in (str, int):
            self.refuse("has to be a name, text or integer")
        return self.value  # type: ignore[no-any-return]

    def boolean(self) -> bool:
        if type(self.value) is not bool:
            self.refuse("has to be true or false")
        return bool(self.value)

    def rational(self) -> Fraction:
        match = re.fullmatch(r"(-?)([0-9]+)/([0-9]+)", self.value) if type(self.value) is str else None
        if match is None or max(len(match[2]), len(match[3])) > LONGEST_RATIONAL:
            self.refuse(f'has to be a rational "p/q" of at most {LONGEST_RATIONAL} digits each')
        above, below = int(match[1] + match[2]), int(match[3])
        if below == 0 or self.value != f"{above}/{below}" or math.gcd(above, below) != 1:
            self.refuse("has to be in lowest terms, with a denominator of at least 1")
        return Fraction(above, below)

    def share(self) -> Fraction:
        """A float in [0, 1], as `float.hex` writes it."""
        try:
            number = float.fromhex(self.value)
        except (TypeError, ValueError, OverflowError):
            self.refuse("has to be a float in hexadecimal")
        if not (math.isfinite(number) and 0 <= number <= 1 and number.hex() == self.value):
            self.refuse("has to be a float from 0 to 1, as float.hex writes it")
        return Fraction(number)


def parse(data: bytes) -> Any:
    """JSON as certificates have it: no fractions, exponents, NaN or duplicate keys."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Unreadable(f"a key stands twice in the object that begins with {pairs[0][0]!r}")
        return found

    def integer(text: str) -> int:
        if len(text.lstrip("-")) > LONGEST_INTEGER:
            raise Unreadable(f"an integer has more than {LONGEST_INTEGER} digits: {text[:20]}...")
        return int(text)

    def refuse(text: str) -> NoReturn:
        raise Unreadable(f"the number {text[:20]} is no integer")

    if len(data) > LARGEST_FILE:
        raise Unreadable(f"the file has more than {LARGEST_FILE} bytes")
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=members,
            parse_int=integer,
            parse_float=refuse,
            parse_constant=refuse,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON in UTF-8: {error}") from None


# --- the two sides of a class -----------------------------------------------------------------------------------------

Group = tuple[str | int | None, int]
"""Label (None where correct) and acceptance bit of a record."""

Pair = tuple[str | int | None, int, str | int | None, int]


def state(clean: str | int | None, perturbed: str | int | None) -> str:
    """The state of a pair of records with these labels."""
    if clean is None:
        return "CC" if perturbed is None else "CW"
    if perturbed is None:
        return "WC"
    return "WS" if clean == perturbed else "WD"


def is_pair(entry: Any) -> bool:
    """Whether an entry of a table is [label, bit, label, bit, count >= 1]."""
    if (
        type(entry) is not list
        or len(entry) != 5
        or any(type(number) is not int for number in (*entry[1::2], entry[4]))
    ):
        return False
    labels_hold = all(label is None or type(label) in (str, int) for label in entry[:3:2])
    return labels_hold and entry[1] in (0, 1) and entry[3] in (0, 1) and entry[4] >= 1


def by_label(groups: Counter[Any]) -> Counter[Any]:
    """Groups, or pairs of groups, with acceptance left out (all 0)."""
    merged: Counter[Any] = Counter()
    for group, count in groups.items():
        merged[tuple(0 if i % 2 else part for i, part in enumerate(group))] += count
    return merged


class Stratum:
    """The records of one class as counts: A, B correct and W, V wrong ones (clean, perturbed) by acceptance bit, w, v
    the wrong ones by label; and how often each true-class probability of a correct record occurs.
    """

    def __init__(self, name: str | int, sides: list[Counter[Group]], probabilities: list[dict[Fraction, int]] | None):
        self.name, self.sides, self.probabilities = name, sides, probabilities
        self.images = sides[0].total()
        self.A, self.B = ([side[None, a] for a in (0, 1)] for side in sides)
        labels = {label for side in sides for label, _ in side if label is not None}
        self.w, self.v = ({label: [side[label, a] for a in (0, 1)] for label in labels} for side in sides)
        self.W, self.V = ([sum(by[label][a] for label in labels) for a in (0, 1)] for by in (self.w, self.v))
        self.least = max(0, sum(self.A) + sum(self.B) - self.images)
        self.most = min(sum(self.A), sum(self.B))
        self.checked_tables: dict[tuple[int, bool], tuple[Counter[Pair], Counter[Cell]]] = {}

    def wrong_twice(self, k: int) -> int:
        """m, the images wrong on both sides where k are correct on both."""
        return self.images - sum(self.A) - sum(self.B) + k

    @cached_property
    def program(self) -> CompactProgram:
        """Its compact program, for the rules `dual` and `branch`."""
        return CompactProgram(self)

    @cached_property
    def running(self) -> tuple[list[int], list[int], int]:
        """Sums of the 0, 1, 2, ... smallest probabilities of each side, as integers over a common denominator."""
        assert self.probabilities is not None
        scale = max((p.denominator for side in self.probabilities for p in side), default=1)
        clean, perturbed = (
            list(accumulate((int(p * scale) for p, count in sorted(side.items()) for _ in range(count)), initial=0))
            for side in self.probabilities
        )
        return clean, perturbed, scale

    def decrease(self, k: int) -> tuple[int, int]:
        """Least and greatest sum of p - p' over k correct-correct pairs, times the scale of `running` (C4)."""
        p, q, _ = self.running
        return p[k] - (q[-1] - q[-1 - k]), (p[-1] - p[-1 - k]) - q[k]

    def persistent_shares(self, k: int, s: int) -> list[tuple[str | int, int, int]]:
        """(l, L_l(s), U_l) of C5, for every label that is wrong on a side."""
        rest = sum(self.W) + sum(self.V) - self.wrong_twice(k) - s
        return [
            (label, max(0, -((rest - sum(w) - sum(self.v[label])) // 2)), min(sum(w), sum(self.v[label])))
            for label, w in self.w.items()
        ]

    def feasible_persistent(self, k: int, s: int) -> bool:
        """C5: whether some correspondence with k correct-correct pairs has s persistent-wrong ones."""
        shares = self.persistent_shares(k, s)
        if not 0 <= s <= self.wrong_twice(k) or any(low > high for _, low, high in shares):
            return False
        return sum(low for _, low, _ in shares) <= s <= sum(high for _, _, high in shares)


# --- closed forms -----------------------------------------------------------------------------------------------------

Ends = Callable[[int], tuple[int, int]]
"""k -> (least, greatest)."""


def block(r1: int, r0: int, c1: int, c0: int, pairs: int) -> tuple[int, int]:
    """Least and greatest number of marked-marked pairs among `pairs` pairs of r1 + r0 rows and c1 + c0 columns."""
    return max(0, pairs - r0 - c0), min(r1, c1, pairs)


def marked(quantity: str, c: Stratum) -> tuple[int, int, int, int]:
    """Lost acceptance marks accepted rows and rejected columns; gained acceptance the reverse."""
    (a0, a1), (b0, b1) = c.A, c.B
    return (a1, a0, b0, b1) if quantity == "lost-acceptance" else (a0, a1, b1, b0)


def closed_form(quantity: str, c: Stratum, s: int | None, stem: str) -> Ends:
    """The ends of N_c as a function of k, by the claim `stem`; times the scale of probabilities, if it reads them.

    Claims: C3, C4, C5, C13, C15 and plain counting; s is the persistent count where it is known.
    """
    (W0, E), (V0, F), correct, m = c.W, c.V, sum(c.A), c.wrong_twice
    if stem == "mean_probability_decrease":
        return c.decrease
    if stem == "lost_acceptance":
        rows_and_columns = marked(quantity, c)
        return lambda k: block(*rows_and_columns, k)
    if stem == "persistent_kept_errors":

        def kept_persistent(k: int) -> tuple[int, int]:
            assert s is not None
            least, used, most = 0, 0, s
            for label, low, high in c.persistent_shares(k, s):
                common, spared = min(c.w[label][1], c.v[label][1]), c.w[label][0] + c.v[label][0]
                least, used = least + max(0, low - spared), used + max(low, min(high, spared))
                most -= max(0, low - common)
            return least + max(0, s - used), min(most, sum(min(c.w[label][1], c.v[label][1]) for label in c.w))

        return kept_persistent
    if stem == "feasible_persistent":
        common = sum(min(sum(c.w[label]), sum(c.v[label])) for label in c.w)
        both = W0 + E + V0 + F
        tight = both - max((sum(c.w[label]) + sum(c.v[label]) for label in c.w), default=0)

        def persistent(k: int) -> tuple[int, int]:
            return (max(0, m(k) - tight), min(m(k), common)) if s is None else (s, s)

        if quantity == "persistent-wrong":
            return persistent
        return lambda k: (m(k) - persistent(k)[1], m(k) - persistent(k)[0])
    shared = sum(min(c.w[label][1], c.v[label][1]) for label in c.w)
    largest = max((c.w[label][1] + c.v[label][1] for label in c.w), default=0)

    def new_or_resolved(side: int) -> Ends:
        def ends(k: int) -> tuple[int, int]:
            least, most = block(E, W0, F, V0, m(k))
            return side - most, side - least

        return ends

    forms: dict[str, Ends] = {
        "retained-correct": lambda k: (k, k),
        "lost": lambda k: (correct - k, correct - k),
        "recovered": lambda k: (sum(c.B) - k, sum(c.B) - k),
        "flips": lambda k: (correct + sum(c.B) - 2 * k,) * 2,
        "kept-accepted-error": lambda k: block(E, W0, F, V0, m(k)),
        "new-accepted-error": new_or_resolved(F),
        "resolved-accepted-error": new_or_resolved(E),
        "rejected-wrong-to-accepted-error": lambda k: block(W0, E, F, V0, m(k)),
        "correct-to-accepted-error": lambda k: block(correct, 0, F, V0, correct - k),
        "accepted-correct-to-accepted-error": lambda k: block(c.A[1], c.A[0], F, V0, correct - k),
        "kept-persistent-accepted-error": lambda k: (
            max(0, m(k) - (W0 + E + V0 + F - largest)),
            min(m(k), shared),
        ),
        "kept-changed-accepted-error": lambda k: (
            max(0, m(k) - W0 - V0 - shared),
            min(m(k), E, F, E + F - largest),
        ),
    }
    return forms[quantity]


def most_of_acceptance(quantity: str, c: Stratum, x_cost: int, y_cost: int) -> Callable[[int], int]:
    """k -> the most of x_cost x + y_cost y, x marked-marked pairs and y marked rows among k correct-correct pairs.

    max(0, k - r0 - c0) <= x <= min(r1, c1, k) and max(x, k - r0) <= y <= min(r1, x + c0, k). With y at the better of
    its two limits this is concave in x, so its largest value is at an end of x or where a limit of y bends.
    """
    r1, r0, c1, c0 = marked(quantity, c)

    def most(k: int) -> int:
        low, high = block(r1, r0, c1, c0, k)
        bends = (min(max(x, low), high) for x in (low, high, k - r0, r1 - c0, k - c0))
        return max(x_cost * x + y_cost * (min(r1, x + c0, k) if y_cost > 0 else max(x, k - r0)) for x in bends)

    return most


# --- the compact program of a class -----------------------------------------------------------------------------------

Variable = tuple[Any, ...]
Row = tuple[Any, ...]
Box = dict[Variable, tuple[int, int]]
"""What branching left of the limits of some variables."""
STATE_OF = {"cc": "CC", "cw": "CW", "wc": "WC", "ch": "WD", "st": "WS"}


class CompactProgram:
    """The variables with their limits, the rows that each variable enters, and the limits of the rows."""

    def __init__(self, c: Stratum) -> None:
        common = [label for label in c.w if sum(c.w[label]) and sum(c.v[label])]
        other_w, other_v = (
            [a - sum(by[x][i] for x in common) for i, a in enumerate(t)] for by, t in ((c.w, c.W), (c.v, c.V))
        )
        self.limit: dict[Variable, int] = {}
        self.column: dict[Variable, list[tuple[Row, int]]] = {}
        self.rows: dict[Row, tuple[int, int]] = {}

        def variable(name: Variable, clean: int, perturbed: int, *entries: tuple[Row, int]) -> None:
            if min(clean, perturbed) > 0:
                self.limit[name], self.column[name] = min(clean, perturbed), list(entries)

        for a, b in BITS:
            A, B, W, V = ("A", a), ("B", b), ("W", a), ("V", b)
            changed = [(("wo", a, b), 1), (("wO", a), 1), (("vo", a, b), 1), (("vO", b), 1)]
            met = [(("z", label, a, b), -1) for label in common]
            variable(("cc", a, b), c.A[a], c.B[b], (A, 1), (B, 1), (("k",), 1))
            variable(("cw", a, b), c.A[a], c.V[b], (A, 1), (V, 1))
            variable(("wc", a, b), c.W[a], c.B[b], (W, 1), (B, 1))
            variable(("ch", a, b), c.W[a], c.V[b], (W, 1), (V, 1), *changed, *met)
            self.rows |= {A: (c.A[a],) * 2, B: (c.B[b],) * 2, W: (c.W[a],) * 2, V: (c.V[b],) * 2}
            self.rows |= {("wo", a, b): (0, other_w[a]), ("vo", a, b): (0, other_v[b])}
            self.rows |= {("wO", a): (0, other_w[a]), ("vO", b): (0, other_v[b])}
            for label in common:
                w, v, z = ("w", label, a), ("v", label, b), ("z", label, a, b)
                leaves, enters = ((("wo", a, b), -1), (("wO", a), -1)), ((("vo", a, b), -1), (("vO", b), -1))
                variable(("st", label, a, b), c.w[label][a], c.v[label][b], (W, 1), (V, 1), (w, 1), (v, 1), (("s",), 1))
                variable(("out", label, a, b), c.w[label][a], c.V[b], (w, 1), (z, 1), *leaves)
                variable(("in", label, a, b), c.W[a], c.v[label][b], (v, 1), (z, 1), *enters)
                self.rows |= {w: (0, c.w[label][a]), v: (0, c.v[label][b]), z: (-c.images, 0)}


@dataclass(frozen=True, slots=True)
class Case:
    """The program of a class with integer costs, the rows of what is known (k, s) and of an excluded numerator (n)."""

    program: CompactProgram
    costs: dict[Variable, int]
    rows: dict[Row, tuple[int, int]]
    numerator: dict[Variable, int]

    def bound(self, at: At, box: Box, with_costs: bool = True) -> Fraction:
        """Weak duality: what no point of the program in the box has more of, by the multipliers listed at `at`."""
        y: dict[Row, Fraction] = {}
        for row_at, number in (entry.list(2) for entry in at.list()):
            row = tuple(part.name() for part in row_at.list())
            if row in y or (row not in self.program.rows and row not in self.rows):
                row_at.refuse("listed twice" if row in y else "no row of this class's program")
            y[row] = number.rational()
        scale = math.lcm(*(value.denominator for value in y.values()))
        whole = {row: int(value * scale) for row, value in y.items()}
        limits = [
            (value, self.rows[row] if row in self.rows else self.program.rows[row]) for row, value in whole.items()
        ]
        total = sum(max(value * low, value * high) for value, (low, high) in limits)
        by_numerator = whole.get(("n",), 0)
        for variable, limit in self.program.limit.items():
            q = scale * self.costs.get(variable, 0) if with_costs else 0
            q -= sum(coefficient * whole[row] for row, coefficient in self.program.column[variable] if row in whole)
            q -= by_numerator * self.numerator.get(variable, 0)
            if q:
                low, high = box.get(variable, (0, limit))
                total += max(q * low, q * high)
        return Fraction(total, scale)

    def rounded(self, at: At, box: Box) -> int:
        """`bound`, rounded down to what integral points can have."""
        step = math.gcd(*(self.costs.get(variable, 0) for variable in self.program.limit))
        bound = self.bound(at, box)
        return math.floor(bound / step) * step if step else 0

    def tree(self, at: At, at_most: Fraction | None, box: Box, depth: int = 0) -> None:
        """Walk a branching tree: every leaf is without points, or has at most `at_most` (None: only the former)."""
        keys = at.value if type(at.value) is dict else {}
        if depth > DEEPEST_TREE:
            at.refuse(f"deeper than {DEEPEST_TREE}")
        if "variable" in keys:
            node = at.object("variable", "at", "down", "up")
            variable, cut = tuple(part.name() for part in node["variable"].list()), node["at"].integer()
            if variable not in self.program.limit:
                node["variable"].refuse("no variable of this class's program")
            low, high = box.get(variable, (0, self.program.limit[variable]))
            self.tree(node["down"], at_most, box | {variable: (low, min(high, cut))}, depth + 1)
            self.tree(node["up"], at_most, box | {variable: (max(low, cut + 1), high)}, depth + 1)
        elif "farkas" in keys:
            if self.bound(at.object("farkas")["farkas"], box, with_costs=False) >= 0:
                at.refuse("the multipliers do not show that this leaf is empty")
        elif at_most is None:
            at.refuse("every leaf has to be farkas")
        elif self.rounded(at.object("rows")["rows"], box) > at_most:
            at.refuse("the multipliers of this leaf show more than the value")


# --- evaluations ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Evaluation:
    """The two sides, class by class.

    Attributes:
        strata: the classes; tables: of each, where its tables stand.
        pairs, decreases: from the records, if they were given and are paired: of each class its true pairs, and the sum
            of p - p' over the correct-correct ones (None without probabilities).
    """

    where: str
    paired: bool
    acceptance: bool
    strata: list[Stratum]
    tables: list[list[At]]
    with_records: bool = False
    pairs: list[Counter[Pair]] = field(default_factory=list)
    decreases: list[Fraction | None] = field(default_factory=list)

    def table(self, index: int, at: At, merged: bool) -> tuple[Counter[Pair], Counter[Cell]]:
        """Rule `table`: the pairs of a table of class `index`, whose sums are the class's groups; also by cell."""
        c, tables = self.strata[index], self.tables[index]
        key = at.integer(0, len(tables) - 1), merged
        if key not in c.checked_tables:
            pairs, found, sums = Counter[Pair](), Counter[Cell](), (Counter[Group](), Counter[Group]())
            for entry in tables[key[0]].list():
                if not is_pair(entry.value):
                    entry.refuse("has to be [label, bit, label, bit, count], with a count of at least 1")
                x, a, y, b, count = entry.value
                if (x, a, y, b) in pairs:
                    entry.refuse("these two groups are listed twice")
                pairs[x, a, y, b] = count
                found[state(x, y), a, b] += count
                sums[0][x, a] += count
                sums[1][y, b] += count
            for name, summed, side in zip(("clean", "perturbed"), sums, c.sides, strict=True):
                groups = by_label(side) if merged else side
                for group in summed | groups:
                    if summed[group] != groups[group]:
                        rule = f"{summed[group]} pairs of the {name} group {list(group)}, which has {groups[group]}"
                        tables[key[0]].refuse(rule)
            c.checked_tables[key] = pairs, found
        return c.checked_tables[key]


def read_evaluation(at: At, texts: dict[str, str]) -> Evaluation:
    """The two sides as embedded, compared with the records where there are `texts` (by their SHA-256)."""
    fields = at.object("model", "clean", "perturbed", "paired", "threshold", "acceptance", "records", "classes")
    for name in ("model", "clean", "perturbed"):
        fields[name].text()
    paired, acceptance = fields["paired"].boolean(), fields["acceptance"].boolean()
    thresholds = None if fields["threshold"].null else read_threshold(fields["threshold"])
    if thresholds and not acceptance:
        fields["acceptance"].refuse("a threshold makes acceptance known")
    digest = fields["records"].text()
    if not re.fullmatch("[0-9a-f]{64}", digest):
        fields["records"].refuse("has to be a SHA-256 in lower-case hexadecimal")
    found = Evaluation(at.where, paired, acceptance, [], [])
    for entry in fields["classes"].list():
        parts = entry.object("name", "clean", "perturbed", "probabilities", "tables")
        sides = [read_groups(parts[name], acceptance) for name in ("clean", "perturbed")]
        if sides[0].total() != sides[1].total():
            entry.refuse(f"{sides[0].total()} clean records and {sides[1].total()} perturbed ones")
        probabilities = None
        if not parts["probabilities"].null:
            both = parts["probabilities"].object("clean", "perturbed").values()
            probabilities = [
                read_probabilities(p, by_label(side)[None, 0]) for p, side in zip(both, sides, strict=True)
            ]
        found.strata.append(Stratum(parts["name"].name(), sides, probabilities))
        found.tables.append(parts["tables"].list())
    if len({c.name for c in found.strata}) != len(found.strata):
        fields["classes"].refuse("a class is listed twice")
    if texts:
        if digest not in texts:
            fields["records"].refuse("no records that were given have this hash")
        names = [fields[name].text() for name in ("model", "clean", "perturbed")]
        compare(found, read_records(texts[digest], at.where, names, acceptance, thresholds), fields["classes"])
    return found


def read_threshold(at: At) -> tuple[Fraction, Fraction]:
    """The values of both sides, each the float32 or float64 nearest to the text."""
    fields = at.object("text", "clean", "perturbed")
    if not re.fullmatch(
        r"(?=[+]?[.]?[0-9])[+]?[0-9]{0,60}([.][0-9]{0,60})?([eE][+-]?[0-9]{1,3})?", fields["text"].text()
    ):
        fields["text"].refuse("has to be a decimal number")
    exact, values = Fraction(fields["text"].value), []
    for side in (fields["clean"], fields["perturbed"]):
        value = side.share()
        exponent = math.frexp(value)[1]
        steps = [Fraction(2) ** (max(exponent, least) - digits) for digits, least in ((24, -125), (53, -1021))]
        if not any((value / step).denominator == 1 and abs(value - exact) <= step / 2 for step in steps):
            side.refuse(f"is not the float32 or float64 nearest to {fields['text'].value}")
        values.append(value)
    return values[0], values[1]


def read_groups(at: At, acceptance: bool) -> Counter[Group]:
    """The records of one side of a class, by group."""
    groups: Counter[Group] = Counter()
    for entry in at.list():
        label, accepted, count = entry.list(3)
        group = (None if label.null else label.name(), accepted.integer(0, int(acceptance)))
        if group in groups:
            entry.refuse("the group is listed twice")
        groups[group] = count.integer(1, LARGEST_COUNT)
    if groups.total() > LARGEST_COUNT:
        at.refuse(f"more than {LARGEST_COUNT} records")
    return groups


def read_probabilities(at: At, correct: int) -> dict[Fraction, int]:
    """How often each probability of a side's correct records occurs."""
    found: dict[Fraction, int] = {}
    last = Fraction(-1)
    for entry in at.list():
        value, count = entry.list(2)
        if value.share() <= last:
            value.refuse("is not above the one before it")
        last = value.share()
        found[last] = count.integer(1)
    if sum(found.values()) != correct:
        at.refuse(f"{sum(found.values())} probabilities of {correct} correct records")
    return found


Record = tuple[str | int, Group, Fraction | None]
"""Class, group and true-class probability."""


def read_records(
    text: str, where: str, names: Sequence[str], acceptance: bool, thresholds: Sequence[Fraction] | None
) -> list[dict[Any, Record]]:
    """The canonical text of an evaluation's records, which has to bear its names: of each side, id -> record."""
    sides: list[dict[Any, Record]] = [{}, {}]
    first, *lines, last = text.split("\n") if "\n" in text else (text, text)
    if first != "\t".join(["names", *map(json.dumps, names)]):
        At(first, f"records of {where}, line 1").refuse(f"not the names of this evaluation, {', '.join(names)}")
    for number, line in enumerate(lines, start=2):
        at = At(line, f"records of {where}, line {number}")
        parts = line.split("\t")
        if last or len(parts) != 8 or parts[0] not in ("clean", "perturbed") or parts[3] not in ("0", "1"):
            at.refuse("not SIDE, IMAGE_ID, CLASS, CORRECT, PREDICTED, ACCEPTED, CONFIDENCE, TRUE_PROBABILITY and LF")
        try:
            image, name, predicted = (At(json.loads(parts[i]), at.where).name() for i in (1, 2, 4))
        except ValueError:
            at.refuse("an id or a class is not JSON")
        confidence, probability = (None if part == "-" else At(part, at.where).share() for part in parts[6:])
        side = int(parts[0] == "perturbed")
        if parts[5] not in (("0", "1") if acceptance else ("-",)):
            at.refuse(f"ACCEPTED has to be {'0 or 1' if acceptance else '-'}")
        if thresholds and (confidence is None or parts[5] != str(int(confidence >= thresholds[side]))):
            at.refuse("ACCEPTED does not follow from CONFIDENCE and the threshold")
        if image in sides[side]:
            at.refuse("the id stands twice on its side")
        sides[side][image] = name, (None if parts[3] == "1" else predicted, int(parts[5] == "1")), probability
    return sides


def compare(evaluation: Evaluation, records: list[dict[Any, Record]], at: At) -> None:
    """Refuse an evaluation that is not that of the records; else keep their true pairs, if there are any."""
    numbers, size = {c.name: i for i, c in enumerate(evaluation.strata)}, len(evaluation.strata)
    for number, side in enumerate(records):
        groups = [Counter[Group]() for _ in range(size)]
        values: list[Counter[Fraction | None]] = [Counter() for _ in range(size)]
        for image, (name, group, probability) in side.items():
            if name not in numbers:
                at.refuse(f"the records have the class {name!r} (id {image!r})")
            groups[numbers[name]][group] += 1
            if group[0] is None:
                values[numbers[name]][probability] += 1
        for i, c in enumerate(evaluation.strata):
            if groups[i] != c.sides[number] or (c.probabilities and values[i] != c.probabilities[number]):
                what = "groups" if groups[i] != c.sides[number] else "probabilities"
                at.refuse(f"the records of class {c.name!r} have other {('clean', 'perturbed')[number]} {what}")
    evaluation.with_records = True
    if not evaluation.paired:
        return
    clean, perturbed = records
    if clean.keys() != perturbed.keys():
        at.refuse("the two sides of the records have not the same ids, and they are said to be paired")
    evaluation.pairs = [Counter[Pair]() for _ in range(size)]
    evaluation.decreases = [Fraction(0)] * size
    for image, (name, x, p) in clean.items():
        other, y, q = perturbed[image]
        if other != name:
            at.refuse(f"the records have the id {image!r} in two classes")
        i = numbers[name]
        evaluation.pairs[i][x + y] += 1
        if x[0] is None and y[0] is None:
            so_far = evaluation.decreases[i]
            evaluation.decreases[i] = None if so_far is None or p is None or q is None else so_far + p - q


# --- questions --------------------------------------------------------------------------------------------------------

LEVELS = {
    "marginals": (),
    "total-correct-correct": ("total", "source"),
    "correct-correct": ("retained_correct", "source"),
    "five-state": ("retained_correct", "persistent", "source"),
    "paired": (),
}
"""What is known at each level."""

Objective = tuple[Fraction, Fraction, Fraction]
"""Factors of N_c, D_c and k_c of one class."""

ZERO, ONE = Fraction(0), Fraction(1)
PERSISTENT = cells("WS..")


class Question:
    """A quantity over a denominator, averaged, of the classes `indices`, at a level of knowledge.

    Attributes:
        total: K, where it couples the classes asked about.
        ks: the correct-correct counts that the knowledge leaves each class; persistent: s of each, None if unknown.
        claims: the closed forms that were relied on.
    """

    def __init__(self, fields: dict[str, At], evaluation: Evaluation) -> None:
        """Read it; refused if its parts do not go together or no correspondence has its counts."""
        self.evaluation, self.claims = evaluation, set[str]()
        self.quantity = fields["quantity"].text(*QUANTITIES)
        self.counted, self.stem, offered = QUANTITIES[self.quantity]
        self.denominator = fields["denominator"].text(*offered)
        self.below = DENOMINATORS.get(self.denominator, frozenset())
        self.average = fields["average"].text("micro", *(["macro"] if self.below else []))
        self.indices, one = list(range(len(evaluation.strata))), fields["class"]
        if not one.null:
            self.indices = [i for i in self.indices if evaluation.strata[i].name == one.name()]
            if not self.indices:
                one.refuse("no class of the evaluation")
        self.strata = [evaluation.strata[i] for i in self.indices]
        self.probability = self.quantity == DECREASE
        sees = any(len(some) != 4 * len({cell[0] for cell in some}) for some in (self.counted, self.below))
        if sees and not evaluation.acceptance:
            fields["quantity"].refuse("needs acceptance, which the evaluation has not")
        if self.probability and any(c.probabilities is None for c in self.strata):
            fields["quantity"].refuse("needs probabilities, which a class of the evaluation has not")
        self._know(fields["knowledge"], alone=not one.null)

    def _know(self, at: At, alone: bool) -> None:
        """Read the counts known; each has to be one that some correspondence has, and what the records say."""
        self.level, self.knowledge = at.member("level").text(*LEVELS), at.value
        self.total: int | None = None
        self.ks = [range(c.least, c.most + 1) for c in self.strata]
        self.persistent: list[int | None] = [None] * len(self.strata)
        fields = at.object("level", *LEVELS[self.level])
        pairing = self.level == "paired" or (
            "source" in fields and fields["source"].text("pairing", "given") == "pairing"
        )
        if pairing and not self.evaluation.paired:
            at.refuse("the two sides of the evaluation are not paired")

        def confirm(count: At, indices: Iterable[int], wanted: str) -> None:
            if pairing and self.evaluation.pairs:
                pairs = (pair for i in indices for pair in self.evaluation.pairs[i].items())
                truth = sum(n for (x, _, y, _), n in pairs if state(x, y) == wanted)
                if truth != count.value:
                    count.refuse(f"the records have {truth}")

        if "total" in fields:
            every = self.evaluation.strata
            least, most, K = sum(c.least for c in every), sum(c.most for c in every), fields["total"].integer()
            if not least <= K <= most:
                fields["total"].refuse(f"no correspondence has it (C11): {least} to {most}")
            confirm(fields["total"], range(len(every)), "CC")
            self.total = None if alone else K
            left = [(max(c.least, K - most + c.most), min(c.most, K - least + c.least)) for c in self.strata]
            self.ks = [range(low, high + 1) for low, high in left]
        for name, wanted in (("retained_correct", "CC"), ("persistent", "WS")):
            for i, count in enumerate(fields[name].list(len(self.strata)) if name in fields else []):
                if wanted == "CC":
                    if count.integer() not in self.ks[i]:
                        count.refuse(f"no correspondence has it (C1): {self.strata[i].least} to {self.strata[i].most}")
                    self.ks[i] = range(count.value, count.value + 1)
                else:
                    if not self.strata[i].feasible_persistent(self.ks[i][0], count.integer()):
                        count.refuse("no correspondence has it (C5)")
                    self.persistent[i] = count.value
                confirm(count, [self.indices[i]], wanted)

    def denominator_given(self, c: Stratum, k: int) -> int:
        """D_c where k decides it."""
        by_name = {"images": c.images, "clean-correct": sum(c.A), "retained-correct": k}
        return (by_name | {"clean-accepted-errors": c.W[1], "perturbed-accepted-errors": c.V[1]})[self.denominator]

    @property
    def fixed(self) -> list[int] | None:
        """The class denominators where no correspondence changes them."""
        known = ("retained-correct",) if self.level in ("correct-correct", "five-state") else ()
        if self.denominator in (*ALWAYS_FIXED, *known):
            return [self.denominator_given(c, ks[0]) for c, ks in zip(self.strata, self.ks, strict=True)]
        return None

    def value(self, at: At, upper: bool) -> Fraction | None:
        """The value of a correspondence with the tables at `at`, None where it has no denominator.

        Where probabilities are read it is the greatest or the least value of such correspondences.
        """
        sums: list[tuple[Fraction, int]] = []
        total, truth = 0, self.evaluation.pairs
        for i, (index, entry) in enumerate(zip(self.indices, at.list(len(self.indices)), strict=True)):
            (pairs, found), c = self.evaluation.table(index, entry, self.probability), self.strata[i]
            k, s, top, below = (
                sum(count for cell, count in found.items() if cell in wanted)
                for wanted in (DENOMINATORS["retained-correct"], PERSISTENT, self.counted, self.below)
            )
            total += k
            if k not in self.ks[i] or self.persistent[i] not in (None, s):
                entry.refuse(f"its {k} correct-correct and {s} persistent-wrong pairs are not those known")
            if (
                self.level == "paired"
                and truth
                and pairs != (by_label(truth[index]) if self.probability else truth[index])
            ):
                entry.refuse("is not the pairing of the records")
            numerator = Fraction(top)
            if self.probability and k and self.level == "paired":
                seen = self.evaluation.decreases[index] if truth else None
                if seen is None:
                    raise Uncertified("the paired value of probabilities can be checked with the records only")
                numerator = seen
            elif self.probability:
                numerator = Fraction(c.decrease(k)[int(upper)], c.running[2])
            sums.append((numerator, below))
        if self.total not in (None, total):
            at.refuse(f"its {total} correct-correct pairs are not the total known")
        counting = [(n, d) for n, d in sums if d > 0]
        if self.below and not counting:
            return None
        if self.average == "macro":
            return sum((n / d for n, d in counting), ZERO) / len(counting)
        return sum((n for n, _ in sums), ZERO) / (sum(d for _, d in sums) if self.below else 1)

    def bound(self, i: int, at: At, objective: Objective, ks: range) -> Fraction:
        """A BOUND of class i: its value, once it was shown that no correspondence with a k in `ks` has more."""
        how = {"claim": "claim", "dual": "rows", "branch": "tree"}[at.member("rule").text("claim", "dual", "branch")]
        node = at.object("rule", "value", how)
        value, scale = node["value"].rational(), math.lcm(*(part.denominator for part in objective))
        whole = tuple(int(part * scale) for part in objective)
        if how == "claim":
            most = self._by_claim(i, node["claim"], whole, ks) / scale
            if value < most:
                node["value"].refuse(f"less than {shown(most)}, which the closed form gives")
            return value
        if whole[0] and self.probability:
            at.refuse("a bound by rows does not read probabilities")
        case = self.case(i, whole, ks)
        if how == "tree":
            case.tree(node["tree"], value * scale, {})
        elif value * scale < case.rounded(node["rows"], {}):
            node["value"].refuse("less than what the rows show")
        return value

    def _by_claim(self, i: int, at: At, whole: tuple[int, ...], ks: range) -> Fraction:
        """The most of n N_c + d D_c + r k_c over the k allowed, by a claim's closed form."""
        (n, d, r), c, s = whole, self.strata[i], self.persistent[i]
        stems = {self.stem}
        if self.quantity == "kept-persistent-accepted-error" and s is not None:
            stems.add("persistent_kept_errors")
        if not n and self.denominator not in MARKED:
            stems.add("plain")
        stem = at.text(*sorted(stems))
        self.claims.add(stem)
        if self.denominator in MARKED:
            of_acceptance = most_of_acceptance(self.quantity, c, n, d)
            return Fraction(max(of_acceptance(k) + r * k for k in ks))
        unit = c.running[2] if n and self.probability else 1
        if self.denominator == "retained-correct":
            d, r, constant = 0, r + d, 0
        else:
            constant = d * self.denominator_given(c, 0) if self.below else 0
        if not n:
            return Fraction(max(constant + r * k for k in (ks[0], ks[-1])))
        ends, better = closed_form(self.quantity, c, s, stem), int(n > 0)
        return Fraction(max(n * ends(k)[better] + (constant + r * k) * unit for k in ks), unit)

    def case(self, i: int, whole: tuple[int, ...], ks: range) -> Case:
        """The compact program of class i with the costs of n N_c + d D_c + r k_c."""
        (n, d, r), c, s = whole, self.strata[i], self.persistent[i]
        of = {v: (STATE_OF[v[0]], *v[-2:]) for v in c.program.limit if v[0] in STATE_OF}
        numerator = {v: int(cell in self.counted) for v, cell in of.items()}
        costs = {v: n * numerator[v] + d * (cell in self.below) + r * (cell[0] == "CC") for v, cell in of.items()}
        rows: dict[Row, tuple[int, int]] = {("k",): (ks[0], ks[-1])}
        if s is not None:
            rows["s",] = (s, s)
        return Case(c.program, costs, rows, numerator)

    def prove(self, at: At, upper: bool, V: Fraction) -> None:
        """A PROOF that no correspondence exceeds V (t = +1), or is below it (t = -1)."""
        macro, t = self.average == "macro", 1 if upper else -1
        rules = ("sum", *(["mean"] if macro else []), *(["allocation"] if macro and self.total is not None else []))
        name = at.member("rule").text(*(rules if self.level != "paired" else ("pairing",)))
        if name == "pairing":
            at.object("rule")
        elif name == "sum":
            self._by_sum(at, t, V)
        elif name == "mean":
            entries = at.object("rule", "classes")["classes"].list(len(self.strata))
            gains = [self._gain(i, entry, t, V, self.ks[i]) for i, entry in enumerate(entries)]
            if sum(gains, ZERO) > 0:
                at.refuse(f"the gains over {shown(V)} add up to more than 0")
        else:
            self._by_allocation(at, t, V)

    def _by_sum(self, at: At, t: int, V: Fraction) -> None:
        """Rule `sum` for a value V."""
        fixed = self.fixed
        if self.below and fixed is None:
            if self.average == "macro":
                at.refuse("a macro average whose denominator varies needs the rule mean or allocation")
            self.add_up(at, [(Fraction(t), -t * V)] * len(self.strata), ZERO)
            return
        weights = [ONE] * len(self.strata)
        if fixed is not None:
            counting = [d for d in fixed if d > 0]
            if not counting:
                at.refuse("the denominator is 0")
            weights = [Fraction(1, sum(counting))] * len(fixed)
            if self.average == "macro":
                weights = [Fraction(1, d * len(counting)) if d else ZERO for d in fixed]
        self.add_up(at, [(t * w, ZERO) for w in weights], t * V)

    def add_up(self, at: At, factors: Sequence[tuple[Fraction, Fraction]], at_most: Fraction) -> None:
        """Rule `sum`: bounds with the classes' (numerator, denominator) factors, less m k, and m K are `at_most`."""
        fields = at.object("rule", "multiplier", "classes")
        fields["rule"].text("sum")
        if self.total is None:
            fields["multiplier"].be_null("where no total couples the classes")
        m = ZERO if fields["multiplier"].null else fields["multiplier"].rational()
        found = m * (self.total or 0)
        entries = fields["classes"].list(len(self.strata))
        for i, (entry, (numerator, denominator)) in enumerate(zip(entries, factors, strict=True)):
            found += self.bound(i, entry, (numerator, denominator, -m), self.ks[i])
        if found > at_most:
            at.refuse(f"the bounds add up to {shown(found)}, more than {shown(at_most)}")

    def _gain(self, i: int, at: At, t: int, V: Fraction, ks: range) -> Fraction:
        """What class i adds at most to the sum of (rate - t V) over the classes that count."""
        fields = at.object("rate", "bound", "positive")
        if fields["rate"].null:
            fields["positive"].be_null("beside a null rate")
            if self.bound(i, fields["bound"], (ZERO, ONE, ZERO), ks) > 0:
                fields["bound"].refuse("does not show that the class never has a denominator")
            return ZERO
        rate = fields["rate"].rational()
        if self.bound(i, fields["bound"], (Fraction(t), -rate, ZERO), ks) > 0:
            fields["bound"].refuse("does not show the rate")
        if fields["positive"].null:
            return max(ZERO, rate - t * V)
        if self.bound(i, fields["positive"], (ZERO, -ONE, ZERO), ks) > -1:
            fields["positive"].refuse("does not show that the class always has a denominator")
        return rate - t * V

    def _by_allocation(self, at: At, t: int, V: Fraction) -> None:
        """Rule `allocation`: the recurrence over classes and totals."""
        assert self.total is not None
        spare = self.total - sum(c.least for c in self.strata)
        if sum(c.most - c.least + 1 for c in self.strata) * (spare + 1) > MOST_CELLS:
            at.refuse(f"needs more than {MOST_CELLS} cells")
        gains: list[list[Fraction]] = []
        entries = at.object("rule", "classes")["classes"].list(len(self.strata))
        for i, (c, entry) in enumerate(zip(self.strata, entries, strict=True)):
            rates = enumerate(entry.list(c.most - c.least + 1), start=c.least)
            gains.append([self._gain(i, rate, t, V, range(k, k + 1)) for k, rate in rates])
        scale = math.lcm(*(gain.denominator for of_class in gains for gain in of_class))
        nowhere = -1 - 2 * sum(max(abs(int(gain * scale)) for gain in of_class) for of_class in gains)
        best = [0] + [nowhere] * spare
        for of_class in gains:
            following = [nowhere] * (spare + 1)
            for more, gain in enumerate(int(gain * scale) for gain in of_class[: spare + 1]):
                for j in range(spare + 1 - more):
                    following[j + more] = max(following[j + more], best[j] + gain)
            best = following
        if best[spare] > 0:
            at.refuse(f"the gains over {shown(V)} reach more than 0")


# --- intervals --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class End:
    """An end as far as it was shown: attained, never exceeded; `reason` says why it is not certified."""

    value: Fraction | None = None
    attained: bool = False
    proven: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """A checked interval; `reason` is empty where it is certified."""

    question: Question
    ends: tuple[End, End]
    undefined: bool
    reason: str


END = ("value", "attained", "proof", "uncertified")
ASKED = ("quantity", "denominator", "average", "class", "knowledge")


def check_interval(at: At, evaluations: Sequence[Evaluation | str]) -> Interval:
    """Check an interval; refused if something in it does not hold."""
    fields = at.object("evaluation", *ASKED, "sharp", "undefined", "lower", "upper")
    question = Question(fields, evaluation_of(fields["evaluation"], evaluations))
    sharp = fields["sharp"].boolean()
    if fields["undefined"].boolean():
        if sharp or not question.below:
            fields["undefined"].refuse("an undefined interval is not sharp, and its quantity has a denominator")
        return Interval(question, (End(), End()), True, check_undefined(fields, question))
    lower, upper = (check_end(fields[name], question, name == "upper", sharp) for name in ("lower", "upper"))
    if lower.value is not None and upper.value is not None and lower.value > upper.value:
        fields["lower"].refuse("is above the upper end")
    reasons = [f"{name}: {end.reason}" for name, end in (("lower", lower), ("upper", upper)) if end.reason]
    return Interval(question, (lower, upper), False, "; ".join(reasons))


def check_undefined(fields: dict[str, At], question: Question) -> str:
    """No correspondence has a denominator; or why that is not certified."""
    lower, upper = fields["lower"].object(*END), fields["upper"].object(*END)
    for part in (*lower.values(), upper["value"]):
        part.be_null("in an undefined interval")
    if not upper["uncertified"].null:
        return upper["uncertified"].text() or "no reason given"
    if question.level == "paired":
        if question.value(upper["attained"], upper=True) is not None:
            upper["attained"].refuse("has a denominator")
        question.prove(upper["proof"], True, ZERO)
    else:
        upper["attained"].be_null("in an undefined interval")
        question.add_up(upper["proof"], [(ZERO, ONE)] * len(question.strata), ZERO)
    return ""


def check_end(at: At, question: Question, upper: bool, sharp: bool) -> End:
    """An end; refused if something in it does not hold."""
    fields = at.object(*END)
    reason = "" if fields["uncertified"].null else fields["uncertified"].text() or "no reason given"
    if reason:
        fields["proof"].be_null("at an end that is not certified")
    if fields["value"].null:
        fields["attained"].be_null("where there is no value")
        return End(reason=reason) if reason else fields["value"].refuse("a certified end has a value")
    value, attained = fields["value"].rational(), not fields["attained"].null
    if not attained and not reason and (sharp or question.level == "paired"):
        fields["attained"].refuse("the end is said to be attained")
    try:
        seen = question.value(fields["attained"], upper) if attained else value
    except Uncertified as error:
        return End(value, reason=reason or str(error))
    if seen != value:
        fields["value"].refuse(f"the tables give {shown(seen)}")
    if not reason:
        question.prove(fields["proof"], upper, value)
    return End(value, attained, not reason, reason)


def evaluation_of(at: At, evaluations: Sequence[Evaluation | str]) -> Evaluation:
    """The evaluation with this index; refused if it was."""
    found = evaluations[at.integer(0, len(evaluations) - 1)]
    return found if isinstance(found, Evaluation) else at.refuse(f"the evaluation was refused: {found}")


# --- audits -----------------------------------------------------------------------------------------------------------

VERDICTS = ("sharp", "loose", "invalid", "possible", "impossible", "undefined", "infeasible", "undecided", "error")
AUDIT = (
    "claim_id",
    "evaluation",
    "reported",
    "verdict",
    "interval",
    "witness",
    "infeasible",
    "excluded",
    "uncertified",
)


def check_audit(
    at: At, evaluations: Sequence[Evaluation | str], intervals: Sequence[Interval | str]
) -> tuple[str, set[str]]:
    """Check a verdict: why it is not certified ("" if it is), and the claims that it rests on."""
    fields = at.object(*AUDIT)
    fields["claim_id"].text()
    evaluation, verdict = evaluation_of(fields["evaluation"], evaluations), fields["verdict"].text(*VERDICTS)
    reported = fields["reported"].object("lower", "upper", "unit", "rounding")
    if not fields["uncertified"].null:
        return fields["uncertified"].text() or "no reason given", set()
    if verdict in ("undecided", "error"):
        return f"{verdict} proves nothing", set()
    if verdict == "infeasible":
        return "", {check_infeasible(fields["infeasible"], evaluation)}
    interval = intervals[fields["interval"].integer(0, len(intervals) - 1)]
    if isinstance(interval, str):
        fields["interval"].refuse(f"the interval was refused: {interval}")
    question, (lower, upper) = interval.question, interval.ends
    if question.evaluation is not evaluation or (verdict == "undefined") != interval.undefined:
        fields["interval"].refuse("is not one of this evaluation, undefined if and only if the verdict is")
    if verdict == "undefined":
        return interval.reason, question.claims
    low, high, is_value = read_reported(reported, question)
    if (verdict in ("possible", "impossible")) != is_value:
        fields["verdict"].refuse(f"not a verdict on {'a value' if is_value else 'an interval'}")
    if verdict in ("invalid", "possible"):
        seen = [end.value for end in interval.ends if end.attained and end.value is not None]
        seen += [] if fields["witness"].null else [check_witness(fields["witness"], question)]
        if not any(low[0] <= v <= low[1] if is_value else v < low[0] or v > high[1] for v in seen):
            fields["witness"].refuse(f"no attained value lies {'in' if is_value else 'outside'} the printed interval")
        return "", set()
    if verdict == "impossible" and not fields["excluded"].null:
        check_excluded(fields["excluded"], question, low)
        return "", set()
    if not (lower.proven and upper.proven):
        return f"the ends of intervals[{fields['interval'].value}] are not proven", set()
    assert lower.value is not None
    assert upper.value is not None
    inside = low[0] <= lower.value <= low[1] and high[0] <= upper.value <= high[1]
    holds = {
        "sharp": inside and lower.attained and upper.attained,
        "loose": low[0] <= lower.value and upper.value <= high[1] and not inside,
        "impossible": upper.value < low[0] or lower.value > low[1],
    }
    if not holds[verdict]:
        fields["verdict"].refuse(f"does not follow from the ends {shown(lower.value)} and {shown(upper.value)}")
    return "", question.claims


Printed = tuple[Fraction, Fraction]
"""The closed set of values that a printed number stands for."""


def read_reported(reported: dict[str, At], question: Question) -> tuple[Printed, Printed, bool]:
    """What the two printed ends stand for, and whether they are one value."""
    unit, rounding = reported["unit"].text("", "fraction", "percent", "count"), reported["rounding"]
    units = ("fraction", "percent") if question.below else ("count", "fraction") if question.probability else ("count",)
    if (unit or "percent") not in units:
        reported["unit"].refuse(f"has to be {' or '.join(units)} for this quantity")
    truncated = rounding.text("", "nearest", "truncate") == "truncate"
    whole = not question.below and not question.probability
    low = printed(reported["lower"], unit, truncated, whole)
    if reported["upper"].text() == "":
        return low, low, True
    return low, printed(reported["upper"], unit, truncated, whole), False


def printed(at: At, unit: str, truncated: bool, whole: bool) -> Printed:
    """The closed set of values that print so; of whole numbers, their least and greatest."""
    text = at.text().strip().replace("−", "-")
    percent = text.endswith("%")
    text = text[:-1].rstrip() if percent else text
    match = (
        re.fullmatch(r"([+-]?)([0-9]*)(?:[.]([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?", text) if len(text) <= 60 else None
    )
    if (
        match is None
        or not (match[2] or match[3])
        or (unit == "" and not percent)
        or (percent and unit not in ("", "percent"))
    ):
        at.refuse("not a plain decimal number, or not one of its unit")
    step = Fraction(10) ** (int(match[4] or 0) - len(match[3] or ""))
    value = int(match[1] + match[2] + (match[3] or "")) * step
    if truncated and whole:
        low, high = value, Fraction(math.ceil(value + step) - 1)
    elif truncated:
        low, high = value - step * (match[1] == "-" or not value), value + step * (match[1] != "-")
    else:
        low, high = value - step / 2, value + step / 2
    if whole:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return (low / 100, high / 100) if percent or unit == "percent" else (low, high)


def check_witness(at: At, question: Question) -> Fraction:
    """The value of a witness, which agrees with the question's knowledge."""
    fields = at.object("value", "attained", "knowledge")
    if fields["knowledge"].value != question.knowledge:
        fields["knowledge"].refuse("is not that of the interval")
    value, seen = fields["value"].rational(), [question.value(fields["attained"], upper) for upper in (False, True)]
    return value if value in seen else fields["value"].refuse(f"the tables give {shown(seen[1])}")


def check_excluded(at: At, question: Question, within: Printed) -> None:
    """No correspondence gives a count over a fixed denominator a value in `within`."""
    tree, below = at.object("tree")["tree"], 0
    if not question.below:
        below = 1
    elif question.fixed is not None:
        below = sum(question.fixed)
    elif question.denominator == "retained-correct":
        below = question.total or 0
    if question.probability or question.level == "paired" or not below:
        at.refuse("is for counts over a fixed denominator, not of the pairing itself")
    if question.average == "macro" and len(question.strata) > 1:
        at.refuse("is for micro averages, or for one class")
    least, most = math.ceil(within[0] * below), math.floor(within[1] * below)
    if tree.null:
        return None if least > most else tree.refuse(f"{least} over {below} is in the printed interval")
    if len(question.strata) != 1 or least > most:
        tree.refuse("is for one class, where some integer is in the printed interval")
    case = question.case(0, (0, 0, 0), question.ks[0])
    case.rows["n",] = (least, most)
    return case.tree(tree, None, {})


def check_infeasible(at: At, evaluation: Evaluation) -> str:
    """Counts that no correspondence has, by a claim's condition, which is returned."""
    fields = at.object("rule", "class", "claim", "retained_correct", "persistent")
    fields["rule"].text("infeasible")
    claim = fields["claim"].text("feasible_correct_correct", "feasible_persistent", "total_count_allocation")
    k, strata = fields["retained_correct"].integer(), evaluation.strata
    if claim == "total_count_allocation":
        fields["class"].be_null("for a total")
    else:
        strata = [strata[fields["class"].integer(0, len(strata) - 1)]]
    feasible = sum(c.least for c in strata) <= k <= sum(c.most for c in strata)
    if claim == "feasible_persistent":
        feasible = feasible and strata[0].feasible_persistent(k, fields["persistent"].integer())
    else:
        fields["persistent"].be_null(f"for {claim}")
    return claim if not feasible else at.refuse(f"the condition of {claim} is not violated")


# --- the report -------------------------------------------------------------------------------------------------------

CERTIFIED = ("certified for the embedded counts", "certified")
STATUSES = (*CERTIFIED, "not certified", "rejected")


@dataclass(frozen=True, slots=True)
class Item:
    """An interval, an audit or a refused evaluation: where it stands, what it is, one of `STATUSES`, and why."""

    where: str
    what: str
    status: str
    reason: str


@dataclass(slots=True)
class Report:
    """What was checked, and what it rests on.

    Attributes:
        claims: the closed forms relied on, by their stems; evaluations, with_records: how many, and of how many the
            records were given; given: intervals whose counts are a premise.
    """

    items: list[Item] = field(default_factory=list)
    claims: set[str] = field(default_factory=set)
    evaluations: int = 0
    with_records: int = 0
    given: int = 0

    @property
    def exit_code(self) -> int:
        """0 if every item is certified, else 1."""
        return int(any(item.status not in CERTIFIED for item in self.items))

    def to_dict(self) -> dict[str, Any]:
        """As in `--json`."""
        names = ("where", "what", "status", "reason")
        return {
            "items": [{name: getattr(item, name) for name in names} for item in self.items],
            "counts": {status: sum(item.status == status for item in self.items) for status in STATUSES},
            "claims": sorted(self.claims),
            "evaluations": self.evaluations,
            "evaluations_with_records": self.with_records,
            "intervals_of_given_counts": self.given,
        }

    def lines(self) -> Iterator[str]:
        """One line an item, and a last one that says what all rests on."""
        for item in self.items:
            text = f"{item.where} {item.what}: {item.status}" + (f": {item.reason}" if item.reason else "")
            yield "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        counts = [f"{n} {status}" for status, n in self.to_dict()["counts"].items() if n]
        yield (
            f"{', '.join(counts) or 'nothing to certify'}; closed forms relied on: "
            f"{', '.join(sorted(self.claims)) or 'none'}; records given for {self.with_records} of {self.evaluations} "
            f"evaluations"
            + (f"; counts of the correspondence taken as given in {self.given} intervals" if self.given else "")
        )


def stated(value: Any, evaluations: Sequence[At]) -> str:
    """What an interval says, for the report; "" where it is not even formed like one."""
    try:
        of = evaluations[value["evaluation"]].value
        asked = [value[name] for name in ASKED[:4] if value[name] is not None]
        ends = (str(value[name]["value"]) for name in ("lower", "upper"))
        kind = "undefined" if value["undefined"] else "sharp" if value["sharp"] else "outer"
        names = f"{of['model']}: {of['clean']} -> {of['perturbed']}"
        low, high = (end if len(end) <= 40 else f"{end[:37]}..." for end in ends)
        return " ".join(map(str, (names, *asked, value["knowledge"]["level"], f"[{low}, {high}]", kind)))
    except (KeyError, IndexError, TypeError):
        return ""


def claimed(value: Any) -> str:
    """What an audit says, for the report."""
    try:
        reported = " ".join(text for text in (str(value["reported"][n]) for n in ("lower", "upper", "unit")) if text)
        return f"{value['claim_id']} {reported[:120]}: {value['verdict']}"
    except (KeyError, TypeError):
        return ""


class Checked(Protocol):
    """What was checked."""

    @property
    def exit_code(self) -> int:
        """0 if everything is certified, else 1."""

    def to_dict(self) -> dict[str, Any]:
        """As in `--json`."""

    def lines(self) -> Iterator[str]:
        """For people."""


def check(data: bytes, records: Iterable[str] = ()) -> Checked:
    """Check a certificate; one of printed reports by `report_checker.py`, which lies beside this file.

    Args:
        data: the file.
        records: canonical texts of records, in any order; each belongs to the evaluations with its hash.

    Raises:
        Unreadable: if the file is no certificate of this version.
    """
    texts = {hashlib.sha256(text.encode()).hexdigest(): text for text in records}
    value = parse(data)
    if type(value) is dict and value.get("format") == REPORTS:
        if texts:
            raise Unreadable("a certificate of printed reports speaks of no records")
        if not __package__:
            # Run as a file: the one beside it shares this module, whatever its name.
            sys.modules.setdefault("checker", sys.modules[__name__])
            sys.path.insert(0, str(Path(__file__).resolve().parent))
        beside = importlib.import_module(f"{__package__}.report_checker" if __package__ else "report_checker")
        result: Checked = beside.check(data)
        return result
    return check_intervals(value, texts)


def check_intervals(value: Any, texts: dict[str, str]) -> Report:
    """Check a certificate of intervals; the texts of records by their hash."""
    try:
        whole = At(value, "").object("format", "version", "tool", "evaluations", "intervals", "audits")
        whole["format"].text("pairbounds certificate")
        whole["version"].integer(1, 1)
        whole["tool"].text()
        parts = {name: whole[name].list() for name in ("evaluations", "intervals", "audits")}
    except Refused as error:
        raise Unreadable(str(error)) from None
    report = Report(evaluations=len(parts["evaluations"]))
    evaluations: list[Evaluation | str] = []
    intervals: list[Interval | str] = []

    def add(at: At, what: str, work: Callable[[], tuple[str, Evaluation]]) -> str:
        """Do the work on an item, note what came of it, and return why it was refused."""
        try:
            reason, evaluation = work()
            status = CERTIFIED[int(evaluation.with_records)] if not reason else "not certified"
        except Uncertified as error:
            reason, status = str(error), "not certified"
        except Refused as error:
            reason, status = str(error), "rejected"
        report.items.append(Item(at.where, what, status, reason))
        return reason

    def of_interval(at: At) -> tuple[str, Evaluation]:
        intervals.append(check_interval(at, evaluations))
        found = intervals[-1]
        assert isinstance(found, Interval)
        report.claims |= found.question.claims
        told = found.question.knowledge
        report.given += told.get("source") == "given" or (
            (told.get("source") == "pairing" or told["level"] == "paired")
            and not found.question.evaluation.with_records
        )
        return found.reason, found.question.evaluation

    def of_audit(at: At) -> tuple[str, Evaluation]:
        reason, claims = check_audit(at, evaluations, intervals)
        report.claims |= claims
        return reason, evaluation_of(at.member("evaluation"), evaluations)

    for at in parts["evaluations"]:
        try:
            evaluations.append(read_evaluation(at, texts))
        except Refused as error:
            evaluations.append(str(error))
            report.items.append(Item(at.where, "evaluation", "rejected", str(error)))
    report.with_records = sum(isinstance(e, Evaluation) and e.with_records for e in evaluations)
    for at in parts["intervals"]:
        size, reason = len(intervals), add(at, stated(at.value, parts["evaluations"]), lambda at=at: of_interval(at))  # type: ignore[misc]
        if len(intervals) == size:
            intervals.append(reason)
    for at in parts["audits"]:
        add(at, claimed(at.value), lambda at=at: of_audit(at))  # type: ignore[misc]
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this file alone."""
    parser = argparse.ArgumentParser(description="Check a certificate of intervals.")
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--records", type=Path, nargs="*", default=[], help="canonical text of the records")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    asked = parser.parse_args(arguments)
    try:
        texts = [path.read_bytes().decode("ascii") for path in asked.records]
        report = check(asked.certificate.read_bytes(), texts)
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        print(f"checker: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report.to_dict()) if asked.json else "\n".join(report.lines()))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
