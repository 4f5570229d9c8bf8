"""Records and cells are found where the csv module finds them."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from duti.errors import DutiError
from duti.files.records import records, unquoted

MESSY = st.text(st.sampled_from('a1,;"\n\r é'), max_size=40)


def rows_of_csv(text: str) -> list[list[str]]:
    return [cells for cells in csv.reader(io.StringIO(text, newline="")) if cells]


@settings(max_examples=500, deadline=None)
@given(MESSY)
def test_any_text_has_the_records_and_cells_that_the_csv_module_finds(text: str) -> None:
    try:
        found = records(text.encode(), b",", "rows.csv")
    except DutiError as error:
        assert "never closed" in str(error)  # noqa: PT017
        return
    expected = rows_of_csv(text)
    assert found.widths().tolist() == [len(cells) for cells in expected]
    for record, cells in enumerate(expected):
        raw = [found.raw(np.array([record]), position)[0].decode() for position in range(len(cells))]
        assert [unquoted(cell) for cell in raw] == cells
    if expected:
        assert found.header() == expected[0]


@settings(max_examples=200, deadline=None)
@given(MESSY)
def test_records_start_on_the_lines_that_an_editor_shows(text: str) -> None:
    try:
        found = records(text.encode(), b",", "rows.csv")
    except DutiError:
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for start, line in zip(found.starts, found.lines, strict=True):
        beginning = text.encode()[start:].decode().replace("\r", "\n").split("\n")[0]
        assert lines[line - 1] == beginning


def test_a_million_quotes_are_no_trouble() -> None:
    data = b'a,b\n"x","y"\n' * 250_000
    assert len(records(data, b",", "rows.csv").starts) == 500_000
