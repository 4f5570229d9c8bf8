"""How good a ranking is, when the bugs are known."""

from __future__ import annotations

import numpy as np

from duti.arrays import Ints, Mask


def average_precision(ranking: Ints, is_bug: Mask) -> float:
    """Mean of the precision at each bug, going down the ranking.

    >>> average_precision(np.array([2, 0, 1]), np.array([True, False, True]))
    1.0
    """
    hit = is_bug[ranking]
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].mean())
