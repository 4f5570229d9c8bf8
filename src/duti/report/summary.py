"""The sentences at the top: what was found, what the fixes are worth, and how sure that is.

The command line, the report and the JSON say these and no others. Findings with a verdict are told from it:
the verdict, why, what trusted items could have seen, then the numbers. Those without one (the paper's
recipe, other detectors) are told from their flags.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duti.claims import Verdict
from duti.path import Status
from duti.report.case import Case
from duti.report.text import counted, number, percent, probability

COUNTED = 10
"""Agreement with fewer trusted items than these is told in items, not in per cent."""
UNSURE = (Verdict.NO_EVIDENCE, Verdict.CANNOT_TELL)
"""Verdicts that leave open whether any label is wrong."""


@dataclass(frozen=True)
class Summary:
    """What a reader should remember."""

    sentence: str
    more: tuple[str, ...]


def summary(case: Case) -> Summary:
    """What was found, and what else is to be said at once."""
    if case.findings.verdict is None:
        found = _found(case)
        sentence = f"{found}; {_worth(case)}." if len(case.fixed) else f"{found}."
        more = [_number(case) if case.findings.expected_bugs else "", _budget(case)]
    else:
        sentence = _interrupted(case, str(case.findings.verdict))
        power = case.findings.power
        more = [
            case.findings.verdict_reason,
            "" if power is None else power.sentence,
            _rows(case),
            _fixes(case),
            _number(case),
            _kind(case),
        ]
    return Summary(sentence, tuple(one for one in more if one))


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


def _interrupted(case: Case, sentence: str) -> str:
    if case.findings.status != Status.INTERRUPTED:
        return sentence
    return f"The run was interrupted; as far as it got, {sentence[0].lower()}{sentence[1:]}"


def _found(case: Case) -> str:
    """How many rows are flagged, without probabilities."""
    n, flagged = case.problem.n, len(case.findings.flagged)
    if not flagged:
        return _interrupted(case, f"None of the {n} rows looks mislabelled")
    return _interrupted(case, f"{flagged} of {n} rows look{'s' * (flagged == 1)} mislabelled")


def _rows(case: Case) -> str:
    """How many rows are flagged, and how many are more probably wrong than right."""
    n, flagged = case.problem.n, case.findings.flagged
    wrong = (case.findings.label_quality < 0.5) & ~case.findings.verified
    likely, all_likely = int(wrong[flagged].sum()), int(wrong.sum())
    if not len(flagged):
        return f"None of the {n} rows is flagged."
    told = f"{len(flagged)} of {n} rows {'is' if len(flagged) == 1 else 'are'} flagged"
    if likely == len(flagged):
        told += ", more probably wrong than right" if likely == 1 else ", all more probably wrong than right"
    else:
        told += f" to be looked at, {likely or 'none'} of them more probably wrong than right"
    if others := all_likely - likely:
        so_are = "so is another one" if others == 1 else f"so are {others} others"
        return f"{told}; {so_are}, but no more than {counted(len(flagged), 'row')} were to be flagged."
    return f"{told}."


def _fixes(case: Case) -> str:
    """Which labels are changed, and what that does to the trusted items."""
    fixes = len(case.fixed)
    if not fixes:
        return "No label is changed."
    kept = len(case.findings.flagged) - int(np.isin(case.findings.flagged, case.fixed).sum())
    others = "flagged row keeps its label" if kept == 1 else f"{kept} flagged rows keep their labels"
    return f"{_worth(case)}." + (f" The other {others}." if kept else "")


def _worth(case: Case) -> str:
    """What the fixes do to the trusted items."""
    fixes, m = len(case.fixed), case.problem.m
    subject = counted(fixes, "fix", "fixes")
    if case.problem.task == "regression":
        before, after = errors(case)
        return f"{subject} {_change(before, after, fixes, 'the mean error on the trusted items', number)}"
    low, high = agreements(case)
    what = "agreement with the trusted items"
    if m >= COUNTED:
        return f"{subject} {_change(low / m, high / m, fixes, what, percent)}"
    return f"{subject} {_change(low, high, fixes, what, number)} of {m}"


def _change(before: float, after: float, fixes: int, what: str, shown: Callable[[float], str]) -> str:
    old, new, s = shown(before), shown(after), "s" * (fixes == 1)
    if old == new:
        return f"leave{s} {what} at {new}"
    return f"{'raise' if after > before else 'lower'}{s} {what} from {old} to {new}"


def _number(case: Case) -> str:
    """How many labels are wrong in all."""
    bugs, unsure = case.findings.expected_bugs, case.findings.verdict in UNSURE
    if bugs is None:
        wrong = "labels are wrong, if any," if unsure else "labels are wrong in all"
        return f"How many {wrong} cannot be told from these trusted items."
    low, high = int(np.floor(bugs.low)), int(np.ceil(bugs.high))
    if unsure or round(bugs.expected) == 0:
        return f"Between {low} and {counted(high, 'label')} may be wrong in all." if high else ""
    expected = round(bugs.expected)
    told = f"About {counted(expected, 'label')} {'is' if expected == 1 else 'are'} wrong in all"
    return f"{told} ({low} to {high})."


def _kind(case: Case) -> str:
    """How probable it is that bugs are systematic; nothing is said of bugs of which there is no evidence."""
    systematic = case.findings.systematic
    if systematic is None or case.findings.verdict is Verdict.NO_EVIDENCE:
        return ""
    return f"Given that there are bugs, they are systematic with probability {probability(systematic)}."


def _budget(case: Case) -> str:
    """That more rows may be wrong than were to be flagged."""
    flagged, budget, bugs = len(case.findings.flagged), case.findings.budget, case.findings.expected_bugs
    if budget is None or flagged < budget or (bugs is not None and bugs.expected <= flagged):
        return ""
    return f"No more than {counted(flagged, 'row')} were to be flagged, so there may be others."
