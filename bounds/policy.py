"""Policies: which images are accepted, and what each outcome costs; in Python, and as TOML files.

A cost is a table over the cells of a pair of records: its state, whether it is accepted clean, whether perturbed. All
numbers are decimals taken as written, so that costs add up exactly.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import PolicyError
from bounds.exact import exact_number
from bounds.quantities import DENOMINATORS, QUANTITIES, STATES, Cells, cells

__all__ = ["PRESETS", "Policy", "load_policies", "preset_cost"]

Exact = npt.NDArray[np.object_]

STATE_NAMES = ("retained-correct", "lost", "recovered", "persistent-wrong", "changed-wrong")
"""The long names of `bounds.quantities.STATES`."""

PRESETS: Mapping[str, Cells] = MappingProxyType(
    {name: quantity.cells for name, quantity in QUANTITIES.items() if not quantity.probability}
    | {
        "accepted-error": DENOMINATORS["perturbed-accepted-errors"],
        "rejection": cells(" ".join(STATES), None, 0),
        "rejected-correct": cells("CC WC", None, 0),
    }
)
"""Costs of 1 an image with a name: every count of `bounds.quantities`, and what the perturbed side alone decides:
accepted errors, rejected images, rejected correct images."""

_KEYS = ("name", "threshold", "clean_threshold", "perturbed_threshold", "accepted_column", "model", "preset", "cost")
_COST_KEYS = ("state", "clean_accepted", "perturbed_accepted", "value")


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """Which images are accepted, and what each outcome costs.

    Attributes:
        name: for tables and pictures.
        cost: object array of Fractions of shape (5, 2, 2): what a pair costs by state, clean acceptance and perturbed
            acceptance (index 1: accepted).
        threshold: accepted is confidence >= threshold, a decimal, on both sides; or
        clean_threshold, perturbed_threshold: one for each side; or
        accepted_column: a column of the records that says what is accepted.
        model: whose records; None for whichever is asked about.

    Raises:
        PolicyError: if acceptance is given in no way or in several, or a number is not a decimal in its range.

    >>> policy = Policy("careful", preset_cost({"lost-acceptance": 1, "new-accepted-error": "2.5"}), threshold="0.9")
    >>> policy.thresholds, policy.cost[0, 1, 0], policy.cost[1, 0, 1]
    (('0.9', '0.9'), Fraction(1, 1), Fraction(5, 2))
    """

    name: str
    cost: Exact
    threshold: str | None = None
    clean_threshold: str | None = None
    perturbed_threshold: str | None = None
    accepted_column: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        both = self.clean_threshold is not None and self.perturbed_threshold is not None
        one = (self.clean_threshold is None) != (self.perturbed_threshold is None)
        if one or [self.threshold is not None, both, self.accepted_column is not None].count(True) != 1:
            given = [key for key in _KEYS[1:5] if getattr(self, key) is not None]
            raise PolicyError(
                f"policy {self.name!r}",
                ", ".join(given) or None,
                "acceptance is a threshold, or clean_threshold and perturbed_threshold, or accepted_column",
                "give exactly one of the three",
            )
        for key in ("threshold", "clean_threshold", "perturbed_threshold"):
            if (text := getattr(self, key)) is not None and not 0 <= _decimal(
                f"policy {self.name!r}: {key}", text
            ) <= 1:
                raise PolicyError(
                    f"policy {self.name!r}: {key}", text, "a confidence lies in [0, 1]", "give a decimal such as 0.8"
                )
        if np.shape(self.cost) != (5, 2, 2):
            raise PolicyError(
                f"policy {self.name!r}: cost", list(np.shape(self.cost)), "needs shape (5, 2, 2)", "see preset_cost"
            )
        where = f"policy {self.name!r}: cost"
        object.__setattr__(self, "cost", _exact([_decimal(where, entry) for entry in np.ravel(self.cost).tolist()]))

    @property
    def thresholds(self) -> tuple[str, str] | None:
        """(clean, perturbed), or None where a column says what is accepted."""
        if self.threshold is not None:
            return self.threshold, self.threshold
        if self.clean_threshold is None or self.perturbed_threshold is None:
            return None
        return self.clean_threshold, self.perturbed_threshold


def preset_cost(weights: str | Mapping[str, Any]) -> Exact:
    """The sum of named costs, each times a weight; a name alone has weight 1.

    Args:
        weights: a name in `PRESETS`, or weights (integers, Fractions, decimals) by name.

    Returns:
        Object array of Fractions of shape (5, 2, 2).

    Raises:
        PolicyError: if a name is unknown or a weight is not a finite number.

    >>> preset_cost({"accepted-error": 1, "rejection": "0.3"})[0].tolist()
    [[Fraction(3, 10), Fraction(0, 1)], [Fraction(3, 10), Fraction(0, 1)]]
    """
    if isinstance(weights, str):
        weights = {weights: 1}
    total = _exact([Fraction(0)] * 20)
    for name, weight in weights.items():
        if name not in PRESETS:
            raise PolicyError("preset", name, "unknown", f"choose among {', '.join(PRESETS)}")
        total = total + _decimal(f"preset {name}", weight) * PRESETS[name].astype(object)
    return total


def _exact(entries: Sequence[Fraction]) -> Exact:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(5, 2, 2)


def _decimal(where: str, value: Any) -> Fraction:
    """As `bounds.exact.exact_number`."""
    try:
        return exact_number(value)
    except ValueError as error:
        raise PolicyError(where, str(value), str(error), "give a decimal such as 0.8") from None


def load_policies(path: str | Path) -> list[Policy]:
    """The policies of a TOML file, in its order.

    Each `[[policy]]` has a `name`; `threshold`, or `clean_threshold` and `perturbed_threshold`, or `accepted_column`;
    optionally `model`; and its cost: `preset`, a name in `PRESETS` or a table of weights by name, or `[[policy.cost]]`
    entries of `state`, `value` and optionally `clean_accepted` and `perturbed_accepted` (left out: whichever).

    Raises:
        PolicyError: one line that names the policy and the key, for whatever cannot be used.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except OSError as error:
        raise PolicyError("policies", str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except (ValueError, InvalidOperation) as error:
        raise PolicyError("policies", path.name, f"not TOML ({error})", "correct the file") from error
    _known("policies", content, ("policy",), "write each policy under [[policy]]")
    tables = content.get("policy", [])
    if not _tables(tables) or not tables:
        raise PolicyError("policies", path.name, "holds no [[policy]]", "write at least one")
    policies: dict[str, Policy] = {}
    for number, table in enumerate(tables, start=1):
        policy = _policy(table, number)
        if policy.name in policies:
            raise PolicyError("policy", policy.name, "named twice", "give each policy its own name")
        policies[policy.name] = policy
    return list(policies.values())


def _policy(table: Mapping[str, Any], number: int) -> Policy:
    name = table.get("name")
    if not isinstance(name, str) or not name.strip():
        shown = None if name is None else str(name)
        raise PolicyError(f"policy {number}: name", shown, "not a name", "give each [[policy]] a name, a string")
    where = f"policy {name!r}"
    _known(where, table, _KEYS, "correct or remove it")
    texts: dict[str, str | None] = dict.fromkeys(_KEYS[1:6])
    for key in ("threshold", "clean_threshold", "perturbed_threshold"):
        if key in table:
            _decimal(f"{where}: {key}", table[key])
            texts[key] = str(table[key]).strip()
    for key in ("accepted_column", "model"):
        if key in table:
            if not isinstance(table[key], str):
                raise PolicyError(f"{where}: {key}", str(table[key]), "not a name", "give a string")
            texts[key] = table[key]
    if ("preset" in table) == ("cost" in table):
        given = "preset, cost" if "preset" in table else None
        raise PolicyError(where, given, "its cost is a preset or [[policy.cost]] entries", "give one of the two")
    return Policy(name, _cost(where, table), **texts)


def _cost(where: str, table: Mapping[str, Any]) -> Exact:
    if "preset" in table:
        preset = table["preset"]
        if not isinstance(preset, str | Mapping) or not preset:
            raise PolicyError(
                f"{where}: preset", str(preset), "not a name or a table of weights", "see docs/policies.md"
            )
        try:
            return preset_cost(preset)
        except PolicyError as error:
            raise PolicyError(f"{where}: {error.name}", error.value, error.rule, error.way_out) from None
    entries = table["cost"]
    if not _tables(entries) or not entries:
        raise PolicyError(f"{where}: cost", None, "holds no entry", "write each under [[policy.cost]]")
    cost = np.full((5, 2, 2), None, dtype=object)
    for number, entry in enumerate(entries, start=1):
        _entry(f"{where}: cost {number}", entry, cost)
    cost[cost == None] = Fraction(0)  # noqa: E711 - elementwise
    return cost


def _entry(where: str, entry: Mapping[str, Any], cost: Exact) -> None:
    """Put one `[[policy.cost]]` into the cells, which are None until then."""
    _known(where, entry, _COST_KEYS, "correct or remove it")
    for key in ("state", "value"):
        if key not in entry:
            raise PolicyError(f"{where}: {key}", None, "missing", "give state and value")
    state = entry["state"]
    if state not in (*STATES, *STATE_NAMES):
        pairs = ", ".join(f"{short} ({long})" for short, long in zip(STATES, STATE_NAMES, strict=True))
        raise PolicyError(f"{where}: state", str(state), "unknown", f"choose among {pairs}")
    bits: list[slice | int] = []
    for key in ("clean_accepted", "perturbed_accepted"):
        bit = entry.get(key)
        if key in entry and not isinstance(bit, bool):
            raise PolicyError(
                f"{where}: {key}", str(bit), "neither true nor false", "give one, or leave it out for both"
            )
        bits.append(slice(None) if bit is None else int(bit))
    row = (STATES if state in STATES else STATE_NAMES).index(state)
    place = (slice(row, row + 1), *bits)
    if any(value is not None for value in np.ravel(cost[place]).tolist()):
        raise PolicyError(where, state, "gives a cell its cost a second time", "state each cell once")
    cost[place] = _decimal(f"{where}: value", entry["value"])


def _tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _known(where: str, table: Mapping[str, Any], keys: Sequence[str], way_out: str) -> None:
    for key in table:
        if key not in keys:
            raise PolicyError(f"{where}: key", key, f"unknown; known are {', '.join(keys)}", way_out)
