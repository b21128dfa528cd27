"""The register can fail: altered closed forms, a package that answers wrongly, statements that are not true."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import oracles
import pytest
from mutations import alterations, altered, shifted_forms

import bounds.solve
from bounds import closed_forms
from proofs import exhaustive, programs, register
from proofs.claims import CLAIMS, Claim
from proofs.evidence import Cell, Counterexample, Kind
from proofs.examples import LOOSE, OWN_COST, own_cost
from proofs.exhaustive import envelope, integral_ends
from proofs.small_classes import PAIR_COUNTS, Record, SmallClass, all_classes, evaluation, retained

BY_NAME = {claim.name: claim for claim in CLAIMS}


@pytest.mark.parametrize(("name", "number"), alterations())
def test_an_altered_closed_form_is_caught_by_enumeration(name: str, number: int) -> None:
    forms, what = altered(name, number)
    cells = [register.cell(claim, "enumeration", forms, True) for claim in CLAIMS if name in claim.forms]
    failed = [cell for cell in cells if cell.outcome == "fails"]
    assert failed, f"{name}: {what}"
    assert all(cell.counterexample for cell in failed)


@pytest.mark.parametrize(
    ("claim", "name"),
    [(claim, name) for claim in CLAIMS for name in claim.forms if name != "feasible_correct_correct"],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_a_closed_form_that_is_off_is_caught_by_programs(claim: Claim, name: str) -> None:
    cell = register.cell(claim, "programs", shifted_forms(name), True)
    assert cell.outcome == "fails"
    assert "claimed" in (cell.counterexample or "")


def refuted(name: str, kind: Kind = "enumeration") -> Cell:
    """The cell of a claim, which has to fail with a counterexample and not by a crash."""
    cell = register.cell(BY_NAME[name], kind, closed_forms, True)
    assert cell.outcome == "fails", cell
    assert cell.counterexample
    assert "Error" not in cell.counterexample
    return cell


@pytest.mark.parametrize("kind", ["enumeration", "programs"])
@pytest.mark.parametrize("name", ["C4", "C6", "C11"])
def test_a_package_whose_intervals_are_off_is_caught(name: str, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*args: Any, bound: Callable[..., Any] = bounds.solve.bound, **kwargs: Any) -> Any:
        found = bound(*args, **kwargs)
        value = None if found.high.value is None else found.high.value + Fraction(1, 1000)
        return replace(found, high=replace(found.high, value=value))

    monkeypatch.setattr(bounds.solve, "bound", bound)
    assert "the package" in (refuted(name, kind).counterexample or "")


def test_a_package_whose_intervals_widen_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def bound(*args: Any, bound: Callable[..., Any] = bounds.solve.bound, **kwargs: Any) -> Any:
        found = bound(*args, **kwargs)
        if found.knowledge != "five-state" or found.high.value is None:
            return found
        return replace(found, high=replace(found.high, value=found.high.value + 1))

    monkeypatch.setattr(bounds.solve, "bound", bound)
    assert "five-state" in (refuted("C12").counterexample or "")


@pytest.mark.parametrize(("kind", "module"), [("enumeration", exhaustive), ("programs", programs)])
def test_compact_programs_that_are_off_are_caught(
    kind: Kind, module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def optimise(*args: Any, optimise: Callable[..., Any] = module.optimise_cells, **kwargs: Any) -> Any:
        found = optimise(*args, **kwargs)
        return replace(found, bound=found.bound + kwargs["maximise"])

    monkeypatch.setattr(module, "optimise_cells", optimise)
    refuted("C10", kind)


@pytest.mark.parametrize(("kind", "module"), [("enumeration", exhaustive), ("programs", programs)])
def test_policies_that_are_off_are_caught(
    kind: Kind, module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(*args: Any, evaluate: Callable[..., Any] = module.evaluate_policies, **kwargs: Any) -> Any:
        found = evaluate(*args, **kwargs)
        return replace(found, differences=tuple(replace(d, upper=d.upper + 1) for d in found.differences))

    monkeypatch.setattr(module, "evaluate_policies", evaluate)
    assert "the package" in (refuted("C9", kind).counterexample or "")


def test_correspondences_that_are_left_out_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """C2 would be false if only some bijections counted: here all but those that move the first record furthest."""

    def some(images: int) -> Any:
        return (order for order in itertools.permutations(range(images)) if images < 4 or order[0] != images - 1)

    monkeypatch.setattr(exhaustive, "_orders", some)
    assert "combine" in (refuted("C2").counterexample or "")


def test_knowing_less_than_k_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """C2 by programs, for a value of all pairs: then s does tell something."""

    def everywhere(draw: Any, one: SmallClass) -> Any:
        return lambda x, y: (x.level * 7 + y.level * 5) % 11

    monkeypatch.setattr(programs, "_random_f", everywhere)
    refuted("C2", "programs")


@pytest.mark.parametrize(("kind", "module"), [("enumeration", exhaustive), ("programs", programs)])
def test_examples_that_are_wrong_are_caught(
    kind: Kind, module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, k, s, name, attained, relaxed = LOOSE[0]
    monkeypatch.setattr(module, "LOOSE", ((one, k, s, name, attained, (relaxed[0], relaxed[1] + 1)), *LOOSE[1:]))
    refuted("C7", kind)
    monkeypatch.setattr(module, "LOOSE", ((one, k, s, name, {1}, relaxed), *LOOSE[1:]))
    refuted("C7", kind)


def test_a_relaxation_that_is_too_wide_is_no_integral_one() -> None:
    one, _ = OWN_COST
    points = exhaustive._points(one, own_cost)
    assert integral_ends("retained", one, exhaustive._points(one, retained)) > 0
    with pytest.raises(Counterexample, match="1 over bijections, 0 in the relaxation, k = 1"):
        integral_ends("an arbitrary cost", one, points)


def test_programs_see_a_relaxation_that_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """C8 and C14 with the cost of C7, which lives on no single block."""
    one, k = OWN_COST
    monkeypatch.setattr(programs, "_k", lambda _: k)
    monkeypatch.setattr(programs, "_drawn", lambda *_: iter([one]))
    monkeypatch.setattr(programs, "_random_f", lambda *_: own_cost)
    monkeypatch.setattr(programs, "cost_of", lambda _: own_cost)
    refuted("C8", "programs")
    refuted("C14", "programs")


def test_the_envelope_is_the_relaxation() -> None:
    assert envelope([(0, 1), (1, 0), (2, 1)], (1,)) == 1
    assert envelope([(0, 1), (1, 0), (2, 1)], (1,), -1) == 0
    assert envelope([(0, 1)], (1,)) is None
    square = [(x, y, x * y) for x in (0, 2) for y in (0, 2)]
    assert (envelope(square, (1, 1), -1), envelope(square, (1, 1))) == (0, 2)


def test_pair_counts_are_those_of_the_oracles() -> None:
    """The definitions of the register and of the tests were written apart."""
    kinds = [Record(label, accepted) for label in range(3) for accepted in (False, True)]
    compared = set(PAIR_COUNTS) & (set(oracles.NUMERATORS) | set(oracles.DENOMINATORS))
    assert len(compared) >= 14
    for name in compared:
        theirs = {**oracles.DENOMINATORS, **oracles.NUMERATORS}[name]
        for x, y in itertools.product(kinds, kinds):
            a, b = ((r.label == 0, r.label, r.accepted, Fraction(0)) for r in (x, y))
            assert bool(PAIR_COUNTS[name](x, y)) == bool(theirs(a, b)), (name, x, y)


def canonical(clean: Iterable[Record], perturbed: Iterable[Record]) -> tuple[object, ...]:
    """A class up to the order of its records and the names of its wrong classes: the counts of each label, sorted."""
    records = [*((0, r) for r in clean), *((1, r) for r in perturbed)]
    counts: dict[int, list[int]] = {}
    for side, record in records:
        counts.setdefault(record.label, [0] * 4)[2 * side + record.accepted] += 1
    right = tuple(counts.pop(0, [0] * 4))
    return right, *sorted(map(tuple, counts.values()))


@pytest.mark.parametrize("images", [1, 2, 3])
def test_all_classes_are_every_class_once(images: int) -> None:
    kinds = [
        Record(label, accepted) for label in range(2 * images + 1 if images < 3 else 4) for accepted in (False, True)
    ]
    sides = list(itertools.combinations_with_replacement(kinds, images))
    expected = {canonical(clean, perturbed) for clean, perturbed in itertools.product(sides, repeat=2)}
    found = [canonical(*one) for one in all_classes(images)]
    assert len(found) == len(set(found))
    assert set(found) >= expected
    assert images == 3 or set(found) == expected


def test_a_class_is_given_to_the_package_as_it_is() -> None:
    one = SmallClass((Record(0, True, 8), Record(2, False, 1)), (Record(1, True, 4), Record(0, False, 2)))
    records = evaluation(one, one)
    assert records.images == 4
    assert records.classes == ("class0", "class1")
    for side, rows in ((records.clean, one.clean), (records.perturbed, one.perturbed)):
        told = zip(side.predicted, side.accepted, side.true_probability * 8, strict=True)  # type: ignore[arg-type]
        assert [Record(*(int(part) for part in row)) for row in told] == [*rows, *rows]
