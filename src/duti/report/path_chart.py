"""The path: how many rows have another label as changing one gets cheaper."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from duti.arrays import Array
from duti.report.case import Case
from duti.report.svg import Scale, drawing, element, marks, polyline
from duti.report.text import counted, number

WIDTH, HEIGHT = 420.0, 200.0
LEFT, RIGHT, BOTTOM, TOP = 44.0, 14.0, 40.0, 12.0
WORDS = 7
"""Prices that are written out."""


def path_chart(case: Case) -> Markup | None:
    """Rows flagged at each price γ, which falls to the right; None without a path."""
    steps = case.findings.path
    if not steps:
        return None
    prices = np.array([step.gamma for step in steps])
    flags = np.array([float(len(step.flagged)) for step in steps])
    if case.findings.gamma_max > prices[0]:  # nothing changes at the price where the path starts
        prices, flags = np.append(case.findings.gamma_max, prices), np.append(0.0, flags)
    at = _places(prices)
    x = Scale(float(at[0]) - 0.3, float(at[-1]) + 0.3, LEFT, WIDTH - RIGHT)
    budget = case.findings.budget
    top = max(float(flags.max()), 1.0)
    top = max(top, float(budget)) if budget is not None and budget <= 3 * top else top
    y = Scale(0.0, 1.06 * top, HEIGHT - BOTTOM, TOP)
    across, up = x(at), y(flags)
    area = polyline(np.r_[across[0], across, across[-1]], np.r_[y.start, up, y.start]) + "z"
    drawn = [
        *_grid(x, y),
        *_prices(prices, across, y.start),
        element("path", d=area, class_="area"),
        element("path", d=polyline(across, up), class_="line"),
        element("path", d=marks("circle", across, up, 3.0), class_="knot"),
        *_limit(budget, top, x, y),
    ]
    ends = [f"{counted(int(flags[i]), 'row')} at γ = {number(prices[i])}" for i in (0, -1)]
    title = "Rows with another label against the price of a change"
    return drawing(WIDTH, HEIGHT, *drawn, title=title, desc=f"From {ends[0]} to {ends[1]}.")


def _places(prices: Array) -> Array:
    """Minus the logarithm to base 2; a price of zero stands one and a half steps behind the last."""
    positive = prices[prices > 0]
    places = -np.log2(np.where(prices > 0, prices, positive.min() / 2**1.5 if len(positive) else 1.0))
    return np.asarray(places)


def _grid(x: Scale, y: Scale) -> list[Markup]:
    drawn = [element("path", d=f"M{x.start} {y.start}H{x.end}", class_="tick")]
    for tick in y.ticks(4):
        if tick != int(tick):
            continue
        at = y.at(tick)
        drawn.append(element("path", d=f"M{x.start} {at:.1f}H{x.end}", class_="grid"))
        drawn.append(element("text", text=number(tick), x=x.start - 6, y=at + 4, text_anchor="end"))
    middle = (x.start + x.end) / 2
    drawn.append(
        element("text", text="price γ of a change (falling)", x=middle, y=y.start + 34, text_anchor="middle")
    )
    turned = f"translate(12 {(y.start + y.end) / 2:.1f}) rotate(-90)"
    drawn.append(element("text", text="rows changed", transform=turned, text_anchor="middle"))
    return drawn


def _prices(prices: Array, across: Array, bottom: float) -> list[Markup]:
    """Some of the prices in words, the last one always, none too near to another."""
    chosen, last = [len(prices) - 1], float(across[-1])
    room = (across[-1] - across[0]) / WORDS
    for i in range(len(prices) - 2, -1, -1):
        if last - across[i] >= max(room, 34.0):
            chosen.append(i)
            last = float(across[i])
    return [
        element("text", text=f"{prices[i]:.2g}", x=float(across[i]), y=bottom + 16, text_anchor="middle")
        for i in reversed(chosen)
    ]


def _limit(budget: int | None, top: float, x: Scale, y: Scale) -> list[Markup]:
    """The number of rows that were to be checked at most, if there was one."""
    if budget is None or budget > top:
        return []
    at = y.at(budget)
    line = element("path", d=f"M{x.start} {at:.1f}H{x.end}", class_="limit")
    return [line, element("text", text=f"budget {budget}", x=x.start + 5, y=at - 4)]
