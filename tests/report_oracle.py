"""Printed reports of few images: every table of a certificate's statements, and whether its answers are true.

Slow and obvious, straight from the definitions; what a printed number stands for is `bounds.printed`'s to say.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache

from small_tables import ways

from bounds.printed import parse
from bounds.report_sheet import Counted, Said

STATES = ("CC", "CW", "WC", "WS", "WD")

HOLDS = {
    "images": lambda s, a, b: True,
    "clean-correct": lambda s, a, b: s[0] == "C",
    "perturbed-correct": lambda s, a, b: s in ("CC", "WC"),
    "clean-wrong": lambda s, a, b: s[0] == "W",
    "perturbed-wrong": lambda s, a, b: s not in ("CC", "WC"),
    "clean-accepted": lambda s, a, b: a,
    "perturbed-accepted": lambda s, a, b: b,
    "clean-accepted-correct": lambda s, a, b: a and s[0] == "C",
    "perturbed-accepted-correct": lambda s, a, b: b and s in ("CC", "WC"),
    "retained-correct": lambda s, a, b: s == "CC",
    "retained-correct-accepted": lambda s, a, b: s == "CC" and a,
    "retained-correct-rejected": lambda s, a, b: s == "CC" and not a,
    "clean-accepted-errors": lambda s, a, b: s[0] == "W" and a,
    "perturbed-accepted-errors": lambda s, a, b: s in ("CW", "WS", "WD") and b,
    "lost": lambda s, a, b: s == "CW",
    "recovered": lambda s, a, b: s == "WC",
    "flips": lambda s, a, b: s in ("CW", "WC"),
    "persistent-wrong": lambda s, a, b: s == "WS",
    "changed-wrong": lambda s, a, b: s == "WD",
    "lost-acceptance": lambda s, a, b: s == "CC" and a and not b,
    "gained-acceptance": lambda s, a, b: s == "CC" and b and not a,
    "new-accepted-error": lambda s, a, b: b and s in ("CW", "WS", "WD") and not (a and s != "CW"),
    "resolved-accepted-error": lambda s, a, b: a and s[0] == "W" and not (b and s != "WC"),
    "kept-accepted-error": lambda s, a, b: a and b and s in ("WS", "WD"),
    "kept-persistent-accepted-error": lambda s, a, b: a and b and s == "WS",
    "kept-changed-accepted-error": lambda s, a, b: a and b and s == "WD",
    "rejected-wrong-to-accepted-error": lambda s, a, b: b and not a and s in ("WS", "WD"),
    "correct-to-accepted-error": lambda s, a, b: b and s == "CW",
    "accepted-correct-to-accepted-error": lambda s, a, b: a and b and s == "CW",
}


def cells_of(acceptance):
    bits = (0, 1) if acceptance else (0,)
    return [(s, a, b) for s in STATES for a in bits for b in bits]


def holds(name):
    """Whether a cell is counted; a name, or cells as in "CC10 WS.1"."""
    if name in HOLDS:
        return HOLDS[name]
    parts = name.split(" ")
    return lambda s, a, b: any(p[:2] == s and p[2] in f".{a}" and p[3] in f".{b}" for p in parts)


@lru_cache(maxsize=200)
def every(images, acceptance):
    """All tables of a class."""
    return list(ways(images, len(cells_of(acceptance))))


def count(sheet, x, name, of_class):
    counted = _counted(sheet["acceptance"], name)
    width = len(cells_of(sheet["acceptance"]))
    which = range(len(sheet["classes"])) if of_class is None else (of_class,)
    return sum(x[width * c + place] for c in which for place in counted)


@lru_cache(maxsize=200)
def _counted(acceptance, name):
    return [place for place, cell in enumerate(cells_of(acceptance)) if holds(name)(*cell)]


def ratio(sheet, x, told):
    """The value at a table, None where it is undefined."""
    top = count(sheet, x, told["numerator"], told["class"])
    if told["denominator"] is None:
        return Fraction(top)
    below = count(sheet, x, told["denominator"], told["class"])
    return Fraction(top, below) if below else None


def sides(told):
    """(low, high) of the printed numbers of a statement or verdict, as two closed sets."""
    whole = told["denominator"] is None
    low = parse(told["lower"], told["unit"], told["rounding"], whole=whole)
    high = low if told["upper"] == "" else parse(told["upper"], told["unit"], told["rounding"], whole=whole)
    return low, high


def obeys(sheet, x, number):
    told = sheet["statements"][number]
    value = ratio(sheet, x, told)
    low, high = sides(told)
    if value is None:
        return False
    return (told["relation"] == "at most" or low.low <= value) and (
        told["relation"] == "at least" or value <= high.high
    )


class Unknown(Exception):
    """Too large to go through."""


def tables(sheet, given):
    """Every table that obeys the statements."""
    said_of = [sheet["statements"][number] for number in given]
    return list(_tables(json.dumps([sheet["classes"], sheet["acceptance"], said_of])))


@lru_cache(maxsize=500)
def _tables(text):
    classes, acceptance, statements = json.loads(text)
    sheet = {"classes": classes, "acceptance": acceptance, "statements": statements}
    sizes = [entry["images"] for entry in sheet["classes"]]
    most = 3 if sheet["acceptance"] else 9
    if any(size is None for size in sizes) or sum(sizes) > most:
        raise Unknown
    found = [()]
    for size in sizes:
        found = [x + y for x in found for y in every(size, sheet["acceptance"])]
    for number in range(len(statements)):
        found = [x for x in found if obeys(sheet, x, number)]
    return found


def true(sheet, number):
    """Whether an answer is true."""
    answer = sheet["answers"][number]
    kind = answer["kind"]
    if kind == "possible":
        return bool(tables(sheet, answer["given"]))
    if kind == "impossible":
        given = answer["given"]
        return not tables(sheet, given) and (
            answer["without"] is None or all(tables(sheet, [g for g in given if g != left]) for left in given)
        )
    if kind == "verdict":
        reasons = [sheet["answers"][i] for i in answer["because"]]
        left = tables(sheet, reasons[0]["given"])
        values = [v for x in left if (v := ratio(sheet, x, answer)) is not None]
        if answer["verdict"] in ("infeasible", "undefined"):
            return not (left if answer["verdict"] == "infeasible" else values)
        low, high = sides(answer)
        if answer["verdict"] == "invalid":
            return any(v < low.low or v > high.high for v in values)
        if not values:
            return False
        inside = low.low <= min(values) <= low.high and high.low <= max(values) <= high.high
        return inside == (answer["verdict"] == "sharp") and low.low <= min(values) and max(values) <= high.high
    values = [v for x in tables(sheet, answer["given"]) if (v := ratio(sheet, x, answer)) is not None]
    if kind == "undefined":
        return not values
    assert kind == "end"
    return bool(values) and Fraction(answer["value"]) == (max if answer["side"] == "upper" else min)(values)


def said(numerator, lower, denominator=None, *, unit="count", of_class=None, relation="is", upper="", rounding=""):
    """A statement, a count unless told otherwise."""
    return Said(Counted(numerator, denominator, of_class), relation, lower, upper, unit, rounding)
