"""What was found: the ranking, the fixes, the path behind them, and what to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask, Targets
from duti.claims import BugCount, LearnerSummary, Power, Verdict
from duti.errors import ProblemError
from duti.learners import Learner
from duti.path import Status, Step
from duti.problem import Problem, listed
from duti.ranking import Tally


@dataclass(frozen=True, eq=False)
class Findings:
    """The outcome of debugging a training set; arrays are aligned with its n rows.

    >>> import duti
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"]
    >>> learner = duti.KernelLogistic(0.3, 0.01)
    >>> findings = duti.debug(X, y, [[0.1]], ["a"], learner=learner, budget=1, recipe="paper")
    >>> findings.flagged, findings.suggested_labels.tolist()
    (array([1]), ['a', 'a', 'b', 'b'])
    """

    ranking: Ints
    """All row positions, most suspicious first."""
    flagged: Ints
    """The flagged rows among them, at most `budget`, in rank order."""
    suggested_labels: Labels
    """The candidate where a label is to change, the given label elsewhere; the right one where verified."""
    candidate_labels: Labels
    """The best other label of every row, wrong or not; the given one where a detector has none."""
    label_quality: Array
    """In [0, 1], low = suspicious: by the automatic recipe the probability that the given label is right,
    by any other an order, not a probability. Of a verified row 1 or 0: it was right or wrong."""
    path: tuple[Step, ...]
    """The steps behind the ranking; none if it comes from a score."""
    status: Status
    """How the path ended, in a sentence."""
    notes: tuple[str, ...]
    """What is odd about the input or worth knowing about the run."""
    budget: int | None
    """How many rows were to be flagged at most; None without such a limit."""
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
    learners: tuple[LearnerSummary, ...] = ()
    """The learners whose predictions count, the weightiest first; none if a recipe does not weigh them."""
    systematic: float | None = None
    """The probability that bugs are systematic, given that there are any; None where there is no evidence of
    any, or a recipe does not tell."""
    expected_bugs: BugCount | None = None
    """How many labels are wrong; None if that cannot be told."""
    verdict: Verdict | None = None
    """Whether labels are wrong, and in what way; None if a recipe does not tell."""
    verdict_reason: str = ""
    """Why, in a sentence."""
    power: Power | None = None
    """What the trusted items could have seen."""

    def __repr__(self) -> str:
        found = self.status if self.verdict is None or self.status is Status.INTERRUPTED else self.verdict
        return f"<Findings: {len(self.flagged)} of {len(self.ranking)} rows flagged. {found}>"

    @property
    def probabilistic(self) -> bool:
        """Whether 1 − `label_quality` is the probability that a label is wrong, rather than a score."""
        return self.verdict is not None

    @property
    def fixed(self) -> Ints:
        """Rows whose label `corrected_labels()` changes, verified ones left aside, in rank order."""
        changed = np.asarray(self.suggested_labels != self.given_labels) & ~self.verified
        return self.ranking[changed[self.ranking]]

    def corrected_labels(self, top: int | None = None, at_least: float | None = None) -> Labels:
        """The labels with the suggested changes, and the verified labels in.

        `top` and `at_least` say otherwise: the candidates of the first `top` rows of the ranking, of the rows
        that are wrong with probability `at_least` or more, or of those that are both. Verified rows do not
        count. Findings without probabilities have candidates for flagged rows only, so `top` counts these.
        """
        if top is None and at_least is None:
            return self.suggested_labels.copy()
        rows = self._first(top)
        if at_least is not None:
            rows = rows[self.label_quality[rows] <= 1 - self._probability(at_least)]
        changed = self.verified.copy()
        changed[rows] = True
        # Candidates may be longer words than any label that was given: an assignment would cut them short.
        return np.where(changed, self.candidate_labels, self.given_labels)

    def _first(self, top: int | None) -> Ints:
        """The first rows of the ranking that may change."""
        rows = self.ranking[~self.verified[self.ranking]] if self.probabilistic else self.flagged
        whole = isinstance(top, int | np.integer) and not isinstance(top, bool)
        if not (top is None or (whole and 0 <= top <= len(rows))):
            why = "rows are not verified" if self.probabilistic else "rows are flagged"
            raise ProblemError(f"top is {top}, but {len(rows)} {why}; use 0 to {len(rows)}.")
        return rows[:top]

    def _probability(self, at_least: float) -> float:
        if not self.probabilistic:
            raise ProblemError(
                f"at_least is {at_least}, but these findings have scores, not probabilities; "
                f"use top, from 0 to {len(self.flagged)}, or debug with recipe='auto'."
            )
        if isinstance(at_least, bool) or not 0 <= at_least <= 1:
            raise ProblemError(f"at_least is {at_least}; give a probability from 0 to 1.")
        return float(at_least)

    def to_frame(self, library: str | None = None) -> Any:
        """A frame with one row for each training row, most suspicious first.

        Columns: row, rank (from 1), given_label, suggested_label, candidate_label, label_quality,
        first_step (null if never flagged), deviation. The frame is of the library that X came in, else pandas
        if it is installed, else a pyarrow table; `library` ("pandas", "polars", "pyarrow") says otherwise.
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
    candidates: Targets,
    flagged: Mask,
    *,
    changed: Mask | None = None,
    budget: int | None = None,
    learner: Learner | None = None,
    notes: tuple[str, ...] = (),
    **found: Any,
) -> Findings:
    """The findings of a detector that gives every row a score, the higher the more suspicious.

    Flagged rows come before the others, verified rows last. `candidates` are codes or values, as in
    `problem.y`, of all rows. A detector that says itself which labels are to be `changed` flags as many rows
    as it likes unless there is a budget; of any other the flagged ones are, and a tenth of the rows at most.
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
        candidates,
        changed=changed,
        number_flagged=int(flagged.sum()),
        budget=None if budget is None and changed is not None else problem.budget(budget),
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
    candidates: Targets,
    *,
    number_flagged: int,
    budget: int | None,
    notes: tuple[str, ...],
    changed: Mask | None = None,
    quality: Array | None = None,
    **found: Any,
) -> Findings:
    """What every detector's findings have in common."""
    flagged, n = ranking[:number_flagged][:budget], problem.n
    changed = np.isin(np.arange(n), flagged) if changed is None else changed
    # Of verified rows problem.y is the label that was verified.
    candidates = np.where(problem.frozen, problem.y, candidates)
    suggested = np.where(changed, candidates, problem.y)
    if quality is None:
        quality = np.empty(n)
        quality[ranking] = np.arange(n) / (n - 1)
    quality = np.where(problem.frozen, problem.y == problem.given_y, quality)
    return Findings(
        ranking=ranking,
        flagged=flagged,
        suggested_labels=_labels(problem, suggested),
        candidate_labels=_labels(problem, candidates),
        label_quality=quality,
        notes=(*problem.notes, *notes),
        budget=budget,
        given_labels=problem.given,
        verified=problem.frozen,
        row_ids=problem.row_ids,
        frame_library=problem.frame_library,
        **found,
    )


def _labels(problem: Problem, coded: Targets) -> Labels:
    """Codes as labels of the type of the given ones; words may be longer than those."""
    labels, given = problem.decode(coded), problem.given.dtype
    return labels if labels.dtype.kind == given.kind == "U" else labels.astype(given)
