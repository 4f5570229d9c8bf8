"""Labels that only trusted items have: classes of their own, or typing errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import duti
from duti import Problem, ProblemError
from duti.encode.classes import typing_error
from duti.objective import Objective
from duti.tune import sample_rows, tune

X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 3.0], [3.0, 1.0]])
ITEM = [[0.5, 4.5]]


def problem(y: Any, y_trusted: Any, **options: Any) -> Problem:
    return Problem(X, y, ITEM * len(y_trusted), y_trusted, **{"task": "classification"} | options)


def classes(found: Problem) -> list[Any]:
    assert found.classes is not None
    return list(found.classes.tolist())


def test_a_label_that_only_a_trusted_item_has_is_a_class_with_a_note() -> None:
    found = problem(["no", "no", "yes", "yes"], ["no", "maybe"])
    assert classes(found) == ["maybe", "no", "yes"]
    assert found.given.tolist() == ["no", "no", "yes", "yes"]
    assert found.decode(found.y_trusted).tolist() == ["no", "maybe"]
    assert found.notes[0] == "No row has the label 'maybe', which trusted item 1 has: it can be suggested."


def test_the_labels_of_the_rows_can_hold_a_longer_label() -> None:
    found = problem(["no", "no", "yes", "yes"], ["perhaps"])
    assert found.decode(found.y).astype(found.given.dtype).tolist() == ["no", "no", "yes", "yes"]
    assert np.asarray(["perhaps"]).astype(found.given.dtype).tolist() == ["perhaps"]


def test_a_label_that_only_a_verified_row_has_is_a_class() -> None:
    found = Problem(X, ["no", "no", "yes", "yes"], verified={3: "maybe"})
    assert found.decode(found.y).tolist() == ["no", "no", "yes", "maybe"]
    assert found.decode(found.given_y).tolist() == ["no", "no", "yes", "yes"]
    assert found.notes[0] == "No row has the label 'maybe', which verified row 3 has: it can be suggested."


@pytest.mark.parametrize(
    "y, trusted, expected",
    [
        ([0, 1, 1, 0], [2], [0, 1, 2]),
        ([0, 1, 1, 0], [2.0], [0, 1, 2]),
        ([10, 20, 20, 10], [21], [10, 20, 21]),
        (pd.Series(["a", "b", "b", "a"]), pd.Series(["c"]), ["a", "b", "c"]),
        (np.array([1, 2, 2, 1], dtype=np.int8), [300], [1, 2, 300]),
        (["1000", "1001", "1000", "1001"], ["1002"], ["1000", "1001", "1002"]),
        (["cat", "car", "cat", "car"], ["cab"], ["cab", "car", "cat"]),
        (["class 1", "class 2", "class 1", "class 2"], ["class 3"], ["class 1", "class 2", "class 3"]),
        (["a", "a", "a", "a"], ["b"], ["a", "b"]),
    ],
)
def test_new_labels_of_any_type_are_accepted(y: Any, trusted: Any, expected: list[Any]) -> None:
    found = problem(y, trusted)
    assert classes(found) == expected
    assert found.given.tolist() == list(y)
    assert type(classes(found)[0]) is type(expected[0])
    assert "can be suggested" in found.notes[0]


@pytest.mark.parametrize(
    "known, typed",
    [
        ("yes", "Yes"),
        ("yes", " yes "),
        ("not ok", "not  OK"),
        ("approved", "aproved"),
        ("approved", "approoved"),
        ("approved", "approbed"),
        ("approved", "aprpoved"),
        ("approved", "Aproved"),
        ("not ok", "NotOK"),
        ("no", "n o"),
        ("very good", "very goood"),
        ("non_smoker", "non_smokr"),
        ("cafés", "cafe\N{COMBINING ACUTE ACCENT}s"),
    ],
)
def test_what_looks_mistyped_is_refused_with_the_label_that_was_meant(known: str, typed: str) -> None:
    message = (
        rf"y_trusted row 0: label {typed!r} is not among .*Did you mean {known!r}\? If not, insist with cl"
    )
    with pytest.raises(ProblemError, match=message):
        problem([known, "denied", known, "denied"], [typed])
    with pytest.raises(ProblemError, match=f"verified row 1: label {typed!r}"):
        Problem(X, [known, "denied", known, "denied"], verified={1: typed})
    assert typed in classes(problem([known, "denied"] * 2, [typed], classes=[known, "denied", typed]))


@pytest.mark.parametrize(
    "known, other",
    [
        ("yes", "yess"),
        ("cat", "car"),
        ("male", "female"),
        ("class 1", "class 2"),
        ("2019", "2018"),
        ("1.5", "1.6"),
        (1000, 1001),
        (True, False),
        ("form", "farms"),
        ("abcd", "dcba"),
        ("grade a", "grade b"),
        ("class_a", "class_b"),
        ("stage iv", "stage v"),
        ("a+", "a-"),
    ],
)
def test_other_labels_are_no_typing_errors(known: Any, other: Any) -> None:
    assert typing_error(other, [known]) is None
    assert typing_error(known, [other]) is None


@given(st.text(alphabet="abcdé", min_size=5, max_size=9), st.data())
def test_any_single_edit_of_a_long_word_is_a_typing_error(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from("xyz"))
    edits = [
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
    ]
    assert all(typing_error(edit, [word]) == word for edit in edits)
    assert typing_error(letter + word + letter, [word]) is None


def test_classes_may_hold_more_than_there_are_and_in_another_order() -> None:
    found = problem(["no", "no", "yes", "yes"], ["no"], classes=["yes", "unsure", "no"])
    assert classes(found) == ["no", "unsure", "yes"]
    assert found.notes[0] == "No row and no trusted item has the label 'unsure' of classes."


@pytest.mark.parametrize(
    "given_classes, message",
    [
        (["yes"], "classes lacks 'no', the label of y row 0; add it"),
        (["no", "yes"], "classes lacks 'maybe', the label of trusted item 0; add it"),
        (["no", "yes", "maybe", "no"], "classes holds 'no' twice; name every class once"),
        ("maybe", "classes .*one label for each row is needed"),
        ([1, 2], "classes lacks 'no'"),
    ],
)
def test_classes_that_do_not_fit_are_refused(given_classes: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        problem(["no", "no", "yes", "yes"], ["maybe"], classes=given_classes)


def test_classes_are_refused_in_regression() -> None:
    with pytest.raises(ProblemError, match="classes is for classification"):
        Problem(X, [0.5, 1.5, 2.5, 3.5], ITEM, [1.0], classes=[1.0])


def test_labels_of_another_type_are_no_new_class() -> None:
    with pytest.raises(ProblemError, match="label 'c' is not among the training labels 0, 1"):
        problem([0, 1, 1, 0], ["c"])


def test_many_new_labels_make_few_notes() -> None:
    notes = Problem(X, list("abab"), np.arange(26.0).reshape(13, 2), [f"{i}-new" for i in range(13)]).notes
    assert sum("No row has the label" in note for note in notes) == 10
    assert "3 more labels of trusted items are of no row: they can be suggested." in notes


# Downstream: a class that no row has


def never_given(n: int = 90, k: int = 3, m: int = 12) -> tuple[Any, ...]:
    """Clusters; labellers give "ant" to the rows of the last one."""
    rng, names = np.random.default_rng(3), np.array(["ant", "bee", "cow", "dog"])[:k]
    centres = 5 * np.eye(4)[:k, :3] if k < 4 else 5 * np.vstack([np.eye(3), -np.ones(3)])
    truth, items = rng.integers(0, k, n), np.arange(m) % k
    rows = centres[truth] + rng.normal(size=(n, 3))
    trusted = centres[items] + rng.normal(size=(m, 3))
    y = np.where(truth == k - 1, names[0], names[truth])
    return rows, y, trusted, names[items], names[truth]


@pytest.mark.parametrize("options", [{"recipe": "paper"}, {}], ids=["paper", "auto"])
@pytest.mark.parametrize("learner", [duti.KernelLogistic(2.0, 1e-2), duti.Logistic(1e-2)])
def test_a_class_that_no_row_has_is_suggested(options: dict[str, Any], learner: duti.Learner) -> None:
    rows, y, trusted, y_trusted, truth = never_given()
    found = duti.debug(rows, y, trusted, y_trusted, learner=learner, random_state=0, **options)
    assert len(found.flagged)
    assert (found.suggested_labels[found.flagged] == truth[found.flagged]).mean() > 0.75
    assert found.suggested_labels.dtype == found.given_labels.dtype


def test_a_single_class_can_be_debugged_if_trusted_items_have_another() -> None:
    rows, y, trusted, y_trusted, truth = never_given(k=2)
    found = duti.debug(rows, y, trusted, y_trusted, learner=duti.Logistic(1e-2), recipe="paper")
    assert set(y.tolist()) == {"ant"}
    assert (found.suggested_labels[found.flagged] == truth[found.flagged]).all()


@pytest.mark.parametrize("learner", [duti.KernelLogistic(2.0, 1e-4), duti.Logistic(1e-4)])
def test_the_learner_of_a_class_without_rows_converges(learner: duti.Learner) -> None:
    rows, y, trusted, y_trusted, _ = never_given()
    objective = Objective(Problem(rows, y, trusted, y_trusted), learner)
    assert objective.given_fit.converged
    assert np.isfinite(objective.evaluate(objective.relabelling.start).gradient).all()


def test_the_intercept_is_free_where_every_class_has_rows() -> None:
    rows, y, trusted, y_trusted, _ = never_given()
    known = y_trusted != "cow"
    objective = Objective(Problem(rows, y, trusted[known], y_trusted[known]), duti.Logistic(1e-2))
    assert objective.erm.penalty[-1] == 0


def test_a_learner_is_tuned_and_rows_are_drawn_with_a_class_that_no_row_has() -> None:
    rows, y, trusted, y_trusted, _ = never_given(n=1500)
    found = Problem(rows, y, trusted, y_trusted)
    assert len(sample_rows(found.y, found.k, np.random.default_rng(0), 100)) == pytest.approx(100, abs=3)
    tuned = tune(duti.Logistic(), found.X, found.y, found.k, 0)
    assert all(np.isfinite(trial.loss) for trial in tuned.trials)


def test_an_estimator_predicts_a_class_that_no_row_had() -> None:
    rows, y, trusted, y_trusted, truth = never_given()
    classifier = duti.DUTIClassifier(learner=duti.Logistic(1e-2), budget=40, random_state=0)
    classifier.fit(rows, y, trusted, y_trusted)
    assert classifier.classes_.tolist() == ["ant", "bee", "cow"]
    assert (classifier.predict(rows) == truth).mean() > 0.9


@pytest.mark.parametrize(
    ("labels", "alike"),
    [(["yes", "Yes", "no"], True), (["approved", "aproved", "denied"], True), (["cat", "car", "dog"], False)],
)
def test_labels_of_rows_that_may_be_one_are_noted(labels: list[str], alike: bool) -> None:
    X, y = np.arange(9.0)[:, None], np.array(labels * 3)
    problem = Problem(X, y, [[0.5]], [labels[0]])
    found = [note for note in problem.notes if "are alike" in note]
    assert len(found) == alike
    if alike:
        assert repr(labels[0]) in found[0]
        assert repr(labels[1]) in found[0]


def test_swapped_rows_and_trusted_items_are_noted() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    swapped = Problem(X[:6], y[:6], X, y)
    assert any("more trusted items (40) than rows (6)" in note for note in swapped.notes)
    assert not any("swapped" in note for note in Problem(X, y, X[:6], y[:6]).notes)


def test_trusted_items_on_another_scale_are_noted() -> None:
    """As by a pipeline that scales the rows and not the trusted items."""
    rng = np.random.default_rng(0)
    raw, items = rng.normal(50, 5, (60, 3)), rng.normal(50, 5, (8, 3))
    y, y_trusted = (raw[:, 0] > 50).astype(int), (items[:, 0] > 50).astype(int)
    scaled = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    notes = Problem(scaled, y, items, y_trusted).notes
    assert any("far outside of the range of the rows in most columns (3 of 3)" in note for note in notes)
    assert not any("far outside" in note for note in Problem(raw, y, items, y_trusted).notes)
