"""What the learners share: hyperparameters that are checked when given and tuned when not."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from duti.arrays import Array
from duti.errors import LearnerError
from duti.features import FeatureMap
from duti.features.fourier import Fourier
from duti.features.nystroem import EXACT_ROWS, LANDMARKS, RBF, Nystroem
from duti.features.rows import Rows
from duti.features.scale import Standardized

Approximation = Literal["auto", "exact", "nystroem", "fourier"]
"""How the features of a kernel are made; "auto" is exact up to EXACT_ROWS rows and Nyström above."""
_EXACT_UP_TO = {"auto": EXACT_ROWS, "exact": sys.maxsize, "nystroem": 0}


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
    """Base of the learners with an RBF kernel, whose fields they share but for the default intercept."""

    tunable: ClassVar[tuple[str, ...]] = ("bandwidth", "ridge")

    standardize: bool | None
    approximation: Approximation
    components: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.approximation not in get_args(Approximation):
            known = ", ".join(map(repr, get_args(Approximation)))
            raise self._refused("approximation", f"use one of {known}")
        if self.components is not None and not (
            isinstance(self.components, int | np.integer) and self.components > 0
        ):
            raise self._refused("components", "use a whole number above 0, or None")
        if self.components is not None and self.approximation == "exact":
            raise self._refused("components", 'which approximation="exact" does not have; drop one of them')
        if self.standardize is None:
            object.__setattr__(self, "standardize", "bandwidth" in self.untuned)

    def _refused(self, name: str, remedy: str) -> LearnerError:
        return LearnerError(f"{type(self).__name__}: {name} is {getattr(self, name)!r}; {remedy}.")

    def __repr__(self) -> str:
        """Keyword-only fields are shown where they were chosen."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        shown = [f.name for f in fields if not f.kw_only or getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def features(self) -> FeatureMap:
        """Features of the RBF kernel, of standardised columns or of X as it is."""
        bandwidth, components = self.known("bandwidth"), self.components or LANDMARKS
        kernel: FeatureMap = (
            Fourier(bandwidth, components)
            if self.approximation == "fourier"
            else Nystroem(RBF(bandwidth), _EXACT_UP_TO[self.approximation], components)
        )
        return Standardized(kernel) if self.standardize else kernel
