"""Draws: how often each row counts in each replicate of the bootstrap.

The count is a hash of seed, replicate and the key of the row (`core/resample.hpp`). No generator has a state, so order,
threads and partitions cannot show, and two models are paired because their rows have the same keys. A replicate is the
batch with other weights: any state that reads weighted rows can be resampled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark._core import poisson_counts, poisson_counts_of_places
from tallymark.data.arrays import Array


class Draws(NamedTuple):
    """A seed, how many replicates there are, and the keys of the rows, None where they are their places.

    A row counts in a replicate as often as seed, replicate and key say, a Poisson number of mean 1, whatever the order
    of the rows and whatever else there is. Rows of one key count alike.
    """

    seed: int
    resamples: int
    keys: Array | None
    rows: int

    def counts(self, replicate: int) -> Array:
        """How often each row counts in a replicate."""
        if self.keys is None:
            return poisson_counts_of_places(self.seed, replicate, 0, self.rows)
        return poisson_counts(self.seed, replicate, self.keys)

    def weights(self, replicate: int, own: Array | None) -> Array:
        """The weights of the rows in a replicate, given their own."""
        counts = self.counts(replicate)
        return counts.astype(np.float64) if own is None else counts * np.asarray(own, np.float64)
