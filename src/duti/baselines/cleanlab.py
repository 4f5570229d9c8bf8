"""The scores of the cleanlab package, which is optional, on duti's own out-of-sample probabilities."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

from duti.arrays import Array
from duti.baselines.fitted import disagreements, tuned
from duti.baselines.out_of_sample import FOLDS, held_out_scores, require_classes
from duti.errors import DutiError, ProblemError
from duti.findings import Findings
from duti.learners import Learner
from duti.learners.losses import softmax
from duti.problem import Problem
from duti.randomness import Seed

Method = Literal["self_confidence", "normalized_margin", "confidence_weighted_entropy"]
"""cleanlab's names of its label-quality scores."""


@dataclass(frozen=True)
class Cleanlab:
    """Rows by 1 − cleanlab's label quality. For classes only; trusted items play no part.

    Flags rows for which another label is predicted, which is the fix.

    >>> Cleanlab(method="normalized_margin").method
    'normalized_margin'
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None
    folds: int = FOLDS
    method: Method = "self_confidence"

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner once, train it once for each fold, and ask cleanlab."""
        require_classes(problem, self)
        if self.method not in get_args(Method):
            known = ", ".join(map(repr, get_args(Method)))
            raise ProblemError(f"method is {self.method!r}; use one of {known}.")
        cleanlab_rank = _imported()
        learner = tuned(problem, self.learner, self.random_state)
        scores = held_out_scores(problem, learner, self.folds, self.random_state)
        quality: Array = cleanlab_rank.get_label_quality_scores(
            problem.y, softmax(scores), method=self.method
        )
        return disagreements(problem, scores, 1 - quality, budget=self.budget, learner=learner)


def _imported() -> Any:
    try:
        return importlib.import_module("cleanlab.rank")
    except ModuleNotFoundError as error:
        raise DutiError(
            f"Cleanlab needs the package {error.name}, which is not installed; "
            "install it with: pip install duti[cleanlab]"
        ) from error
