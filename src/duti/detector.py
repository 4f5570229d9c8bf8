"""DUTI itself: one call from a training set and trusted items to findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from duti.arrays import Mask
from duti.automatic import Automatic
from duti.automatic.predictions import Kind, Prediction
from duti.encode import Layout
from duti.errors import LearnerError, ProblemError
from duti.findings import Findings, collect, note_on_satisfied
from duti.journal import FORGETFUL, Memory
from duti.learners import LEARNERS, Learner, default_learner
from duti.objective import Objective
from duti.path import Status, Step, default_solver, follow, gammas, last_gamma
from duti.problem import Problem, Task
from duti.progress import Progress, reporting
from duti.randomness import Seed
from duti.ranking import Tally
from duti.resources import foresee, limited_threads
from duti.solvers import PreparedSolver, Solution, Solver
from duti.solvers.bilevel import Point, Trusted
from duti.solvers.prox_linear import ProxLinear
from duti.solvers.remembered import Remembered
from duti.tune import tune

RECIPES = ("auto", "paper")
STAGES = (Prediction, Kind, Solution, Point, Trusted, Step, Status, *LEARNERS.values())
"""What the stages of either recipe are made of, for a journal."""


_INSTEAD = {
    "systematic": "the paper's recipe takes all bugs as systematic",
    "models": "the paper's recipe has one learner",
    "pred_probs": "the paper's recipe trains a learner of its own",
    "pred_probs_trusted": "the paper's recipe trains a learner of its own",
    "classes": "the paper's recipe takes the labels as they are",
}
"""Why the paper's recipe has no use for an argument."""
_MODELS: dict[Task, tuple[str, tuple[str, ...]]] = {
    "classification": ("classifier", ("fit", "predict_proba")),
    "regression": ("regressor", ("fit", "predict")),
}


class Detector(Protocol):
    """Anything that ranks the rows of a problem from most to least suspicious."""

    def rank(self, problem: Problem) -> Findings:
        """The findings for a problem."""
        ...


@dataclass(frozen=True)
class Duti:
    """Algorithm 1 of the paper, as a detector.

    >>> import duti
    >>> problem = duti.Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1]], ["a"])
    >>> Duti(learner=duti.KernelLogistic(0.3, 0.01), budget=1).rank(problem).flagged
    array([1])
    """

    learner: Learner | None = None
    budget: int | None = None
    solver: Solver | None = None
    random_state: Seed = None
    progress: Progress = None
    threads: int | None = None
    memory: Memory = field(default=FORGETFUL, repr=False)
    """Remembers the tuned learner and the prox-linear steps, if it is a journal."""

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner, follow the path, rank the rows.

        Ctrl-C along the path returns the steps done so far.
        """
        budget = problem.budget(self.budget)
        learner = default_learner(problem.task) if self.learner is None else self.learner
        with limited_threads(self.threads), reporting(self.progress) as report:
            foresee(problem, learner, report)
            y, k = problem.y, problem.k
            learner = self.memory.recalled(
                "tuned learner", lambda: tune(learner, problem.X, y, k, self.random_state, report).best
            )
            objective = Objective(problem, learner, self.random_state)
            solver = self._prepared(objective)
            start = solver.start()
            last = last_gamma(problem, start)
            tally = Tally(objective.relabelling, start)
            expected = len(list(gammas(tally.gamma_max, last)))
            try:
                for solution in follow(problem, objective.relabelling, solver, start, budget):
                    tally.add(solution)
                    report("following the path", len(tally.steps), expected)
                status = _status(tally, budget)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        notes = note_on_satisfied(problem, _satisfied(objective, noise=last / 2))
        return collect(problem, learner, tally, budget=budget, status=status, notes=notes)

    def _prepared(self, objective: Objective) -> PreparedSolver:
        solver = self.solver or default_solver(objective.problem)
        if isinstance(solver, ProxLinear) and self.memory is not FORGETFUL:
            return Remembered(solver, objective, self.memory)
        return solver.prepare(objective)


def debug(
    X: Any,
    y: Any,
    X_trusted: Any = None,
    y_trusted: Any = None,
    *,
    learner: Learner | None = None,
    confidence: Any = None,
    budget: int | None = None,
    verified: Mapping[Any, Any] | None = None,
    verified_at_random: bool = False,
    task: Task | None = None,
    classes: Any = None,
    layout: Layout | None = None,
    recipe: str = "auto",
    models: Sequence[Any] | None = None,
    pred_probs: Any = None,
    pred_probs_trusted: Any = None,
    systematic: float | None = None,
    random_state: Seed = None,
    progress: Progress = None,
    threads: int | None = None,
) -> Findings:
    """Find the rows of a training set whose labels look wrong, and what they should be.

    X, y: the training set (arrays, lists, pandas, polars or Arrow frames, sparse matrices). A frame with
    text, categories, dates or missing values is encoded; `layout` says what its columns are, where they do
    not say so themselves, and the notes of the findings say what was done.
    X_trusted, y_trusted: items whose labels are known to be right. `verified={row: label}`: rows of X that
    were checked; if they were drawn at random, `verified_at_random=True` lets them tell how many are wrong.
    `confidence` c ≥ 0 weighs all of these: one number, or one each.
    `classes`: all labels there are, if one that only trusted items have looks like a typing error of another.
    `recipe`: "auto" asks many learners, none tuned on labels that may be wrong, and `label_quality` is
    a probability; "paper" is Algorithm 1 as published, with one learner tuned by 10-fold cross-validation.

    | | "auto" | "paper" |
    |---|---|---|
    | `budget` None | flags all rows that are more probably wrong than right | n // 10 |
    | `budget` | at most so many rows to look at | the path ends where more rows are flagged |
    | `confidence` None | 1, in regression 10 | 100 |
    | `learner` | instead of the kernel learner and the forest; what it leaves open is filled in | is tuned |

    For "auto" alone: `models`, scikit-learn classifiers (or regressors) to ask instead of a forest;
    `pred_probs` (n × k) and `pred_probs_trusted` (m × k), your own probabilities from models that were not
    trained on what they predict, in the order of `classes`, else of the sorted labels (n and m values in
    regression); with them X may be None. `systematic`: the probability that bugs of a classification are
    systematic, estimated if None.
    `progress=True` shows a bar on a terminal and, before long work, what time and memory it will take.
    `threads`: how many threads products of matrices may use; as many as the libraries like if None.

    >>> import duti, numpy as np
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y, truth = (np.where(X[:, 0] < limit, "no", "yes") for limit in (0.3, 0.5))
    >>> findings = debug(X, y, X[1::3] - 0.001, truth[1::3], learner=duti.KernelLogistic(0.3, 0.01))
    >>> len(findings.flagged), findings.suggested_labels[20]
    (10, np.str_('no'))
    """
    if not (learner is None or isinstance(learner, Learner)):
        raise LearnerError(f"learner is {learner!r}; use one such as duti.KernelLogistic() or duti.Ridge().")
    if learner is not None and task is not None and learner.task != task:
        raise LearnerError(
            f"{type(learner).__name__} is for {learner.task}, but task is {task!r}; drop one of them."
        )
    own: dict[str, Any] = {
        "classes": classes,
        "pred_probs": pred_probs,
        "pred_probs_trusted": pred_probs_trusted,
    }
    refuse_for_paper(recipe, models=models, systematic=systematic, **own)
    problem = Problem(
        X,
        y,
        X_trusted,
        y_trusted,
        confidence=confidence,
        verified=verified,
        verified_at_random=verified_at_random,
        task=learner.task if learner is not None else task,
        layout=layout,
        **own,
    )
    refuse_systematic(systematic, problem.task)
    detector = detector_of(
        recipe,
        learner=learner_for(problem, learner),
        budget=budget,
        systematic=systematic,
        models=checked_models(models, problem.task),
        random_state=random_state,
        progress=progress,
        threads=threads,
    )
    return detector.rank(problem)


def learner_for(problem: Problem, learner: Learner | None) -> Learner | None:
    """The given learner; if none is given and X holds encoded text, which is sparse, the linear one."""
    if learner is not None or problem.encoder is None or not issparse(problem.X):
        return learner
    return default_learner(problem.task, sparse=True)


def refuse_for_paper(recipe: str, **given: Any) -> None:
    """Refuse what only the automatic recipe can use, and recipes that do not exist."""
    if recipe not in RECIPES:
        raise ProblemError(f"recipe is {recipe!r}; use one of {', '.join(map(repr, RECIPES))}.")
    for name, value in given.items():
        if recipe == "paper" and value is not None:
            raise ProblemError(f"{name} is for recipe='auto'; {_INSTEAD[name]}: leave it out.")


def refuse_systematic(systematic: float | None, task: Task) -> None:
    """Classes are confused or flipped; of wrong values there are not these two kinds."""
    if systematic is not None and task == "regression":
        raise ProblemError(f"systematic is for classification, but the task is {task}; leave it out.")


def checked_models(models: Sequence[Any] | None, task: Task) -> tuple[Any, ...] | None:
    """The models as given, if they are instances that can do what the task needs."""
    if models is None:
        return None
    if not isinstance(models, Sequence) or isinstance(models, str):
        raise LearnerError(f"models is {models!r}; give a list of scikit-learn {_MODELS[task][0]}s.")
    for place, model in enumerate(models):
        _require_abilities(model, f"models[{place}]", task)
    return tuple(models)


def _require_abilities(model: Any, name: str, task: Task) -> None:
    kind, abilities = _MODELS[task]
    if isinstance(model, type):
        raise LearnerError(f"{name} is the class {model.__name__}; give an instance, {model.__name__}().")
    lacking = [ability for ability in abilities if not callable(getattr(model, ability, None))]
    if lacking:
        raise LearnerError(
            f"{name} is {model!r}, which has no {lacking[0]}; give a scikit-learn {kind} with it."
        )
    if task == "regression" and hasattr(model, "predict_proba"):
        raise LearnerError(f"{name} is {model!r}, a classifier, but the task is {task}; give a regressor.")


def detector_of(
    recipe: str, *, systematic: float | None = None, models: tuple[Any, ...] | None = None, **options: Any
) -> Detector:
    """The detector of a recipe.

    >>> detector_of("paper", budget=3)
    Duti(learner=None, budget=3, solver=None, random_state=None, progress=None, threads=None)
    """
    refuse_for_paper(recipe, systematic=systematic, models=models)
    return (
        Duti(**options) if recipe == "paper" else Automatic(systematic=systematic, models=models, **options)
    )


def _status(tally: Tally, budget: int) -> Status:
    if not tally.steps:
        return Status.NOTHING_TO_FIX
    if any(step.status is Status.NOT_CONVERGED for step in tally.steps):
        return Status.NOT_CONVERGED
    return Status.BUDGET_REACHED if tally.flagged > budget else Status.CONVERGED


def _satisfied(objective: Objective, noise: float) -> Mask:
    """Trusted items that the learner agrees with before anything is changed."""
    scores, labels = objective.trusted_scores(objective.given_fit.theta), objective.problem.y_trusted
    return np.asarray(abs(scores - labels) <= noise if scores.ndim == 1 else scores.argmax(axis=1) == labels)
