"""scikit-learn estimators that debug their training labels before they learn from them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from duti import encode
from duti.arrays import Array, Ints, Labels, Matrix, Targets
from duti.detector import detector_of, learner_for
from duti.errors import LearnerError, ProblemError
from duti.findings import Findings
from duti.learners import LEARNERS, Learner, Logistic, Ridge, default_learner
from duti.learners.losses import softmax
from duti.learners.model import Model, train
from duti.path import Status
from duti.problem import Problem, Task
from duti.randomness import Seed
from duti.tune import tune

_LINEAR = Logistic | Ridge
_ROWS = {"accept_sparse": "csr", "dtype": np.float64}


class _DebuggedLearner(BaseEstimator):
    """What both estimators share: debug, correct, train; then score new rows."""

    _task: ClassVar[Task]

    findings_: Findings | None
    learner_: Learner
    model_: Model
    encoder_: encode.Encoder | None

    def __init__(
        self,
        *,
        learner: Learner | None = None,
        budget: int | None = None,
        recipe: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.learner = learner
        self.budget = budget
        self.recipe = recipe
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, X_trusted: Any = None, y_trusted: Any = None, confidence: Any = None
    ) -> Self:
        """Debug the labels with the trusted items, if there are any, and train on the corrected ones."""
        encoder, rows, labels = self._read(X, y)
        learner = self._checked_learner(encoded_text=encoder is not None and issparse(rows))
        rows = _matrix(rows, learner)
        findings: Findings | None = None
        if X_trusted is None and y_trusted is None and confidence is None:
            self._learn_classes(labels)
            learner = tune(learner, rows, *self._encoded(labels), self.random_state).best
        else:
            # X and y as they came: findings call the rows by the index of the frame.
            problem = Problem(X, y, X_trusted, y_trusted, confidence=confidence, task=self._task)
            self._learn_classes(labels, problem.classes)
            findings = self._debugged(problem)
            if findings.status is Status.INTERRUPTED:
                raise KeyboardInterrupt  # half a repair is no model, and a grid search must stop too
            learner, labels = findings.learner or learner, findings.corrected_labels()
        self.model_ = train(learner, rows, *self._encoded(labels), self.random_state)
        self.findings_, self.learner_, self.encoder_ = findings, learner, encoder
        return self

    def _debugged(self, problem: Problem) -> Findings:
        """What `duti.debug` finds: a learner that is not given is not given to it either."""
        learner = learner_for(problem, self.learner)
        detector = detector_of(
            self.recipe, learner=learner, budget=self.budget, random_state=self.random_state
        )
        return detector.rank(problem)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.learner, _LINEAR)
        return tags

    def _read(self, X: Any, y: Any) -> tuple[encode.Encoder | None, Any, Labels]:
        """The training rows and labels, and how a frame of more than numbers became rows."""
        if encode.is_plain(X, "X"):
            rows, labels = validate_data(self, X, y, **_ROWS)
            return None, rows, encode.vector(labels, "y")[0]
        encoder, rows = encode.Encoder.fit_transform(X)
        validate_data(self, X, skip_check_array=True)  # remembers the names of the columns
        labels, _ = encode.vector(y, "y")
        if len(labels) != rows.shape[0]:
            raise ProblemError(
                f"X has {rows.shape[0]} rows but y has {len(labels)}; drop or align the extra rows."
            )
        return encoder, rows, labels

    def _checked_learner(self, *, encoded_text: bool) -> Learner:
        learner = default_learner(self._task, sparse=encoded_text) if self.learner is None else self.learner
        if isinstance(learner, type) or getattr(learner, "task", None) != self._task:
            fitting = [f"duti.{name}()" for name, kind in LEARNERS.items() if kind.task == self._task]
            raise LearnerError(
                f"learner is {learner!r}, but {type(self).__name__} needs one for {self._task}; "
                f"use {' or '.join(fitting)}."
            )
        return learner

    def _learn_classes(self, labels: Labels, known: Labels | None = None) -> None:
        """Nothing, unless the labels are classes; `known` are those of rows and trusted items."""

    def _encoded(self, labels: Labels) -> tuple[Targets, int]:
        """What a learner is trained on, and the number of classes (0 in regression)."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Array:
        """What the repaired model says of new rows."""
        check_is_fitted(self)
        if self.encoder_ is None:
            rows = validate_data(self, X, reset=False, **_ROWS)
        else:
            rows = self.encoder_.transform(X, "X")
        return self.model_.scores(_matrix(rows, self.learner_))


class DUTIClassifier(ClassifierMixin, _DebuggedLearner):
    """A classifier that repairs its training labels with a few trusted items, then learns from them.

    `fit(X, y, X_trusted, y_trusted, confidence)` debugs y as `duti.debug` does, with the same
    defaults for `learner`, `budget`, `recipe` and `random_state`, and trains on the corrected labels; without
    trusted items it is the learner alone. A sparse X needs a linear learner, `duti.Logistic`.

    Fitted: `findings_` (None without trusted items), `learner_` (tuned), `model_`, `classes_`,
    `encoder_` (of a frame of more than numbers), `n_features_in_`, and `feature_names_in_` if X has names.

    >>> import duti, numpy as np
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y, truth = (np.where(X[:, 0] < limit, "no", "yes") for limit in (0.3, 0.5))
    >>> classifier = DUTIClassifier(learner=duti.KernelLogistic(bandwidth=0.3, ridge=0.01))
    >>> classifier.fit(X, y).predict([[0.4]])
    array(['yes'], dtype='<U3')
    >>> classifier.fit(X, y, X_trusted=X[1::3] - 0.001, y_trusted=truth[1::3]).predict([[0.4]])
    array(['no'], dtype='<U3')
    """

    _task = "classification"

    classes_: Labels

    def predict(self, X: Any) -> Labels:
        """The most probable label of each row."""
        best: Ints = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`."""
        return softmax(self._scores(X))

    def decision_function(self, X: Any) -> Array:
        """One score for each class; for two classes, how far the second is ahead: its log-odds."""
        scores = self._scores(X)
        return scores if scores.shape[1] > 2 else scores[:, 1] - scores[:, 0]

    def _learn_classes(self, labels: Labels, known: Labels | None = None) -> None:
        check_classification_targets(labels)
        self.classes_ = encode.sorted_classes(labels, "y")
        if known is not None and len(known) > len(self.classes_):  # some label only trusted items have
            self.classes_ = known
        if len(self.classes_) < 2:
            raise ProblemError(f"y holds one class only ({self.classes_[0]!r}); at least two are needed.")

    def _encoded(self, labels: Labels) -> tuple[Targets, int]:
        return encode.codes(labels, self.classes_, lambda row: f"y row {row}"), len(self.classes_)


class DUTIRegressor(RegressorMixin, _DebuggedLearner):
    """A regressor that repairs its training labels with a few trusted items, then learns from them.

    `fit(X, y, X_trusted, y_trusted, confidence)` debugs y as `duti.debug` does, with the same
    defaults for `learner`, `budget`, `recipe` and `random_state`, and trains on the corrected labels; without
    trusted items it is the learner alone. A sparse X needs a linear learner, `duti.Ridge`.

    Fitted: `findings_` (None without trusted items), `learner_` (tuned), `model_`,
    `encoder_` (of a frame of more than numbers), `n_features_in_`, and `feature_names_in_` if X has names.

    >>> import duti, numpy as np
    >>> X = np.linspace(0, 10, 80)[:, None]
    >>> truth = 2 * X[:, 0] + 0.1 * np.sin(40 * X[:, 0])
    >>> y = np.where(abs(X[:, 0] - 7) < 0.6, truth - 8, truth)
    >>> regressor = DUTIRegressor(learner=duti.Ridge(ridge=1e-3))
    >>> regressor.fit(X, y).predict([[10.0]]).round()
    array([18.])
    >>> regressor.fit(X, y, X_trusted=X[1::4] + 0.01, y_trusted=truth[1::4]).predict([[10.0]]).round()
    array([20.])
    """

    _task = "regression"

    def predict(self, X: Any) -> Array:
        """The predicted value of each row."""
        return self._scores(X)

    def _encoded(self, labels: Labels) -> tuple[Targets, int]:
        return encode.real_labels(labels, "y"), 0


def _matrix(rows: Any, learner: Learner) -> Matrix:
    """Validated rows as a learner takes them."""
    if not issparse(rows):
        return np.asarray(rows)
    if not isinstance(learner, _LINEAR):
        raise LearnerError(
            f"X is sparse, which {type(learner).__name__} cannot use; "
            "use duti.Logistic or duti.Ridge, or make X dense with X.toarray()."
        )
    return csr_array(rows)
