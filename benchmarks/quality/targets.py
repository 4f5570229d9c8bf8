"""What was promised, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from benchmarks.measurement import Measurement
from benchmarks.quality.contenders import CONFIDENT, ORACLE, OURS, PUBLISHED, TRUSTED
from benchmarks.quality.summary import Counting, Duel, Outcome

MANY_ITEMS = 20
BEHIND, BEHIND_FEW = 0.01, 0.02
"""By how much a difference may fall short, with many and with few trusted items."""
LEAST = {"harry-potter": 0.98, "german": 0.85, "adult": 0.83, "digits": 0.75, "sine": 0.97}
LEAST_OF_IMAGES, SECONDS = {"cifar-aggre-50000": 0.556, "cifar-worse-50000": 0.873}, 180
COVERED, WITHHELD = 0.8, 0.3


def targets(outcomes: Iterable[Outcome]) -> Iterator[Measurement]:
    """One line each; what was not run is left out."""
    tasks = {outcome.name: outcome for outcome in outcomes if OURS in outcome.values("ap")}
    many = [task for task in tasks.values() if task.m >= MANY_ITEMS]
    level = f"mean ≥ 0, interval ≥ −{BEHIND}"
    ap = f"{MANY_ITEMS} trusted items or more: AP − best peer's"
    fixes = f"{MANY_ITEMS} trusted items or more: correct fixes − best peer's"
    yield from _each(ap, level, many, lambda task: _level(task.against_best("ap")))
    yield from _each(fixes, level, many, lambda task: _level(task.against_best("fixes")))
    few = [task for task in tasks.values() if task.task.group == "corners" and task.m < MANY_ITEMS]
    for peer in (PUBLISHED, TRUSTED):
        what, target = f"corners with fewer: AP ≥ that of {peer}", f"mean difference ≥ −{BEHIND_FEW}"
        if few and not any(task.against(peer, "ap") for task in few):
            yield Measurement(what, target, "not measured", holds=False)
        else:
            yield from _each(what, target, few, partial(_near_to, peer))
    yield from _each(
        "German Loan, Adult Income, digits with 3, 5, 10 trusted items: AP − best peer's",
        f"mean difference ≥ −{BEHIND}",
        [task for name, task in tasks.items() if name.endswith(("-m3", "-m5", "-m10")) and _real(name)],
        lambda task: _near(task.against_best("ap"), BEHIND),
    )
    for name, least in LEAST.items():
        if name in tasks:
            mean = tasks[name].means("ap")[OURS]
            yield Measurement(f"{name}: AP", f"≥ {least}", f"{mean:.3f}", mean >= least)
    for name, least in LEAST_OF_IMAGES.items():
        if name in tasks:
            yield from _images(tasks[name], least)
    yield from _counting(sum((task.counting() for task in tasks.values()), start=Counting(0, 0, 0, 0)))
    yield from _each(
        "Brier score, against every peer with probabilities",
        "lower",
        [task for task in tasks.values() if len(task.means("brier")) > 1],
        lambda task: _lowest(task.means("brier")),
    )


def _each(
    what: str, target: str, tasks: Sequence[Outcome], holds: Callable[[Outcome], bool]
) -> Iterator[Measurement]:
    """A promise for each of some tasks, with the names of those that break it."""
    if tasks:
        broken = [task.name for task in tasks if not holds(task)]
        measured = f"{len(tasks) - len(broken)} of {len(tasks)}" + (
            f"; not {', '.join(broken)}" * bool(broken)
        )
        yield Measurement(what, target, measured, not broken)


def _level(duel: Duel | None) -> bool:
    """What was not measured does not hold."""
    return duel is not None and (duel.difference.mean >= 0 and duel.difference.low >= -BEHIND)


def _near(duel: Duel | None, margin: float) -> bool:
    return duel is not None and duel.difference.mean >= -margin


def _near_to(peer: str, task: Outcome) -> bool:
    return _near(task.against(peer, "ap"), BEHIND_FEW)


def _lowest(means: dict[str, float]) -> bool:
    return means[OURS] < min(mean for name, mean in means.items() if name not in (OURS, ORACLE))


def _real(name: str) -> bool:
    return name.startswith(("german", "adult", "digits"))


def _images(task: Outcome, least: float) -> Iterator[Measurement]:
    ap, seconds = task.means("ap"), task.means("seconds")[OURS]
    cleanlab = ap.get(CONFIDENT, 0.0)
    holds = ap[OURS] > max(cleanlab, least)
    yield Measurement(
        f"{task.name}: AP", f"> {least} and cleanlab", f"{ap[OURS]:.3f}, cleanlab {cleanlab:.3f}", holds
    )
    yield Measurement(f"{task.name}: seconds", f"< {SECONDS}", f"{seconds:.0f}", seconds < SECONDS)


def _counting(count: Counting) -> Iterator[Measurement]:
    if count.runs:
        withheld = 1 - count.told / count.runs
        target = f"≤ {WITHHELD:.0%} of runs"
        yield Measurement("number of bugs withheld", target, f"{withheld:.0%}", withheld <= WITHHELD)
    if count.told:
        covered, narrow = count.covering / count.told, f"{count.narrow} of {count.told}"
        target = f"≥ {COVERED:.0%} where told"
        yield Measurement("number of bugs in its interval", target, f"{covered:.0%}", covered >= COVERED)
        yield Measurement("interval no wider than ± 50 %", "all", narrow, count.narrow == count.told)
