"""The Harry Potter example from start to finish: `duti demo`.

The Ministry of Magic hires by education, but has discriminated against low magical heritage. Fifteen
students are known to be judged fairly: the two of the paper, and thirteen from anywhere.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from duti.arrays import Array, Ints, Labels
from duti.datasets import LabelledBugs, harry_potter
from duti.datasets.toys import fair
from duti.files import write_csv
from duti.learners import KernelLogistic
from duti.learners.model import train as trained
from duti.progress import Progress
from duti.runs.folder import Folder
from duti.runs.run import Outcome, perform
from duti.runs.settings import Settings

LEARNER = KernelLogistic(bandwidth=0.5, ridge=2e-3)
"""The authors' learner, to show what is learnt from the labels before and after."""
BUDGET, MORE_TRUSTED = 12, 13
"""Of 8, 13 and 18 more items the fewest with which seed 0 gets a verdict: an example, no measurement."""
LABEL, SHOWN = "decision", {-1: "not hired", 1: "hired"}
INK, BLUE, RED, GREY = "#1a1a2e", "#2f6fb0", "#c8102e", "#9aa0a6"


def debugged_students(out: Path, seed: int, progress: Progress = None) -> tuple[Outcome, str]:
    """Students as files, debugged like any other table; a picture; and what is known of the truth.

    >>> import tempfile
    >>> _, told = debugged_students(Path(tempfile.mkdtemp()), seed=0)
    >>> told.splitlines()[0]
    '11 of 12 flags are real bugs (there are 13).'
    """
    data = students(np.random.default_rng(seed))
    train, trusted = out / "students.csv", out / "fairly_judged.csv"
    out.mkdir(parents=True, exist_ok=True)
    for file, X, y in ((train, data.X, data.y), (trusted, data.X_trusted, data.y_trusted)):
        columns = dict(zip(data.columns, X.T, strict=True))
        write_csv(pa.table(columns | {LABEL: [SHOWN[label] for label in y]}), file)
    settings = Settings(train=train, trusted=trusted, label=LABEL, budget=BUDGET)
    outcome = perform(Folder(out), settings, overwrite=True, progress=progress)
    # Here all candidates of the rows that are to be looked at are accepted.
    fixed = np.where(outcome.findings.corrected_labels(top=BUDGET) == SHOWN[1], 1, -1)
    flagged = outcome.findings.flagged
    draw(data, flagged, fixed).savefig(out / "harry_potter.png", dpi=130)
    before, after = (_accuracy(data, labels) for labels in (data.y, fixed))
    return outcome, (
        f"{int(data.is_bug[flagged].sum())} of {len(flagged)} flags are real bugs "
        f"(there are {int(data.is_bug.sum())}).\n"
        f"Fair decisions by the learner: {before:.0%} with the given labels, {after:.0%} if somebody looks "
        f"at these {len(flagged)} rows and accepts their candidates."
    )


def students(rng: np.random.Generator) -> LabelledBugs:
    """Two items, as in the paper, rank rows well, but are too few for a verdict; here are some more."""
    data, X = harry_potter(rng), rng.uniform(size=(MORE_TRUSTED, 2))
    return replace(
        data,
        X_trusted=np.vstack([data.X_trusted, X]),
        y_trusted=np.concatenate([data.y_trusted, fair(X)]),
        given_trusted=None,
    )


def _accuracy(data: LabelledBugs, labels: Labels) -> float:
    """How often a learner trained on some labels decides fairly, over the whole square."""
    grid = _grid()
    fair = grid[:, 1] > 0.5
    return float(((_score(data, labels, grid) > 0) == fair).mean())


def _grid(size: int = 200) -> Array:
    ticks = np.linspace(0, 1, size)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def _score(data: LabelledBugs, labels: Labels, points: Array) -> Array:
    """Log-odds of being hired, by the learner trained on some labels."""
    scores = trained(LEARNER, data.X, (labels == 1).astype(int), k=2).scores(points)
    return np.asarray(scores[:, 1] - scores[:, 0])


def draw(data: LabelledBugs, flagged: Ints, fixed: Labels) -> Any:
    """Left: what the learner makes of the given labels. Right: flags, fixes and the repaired learner."""
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    before, after = figure.subplots(1, 2, sharex=True, sharey=True)
    _panel(before, data, data.y, "Training set, trusted items, and what is learnt")
    _panel(after, data, fixed, f"{len(flagged)} flagged rows and the repair")
    ring = [(*to_rgb(INK), alpha) for alpha in np.linspace(1.0, 0.3, len(flagged))]
    after.scatter(
        *data.X[flagged].T,
        s=150,
        facecolors="none",
        edgecolors=ring,
        linewidths=1.8,
        label="flagged (darker: more suspicious)",
    )
    before.set_ylabel("education")
    figure.legend(*after.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def _panel(axes: Any, data: LabelledBugs, labels: Labels, title: str) -> None:
    for value, marker in ((1, "P"), (-1, "o")):
        shown, trusted = data.y == value, data.y_trusted == value
        axes.scatter(*data.X[shown].T, c=BLUE, marker=marker, s=26, linewidths=0, label=SHOWN[value])
        axes.scatter(
            *data.X_trusted[trusted].T, c=RED, marker=marker, s=110, label=f"trusted: {SHOWN[value]}"
        )
    ticks = np.linspace(0, 1, 200)
    axes.axhline(0.5, color=GREY, linestyle="--", linewidth=1)
    axes.contour(
        ticks, ticks, _score(data, labels, _grid()).reshape(200, 200), [0.0], colors=INK, linewidths=2
    )
    axes.set(title=title, xlabel="magical heritage", xlim=(-0.06, 1.06), ylim=(-0.06, 1.06), aspect="equal")
    axes.spines[["top", "right"]].set_visible(False)
