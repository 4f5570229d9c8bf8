"""Drawings as SVG: elements whose every text and attribute is escaped, marks, scales and axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from duti.arrays import Array, Mask
from duti.report.text import number, visible

CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "circle": (),
    "triangle": ((0, -1.35), (1.25, 0.85), (-1.25, 0.85)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "wedge": ((0, 1.35), (1.25, -0.85), (-1.25, -0.85)),
    "hourglass": ((-1, -1.1), (1, -1.1), (-1, 1.1), (1, 1.1)),
}
"""Marks around a point, of about the same area as a circle of radius one, which has no corners."""
SHAPES = tuple(CORNERS)


def element(tag: str, *children: Markup, text: str = "", **attributes: object) -> Markup:
    """An element of SVG; `class_` and `stroke_width` stand for class and stroke-width.

    >>> element("text", text="a < b", x=1.25, class_='"')
    Markup('<text x="1.2" class="&#34;">a &lt; b</text>')
    """
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(visible(_plain(value)))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{tag}{told}>{escape(visible(text))}{''.join(children)}</{tag}>")


def _plain(value: object) -> str:
    """Coordinates to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def drawing(width: float, height: float, *children: Markup, title: str, desc: str) -> Markup:
    """A picture with words for those who cannot see it."""
    words = [element("title", text=title), element("desc", text=desc)]
    label = f"{title}. {desc}"
    return element("svg", *words, *children, viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def marks(shape: str, x: Array, y: Array, size: float) -> str:
    """The path of one mark at each of the points, of about this radius.

    >>> marks("square", np.array([5.0]), np.array([5.0]), 2.0)
    'M5.0 5.0m-1.8 -1.8l3.6 0.0l0.0 3.6l-3.6 0.0z'
    """
    if corners := CORNERS[shape]:
        steps = size * np.diff(np.array(corners), axis=0, prepend=0)
        outline = "m" + "l".join(f"{across:.1f} {down:.1f}" for across, down in steps) + "z"
    else:
        arc = f"a{size:.1f} {size:.1f} 0 1 0 "
        outline = f"m{-size:.1f} 0{arc}{2 * size:.1f} 0{arc}{-2 * size:.1f} 0z"
    return "".join(f"M{a:.1f} {b:.1f}{outline}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def polyline(x: Array, y: Array) -> str:
    """A path through points."""
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


FAR = 1.5
"""Values are far out that many times the width of nine tenths of them away from these."""


@dataclass(frozen=True)
class Scale:
    """Values → pixels."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: Array, start: float, end: float, margin: float = 0.05) -> Scale:
        """A scale with some room on either side of all values, but for those that would squeeze the others.

        >>> Scale.of(np.append(np.linspace(0, 1, 99), 1e6), 0, 100).high < 4
        True
        """
        low, high = float(values.min()), float(values.max())
        bulk = np.quantile(values, (0.05, 0.95))
        if (reach := FAR * float(bulk[1] - bulk[0])) > 0:
            low, high = max(low, float(bulk[0]) - reach), min(high, float(bulk[1]) + reach)
        room = margin * (high - low) or 1.0
        return cls(low - room, high + room, start, end)

    def __call__(self, values: Array) -> Array:
        """The pixels of values; those that are too far out are drawn at the edge."""
        inside = np.clip(values, self.low, self.high)
        return np.asarray(self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start))

    def beyond(self, values: Array) -> Mask:
        """Which values are too far out."""
        return np.asarray((values < self.low) | (values > self.high))

    def at(self, value: float) -> float:
        """The pixel of one value."""
        return float(self(np.array([value]))[0])

    def ticks(self, most: int = 5) -> list[float]:
        """Round values within.

        >>> Scale(-0.1, 1.1, 0, 100).ticks()
        [0.0, 0.5, 1.0]
        """
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(step for m in (1, 2, 5, 10) if (step := m * power) >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


@dataclass(frozen=True)
class Axis:
    """What stands at an axis; the values that are drawn are (shown − offset) / slope."""

    name: str
    slope: float = 1.0
    offset: float = 0.0
    names: tuple[str, ...] = ()
    """Names of the values 0, 1, …, if they have any."""

    def ticks(self, scale: Scale) -> list[tuple[float, str]]:
        """Pixels and words."""
        if self.names:
            return [(scale.at(value), name) for value, name in enumerate(self.names)]
        low, high = sorted(self.slope * end + self.offset for end in (scale.low, scale.high))
        shown = Scale(low, high, 0, 1).ticks()
        return [(scale.at((tick - self.offset) / self.slope), number(tick)) for tick in shown]


def axes(x: tuple[Axis, Scale], y: tuple[Axis, Scale]) -> list[Markup]:
    """Ticks, their words and the names of both axes; the frame is where the scales end."""
    (horizontal, across), (vertical, up) = x, y
    left, right, bottom, top = across.start, across.end, up.start, up.end
    drawn = [element("rect", x=left, y=top, width=right - left, height=bottom - top, class_="frame")]
    for at, word in horizontal.ticks(across):
        drawn.append(element("path", d=f"M{at:.1f} {bottom:.1f}v4", class_="tick"))
        drawn.append(element("text", text=word, x=at, y=bottom + 15, text_anchor="middle"))
    for at, word in vertical.ticks(up):
        drawn.append(element("path", d=f"M{left:.1f} {at:.1f}h-4", class_="tick"))
        drawn.append(element("text", text=word, x=left - 6, y=at + 4, text_anchor="end"))
    middle = (left + right) / 2
    drawn.append(element("text", text=horizontal.name, x=middle, y=bottom + 30, text_anchor="middle"))
    turned = f"translate(11 {(top + bottom) / 2:.1f}) rotate(-90)"
    drawn.append(element("text", text=vertical.name, transform=turned, text_anchor="middle"))
    return drawn


def bar(share: float, kind: str = "") -> Markup:
    """A bar that fills a share of its track; the number stands next to it, so it is decoration."""
    inner = element("rect", width=100.0, height=8, class_="track")
    filled = element("rect", width=max(0.0, 100 * min(share, 1.0)), height=8, class_=f"fill {kind}".strip())
    return element(
        "svg",
        inner,
        filled,
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def key(shape: str, kind: str, size: float = 5.0) -> Markup:
    """A mark on its own, for a legend or next to a label."""
    at = np.array([8.0])
    path = element("path", d=marks(shape, at, at, size), class_=kind)
    return element("svg", path, viewBox="0 0 16 16", class_="key", aria_hidden="true")
