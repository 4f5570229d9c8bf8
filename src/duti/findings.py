"""What was found: the ranking, the fixes, the path behind them, and what to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask
from duti.errors import ProblemError
from duti.learners import Learner
from duti.path import Status, Step
from duti.problem import Problem
from duti.ranking import Tally


@dataclass(frozen=True, eq=False)
class Findings:
    """The outcome of debugging a training set; arrays are aligned with its n rows.

    >>> import duti
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"]
    >>> findings = duti.debug(X, y, [[0.1]], ["a"], learner=duti.KernelLogistic(0.3, 0.01), budget=1)
    >>> findings.flagged, findings.suggested_labels.tolist()
    (array([1]), ['a', 'a', 'b', 'b'])
    """

    ranking: Ints
    """All row positions, most suspicious first."""
    flagged: Ints
    """The flagged rows among them, at most `budget`, in rank order."""
    suggested_labels: Labels
    """The fix where flagged, the given label elsewhere."""
    label_quality: Array
    """In [0, 1], low = suspicious; by the paper's recipe an order, not a probability."""
    path: tuple[Step, ...]
    """The steps behind the ranking."""
    status: Status
    """How the path ended, in a sentence."""
    notes: tuple[str, ...]
    """What is odd about the input or worth knowing about the run."""
    budget: int
    gamma_max: float
    """γ⁽⁰⁾: the price of a change at and above which no label changes."""
    learner: Learner
    """The learner as used, tuned hyperparameters included."""
    given_labels: Labels
    verified: Mask
    """Rows whose label was verified; they are ranked last."""
    first_step: Ints
    """The step that first flagged a row, counted from 1; 0 if none did."""
    deviation: Array
    """How far δ moved the row at that step."""
    row_ids: Labels
    """The frame's own index if there was one, else positions."""
    frame_library: str | None
    """The library of the frame that X was; `to_frame` answers in kind."""

    def __repr__(self) -> str:
        return f"<Findings: {len(self.flagged)} of {len(self.ranking)} rows flagged. {self.status}>"

    def corrected_labels(self, top: int | None = None) -> Labels:
        """The labels with the first `top` fixes applied (all if None), and the verified ones in."""
        if not (top is None or (isinstance(top, int | np.integer) and 0 <= top <= len(self.flagged))):
            raise ProblemError(
                f"top is {top}, but {len(self.flagged)} rows are flagged; use 0 to {len(self.flagged)}."
            )
        rows = np.concatenate([self.flagged[:top], np.flatnonzero(self.verified)])
        labels = self.given_labels.copy()
        labels[rows] = self.suggested_labels[rows]
        return labels

    def to_frame(self, library: str | None = None) -> Any:
        """A frame with one row for each training row, most suspicious first.

        Columns: row, rank (from 1), given_label, suggested_label, label_quality, first_step (null
        if never flagged), deviation. The frame is of the library that X came in, else pandas if it
        is installed, else a pyarrow table; `library` ("pandas", "polars", "pyarrow") says otherwise.
        """
        from duti.storage import to_frame

        return to_frame(self, library)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, without pickle; `duti.load` reads it back."""
        from duti.storage import save

        save(self, path)


def load(path: str | PathLike[str]) -> Findings:
    """Read findings that `Findings.save` wrote.

    >>> import duti, tempfile, pathlib
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"]
    >>> findings = duti.debug(X, y, [[0.1]], ["a"], learner=duti.KernelLogistic(0.3, 0.01))
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "findings.duti"
    >>> findings.save(file)
    >>> duti.load(file).ranking.tolist() == findings.ranking.tolist()
    True
    """
    from duti.storage import read

    return read(path, Findings)


def collect(
    problem: Problem, learner: Learner, tally: Tally, *, budget: int, status: Status, notes: tuple[str, ...]
) -> Findings:
    """The findings of a path."""
    ranking, n = tally.ranking(), problem.n
    flagged = ranking[: min(tally.flagged, budget)]
    suggested = problem.decode(problem.y).astype(problem.given.dtype)
    suggested[flagged] = problem.decode(tally.fixes[flagged])
    quality = np.empty(n)
    quality[ranking] = np.arange(n) / (n - 1)
    quality[problem.frozen] = 1.0
    return Findings(
        ranking=ranking,
        flagged=flagged,
        suggested_labels=suggested,
        label_quality=quality,
        path=tuple(tally.steps),
        status=status,
        notes=(*problem.notes, *notes),
        budget=budget,
        gamma_max=tally.gamma_max,
        learner=learner,
        given_labels=problem.given,
        verified=problem.frozen,
        first_step=tally.first_step,
        deviation=tally.deviation,
        row_ids=problem.row_ids,
        frame_library=problem.frame_library,
    )
