"""Claims that one policy costs less than another: `cheaper` rows of a claims file.

Such a row names two policies of a policies file in `quantity`, as in `strict < lenient`, and leaves the numbers empty.
It is `sharp` where the first costs less under every correspondence that the knowledge leaves, and `invalid`, with a
correspondence, where some correspondence makes it cost as much or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from bounds.errors import ClaimError, PairboundsError
from bounds.knowledge import Level
from bounds.policies import Difference, evaluate_policies, evaluations_of, open_records
from bounds.policy import Policy, load_policies
from bounds.records import Records

__all__ = ["OrderClaim", "PolicyAuditor", "Refutation", "is_order"]

SIGN = " < "


def is_order(quantity: str) -> bool:
    """Whether a row's quantity compares two policies.

    Raises:
        ClaimError: if it seems to, and is written in another way.

    >>> is_order("strict < lenient"), is_order("lost")
    (True, False)
    """
    if SIGN not in quantity and any(sign in quantity for sign in "<>≤≥"):
        raise ClaimError("quantity", quantity, "no comparison of policies", "write 'cheaper < dearer', with the blanks")
    return SIGN in quantity


@dataclass(frozen=True, slots=True)
class OrderClaim:
    """A row: the first policy is said to cost less than the second."""

    first: str
    second: str
    model: str | None
    clean: str
    perturbed: str | None
    knowledge: Level

    @classmethod
    def read(cls, text: Mapping[str, str]) -> OrderClaim:
        """The claim of a row's fields.

        Raises:
            ClaimError: if a field is filled that such a claim does not have, or the level is unknown.
        """
        used = ("claim_id", "model", "clean", "perturbed", "quantity", "knowledge")
        for name, value in text.items():
            if value and name not in used:
                raise ClaimError(name, value, "a comparison of policies has no such field", "leave it empty")
        if text["knowledge"] not in list(Level):
            raise ClaimError("knowledge", text["knowledge"], "unknown", f"choose among {', '.join(Level)}")
        first, second = (part.strip() for part in text["quantity"].split(SIGN, 1))
        return cls(
            first, second, text["model"] or None, text["clean"] or "clean", text["perturbed"] or None,
            Level(text["knowledge"]),
        )  # fmt: skip


class Refutation(NamedTuple):
    """A correspondence by image ids, paired in order, and the first cost minus the second under it."""

    difference: Fraction
    clean: Sequence[str]
    perturbed: Sequence[str]


class PolicyAuditor:
    """Compares policies of one file on one set of records."""

    def __init__(self, policies: str | Path | Sequence[Policy] | None, records: Any, strata: str | None) -> None:
        self.policies = load_policies(policies) if isinstance(policies, str | Path) else list(policies or ())
        self.records, self.strata = records, strata

    def compare(self, claim: OrderClaim) -> tuple[Difference, Refutation | None]:
        """The difference of the two costs, and a correspondence under which the first does not cost less, if known.

        Raises:
            PairboundsError: if a policy is unknown, or the two cannot be compared on these records.
        """
        named = {policy.name: policy for policy in self.policies}
        for name in (claim.first, claim.second):
            if name not in named:
                known = ", ".join(named) or "none: give a policies file (--policies)"
                raise ClaimError("quantity", name, "no such policy", f"known are {known}")
        if claim.first == claim.second:
            raise ClaimError("quantity", claim.first, "a policy is compared with itself", "name two policies")
        pair = [named[claim.first], named[claim.second]]
        if isinstance(self.records, Records):
            raise PairboundsError("records", None, "policies read their own columns", "give the path or the table")
        opened = open_records(pair, self.records, self.strata)
        evaluations = next(
            evaluations_of(
                pair, opened, model=claim.model, perturbed=[self._condition(claim, opened)], clean=claim.clean
            )
        )
        comparison = evaluate_policies(pair, evaluations, claim.knowledge, model=claim.model, witnesses=True)
        (difference,) = comparison.differences
        witness = difference.ends[1]
        if witness is None or witness.match is None or witness.difference < 0:
            return difference, None
        clean, perturbed = comparison.evaluation.clean.image_id, comparison.evaluation.perturbed.image_id
        return difference, Refutation(witness.difference, clean.to_list(), perturbed.gather(witness.match).to_list())

    @staticmethod
    def _condition(claim: OrderClaim, opened: Mapping[str, Records]) -> str:
        if claim.perturbed is not None:
            return claim.perturbed
        records = next(iter(opened.values()))
        conditions = {c for model in records.models for c in records.conditions(model)} - {claim.clean}
        if len(conditions) != 1:
            raise ClaimError("perturbed", "", "the records hold several conditions", "name one")
        return conditions.pop()
