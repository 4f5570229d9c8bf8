"""Learners: what is being debugged. A learner is a value; fitting it happens elsewhere."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

from duti.features import FeatureMap
from duti.features.rows import Rows
from duti.learners.erm import ERM
from duti.learners.logistic import KernelLogistic, Logistic
from duti.learners.ridge import KernelRidge, Ridge
from duti.problem import Task

__all__ = ["LEARNERS", "KernelLogistic", "KernelRidge", "Learner", "Logistic", "Ridge", "default_learner"]


@runtime_checkable
class Learner(Protocol):
    """A regularised empirical risk minimiser: features of X, a loss, a ridge penalty."""

    @property
    def task(self) -> Task:
        """What kind of labels it learns."""
        ...

    @property
    def intercept(self) -> bool:
        """Whether the scores have an offset that is not penalised."""
        ...

    @property
    def ridge(self) -> float | None:
        """λ, or None if it is still to be tuned."""
        ...

    @property
    def untuned(self) -> tuple[str, ...]:
        """Names of the hyperparameters that are still to be tuned."""
        ...

    def with_(self, **changes: float | bool) -> Self:
        """The same learner with other hyperparameters."""
        ...

    def features(self) -> FeatureMap:
        """The map Z."""
        ...

    def erm(self, rows: Rows, k: int) -> ERM:
        """The empirical risk over rows of Z, for k classes (ignored in regression)."""
        ...


LEARNERS: dict[str, type[KernelLogistic | KernelRidge | Logistic | Ridge]] = {
    learner.__name__: learner for learner in (KernelLogistic, KernelRidge, Logistic, Ridge)
}


def default_learner(task: Task, *, sparse: bool = False) -> Learner:
    """The learner that fits a task, to be tuned: with a kernel, or linear if the rows are sparse.

    In regression it has an intercept, so that adding a constant to all labels changes nothing.
    """
    if sparse:
        return Logistic() if task == "classification" else Ridge(intercept=True)
    return KernelLogistic() if task == "classification" else KernelRidge(intercept=True)
