"""What the learners share: hyperparameters that are checked when given and tuned when not."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Self

import numpy as np

from duti.arrays import Array
from duti.errors import LearnerError
from duti.features import FeatureMap
from duti.features.nystroem import RBF, Nystroem
from duti.features.rows import Rows
from duti.features.scale import Standardized


class Hyperparameters:
    """Base of the learners, which are frozen dataclasses: values that compare and print."""

    tunable: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        for name in self.tunable:
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise LearnerError(
                    f"{type(self).__name__}: {name} is {value}; use a finite number above 0, "
                    "or None to have it tuned."
                )

    @property
    def untuned(self) -> tuple[str, ...]:
        """Names of the hyperparameters that are still to be tuned."""
        return tuple(name for name in self.tunable if getattr(self, name) is None)

    def with_(self, **changes: float | bool) -> Self:
        """The same learner with other hyperparameters."""
        self_: Any = self
        changed: Self = dataclasses.replace(self_, **changes)
        return changed

    def known(self, name: str) -> float:
        """The value of a hyperparameter that must be given or tuned by now."""
        value = getattr(self, name)
        if value is None:
            raise LearnerError(
                f"{type(self).__name__}: {name} is None; give a number, or let duti.debug tune it."
            )
        return float(value)


def penalties(rows: Rows, strength: float, *, intercept: bool) -> Array:
    """The diagonal of Λ: the same strength for every feature, nothing for the intercept."""
    diagonal = np.full(rows.D, strength)
    if intercept:
        diagonal[-1] = 0.0
    return diagonal


class KernelHyperparameters(Hyperparameters):
    """Base of the learners with an RBF kernel: fields bandwidth, ridge and standardize."""

    tunable: ClassVar[tuple[str, ...]] = ("bandwidth", "ridge")

    standardize: bool | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.standardize is None:
            object.__setattr__(self, "standardize", "bandwidth" in self.untuned)

    def features(self) -> FeatureMap:
        """Features of the RBF kernel, of standardised columns or of X as it is."""
        kernel = Nystroem(RBF(self.known("bandwidth")))
        return Standardized(kernel) if self.standardize else kernel
