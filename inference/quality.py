"""How good probabilities are: calibration, temperature scaling, and how they tell known images from others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bounds.errors import MissingExtraError
from inference.outputs import Outputs

__all__ = [
    "BINS",
    "SCORES",
    "Detection",
    "Fit",
    "Quality",
    "calibration_error",
    "detection",
    "fit_temperature",
    "log_shares",
    "quality",
]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

BINS = 15
"""Of equal width, for the calibration error; each holds its upper end."""

TRUE_POSITIVE_RATE = 0.95
"""At which the false positives are told."""

NO_OUTPUTS = "the records hold neither whole probabilities nor logits (infer with --probabilities all or --logits)"
NO_LOGITS = "the records hold no logits (infer with --logits)"


def calibration_error(confidence: Floats, correct: Bools, bins: int = BINS) -> float:
    r"""The expected calibration error, $\sum_b \frac{n_b}{n} |\mathrm{acc}_b - \mathrm{conf}_b|$.

    Args:
        confidence: largest probabilities, of shape (N,), N >= 1.
        correct: of shape (N,).
        bins: intervals (i / bins, (i + 1) / bins] of [0, 1]; 0 is in the first.

    Source: Naeini, Cooper and Hauskrecht (2015); Guo et al. (2017).

    >>> round(calibration_error(np.array([0.9, 0.9, 0.6, 0.5]), np.array([True, False, True, False])), 6)
    0.425
    """
    place = np.searchsorted(np.arange(1, bins) / bins, confidence, side="left")
    return float(np.abs(np.bincount(place, correct - confidence)).sum() / len(confidence))


def log_shares(scores: Floats, temperature: float = 1.0) -> Floats:
    """Logarithms of the softmax of `scores / temperature`, of shape (N, C); -inf stays.

    >>> np.exp(log_shares(np.array([[np.log(3.0), 0.0, -np.inf]]))).round(6).tolist()
    [[0.75, 0.25, 0.0]]
    """
    scaled = (scores - scores.max(axis=1, keepdims=True)) / temperature
    return np.asarray(scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True)))


@dataclass(frozen=True, slots=True)
class Fit:
    """A temperature, or the reason why there is none; `condition` is what it was fitted on, None if it was given."""

    temperature: float | None
    condition: str | None = None
    reason: str | None = None


def fit_temperature(outputs: Outputs) -> Fit:
    """The temperature at which the negative log-likelihood of the labels is least.

    It is convex in b = 1 / T, and its derivative, the mean of (expected score under the softmax) - (score of the
    label), has a root b > 0 exactly if the labels are likelier than under a uniform guess, and not all of them have the
    largest score.

    Source: Guo et al. (2017), section 4.2.
    """
    scores, label = outputs.scores, outputs.label
    if scores is None or label is None:
        return Fit(
            None, outputs.condition, NO_OUTPUTS if scores is None else "labels are names, not places in the rows"
        )
    if not outputs.images:
        return Fit(None, outputs.condition, "0 usable images")
    rows = np.arange(len(label))
    possible = np.isfinite(scores)
    if not possible[rows, label].all():
        return Fit(None, outputs.condition, "a label has probability 0, at any temperature")
    shifted = np.where(possible, scores - scores.max(axis=1, keepdims=True), 0.0)
    own = shifted[rows, label].mean()

    def derivative(inverse: float) -> float:
        weights = np.where(possible, np.exp(inverse * shifted), 0.0)
        return float(((weights * shifted).sum(axis=1) / weights.sum(axis=1)).mean() - own)

    if derivative(0.0) >= 0:
        return Fit(None, outputs.condition, "labels are no likelier than under a uniform guess: no temperature is best")
    if own == 0:
        return Fit(None, outputs.condition, "every label has the largest score: the lower a temperature, the better")
    optimize = _needed("scipy.optimize", "--fit-temperature")
    above = 1.0
    while derivative(above) < 0:
        above *= 2
    return Fit(1 / float(optimize.brentq(derivative, 0.0, above, xtol=1e-12)), outputs.condition)


@dataclass(frozen=True, slots=True)
class Quality:
    """Numbers of one model under one condition; None where one cannot be computed, with its reason.

    Attributes:
        accuracy: share of correct predictions.
        mean_confidence: mean of the largest probabilities.
        ece: `calibration_error` with `BINS` bins.
        nll: mean of -log of the label's probability.
        brier: mean of the squared distance between the probabilities and the label's indicator, in [0, 2].
        temperature: by which the scores were divided; None where no scaling was asked for, or there is none.
        scaled_ece, scaled_nll, scaled_brier: after that.
        reasons: name of a number -> why it is None.
    """

    model: str
    condition: str
    kind: str
    images: int
    unusable: int
    accuracy: float | None
    mean_confidence: float | None
    ece: float | None
    nll: float | None
    brier: float | None
    temperature: float | None = None
    scaled_ece: float | None = None
    scaled_nll: float | None = None
    scaled_brier: float | None = None
    reasons: dict[str, str] = field(default_factory=dict)


def quality(outputs: Outputs, fit: Fit | None = None) -> Quality:
    """The numbers of labelled outputs, and those after temperature scaling if a fit is given."""
    assert outputs.correct is not None
    reasons: dict[str, str] = {}

    def told(name: str, value: float | str) -> float | None:
        if isinstance(value, str):
            reasons[name] = value
            return None
        return value

    if outputs.images == 0:
        names = ("accuracy", "mean_confidence", "ece", "nll", "brier")
        values = {name: told(name, "0 usable images") for name in names}
        scaled: dict[str, float | None] = {}
    else:
        values = {"accuracy": float(outputs.correct.mean())}
        values |= {name: told(name, value) for name, value in _numbers(outputs).items()}
        scaled = {f"scaled_{name}": told(f"scaled_{name}", value) for name, value in _scaled(outputs, fit).items()}
    if fit is not None and fit.reason is not None:
        reasons["temperature"] = fit.reason
    return Quality(
        model=outputs.model,
        condition=outputs.condition,
        kind=outputs.kind,
        images=outputs.images,
        unusable=outputs.unusable,
        temperature=None if fit is None else fit.temperature,
        reasons=reasons,
        **values,
        **scaled,
    )


def _numbers(outputs: Outputs) -> dict[str, float | str]:
    """As kept: the columns before what can be computed from others."""
    assert outputs.correct is not None
    confidence, own = outputs.confidence, outputs.true_probability
    logs = None if outputs.logits is None else log_shares(outputs.logits)
    shares = outputs.probabilities if logs is None else np.exp(logs)
    if confidence is None and shares is not None:
        confidence = shares.max(axis=1)
    if own is None and shares is not None and outputs.label is not None:
        own = shares[np.arange(len(shares)), outputs.label]
    log_own: Floats | None = None
    if logs is not None and outputs.label is not None:
        log_own = logs[np.arange(len(logs)), outputs.label]
    elif own is not None:
        with np.errstate(divide="ignore"):
            log_own = np.log(own)
    no_confidence = "the records hold no column confidence"
    no_own = "the records hold no column true_probability"
    return {
        "mean_confidence": no_confidence if confidence is None else float(confidence.mean()),
        "ece": no_confidence if confidence is None else calibration_error(confidence, outputs.correct),
        "nll": no_own if log_own is None else _nll(log_own),
        "brier": NO_OUTPUTS if shares is None else no_own if own is None else _brier(shares, own),
    }


def _scaled(outputs: Outputs, fit: Fit | None) -> dict[str, float | str]:
    """The same of the scores divided by a temperature."""
    assert outputs.correct is not None
    if fit is None:
        return {}
    names = ("ece", "nll", "brier")
    scores, label = outputs.scores, outputs.label
    if fit.temperature is None or scores is None:
        reason = "there is no temperature" if fit.temperature is None else NO_OUTPUTS
        return dict.fromkeys(names, reason)
    logs = log_shares(scores, fit.temperature)
    shares = np.exp(logs)
    found: dict[str, float | str] = {"ece": calibration_error(shares.max(axis=1), outputs.correct)}
    if label is None:
        return found | dict.fromkeys(names[1:], "labels are names, not places in the rows")
    own = logs[np.arange(len(label)), label]
    return found | {"nll": _nll(own), "brier": _brier(shares, np.exp(own))}


def _nll(log_own: Floats) -> float | str:
    impossible = int(np.isneginf(log_own).sum())
    return f"infinite: the label has probability 0 in {impossible} rows" if impossible else float(-log_own.mean())


def _brier(shares: Floats, own: Floats) -> float:
    return float((np.square(shares).sum(axis=1) - 2 * own + 1).mean())


def _energy(outputs: Outputs, temperature: float) -> Floats | str:
    if outputs.logits is None:
        return NO_LOGITS
    scaled = outputs.logits / temperature
    top = scaled.max(axis=1)
    return np.asarray(temperature * (top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))))


def _softmax(outputs: Outputs, temperature: float) -> Floats | str:
    if temperature == 1 and outputs.confidence is not None:
        return outputs.confidence
    scores = outputs.scores
    return NO_OUTPUTS if scores is None else np.exp(log_shares(scores, temperature)).max(axis=1)


def _largest(outputs: Outputs, temperature: float) -> Floats | str:
    return NO_LOGITS if outputs.logits is None else outputs.logits.max(axis=1)


def _entropy(outputs: Outputs, temperature: float) -> Floats | str:
    scores = outputs.scores
    if scores is None:
        return NO_OUTPUTS
    logs = log_shares(scores, temperature)
    return np.asarray(np.where(np.isneginf(logs), 0.0, np.exp(logs) * logs).sum(axis=1))


SCORES: dict[str, Callable[[Outputs, float], Floats | str]] = {
    "msp": _softmax,
    "energy": _energy,
    "max-logit": _largest,
    "entropy": _entropy,
}
"""Name -> function of outputs and a temperature, of shape (N,), higher for images that look known; or a reason.

`msp` is the largest softmax probability, for a zero-shot CLIP called MCM; `energy` is T log sum exp(logits / T), the
free energy with its sign turned; `entropy` is the negative entropy."""


@dataclass(frozen=True, slots=True)
class Detection:
    """How a score tells images of the known classes from others.

    Attributes:
        images, ood_images: usable rows of both sides; unusable, ood_unusable: left out.
        temperature: that scores are computed at.
        auroc: the chance that a known image scores higher than another, ties counting one half.
        fpr95: share of the other images at or above the highest threshold that at least 95 % of the known ones reach.
        reason: why both are None.
    """

    model: str
    condition: str
    ood_condition: str
    score: str
    temperature: float
    images: int
    ood_images: int
    unusable: int
    ood_unusable: int
    auroc: float | None
    fpr95: float | None
    reason: str | None = None


def detection(known: Outputs, others: Outputs, score: str, temperature: float = 1.0) -> Detection:
    """How well `score` (one of `SCORES`) tells the images of `known` from those of `others`.

    Raises:
        MissingExtraError: if scikit-learn is absent.
    """
    sides = [SCORES[score](outputs, temperature) for outputs in (known, others)]
    reason = next((side for side in sides if isinstance(side, str)), None)
    if reason is None and not (known.images and others.images):
        reason = "0 usable images on a side"
    auroc = fpr95 = None
    if reason is None:
        auroc, fpr95 = _told_apart(*sides)
    return Detection(
        model=known.model,
        condition=known.condition,
        ood_condition=others.condition,
        score=score,
        temperature=temperature,
        images=known.images,
        ood_images=others.images,
        unusable=known.unusable,
        ood_unusable=others.unusable,
        auroc=auroc,
        fpr95=fpr95,
        reason=reason,
    )


def _told_apart(known: Any, others: Any) -> tuple[float, float]:
    metrics = _needed("sklearn.metrics", "--ood")
    is_known = np.repeat([True, False], [len(known), len(others)])
    scores = np.concatenate([known, others])
    false, true, _ = metrics.roc_curve(is_known, scores, drop_intermediate=False)
    return float(metrics.roc_auc_score(is_known, scores)), float(false[int(np.argmax(true >= TRUE_POSITIVE_RATE))])


def _needed(module: str, option: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            option, None, f"needs the package {error.name}, which is absent", "pip install 'pairbounds[inference]'"
        ) from error
