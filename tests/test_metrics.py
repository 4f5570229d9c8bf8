from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score

from duti.metrics import average_precision


def test_average_precision_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    ranking, bugs = rng.permutation(50), rng.random(50) < 0.3
    scores = np.empty(50)
    scores[ranking] = -np.arange(50)
    assert np.isclose(average_precision(ranking, bugs), average_precision_score(bugs, scores))
