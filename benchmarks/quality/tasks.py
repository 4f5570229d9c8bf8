"""What the contenders compete on: every task, its group, and how often it is drawn.

Names, groups and numbers of draws were fixed before anything was measured. Numbers of the recipe were
chosen on other seeds *and* other tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.quality import draws, sources
from benchmarks.quality.draws import clean, corner, flipped, trusting_few, unseen, without_bugs
from duti.datasets import adult_income as draw_adult
from duti.datasets import digits, harry_potter, sine
from duti.datasets import german_loan as draw_german
from duti.experiments.experiment import Draw

german_loan, adult_income = draws.remembered(draw_german), draws.remembered(draw_adult)
CHEAP, COSTLY = 30, 10
"""Draws of tasks that take a second, and of those that take several; `--seeds` adds more to what is there."""
REAL: dict[str, Draw] = {"german": german_loan, "adult": adult_income, "digits": digits}
SEEDS = {"german": CHEAP, "adult": CHEAP, "digits": COSTLY}
IMAGES = (sources.IMAGES, sources.HUMAN_LABELS)
HONEST = (5, 20, 40)
"""How many trusted rows clean tables have."""
ITEMS = 40
"""How many trusted items the newer tasks have unless their names say otherwise."""
DIGIT_ROWS = 500
FEW = (0.01, 0.03)
CORNERS = ((2, 2), (2, 3), (8, 2))


@dataclass(frozen=True)
class Task:
    """Data with known bugs, or without any, and how often they are drawn."""

    name: str
    group: str
    draw: Draw
    seeds: int = CHEAP
    core: bool = False
    """Whether average precision and the share of wrong labels that are left are promised on it."""
    large: bool = False
    """So many rows that a run has the machine to itself."""
    needs: tuple[Path, ...] = ()

    @property
    def missing(self) -> str | None:
        """Why it cannot be run here, if it cannot."""
        absent = [file.name for file in self.needs if not file.exists()]
        return f"{self.name} needs {', '.join(absent)} in ../shared/data" if absent else None


def _core() -> Iterator[Task]:
    yield Task("harry-potter", "paper", harry_potter)
    yield Task("sine", "paper", sine)
    for name, draw in REAL.items():
        yield Task(name, "paper", draw, SEEDS[name])
    for name, draw in REAL.items():
        yield Task(f"{name}-flips", "flips", partial(flipped, draw), SEEDS[name])
    for m in (2, 5, 10, 20, 40, 100, 200):
        group = "confusion" if m == 40 else "items"
        yield Task(f"optdigits-m{m}", group, partial(draws.confused_digits, m), COSTLY)
    for d, k, m in product((2, 8), (2, 3, 5), (6, 12, 40)):
        yield Task(f"corner-d{d}-k{k}-m{m}", "corners", partial(corner, d, k, m), CHEAP if m == 40 else 20)
    for name, draw in REAL.items():
        for m in (3, 5, 10, 20):
            seeds = SEEDS[name] if m == 20 else min(20, SEEDS[name])
            yield Task(f"{name}-m{m}", "items", partial(trusting_few, draw, m), seeds)
    for m in (2, 5, 10, 20, 100, 200):
        yield Task(f"potter-m{m}", "items", partial(draws.fair_students, m))
    yield Task("sine-uneven", "regression", draws.uneven_sine)
    yield Task("air-quality", "regression", draws.drifting_sensor, needs=(sources.AIR,))
    for n, kind in product((500, draws.ALL_IMAGES), ("aggre_label", "random_label1", "worse_label")):
        large = n == draws.ALL_IMAGES
        name = f"cifar-{kind.removesuffix('1').removesuffix('_label')}-{n}"
        images = partial(draws.human_labels, kind, n)
        yield Task(name, "cifar", images, 5 if large else 20, large=large, needs=IMAGES)


def _clean() -> Iterator[Task]:
    tables = {"cancer": (sources.cancer, 20), "wine": (sources.wine, 30), "iris": (sources.iris, 30)}
    for name, (table, seeds) in tables.items():
        for m in HONEST:
            yield Task(f"clean-{name}-m{m}", "clean", partial(clean, table, m, None), seeds)
    for m in HONEST:
        made: dict[str, tuple[Draw, int]] = {
            "optdigits": (partial(clean, sources.scanned_digits, m, DIGIT_ROWS), COSTLY),
            "german": (partial(trusting_few, german_loan, m), 20),
            "adult": (partial(trusting_few, adult_income, m), COSTLY),
            "potter": (partial(draws.fair_students, m), CHEAP),
            "corner": (partial(corner, 2, 3, m), CHEAP),
        }
        for name, (draw, seeds) in made.items():
            yield Task(f"clean-{name}-m{m}", "clean", partial(without_bugs, draw), seeds)
    for m in HONEST[1:]:  # five items of ten classes tell nothing that the digits do not show
        images = partial(trusting_few, partial(draws.human_labels, "aggre_label", 500), m)
        yield Task(f"clean-cifar-m{m}", "clean", partial(without_bugs, images), COSTLY, needs=IMAGES)
    for m in (3, 20):
        yield Task(f"clean-sine-m{m}", "clean", partial(draws.honest_sine, m), 20)
        yield Task(f"clean-diabetes-m{m}", "clean", partial(clean, sources.diabetes, m, None), COSTLY)


def _few() -> Iterator[Task]:
    made: dict[str, tuple[Draw, int]] = {
        "cancer": (partial(clean, sources.cancer, ITEMS, None), 20),
        "optdigits": (partial(clean, sources.scanned_digits, ITEMS, DIGIT_ROWS), COSTLY),
        "adult": (adult_income, COSTLY),
    }
    for (name, (draw, seeds)), share in product(made.items(), FEW):
        yield Task(f"few-{name}-{share:.0%}", "few", partial(flipped, draw, share=share), seeds)
    yield Task("few-corner", "few", partial(corner, 2, 2, ITEMS, n=400, edge=0.85))


def _unseen() -> Iterator[Task]:
    for d, k in CORNERS:
        yield Task(f"unseen-corner-d{d}-k{k}", "unseen", partial(unseen, partial(corner, d, k, ITEMS)))
    yield Task("unseen-potter", "unseen", partial(unseen, partial(draws.fair_students, ITEMS)))
    yield Task("unseen-german", "unseen", partial(unseen, german_loan), 20)
    yield Task("unseen-adult", "unseen", partial(unseen, adult_income), COSTLY)


def _untrusted_class() -> Iterator[Task]:
    tables = {"wine": sources.wine, "iris": sources.iris, "optdigits": sources.scanned_digits}
    for name, table in tables.items():
        seeds, n = (COSTLY, DIGIT_ROWS) if name == "optdigits" else (20, None)
        honest = partial(clean, table, ITEMS, n)
        kinds: dict[str, Draw] = {"flips": partial(flipped, honest, share=0.1), "clean": honest}
        for kind, draw in kinds.items():
            bare = partial(draws.untrusted_class, draw)
            yield Task(f"untrusted-{name}-{kind}", "untrusted-class", bare, seeds)


def _rare_class() -> Iterator[Task]:
    made: dict[str, tuple[Draw, int]] = {
        "cancer": (partial(clean, sources.cancer, ITEMS, None), 20),
        "adult": (adult_income, COSTLY),
    }
    for name, (draw, seeds) in made.items():
        few = partial(draws.rare, draw, ITEMS)
        yield Task(f"rare-{name}-flips", "rare-class", partial(flipped, few, share=0.01), seeds)
        yield Task(f"rare-{name}-clean", "rare-class", few, seeds)
    yield Task("rare-defects", "rare-class", partial(draws.missed_defects, ITEMS), 20)


def _flips() -> Iterator[Task]:
    made: dict[str, tuple[Draw, int]] = {
        "cancer": (partial(clean, sources.cancer, ITEMS, None), CHEAP),
        "wine": (partial(clean, sources.wine, ITEMS, None), CHEAP),
        "optdigits": (partial(clean, sources.scanned_digits, ITEMS, DIGIT_ROWS), COSTLY),
    }
    for name, (draw, seeds) in made.items():
        yield Task(f"{name}-flips-10%", "flips", partial(flipped, draw, share=0.1), seeds)


def _real_noise() -> Iterator[Task]:
    for release, m in product(sources.RELEASES, (20, 100)):
        project, _, _ = release.partition("-")
        draw, needs = partial(draws.software_defects, release, m), (sources.DEFECTS,)
        yield Task(f"defects-{project}-m{m}", "real-noise", draw, COSTLY, needs=needs)
    yield Task("yoruba-m150", "real-noise", partial(draws.news_topics, 150), COSTLY, needs=(sources.NEWS,))


def _verified() -> Iterator[Task]:
    made: dict[str, tuple[Draw, int]] = {
        "german": (german_loan, 20),
        "adult": (adult_income, COSTLY),
        "optdigits": (partial(draws.confused_digits, 0), COSTLY),
        "potter": (harry_potter, CHEAP),
    }
    for name, (draw, seeds) in made.items():
        yield Task(f"verified-{name}", "verified", partial(draws.verified_rows, draw, ITEMS), seeds)


NEWER = (_clean, _few, _unseen, _untrusted_class, _rare_class, _flips, _real_noise, _verified)
TASKS = (
    *(replace(task, core=True) for task in _core()),
    *(task for made in NEWER for task in made()),
)
BY_NAME = {task.name: task for task in TASKS}
GROUPS = tuple(dict.fromkeys(task.group for task in TASKS))
QUICK = ("harry-potter", "sine", "potter-m2", "potter-m5", "clean-iris-m20", "verified-potter")
"""The fastest ones, of every kind that a plot shows."""


def selected(names: list[str]) -> list[Task]:
    """Tasks by their names and by those of their groups; all if none is named."""
    return [task for task in TASKS if not names or task.name in names or task.group in names]
