"""Rankings and their ties."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ranking.order import order_by, seeded_keys

VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=12)


@given(VALUES)
def test_ranks_are_what_counting_gives(values: list[float]) -> None:
    order = order_by(np.array(values))
    assert order.rank.tolist() == [1 + sum(other > value for other in values) for value in values]
    assert order.ties.tolist() == [values.count(value) for value in values]


@given(VALUES, st.randoms(use_true_random=False))
def test_the_second_key_breaks_ties_of_the_first(values: list[float], random: object) -> None:
    second = [random.choice([0.0, 1.0]) for _ in values]  # type: ignore[attr-defined]
    pairs = list(zip(values, second, strict=True))
    order = order_by(np.array(values), np.array(second))
    assert order.rank.tolist() == [1 + sum(other > pair for other in pairs) for pair in pairs]


@given(VALUES, st.data())
def test_some_of_the_images_keep_their_order(values: list[float], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, unique=True))
    part = order_by(np.array(values)).take(np.array(rows))
    again = order_by(np.array(values)[rows])
    assert part.group.tolist() == again.group.tolist()
    assert part.starts.tolist() == again.starts.tolist()


def test_seeded_keys_depend_on_the_name_and_the_seed_alone() -> None:
    names = [f"image{i}" for i in range(2000)]
    keys = seeded_keys(names, 0)
    assert seeded_keys(names[::-1], 0).tolist() == keys.tolist()[::-1]
    assert len(set(keys.tolist())) == 2000
    assert set(keys.tolist()).isdisjoint(seeded_keys(names, 1).tolist())
    assert keys.min() >= 0
    assert keys.max() < 1
    # A fair draw falls this far from one half with probability below 1e-9.
    assert abs(keys.mean() - 0.5) < 6.2 / np.sqrt(12 * 2000)
