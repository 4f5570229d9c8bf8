"""Multiclass logistic regression, over an RBF kernel or over the columns of X.

(1/n) Σ_i Σ_j δ_ij ℓ_ij + (λ/2)‖θ‖², one column of θ for each class. The columns sum to zero, which
removes the direction that a softmax does not see. For two classes with a sigmoid and the
penalty λ', this is λ = 2λ'.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from duti.features import FeatureMap
from duti.features.linear import Linear
from duti.features.rows import Rows
from duti.learners.erm import ERM
from duti.learners.hyperparameters import Approximation, Hyperparameters, KernelHyperparameters, penalties
from duti.learners.losses import Softmax
from duti.problem import Task


def _softmax_erm(learner: KernelLogistic | Logistic, rows: Rows, k: int) -> ERM:
    penalty = penalties(rows, learner.known("ridge"), intercept=learner.intercept)
    return ERM(rows, Softmax(), penalty, columns=(k,))


@dataclass(frozen=True, repr=False)
class KernelLogistic(KernelHyperparameters):
    """Kernel logistic regression with the RBF kernel exp(−‖x − x'‖²/(2 bandwidth²)).

    `bandwidth` and `ridge` (λ) are tuned by cross-validation when None. A bandwidth is a length in
    the units of X, so giving one means that X is used as it is; when it is tuned, columns are
    standardised first. `standardize` says otherwise.

    Up to 2000 rows the kernel is exact, above that it is approximated by Nyström features with
    1000 landmarks. `approximation` says otherwise ("exact", "nystroem", or "fourier": random
    Fourier features), `components` how many landmarks or Fourier features.

    >>> KernelLogistic(bandwidth=0.5, ridge=2e-3)
    KernelLogistic(bandwidth=0.5, ridge=0.002, intercept=True, standardize=False)
    >>> KernelLogistic(approximation="fourier", components=500).components
    500
    """

    task: ClassVar[Task] = "classification"

    bandwidth: float | None = None
    ridge: float | None = None
    intercept: bool = True
    standardize: bool | None = None
    approximation: Approximation = field(default="auto", kw_only=True)
    components: int | None = field(default=None, kw_only=True)

    def erm(self, rows: Rows, k: int) -> ERM:
        """The empirical risk over rows of Z, for k classes."""
        return _softmax_erm(self, rows, k)


@dataclass(frozen=True)
class Logistic(Hyperparameters):
    """Logistic regression over the columns of X, dense or sparse.

    >>> Logistic(ridge=0.01)
    Logistic(ridge=0.01, intercept=True)
    """

    task: ClassVar[Task] = "classification"
    tunable: ClassVar[tuple[str, ...]] = ("ridge",)

    ridge: float | None = None
    intercept: bool = True

    def features(self) -> FeatureMap:
        """Z = X."""
        return Linear()

    def erm(self, rows: Rows, k: int) -> ERM:
        """The empirical risk over rows of Z, for k classes."""
        return _softmax_erm(self, rows, k)
