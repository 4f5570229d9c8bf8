"""How large a bug the verdict would have called: what "no evidence" is worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from duti.arrays import Array
from duti.automatic.given import RATES, SLIPS
from duti.claims import CONFIDENCE, Power

DRAWS = 200
"""Simulated sets of trusted items for each size of a bug: ± 2 % at 95 %."""


def power(sure: Array, k: int, systematic: Callable[[Array, Array], Array]) -> Power:
    """Of trusted items of which a learner of the given labels is so sure.

    In a bug of a share s of the rows, the learner is as sure of the wrong label as it is elsewhere of the
    right one. Simulated are the items that lie in it; `systematic` says, from g of the right labels
    (draws, m) and from how sure the learner is (m,), how probable it is that bugs are systematic.

    >>> power(np.full(40, 0.98), 2, lambda g, sure: (g < 0.5).mean(axis=1) / 0.2).called
    0.219...
    """
    rng = np.random.default_rng(0)
    m, sure = len(sure), sure[:: -(-len(sure) // DRAWS)]  # so many of very many items say as much
    for share in RATES.tolist():
        inside = rng.random((DRAWS, len(sure))) < share
        right = np.where(rng.random(inside.shape) < sure, sure, (1 - sure) / (k - 1))
        g = np.where(inside, (1 - sure) / (k - 1), right)
        if (systematic((1 - SLIPS) * g + SLIPS / k, sure) > 1 / 2).mean() >= CONFIDENCE:
            return Power.of(m, share)
    return Power.of(m)
