"""Derived closed forms, against the literature's and against going through every correspondence."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations, permutations, product

import numpy as np
import pytest
from oracles import NUMERATORS, state

from bounds.errors import QuantityError
from bounds.quantities import QUANTITIES
from proofs.derive.forms import Expression, Form, simplest
from proofs.derive.model import Model, model_of
from proofs.derive.search import _Solver, derive, unimodular

COUNTED = [name for name, quantity in QUANTITIES.items() if not quantity.probability]


@pytest.fixture(autouse=True)
def z3(require: Callable[[str, bool, str], None]) -> None:
    require("z3", find_spec("z3") is not None, "not installed")


def texts(quantity: str, level: str) -> tuple[str, str]:
    model = model_of(quantity, level)
    found = [derive(model, upper) for upper in (False, True)]
    assert [one.status for one in found] == ["exact", "exact"]
    low, high = (one.form for one in found)
    assert low is not None
    assert high is not None
    return low.text(), high.text()


class TestKnownForms:
    def test_c1(self) -> None:
        assert texts("retained-correct", "marginals") == ("max(0, A + B - n)", "min(A, B)")

    def test_c3(self) -> None:
        assert texts("lost-acceptance", "correct-correct") == ("max(0, k - A0 - B1)", "min(A1, B0, k)")
        assert texts("gained-acceptance", "correct-correct") == ("max(0, k - A1 - B0)", "min(A0, B1, k)")

    def test_the_ends_of_c5_for_two_labels(self) -> None:
        """max(0, m - (W - w_a) - (W' - w'_a)) over labels, and min(m, sum of min(w, w')), with m = n - A - B + k."""
        model = model_of("persistent-wrong", "correct-correct")
        low, high = (derive(model, upper) for upper in (False, True))
        assert (low.status, high.status) == ("exact", "exact")
        assert low.form is not None
        assert high.form is not None
        rng = random.Random(0)
        for _ in range(300):
            wa, wb, va, vb, a = (rng.randint(0, 6) for _ in range(5))
            b = wa + wb + a - va - vb
            n = a + wa + wb
            if b < 0:
                continue
            k = rng.randint(max(0, a + b - n), min(a, b))
            m = n - a - b + k
            counts = {"n": n, "A": a, "B": b, "k": k, "Wa": wa, "Wb": wb, "Va": va, "Vb": vb}
            assert low.form.value(counts) == max(0, m - wb - vb, m - wa - va)
            assert high.form.value(counts) == min(m, min(wa, va) + min(wb, vb))


Record = tuple[int, int]


def classes(labels: int, rng: random.Random) -> tuple[list[Record], list[Record]]:
    """Small sides of (label, accepted), label 0 being correct."""
    images = rng.randint(0, 4)
    kinds = [(label, accepted) for label in range(labels + 1) for accepted in (0, 1)]
    return [rng.choice(kinds) for _ in range(images)], [rng.choice(kinds) for _ in range(images)]


def outcomes(quantity: str, clean: list[Record], perturbed: list[Record]) -> Iterator[tuple[int, int, int]]:
    """(k, s, value) of every correspondence, by the tests' own oracle."""
    rows = [(label == 0, label, bool(accepted), 0) for label, accepted in clean]
    columns = [(label == 0, label, bool(accepted), 0) for label, accepted in perturbed]
    for order in permutations(columns):
        pairs = list(zip(rows, order, strict=True))
        states = Counter(state(x, y) for x, y in pairs)
        yield states["CC"], states["WS"], sum(bool(NUMERATORS[quantity](x, y)) for x, y in pairs)


def counts_of(model: Model, clean: list[Record], perturbed: list[Record], known: tuple[int, ...]) -> dict[str, int]:
    counts = {"n": len(clean)}
    for groups, side in ((model.clean, clean), (model.perturbed, perturbed)):
        counts |= {group.symbol: sum(record in group.kinds for record in side) for group in groups}
    return counts | dict(zip(model.known, known, strict=True))


@pytest.mark.parametrize("level", ["marginals", "correct-correct"])
@pytest.mark.parametrize("quantity", COUNTED)
def test_forms_are_the_ends_over_every_correspondence(quantity: str, level: str) -> None:
    model = model_of(quantity, level)
    low, high = (derive(model, upper) for upper in (False, True))
    assert (low.status, high.status) == ("exact", "exact")
    assert low.form is not None
    assert high.form is not None
    rng = random.Random(quantity)
    for _ in range(60):
        clean, perturbed = classes(max(model.labels, 2) if model.labels > 1 else 2, rng)
        found: dict[tuple[int, ...], list[int]] = {}
        for k, _, value in outcomes(quantity, clean, perturbed):
            found.setdefault((k,) if level != "marginals" else (), []).append(value)
        for known, values in found.items():
            counts = {"n": len(clean), **_safe(model, clean, perturbed, known)}
            assert (low.form.value(counts), high.form.value(counts)) == (min(values), max(values))


def _safe(model: Model, clean: list[Record], perturbed: list[Record], known: tuple[int, ...]) -> dict[str, int]:
    """Counts of a model that tells no labels apart: its one wrong label stands for all."""
    if model.labels == 1:
        clean, perturbed = ([(min(label, 1), bit) for label, bit in side] for side in (clean, perturbed))
    return counts_of(model, clean, perturbed, known)


@pytest.mark.parametrize("quantity", ["lost-acceptance", "retained-correct", "recovered", "lost", "persistent-wrong"])
def test_forms_given_five_states(quantity: str) -> None:
    model = model_of(quantity, "five-state")
    low, high = (derive(model, upper, 30) for upper in (False, True))
    assert (low.status, high.status) == ("exact", "exact")
    assert low.form is not None
    assert high.form is not None
    rng = random.Random(quantity)
    for _ in range(60):
        clean, perturbed = classes(2, rng)
        found: dict[tuple[int, ...], list[int]] = {}
        for k, s, value in outcomes(quantity, clean, perturbed):
            found.setdefault((k, s), []).append(value)
        for known, values in found.items():
            counts = counts_of(model, clean, perturbed, known)
            assert (low.form.value(counts), high.form.value(counts)) == (min(values), max(values))


OTHER = (0, -1, 0, -1, 0, 0, 1)
"""k - A0 - B1, in the order of the symbols."""


class TestProofs:
    """What proves a form can fail."""

    def model(self) -> Model:
        return model_of("lost-acceptance", "correct-correct")

    def test_an_expression_that_is_no_bound_is_not_valid(self) -> None:
        model = self.model()
        solver = _Solver(model, False, 30)
        good = [Fraction(x) for x in OTHER]
        assert solver.valid(good)
        for place in range(7):
            for change in (Fraction(1), Fraction(1, 2)):
                worse = list(good)
                worse[place] += change
                assert not solver.valid(worse), (place, change)

    def test_a_form_that_lacks_an_expression_is_not_attained(self) -> None:
        model = self.model()
        solver = _Solver(model, False, 30)
        zero, other = [Fraction(0)] * 7, [Fraction(x) for x in OTHER]
        assert solver.missed([zero, other], True) is None
        for some in ([zero], [other], []):
            for whole in (True, False):
                assert solver.missed(some, whole) is not None

    def test_superfluous_expressions_are_told(self) -> None:
        solver = _Solver(self.model(), False, 30)
        zero, other = [Fraction(0)] * 7, [Fraction(x) for x in OTHER]
        below = [Fraction(x) for x in (0, -1, 0, -1, -1, 0, 1)]
        assert solver.superfluous(below, [zero, other])
        assert not solver.superfluous(other, [zero])

    def test_a_constant_is_told(self) -> None:
        model = model_of("lost", "correct-correct")
        solver = _Solver(model, False, 30)
        right = [Fraction(int(name == "A") - int(name == "k")) for name in model.symbols]
        assert solver.constant(right)
        assert not solver.constant(
            [value + Fraction(int(name == "B")) for name, value in zip(model.symbols, right, strict=True)]
        )

    def test_what_is_not_decided_is_not_called_exact(self) -> None:
        """C7: with k and s known, whole numbers need not attain the relaxation's ends."""
        found = derive(model_of("kept-accepted-error", "five-state"), True, 3)
        assert found.status != "exact"

    def test_no_time_gives_nothing(self) -> None:
        found = derive(self.model(), False, 1e-9)
        assert (found.form, found.status) == (None, "open")


def determinants(matrix: np.ndarray) -> set[int]:
    """Of every square submatrix."""
    rows, columns = matrix.shape
    return {
        round(np.linalg.det(matrix[np.ix_(r, c)]))
        for size in range(1, min(rows, columns) + 1)
        for r in combinations(range(rows), size)
        for c in combinations(range(columns), size)
    }


@pytest.mark.parametrize("level", ["marginals", "correct-correct"])
@pytest.mark.parametrize("quantity", ["retained-correct", "lost-acceptance", "kept-accepted-error"])
def test_total_unimodularity_is_that_of_all_determinants(quantity: str, level: str) -> None:
    model = model_of(quantity, level)
    matrix = np.array([[int(cell in row) for cell in model.cells] for row in model.rows])
    assert unimodular(model) == (determinants(matrix) <= {-1, 0, 1})


class TestForms:
    def test_sums_of_both_sides_are_exchanged_for_fewer_symbols(self) -> None:
        model = model_of("retained-correct", "marginals")
        assert model.symbols == ("A", "W", "B", "V")
        assert dict(simplest(model, [Fraction(x) for x in (1, 0, 0, -1)]).coefficients) == {"A": 1, "B": 1, "n": -1}
        assert dict(simplest(model, [Fraction(x) for x in (1, 1, -1, -1)]).coefficients) == {}

    def test_rounding_goes_inward(self) -> None:
        half = Expression({"k": 1}, 2)
        assert [Form(upper, (half,)).value({"k": 3}) for upper in (False, True)] == [2, 1]
        assert [eval(Form(upper, (half,)).text(), {"k": 3}) for upper in (False, True)] == [2, 1]

    def test_latex_is_balanced(self) -> None:
        for upper, one in product((False, True), (Expression({"A1": 2, "k": -1}, 2), Expression({}))):
            text = Form(upper, (one, Expression({"Wa": 1}))).latex()
            assert text.count("{") == text.count("}")
            assert text.count(r"\left") == text.count(r"\right")


class TestModels:
    def test_kinds_that_are_not_told_apart_are_merged(self) -> None:
        model = model_of("lost-acceptance", "correct-correct")
        assert [group.symbol for group in model.clean] == ["A1", "A0", "W"]
        assert {model.weights[cell] for cell in model.cells} == {0, 1}
        assert sum(model.weights.values()) == 1

    def test_persistence_needs_labels(self) -> None:
        assert model_of("persistent-wrong", "marginals").labels == 2
        assert model_of("persistent-wrong", "marginals", 3).labels == 3
        assert model_of("kept-accepted-error", "marginals").labels == 1
        assert model_of("kept-accepted-error", "five-state").labels == 2

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("lst", "marginals"), "unknown"),
            (("mean-probability-decrease", "marginals"), "adds probabilities"),
            (("lost", "paired"), "one class"),
            (("lost", "total-correct-correct"), "one class"),
            (("lost", "marginals", 2), "does not depend on labels"),
            (("persistent-wrong", "marginals", 1), "one wrong label"),
            (("persistent-wrong", "marginals", 4), "1 to 3"),
        ],
    )
    def test_what_has_no_form_is_refused(self, arguments: tuple[str, ...], told: str) -> None:
        with pytest.raises(QuantityError, match=told):
            model_of(*arguments)
