"""The tables of what ours says of a table as a whole, and of what its fixes do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from benchmarks.quality.claims import (
    VERDICTS,
    Said,
    bins_of,
    calibration_error,
    confusion,
    counting,
    remaining,
    said,
    share,
)
from benchmarks.quality.contenders import OURS, VERIFIED
from benchmarks.quality.measures import DRAWN
from benchmarks.quality.summary import Outcome, paired

VERDICT_NOTE = (
    "How often each group got each verdict, whatever the number of trusted items. *touched* are draws of "
    "tasks with bugs in which some trusted item is known to lie in the bug, *missed* those in which none is."
)
REPAIR_NOTE = (
    "Means over the draws of the default call: labels that `corrected_labels()` changes, wrong labels before "
    "and after, and the share of runs that end with more of them, by more than one."
)
ERROR_NOTE = (
    "Regression: the mean absolute error of the labels before and after `corrected_labels()`, how many "
    "labels are farther off than they were, and the share of runs with a larger mean error."
)
COUNT_NOTE = (
    "Told is a number whose interval reaches no farther than half its middle, or 2 % of the rows, to either "
    "side. It is right if the true number is in it; without any bugs, if it starts at 1 or at 0.5 % of the "
    "rows or below. The width is in rows."
)
CALIBRATION_NOTE = (
    "Expected calibration error of the probability of a bug: ten bins of equal width, every draw weighs the "
    "same."
)


def grid(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def claim_sections(outcomes: Sequence[Outcome]) -> list[str]:
    """Headings, explanations and tables; none if ours was not measured."""
    runs = said(outcomes)
    if not runs:
        return []
    page = ["## The verdict", VERDICT_NOTE, _verdicts(runs)]
    page += [
        "## Wrong labels before and after",
        REPAIR_NOTE,
        _repairs(outcomes),
        ERROR_NOTE,
        _errors(outcomes),
    ]
    page += ["## The number of bugs", COUNT_NOTE, _counts(outcomes)]
    page += ["## Calibration", CALIBRATION_NOTE, _calibration(outcomes)]
    verified = list(_verified(outcomes))
    if verified:
        headings = ("task", "draws", "as X_trusted", "verified", "difference")
        page += ["## Verified rows", "Average precision over the other rows.", grid(headings, verified)]
    return page


def _verdicts(runs: Sequence[Said]) -> str:
    """Groups × verdicts."""
    names = [verdict.replace("_", " ") for verdict in VERDICTS]
    rows = [
        [group, *(str(counts[verdict]) for verdict in (*VERDICTS, "none"))]
        for group, counts in confusion(runs).items()
    ]
    for name, known in {
        "touched": [run for run in runs if run.facts["bugs"] and run.facts["touched"]],
        "missed": [run for run in runs if run.facts["bugs"] and run.facts["touched"] == 0],
    }.items():
        total = sum(confusion(known).values(), start=Counter[str]())
        rows.append([f"*{name}*", *(str(total[verdict]) for verdict in (*VERDICTS, "none"))])
    return grid(("group", *names, "none given"), rows)


def _repairs(outcomes: Sequence[Outcome]) -> str:
    headings = ("task", "rows", "changed", "wrong before", "wrong after", "left", "runs made worse")
    return grid(headings, (row for outcome in outcomes if (row := _repair(outcome))))


def _repair(outcome: Outcome) -> list[str] | None:
    runs = [run for run in said([outcome]) if "wrong_after" in run.found]
    if not runs:
        return None
    counts = [f"{_mean(runs, name):.1f}" for name in ("changed", "wrong_before", "wrong_after")]
    left = remaining(outcome)
    rest = ["–" if left is None else f"{left:.0%}", f"{share(run.worse for run in runs):.0%}"]
    return [outcome.name, _rows(runs), *counts, *rest]


def _errors(outcomes: Sequence[Outcome]) -> str:
    headings = ("task", "rows", "changed", "error before", "error after", "farther off", "runs made worse")
    return grid(headings, (row for outcome in outcomes if (row := _error(outcome))))


def _error(outcome: Outcome) -> list[str] | None:
    runs = [run for run in said([outcome]) if "error_after" in run.found]
    if not runs:
        return None
    errors = [f"{_mean(runs, name):.4f}" for name in ("error_before", "error_after")]
    worse = [f"{_mean(runs, 'farther'):.1f}", f"{share(run.worse for run in runs):.0%}"]
    return [outcome.name, _rows(runs), f"{_mean(runs, 'changed'):.1f}", *errors, *worse]


def _counts(outcomes: Sequence[Outcome]) -> str:
    headings = ("task", "bugs", "told", "right", "mean width")
    return grid(headings, (_count(outcome) for outcome in outcomes if said([outcome])))


def _count(outcome: Outcome) -> list[str]:
    runs = said([outcome])
    count = counting(runs)
    width = f"{count.width / count.told * outcome.mean('n'):.1f}" if count.told else "–"
    told = [f"{count.told} of {count.runs}", f"{count.covering} of {count.told}"]
    return [outcome.name, f"{outcome.mean('bugs'):.0f}", *told, width]


def _calibration(outcomes: Sequence[Outcome]) -> str:
    groups: dict[str, list[Outcome]] = {"all": list(outcomes)}
    for outcome in outcomes:
        groups.setdefault(outcome.task.group, []).append(outcome)
    rows = (
        [group, *(_shown(calibration_error(bins_of(members, name))) for name in DRAWN)]
        for group, members in groups.items()
    )
    return grid(("group", *DRAWN), rows)


def _verified(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
    for outcome in outcomes:
        ap = outcome.values("ap")
        if outcome.task.group == "verified" and {OURS, VERIFIED} <= ap.keys():
            means = [_shown(float(np.nanmean(ap[name]))) for name in (OURS, VERIFIED)]
            difference = f"{paired(ap[VERIFIED], ap[OURS]).mean:+.3f}".replace("-", "−")
            yield [outcome.name, str(len(outcome.records)), *means, difference]


def _mean(runs: Sequence[Said], name: str) -> float:
    return float(np.mean([run.found[name] for run in runs]))


def _rows(runs: Sequence[Said]) -> str:
    return f"{np.mean([run.facts['n'] for run in runs]):.0f}"


def _shown(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "–"
