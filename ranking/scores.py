"""Risk scores: higher = riskier = tested first.

y is the true class, which in the pool is the clean prediction; p the clean probabilities, p^j those of copy j of M.
Everything is computed in float64, whatever the records hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.cli_options import chosen, is_all, split
from bounds.errors import PairboundsError
from bounds.imports import calling, imported
from ranking.conditions import NATURAL
from ranking.order import Order, order_by, seeded_keys
from ranking.pool import Copies, Pool

__all__ = [
    "CLEAN",
    "NATURAL_MEAN",
    "SCORES",
    "Score",
    "Scored",
    "entropies",
    "score_all",
    "scored",
    "scores_asked",
    "user_score",
]

Floats = npt.NDArray[np.float64]

CLEAN = "clean"
"""What stands for the copies of a score that looks at none."""

NATURAL_MEAN = "natural_mean_true_probability"


@dataclass(frozen=True, slots=True)
class Score:
    """A risk score.

    Attributes:
        name: as typed and shown.
        formula: for people.
        function: (pool, copies, seed) -> float64 arrays of shape (n,): the score, then what breaks its ties.
        copies: whether it looks at copies; None: where there are some.
        needs: columns of the records, of the copies if it looks at these.
        whole: whether it needs whole probabilities.
    """

    name: str
    formula: str
    function: Callable[[Pool, Any, int], tuple[Floats, ...]]
    copies: bool | None
    needs: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A score's values and the ranking that they give.

    Attributes:
        score: its name.
        copies: the set it looked at, as typed; `CLEAN` for none.
        values: float64 of shape (n,), finite.
        order: the ranking.
    """

    score: str
    copies: str
    values: Floats
    order: Order


def scored(score: Score, pool: Pool, copies: Copies | None, seed: int = 0) -> Scored:
    """The values of a score on a pool.

    Raises:
        PairboundsError: if the records lack what it needs, or a value is not finite.
    """
    seen = None if score.copies is False else copies
    if score.copies and seen is None:
        raise PairboundsError(
            "--score", score.name, "looks at copies", "add --copies corruptions, natural or conditions"
        )
    for column in score.needs:
        if getattr(seen if seen is not None else pool, column) is None:
            raise PairboundsError("--score", score.name, f"needs the column {column!r}", "write records with it")
    keys = score.function(pool, seen, seed)
    for key in keys:
        wrong = ~np.isfinite(key)
        if wrong.any():
            row = int(wrong.argmax())
            rule = f"the score of image {pool.image_id[row]!r} is {key[row]}, as of {int(wrong.sum())} in all"
            raise PairboundsError("--score", score.name, rule, "a score is finite: mend it, or choose another")
    return Scored(score.name, CLEAN if seen is None else seen.word, keys[0], order_by(*keys))


def _true(copies: Copies) -> Floats:
    assert copies.true_probability is not None
    return copies.true_probability.astype(np.float64)


def _confidence(copies: Copies | Pool) -> Floats:
    assert copies.confidence is not None
    return copies.confidence.astype(np.float64)


def _clean(pool: Pool) -> Floats:
    return pool.probabilities.of(pool.probabilities.clean).astype(np.float64)


def _mean_true_probability(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    return (1 - _true(copies).mean(axis=0),)


def _worst_copy(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    return (1 - _true(copies).min(axis=0),)


def _clean_confidence(pool: Pool, copies: None, seed: int) -> tuple[Floats, ...]:
    return (1 - _confidence(pool),)


def _deepgini(pool: Pool, copies: None, seed: int) -> tuple[Floats, ...]:
    return (1 - (_clean(pool) ** 2).sum(axis=1),)


def _margin(pool: Pool, copies: None, seed: int) -> tuple[Floats, ...]:
    values = _clean(pool)
    if values.shape[1] == 1:
        return (1 - values[:, 0],)
    best = np.partition(values, -2, axis=1)
    return (1 - (best[:, -1] - best[:, -2]),)


def entropies(values: Floats) -> Floats:
    """-sum p log p over the last axis, with 0 log 0 = 0.

    >>> float(entropies(np.array([1.0, 0.0])))
    0.0
    """
    logs = np.log(values, where=values > 0, out=np.zeros_like(values))
    found: Floats = np.abs((values * logs).sum(axis=-1))
    return found


def _entropy(pool: Pool, copies: None, seed: int) -> tuple[Floats, ...]:
    return (entropies(_clean(pool)),)


def _variation_ratio(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    rows = np.sort(copies.predicted, axis=0)
    longest = np.ones(rows.shape[1], dtype=np.int64)
    run = longest.copy()
    for before, now in pairwise(rows):
        run = np.where(now == before, run + 1, 1)
        longest = np.maximum(longest, run)
    return (1 - longest / len(rows),)


def _mutual_information(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    total: Any = 0.0
    inside: Any = 0.0
    for name in copies.names:
        values = pool.probabilities.of(name).astype(np.float64)
        total = total + values
        inside = inside + entropies(values)
    many = len(copies.names)
    return (entropies(total / many) - inside / many,)


def _cover(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    return (1 - (_confidence(pool) + _confidence(copies).sum(axis=0)) / (len(copies.names) + 1),)


def _a3_adaptation(pool: Pool, copies: Copies, seed: int) -> tuple[Floats, ...]:
    clean = _clean(pool)
    dominated, confidence = _true(copies), _confidence(copies)
    rows = np.arange(pool.images)
    kept = np.zeros(pool.images)
    risen = np.zeros(pool.images)
    for j, name in enumerate(copies.names):
        supports = copies.predicted[j] == pool.label
        kept += np.where(supports, dominated[j], 0)
        before = clean[rows, pool.probabilities.entries(copies.predicted[j], name)]
        risen += np.where(supports, 0, np.maximum(0, confidence[j] - before))
    many = len(copies.names)
    return (1 - kept / many) + risen / many, 1 - _confidence(pool)


def _random(pool: Pool, copies: None, seed: int) -> tuple[Floats, ...]:
    return (seeded_keys(pool.image_id.to_list(), seed),)


SCORES = {
    score.name: score
    for score in (
        Score("mean_true_probability", "1 - mean_j p^j_y", _mean_true_probability, True, ("true_probability",)),
        Score(NATURAL_MEAN, "the same on natural copies", _mean_true_probability, True, ("true_probability",)),
        Score("clean_confidence", "1 - max p", _clean_confidence, False, ("confidence",)),
        Score(
            "a3_adaptation",
            "1 - mean_j [copy j predicts y] p^j_y + mean_j [it does not] max(0, gain of its class), ties by 1 - max p",
            _a3_adaptation,
            True,
            ("true_probability", "confidence"),
            True,
        ),
        Score("deepgini", "1 - sum p^2", _deepgini, False, whole=True),
        Score("margin", "1 - (largest p - second largest p)", _margin, False, whole=True),
        Score("entropy", "-sum p log p", _entropy, False, whole=True),
        Score("variation_ratio", "share of copies not predicted as their plurality", _variation_ratio, True),
        Score("mutual_information", "H(mean_j p^j) - mean_j H(p^j)", _mutual_information, True, whole=True),
        Score("cover", "1 - mean of max p over the original and the copies", _cover, True, ("confidence",)),
        Score("worst_copy", "1 - min_j p^j_y", _worst_copy, True, ("true_probability",)),
        Score("random", "seeded by image id", _random, False),
    )
}
"""The scores of the field; `a3_adaptation` adapts A3Rank (arXiv 2407.14114), whose own formulas could not be had."""


def user_score(text: str) -> Score:
    """A score of the user's own, by import path `package.module:function`.

    The function takes a `Pool` and `Copies` (None where none were asked for) and returns n finite numbers, higher =
    riskier.

    Raises:
        PairboundsError: if it cannot be imported.
    """
    module, _, attribute = text.partition(":")
    function = imported("--score", text, module, attribute, "package.module:function")

    def values(pool: Pool, copies: Any, seed: int) -> tuple[Floats, ...]:
        with calling("--score", text):
            found = np.asarray(function(pool, copies), dtype=np.float64)
        if found.shape != (pool.images,):
            rule = f"returned the shape {found.shape} for {pool.images} images"
            raise PairboundsError("--score", text, rule, "return one number an image")
        return (found,)

    return Score(text, "the user's own", values, None)


def scores_asked(values: Sequence[str]) -> list[Score]:
    """The scores in a repeated `--score`, by name or import path; all of the registry for `all`.

    Raises:
        PairboundsError: if one is unknown.

    >>> [score.name for score in scores_asked(["margin,entropy"])]
    ['margin', 'entropy']
    """
    names = split(values)
    own = [name for name in names if ":" in name]
    if is_all("--score", names):
        return list(SCORES.values())
    chosen("--score", [name for name in names if name not in own], list(SCORES))
    return [user_score(name) if name in own else SCORES[name] for name in names]


def score_all(pool: Pool, scores: Sequence[Score], words: Sequence[str], seed: int = 0) -> list[Scored]:
    """Every score on every set of copies: those that look at none once, `NATURAL_MEAN` on the natural ones only."""
    found = []
    for score in scores:
        if score.name == NATURAL_MEAN:
            found.append(scored(score, pool, pool.copies[NATURAL], seed))
        elif score.copies is False or not words:
            found.append(scored(score, pool, None, seed))
        else:
            found += [scored(score, pool, pool.copies[word], seed) for word in words]
    return found
