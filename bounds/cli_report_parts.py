"""What `pairbounds audit-report` shows besides ranges: advice on further counts, and McNemar's test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from bounds.errors import printable

if TYPE_CHECKING:
    from bounds.report import Ask
    from bounds.report_answers import Answer
    from bounds.report_mcnemar import RowTest

__all__ = ["Advice", "Tests"]


@dataclass(frozen=True)
class Advice:
    """How far further counts would narrow some quantities.

    Attributes:
        answers: the rows.
        asks: the quantities.
        node_limit: of each search.
    """

    key: ClassVar[str] = "advice"
    answers: Sequence[Answer]
    asks: Sequence[Ask]
    node_limit: int | None

    @cached_property
    def objects(self) -> list[list[dict[str, Any]]]:
        """A list a row, one object a quantity; empty where the statements cannot hold."""
        return [self._of(one) if str(one.verdict) == "possible" else [] for one in self.answers]

    def _of(self, one: Answer) -> list[dict[str, Any]]:
        from bounds.report_advice import report_outlook

        found = []
        for ask in self.asks:
            outlook = report_outlook(one.row, ask, node_limit=self.node_limit)
            prospects = [
                {
                    "count": prospect.name,
                    "least": prospect.least,
                    "greatest": prospect.greatest,
                    "values_tried": prospect.tried,
                    "all_values": prospect.complete,
                    "widest": {"value": prospect.widest[0]} | prospect.widest[1].to_dict(),
                    "narrowest": {"value": prospect.narrowest[0]} | prospect.narrowest[1].to_dict(),
                }
                for prospect in outlook.prospects
            ]
            found.append({"quantity": ask.key, "start": outlook.start.to_dict(), "prospects": prospects})
        return found

    def text(self) -> str:
        """Tables for people."""
        from bounds.tables import text

        parts = []
        for one, advice in zip(self.answers, self.objects, strict=True):
            for told in advice:
                start = f"{told['quantity']}, from these statements {_span(told['start'])}; besides them"
                parts.append(f"\n{printable(one.row.name)}: {start}")
                lines = [
                    {
                        "count": prospect["count"],
                        "can be": f"{prospect['least']} to {prospect['greatest']}",
                        "leaves at most": f"{_span(prospect['widest'])} (at {prospect['widest']['value']})",
                        "at best": f"{_span(prospect['narrowest'])} (at {prospect['narrowest']['value']})",
                    }
                    for prospect in told["prospects"]
                ]
                parts.append(text(lines, ["left", "right", "left", "left"]))
        return "\n".join(parts)


def _span(ends: dict[str, Any]) -> str:
    from bounds.tables import outward

    if ends["lower_exact"] is None or ends["upper_exact"] is None:
        return "undefined"
    low, high = Fraction(ends["lower_exact"]), Fraction(ends["upper_exact"])
    shown = [
        str(value) if value.denominator == 1 else outward(value, up=up) for value, up in ((low, False), (high, True))
    ]
    return shown[0] if low == high else f"[{shown[0]}, {shown[1]}]"


@dataclass(frozen=True)
class Tests:
    """McNemar's test of each row over all tables of its statements.

    Attributes:
        answers: the rows.
        level: of significance.
        node_limit: of each search.
    """

    key: ClassVar[str] = "mcnemar"
    answers: Sequence[Answer]
    level: Fraction
    node_limit: int | None

    @cached_property
    def objects(self) -> list[dict[str, Any] | None]:
        """An object a row, None where the statements cannot hold.

        Where every row can hold and all have one and the same clean-correct count, Holm's correction is there too: each
        row has a correspondence of its own then, and its p-value is free of the others'.
        """
        from bounds.mcnemar import holm_ends, verdict
        from bounds.report_mcnemar import report_mcnemar

        found: list[RowTest | None] = [
            report_mcnemar(one.row, self.level, node_limit=self.node_limit) if str(one.verdict) == "possible" else None
            for one in self.answers
        ]
        objects = [None if one is None else _test_object(one) for one in found]
        whole = [one for one in found if one is not None and one.pairs is not None]
        shared = {one.clean_correct for one in whole}
        if 1 < len(found) == len(whole) and len(shared) == 1 and None not in shared:
            for number in range(len(whole[0].outcomes)):
                ends = holm_ends([one.outcomes[number].p for one in whole])
                for told, pair in zip(objects, ends, strict=True):
                    assert told is not None
                    after = {"lower": float(pair[0]), "upper": float(pair[1]), "significant": verdict(pair, self.level)}
                    told["tests"][number]["holm"] = after
        return objects

    def text(self) -> str:
        """Tables for people."""
        from bounds.cli_mcnemar import p_span
        from bounds.tables import text

        parts = []
        for one, told in zip(self.answers, self.objects, strict=True):
            if told is None:
                continue
            name = printable(one.row.name)
            if told["reason"] is not None:
                parts.append(f"\n{name}: McNemar's test was not decided: {told['reason']}")
                continue
            lines = []
            for test in told["tests"]:
                line = {"test": test["name"], "p": p_span(test["p"]), "significant": test["significant"]}
                if "holm" in test:
                    line |= {"adjusted p": p_span(test["holm"]), "after Holm": test["holm"]["significant"]}
                lines.append(line)
            ends = told["discordant"]
            title = f"McNemar's test over all tables, discordant {ends['lower']} to {ends['upper']}"
            parts.append(f"\n{name}: {title}")
            parts.append(text(lines, ["left", "right", "left", "right", "left"][: len(lines[0])]))
        return "\n".join(parts)


def _test_object(one: RowTest) -> dict[str, Any]:
    told: dict[str, Any] = {"discordant": None, "tests": [outcome.to_dict() for outcome in one.outcomes]}
    if one.pairs is not None:
        told["discordant"] = dict(zip(("lower", "upper"), one.pairs.ends, strict=True))
    return told | {"reason": one.reason}
