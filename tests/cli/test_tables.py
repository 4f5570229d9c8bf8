"""Tables as people have them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import duti
from duti.cli import main
from tests.encode.frames import adult, german_credit
from tests.encode.test_encoder import by_hand
from tests.runs.tables import table, written


def told(*words: object) -> Any:
    result = CliRunner().invoke(main, [*map(str, words), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def ranked(out: Path) -> list[Any]:
    found = pq.read_table(out / "findings.parquet")
    return list(zip(*found.select([0, 1, 4, 5]).to_pydict().values(), strict=True))


def write(name: str, rows: pa.Table, folder: Path) -> Path:
    """The same rows in some format."""
    import pyarrow.csv
    import pyarrow.feather

    file = folder / name
    kind = name.split(".", 1)[1]
    if kind == "parquet":
        pq.write_table(rows, file)
    elif kind == "arrow":
        pyarrow.feather.write_feather(rows, str(file), compression="uncompressed")
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()), encoding="utf-8")
    elif kind in ("tsv", "csv.gz"):
        options = pyarrow.csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        with gzip.open(file, "wb") if kind == "csv.gz" else file.open("wb") as out:
            pyarrow.csv.write_csv(rows, out, options)
    else:
        pyarrow.csv.write_csv(rows, file)
    return file


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet", "arrow", "csv.gz"])
def test_the_same_table_gives_the_same_findings_in_any_format(kind: str, tmp_path: Path) -> None:
    rows, trusted = table(60, 0, wrong=True)[0], table(20, 1, wrong=False)[0]
    for some in ("csv", kind):
        files = write(f"rows.{some}", rows, tmp_path), write(f"trusted.{some}", trusted, tmp_path)
        told("debug", *files, "--label", "granted", "--drop", "name", "--out", tmp_path / some, "--budget", 9)
    assert ranked(tmp_path / kind) == ranked(tmp_path / "csv")
    assert (tmp_path / kind / f"corrected.{kind}").exists()


def test_a_column_may_mark_the_trusted_rows(tmp_path: Path) -> None:
    train, _, _ = written(tmp_path)
    for name, cells in (("marks", "yes"), ("labels", None)):
        lines = train.read_text(encoding="utf-8").splitlines()
        known = range(101, len(lines))
        lines[0] += ",known"
        for i in range(1, len(lines)):
            label = lines[i].rsplit(",", 1)[1].strip('"')
            lines[i] += f",{(cells or label) if i in known else ('no' if cells else '')}"
        file = tmp_path / f"{name}.csv"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = (
            "--label",
            "granted",
            "--drop",
            "name",
            "--trusted-column",
            "known",
            "--out",
            tmp_path / name,
        )
        found = told("debug", file, *words)
        assert found["rows"] == 150
        verified = pq.read_table(tmp_path / name / "findings.parquet")
        assert sum(verified["verified"].to_pylist()) == len(known)


def test_rows_without_a_label_are_left_as_they_are(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    lines = train.read_text(encoding="utf-8").splitlines()
    for i in (3, 7):
        lines[i] = lines[i].rsplit(",", 1)[0] + ","
    train.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = told("debug", train, trusted, "--label", "granted", "--out", tmp_path / "out")
    assert found["rows"] == 148
    assert any("Rows without a label are left as they are (2)" in note for note in found["notes"])
    findings = pq.read_table(tmp_path / "out" / "findings.parquet").to_pylist()
    assert [row["row"] for row in findings if row["rank"] is None] == [3, 7]
    assert len((tmp_path / "out" / "corrected.csv").read_text(encoding="utf-8").splitlines()) == 151


def test_confidences_are_read_from_a_column(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    lines = trusted.read_text(encoding="utf-8").splitlines()
    weighed = [lines[0] + ",sure", *(f"{line},{i % 3}" for i, line in enumerate(lines[1:]))]
    trusted.write_text("\n".join(weighed) + "\n", encoding="utf-8")
    told("debug", train, trusted, "--label", "granted", "--confidence", "sure", "--out", tmp_path / "out")


def test_a_regression_gets_numbers_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 6, 80)
    y = np.sin(x).round(3)
    y[:8] += 2
    for name, some in (("rows.csv", slice(0, 60)), ("trusted.csv", slice(60, 80))):
        write(name, pa.table({"x": x[some], "y": y[some]}), tmp_path)
    out = tmp_path / "out"
    told(
        "debug", tmp_path / "rows.csv", tmp_path / "trusted.csv", "--label", "y", "--budget", 8, "--out", out
    )
    found = pq.read_table(out / "findings.parquet").to_pylist()
    assert sum(row["row"] <= 8 for row in found if row["flagged"]) >= 6
    fixed = dict(zip(range(1, 61), pa.csv.read_csv(out / "corrected.csv")["y"].to_pylist(), strict=True))
    first = found[0]
    assert abs(fixed[first["row"]] - np.sin(x[first["row"] - 1])) < 0.5


@pytest.mark.parametrize("name", ["german", "adult"])
def test_raw_files_are_debugged_as_by_hand(name: str, tmp_path: Path) -> None:
    """The command line alone, against a library call on a ColumnTransformer that somebody wrote."""
    frame = german_credit() if name == "german" else adult().drop(columns="split")
    label, n = ("class", 300) if name == "german" else ("income", 250)
    some = frame.sample(n + 40, random_state=0, ignore_index=True)
    rows, trusted = some[:n].copy(), some[n:].copy()
    young = (rows["age"] < 30).to_numpy()
    rows.loc[young, label] = rows[label].min()
    for file, part in (("rows.csv", rows), ("trusted.csv", trusted)):
        part.to_csv(tmp_path / file, index=False)
    words = ("--label", label, "--budget", 25, "--out", tmp_path / "out")
    told("debug", tmp_path / "rows.csv", tmp_path / "trusted.csv", *words)
    X, X_trusted = by_hand(rows.drop(columns=label), trusted.drop(columns=label), min_frequency=n // 100)
    found = duti.debug(X, rows[label], X_trusted, trusted[label], budget=25, random_state=0)
    table = pq.read_table(tmp_path / "out" / "findings.parquet").sort_by("row")
    assert table["suggested_label"].to_pylist() == found.suggested_labels.tolist()
    # Marks of missing values make another order of columns, on which a forest's draws depend a little.
    np.testing.assert_allclose(table["label_quality"], found.label_quality, atol=0.01)


def test_a_run_is_bound_to_the_predictions_it_was_given(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path, n=60, m=12)
    for file, number in (("probs.npy", 60), ("items.npy", 12)):
        p = np.random.default_rng(0).uniform(size=number)
        np.save(tmp_path / file, np.column_stack([p, 1 - p]))
    out, probs = tmp_path / "out", tmp_path / "probs.npy"
    words = ("--label", "granted", "--drop", "name", "--out", out, "--classes", "yes,no")
    predictions = ("--pred-probs", probs, "--pred-probs-trusted", tmp_path / "items.npy")
    told("debug", train, trusted, *words, *predictions)
    record = json.loads((out / "run.json").read_text())
    assert set(record["checksums"]) == {"train", "trusted", "pred_probs", "pred_probs_trusted"}
    assert record["settings"]["classes"] == ["yes", "no"]
    assert "probs.npy" in (out / "report.html").read_text(encoding="utf-8")
    assert str(tmp_path) not in (out / "report.html").read_text(encoding="utf-8")
    told("report", out)
    np.save(probs, np.full((60, 2), 0.5))
    result = CliRunner().invoke(main, ["report", str(out)])
    assert result.exit_code == 2
    assert "probs.npy has changed since it was debugged" in result.stderr


def test_a_table_of_labels_and_predictions_is_debugged(tmp_path: Path) -> None:
    truth = np.arange(40) % 2
    given = np.where(np.arange(40) < 3, 1 - truth, truth)
    p = np.random.default_rng(1).uniform(0.8, 0.98, 40)
    lines = [f"{label},{'x' if row > 30 else ''}" for row, label in enumerate("ab"[code] for code in given)]
    (tmp_path / "rows.csv").write_text("y,ok\n" + "\n".join(lines) + "\n")
    np.save(tmp_path / "probs.npy", np.where(truth[:, None] == [0, 1], p[:, None], 1 - p[:, None]))
    out = tmp_path / "out"
    words = ("--label", "y", "--trusted-column", "ok", "--verified-at-random", "--out", out, "--budget", 3)
    told("debug", tmp_path / "rows.csv", *words, "--pred-probs", tmp_path / "probs.npy")
    assert sorted(pq.read_table(out / "findings.parquet")["row"].to_pylist()[:3]) == [1, 2, 3]


def test_a_class_that_only_trusted_rows_have_is_written_to_the_corrected_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    x = 6 * truth + rng.normal(size=60)
    given = np.array(["low", "mid", "mid"])[truth]
    rows = pa.table({"x": x, "z": rng.normal(size=60), "y": given})
    right = np.array(["low", "mid", "exceptional"])[truth]
    trusted = pa.table({"x": x + 0.1, "z": rng.normal(size=60), "y": right}).slice(0, 18)
    files = write("rows.csv", rows, tmp_path), write("trusted.csv", trusted, tmp_path)
    told("debug", *files, "--label", "y", "--out", tmp_path / "out", "--budget", 20)
    assert "exceptional" in (tmp_path / "out" / "corrected.csv").read_text()
