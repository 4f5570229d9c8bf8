"""What a reader of automatic findings should know."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from duti.arrays import Ints
from duti.automatic.candidates import CHOSEN_ON
from duti.learners import Learner
from duti.problem import Problem, listed
from duti.tune import median_distance


def note_on_unseen_labels(problem: Problem, suspicious: Ints) -> tuple[str, ...]:
    """Suspicious labels that no trusted item has: only the rows speak against them.

    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> note_on_unseen_labels(problem, np.array([1]))
    ("No trusted item has the label 'b', though rows with it are suspicious: check some of them first.",)
    """
    unseen = sorted(set(problem.y[suspicious].tolist()) - set(problem.y_trusted.tolist()))
    if not unseen:
        return ()
    shown = listed([repr(label) for label in problem.decode(np.array(unseen)).tolist()])
    return (
        f"No trusted item has the label {shown}, though rows with it are suspicious: "
        "check some of them first.",
    )


def note_on_far_rows(problem: Problem, learner: Learner, suspicious: Ints) -> tuple[str, ...]:
    """Suspicious rows that are farther from every trusted item than rows usually are from each other.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.2], [1.0], [1.1], [9.0]], ["a", "a", "a", "b", "b", "a"]
    >>> note_on_far_rows(Problem(X, y, [[1.0]], ["b"]), KernelLogistic(), np.array([0, 5]))
    ('No trusted item is near 1 of 2 suspicious rows: 5. Check some of them first.',)
    """
    if not isinstance(problem.X, np.ndarray) or not isinstance(problem.X_trusted, np.ndarray):
        return ()
    suspicious = suspicious[:CHOSEN_ON]
    some = problem.X[:: -(-problem.n // CHOSEN_ON)]
    scale = some.std(axis=0) if getattr(learner, "standardize", False) else np.ones(some.shape[1])
    scale = np.where(scale > 0, scale, np.inf)
    nearest = cdist(problem.X[suspicious] / scale, problem.X_trusted / scale).min(axis=1, initial=np.inf)
    far = suspicious[nearest > median_distance(learner, some)]
    if not len(far):
        return ()
    return (
        f"No trusted item is near {len(far)} of {len(suspicious)} suspicious rows: "
        f"{listed(problem.row_ids[far].tolist())}. Check some of them first.",
    )
