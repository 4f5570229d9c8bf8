"""Find and fix wrong labels in a training set, with the help of a few items you trust.

>>> import duti, numpy as np
>>> X = np.linspace(0, 1, 60)[:, None]
>>> y, truth = (np.where(X[:, 0] < limit, "no", "yes") for limit in (0.3, 0.5))
>>> findings = duti.debug(X, y, X_trusted=X[1::3] - 0.001, y_trusted=truth[1::3], random_state=0)
>>> print(findings.verdict)
Labels are wrong systematically: a group, a region or a class is labelled wrongly.
>>> wrong = [int((labels != truth).sum()) for labels in (y, findings.corrected_labels())]
>>> wrong[0], wrong[1] < wrong[0] / 2
(12, True)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duti.automatic import Automatic as Automatic
    from duti.claims import LearnerSummary as LearnerSummary
    from duti.claims import Power as Power
    from duti.claims import Verdict as Verdict
    from duti.detector import Detector as Detector
    from duti.detector import Duti as Duti
    from duti.detector import debug as debug
    from duti.encode import Layout as Layout
    from duti.errors import DutiError as DutiError
    from duti.errors import LearnerError as LearnerError
    from duti.errors import ProblemError as ProblemError
    from duti.errors import ResourceError as ResourceError
    from duti.estimators import DUTIClassifier as DUTIClassifier
    from duti.estimators import DUTIRegressor as DUTIRegressor
    from duti.findings import Findings as Findings
    from duti.findings import load as load
    from duti.learners import KernelLogistic as KernelLogistic
    from duti.learners import KernelRidge as KernelRidge
    from duti.learners import Learner as Learner
    from duti.learners import Logistic as Logistic
    from duti.learners import Ridge as Ridge
    from duti.objective import Objective as Objective
    from duti.path import Status as Status
    from duti.path import Step as Step
    from duti.problem import Problem as Problem

__version__ = "0.1.0"

# Names are imported when first used, so that `import duti` stays light.
_HOME = {
    "Automatic": "automatic",
    "DUTIClassifier": "estimators",
    "DUTIRegressor": "estimators",
    "Detector": "detector",
    "Duti": "detector",
    "DutiError": "errors",
    "Findings": "findings",
    "KernelLogistic": "learners",
    "KernelRidge": "learners",
    "Layout": "encode",
    "Learner": "learners",
    "LearnerError": "errors",
    "LearnerSummary": "claims",
    "Logistic": "learners",
    "Objective": "objective",
    "Power": "claims",
    "Problem": "problem",
    "ProblemError": "errors",
    "ResourceError": "errors",
    "Ridge": "learners",
    "Status": "path",
    "Step": "path",
    "Verdict": "claims",
    "debug": "detector",
    "load": "findings",
}

__all__ = [
    "Automatic",
    "DUTIClassifier",
    "DUTIRegressor",
    "Detector",
    "Duti",
    "DutiError",
    "Findings",
    "KernelLogistic",
    "KernelRidge",
    "Layout",
    "Learner",
    "LearnerError",
    "LearnerSummary",
    "Logistic",
    "Objective",
    "Power",
    "Problem",
    "ProblemError",
    "ResourceError",
    "Ridge",
    "Status",
    "Step",
    "Verdict",
    "debug",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'duti' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"duti.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
