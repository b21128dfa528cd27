"""Printed numbers, against what Python's own printing makes of values."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.errors import ClaimError
from bounds.printed import parse


@pytest.mark.parametrize(
    ("text", "unit", "value", "low", "high"),
    [
        ("0.12", "fraction", "0.12", "0.115", "0.125"),
        ("12.5%", "", "0.125", "0.1245", "0.1255"),
        ("12.5%", "percent", "0.125", "0.1245", "0.1255"),
        ("12.5 %", "", "0.125", "0.1245", "0.1255"),
        ("12.5\u00a0%", "", "0.125", "0.1245", "0.1255"),
        ("12.5\u202f%", "", "0.125", "0.1245", "0.1255"),
        ("50", "percent", "0.5", "0.495", "0.505"),
        ("0.5", "percent", "0.005", "0.0045", "0.0055"),
        ("50", "fraction", "50", "49.5", "50.5"),
        ("−0.12", "fraction", "-0.12", "-0.125", "-0.115"),
        ("-0.00", "fraction", "0", "-0.005", "0.005"),
        ("+.5", "fraction", "0.5", "0.45", "0.55"),
        ("1.2e-3", "fraction", "0.0012", "0.00115", "0.00125"),
        ("1.2E2", "count", "120", "115", "125"),
        ("3.27", "count", "3.27", "3.265", "3.275"),
        ("0.10", "fraction", "0.1", "0.095", "0.105"),
        (" 0.1 ", "fraction", "0.1", "0.05", "0.15"),
    ],
)
def test_the_closed_set_of_a_printed_number(text: str, unit: str, value: str, low: str, high: str) -> None:
    printed = parse(text, unit)
    assert (printed.value, printed.low, printed.high) == (Fraction(value), Fraction(low), Fraction(high))
    assert printed.text == text


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.12", "0.12", "0.13"),
        ("-0.12", "-0.13", "-0.12"),
        ("0.00", "-0.01", "0.01"),
        ("-0.00", "-0.01", "0"),
        ("12%", "0.12", "0.13"),
    ],
)
def test_digits_cut_off_towards_zero(text: str, low: str, high: str) -> None:
    printed = parse(text, "" if "%" in text else "fraction", "truncate")
    assert (printed.low, printed.high) == (Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("text", "rounding", "low", "high"),
    [("12", "", 12, 12), ("12", "truncate", 12, 12), ("12.0", "", 12, 12), ("1.2e2", "", 115, 125),
     ("1.2e2", "truncate", 120, 129), ("0", "", 0, 0)],
)  # fmt: skip
def test_a_count_of_images_stands_for_whole_numbers(text: str, rounding: str, low: int, high: int) -> None:
    printed = parse(text, "count", rounding, whole=True)
    assert (printed.low, printed.high) == (low, high)


@pytest.mark.parametrize("text", ["12.4", "0.5"])
def test_a_count_of_images_is_whole(text: str) -> None:
    with pytest.raises(ClaimError, match="a count of images is a whole number"):
        parse(text, "count", whole=True)


def test_an_eighth_prints_in_two_ways_and_no_other() -> None:
    inside = [text for text in ("0.11", "0.12", "0.13", "0.14") if Fraction(1, 8) in parse(text, "fraction")]
    assert inside == ["0.12", "0.13"]


def test_29_hundredths_are_29_percent() -> None:
    assert parse("0.29", "fraction").value * 100 == 29
    assert parse("29", "percent").value == parse("0.29", "fraction").value


@pytest.mark.parametrize("text", ["1", "0.5", "50", "-3"])
def test_a_bare_number_needs_a_unit(text: str) -> None:
    with pytest.raises(ClaimError, match=r"without a unit is ambiguous; declare one of fraction, percent, count"):
        parse(text)


@pytest.mark.parametrize("unit", ["fraction", "count"])
def test_a_percent_sign_beside_another_unit(unit: str) -> None:
    with pytest.raises(ClaimError, match=f"% sign beside the unit {unit}"):
        parse("12.5%", unit)


@pytest.mark.parametrize(
    "text",
    ["", "nan", "inf", "-inf", "0x1p3", "1_000", "1/3", "ca. 0.5", "--1", "1e", ".", "-", "e5", "1.2.3", "٣", "1e9999"],
)
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(ClaimError, match="not a plain decimal number"):
        parse(text, "fraction")


@pytest.mark.parametrize("text", ["0,5", "1,000", "1 000", "0.5 0.6", "1'000", "1.000,5", "1\u202f000"])
def test_commas_and_separators_are_refused(text: str) -> None:
    with pytest.raises(ClaimError, match="a comma, blank or quote inside a number is ambiguous"):
        parse(text, "fraction")


@pytest.mark.parametrize("text", ["1e400", "-2e300", "1e-999", "0e999"])
def test_exponents_out_of_reach_are_refused(text: str) -> None:
    with pytest.raises(ClaimError, match="not 0 or between 1e-400 and 1e300 in size"):
        parse(text, "fraction")


def test_a_percent_sign_alone_and_endless_digits() -> None:
    with pytest.raises(ClaimError, match="not a plain decimal number"):
        parse("%")
    with pytest.raises(ClaimError, match="longer than 60 characters"):
        parse("0." + "1" * 60, "fraction")


def test_unknown_units_and_roundings_are_named() -> None:
    with pytest.raises(ClaimError, match=r"unit 'permille': unknown; choose one of fraction, percent, count"):
        parse("1", "permille")
    for rounding in ("up", "half-up"):  # nearest covers both ways of treating a tie
        with pytest.raises(ClaimError, match=f"rounding '{rounding}': unknown; choose one of nearest, truncate"):
            parse("1", "fraction", rounding)


@given(
    st.fractions(-3, 3, max_denominator=1000), st.integers(0, 5), st.sampled_from(["half-up", "half-even", "truncate"])
)
def test_every_value_is_in_the_set_of_what_it_prints_as(value: Fraction, places: int, rounding: str) -> None:
    """Decimal division at 60 digits rounds correctly here: the denominators are below 1000."""
    mode = {"half-up": ROUND_HALF_UP, "half-even": ROUND_HALF_EVEN, "truncate": ROUND_DOWN}[rounding]
    scaled = value * 10**places
    whole = int((Decimal(scaled.numerator) / Decimal(scaled.denominator)).to_integral_value(mode))
    text = f"{Decimal(whole).scaleb(-places):f}"
    declared = "truncate" if rounding == "truncate" else ""
    printed = parse(text, "fraction", declared)
    assert value in printed
    if rounding != "truncate":
        step = Fraction(1, 10**places)
        assert printed.high - printed.low == step
        neighbours = [f"{Decimal(whole + d).scaleb(-places):f}" for d in (-2, 2)]
        assert all(value not in parse(neighbour, "fraction") for neighbour in neighbours)


@given(st.floats(-1, 1), st.integers(0, 12))
def test_binary_printing_falls_inside(number: float, places: int) -> None:
    assert Fraction(number) in parse(f"{number:.{places}f}", "fraction")
    assert Fraction(number) in parse(f"{number:.{places}e}", "fraction")
