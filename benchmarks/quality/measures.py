"""One draw of a task, ranked by every contender, as numbers that are small enough to keep."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import numpy as np

from benchmarks.measurement import time_limit, timed
from benchmarks.quality.answers import Answer, Claims
from benchmarks.quality.contenders import CONFIDENT, NAMES, OURS, ROLES, VERIFIED, Rival, Trial, rivals
from benchmarks.quality.draws import touched
from benchmarks.quality.tasks import BY_NAME
from duti.arrays import Array, Labels, Mask
from duti.datasets import LabelledBugs
from duti.metrics import average_precision

BINS = 10
PATIENCE = 900.0
"""Seconds of a processor after which a contender counts as not done."""
DRAWN = (OURS, CONFIDENT)
"""Whose calibration is shown."""
DIGITS = 4
"""Significant ones, of what is kept."""


def measured(name: str, seed: int, asked: Collection[str] = NAMES) -> dict[str, Any]:
    """Those of the contenders that are asked, on one draw of a task."""
    task = BY_NAME[name]
    trial = Trial(task.draw(np.random.default_rng(seed)))
    # Verified rows are compared with the same items as X_trusted, and with nobody else.
    paired, data = task.group == "verified", trial.data
    chosen = [
        rival
        for rival in rivals(trial)
        if (rival.name in ROLES["ours"] if paired else rival.name != VERIFIED) and rival.name in asked
    ]
    facts = {
        "task": name,
        "seed": seed,
        "n": len(data.y),
        "m": len(data.y_trusted),
        "k": trial.k,
        "bugs": int(data.is_bug.sum()),
        "touched": touched(data),
    }
    if any(rival.name not in ROLES["ours"] for rival in chosen):
        # Shared by the peers, so that none of them is charged for it.
        facts["tuning_seconds"] = rounded(timed(lambda: (trial.tuned, trial.of_trusted))[0])
    return {**facts, "contenders": {rival.name: outcome(rival, data) for rival in chosen}}


def outcome(rival: Rival, data: LabelledBugs) -> dict[str, Any]:
    """What is kept of one contender; the reason if it did not finish."""
    began = time.perf_counter()
    try:
        with time_limit(PATIENCE):
            answer = rival.answer()
    except Exception as error:  # hours of other results must not be lost with one contender
        return {"failed": f"{type(error).__name__}: {error}"}
    kept = {"seconds": time.perf_counter() - began, **ranked(answer, data), **repair(answer, data)}
    p = answer.probability
    if p is not None:
        kept["brier"] = float(((p - data.is_bug) ** 2).mean())
        if rival.name in DRAWN:
            kept["bins"] = bins(p, data.is_bug)
    if answer.claims is not None:
        kept |= told(answer.claims)
    return {name: rounded(value) for name, value in kept.items()}


def ranked(answer: Answer, data: LabelledBugs) -> dict[str, Any]:
    """Average precision, and the share of bugs among the first B rows with a right fix; None without bugs."""
    if not data.is_bug.any():
        return {"ap": None, "fixes": None}
    within = answer.ranking[: data.is_bug.sum()]
    return {
        "ap": average_precision(answer.ranking, data.is_bug),
        "fixes": float((repaired(data, answer.fixes) & data.is_bug)[within].mean()),
    }


def repaired(data: LabelledBugs, suggested: Labels) -> Mask:
    """Rows with the true label; in regression those whose label is at most half as wrong as the given one."""
    if data.truth.dtype.kind != "f":
        return np.asarray(suggested == data.truth)
    return np.asarray(abs(suggested - data.truth) <= abs(data.y - data.truth) / 2)


def repair(answer: Answer, data: LabelledBugs) -> dict[str, Any]:
    """How many labels were changed, and how many are wrong before and after.

    In regression, where labels are noisy, "wrong" has no number: the mean absolute error before and after,
    and how many labels are farther off than they were.
    """
    labels = answer.corrected
    if labels is None:
        return {}
    kept: dict[str, Any] = {"changed": int((labels != data.y).sum())}
    if data.truth.dtype.kind != "f":
        wrong = [int((some != data.truth).sum()) for some in (data.y, labels)]
        return kept | {"wrong_before": wrong[0], "wrong_after": wrong[1]}
    before, after = (abs(some - data.truth) for some in (data.y, labels))
    errors = {"error_before": float(before.mean()), "error_after": float(after.mean())}
    return kept | errors | {"farther": int((after > before).sum())}


def bins(p: Array, is_bug: Mask) -> list[list[float]]:
    """How many probabilities fall into each tenth, their sum, and how many of them belong to bugs."""
    tenth = np.minimum((BINS * p).astype(np.int64), BINS - 1)
    return [np.bincount(tenth, weights, BINS).tolist() for weights in (None, p, is_bug)]


def told(claims: Claims) -> dict[str, Any]:
    """What is said of the table as a whole."""
    interval = None if claims.interval is None else list(claims.interval)
    return {"verdict": claims.verdict, "expected_bugs": interval, "systematic": claims.systematic}


def rounded(value: Any) -> Any:
    """Numbers with few digits, to keep the file small; what is whole stays whole."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return int(short) if short == int(short) else short
    return value
