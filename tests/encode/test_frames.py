"""Mixed frames in `duti.debug`, `Problem` and the estimators."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import duti
from duti import DUTIClassifier, DUTIRegressor, KernelLogistic, Logistic, Problem, ProblemError
from duti.encode import Layout
from tests.encode.frames import LIBRARIES, REVIEWS, adult, dense, german_credit
from tests.encode.test_encoder import by_hand

READ: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}
LEARNER = KernelLogistic(bandwidth=2.0, ridge=0.01)


def loans() -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    frame = german_credit().sample(frac=1, random_state=0, ignore_index=True)
    labels = np.where(frame.pop("class") == 1, "good", "bad")
    return frame[:200], labels[:200], frame[200:230], labels[200:230]


def incomes() -> tuple[pd.DataFrame, Any, pd.DataFrame, Any]:
    frame = adult().drop(columns="split").sample(frac=0.01, random_state=0, ignore_index=True)
    labels = frame.pop("income").to_numpy()
    return frame[:200], labels[:200], frame[200:230], labels[200:230]


@pytest.mark.parametrize("data", [loans, incomes])
@pytest.mark.parametrize("read", READ.values(), ids=READ.keys())
@pytest.mark.parametrize("recipe", ["auto", "paper"])
def test_findings_are_those_of_a_matrix_made_by_hand(
    data: Callable[[], Any], read: Callable[[Any], Any], recipe: str
) -> None:
    rows, y, trusted, y_trusted = data()
    options: dict[str, Any] = {"learner": LEARNER, "recipe": recipe, "budget": 20, "random_state": 0}
    findings = duti.debug(read(rows), y, read(trusted), y_trusted, **options)
    expected = duti.debug(*by_hand_problem(rows, y, trusted, y_trusted), **options)
    assert_array_equal(findings.ranking, expected.ranking)
    assert_array_equal(findings.suggested_labels, expected.suggested_labels)
    np.testing.assert_allclose(findings.label_quality, expected.label_quality, atol=1e-9)


def by_hand_problem(rows: pd.DataFrame, y: Any, trusted: pd.DataFrame, y_trusted: Any) -> tuple[Any, ...]:
    X, X_trusted = by_hand(rows, trusted, min_frequency=2)
    return X, y, X_trusted, y_trusted


def test_numbers_without_gaps_stay_as_they_are() -> None:
    for read in LIBRARIES.values():
        rows = read({"a": [1, 2, 3, 4], "b": [True, False, True, True], "c": [0.5, 1.5, 2.5, 9.0]})
        trusted = read({"a": [1], "b": [False], "c": [0.5]})
        problem = Problem(rows, list("uvuv"), trusted, ["u"])
        assert problem.encoder is None
        assert dense(problem.X).tolist() == [[1, 1, 0.5], [2, 0, 1.5], [3, 1, 2.5], [4, 1, 9]]
        assert problem.notes == ()


def test_with_a_layout_numbers_are_encoded_too() -> None:
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [5.0, 7.0, 6.0]})
    problem = Problem(rows, list("uvu"), rows[:1], ["u"], layout=Layout(drop=("b",)))
    assert problem.encoder is not None
    assert problem.columns == ("a",)
    np.testing.assert_allclose(dense(problem.X)[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)])
    np.testing.assert_allclose(dense(problem.X_trusted), [[-np.sqrt(1.5)]])


def test_a_layout_needs_a_frame() -> None:
    with pytest.raises(ProblemError, match="X is of type ndarray, but a frame with named columns is needed"):
        Problem(np.eye(2), ["a", "b"], np.eye(2), ["a", "b"], layout=Layout())


MIXED: dict[str, list[Any]] = {
    "age": [20.0, 31.0, None, 44.0, 29.0, 60.0],
    "job": ["cook", "judge", "cook", None, "judge", "cook"],
    "member": [True, False, True, False, False, True],
}
LABELS = ["no", "yes", "no", "yes", "yes", "no"]


def part(frame: Any, rows: slice) -> Any:
    return frame[rows] if not isinstance(frame, pa.Table) else frame.slice(rows.start, rows.stop - rows.start)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())
@pytest.mark.parametrize("trusted_library", LIBRARIES.values(), ids=LIBRARIES.keys())
def test_mixed_frames_of_any_two_libraries_make_a_problem(library: Any, trusted_library: Any) -> None:
    trusted = part(trusted_library(MIXED), slice(1, 3))
    problem = Problem(library(MIXED), LABELS, trusted, ["yes", "no"], verified={5: "no"})
    assert problem.encoder is not None
    assert problem.columns == problem.encoder.feature_names
    assert_array_equal(dense(problem.X_trusted), dense(problem.X)[[1, 2, 5]])
    assert problem.notes[0].startswith(
        "The columns of X were encoded as 6 features (numbers are standardised)"
    )


def test_the_index_of_a_mixed_frame_names_the_rows() -> None:
    frame = pd.DataFrame(MIXED, index=list("abcdef"))
    problem = Problem(frame, LABELS, verified={"c": "yes"})
    assert problem.row_ids.tolist() == list("abcdef")
    assert problem.frozen.tolist() == [False, False, True, False, False, False]
    assert problem.frame_library == "pandas"


def test_notes_on_the_encoding_reach_the_findings() -> None:
    rows = pd.DataFrame(MIXED).assign(gone=None)
    trusted = pd.DataFrame({"age": [30.0], "job": ["poet"], "member": [True], "extra": [1]})
    findings = duti.debug(rows, LABELS, trusted, ["no"], learner=LEARNER)
    notes = " ".join(findings.notes)
    assert "X column 'gone' is left out: every value is missing" in notes
    assert "X_trusted column 'job' holds values that no training row has" in notes
    assert "X_trusted has columns that the training rows have not, ignored: extra." in notes


@pytest.mark.parametrize(
    "trusted, message",
    [
        (np.eye(3), "X_trusted is of type ndarray, but a frame with named columns is needed"),
        (pd.DataFrame({"age": [1.0]}), "X_trusted lacks the columns job, member of the training rows"),
        (
            pd.DataFrame({"age": ["?"], "job": ["cook"], "member": [True]}),
            r"X_trusted column 'age', row 0 holds '\?', but the column is for numbers",
        ),
    ],
)
def test_trusted_rows_that_do_not_fit_are_refused(trusted: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(pd.DataFrame(MIXED), LABELS, trusted, ["no"] * len(trusted))


def test_no_trusted_rows_of_a_mixed_frame() -> None:
    frame = pd.DataFrame(MIXED)
    assert Problem(frame, LABELS, [], [], verified={0: "no"}).m == 1
    assert Problem(frame, LABELS, frame[:0], [], verified={0: "no"}).m == 1


def test_objects_in_an_array_are_refused_as_ever() -> None:
    with pytest.raises(ProblemError, match="X column 0, row 0 holds 'a', not a number"):
        Problem(np.array([["a"], ["b"]], dtype=object), ["u", "v"], [[1]], ["u"])


REVIEWED = pd.DataFrame({"stars": [1.0, 5.0, 2.0, 5.0, 1.0, 4.0], "review": REVIEWS})
VERDICTS = ["bad", "good", "bad", "good", "bad", "good"]


@pytest.mark.parametrize("recipe", ["auto", "paper"])
def test_text_is_debugged_with_a_linear_learner_if_none_is_given(recipe: str) -> None:
    rows = pd.concat([REVIEWED] * 5, ignore_index=True)
    labels = np.array(VERDICTS * 5)
    labels[[6, 25]] = "good", "bad"
    layout = Layout(text=("review",))
    findings = duti.debug(rows, labels, REVIEWED, VERDICTS, layout=layout, recipe=recipe, budget=4)
    assert isinstance(findings.learner, Logistic)
    assert set(findings.ranking[:2].tolist()) == {6, 25}


def test_text_is_sparse_for_training_and_trusted_rows() -> None:
    problem = Problem(REVIEWED, VERDICTS, REVIEWED[:2], VERDICTS[:2], layout=Layout(text=("review",)))
    assert isinstance(problem.X, csr_array)
    assert isinstance(problem.X_trusted, csr_array)
    with pytest.raises(duti.LearnerError, match="use Logistic or Ridge"):
        duti.debug(REVIEWED, VERDICTS, REVIEWED, VERDICTS, layout=Layout(text=("review",)), learner=LEARNER)


# The estimators


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())
@pytest.mark.parametrize("with_trusted", [False, True])
def test_estimators_encode_new_rows_as_the_training_rows(library: Any, with_trusted: bool) -> None:
    rows, new = library(MIXED), {**MIXED, "job": ["poet", *MIXED["job"][1:]]}
    trusted = {"X_trusted": part(rows, slice(0, 2)), "y_trusted": ["no", "yes"]} if with_trusted else {}
    model = DUTIClassifier(learner=LEARNER).fit(rows, LABELS, **trusted)
    assert model.encoder_ is not None
    assert model.predict(rows).tolist() == LABELS
    by_hand = DUTIClassifier(learner=LEARNER).fit(model.encoder_.transform(rows, "X"), LABELS)
    probabilities = by_hand.predict_proba(model.encoder_.transform(library(new), "X"))
    if not with_trusted:
        np.testing.assert_allclose(model.predict_proba(library(new)), probabilities, atol=1e-9)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(library(new)), model.predict(library(new)))


def test_the_regressor_takes_mixed_frames() -> None:
    values = [1.0, 2.5, 1.2, 2.2, 2.4, 1.1]
    model = DUTIRegressor().fit(pl.DataFrame(MIXED), values, pl.DataFrame(MIXED)[:2], values[:2])
    assert np.corrcoef(model.predict(pl.DataFrame(MIXED)), values)[0, 1] > 0.9


def test_estimators_learn_long_text_linearly() -> None:
    rows = pd.concat([REVIEWED] * 5, ignore_index=True)
    rows["review"] += [f" said guest {i}" for i in range(30)]
    model = DUTIClassifier().fit(rows, VERDICTS * 5)
    assert isinstance(model.learner_, Logistic)
    assert model.predict(REVIEWED).tolist() == VERDICTS


def test_estimators_that_saw_numbers_want_numbers() -> None:
    model = DUTIClassifier(learner=LEARNER).fit(pd.DataFrame({"a": [0.0, 1.0]}), ["u", "v"])
    assert model.encoder_ is None
    with pytest.raises(ValueError, match="could not convert string"):
        model.predict(pd.DataFrame({"a": ["x"]}))


def test_labels_that_do_not_match_the_rows_are_refused() -> None:
    with pytest.raises(ProblemError, match="X has 6 rows but y has 2"):
        DUTIClassifier().fit(pd.DataFrame(MIXED), ["no", "yes"])


def test_a_mixed_frame_needs_no_pandas_and_plain_numbers_no_scikit_learn() -> None:
    code = (
        "import sys, polars as pl\n"
        "class Without:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pandas': raise ImportError('as if it were not installed')\n"
        "sys.meta_path.insert(0, Without())\n"
        "import duti\n"
        "learner = duti.KernelLogistic(0.3, 0.01)\n"
        "plain = pl.DataFrame({'a': [0.0, 0.1, 1.0]})\n"
        "duti.debug(plain, ['a', 'b', 'b'], plain[:1], ['a'], learner=learner)\n"
        "print('sklearn' in sys.modules)\n"
        "mixed = plain.with_columns(b=pl.Series(['x', None, 'x']))\n"
        "print(len(duti.debug(mixed, ['a', 'b', 'b'], mixed[:1], ['a'], learner=learner).ranking))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "3"]
