"""Words for sets of conditions: the copies that a score looks at, and the targets whose failures it is to find."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from bounds.errors import PairboundsError
from bounds.records import COMMON_CORRUPTIONS, Records

__all__ = ["NATURAL", "copy_conditions", "copy_sets", "held_out", "target_conditions", "target_names"]

CORRUPTIONS = "corruptions"
NATURAL = "natural"
SHOWN = 12


def copy_sets(values: Sequence[str]) -> list[str]:
    """The sets in a repeated `--copies`: each group word is one, the conditions listed in one value are one together.

    Args:
        values: as typed: `corruptions`, `corruptions/3`, `natural`, or conditions joined by commas.

    Raises:
        PairboundsError: if one value mixes groups and conditions, or holds an empty name.

    >>> copy_sets(["corruptions/1,natural", "fog/3, snow/3", "natural"])
    ['corruptions/1', 'natural', 'fog/3,snow/3']
    """
    found: list[str] = []
    for value in values:
        names = [name.strip() for name in value.split(",")]
        if "" in names:
            raise PairboundsError("--copies", value, "holds an empty name", "separate names by single commas")
        groups = [name for name in names if _is_group(name)]
        if groups and len(groups) < len(names):
            rule = f"mixes the group {groups[0]} with conditions"
            raise PairboundsError("--copies", value, rule, "give them in two --copies, or list conditions only")
        found += groups or [",".join(dict.fromkeys(names))]
    return list(dict.fromkeys(found))


def _is_group(name: str) -> bool:
    return re.fullmatch(rf"{NATURAL}|{CORRUPTIONS}(/[0-9]+)?", name) is not None


def copy_conditions(records: Records, model: str, word: str) -> tuple[str, ...]:
    """The conditions of one set of copies, sorted.

    `corruptions` are the 15 of the benchmark's means at every severity present, `corruptions/3` those at severity 3:
    the four held-out ones are taken only by name. `natural` are the conditions of that kind.

    Raises:
        PairboundsError: if the model has none, or not a condition that is named.
    """
    conditions = records.conditions(model)
    if not _is_group(word):
        for name in word.split(","):
            if name not in conditions:
                raise _unknown("--copies", name, model, conditions)
        return tuple(sorted(word.split(",")))
    group, _, severity = word.partition("/")
    if group == NATURAL:
        found = [name for name in conditions if records.kind(name) == NATURAL]
    else:
        found = [name for name in conditions if _is_common(records, name, severity)]
    if not found:
        rule = f"{model} has no such conditions"
        raise PairboundsError("--copies", word, rule, f"choose among {_some(conditions)}")
    return tuple(sorted(found))


def _is_common(records: Records, name: str, severity: str) -> bool:
    base, _, level = name.partition("/")
    return records.kind(name) == "corruption" and base in COMMON_CORRUPTIONS and severity in ("", level)


def held_out(records: Records, model: str, word: str) -> tuple[str, ...]:
    """The corruptions of a model that a group word leaves out, being none of the 15."""
    group, _, severity = word.partition("/")
    if group != CORRUPTIONS:
        return ()
    others = [name for name in records.conditions(model) if records.kind(name) == "corruption"]
    return tuple(
        name
        for name in others
        if name.partition("/")[0] not in COMMON_CORRUPTIONS and severity in ("", name.partition("/")[2])
    )


def target_names(records: Records, models: Sequence[str]) -> list[str]:
    """The targets that `all` means: the recaptured conditions of all the models, without what follows a slash."""
    found = {
        name.partition("/")[0]
        for model in models
        for name in records.conditions(model)
        if records.kind(name) == "recapture"
    }
    return sorted(found)


def target_conditions(records: Records, model: str, name: str) -> tuple[str, ...]:
    """The captures of a target: the condition of that name and those below it, `screen` and `screen/*`; sorted.

    Raises:
        PairboundsError: if the model has none.
    """
    conditions = records.conditions(model)
    found = tuple(sorted(other for other in conditions if other == name or other.startswith(f"{name}/")))
    if not found:
        raise _unknown("--targets", name, model, conditions)
    return found


def _unknown(option: str, name: str, model: str, conditions: Sequence[str]) -> PairboundsError:
    near = get_close_matches(name, conditions, 3) or conditions
    return PairboundsError(option, name, f"{model} has no such condition", f"choose among {_some(near)}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
