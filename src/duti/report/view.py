"""The rows in a picture: the learner's border or curve before and after, or else a projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from duti.arrays import Array
from duti.report.case import Case
from duti.report.layers import Points, dense, marked, regions, rings, sample, stars
from duti.report.marks import Marks
from duti.report.projection import projection
from duti.report.svg import Axis, Scale, axes, drawing, element, key, marks, polyline
from duti.report.text import cell, counted, percent

SMALL, WIDE = (262.0, 312.0), (524.0, 316.0)
"""Width and height of a panel that has another beside it, and of one that has not."""
LEFT, RIGHT, BOTTOM, TOP = 38.0, 6.0, 36.0, 6.0
"""Room around a panel."""


@dataclass(frozen=True)
class View:
    """Panels with captions, and what the marks in them mean."""

    heading: str
    panels: tuple[tuple[str, Markup], ...]
    legend: tuple[tuple[Markup, str], ...]
    remark: str = ""


def view(case: Case, marks_: Marks) -> View:
    """The view that fits the number of features."""
    d = case.problem.X.shape[1]
    if d == 1:
        return _curves(case, marks_)
    if d == 2 and case.problem.task == "classification" and isinstance(case.problem.X, np.ndarray):
        return _borders(case, marks_)
    return _projected(case, marks_)


def _borders(case: Case, marks_: Marks) -> View:
    """Two features: regions of the classes as learnt from the given and from the corrected labels."""
    rows, flagged = sample(case)
    points = Points(rows, dense(case.problem.X)[rows], dense(case.problem.X_trusted), flagged)
    everything = np.vstack([points.xy, points.trusted])
    x, y = _frame(everything, SMALL)
    names = _axis(case, 0), _axis(case, 1)
    found, why = case.findings, case.reasons
    corrected = found.corrected_labels()
    panels = []
    for caption, model, labels, ringed in (
        ("Before: given labels", why.before, found.given_labels, False),
        (f"After: {counted(len(case.fixed), 'fix', 'fixes')}", why.after, corrected, True),
    ):
        drawn = [
            *regions(marks_, model, (x, y)),
            *marked(marks_, points, labels, (x, y)),
            *(rings(case, points, (x, y)) if ringed else []),
            *stars(case, marks_, points.trusted, (x, y)),
        ]
        desc = f"{counted(len(rows), 'row')} by {names[0].name} and {names[1].name}, and the learnt regions"
        panels.append((caption, _panel(drawn, (names[0], x), (names[1], y), SMALL, (caption, desc))))
    return View("The learner before and after", tuple(panels), _legend(case, marks_), _beyond(points, (x, y)))


def _curves(case: Case, marks_: Marks) -> View:
    """One feature: the label against it, with what is learnt before and after."""
    rows, flagged = sample(case)
    problem, found, why = case.problem, case.findings, case.reasons
    is_class = problem.task == "classification"
    given, candidates = (
        np.asarray(case.problem.coded(labels[rows]), dtype=np.float64)
        for labels in (found.given_labels, found.candidate_labels)
    )
    at = dense(problem.X)[rows, 0]
    trusted = np.column_stack([dense(problem.X_trusted)[:, 0], problem.y_trusted])
    points = Points(rows, np.column_stack([at, given]), trusted, flagged)
    moved = np.column_stack([at, candidates])[flagged]
    everything = np.vstack([points.xy, trusted, moved])
    x, y = _frame(everything, WIDE)
    if is_class:
        y = Scale(-0.5, problem.k - 0.5, y.start, y.end)
    grid = np.linspace(x.low, x.high, 300)
    curves = []
    for model, kind in ((why.before, "curve before"), (why.after, "curve after")):
        scores = model.scores(grid[:, None])
        values = scores.argmax(axis=1) if is_class else scores
        path = polyline(x(grid), np.clip(y(values), y.end - 50, y.start + 50))
        curves.append(element("path", d=path, class_=kind))
    moves = "".join(
        f"M{a:.1f} {b:.1f}V{c:.1f}"
        for a, b, c in zip(x(at[flagged]), y(given[flagged]), y(candidates[flagged]), strict=True)
    )
    fixes = element("path", d=marks("circle", x(at[flagged]), y(candidates[flagged]), 3.0), class_="fix")
    drawn = [
        *marked(marks_, points, found.given_labels, (x, y)),
        element("path", d=moves, class_="move"),
        fixes,
        *curves,
        *rings(case, points, (x, y)),
        *stars(case, marks_, trusted, (x, y)),
    ]
    axis = _axis(case, 0)
    names = (
        tuple(cell(label, 12) for label in problem.classes.tolist()) if problem.classes is not None else ()
    )
    words = "What is learnt, before and after", f"{case.label} of {counted(len(rows), 'row')} by {axis.name}"
    picture = _panel(drawn, (axis, x), (Axis(case.label, names=names), y), WIDE, words)
    lines = (
        (_line("curve before"), "learnt from the given labels"),
        (_line("curve after"), "from the corrected labels"),
    )
    candidate = (key("circle", "fix", 4.0), "candidate")
    legend = (*lines, candidate, *_legend(case, marks_))
    return View("The learner before and after", (("", picture),), legend, _beyond(points, (x, y)))


def _projected(case: Case, marks_: Marks) -> View:
    """Many features: the two directions in which rows differ most."""
    rows, flagged = sample(case)
    xy, trusted, share = projection(case.problem.X[rows], case.problem.X_trusted)
    points = Points(rows, xy, trusted, flagged)
    x, y = _frame(np.vstack([xy, trusted]), WIDE, bare=True)
    drawn = [
        element("rect", x=x.start, y=y.end, width=x.end - x.start, height=y.start - y.end, class_="frame"),
        *marked(marks_, points, case.findings.given_labels, (x, y)),
        *rings(case, points, (x, y), arrows=not case.problem.k),
        *stars(case, marks_, trusted, (x, y)),
    ]
    title = "The rows in two dimensions"
    desc = f"A projection of {counted(len(rows), 'row')}; flagged rows are ringed."
    picture = drawing(*WIDE, *drawn, title=title, desc=desc)
    remark = (
        f"The two directions in which the {case.problem.X.shape[1]} encoded features vary most "
        f"({percent(share)} of their variance); rows that are alike are near, but not only they. "
        f"{_beyond(points, (x, y))}"
    ).strip()
    return View(title, (("", picture),), _legend(case, marks_, arrows=not case.problem.k), remark)


def _beyond(points: Points, scales: tuple[Scale, Scale]) -> str:
    """How many rows would squeeze the others."""
    x, y = (scale.beyond(at) for scale, at in zip(scales, points.xy.T, strict=True))
    outside = int((x | y).sum())
    are = "is" if outside == 1 else "are"
    return f"{counted(outside, 'row')} {are} too far out and drawn at the edge." if outside else ""


def _frame(points: Array, size: tuple[float, float], *, bare: bool = False) -> tuple[Scale, Scale]:
    width, height = size
    left, right, bottom, top = (2.0,) * 4 if bare else (LEFT, RIGHT, BOTTOM, TOP)
    return Scale.of(points[:, 0], left, width - right), Scale.of(points[:, 1], height - bottom, top)


def _panel(
    drawn: list[Markup],
    x: tuple[Axis, Scale],
    y: tuple[Axis, Scale],
    size: tuple[float, float],
    words: tuple[str, str],
) -> Markup:
    """Axes around what is drawn."""
    scale = y[1]
    inside = element(
        "svg",
        *drawn,
        x=x[1].start,
        y=scale.end,
        width=x[1].end - x[1].start,
        height=scale.start - scale.end,
        viewBox=f"{x[1].start} {scale.end} {x[1].end - x[1].start} {scale.start - scale.end}",
    )
    return drawing(*size, *axes(x, y), inside, title=words[0], desc=words[1])


def _axis(case: Case, feature: int) -> Axis:
    """The column that a feature was made from, in its own units, if there is one."""
    import pyarrow as pa

    values = dense(case.problem.X[:, [feature]])[:, 0]
    low, high = int(values.argmin()), int(values.argmax())
    for name in dict.fromkeys(case.rows.column_names):
        kind = case.rows.column(name).type
        if name == case.label or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            continue
        raw = np.asarray(case.rows.column(name).to_numpy(), dtype=np.float64)
        with np.errstate(all="ignore"):
            slope = (raw[high] - raw[low]) / (values[high] - values[low])
            offset = raw[low] - slope * values[low]
        if slope and np.allclose(slope * values + offset, raw, rtol=0, atol=1e-6 * abs(raw[high] - raw[low])):
            return Axis(cell(name, 30), float(slope), float(offset))
    names = case.problem.columns
    return Axis(f"feature {feature}" if names is None else cell(names[feature], 30))


def _legend(case: Case, marks_: Marks, *, arrows: bool = False) -> tuple[tuple[Markup, str], ...]:
    row = [] if case.problem.k else [(key("circle", "c0", 4.0), "row")]
    ring = [(key("circle", "ring", 5.5), "flagged")]
    if arrows:
        higher, lower = (f"flagged: candidate {place}" for place in ("higher", "lower"))
        ring = [(key("triangle", "ring"), higher), (key("wedge", "ring"), lower)]
    trusted = (key("circle", "trusted c0", 6.0), "trusted item (large)")
    return (*marks_.legend(), *row, *(ring if len(case.findings.flagged) else []), trusted)


def _line(kind: str) -> Markup:
    line = element("path", d="M0 8H16", class_=kind)
    return element("svg", line, viewBox="0 0 16 16", class_="key", aria_hidden="true")
