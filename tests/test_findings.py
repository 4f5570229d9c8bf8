"""What is made of findings: which labels change, and what is claimed of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import duti
from duti.claims import Power
from duti.findings import scored
from duti.path import Status

WRONG = np.array([0.95, 0.1, 0.6, 0.55, 0.3, 0.05, 0.45, 0.0])
"""How probable it is that the label of each of eight rows is wrong."""
GIVEN = np.array(["a", "b", "a", "b", "a", "b", "a", "b"])


def judged(
    *, changed: Any = None, budget: int | None = None, flagged: Any = None, **found: Any
) -> duti.Findings:
    """Eight rows with probabilities; row 7 was verified to be an a, though it was given as b."""
    problem = duti.Problem(np.arange(8.0)[:, None], GIVEN, [[0.5]], ["a"], verified={7: "a"})
    return scored(
        problem,
        WRONG,
        1 - problem.y,
        WRONG > 0.5 if flagged is None else flagged,
        changed=WRONG > 0.5 if changed is None else changed,
        budget=budget,
        quality=1 - WRONG,
        **{"verdict": duti.Verdict.RANDOM} | found,
    )


def changes(findings: duti.Findings, **asked: Any) -> set[int]:
    return set(np.flatnonzero(findings.corrected_labels(**asked) != findings.given_labels).tolist())


def test_without_a_budget_all_flags_of_a_recipe_that_says_what_changes_are_kept() -> None:
    found = judged(flagged=WRONG > 0.2)
    assert found.budget is None
    assert found.flagged.tolist() == [0, 2, 3, 6, 4]
    assert judged(flagged=WRONG > 0.2, budget=2).flagged.tolist() == [0, 2]


def test_other_detectors_flag_a_tenth_of_the_rows_and_change_those() -> None:
    problem = duti.Problem(np.arange(20.0)[:, None], ["a", "b"] * 10, [[0.5]], ["a"])
    found = scored(problem, np.arange(20.0), 1 - problem.y, np.ones(20, dtype=bool))
    assert found.budget == 2
    assert found.flagged.tolist() == [19, 18]
    assert changes(found) == {18, 19}


def test_only_what_the_recipe_says_is_changed_however_many_rows_are_flagged() -> None:
    found = judged(flagged=WRONG >= 0.1, changed=WRONG > 0.58, budget=6)
    assert len(found.flagged) == 6
    assert changes(found) == {0, 2, 7}
    assert found.fixed.tolist() == [0, 2]
    np.testing.assert_array_equal(found.corrected_labels(), found.suggested_labels)


def test_every_row_has_a_candidate_and_a_verified_one_its_verified_label() -> None:
    found = judged()
    assert (found.candidate_labels[:7] != GIVEN[:7]).all()
    assert found.candidate_labels[7] == found.suggested_labels[7] == "a"


def test_a_row_is_not_changed_because_it_is_verified() -> None:
    found = judged(changed=np.ones(8, dtype=bool))
    assert 7 not in found.fixed
    assert found.suggested_labels[7] == "a"


def test_a_candidate_that_is_longer_than_any_given_label_is_not_cut_short() -> None:
    problem = duti.Problem([[0.0], [1.0]], ["a", "b"], [[0.5]], ["a"])
    object.__setattr__(problem, "classes", np.array(["a", "another"]))
    found = scored(
        problem, np.ones(2), 1 - problem.y, np.ones(2, dtype=bool), changed=np.array([True, False])
    )
    assert found.corrected_labels(top=2)[0] == found.corrected_labels()[0] == "another"


@given(top=st.integers(0, 7), at_least=st.floats(0, 1))
def test_top_and_at_least_change_the_rows_that_are_both(top: int, at_least: float) -> None:
    found = judged()
    first, likely = changes(found, top=top), changes(found, at_least=at_least)
    assert first == {*found.ranking[:top].tolist(), 7}
    assert likely - {7} <= set(np.flatnonzero(at_least - 1e-9 <= WRONG).tolist())
    assert likely >= set(np.flatnonzero(at_least + 1e-9 <= WRONG[:7]).tolist()) | {7}
    assert changes(found, top=top, at_least=at_least) == first & likely


def test_a_probability_that_a_row_has_is_at_least_that() -> None:
    for row, wrong in enumerate(WRONG[:7].tolist()):
        assert row in changes(judged(), at_least=wrong)


@pytest.mark.parametrize("top", [-1, 8, 1.5, True, "2"])
def test_a_wrong_top_names_the_rows_that_may_change(top: Any) -> None:
    with pytest.raises(duti.ProblemError, match=f"top is {top}, but 7 rows are not verified; use 0 to 7"):
        judged().corrected_labels(top=top)


@pytest.mark.parametrize("at_least", [-0.1, 1.1, float("nan"), True])
def test_at_least_is_a_probability(at_least: Any) -> None:
    with pytest.raises(duti.ProblemError, match=f"at_least is {at_least}; give a probability from 0 to 1"):
        judged().corrected_labels(at_least=at_least)


def test_scores_are_no_probabilities() -> None:
    found = judged(verdict=None)
    assert not found.probabilistic
    with pytest.raises(duti.ProblemError, match=r"have scores, not probabilities; use top, from 0 to 3"):
        found.corrected_labels(at_least=0.5)
    with pytest.raises(duti.ProblemError, match="top is 4, but 3 rows are flagged"):
        found.corrected_labels(top=4)


def test_the_papers_recipe_has_no_verdict_and_candidates_where_it_flags() -> None:
    X, y = np.linspace(0, 1, 12)[:, None], np.array(["no"] * 5 + ["yes"] * 7)
    learner = duti.KernelLogistic(0.3, 0.01)
    found = duti.debug(X, y, X[5:6], ["no"], learner=learner, budget=1, recipe="paper")
    assert found.verdict is None
    assert not found.probabilistic
    assert found.candidate_labels[found.flagged].tolist() == ["no"]
    assert found.corrected_labels(top=1).tolist() == found.corrected_labels().tolist()
    assert found.fixed.tolist() == found.flagged.tolist()


@given(items=st.integers(1, 10_000))
def test_a_bug_as_large_as_is_said_is_touched_with_95_per_cent(items: int) -> None:
    power = Power.of(items)
    assert 1 - (1 - power.touched) ** items == pytest.approx(0.95)
    said = float(power.sentence.split("a bug of ")[1].split(" %")[0]) / 100
    assert power.touched - 1e-9 <= said <= 1.101 * power.touched


@pytest.mark.parametrize(
    "power, sentence",
    [
        (
            Power.of(20),
            "With 95 % probability at least one of 20 rows like these lies in a bug of 14 % of the table or "
            "more.",
        ),
        (
            Power.of(1),
            "With 95 % probability a row like this one lies in a bug of 95 % of the table or more.",
        ),
        (
            Power.of(100, called=0.2),
            "With 95 % probability at least one of 100 rows like these lies in a bug of 3 % of the table or "
            "more; a bug of 20 % or more would have been called.",
        ),
    ],
)
def test_what_could_have_been_seen_is_said(power: Power, sentence: str) -> None:
    assert power.sentence == sentence


def test_what_is_printed_begins_with_the_flags_and_ends_with_the_verdict() -> None:
    assert repr(judged()) == f"<Findings: 3 of 8 rows flagged. {duti.Verdict.RANDOM}>"
    assert repr(judged(status=Status.INTERRUPTED)).endswith(f"flagged. {Status.INTERRUPTED}>")
    assert repr(judged(verdict=None)).endswith(f"flagged. {Status.SCORED}>")


def test_every_verdict_is_a_sentence() -> None:
    assert {verdict.name for verdict in duti.Verdict} == {
        "NO_EVIDENCE",
        "RANDOM",
        "SYSTEMATIC",
        "CANNOT_TELL",
    }
    assert all(str(verdict)[0].isupper() and str(verdict).endswith(".") for verdict in duti.Verdict)
