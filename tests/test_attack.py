"""Odd tables, options and answers: nothing ends in a traceback, and no cell changes without a fix."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks import attack

EACH, BATCHES = 20, 25
"""500 inputs; `python -m benchmarks.attack` makes more."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_breaks(batch: int) -> None:
    broken = [one for number in range(EACH) for one in attack.attacked(EACH * batch + number)]
    assert not broken, "\n".join(f"input {one.number}: duti {one.words}\n{one.what}" for one in broken)


def test_a_traceback_a_raw_character_and_a_warning_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    import click

    def broken(how: str) -> list[str]:
        @click.command()
        def command() -> None:
            if how == "raises":
                raise ZeroDivisionError
            if how == "warns":
                warnings.warn("look out", stacklevel=1)
            click.echo("\x1b[2J" if how == "prints" else "fine", color=True)

        monkeypatch.setattr(attack, "duti", command)
        return attack._run([])[1]

    assert not broken("not at all")
    assert "ZeroDivisionError" in broken("raises")[0]
    assert "look out" in broken("warns")[0]
    assert "raw" in broken("prints")[0]


def test_a_cell_that_changes_without_a_fix_is_noticed(tmp_path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    (tmp_path / "out").mkdir()
    rows = pa.table({"x": [1, 2, 3], "y": ["a", "b", "a"]})
    pyarrow.csv.write_csv(rows, tmp_path / "rows.csv")
    findings = pa.table({"given_label": ["a", "b", "a"], "suggested_label": ["a", "a", "a"]})
    pq.write_table(findings, tmp_path / "out" / "findings.parquet")

    def noticed(**changed: list[object]) -> list[str]:
        other = pa.table({name: changed.get(name, rows[name].to_pylist()) for name in rows.column_names})
        pyarrow.csv.write_csv(other, tmp_path / "out" / "corrected.csv")
        return list(attack._cells(tmp_path, ["debug", str(tmp_path / "rows.csv"), "--label", "y"]))

    assert noticed(y=["a", "a", "a"]) == []
    assert noticed(y=["a", "a", "b"]) == ["2 cells of 'y' differ with 1 fixes"]
    assert noticed(x=[1, 2, 4]) == ["1 cells of 'x' differ with 1 fixes"]
