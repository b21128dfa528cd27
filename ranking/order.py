"""A ranking with its ties: groups of images that a score does not tell apart, riskiest first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Order", "order_by", "seeded_keys"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A ranking of n images.

    Attributes:
        group: int64 of shape (n,): the tie group of each image; 0 is the riskiest.
        starts: int64 of shape (G + 1,): ranks `starts[g] + 1` to `starts[g + 1]` belong to group g; `starts[G]` is n.
    """

    group: Ints
    starts: Ints

    @property
    def images(self) -> int:
        """How many images are ranked."""
        return len(self.group)

    @property
    def rank(self) -> Ints:
        """The first rank, from 1, that each image can take; tied images share it."""
        return self.starts[self.group] + 1

    @property
    def ties(self) -> Ints:
        """How many images share the place of each, itself included; 1 where there is no tie."""
        return np.diff(self.starts)[self.group]

    def totals(self, values: npt.NDArray[Any]) -> Ints:
        """Integers summed over each group; shape (G,)."""
        sums = np.zeros(len(self.starts) - 1, dtype=np.int64)
        np.add.at(sums, self.group, values)
        return sums

    def take(self, rows: npt.NDArray[Any]) -> Order:
        """The ranking of some of the images.

        Args:
            rows: bool of shape (n,), or positions.
        """
        _, group, sizes = np.unique(self.group[rows], return_inverse=True, return_counts=True)
        return Order(group.astype(np.int64), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def order_by(*keys: Floats) -> Order:
    """Images ranked by falling first key, ties by the next; equal in all keys is tied.

    Args:
        keys: at least one array of shape (n,), finite, higher = riskier.

    >>> order = order_by(np.array([0.5, 0.9, 0.5, 0.1]))
    >>> order.rank.tolist(), order.ties.tolist()
    ([2, 1, 2, 4], [2, 1, 2, 1])
    """
    images = len(keys[0])
    rows = np.lexsort([-key for key in reversed(keys)])
    new = np.zeros(images, dtype=np.bool_)
    if images:
        new[0] = True
        for key in keys:
            new[1:] |= np.diff(key[rows]) != 0
    group = np.empty(images, dtype=np.int64)
    group[rows] = np.cumsum(new) - 1
    return Order(group, np.append(np.flatnonzero(new), images).astype(np.int64))


def seeded_keys(names: Sequence[str], seed: int) -> Floats:
    """A number in [0, 1) for each name, the same in whatever order and company the names come.

    >>> seeded_keys(["a", "b"], 0).tolist() == seeded_keys(["b", "a"], 0).tolist()[::-1]
    True
    """
    found = np.empty(len(names))
    for row, name in enumerate(names):
        digest = hashlib.blake2b(f"{seed}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        found[row] = (int.from_bytes(digest, "big") >> 11) / 2**53
    return found
