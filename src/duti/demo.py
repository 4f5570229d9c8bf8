"""The Harry Potter example from start to finish: `python -m duti.demo`.

The Ministry of Magic hires by education, but has discriminated against low magical heritage. Two
students, one hired and one not, are known to be judged fairly.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from duti.arrays import Array, Labels
from duti.datasets import LabelledBugs, harry_potter
from duti.detector import debug
from duti.findings import Findings
from duti.learners import KernelLogistic
from duti.learners.model import train
from duti.metrics import average_precision

LEARNER = KernelLogistic(bandwidth=0.5, ridge=2e-3)
"""The authors' learner, to show what is learnt from the labels before and after."""
BUDGET = 12
SHOWN = {-1: "not hired", 1: "hired"}
INK, BLUE, RED, GREY = "#1a1a2e", "#2f6fb0", "#c8102e", "#9aa0a6"


def main() -> None:
    """Debug the example, print a table, draw a picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    parser.add_argument("--seed", type=int, default=0, help="seed of the students' data")
    options = parser.parse_args()
    data = harry_potter(np.random.default_rng(options.seed))
    findings = debug(data.X, data.y, data.X_trusted, data.y_trusted, budget=BUDGET, progress=True)
    _print(data, findings)
    options.out.mkdir(parents=True, exist_ok=True)
    picture = options.out / "harry_potter.png"
    draw(data, findings).savefig(picture, dpi=130)
    print(f"Picture: {picture}")


def _print(data: LabelledBugs, findings: Findings) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"The {len(findings.flagged)} most suspicious of {len(data.y)} students")
    for heading in ("rank", "student", "heritage", "education", "given", "suggested", "bug?"):
        table.add_column(heading, justify="left" if heading in ("given", "suggested") else "right")
    for rank, row in enumerate(findings.flagged, 1):
        given, fix = SHOWN[data.y[row]], SHOWN[findings.suggested_labels[row]]
        heritage, education = data.X[row]
        bug = "yes" if data.is_bug[row] else "no"
        table.add_row(str(rank), str(row), f"{heritage:.2f}", f"{education:.2f}", given, fix, bug)
    console = Console()
    console.print(table)
    right = int(data.is_bug[findings.flagged].sum())
    before, after = (_accuracy(data, labels) for labels in (data.y, findings.corrected_labels()))
    console.print(
        f"\n{right} of {len(findings.flagged)} flags are real bugs (there are {int(data.is_bug.sum())}); "
        f"average precision of the ranking {average_precision(findings.ranking, data.is_bug):.2f}.\n"
        f"Fair decisions by the learner: {before:.0%} with the given labels, {after:.0%} with the fixes.\n"
        f"{findings.status}"
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
    scores = train(LEARNER, data.X, (labels == 1).astype(int), k=2).scores(points)
    return np.asarray(scores[:, 1] - scores[:, 0])


def draw(data: LabelledBugs, findings: Findings) -> Any:
    """Left: what the learner makes of the given labels. Right: flags, fixes and the repaired learner."""
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    before, after = figure.subplots(1, 2, sharex=True, sharey=True)
    _panel(before, data, data.y, "Training set, two trusted items, and what is learnt")
    _panel(after, data, findings.corrected_labels(), f"{len(findings.flagged)} flagged rows and the repair")
    darkness = np.linspace(1.0, 0.3, len(findings.flagged))
    ring = [(*to_rgb(INK), alpha) for alpha in darkness]
    x, y = data.X[findings.flagged].T
    after.scatter(
        x,
        y,
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


if __name__ == "__main__":
    main()
