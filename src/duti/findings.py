"""What was found: the ranking, the fixes, the path behind them, and what to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask, Targets
from duti.errors import ProblemError
from duti.learners import Learner
from duti.opinions import BugCount, Opinion
from duti.path import Status, Step
from duti.problem import Problem, listed
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
    """In [0, 1], low = suspicious: by the automatic recipe the probability that the given label is right,
    by any other an order, not a probability."""
    path: tuple[Step, ...]
    """The steps behind the ranking; none if it comes from a score."""
    status: Status
    """How the path ended, in a sentence."""
    notes: tuple[str, ...]
    """What is odd about the input or worth knowing about the run."""
    budget: int
    gamma_max: float
    """γ⁽⁰⁾: the price of a change at and above which no label changes; 0 without a path."""
    learner: Learner | None
    """The learner as used, tuned hyperparameters included; None if a detector has none."""
    given_labels: Labels
    verified: Mask
    """Rows whose label was verified; they are ranked last."""
    first_step: Ints
    """The step that first flagged a row, counted from 1; 0 if none did."""
    deviation: Array
    """How far δ moved the row at that step; or the score of a detector without a path."""
    row_ids: Labels
    """The frame's own index if there was one, else positions."""
    frame_library: str | None
    """The library of the frame that X was; `to_frame` answers in kind."""
    opinions: tuple[Opinion, ...] = ()
    """What the automatic recipe heard, the weightiest learner first."""
    systematic: float | None = None
    """The probability that the bugs are systematic; None if a recipe does not tell."""
    expected_bugs: BugCount | None = None
    """How many labels are wrong; None if that cannot be told."""

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
    return _findings(
        problem,
        tally.ranking(),
        tally.fixes,
        number_flagged=tally.flagged,
        budget=budget,
        notes=notes,
        path=tuple(tally.steps),
        status=status,
        gamma_max=tally.gamma_max,
        learner=learner,
        first_step=tally.first_step,
        deviation=tally.deviation,
    )


def scored(
    problem: Problem,
    score: Array,
    fixes: Targets,
    flagged: Mask,
    *,
    budget: int | None = None,
    learner: Learner | None = None,
    notes: tuple[str, ...] = (),
    **found: Any,
) -> Findings:
    """The findings of a detector that gives every row a score, the higher the more suspicious.

    Flagged rows come before the others, verified rows last; `fixes` are codes or values, as in `problem.y`.
    What else was found goes into the fields of `Findings` by name, `quality` into `label_quality`.

    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> found = scored(
    ...     problem, np.array([0.1, 0.9, 0.2]), np.array([0, 0, 1]), np.array([False, True, False])
    ... )
    >>> found.ranking, found.suggested_labels.tolist()
    (array([1, 2, 0]), ['a', 'a', 'b'])
    """
    flagged = flagged & ~problem.frozen
    return _findings(
        problem,
        np.lexsort((-score, ~flagged, problem.frozen)),
        fixes,
        number_flagged=int(flagged.sum()),
        budget=problem.budget(budget),
        notes=notes,
        gamma_max=0.0,
        learner=learner,
        first_step=flagged.astype(np.int64),
        deviation=np.asarray(score, dtype=np.float64),
        **{"path": (), "status": Status.SCORED} | found,
    )


def note_on_satisfied(problem: Problem, agrees: Mask) -> tuple[str, ...]:
    """Trusted items that a learner agrees with before anything is changed: they reveal nothing.

    >>> problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.1], [0.2], [0.3]], ["a", "a", "b"])
    >>> note_on_satisfied(problem, np.array([True, False, True]))
    ('2 of 3 trusted items reveal little: a learner of the labels as given agrees with 0, 2.',)
    """
    if not agrees.any():
        return ()
    names = [name for name, one in zip(problem.item_names, agrees, strict=True) if one]
    return (
        f"{len(names)} of {len(agrees)} trusted items reveal little: a learner of the labels as given "
        f"agrees with {listed(names)}.",
    )


def _findings(
    problem: Problem,
    ranking: Ints,
    fixes: Targets,
    *,
    number_flagged: int,
    budget: int,
    notes: tuple[str, ...],
    quality: Array | None = None,
    **found: Any,
) -> Findings:
    """What every detector's findings have in common."""
    flagged, n = ranking[: min(number_flagged, budget)], problem.n
    suggested = problem.decode(problem.y).astype(problem.given.dtype)
    suggested[flagged] = problem.decode(fixes[flagged])
    if quality is None:
        quality = np.empty(n)
        quality[ranking] = np.arange(n) / (n - 1)
    quality = np.where(problem.frozen, 1.0, quality)
    return Findings(
        ranking=ranking,
        flagged=flagged,
        suggested_labels=suggested,
        label_quality=quality,
        notes=(*problem.notes, *notes),
        budget=budget,
        given_labels=problem.given,
        verified=problem.frozen,
        row_ids=problem.row_ids,
        frame_library=problem.frame_library,
        **found,
    )
