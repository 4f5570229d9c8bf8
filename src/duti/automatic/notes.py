"""What a reader of automatic findings should know."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from duti.arrays import Ints
from duti.automatic.mixture import Mixture
from duti.learners import Learner
from duti.problem import Problem, listed
from duti.tune import median_distance

PROBABLE = 0.5
"""A note says that bugs look systematic from this probability on."""
COMPARED = 1000
"""So many rows are enough to say how far apart they are."""


def note_on_kind(mixture: Mixture) -> tuple[str, ...]:
    """Whether bugs look systematic, and what to do if that is wrong."""
    if mixture.systematic <= PROBABLE:
        return ()
    return (
        f"The bugs look systematic (probability {mixture.systematic:.2f}): trusted items contradict a "
        "learner that fits the rows well, or rows fit too well for random bugs. If trusted items are known "
        "to be unlike the rows, set systematic to 0.",
    )


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
    suspicious = suspicious[:COMPARED]
    some = problem.X[:: -(-problem.n // COMPARED)]
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
