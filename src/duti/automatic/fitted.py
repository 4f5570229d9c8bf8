"""Weights of the evidence, fitted on tables with known bugs.

Two logistic regressions of a table, whether labels are wrong and whether systematically so, and one of its
rows, whether a label is wrong if some are. `benchmarks/fitting` draws the tables, none of which is in
`benchmarks/quality`, and prints these numbers; ADR 11 says how much depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from duti.arrays import Array


@dataclass(frozen=True)
class Weighted:
    """Log-odds: a sum of what was named, each with its weight.

    >>> Weighted(-1.0, {"one": 2.0})({"one": 1.0, "another": 5.0})
    1.0
    """

    constant: float
    weights: Mapping[str, float]

    def __call__(self, named: Mapping[str, Any]) -> Any:
        """A number, or an array of them."""
        return self.constant + sum(weight * named[name] for name, weight in self.weights.items())


@dataclass(frozen=True)
class WeightedLabels:
    """Log-odds of labels: weights change linearly with the probability that bugs are systematic.

    >>> WeightedLabels((-1.0, 0.5), {"one": (2.0, -2.0)})({"one": np.ones(1)}, systematic=1.0)
    array([-0.5])
    """

    constant: tuple[float, float]
    weights: Mapping[str, tuple[float, float]]
    """Where bugs are random, and what is added where they are systematic."""

    def __call__(self, named: Mapping[str, Array], systematic: float) -> Array:
        """Of each label."""
        terms = ((a + b * systematic) * named[name] for name, (a, b) in self.weights.items())
        return np.asarray(self.constant[0] + self.constant[1] * systematic + sum(terms))


BUGS = Weighted(
    -4.64, {"items": 1.12, "floor": 2.31, "contrary": 2.47, "easier": 0.46, "gain": 0.48, "bias": 1.13}
)
"""Are labels wrong? Half a unit less than fitted: of clean tables that were left out 84 % instead of 75 % are
called so, and of runs with bugs 4.6 % instead of 6 % end with more wrong labels."""
SYSTEMATIC = Weighted(-1.07, {"floor": -1.67, "surprise": 2.39, "bias": 1.18})
"""If they are, is it systematic?"""
LABELS = WeightedLabels(
    (-1.87, 1.73),
    {"unlikely": (0.49, 0.18), "disputed": (0.09, 0.19), "direction": (-0.01, 0.52), "given": (-0.76, 1.23)},
)
"""If labels are wrong, is it this one? Where they are flipped, a label that g finds improbable is wrong;
where g has learnt the bugs, one that it finds probable is. Fitted on 410 of the 785 draws."""
