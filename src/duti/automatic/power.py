"""How large a bug the verdict would have called: what "no evidence" is worth."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from duti.arrays import Array
from duti.automatic.evidence import PRIOR, SLIPS, SMALLEST_CHANGE, contradicted
from duti.automatic.given import RATES
from duti.claims import CONFIDENCE, Power

DRAWS = 200
"""Simulated sets of trusted items for each size of a bug: ± 2 % at 95 %."""


def power(sure: Array, k: int) -> Power:
    """Of trusted items of which a learner of the given labels is so sure.

    In a bug of a share s of the rows, the learner is as sure of the wrong label as it is elsewhere of the
    right one. Simulated are the items that lie in it, and what the hypotheses make of them.

    >>> round(power(np.full(40, 0.98), 2).called, 2)
    0.27
    >>> power(np.full(2, 0.6), 2).called is None
    True
    """
    rng = np.random.default_rng(0)
    m, sure = len(sure), sure[:: -(-len(sure) // DRAWS)]  # so many of very many items say as much
    for share in RATES.tolist():
        inside = rng.random((DRAWS, len(sure))) < share
        right = np.where(rng.random(inside.shape) < sure, sure, (1 - sure) / (k - 1))
        g = np.where(inside, (1 - sure) / (k - 1), right)
        if (_systematic((1 - SLIPS) * g + SLIPS / k, k) > 1 / 2).mean() >= CONFIDENCE:
            return Power.of(m, share)
    return Power.of(m)


def _systematic(g: Array, k: int) -> Array:
    """The probability of systematic bugs for each set of items, by what contradicts g alone."""
    none = np.log(PRIOR["none"]) + np.log(g).sum(axis=1)
    prior = -SMALLEST_CHANGE * RATES
    prior = np.log(PRIOR["touched"]) + prior - logsumexp(prior)
    systematic = logsumexp(prior + np.array([contradicted(one, k).sum(axis=1) for one in g]), axis=1)
    return np.asarray(1 / (1 + np.exp(none - systematic)))
