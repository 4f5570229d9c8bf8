"""Files of any content pose a problem, or are refused in a line."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duti.errors import DutiError
from duti.runs.inputs import load
from duti.runs.predictions import read_predictions, typed_classes
from duti.runs.settings import Settings

PLAIN = [
    "",
    "a",
    "b",
    "1",
    "0",
    "2.5",
    "-3",
    "yes",
    "no",
    "true",
    "NA",
    "?",
    "nan",
    "inf",
    "2020-01-01",
    "x y z w",
]
ODD = ['"q,"', "007", "é", "=1+1", "9" * 30, "'", "0x1F", "12:30", "31.12.2020", "1,5", "1e400"]
CELLS = st.sampled_from(PLAIN + ODD)
NAMES = st.lists(st.sampled_from(["a", "b", "c", "y", "id", "x y", "é", "=n", "1"]), min_size=1, max_size=5)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, str]:
    """Two CSV files that mostly have the same columns, and mostly as many cells in every line."""
    names = [*draw(NAMES), "y"]
    pools = [draw(st.lists(CELLS, min_size=1, max_size=3)) for _ in names]

    def lines(most: int) -> str:
        rows = draw(st.integers(0, most))
        cells = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(rows)]
        if draw(st.integers(0, 9)) == 0 and cells:
            cells[-1] = cells[-1][:-1]
        header = names if draw(st.integers(0, 9)) else names[1:]
        return "\n".join(",".join(row) for row in [header, *cells]) + "\n"

    return lines(25), lines(6)


@settings(max_examples=150, deadline=None)
@given(tables(), st.data())
def test_any_two_tables_pose_a_problem_or_are_refused(files: tuple[str, str], data: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        train, trusted = Path(folder) / "rows.csv", Path(folder) / "trusted.csv"
        train.write_text(files[0], encoding="utf-8")
        trusted.write_text(files[1], encoding="utf-8")
        name = st.none() | st.sampled_from(["a", "b", "c", "id", "1"])
        asked = Settings(
            train=train,
            trusted=data.draw(st.sampled_from([trusted, trusted, None])),
            trusted_column=data.draw(name) or "b",
            label="y",
            id=data.draw(st.none() | st.just("id")),
            confidence=data.draw(st.sampled_from([None, "3", "c", "much"])),
            task=data.draw(st.sampled_from([None, "classification", "regression"])),
            text=("a",) if data.draw(st.integers(0, 5)) == 0 else (),
        )
        try:
            inputs = load(asked)
        except DutiError as error:
            refusal = str(error)
        else:
            refusal = ""
        if refusal:
            assert "\n" not in refusal
            return
        assert inputs.problem.n == len(inputs.labelled)
        assert len(inputs.ids) == inputs.rows.table.num_rows


@pytest.mark.parametrize("cells, marked", [("yes,no,yes", [0, 2]), ("1,0,1", [0, 2]), ("true,,true", [0, 2])])
def test_marks_name_the_trusted_rows(cells: str, marked: list[int], tmp_path: Path) -> None:
    file, known = tmp_path / "rows.csv", cells.split(",")
    file.write_text(
        "".join(
            f"{a},{y},{k}\n"
            for a, y, k in zip(["x", 1.5, 2.5, 3], ["y", "u", "v", "u"], ["known", *known], strict=True)
        )
    )
    inputs = load(Settings(train=file, label="y", trusted_column="known"))
    assert np.flatnonzero(inputs.problem.frozen).tolist() == marked
    assert inputs.problem.item_names == ("verified row 1", "verified row 3")


def test_labels_that_look_like_marks_are_labels_if_cells_are_empty(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("x,y,known\n1.5,yes,no\n2.5,no,\n3.25,yes,yes\n4.5,no,\n")
    inputs = load(Settings(train=file, label="y", trusted_column="known"))
    assert np.flatnonzero(inputs.problem.frozen).tolist() == [0, 2]
    assert inputs.problem.decode(inputs.problem.y[[0, 2]]).tolist() == ["no", "yes"]


def test_answers_count_as_trusted_rows(tmp_path: Path) -> None:
    rows, trusted = tmp_path / "rows.csv", tmp_path / "trusted.csv"
    rows.write_text("id,x,y\np,1.5,a\nq,2.5,b\nr,3.5,\ns,4.5,b\n")
    trusted.write_text("id,x,y\nt,1,a\n")
    inputs = load(Settings(train=rows, trusted=trusted, label="y", id="id"), {3: "a", 2: "b"})
    assert inputs.problem.item_names == ("trusted row 1", "verified row s")
    assert inputs.problem.row_ids.tolist() == ["p", "q", "s"]


@pytest.mark.parametrize(
    "rows, trusted, complaint",
    [
        (
            "x,y,tr\n1.5,1,1\n2.5,0,1\n3.5,1,\n",
            None,
            "rows.csv column 'tr' is 1 or empty, which may mark rows",
        ),
        ("x,y,tr\n1.5,1,\n2.5,0,\n", None, "no row with a label is trusted by column 'tr'"),
        (
            "x,y,tr\n1.5,,0\n2.5,a,0\n3.5,b,0\n",
            "x,y,tr\noops,a,0\n",
            "trusted.csv line 2: column 'x' holds 'oops'",
        ),
        ("x,y,tr\n" + "".join(f"{i}.5,{i},no\n" for i in range(60)), "x,y,tr\n1,2,no\n", "--task"),
        ("X const,x,y,tr\n1,1.5,a,no\n1,2.5,b,no\n", "X const,x,y,tr\n1,2,B,no\n", "label 'B' is not among"),
        ("x,y,tr\n1.5,a,\n2.5,b,A\n3,b,b\n", None, "rows.csv line 3: label 'A' is not among"),
        ("x,y,tr\n1.5,a,ja\n2.5,b,nein\n", None, "column 'tr' holds 'ja', 'nein', neither marks"),
    ],
)
def test_what_is_wrong_is_told_in_terms_of_the_files(
    rows: str, trusted: str | None, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(rows)
    if trusted is not None:
        (tmp_path / "trusted.csv").write_text(trusted)
    asked = Settings(
        train=tmp_path / "rows.csv",
        trusted=None if trusted is None else tmp_path / "trusted.csv",
        trusted_column="tr",
        label="y",
    )
    with pytest.raises(DutiError, match=re.escape(complaint)):
        load(asked)


def test_names_of_columns_stay_as_they_are_in_notes(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("X const,x,y\n1,1.5,a\n1,2.5,b\n1,3,a\n")
    (tmp_path / "trusted.csv").write_text("X const,x,y\n1,2,a\n,,\n1,3,b\n")
    asked = Settings(train=tmp_path / "rows.csv", trusted=tmp_path / "trusted.csv", label="y")
    inputs = load(asked)
    assert any("rows.csv column 'X const' is left out" in note for note in inputs.problem.notes)
    assert inputs.problem.item_names == ("trusted row 1", "trusted row 3")
    assert "trusted.csv: empty rows are left out (1)." in inputs.notes


PROBS = np.array([[0.9, 0.1], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0]])


def predicted(folder: Path, **options: Any) -> Settings:
    """Four rows, the second without a label, one trusted row after an empty one, and predictions for both."""
    (folder / "rows.csv").write_text("x,y\n1.5,a\n2.5,\n3.5,b\n4.5,b\n")
    (folder / "trusted.csv").write_text("x,y\n,\n2,a\n")
    (folder / "items.csv").write_text("b,a\n,\n0.25,0.75\n")
    if "pred_probs" not in options:
        (folder / "probs.csv").write_text("b,a\n" + "".join(f"{b},{a}\n" for a, b in PROBS))
    files = {"train": "rows.csv", "trusted": "trusted.csv", "pred_probs": "probs.csv"}
    paths = {role: folder / name for role, name in files.items()}
    return Settings(**{"label": "y", "pred_probs_trusted": folder / "items.csv", **paths, **options})


def test_predictions_follow_the_rows_that_count(tmp_path: Path) -> None:
    inputs = load(predicted(tmp_path))
    assert inputs.problem.pred_probs is not None
    assert inputs.problem.pred_probs_trusted is not None
    np.testing.assert_allclose(inputs.problem.pred_probs, PROBS[[0, 2, 3]])
    np.testing.assert_allclose(inputs.problem.pred_probs_trusted, [[0.75, 0.25]])
    assert set(inputs.sheets) == {"train", "trusted", "pred_probs", "pred_probs_trusted"}


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet", "jsonl"])
def test_predictions_are_read_from_files_of_any_format(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"probs.{suffix}"
    if suffix == "npy":
        np.save(file, PROBS)
    elif suffix == "npz":
        np.savez(file, probabilities=PROBS)
    elif suffix == "parquet":
        pq.write_table(pa.table({"b": PROBS[:, 1], "a": PROBS[:, 0]}), file)
    else:
        file.write_text("".join(f'{{"a": {a}, "b": {b}}}\n' for a, b in PROBS))
    inputs = load(predicted(tmp_path, pred_probs=file))
    assert inputs.problem.pred_probs is not None
    np.testing.assert_allclose(inputs.problem.pred_probs, PROBS[[0, 2, 3]])


@pytest.mark.parametrize(
    "lines, complaint",
    [
        ("a,b\n0.5,0.5\n", "probs.csv has 1 rows but rows.csv has 4; give one prediction for each row"),
        ("a,b\n1,0\n,\n0.5,0.6\n0.5,0.5\n", "probs.csv line 4 sums to 1.1"),
        ("a,b\n1,0\n,\n0.5,0.5\n,\n", "probs.csv contains NaN in 1 of 3 rows"),
        ("a,c\n1,0\n,\n0.5,0.5\n1,0\n", "probs.csv has the columns a, c, but the classes are 'a', 'b'"),
    ],
)
def test_wrong_predictions_are_told_in_terms_of_the_file(lines: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "probs.csv").write_text(lines)
    with pytest.raises(DutiError, match=re.escape(complaint)):
        load(predicted(tmp_path, pred_probs=tmp_path / "probs.csv"))


@pytest.mark.parametrize(
    "array, complaint",
    [
        (np.array([{}], dtype=object), "odd.npy holds Python objects, which are never loaded"),
        (np.zeros((1, 1, 1)), "odd.npy holds an array of float64 with 3 dimension(s)"),
        (np.array(["a"]), "odd.npy holds an array of <U1"),
        (None, "odd.npy is no array of NumPy, or damaged"),
    ],
)
def test_arrays_that_are_no_predictions_are_refused(array: Any, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.npy"
    file.write_bytes(b"???")
    if array is not None:
        np.save(file, array)
    with pytest.raises(DutiError, match=re.escape(complaint)):
        read_predictions(file)


def test_a_table_of_labels_alone_is_debugged_by_predictions(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("y,ok\na,x\nb,\nb,\na,\n")
    np.save(tmp_path / "probs.npy", PROBS)
    asked = Settings(
        train=tmp_path / "rows.csv", label="y", trusted_column="ok", pred_probs=tmp_path / "probs.npy"
    )
    problem = load(asked).problem
    np.testing.assert_allclose(np.asarray(problem.X), np.log(PROBS.clip(1e-6)))


def test_settings_with_predictions_and_classes_survive_a_run_json(tmp_path: Path) -> None:
    asked = predicted(tmp_path.resolve(), classes=("b", "a"))
    assert Settings.of_json(asked.to_json()) == asked


def test_a_label_that_only_trusted_rows_have_is_noted_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1.5,a\n2.5,b\n3,a\n")
    (tmp_path / "trusted.csv").write_text("x,y\n2.5,c\n")
    notes = load(
        Settings(train=tmp_path / "rows.csv", trusted=tmp_path / "trusted.csv", label="y")
    ).problem.notes
    assert "No row has the label 'c', which trusted row 1 has: it can be suggested." in notes
    assert notes[-1] == (
        "Trusted items with the features of a row (1): trusted row 1 (row 2). "
        "If they are these rows, use --trusted-column."
    )


def test_rows_of_a_column_may_be_drawn_at_random_until_flagged_ones_are_answered(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y,ok\n1.5,a,x\n2.5,b,\n3,a,\n4,b,\n")
    asked = Settings(train=tmp_path / "rows.csv", label="y", trusted_column="ok", verified_at_random=True)
    assert load(asked).problem.verified_at_random
    answered = load(asked, {2: "b"})
    assert not answered.problem.verified_at_random
    assert any("--verified-at-random no longer holds" in note for note in answered.notes)


def test_predictions_for_trusted_rows_need_a_file_of_these(tmp_path: Path) -> None:
    with pytest.raises(DutiError, match="--pred-probs-trusted is for a file of trusted rows"):
        Settings(
            train=tmp_path / "r.csv", label="y", trusted_column="t", pred_probs_trusted=tmp_path / "p.csv"
        )


@pytest.mark.parametrize(
    "names, given_labels, expected",
    [
        (("a", "b"), ["a"], ["a", "b"]),
        (("1", "2", "-3"), [1, 2], [1, 2, -3]),
        (("0.5", "1"), [0.5, 1.0], [0.5, 1]),
        (("true", "False"), [True], [True, False]),
        ((), ["a"], None),
    ],
)
def test_classes_are_read_as_the_labels_are(names: Any, given_labels: Any, expected: Any) -> None:
    assert typed_classes(names, np.asarray(given_labels)) == expected


@pytest.mark.parametrize("given_labels, needed", [([1, 2], "numbers"), ([True, False], "true or false")])
def test_classes_of_another_type_than_the_labels_are_refused(given_labels: Any, needed: str) -> None:
    with pytest.raises(DutiError, match=f"--classes holds 'maybe', but the labels are {needed}"):
        typed_classes(("maybe",), np.asarray(given_labels))
