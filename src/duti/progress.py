"""Progress on long work: silent in libraries, a bar on a terminal when asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]
"""Called with the stage, the steps done and the steps expected; a remark has none of either."""
Progress = bool | Report | None
"""None or False: silent. True: a bar on a terminal, remarks on any error stream. Or your own function."""


def silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""


def remarks(stage: str, done: int, total: int) -> None:  # noqa: ARG001
    """Write remarks, but no steps, to the error stream."""
    if not total:
        print(f"duti: {stage}", file=sys.stderr)


@contextmanager
def reporting(progress: Progress) -> Iterator[Report]:
    """The function to call after every step of long work.

    >>> with reporting(None) as report:
    ...     report("path", 1, 20)
    """
    if callable(progress):
        yield progress
    elif progress and sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield remarks if progress else silent


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def report(stage: str, done: int, total: int) -> None:
            if not total:
                bar.console.print(stage)
                return
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage)
            bar.update(tasks[stage], completed=done, total=max(done, total))

        yield report
