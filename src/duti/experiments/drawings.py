"""The figures of the paper, drawn from raw results and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from duti.experiments.experiment import Experiment
from duti.experiments.summary import FIXES_WITHIN, fixes_by_flags, flagged_point, mean_curve, published

OWN = {
    "DUTI": "#c8102e",
    "INF": "#2f6fb0",
    "NN": "#3a8a4d",
    "LND": "#7a4fa3",
    "DUTI, cautious": "#e8862e",
    "DUTI, narrow": "#8b1a2b",
    "DUTI, automatic": "#1a1a2e",
}
PEERS = ("#8c8c8c", "#a3781f", "#4a9ba8", "#b05a86", "#5c6b2f")
CLASSES = ("#2f6fb0", "#e8862e")
SURE = 2.0
"""Standard errors on either side of a mean curve."""
CAPTIONS = {
    "precision-recall": "Precision and recall as more and more rows are flagged, the most suspicious first. "
    "Left: as published. Right: the mean over our runs; shades are two standard errors on either side. "
    "In brackets: the area under the curve as drawn.",
    "flagged": "The data of the first run, and the rows that each detector finds most suspicious.",
    "fixes": "How many bugs have got their right label as more and more rows are flagged. Left: as "
    "published. Right: the mean over our runs. In brackets: after 200 flags.",
    "table": "The first bug of each digit in the first run: the label as given, and the label that each "
    "detector suggests instead (– if the image is not flagged).",
}
"""What each figure shows, by its name and in the order of the page."""


def figures(experiment: Experiment, found: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The figures of an experiment, each with a name for its file."""
    if any(run["bugs"] for run in found["runs"]):
        yield "precision-recall", precision_recall(experiment, found)
    if experiment.images:
        yield "fixes", fixes(found)
        yield "table", digits_table(found)
    elif "X" in found["scene"]:
        one = len(found["scene"]["X"][0]) == 1
        yield "flagged", (peaks if one else students)(experiment, found)


def axes_in_rows(number: int, height: float = 3.3, width: float = 3.8, across: int = 3) -> tuple[Any, Any]:
    """A figure with some axes, in rows."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    across = min(across, number)
    down = -(-number // across)
    figure = Figure(figsize=(width * across, height * down), layout=ConstrainedLayoutEngine(h_pad=0.1))
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[number:]:
        axis.set_visible(False)
    return figure, axes[:number]


def _key(figure: Any, *axes: Any) -> None:
    """One legend below all axes, with everything that is named in some of them."""
    named: dict[str, Any] = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    below = {"loc": "outside lower center", "ncols": len(named)}
    figure.legend(named.values(), named, fontsize=9, frameon=False, **below)


def _colours(names: list[str]) -> dict[str, str]:
    others = [name for name in names if name not in OWN]
    return OWN | {name: PEERS[i % len(PEERS)] for i, name in enumerate(others)}


def precision_recall(experiment: Experiment, found: dict[str, Any]) -> Any:
    """Left the published curves, right ours with two standard errors; LND is a point."""
    figure, (left, right) = axes_in_rows(2, height=4.0, width=5.6)
    names = list(found["settings"])
    colours = _colours(names)
    for name, curve in published().get(experiment.published or "", {}).items():
        recall, precision = np.array(curve["points"]).T
        if name == "LND":
            left.plot(recall, precision, "o", color=colours[name], label="LND (oracle)", clip_on=False)
        else:
            left.plot(recall, precision, color=colours[name], label=f"{name} ({curve['area']:.3f})")
    for name in names:
        if name == "LND":
            point = flagged_point(found, name)
            right.plot(*point, "o", color=colours[name], label="LND (oracle)", clip_on=False)
            continue
        mean = mean_curve(found, name)
        recall, precision = mean.curve.recall, mean.curve.precision
        own = name in OWN
        label = f"{name} ({mean.curve.area:.3f})"
        right.plot(recall, precision, color=colours[name], lw=1.8 if own else 1, label=label)
        if own:
            low, high = precision - SURE * mean.error, precision + SURE * mean.error
            right.fill_between(recall, low, high, color=colours[name], alpha=0.15, lw=0)
    runs = len(found["runs"])
    left.set_title("published")
    right.set_title(f"ours, {runs} run{'s' if runs > 1 else ''}")
    for axis in (left, right):
        axis.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.03))
        outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axis.legend(fontsize=9, frameon=False, title="area", title_fontsize=9, **outside)
    return figure


def students(experiment: Experiment, found: dict[str, Any]) -> Any:
    """Rows of two features; for each detector its most suspicious ones in circles."""
    run, scene = found["runs"][0], found["scene"]
    X, trusted = np.array(scene["X"]), np.array(scene["X_trusted"])
    given = np.array(run["given"])
    colours = [CLASSES[int(label == max(scene["y_trusted"]))] for label in scene["y_trusted"]]
    shown = [name for name in found["settings"] if name in ("DUTI", "INF", "NN", "LND")]
    figure, axes = axes_in_rows(1 + len(shown))
    for axis, name in zip(axes, [None, *shown], strict=True):
        for label, colour, marker in zip(np.unique(given), CLASSES, "o^", strict=True):
            axis.scatter(*X[given == label].T, s=14, color=colour, marker=marker, label=f"label {label}")
        stars = {"s": 130, "marker": "*", "edgecolor": "black", "label": "trusted item"}
        axis.scatter(*trusted.T, c=colours, zorder=3, **stars)
        if name is None:
            axis.set_title("data")
            if run["bugs"]:
                axis.scatter(*X[run["bugs"]].T, s=60, facecolor="none", edgecolor="#9aa0a6", label="bug")
        else:
            outcome = run["detectors"][name]
            number = min(experiment.shown, outcome["flagged"])
            top = outcome["ranking"][:number]
            axis.scatter(*X[top].T, s=70, facecolor="none", edgecolor=OWN["DUTI"], lw=1.4, label="flagged")
            right = len(set(top) & set(run["bugs"]))
            axis.set_title(f"{name}: {number} flagged" + (f", {right} are bugs" if run["bugs"] else ""))
        axis.set(xlabel=scene["columns"][0], ylabel=scene["columns"][1])
    _key(figure, *axes)
    return figure


def peaks(experiment: Experiment, found: dict[str, Any]) -> Any:
    """Rows of one feature; for each detector its most suspicious ones, and the fixes of DUTI."""
    run, scene = found["runs"][0], found["scene"]
    x, given, bugs = np.array(scene["X"])[:, 0], np.array(run["given"]), np.array(run["bugs"])
    dense = np.linspace(x.min(), x.max(), 400)
    figure, axes = axes_in_rows(4, across=2, width=5.6)
    for axis, name in zip(axes, ("DUTI", "INF", "NN", "fixes"), strict=True):
        axis.plot(dense, np.sin(2 * np.pi * dense), "--", color="#9aa0a6", lw=1, label="the sine")
        axis.scatter(x, given, s=10, color=CLASSES[0], label="label as given")
        stars = {"s": 110, "marker": "*", "color": CLASSES[1], "label": "trusted item"}
        axis.scatter(np.array(scene["X_trusted"])[:, 0], scene["y_trusted"], **stars)
        if name == "fixes":
            suggested = np.array(run["detectors"]["DUTI"]["suggested"])
            crosses = {"s": 22, "marker": "x", "color": OWN["DUTI"], "label": "suggested value"}
            axis.scatter(x[bugs], suggested[bugs], **crosses)
            axis.set_title("DUTI: suggested values of the bugs")
        else:
            top = run["detectors"][name]["ranking"][: experiment.shown]
            circles = {"s": 60, "facecolor": "none", "edgecolor": OWN["DUTI"], "label": "most suspicious"}
            axis.scatter(x[top], given[top], **circles)
            axis.set_title(f"{name}: top {len(top)}, {len(set(top) & set(run['bugs']))} are bugs")
        axis.set(xlabel="x", ylabel="y")
    _key(figure, *axes)
    return figure


def fixes(found: dict[str, Any]) -> Any:
    """Correct fixes against the number of flags: left published, right the mean over the runs."""
    figure, (left, right) = axes_in_rows(2, height=4.0, width=5.6)
    names = [name for name in found["settings"] if name in OWN]
    for name, curve in published()["digits_fixes"].items():
        flags, number = np.array(curve["points"]).T
        last = np.interp(FIXES_WITHIN, flags, number)
        left.plot(flags, number, color=OWN[name], label=f"{name} ({last:.0f})")
    for name in names:
        counts = np.mean([fixes_by_flags(run, run["detectors"][name]) for run in found["runs"]], axis=0)
        right.plot(np.arange(1, len(counts) + 1), counts, color=OWN[name], label=f"{name} ({counts[-1]:.0f})")
    left.set_title("published, 133 bugs")
    bugs = np.mean([len(run["bugs"]) for run in found["runs"]])
    right.set_title(f"ours, {bugs:.0f} bugs" + (" on average" if len(found["runs"]) > 1 else ""))
    for axis in (left, right):
        axis.set(xlabel="number flagged", ylabel="correct fixes", xlim=(0, FIXES_WITHIN), ylim=(0, None))
        axis.legend(fontsize=9, frameon=False)
    return figure


def digits_table(found: dict[str, Any]) -> Any:
    """Table 1: images with wrong labels, and what each detector suggests; – for a bug that it missed."""
    run, scene = found["runs"][0], found["scene"]
    detectors = [name for name in ("DUTI", "DUTI, narrow", "INF", "NN") if name in found["settings"]]
    rows = scene["rows"]
    figure, axes = axes_in_rows(len(rows), height=1.9, width=0.95, across=len(rows))
    for axis, row, image in zip(axes, rows, scene["images"], strict=True):
        axis.imshow(np.array(image).reshape(28, 28), cmap="gray_r")
        axis.axis("off")
        lines = [str(run["given"][row])] + [_suggestion(run["detectors"][name], row) for name in detectors]
        axis.text(0.5, -0.15, "\n".join(lines), ha="center", va="top", transform=axis.transAxes)
    headings = "\n".join(["given", *detectors])
    axes[0].text(-0.25, -0.15, headings, ha="right", va="top", transform=axes[0].transAxes)
    return figure


def _suggestion(outcome: dict[str, Any], row: int) -> str:
    flagged = row in outcome["ranking"][: outcome["flagged"]]
    return str(outcome["suggested"][row]) if flagged else "–"
