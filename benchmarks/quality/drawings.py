"""The plots of the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.document import BLUE, GREY, INK, RED
from benchmarks.quality.claims import bins_of
from benchmarks.quality.contenders import OURS, POOLED, PUBLISHED, TRAINING, TRUSTED
from benchmarks.quality.measures import DRAWN
from benchmarks.quality.summary import Measure, Outcome, Paired
from duti.experiments.drawings import axes_in_rows

SWEEPS = {
    "German Loan": "german",
    "Adult Income": "adult",
    "blurred digits": "digits",
    "confused digits": "optdigits",
    "Harry Potter, students from anywhere": "potter",
    "corners, d = 2, two classes": "corner-d2-k2",
}
"""Titles of families of tasks that differ in m alone, and what they are called."""
LINES = {OURS: RED, PUBLISHED: INK, TRUSTED: BLUE, POOLED: "#3a8a4d", TRAINING: "#a3781f"}


def save(folder: Path, outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    """Every plot for which there are results; their captions and files."""
    from matplotlib import rc_context

    drawn = []
    # Names inside an SVG are drawn at random unless there is a salt to make them from.
    with rc_context({"svg.hashsalt": "duti"}):
        for plot, caption in PLOTS.items():
            figure = plot(outcomes)
            if figure is not None:
                file = Path("images") / f"quality-{plot.__name__}.svg"
                (folder / file).parent.mkdir(exist_ok=True)
                figure.savefig(folder / file, metadata={"Date": None})
                drawn.append((caption, file.as_posix()))
    return drawn


def differences(outcomes: Sequence[Outcome]) -> Any:
    """Left average precision, right correct fixes: a line for each task with bugs and peers."""
    outcomes = [outcome for outcome in outcomes if outcome.against_best("ap")]
    if not outcomes:
        return None
    figure, (left, right) = axes_in_rows(2, height=1.2 + 0.19 * len(outcomes))
    compared: tuple[tuple[Any, Measure, str], ...] = (
        (left, "ap", "average precision"),
        (right, "fixes", "correct fixes"),
    )
    for axis, measure, title in compared:
        for place, outcome in enumerate(outcomes):
            duel = outcome.against_best(measure)
            if duel is not None:
                _bar(axis, place, duel.difference)
        axis.axvline(0, color=GREY, lw=1)
        axis.set(title=title, xlabel="ours − best peer's", ylim=(len(outcomes) - 0.5, -0.5))
        axis.set_yticks(range(len(outcomes)), [outcome.name for outcome in outcomes], fontsize=8)
    right.set_yticklabels([])
    return figure


def _bar(axis: Any, place: int, difference: Paired) -> None:
    axis.plot([difference.low, difference.high], [place, place], color=RED, lw=1.2)
    axis.plot(difference.mean, place, "o", color=RED, ms=3.5)


def items(outcomes: Sequence[Outcome]) -> Any:
    """One panel for each family of tasks."""
    families = {
        title: sorted((o for o in outcomes if _family(o) == name), key=lambda o: o.m)
        for title, name in SWEEPS.items()
    }
    shown = {title: family for title, family in families.items() if len(family) > 1}
    if not shown:
        return None
    figure, axes = axes_in_rows(len(shown))
    for axis, (title, family) in zip(axes, shown.items(), strict=True):
        for name, colour in LINES.items():
            points = [(o.m, o.means("ap")[name]) for o in family if name in o.means("ap")]
            if points:
                axis.plot(*np.transpose(points), "o-", color=colour, ms=3.5, lw=1.3, label=name)
        axis.set(title=title, xscale="log", xlabel="trusted items m", ylim=(0, 1.03))
        axis.set_xticks([o.m for o in family], [str(o.m) for o in family], minor=False)
        axis.minorticks_off()
    axes[0].set_ylabel("average precision")
    _key(figure, axes)
    return figure


def _family(outcome: Outcome) -> str:
    return outcome.name.removesuffix(f"-m{outcome.m}")


def reliability(outcomes: Sequence[Outcome]) -> Any:
    """Bugs among rows against their mean probability, over all tasks of a group."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if any(bins_of([outcome], name) for name in DRAWN):
            groups.setdefault(outcome.task.group, []).append(outcome)
    if not groups:
        return None
    figure, axes = axes_in_rows(len(groups))
    for axis, (group, members) in zip(axes, groups.items(), strict=True):
        axis.plot([0, 1], [0, 1], color=GREY, lw=1)
        for name, colour in zip(DRAWN, (RED, BLUE), strict=True):
            found = bins_of(members, name)
            if found:
                number, probability, bugs = np.sum(found, axis=0)
                filled = number > 0
                points = probability[filled] / number[filled], bugs[filled] / number[filled]
                axis.plot(*points, "o-", color=colour, ms=3.5, lw=1.3, label=name)
        axis.set(title=group, xlabel="probability of a bug", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("share of bugs")
    _key(figure, axes)
    return figure


PLOTS = {
    differences: "Ours less the best peer's, with 95 % intervals",
    items: "Average precision against the number of trusted items",
    reliability: "Of the labels that are said to be wrong with some probability, the share that is",
}


def _key(figure: Any, axes: Sequence[Any]) -> None:
    """One legend below all axes, with every line that is on any of them."""
    lines = {
        name: line for axis in axes for line, name in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        lines.values(), lines, loc="outside lower center", ncols=len(lines), fontsize=8, frameon=False
    )
