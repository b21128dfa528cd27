"""What printed statements leave open, against going through every table."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
import report_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.report import ReportRow, load_report
from bounds.report_answers import Answer, answer, exit_code

HUNDRED = "images = 100\n[shared]\nclean-accuracy = '92 %'\n"


def answered(folder: Path, text: str) -> list[Answer]:
    (folder / "r.toml").write_text(text, encoding="utf-8")
    return [answer(row) for row in load_report(folder / "r.toml")]


def ends(found: Answer, assuming: tuple[str, ...] = ()) -> dict[str, tuple[Fraction | None, Fraction | None]]:
    return {one.ask.key: (one.lower, one.upper) for one in found.ranges if one.assuming == assuming}


class TestRightValues:
    def test_two_accuracies_of_a_hundred_images(self, tmp_path: Path) -> None:
        (found,) = answered(tmp_path, f"{HUNDRED}[[row]]\nperturbed-accuracy = '0.60'\n")
        assert ends(found) == {
            "retained-correct/none": (52, 60),
            "lost/none": (32, 40),
            "recovered/none": (0, 8),
            "flips/none": (32, 48),
        }
        assert exit_code([found]) == 0

    @pytest.mark.parametrize("flips", range(30, 51))
    def test_flips_are_even_there(self, flips: int, tmp_path: Path) -> None:
        """Lost less recovered is 32, so that lost plus recovered is even."""
        (found,) = answered(tmp_path, f"{HUNDRED}[[row]]\nperturbed-accuracy = '0.60'\nflips = {flips}\n")
        possible = flips in range(32, 49, 2)
        assert found.verdict == ("possible" if possible else "impossible")
        if not possible:
            assert found.conflict is not None
            assert found.conflict.smallest
            # Above 48 the accuracies' sum, below 32 their difference, between them parity: all three each time.
            assert len(found.conflict.words) == 3
        assert exit_code([found]) == int(not possible)

    def test_two_classes_know_more(self, tmp_path: Path) -> None:
        classes = "class.a.clean-correct = 48\nclass.a.perturbed-correct = 10\n"
        classes += "class.b.clean-correct = 44\nclass.b.perturbed-correct = 50\n"
        (found,) = answered(
            tmp_path, f"images = {{a = 50, b = 50}}\nask = ['retained-correct/none']\n[[row]]\n{classes}"
        )
        assert ends(found) == {"retained-correct/none": (52, 54)}

    @pytest.mark.parametrize(
        ("printed", "possible"), [("0.87", False), ("0.88", True), ("0.882", True), ("0.94", True)]
    )
    def test_seventeen_images(self, printed: str, possible: bool, tmp_path: Path) -> None:
        (found,) = answered(tmp_path, f"images = 17\n[[row]]\nclean-accuracy = '{printed}'\n")
        assert (found.verdict == "possible") is possible

    @pytest.mark.parametrize(("printed", "possible"), [("0.11", 0), ("0.12", 1), ("0.13", 1), ("0.14", 0)])
    def test_one_in_eight_prints_either_way(self, printed: str, possible: int, tmp_path: Path) -> None:
        (found,) = answered(tmp_path, f"images = 8\n[[row]]\nclean-correct = 1\nclean-accuracy = '{printed}'\n")
        assert found.verdict == ("possible" if possible else "impossible")

    @pytest.mark.parametrize(("printed", "possible"), [("0.12", 1), ("0.13", 0), ("0.125", 1), ("0.124", 0)])
    def test_cut_off_digits(self, printed: str, possible: int, tmp_path: Path) -> None:
        (found,) = answered(
            tmp_path, f"images = 8\nrounding = 'truncate'\n[[row]]\nclean-correct = 1\nclean-accuracy = '{printed}'\n"
        )
        # The closed set of 0.124 cut off ends at 0.125, which is in it.
        assert found.verdict == ("possible" if possible or printed == "0.124" else "impossible")

    def test_with_two_labels_no_wrong_answer_changes(self, tmp_path: Path) -> None:
        text = "images = 10\nask = ['persistent-wrong/none']\n{}[[row]]\nclean-correct = 4\nperturbed-correct = 4\n"
        (free,) = answered(tmp_path, text.format(""))
        (two,) = answered(tmp_path, text.format("labels = 2\n"))
        assert ends(free) == {"persistent-wrong/none": (0, 6)}
        assert ends(two) == {"persistent-wrong/none": (2, 6)}


def test_the_smallest_conflict_is_found(tmp_path: Path) -> None:
    """Leaving out one after the other ends with three of these: 9 and 6 correct and none lost. Two are fewer."""
    counts = "persistent-wrong = 6\nperturbed-correct = 6\nclean-correct = 9\nlost = 0\nrecovered = 7\n"
    (found,) = answered(tmp_path, f"images = 10\n[[row]]\n{counts}")
    assert found.conflict is not None
    assert found.conflict.smallest
    assert found.conflict.words == ("row '1': persistent-wrong = 6", "row '1': perturbed-correct = 6")


class TestAssumptions:
    def test_each_alone_and_all_together(self, tmp_path: Path) -> None:
        extra = "[assume.monotone]\nrecovered = 0\n[assume.pairing]\n'retained-correct/none' = '>= 55'\n"
        (found,) = answered(tmp_path, f"ask = ['lost/none']\n{HUNDRED}[[row]]\nperturbed-correct = 60\n{extra}")
        assert {one.assuming: (one.lower, one.upper) for one in found.ranges} == {
            (): (32, 40),
            ("monotone",): (32, 32),
            ("pairing",): (32, 37),
            ("monotone", "pairing"): (32, 32),
        }

    def test_class_margins_lie_inside_the_pooled_range(self, tmp_path: Path) -> None:
        margins = "[assume.margins]\nclass.a.clean-correct = 48\nclass.a.perturbed-correct = 10\n"
        text = "ask = ['retained-correct/none']\nimages = {a = 50, b = 50}\n[shared]\nclean-accuracy = '92 %'\n"
        (found,) = answered(tmp_path, f"{text}[[row]]\nperturbed-correct = 60\n{margins}")
        assert {one.assuming: (one.lower, one.upper) for one in found.ranges} == {(): (52, 60), ("margins",): (52, 54)}

    def test_an_assumption_against_the_report_leaves_nothing(self, tmp_path: Path) -> None:
        (found,) = answered(
            tmp_path, f"ask = ['lost']\n{HUNDRED}[[row]]\nperturbed-correct = 95\n[assume.x]\nrecovered = 0\n"
        )
        _, assumed = found.ranges
        assert (assumed.lower, assumed.upper, found.verdict) == (None, None, "possible")
        assert assumed.reason == "the statements cannot hold with these assumptions"


class TestClaims:
    @pytest.mark.parametrize(
        ("claim", "verdict"),
        [
            ("'retained-correct' = '0.52 to 0.60'", "sharp"),
            ("'retained-correct' = '0.5 to 0.6'", "sharp"),
            ("'retained-correct' = '0.50 to 0.60'", "loose"),
            ("'retained-correct' = '0.53 to 0.60'", "invalid"),
            ("'retained-correct' = '0.52 to 0.59'", "invalid"),
            ("'flips/none' = '40'", "possible"),
            ("'flips/none' = '41'", "impossible"),
            ("flips = '0.41'", "impossible"),
            ("'flips/none' = '>= 48'", "possible"),
            ("'flips/none' = '>= 49'", "impossible"),
            ("'lost/retained-correct' = '0.53 to 0.77'", "sharp"),
            # 40 lost leave no image that is wrong on both sides, 39 leave one.
            ("'lost/persistent-wrong' = '4 to 39'", "sharp"),
            ("'lost/persistent-wrong' = '4 to 40'", "loose"),
        ],
    )
    def test_verdicts(self, claim: str, verdict: str, tmp_path: Path) -> None:
        (found,) = answered(tmp_path, f"{HUNDRED}[[row]]\nperturbed-accuracy = '0.60'\n[row.claim]\n{claim}\n")
        (one,) = found.claims
        assert one.verdict == verdict
        assert found.holds is (verdict in ("sharp", "loose", "possible"))
        if verdict in ("invalid", "possible"):
            assert one.table is not None
            assert found.row.sheet.program(found.row.given)[0].violated(one.table) is None

    def test_of_statements_that_cannot_hold_or_a_ratio_of_nothing(self, tmp_path: Path) -> None:
        claim = "[row.claim]\n'lost/clean-correct' = '0.1 to 0.2'\n"
        (bad,) = answered(tmp_path, f"{HUNDRED}[[row]]\nclean-correct = 91\n{claim}")
        (none,) = answered(tmp_path, f"images = 9\n[[row]]\nclean-correct = 0\n{claim}")
        assert (bad.claims[0].verdict, none.claims[0].verdict) == ("infeasible", "undefined")
        assert exit_code([bad]) == exit_code([none]) == 1


def test_a_ratio_that_some_tables_leave_undefined(tmp_path: Path) -> None:
    (found,) = answered(tmp_path, "images = 3\nask = ['lost/clean-correct']\n[[row]]\nclean-correct = '<= 0.4'\n")
    (one,) = found.ranges
    assert (one.lower, one.upper, one.may_be_undefined) == (0, 1, True)
    (sure,) = answered(tmp_path, "images = 3\nask = ['lost/clean-correct']\n[[row]]\nclean-correct = 1\n")
    assert sure.ranges[0].may_be_undefined is False


def test_what_matters_is_what_widens_the_range(tmp_path: Path) -> None:
    text = "perturbed-accuracy = '0.60'\n'recovered/none' = '<= 90'\n'persistent-wrong/none' = '>= 0'\n"
    (found,) = answered(tmp_path, f"ask = ['lost/none', 'recovered/none']\n{HUNDRED}[[row]]\n{text}")
    lost, recovered = found.ranges
    assert lost.matters == ("shared: clean-accuracy = 92 %", "row '1': perturbed-accuracy = 0.60")
    assert recovered.matters == ("shared: clean-accuracy = 92 %",)


# --- random reports ---------------------------------------------------------------------------------------------------

PLAIN = ["clean-correct", "perturbed-correct", "retained-correct", "lost", "recovered", "flips", "persistent-wrong"]
ACCEPTED = ["clean-accepted", "perturbed-accepted", "clean-accepted-errors", "lost-acceptance", "new-accepted-error"]
BELOW = ["images", "clean-correct", "retained-correct"]


def printed(value: Fraction, digits: int, percent: bool, rng: random.Random) -> str:
    """A number as papers print it: half-up, half-even or binary."""
    number = value * (100 if percent else 1)
    scaled = number * 10**digits
    units = rng.choice([round(scaled), (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)])
    told = f"{units // 10**digits}.{units % 10**digits:0{digits}d}" if digits else str(units)
    if rng.random() < 0.3:
        told = f"{float(number):.{digits}f}"
    return f"{told} %" if percent else told


def random_report(rng: random.Random, acceptance: bool) -> tuple[str, dict[str, str]]:
    """A report of a random table: its head, and the statements of its row."""
    images = rng.randint(1, 3 if acceptance else 6)
    cells = report_oracle.cells_of(acceptance)
    table = [0] * len(cells)
    for _ in range(images):
        table[rng.randrange(len(cells))] += 1
    sheet = {"classes": [{"name": None, "images": images}], "acceptance": acceptance}
    statements = {}
    for name in rng.sample(PLAIN + (ACCEPTED if acceptance else []), rng.randint(1, 4)):
        top = report_oracle.count(sheet, table, name, None)
        below = rng.choice(BELOW)
        under = report_oracle.count(sheet, table, below, None)
        if rng.random() < 0.4 or not under:
            statements[f"{name}/none"] = str(top)
        else:
            digits, percent = rng.randint(0, 3), rng.random() < 0.5
            statements[f"{name}/{below}"] = printed(Fraction(top, under), digits, percent, rng)
    return f"images = {images}\n", statements


def written(head: str, statements: dict[str, str], asks: list[str]) -> str:
    lines = [f"'{key}' = '{value}'" for key, value in statements.items()]
    return f"{head}ask = {asks}\n[[row]]\n" + "\n".join(lines) + "\n"


def row_of(text: str, folder: Path) -> ReportRow:
    (folder / "r.toml").write_text(text, encoding="utf-8")
    return load_report(folder / "r.toml")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@settings(max_examples=150)
@given(seed=st.integers(0, 10**9), acceptance=st.booleans())
def test_what_was_printed_of_a_table_is_possible_and_its_ranges_are_exact(
    seed: int, acceptance: bool, folder: Path
) -> None:
    rng = random.Random(seed)
    head, statements = random_report(rng, acceptance)
    asks = [f"{rng.choice(PLAIN + (ACCEPTED if acceptance else []))}/{rng.choice(['none', *BELOW])}" for _ in range(2)]
    row = row_of(written(head, statements, asks), folder)
    found = answer(row)
    assert found.verdict == "possible"
    sheet = row.sheet.to_dict()
    every = report_oracle.tables(sheet, row.given)
    assert found.table in every
    for one in found.ranges:
        told = one.ask.counted.to_dict()
        values = [report_oracle.ratio(sheet, x, told) for x in every]
        defined = [value for value in values if value is not None]
        if not defined:
            assert (one.lower, one.upper, one.reason) == (None, None, "no table gives it a denominator")
            continue
        assert (one.lower, one.upper) == (min(defined), max(defined))
        assert one.may_be_undefined is (len(defined) < len(values))
        assert report_oracle.ratio(sheet, one.lower_table, told) == one.lower
        assert report_oracle.ratio(sheet, one.upper_table, told) == one.upper


@settings(max_examples=150)
@given(seed=st.integers(0, 10**9), acceptance=st.booleans())
def test_a_statement_moved_past_its_rounding_set_is_found_where_enumeration_finds_it(
    seed: int, acceptance: bool, folder: Path
) -> None:
    rng = random.Random(seed)
    head, statements = random_report(rng, acceptance)
    key = rng.choice(list(statements))
    number, _, sign = statements[key].partition(" ")
    digits = len(number.partition(".")[2])
    moved = Fraction(number) + Fraction(rng.choice([-1, 1]) * rng.choice([1, 2, 3]), 10**digits)
    if moved < 0:
        moved = -moved
    statements[key] = f"{float(moved):.{digits}f}" + (f" {sign}" if sign else "")
    row = row_of(written(head, statements, ["lost/none"]), folder)
    found = answer(row)
    sheet = row.sheet.to_dict()
    every = report_oracle.tables(sheet, row.given)
    assert found.verdict == ("possible" if every else "impossible")
    if found.conflict is not None:
        assert found.conflict.smallest
        core = list(found.conflict.given)
        assert not report_oracle.tables(sheet, core)
        assert all(report_oracle.tables(sheet, [n for n in core if n != left]) for left in core)
