"""Small evaluations: by hand, and at random."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import strategies as st

from bounds.evaluation import Evaluation, Side

CORRECT = 0


def evaluation(*classes, paired=True, dtype=np.float32, acceptance=True):
    """An evaluation from lists of records.

    Each class is a pair (clean, perturbed) of equally long lists of (predicted, accepted, probability); predicted 0
    is correct, other integers are wrong classes; acceptance or probability may be left out.
    """
    starts = np.concatenate([[0], np.cumsum([len(clean) for clean, _ in classes])]).astype(np.int64)
    sides = []
    for number, name in enumerate(("clean", "perturbed")):
        rows = [record + (False, 0.5)[len(record) - 1 :] for pair in classes for record in pair[number]]
        predicted = np.array([r[0] for r in rows], dtype=np.int64)
        sides.append(
            Side(
                image_id=pl.Series(
                    [f"{name}{i}" if not paired else f"image{i}" for i in range(len(rows))], dtype=pl.String
                ),
                correct=predicted == CORRECT,
                predicted=predicted,
                accepted=np.array([r[1] for r in rows], dtype=bool) if acceptance else None,
                confidence=None,
                true_probability=np.array([r[2] for r in rows], dtype=dtype),
            )
        )
    return Evaluation(
        model="model",
        clean_condition="clean",
        perturbed_condition="perturbed",
        classes=tuple(f"class{c}" for c in range(len(classes))),
        starts=starts,
        labels=tuple(f"label{i}" for i in range(8)),
        clean=sides[0],
        perturbed=sides[1],
        paired=paired,
    )


probabilities = st.integers(0, 8).map(lambda eighths: eighths / 8) | st.floats(0, 1, width=32)


@st.composite
def evaluations(draw, max_images=5, max_classes=1, max_labels=3, min_images=0):
    """A random evaluation; the true pairing is the identity."""
    record = st.tuples(st.integers(0, max_labels), st.booleans(), probabilities)
    classes = []
    for _ in range(draw(st.integers(1, max_classes))):
        n = draw(st.integers(min_images, max_images))
        side = st.lists(record, min_size=n, max_size=n)
        classes.append((draw(side), draw(side)))
    return evaluation(*classes)
