"""What is drawn of rows and trusted items: marks, rings, and the regions of what is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup

from duti.arrays import Array, Ints, Labels, Matrix
from duti.learners.model import Model
from duti.report.case import Case
from duti.report.flagged import EMBEDDED
from duti.report.marks import Marks, look
from duti.report.svg import Scale, element, marks, polyline
from duti.report.text import cell

DRAWN = 2000
"""Rows that are drawn; flagged ones always are."""
RING = 5.5
"""Radius of the ring around a flagged row."""
GRID = 90
"""Points on each side of the grid on which scores are taken."""


@dataclass(frozen=True, eq=False)
class Points:
    """What is drawn of the rows and trusted items, in coordinates of two dimensions."""

    rows: Ints
    xy: Array
    trusted: Array
    flagged: Ints
    """Positions of flagged rows among those drawn, in rank order."""


def sample(case: Case) -> tuple[Ints, Ints]:
    """Rows that are drawn, and where the flagged ones are among them."""
    n, flagged = case.problem.n, case.findings.flagged[:DRAWN]
    if n <= DRAWN:
        rows = np.arange(n)
    else:
        some = np.linspace(0, n - 1, DRAWN).astype(np.int64)
        rows = np.union1d(some, flagged)
    return rows, np.searchsorted(rows, flagged)


def dense(X: Matrix) -> Array:
    """The features with their zeros."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())


def marked(marks_: Marks, points: Points, labels: Labels, scales: tuple[Scale, Scale]) -> list[Markup]:
    """The rows with the marks of some labels."""
    numbers = marks_.numbers(labels[points.rows])
    size = 2.0 if len(points.rows) > 600 else 2.6 if len(points.rows) > 150 else 3.2
    x, y = scales[0](points.xy[:, 0]), scales[1](points.xy[:, 1])
    return _looking(numbers, x, y, size, "dot")


def rings(case: Case, points: Points, scales: tuple[Scale, Scale], *, arrows: bool = False) -> list[Markup]:
    """A ring around each flagged row, or an arrow to where its value should go; the first say which row."""
    x, y = scales[0](points.xy[points.flagged, 0]), scales[1](points.xy[points.flagged, 1])
    given, candidates = case.findings.given_labels, case.findings.candidate_labels
    drawn = []
    for i, row in enumerate(points.rows[points.flagged].tolist()):
        shape = "circle" if not arrows else "triangle" if candidates[row] > given[row] else "wedge"
        told = f"row {cell(case.findings.row_ids[row])}: {cell(given[row], 40)} → {cell(candidates[row], 40)}"
        words = [element("title", text=told)] if i < EMBEDDED else []
        path = marks(shape, x[i : i + 1], y[i : i + 1], RING)
        drawn.append(element("path", *words, d=path, class_="ring", data_row=row))
    return drawn


def stars(case: Case, marks_: Marks, at: Array, scales: tuple[Scale, Scale]) -> list[Markup]:
    """The trusted items: the marks of their labels, large."""
    numbers = marks_.numbers(case.problem.decode(case.problem.y_trusted))
    size = 6.0 if len(at) <= 12 else 4.6 if len(at) <= 100 else 3.6
    x, y = scales[0](at[:, 0]), scales[1](at[:, 1])
    return _looking(numbers, x, y, size, "trusted")


def _looking(numbers: Ints, x: Array, y: Array, size: float, kind: str) -> list[Markup]:
    """All marks of one number are one path."""
    drawn = []
    for i in np.unique(numbers).tolist():
        shape, colour = look(i)
        path = marks(shape, x[numbers == i], y[numbers == i], size)
        drawn.append(element("path", d=path, class_=f"{kind} {colour}"))
    return drawn


def regions(marks_: Marks, model: Model, scales: tuple[Scale, Scale]) -> list[Markup]:
    """The region of each class in its colour, and the borders between them."""
    from contourpy import contour_generator

    x, y = scales
    across, up = np.linspace(x.low, x.high, GRID), np.linspace(y.low, y.high, GRID)
    scores = model.scores(np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2))
    best = np.sort(scores, axis=1)
    drawn, borders = [], ""
    for code in np.unique(scores.argmax(axis=1)).tolist():
        own = scores[:, code]
        rival = np.where(own == best[:, -1], best[:, -2], best[:, -1])
        contours: Any = contour_generator(
            across, up, (own - rival).reshape(GRID, GRID), fill_type="OuterOffset", line_type="Separate"
        )
        rings = [
            points[start:stop]
            for points, offsets in zip(*contours.filled(0.0, np.inf), strict=True)
            for start, stop in pairwise(offsets)
        ]
        outline = "".join(polyline(x(ring[:, 0]), y(ring[:, 1])) + "z" for ring in rings)
        borders += "".join(polyline(x(line[:, 0]), y(line[:, 1])) for line in contours.lines(0.0))
        kind = f"region {look(int(marks_.of_code[code]))[1]}"
        drawn.append(element("path", d=outline, class_=kind, fill_rule="evenodd"))
    return [*drawn, element("path", d=borders, class_="border")]
