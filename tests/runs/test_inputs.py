"""Files of any content pose a problem, or are refused in a line."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duti.errors import DutiError
from duti.runs.inputs import load
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
    assert inputs.problem.item_names == ("trusted line 2", "verified row s")
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
        ("X const,x,y,tr\n1,1.5,a,no\n1,2.5,b,no\n", "X const,x,y,tr\n1,2,c,no\n", "label 'c' is not among"),
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
    assert inputs.problem.item_names == ("trusted line 2", "trusted line 4")
    assert "trusted.csv: empty rows are left out (1)." in inputs.notes
