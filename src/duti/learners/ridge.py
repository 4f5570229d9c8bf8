"""Ridge regression, over an RBF kernel or over the columns of X.

(1/n)‖y + δ − Zθ‖² + λ‖θ‖², so that Zθ = K (K + nλI)⁻¹ (y + δ), as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from duti.features import FeatureMap
from duti.features.linear import Linear
from duti.features.rows import Rows
from duti.learners.erm import ERM
from duti.learners.hyperparameters import Approximation, Hyperparameters, KernelHyperparameters, penalties
from duti.learners.losses import Squared
from duti.problem import Task


def _squared_erm(learner: KernelRidge | Ridge, rows: Rows) -> ERM:
    # λ‖θ‖² = ½ · 2λ · ‖θ‖²
    penalty = penalties(rows, 2 * learner.known("ridge"), intercept=learner.intercept)
    return ERM(rows, Squared(), penalty, columns=())


@dataclass(frozen=True, repr=False)
class KernelRidge(KernelHyperparameters):
    """Kernel ridge regression with the RBF kernel exp(−‖x − x'‖²/(2 bandwidth²)).

    `bandwidth` and `ridge` (λ) are tuned by cross-validation when None. A bandwidth is a length in
    the units of X, so giving one means that X is used as it is; when it is tuned, columns are
    standardised first. `standardize` says otherwise. As in the paper there is no intercept unless
    asked for; labels far from zero need one.

    Up to 2000 rows the kernel is exact, above that it is approximated by Nyström features with
    1000 landmarks. `approximation` says otherwise ("exact", "nystroem", or "fourier": random
    Fourier features), `components` how many landmarks or Fourier features.

    >>> KernelRidge(bandwidth=0.7, ridge=3.8e-6)
    KernelRidge(bandwidth=0.7, ridge=3.8e-06, intercept=False, standardize=False)
    """

    task: ClassVar[Task] = "regression"

    bandwidth: float | None = None
    ridge: float | None = None
    intercept: bool = False
    standardize: bool | None = None
    approximation: Approximation = field(default="auto", kw_only=True)
    components: int | None = field(default=None, kw_only=True)

    def erm(self, rows: Rows, k: int) -> ERM:  # noqa: ARG002
        """The empirical risk over rows of Z."""
        return _squared_erm(self, rows)


@dataclass(frozen=True)
class Ridge(Hyperparameters):
    """Ridge regression over the columns of X, dense or sparse.

    >>> Ridge(ridge=0.1, intercept=True)
    Ridge(ridge=0.1, intercept=True)
    """

    task: ClassVar[Task] = "regression"
    tunable: ClassVar[tuple[str, ...]] = ("ridge",)

    ridge: float | None = None
    intercept: bool = False

    def features(self) -> FeatureMap:
        """Z = X."""
        return Linear()

    def erm(self, rows: Rows, k: int) -> ERM:  # noqa: ARG002
        """The empirical risk over rows of Z."""
        return _squared_erm(self, rows)
