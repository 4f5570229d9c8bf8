"""The sentences at the top: what was found, what the fixes are worth, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duti.path import Status
from duti.report.case import Case
from duti.report.text import counted, number, percent, probability

COUNTED = 10
"""Agreement with fewer trusted items than these is told in items, not in per cent."""
PROBABLE, RATHER = 0.9, 0.5
"""From these probabilities on bugs are called systematic, or rather systematic."""


@dataclass(frozen=True)
class Verdict:
    """What a reader should remember."""

    sentence: str
    more: tuple[str, ...]


def verdict(case: Case) -> Verdict:
    """The verdict, and what else is to be said at once."""
    more = [_kind(case), _number(case), _budget(case)]
    return Verdict(_found(case) + _worth(case), tuple(sentence for sentence in more if sentence))


def agreements(case: Case) -> tuple[int, int]:
    """Trusted items on which the learner agrees, before and after."""
    truth = case.problem.y_trusted
    told = case.reasons.trusted_before, case.reasons.trusted_after
    before, after = (int((scores.argmax(axis=1) == truth).sum()) for scores in told)
    return before, after


def errors(case: Case) -> tuple[float, float]:
    """The mean absolute error on trusted items of a regression, before and after."""
    truth = case.problem.y_trusted
    told = case.reasons.trusted_before, case.reasons.trusted_after
    before, after = (float(abs(values - truth).mean()) for values in told)
    return before, after


def _found(case: Case) -> str:
    findings, n = case.findings, case.problem.n
    flagged = findings.flagged
    doubt = 1 - findings.label_quality[flagged]
    likely = int((doubt >= 0.5).sum())
    if not len(flagged):
        found = f"none of the {n} rows looks mislabelled"
    elif not case.automatic or likely == len(flagged):
        found = f"{len(flagged)} of {n} rows look{'s' * (len(flagged) == 1)} mislabelled"
    else:
        found = f"{len(flagged)} of {n} rows {'is' if len(flagged) == 1 else 'are'} worth checking"
        found += f", {likely if likely else 'none'} of them more probably wrong than right"
    if findings.status == Status.INTERRUPTED:
        return f"The run was interrupted; as far as it got, {found}"
    return found[0].upper() + found[1:]


def _worth(case: Case) -> str:
    """What the fixes do to the trusted items."""
    fixes, m = len(case.fixed), case.problem.m
    if not fixes:
        return "."
    subject = counted(fixes, "fix", "fixes")
    if case.problem.task == "regression":
        before, after = errors(case)
        return f"; {subject} {_change(before, after, fixes, 'the mean error on the trusted items', number)}."
    low, high = agreements(case)
    what = "agreement with the trusted items"
    if m >= COUNTED:
        return f"; {subject} {_change(low / m, high / m, fixes, what, percent)}."
    return f"; {subject} {_change(low, high, fixes, what, number)} of {m}."


def _change(before: float, after: float, fixes: int, what: str, shown: Callable[[float], str]) -> str:
    old, new, s = shown(before), shown(after), "s" * (fixes == 1)
    if old == new:
        return f"leave{s} {what} at {new}"
    return f"{'raise' if after > before else 'lower'}{s} {what} from {old} to {new}"


def _kind(case: Case) -> str:
    """Whether the bugs look systematic."""
    systematic = case.findings.systematic
    if systematic is None or not len(case.findings.flagged):
        return ""
    chance = probability(systematic)
    if systematic >= PROBABLE:
        return f"The bugs look systematic (probability {chance}): a group or a region is labelled wrongly."
    if systematic >= RATHER:
        return f"The bugs look systematic rather than random (probability {chance})."
    return f"The bugs look random rather than systematic (probability that they are systematic: {chance})."


def _number(case: Case) -> str:
    """How many labels are wrong in all."""
    bugs = case.findings.expected_bugs
    if not case.automatic:
        return ""
    if bugs is None:
        return "How many labels are wrong in all cannot be told from these trusted items."
    low, high = int(np.floor(bugs.low)), int(np.ceil(bugs.high))
    return f"About {bugs.expected:.0f} labels are wrong in all ({low} to {high})."


def _budget(case: Case) -> str:
    """That more rows may be wrong than were to be flagged."""
    flagged, bugs = len(case.findings.flagged), case.findings.expected_bugs
    if flagged < case.findings.budget or (bugs is not None and bugs.expected <= flagged):
        return ""
    return f"No more than {counted(flagged, 'row')} were to be flagged, so there may be others."
