"""How much memory there is, and what does not fit into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from duti.errors import ResourceError


def require(needed: float, what: str, remedy: str) -> None:
    """Refuse what needs more memory than there is.

    >>> require(1e6, "a small table", "use a smaller one")
    >>> require(1e18, "rows.csv", "use fewer rows")
    Traceback (most recent call last):
    duti.errors.ResourceError: rows.csv needs about ... of memory, but ... are available; use fewer rows.
    """
    available = available_memory()
    if available is not None and needed > available:
        problem = f"{what} needs about {size(needed)} of memory, but {size(available)} are available"
        raise ResourceError(problem, remedy)


def size(number: float) -> str:
    """Bytes, for people.

    >>> size(3.14e9), size(2e6)
    ('3.1 GB', '2.0 MB')
    """
    return f"{number / 1e9:.1f} GB" if number >= 1e8 else f"{number / 1e6:.1f} MB"


def available_memory(root: Path = Path("/")) -> float | None:
    """Bytes that can be had without swapping: of the machine, of its control groups and of this process; None
    if unknown."""
    limits = [*_machine_memory(root), *_group_memory(root), *_address_space(root)]
    return min(limits) if limits else None


def _machine_memory(root: Path) -> Iterator[float]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield float(line.split()[1]) * 1024
            return
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):  # macOS: all there is, which is an upper bound
        yield float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _group_memory(root: Path) -> Iterator[float]:
    """What the limits of this process's control groups leave, version 2 or 1; cached files can go."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        names = ("limit_in_bytes", "usage_in_bytes") if controllers else ("max", "current")
        group = base / path.strip("/")
        for folder in (group, *group.parents):
            limit, used = (_number(folder / f"memory.{name}") for name in names)
            if limit is not None and used is not None:
                yield max(limit - used + _cached(folder), 0.0)
            if folder == base:
                break


def _address_space(root: Path) -> Iterator[float]:
    """What `ulimit -v` leaves."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Windows has no such limits
        return
    limit, _ = getrlimit(RLIMIT_AS)
    for line in _lines(root / "proc/self/statm") if limit != RLIM_INFINITY else ():
        yield max(limit - float(line.split()[0]) * os.sysconf("SC_PAGE_SIZE"), 0.0)


def _cached(folder: Path) -> float:
    names = ("inactive_file ", "total_inactive_file ")
    return max(
        (float(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith(names)),
        default=0.0,
    )


def _number(path: Path) -> float | None:
    lines = _lines(path)
    return float(lines[0]) if lines and lines[0].isdigit() else None  # "max" is no limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
