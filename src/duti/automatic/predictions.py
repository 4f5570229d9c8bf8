"""What a learner predicts of rows and trusted items that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Targets
from duti.claims import LearnerSummary
from duti.learners import Learner
from duti.learners.losses import log_sum_exp
from duti.path import Step

FACTORS = np.exp(np.linspace(-1.5, 2.5, 27))
"""By which scores may be multiplied when they are calibrated: a fifth to twelve, in steps of a sixth."""


class Kind(StrEnum):
    """What a learner has learnt from."""

    GIVEN = "the labels as given"
    POOLED = "the labels as given and the trusted items"
    TRUSTED = "the trusted items alone"
    DEBUGGED = "labels debugged with the trusted items"


@dataclass(frozen=True, eq=False)
class Prediction:
    """Scores of rows and trusted items, each by a learner that has not seen it: log-odds up to a constant."""

    kind: Kind
    name: str
    """Of the learner."""
    rows: Array
    """(n, k)."""
    trusted: Array
    """(m, k)."""
    learner: Learner | None = None
    """None if it is a model of another library, or the user's own predictions."""
    gamma: float = np.inf
    """The price at which it was debugged; ∞ if it was not."""
    path: tuple[Step, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def summary(self, weight: float, y: Targets, y_trusted: Targets) -> LearnerSummary:
        """What is told of it, with its mean losses; in regression, mean absolute errors."""
        loss = losses if self.rows.ndim == 2 else _distances
        row_loss, trusted_loss = loss(self.rows, y).mean(), loss(self.trusted, y_trusted).mean()
        said = {"weight": weight, "row_loss": float(row_loss), "trusted_loss": float(trusted_loss)}
        if self.learner is not None:
            return LearnerSummary.of(self.learner, str(self.kind), gamma=self.gamma, **said)
        return LearnerSummary(str(self.kind), self.name, dict(self.settings), None, **said)


def losses(scores: Array, labels: Ints) -> Array:
    """−log softmax(scores)_label of each row.

    >>> losses(np.zeros((1, 4)), np.array([2])).round(4)
    array([1.3863])
    """
    return np.asarray(log_sum_exp(scores) - scores[np.arange(len(labels)), labels])


def _distances(values: Array, labels: Array) -> Array:
    return np.asarray(abs(values - labels))


def calibrated(scores: Array, labels: Ints) -> tuple[float, float]:
    """The factor that makes scores predict labels best, and their mean loss with it.

    >>> scores = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> calibrated(scores, np.array([0, 1]))[0] > 4 > 0.3 > calibrated(scores, np.array([0, 0]))[0]
    True
    """
    found = ((float(losses(factor * scores, labels).mean()), float(factor)) for factor in FACTORS)
    loss, factor = min(found)
    return factor, loss
