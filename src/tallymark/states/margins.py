"""One column of margins as probabilities: made once per batch, whatever reads them."""

from __future__ import annotations

import numpy as np

from tallymark._core import read_margins
from tallymark.arrays import Array
from tallymark.batch import Batch


def probabilities_of(batch: Batch) -> Array | None:
    """What the sigmoid makes of the predictions of one column; None if they are not all finite."""
    if "sigmoid" not in batch.memo:
        out = np.empty((1, batch.n))
        batch.memo["sigmoid"] = out[0] if read_margins(batch.prediction, out) else None
    found: Array | None = batch.memo["sigmoid"]
    return found
