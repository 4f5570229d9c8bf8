"""What was promised of the default call, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from benchmarks.measurement import Measurement
from benchmarks.quality.claims import (
    MANY_ITEMS,
    Said,
    bins_of,
    calibration_error,
    counting,
    recalls,
    remaining,
    said,
    share,
)
from benchmarks.quality.contenders import OURS, PEERS, VERIFIED
from benchmarks.quality.summary import Outcome, paired

CHANGED, MUCH, RUNS_CHANGED, NO_EVIDENCE = 0.004, 0.01, 0.05, 0.9
"""Of a clean table: labels changed; more than so many in so many of the runs; right verdicts."""
WORSE = 0.05
LEFT_OF_CORE, LEFT = 0.5, 1.0
"""Wrong labels after ÷ before."""
CAUTIOUS = ("few", "unseen", "real-noise", "untrusted-class", "rare-class")
"""Groups in which fixes must do no harm."""
TOLD, COVERED = 0.6, 0.85
ACCURACY = 0.85
CALIBRATED, GROUP_CALIBRATED = 0.04, 0.08
BEST_BRIER = 0.9
AHEAD, BEHIND = 0.8, 0.01
"""The share of the tasks with an AP no lower than the best peer's, and how far it may be lower on any."""
REAL_NOISE = {20: 0.015, 100: 0.01}
"""By how much the mean AP on real noise exceeds that of the best single peer, by the number of items."""
LEAST = {"harry-potter": 0.98, "sine": 0.97}
SECONDS = 180
"""With 50,000 rows and all cores."""


def targets(outcomes: Iterable[Outcome]) -> Iterator[Measurement]:
    """One line each; what was not run is left out."""
    outcomes = list(outcomes)
    runs = said(outcomes)
    core = [outcome for outcome in outcomes if outcome.task.core and outcome.m >= MANY_ITEMS]
    yield from _clean([run for run in runs if run.group == "clean"])
    yield from _repair(outcomes, core, [run for run in runs if not run.clean])
    yield from _number(runs)
    yield from _verdict(runs)
    yield from _calibration(outcomes)
    yield from _precision(core)
    yield from _real_noise(outcomes)
    yield from _verified(outcomes)
    yield from _single(outcomes)
    yield from _finished(outcomes)


def _clean(runs: Sequence[Said]) -> Iterator[Measurement]:
    if not runs:
        return
    changed, much = np.mean([run.changed for run in runs]), share(run.changed > MUCH for run in runs)
    yield _at_most("clean: labels changed", float(changed), CHANGED, digits=2)
    yield _at_most(f"clean: runs with more than {MUCH:.0%} changed", much, RUNS_CHANGED)
    judged = [run.found["verdict"] for run in runs if run.facts["k"] or run.found["verdict"]]
    yield _at_least('clean: verdict "no evidence"', share(v == "no_evidence" for v in judged), NO_EVIDENCE)


def _repair(
    outcomes: Sequence[Outcome], core: Sequence[Outcome], buggy: Sequence[Said]
) -> Iterator[Measurement]:
    if buggy:
        what = "all tasks with bugs: runs with more wrong labels after than before, by more than one"
        yield _at_most(what, share(run.worse for run in buggy), WORSE)
    left = {f"core tasks, {MANY_ITEMS} trusted items or more": (core, LEFT_OF_CORE)}
    left |= {name: ([o for o in outcomes if o.task.group == name], LEFT) for name in CAUTIOUS}
    for name, (tasks, most) in left.items():
        ratios = [ratio for task in tasks if (ratio := remaining(task)) is not None]
        if ratios:
            yield _at_most(f"{name}: wrong after ÷ before, mean over tasks", float(np.mean(ratios)), most)


def _number(runs: Sequence[Said]) -> Iterator[Measurement]:
    count = counting(runs)
    if count.runs:
        yield _at_least("number of bugs told", count.told / count.runs, TOLD)
    if count.told:
        width = f"mean width {count.width / count.told:.1%} of the rows"
        yield _at_least(
            "number of bugs in its interval, where told", count.covering / count.told, COVERED, width
        )


def _verdict(runs: Sequence[Said]) -> Iterator[Measurement]:
    right = recalls(runs)
    if right:
        mean, detail = (
            float(np.mean(list(right.values()))),
            ", ".join(f"{v} {r:.2f}" for v, r in right.items()),
        )
        holds = mean >= ACCURACY and len(right) == 3
        what = f"verdict, {MANY_ITEMS} trusted items or more: balanced accuracy"
        yield Measurement(what, f"≥ {ACCURACY}", f"{mean:.3f} ({detail.replace('_', ' ')})", holds)


def _calibration(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if bins_of([outcome], OURS):
            groups.setdefault(outcome.task.group, []).append(outcome)
    if groups:
        error = calibration_error(bins_of(outcomes, OURS))
        errors = {name: calibration_error(bins_of(tasks, OURS)) for name, tasks in groups.items()}
        most = f"≤ {CALIBRATED}"
        yield Measurement("expected calibration error", most, f"{error:.3f}", error <= CALIBRATED)
        broken = [f"{name} {one:.3f}" for name, one in errors.items() if one > GROUP_CALIBRATED]
        yield _all("expected calibration error of each group", f"≤ {GROUP_CALIBRATED}", len(errors), broken)
    scores = {o.name: o.means("brier") for o in outcomes if o.best_peer("brier") and OURS in o.means("brier")}
    if scores:
        best = [name for name, means in scores.items() if means[OURS] <= min(means.values())]
        yield _at_least(
            "Brier score: tasks with none better", len(best) / len(scores), BEST_BRIER, f"of {len(scores)}"
        )


def _precision(core: Sequence[Outcome]) -> Iterator[Measurement]:
    duels = {task.name: duel.difference.mean for task in core if (duel := task.against_best("ap"))}
    if duels:
        what, values = (
            f"core tasks, {MANY_ITEMS} trusted items or more: AP − best peer's",
            list(duels.values()),
        )
        mean = float(np.mean(values))
        yield Measurement(f"{what}, mean over tasks", "≥ 0", f"{mean:+.3f}", mean >= 0)
        yield _at_least(
            f"{what}: 0 or more", share(value >= 0 for value in values), AHEAD, f"of {len(values)}"
        )
        broken = [f"{name} {value:+.3f}" for name, value in duels.items() if value < -BEHIND]
        yield _all(f"{what}, on each", f"≥ −{BEHIND}", len(duels), broken)


def _real_noise(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    for m, ahead in REAL_NOISE.items():
        tasks = [task for task in outcomes if task.name.startswith("defects-") and task.m == m]
        means = [task.means("ap") for task in tasks]
        everywhere = {
            name: float(np.mean([row[name] for row in means]))
            for name in (OURS, *PEERS)
            if means and all(name in row for row in means)
        }
        peers = [name for name in everywhere if name != OURS]
        if OURS in everywhere and peers:
            best = max(peers, key=everywhere.__getitem__)
            gain = everywhere[OURS] - everywhere[best]
            shown = (
                f"{gain:+.3f} ({everywhere[OURS]:.3f}, {best} {everywhere[best]:.3f}; {len(tasks)} releases)"
            )
            what = f"real noise, {m} trusted items: mean AP − best single peer's"
            yield Measurement(what, f"≥ +{ahead}", shown, gain >= ahead)


def _verified(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    tasks = [task.values("ap") for task in outcomes if task.task.group == "verified"]
    gains = [paired(task[VERIFIED], task[OURS]).mean for task in tasks if VERIFIED in task and OURS in task]
    if gains:
        mean = float(np.mean(gains))
        what = "40 verified rows − the same items as X_trusted: AP over the other rows, mean over tasks"
        yield Measurement(what, "≥ 0", f"{mean:+.3f}", mean >= 0)


def _single(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    for task in outcomes:
        mean, seconds = task.means("ap").get(OURS), task.means("seconds").get(OURS)
        if task.name in LEAST and mean is not None:
            least = LEAST[task.name]
            yield Measurement(f"{task.name}: AP", f"≥ {least}", f"{mean:.3f}", mean >= least)
        if task.task.large and seconds is not None:
            what = f"{task.name}: seconds"
            yield Measurement(what, f"< {SECONDS}", f"{seconds:.0f}", seconds < SECONDS)


def _finished(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    """A call that fails says nothing wrong, and would be missing in every line above."""
    asked = [
        record["contenders"][OURS] for o in outcomes for record in o.records if OURS in record["contenders"]
    ]
    if asked:
        failed = sum("failed" in found for found in asked)
        yield Measurement(
            "draws on which the default call failed", "0", f"{failed} of {len(asked)}", not failed
        )


def _at_most(what: str, value: float, limit: float, *, digits: int = 1) -> Measurement:
    """A share; NaN does not hold."""
    return Measurement(what, f"≤ {100 * limit:.3g} %", f"{100 * value:.{digits}f} %", value <= limit)


def _at_least(what: str, value: float, limit: float, detail: str = "") -> Measurement:
    shown = f"{100 * value:.1f} %" + f" ({detail})" * bool(detail)
    return Measurement(what, f"≥ {100 * limit:.3g} %", shown, value >= limit)


def _all(what: str, target: str, number: int, broken: Sequence[str]) -> Measurement:
    """A promise for each of so many, with those that break it."""
    shown = f"{number - len(broken)} of {number}" + f"; not {', '.join(broken)}" * bool(broken)
    return Measurement(what, target, shown, not broken)
