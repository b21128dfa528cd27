"""Comparisons of policies: claim C9's example, and every correspondence of small evaluations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import state
from strategies import evaluation

import bounds.policies
from bounds.errors import PolicyError, QuantityError, RecordError
from bounds.evaluation import Evaluation
from bounds.knowledge import Level
from bounds.policies import evaluate_policies, evaluations_of, open_records
from bounds.policy import Policy, preset_cost

STATES = ("CC", "CW", "WC", "WS", "WD")
C9_COST = preset_cost({"lost-acceptance": 1, "new-accepted-error": 2})

MOST = 6
"""Images of a random evaluation, in classes of at most 5."""

LEVELS = (0.0, 0.25, 0.5, 0.75)
"""Confidences of the small evaluations; thresholds lie on them."""


def with_confidence(*classes: tuple[list[tuple[int, float]], list[tuple[int, float]]], model: str = "model"):
    """An evaluation from (predicted, confidence) records, without acceptance; predicted 0 is correct."""
    made = evaluation(*(([(p, False) for p, _ in clean], [(p, False) for p, _ in pert]) for clean, pert in classes))
    sides = []
    for side, which in ((made.clean, 0), (made.perturbed, 1)):
        confidence = np.array([c for pair in classes for _, c in pair[which]], dtype=np.float32)
        sides.append(replace(side, accepted=None, confidence=confidence))
    return replace(made, clean=sides[0], perturbed=sides[1], model=model)


def c9(level: float = 0.5) -> Evaluation:
    """Theory, C9: clean {(✓,1),(✓,1),(1,2)}, perturbed {(✓,0),(1,0),(1,2)}, paired so that k = 1."""
    return with_confidence(([(0, level), (0, level), (1, 0.9)], [(0, 0.1), (1, 0.1), (1, 0.9)]))


P, Q = Policy("P", C9_COST, threshold="0.5"), Policy("Q", C9_COST, threshold="0.9")


def test_c9_is_ordered_by_the_shared_correspondence_alone() -> None:
    found = evaluate_policies([P, Q], c9())
    assert [(row.lower, row.upper, row.sharp) for row in found.costs] == [
        (Fraction(1, 3), 1, True),
        (0, Fraction(2, 3), True),
    ]
    (pair,) = found.differences
    assert (pair.lower, pair.upper, pair.sharp) == (Fraction(1, 3), Fraction(1, 3), True)
    assert (pair.ordered, pair.relation, pair.witnesses) == ("shared", ">", ())


def test_c9_the_other_way_round() -> None:
    (pair,) = evaluate_policies([Q, P], c9()).differences
    assert (pair.first, pair.upper, pair.ordered, pair.relation) == ("Q", Fraction(-1, 3), "shared", "<")


def test_c9_is_separate_where_the_correspondence_is_known() -> None:
    found = evaluate_policies([P, Q], c9(), "paired")
    assert [row.lower == row.upper for row in found.costs] == [True, True]
    assert (found.differences[0].ordered, found.differences[0].relation) == ("separate", ">")


def records(side, clean: bool, accepted):
    return [(bool(side.correct[i]), int(side.predicted[i]), bool(accepted[i])) for i in range(len(side.correct))]


def accepts(policy: Policy, sides: Evaluation):
    thresholds = policy.thresholds
    assert thresholds is not None
    return [side.confidence >= float(t) for side, t in zip((sides.clean, sides.perturbed), thresholds, strict=True)]


def brute(policies: list[Policy], models: list[Evaluation], level: str, used: tuple[int, ...]):
    """Every tuple of mean costs of the policies `used`, over the bijections that have the counts of their models."""
    first = models[0]
    tables = {}
    for p in used:
        sides = models[p]
        x, y = accepts(policies[p], sides)
        tables[p] = records(sides.clean, True, x), records(sides.perturbed, False, y)
    known = {id(models[p]): models[p] for p in used}.values()

    def counted(sides: Evaluation, rows, order, wanted: str) -> int:
        x, y = records(sides.clean, True, [0] * first.images), records(sides.perturbed, False, [0] * first.images)
        return sum(state(x[i], y[j]) == wanted for i, j in zip(rows, order, strict=True))

    per_class = []
    for c in range(len(first.classes)):
        rows = range(int(first.starts[c]), int(first.starts[c + 1]))
        found = set()
        for order in permutations(rows):
            k = tuple(counted(sides, rows, order, "CC") for sides in known)
            if level in ("correct-correct", "five-state", "paired") and k != tuple(
                counted(sides, rows, rows, "CC") for sides in known
            ):
                continue
            if level == "five-state" and any(
                counted(sides, rows, order, "WS") != counted(sides, rows, rows, "WS") for sides in known
            ):
                continue
            if level == "paired" and order != tuple(rows):
                continue
            costs = []
            for p in used:
                x, y = tables[p]
                costs.append(
                    sum(
                        (
                            policies[p].cost[STATES.index(state(x[i], y[j])), int(x[i][2]), int(y[j][2])]
                            for i, j in zip(rows, order, strict=True)
                        ),
                        Fraction(0),
                    )
                )
            found.add((k, tuple(costs)))
        per_class.append(found)
    total = None
    if level == "total-correct-correct":
        total = tuple(counted(sides, range(first.images), range(first.images), "CC") for sides in known)
    for choice in product(*per_class):
        if total is None or tuple(map(sum, zip(*(k for k, _ in choice), strict=True))) == total:
            yield tuple(sum(costs) / first.images for costs in zip(*(costs for _, costs in choice), strict=True))


def check(policies: list[Policy], models: list[Evaluation], level: str) -> None:
    """Compare with every correspondence; `models[p]` are the records that policy p works on."""
    found = evaluate_policies(policies, list({id(m): m for m in models}.values()), level, witnesses=True)
    for p, row in enumerate(found.costs):
        values = {costs[0] for costs in brute(policies, models, level, (p,))}
        assert (row.lower, row.upper, row.sharp) == (min(values), max(values), True)
    pairs = [(i, j) for i in range(len(policies)) for j in range(i + 1, len(policies))]
    for (i, j), row in zip(pairs, found.differences, strict=True):
        values = {a - b for a, b in brute(policies, models, level, (i, j))}
        assert (row.first, row.second) == (policies[i].name, policies[j].name)
        assert (row.lower, row.upper, row.sharp) == (min(values), max(values), True)
        first, second = found.costs[i], found.costs[j]
        assert first.lower - second.upper <= row.lower <= row.upper <= first.upper - second.lower
        signs = {(value > 0) - (value < 0) for value in values}
        expected = {(1,): ">", (-1,): "<", (0,): "=", (0, 1): ">=", (-1, 0): "<="}.get(tuple(sorted(signs)))
        assert row.relation == expected
        separate = first.lower >= second.upper or second.lower >= first.upper
        assert row.ordered == ("unresolved" if expected is None else "separate" if separate else "shared")
        assert len(row.witnesses) == (2 if row.ordered == "unresolved" else 0)
        for witness, sign in zip(row.witnesses, (-1, 1), strict=False):
            assert witness.match is not None
            assert np.sign(float(witness.difference)) == sign
            assert sorted(witness.match.tolist()) == list(range(found.images))
            assert (witness.first, witness.second) in set(brute(policies, models, level, (i, j)))


decimals = st.sampled_from(["0", "0.25", "0.5", "0.75"])
weights = st.lists(st.integers(-2, 3), min_size=20, max_size=20).map(
    lambda values: np.array([Fraction(v, 2) for v in values], dtype=object).reshape(5, 2, 2)
) | st.sampled_from([C9_COST, preset_cost("kept-changed-accepted-error"), preset_cost("rejection")])
record = st.tuples(st.integers(0, 3), st.sampled_from(LEVELS))


@st.composite
def policies_of(draw: st.DrawFn, count: int) -> list[Policy]:
    made = []
    for number in range(count):
        if draw(st.booleans()):
            given_by = {"threshold": draw(decimals)}
        else:
            given_by = {"clean_threshold": draw(decimals), "perturbed_threshold": draw(decimals)}
        made.append(Policy(f"policy{number}", draw(weights), **given_by))
    return made


@st.composite
def several_models(draw: st.DrawFn, count: int) -> list[Evaluation]:
    """Evaluations of several models on the same images."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=2).filter(lambda sizes: sum(sizes) <= MOST))
    models = []
    for number in range(count):
        sides = [[draw(st.lists(record, min_size=n, max_size=n)) for _ in range(2)] for n in sizes]
        models.append(with_confidence(*map(tuple, sides), model=f"model{number}"))
    return models


@settings(max_examples=25)
@given(policies_of(2), several_models(1), st.sampled_from(list(Level)))
def test_one_model_agrees_with_every_correspondence(policies, models, level) -> None:
    check(policies, models * 2, str(level))


@settings(max_examples=25)
@given(policies_of(3), several_models(2), st.sampled_from(list(Level)))
def test_two_models_agree_with_every_correspondence(policies, models, level) -> None:
    named = [replace(p, model=m.model) for p, m in zip(policies, (*models, models[0]), strict=True)]
    check(named, [*models, models[0]], str(level))


def test_two_models_move_together() -> None:
    """Both models agree on every record, so one correspondence gives both the same cost; apart they are not ordered."""
    one = c9()
    other = replace(one, model="other")
    policies = [replace(P, name="a", model="model"), replace(P, name="b", model="other")]
    found = evaluate_policies(policies, [one, other])
    assert [(row.lower, row.upper) for row in found.costs] == [(Fraction(1, 3), 1)] * 2
    assert (found.differences[0].relation, found.differences[0].ordered) == ("=", "shared")


def test_a_large_class_of_two_models_is_outer_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    one = with_confidence(([(0, 0.9), (2, 0.9), (3, 0.9)], [(2, 0.1), (1, 0.1), (3, 0.1)]), model="one")
    two = with_confidence(([(1, 0.1), (1, 0.9), (3, 0.1)], [(1, 0.9), (0, 0.1), (1, 0.9)]), model="two")
    cost = preset_cost("new-accepted-error")
    policies = [Policy("a", cost, threshold="0.5", model="one"), Policy("b", cost, threshold="0.5", model="two")]

    def ends() -> tuple[Fraction, Fraction, bool]:
        pair = evaluate_policies(policies, [one, two], "five-state").differences[0]
        return pair.lower, pair.upper, pair.sharp

    assert ends() == (Fraction(-2, 3), Fraction(-2, 3), True)
    monkeypatch.setattr(bounds.policies, "JOINT_CELLS", 0)
    assert ends() == (Fraction(-2, 3), Fraction(-1, 3), False)


def table(*rows: tuple[str, str, str, int, float], **columns: list[bool]) -> pl.DataFrame:
    names = ["model", "condition", "image_id", "predicted", "confidence"]
    return pl.DataFrame(list(rows), schema=names, orient="row").with_columns(
        pl.lit(0).alias("label"), *(pl.Series(name, values) for name, values in columns.items())
    )


def two_models(images: dict[str, str]) -> pl.DataFrame:
    """Model -> its image ids, one letter an image."""
    return table(
        *(
            (model, condition, image, int(image in "bc"), 0.5)
            for model, ids in images.items()
            for condition in ("clean", "fog/1")
            for image in ids
        )
    )


def test_images_of_one_model_only_are_left_out_and_counted() -> None:
    policies = [replace(P, model="m"), replace(Q, model="n")]
    found = evaluate_policies(policies, two_models({"m": "abcd", "n": "dbe"}))
    assert (found.images, found.evaluation.clean.image_id.to_list()) == (2, ["b", "d"])
    assert {name: row["not_shared"] for name, row in found.left_out.items()} == {"m": 2, "n": 1}
    assert found.to_dict()["policies"][0]["not_shared"] == 2


def test_models_without_a_common_image_are_refused() -> None:
    with pytest.raises(RecordError, match="none is left to compare on"):
        evaluate_policies([replace(P, model="m"), replace(Q, model="n")], two_models({"m": "ab", "n": "cd"}))


def test_models_that_put_an_image_in_two_classes_are_refused() -> None:
    one = c9()
    other = replace(one, model="other", classes=("elsewhere",))
    with pytest.raises(RecordError, match=r"image0.*in class 'class0' of model and in class 'elsewhere' of other"):
        evaluate_policies([replace(P, model="model"), replace(Q, model="other")], [one, other])


def test_models_under_two_conditions_are_refused() -> None:
    one = c9()
    other = replace(one, model="other", perturbed_condition="snow/2")
    with pytest.raises(RecordError, match="compare under one condition"):
        evaluate_policies([replace(P, model="model"), replace(Q, model="other")], [one, other])


def test_models_without_common_ids_are_refused() -> None:
    one = replace(c9(), paired=False)
    with pytest.raises(RecordError, match="need common ids"):
        evaluate_policies(
            [replace(P, model="model"), replace(Q, model="other")], [one, replace(one, model="other")], "marginals"
        )


def test_acceptance_comes_from_any_column_beside_thresholds() -> None:
    rows = table(
        ("m", "clean", "a", 0, 0.5),
        ("m", "clean", "b", 0, 0.9),
        ("m", "fog/1", "a", 0, 0.5),
        ("m", "fog/1", "b", 0, 0.1),
        accepted=[True, False, True, True],
        chosen=[True, True, False, False],
    )
    cost = preset_cost("rejection")
    policies = [
        Policy("threshold", cost, threshold="0.5"),
        Policy("accepted", cost, accepted_column="accepted"),
        Policy("chosen", cost, accepted_column="chosen"),
    ]
    found = evaluate_policies(policies, rows, "marginals")
    assert [row.lower for row in found.costs] == [Fraction(1, 2), 0, 1]
    with pytest.raises(RecordError, match="absent"):
        evaluate_policies([Policy("x", cost, accepted_column="absent")], rows)


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ([], "policies: none was given"),
        ([P, P], "policy 'P': named twice"),
        ([replace(P, model="absent")], "policy 'P': model 'absent': not in the records; choose among model"),
        (
            [Policy("x", C9_COST, accepted_column="accepted")],
            "policy 'x': accepted_column 'accepted': the records have no",
        ),
    ],
)
def test_policies_that_cannot_be_compared_are_refused(policies: list[Policy], message: str) -> None:
    with pytest.raises(PolicyError) as raised:
        evaluate_policies(policies, c9())
    assert raised.value.line.startswith(message)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(QuantityError, match="knowledge 'all': unknown"):
        evaluate_policies([P], c9(), "all")


def test_a_policy_without_a_model_needs_one_where_there_are_several() -> None:
    both = two_models({"m": "ab", "n": "ab"})
    with pytest.raises(PolicyError, match="names none, and the records hold 2; choose among m, n"):
        evaluate_policies([P], both)
    assert evaluate_policies([P], both, model="n").costs[0].model == "n"


def test_several_conditions_come_one_after_the_other() -> None:
    rows = table(*(("m", condition, "a", 0, 0.5) for condition in ("clean", "snow/2", "fog/1")))
    assert [found["m"]["accepted"].perturbed_condition for found in evaluations_of([P], open_records([P], rows))] == [
        "fog/1",
        "snow/2",
    ]
    with pytest.raises(RecordError, match="several conditions"):
        evaluate_policies([P], rows)
    assert evaluate_policies([P], rows, perturbed="snow/2").perturbed == "snow/2"
