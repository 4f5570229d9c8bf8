"""The scores of the cleanlab package, which is optional, on duti's own out-of-sample probabilities."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

from duti.arrays import Array
from duti.baselines.out_of_sample import OutOfSample
from duti.errors import DutiError, ProblemError
from duti.learners.losses import softmax
from duti.problem import Problem

Method = Literal["self_confidence", "normalized_margin", "confidence_weighted_entropy"]
"""cleanlab's names of its label-quality scores."""


@dataclass(frozen=True)
class Cleanlab(OutOfSample):
    """Rows by 1 − cleanlab's label quality. For classes only; trusted items play no part.

    Flags rows for which another label is predicted, which is the fix.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], ["a", "b", "a", "b", "b", "b"]
    >>> problem = Problem(X, y, [[0.0]], ["a"])
    >>> Cleanlab(KernelLogistic(0.5, 0.01), folds=6).rank(problem).ranking[0]
    np.int64(1)
    """

    method: Method = "self_confidence"

    def require(self, problem: Problem) -> None:
        """Classes, a method that cleanlab knows, and cleanlab itself."""
        super().require(problem)
        if self.method not in get_args(Method):
            known = ", ".join(map(repr, get_args(Method)))
            raise ProblemError(f"method is {self.method!r}; use one of {known}.")
        _imported()

    def suspicion(self, problem: Problem, scores: Array) -> Array:
        """1 − cleanlab's label quality."""
        quality: Array = _imported().get_label_quality_scores(problem.y, softmax(scores), method=self.method)
        return 1 - quality


def _imported() -> Any:
    try:
        return importlib.import_module("cleanlab.rank")
    except ModuleNotFoundError as error:
        raise DutiError(
            f"Cleanlab needs the package {error.name}, which is not installed; "
            "install it with: pip install duti[cleanlab]"
        ) from error
