"""What a part of the benchmark reports: measurements against their targets, and the figures behind them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
CONFIDENCE = 100.0


@dataclass(frozen=True)
class Measurement:
    """One row of a table; `holds` is None where nothing was promised."""

    what: str
    target: str
    measured: str
    holds: bool | None


def at_most(what: str, value: float, limit: float, detail: str) -> Measurement:
    """A number with an upper limit; one that could not be measured does not hold."""
    return Measurement(what, f"≤ {limit:g}", f"{value:.3g} ({detail})", value <= limit)


@dataclass(frozen=True)
class Report:
    """The outcome of one part."""

    measurements: list[Measurement] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    """Plain numbers and strings, for the file and the plot."""


def table(rows: Iterable[Measurement]) -> str:
    """The rows as a Markdown table."""
    answers = {True: "yes", False: "NO", None: "–"}
    lines = [f"| {row.what} | {row.target} | {row.measured} | {answers[row.holds]} |" for row in rows]
    return "\n".join(["| what | target | measured | holds |", "|---|---|---|---|", *lines])


def timed(function: Callable[[], T]) -> tuple[float, T]:
    """Seconds on the clock, and the result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError once so many seconds of a processor are used up: other jobs do not count.

    Compiled code is left to return first.
    """

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise TimeoutError(f"not done in {seconds:g} s of a processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
