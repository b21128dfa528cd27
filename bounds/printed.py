"""Numbers as printed, and the closed set of values that print so.

A printed x whose last digit counts units of u stands for [x - u/2, x + u/2], both ends included: half-up, half-even
and binary printing all fall inside (theory, section 5). Where the source says that it cut digits off, x stands for
[x, x + u], mirrored below zero. Everything is exact: a string goes in, fractions come out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from bounds.errors import ClaimError
from bounds.exact import exact_number

__all__ = ["ROUNDINGS", "UNITS", "Printed", "parse"]

UNITS = ("fraction", "percent", "count")
"""What a printed number may be counted in; "" is allowed beside a printed % sign only."""

ROUNDINGS = ("nearest", "truncate")
"""How it was rounded; the first three share one closed set, since a tie may go either way in binary arithmetic."""

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<decimals>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]{1,3}))?"
)
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number; all but `text` and `unit` are in units of the value (12.5 % is 1/8).

    Attributes:
        text: as printed.
        unit: one of `UNITS`.
        value: the number itself.
        low, high: the closed set of values that print so.
    """

    text: str
    unit: str
    value: Fraction
    low: Fraction
    high: Fraction

    def __contains__(self, value: Fraction) -> bool:
        return self.low <= value <= self.high


def parse(text: str, unit: str = "", rounding: str = "", *, whole: bool = False, name: str = "number") -> Printed:
    """The printed number and the values it stands for.

    Args:
        text: as printed: "0.12", "12.5%", "−0.4", "1.2e-3".
        unit: one of `UNITS`; may be "" where `text` carries a % sign.
        rounding: one of `ROUNDINGS`; "" is "nearest".
        whole: whether only whole numbers can be meant (a count of images): the set is cut to those.
        name: the field, for the error.

    Raises:
        ClaimError: if the text is not one plain number, or unit and text disagree.

    >>> printed = parse("12.5%")
    >>> str(printed.value), str(printed.low), str(printed.high)
    ('1/8', '249/2000', '251/2000')
    >>> [Fraction(1, 8) in parse(text, "fraction") for text in ("0.11", "0.12", "0.13", "0.14")]
    [False, True, True, False]
    >>> parse("0.29", "fraction").value * 100
    Fraction(29, 1)
    """
    if unit not in ("", *UNITS):
        raise ClaimError("unit", unit, "unknown", f"choose one of {', '.join(UNITS)}")
    if rounding not in ("", *ROUNDINGS):
        raise ClaimError("rounding", rounding, "unknown", f"choose one of {', '.join(ROUNDINGS)}, or leave it empty")
    number = text.strip().replace("−", "-")
    signed = number.endswith("%")
    if signed:
        number = number[:-1].rstrip()
        if unit not in ("", "percent"):
            raise ClaimError(name, text, f"a % sign beside the unit {unit}", "write percent, or drop the sign")
    elif not unit:
        raise ClaimError(name, text, "a number without a unit is ambiguous", f"declare one of {', '.join(UNITS)}")
    value, step = _decimal(number, text, name)
    if whole:
        low, high = _whole_set(value, step, rounding)
        if low > high:
            raise ClaimError(name, text, "a count of images is a whole number", "print it without decimals")
    elif rounding == "truncate":
        negative = number.startswith("-")
        low = value - (step if negative or not value else 0)
        high = value + (0 if negative else step)
    else:
        low, high = value - step / 2, value + step / 2
    scale = Fraction(1, 100) if signed or unit == "percent" else Fraction(1)
    return Printed(text, unit or "percent", value * scale, low * scale, high * scale)


def _whole_set(value: Fraction, step: Fraction, rounding: str) -> tuple[Fraction, Fraction]:
    """The whole numbers that print so, by their ends."""
    if rounding == "truncate":
        return Fraction(ceil(value)), Fraction(ceil(value + step) - 1)
    return Fraction(ceil(value - step / 2)), Fraction(floor(value + step / 2))


def _decimal(number: str, text: str, name: str) -> tuple[Fraction, Fraction]:
    """The decimal number and the unit of its last digit."""
    match = _NUMBER.fullmatch(number) if len(number) <= _LONGEST else None
    whole, decimals = (match["whole"], match["decimals"] or "") if match else ("", "")
    if match is None or not whole + decimals:
        rule = "not a plain decimal number"
        if len(number) > _LONGEST:
            rule = f"longer than {_LONGEST} characters"
        elif re.fullmatch(r"[+-]?[0-9.]+[,'\s][0-9.,'\s]*", number):
            rule = "a comma, blank or quote inside a number is ambiguous"
        raise ClaimError(name, text, rule, "print it with a decimal point and no thousands separator, such as 0.125")
    try:
        return exact_number(number), exact_number(f"1e{int(match['exponent'] or 0) - len(decimals)}")
    except ValueError as error:
        raise ClaimError(name, text, str(error), "print it without a huge exponent") from None
