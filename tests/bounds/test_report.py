"""Reading printed reports."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from bounds.errors import ClaimError
from bounds.report import ReportRow, load_report, parse_ask
from bounds.report_sheet import Counted, Said


def read(folder: Path, text: str, name: str = "r.toml", assume: tuple[str, ...] = ()) -> list[ReportRow]:
    (folder / name).write_text(text, encoding="utf-8")
    return load_report(folder / name, assume)


WHOLE = """
unit = "percent"
rounding = "truncate"
ask = ["flips/none", "lost-acceptance"]
labels = 2
[images]
cat = 50
dog = 30
[shared]
clean-accuracy = "91.5"
[model.net]
clean-coverage = ">= 80 %"
[[row]]
name = "fog"
model = "net"
perturbed-accuracy = "60"
lost = 3
"persistent-wrong/none" = "2"
"lost/clean-correct" = "1 to 7"
class.cat.recovered = 1
claim."retained-correct" = "50 to 60"
claim.flips = 4
[assume.calm]
"recovered/none" = "<= 5"
"""


class TestToml:
    def test_every_part_becomes_a_statement(self, tmp_path: Path) -> None:
        (row,) = read(tmp_path, WHOLE)
        assert row.sheet.classes == (("cat", 50), ("dog", 30))
        assert row.sheet.acceptance
        percent = {"unit": "percent", "rounding": "truncate"}
        assert [one.said for one in row.stated] == [
            Said(Counted("changed-wrong"), "is", "0", unit="count"),
            Said(Counted("clean-correct", "images"), "is", "91.5", **percent),
            Said(Counted("clean-accepted", "images"), "at least", "80 %", unit="", rounding="truncate"),
            Said(Counted("perturbed-correct", "images"), "is", "60", **percent),
            Said(Counted("lost"), "is", "3", unit="count", rounding="truncate"),
            Said(Counted("persistent-wrong"), "is", "2", unit="count", rounding="truncate"),
            Said(Counted("lost", "clean-correct"), "between", "1", "7", **percent),
            Said(Counted("recovered", None, 0), "is", "1", unit="count", rounding="truncate"),
            Said(Counted("recovered"), "at most", "5", unit="count", rounding="truncate"),
            Said(Counted("flips"), "is", "4", unit="count", rounding="truncate"),
        ]
        assert tuple(one.said for one in row.stated) == row.sheet.statements
        assert row.given == tuple(range(8))
        assert row.assumptions == ("calm",)
        assert row.assuming(["calm"]) == tuple(range(9))
        assert [ask.counted for ask in row.asks] == [Counted("flips"), Counted("lost-acceptance", "retained-correct")]
        interval, value = row.claims
        assert (interval.said.relation, interval.number, value.said.relation, value.number) == (
            "between",
            None,
            "is",
            9,
        )
        assert row.stated[7].words == "row 'fog', class 'cat': recovered = 1"

    def test_truncated_and_rounded_numbers_stand_for_closed_sets(self, tmp_path: Path) -> None:
        (row,) = read(tmp_path, 'images = 9\n[[row]]\nclean-accuracy = "0.12"\nperturbed-accuracy = ">= 12.5%"\n')
        assert row.sheet.statements[0].sides == (Fraction(115, 1000), Fraction(125, 1000))
        assert row.sheet.statements[1].sides == (Fraction(1245, 10000), None)

    def test_classes_without_their_images_leave_the_sum(self, tmp_path: Path) -> None:
        (row,) = read(tmp_path, 'images = 9\nclasses = ["a", "b"]\n[[row]]\nclass.a.lost = 1\n')
        assert row.sheet.classes == (("a", None), ("b", None))
        assert row.stated[0].words == "row '1': images = 9"
        assert row.sheet.statements[1].counted == Counted("lost", None, 0)

    def test_rows_may_have_images_of_their_own(self, tmp_path: Path) -> None:
        one, two = read(tmp_path, 'images = 9\n[[row]]\nlost = 1\n[[row]]\nname = "x"\nimages = 5\nlost = 1\n')
        assert (one.sheet.classes, two.sheet.classes) == (((None, 9),), ((None, 5),))

    def test_counts_are_asked_for_where_nothing_is(self, tmp_path: Path) -> None:
        plain, accepted = read(tmp_path, 'images = 9\n[[row]]\nlost = 1\n[[row]]\nname = "x"\nclean-coverage = "0.5"\n')
        shown = ["retained-correct/none", "lost/none", "recovered/none", "flips/none"]
        assert [ask.key for ask in plain.asks] == shown
        assert [ask.key for ask in accepted.asks] == [*shown, "lost-acceptance", "new-accepted-error/none"]
        assert (plain.sheet.acceptance, accepted.sheet.acceptance) == (False, True)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("images = 9\n[[row]]\nclean-acuracy = '0.5'", "row '1' 'clean-acuracy': no quantity of that name"),
            ("images = 9\n[[row]]\nlost = 0.5", "row '1': lost .*quote it as printed"),
            ("images = 9\n[[row]]\nlost = '0,5'", "row '1': lost .*comma"),
            ("images = 9\n[[row]]\n'lost/none' = '0.5'", "whole number"),
            ("images = 9\n[[row]]\nlost = true", "no printed number"),
            ("images = 9\n[[row]]\n'lost/clean-correct' = 1", "is a count, and this is a rate"),
            ("images = 9\n[[row]]\n'lost/nothing' = '1'", "no denominator 'nothing'"),
            ("images = 9\n[[row]]\nlost = '0.5 to 0.2'", "lower end lies above"),
            ("images = 9\n[[row]]\nclass.cat.lost = 1", "no class of that name"),
            ("images = 9\n[[row]]\nunit = 'promille'\nlost = '0.5'", "unit 'promille'"),
            ("images = 9\n[[row]]\nrounding = 'up'\nlost = '0.5'", "rounding 'up'"),
            ("images = 9\n[[row]]\nmodel = 'x'\n[model.y]\nlost = 1", "choose among y"),
            ("images = -1\n[[row]]\nlost = 1", "no number of images"),
            ("images = 'many'\n[[row]]\nlost = 1", "no number of images"),
            ("images = 9\nimage = 8\n[[row]]\nlost = 1", "'image': no key of a report"),
            ("images = 9", "no \\[\\[row\\]\\]"),
            ("images = 9\nrow = 3", "no \\[\\[row\\]\\]"),
            ("images = 9\n[[row]]\nname = 'a'\n[[row]]\nname = 'a'", "occurs twice"),
            ("images = 9\nlabels = 1\n[[row]]\nlost = 1", "no number of labels"),
            ("images = 9\nask = 'lost'\n[[row]]\nlost = 1", "no list of quantities"),
            ("images = 9\nask = ['lst']\n[[row]]\nlost = 1", "no quantity of that name"),
            ("images = {a = 1}\nclasses = ['a']\n[[row]]\nlost = 1", "leave classes out"),
            ("classes = ['a', 'a']\n[[row]]\nlost = 1", "different names"),
            ("images = 9\nassume = 3\n[[row]]\nlost = 1", "no table of assumptions"),
            ("images = 9\nshared = 3\n[[row]]\nlost = 1", "no table"),
            ("images = 9\n[[row]\n", "is no TOML"),
            ("images = {a = 1}\n[[row]]\nimages = {b = 1}", "names other classes"),
        ],
    )
    def test_what_cannot_be_read_is_named(self, text: str, told: str, tmp_path: Path) -> None:
        with pytest.raises(ClaimError, match=told):
            read(tmp_path, text)

    def test_files_that_are_not_there_or_not_text(self, tmp_path: Path) -> None:
        with pytest.raises(ClaimError, match="cannot be read"):
            load_report(tmp_path / "none.toml")
        (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
        with pytest.raises(ClaimError, match="not UTF-8"):
            load_report(tmp_path / "b.toml")


class TestCsv:
    def test_a_row_is_an_answer(self, tmp_path: Path) -> None:
        text = "row,images,clean-accuracy,flips/none,claim:lost/none\nfog,100,92 %,,3 to 40\nsnow,50,0.9,7,\n"
        fog, snow = read(tmp_path, text, "r.csv")
        assert (fog.name, fog.sheet.classes, [one.said.lower for one in fog.stated]) == (
            "fog",
            ((None, 100),),
            ["92 %"],
        )
        assert [claim.said.relation for claim in fog.claims] == ["between"]
        assert [one.said.counted for one in snow.stated] == [Counted("clean-correct", "images"), Counted("flips")]
        assert snow.claims == ()

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "holds no row"),
            ("row,lost\n", "no \\[\\[row\\]\\]"),
            ("row,lost,lost\na,1,1\n", "occurs twice in the header"),
            ("row,lost\na\n", "has 1 fields where the header has 2"),
            ("row,images,lost\na,x,1\n", "no number of images"),
            ('row,lost\n"a,1\n', "is no CSV"),
            ("row,loss\na,1\n", "no quantity of that name"),
            ("row,images,lost/none\na,9,1.5\n", "whole number"),
        ],
    )
    def test_what_cannot_be_read_is_named(self, text: str, told: str, tmp_path: Path) -> None:
        with pytest.raises(ClaimError, match=told):
            read(tmp_path, text, "r.csv")


def test_assumptions_that_need_no_file(tmp_path: Path) -> None:
    (row,) = read(tmp_path, "images = 9\n[[row]]\nlost = 1\n", assume=("none-recovered",))
    assert row.assumptions == ("none-recovered",)
    assert row.stated[-1].said == Said(Counted("recovered"), "is", "0", unit="count")
    with pytest.raises(ClaimError, match="none-recovered, none-lost"):
        read(tmp_path, "images = 9\n[[row]]\nlost = 1\n", assume=("calm",))


def test_rates_have_their_denominators() -> None:
    for side in ("clean", "perturbed"):
        for name, counts in {
            "accuracy": ("correct", "images"),
            "coverage": ("accepted", "images"),
            "selective-accuracy": ("accepted-correct", "accepted"),
            "selective-risk": ("accepted-errors", "accepted"),
        }.items():
            top, below = (count if count == "images" else f"{side}-{count}" for count in counts)
            assert parse_ask(f"{side}-{name}").counted == Counted(top, below)
    assert parse_ask("clean-accuracy/none").counted == Counted("clean-correct")
    assert parse_ask("lost/clean-correct").counted == Counted("lost", "clean-correct")
