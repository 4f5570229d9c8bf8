"""Commands, as somebody types them."""

from __future__ import annotations

import csv
import html
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import duti
from duti.cli import main
from duti.report.flagged import flagged_table
from duti.report.marks import Marks
from duti.report.text import SPACE
from duti.report.trusted import item_names
from duti.runs.folder import Folder
from duti.runs.run import reported
from tests.runs.tables import written


def typed(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def told(*words: object) -> Any:
    result = typed(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tables")
    return written(folder)


@pytest.fixture(scope="module")
def run(files: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("runs") / "run"
    result = typed(
        "debug",
        *files[:2],
        "--label",
        "granted",
        "--id",
        "name",
        "--group",
        "city",
        "--budget",
        20,
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    """A finished run that may be changed."""
    return shutil.copytree(run, tmp_path / "run")


def test_everything_that_was_promised_is_written(run: Path, files: Any) -> None:
    names = {"findings.parquet", "findings.csv", "findings.duti", "corrected.csv", "report.html", "run.json"}
    assert {file.name for file in run.iterdir()} == names
    table = pq.read_table(run / "findings.parquet")
    assert sorted(table["name"].to_pylist()) == [f"p0-{i:03d}" for i in range(150)]
    assert table["rank"].to_pylist() == list(range(1, 151))
    with (run / "findings.csv").open(encoding="utf-8") as lines:
        cells = list(csv.DictReader(lines))
    assert [row["name"] for row in cells] == table["name"].to_pylist()
    is_bug = dict(zip((f"p0-{i:03d}" for i in range(150)), files[2], strict=True))
    flagged = [row for row in cells if row["flagged"] == "true"]
    assert 0 < len(flagged) <= 20
    assert sum(is_bug[row["name"]] for row in flagged) > 0.7 * len(flagged)
    assert all("trusted row" in row["why"] for row in flagged[:3])


def test_the_corrected_table_differs_in_the_fixed_labels_only(run: Path, files: Any) -> None:
    before, after = files[0].read_bytes().split(b"\n"), (run / "corrected.csv").read_bytes().split(b"\n")
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    rows = pq.read_table(run / "findings.parquet").to_pylist()
    fixed = [row for row in rows if row["suggested_label"] != row["given_label"]]
    assert len(changed) == len(fixed) > 0
    # Only what is more probably wrong than right is changed, to the candidate.
    assert all(row["label_quality"] < 0.5 for row in fixed)
    assert all(row["suggested_label"] == row["candidate_label"] for row in fixed)
    for old, new in changed:
        assert old.rsplit(b",", 1)[0] == new.rsplit(b",", 1)[0]


def test_the_terminal_shows_the_verdict_and_the_top_rows(files: Any, tmp_path: Path) -> None:
    result = typed("debug", *files[:2], "--label", "granted", "--out", tmp_path / "out")
    assert "of 150 rows" in result.stdout
    assert "most suspicious" in result.stdout
    assert "report.html" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert ("Rows are counted from 1, below the header, trusted ones too." in page) == (
        "No row is" not in page
    )
    quiet = typed(
        "debug", *files[:2], "--label", "granted", "--out", tmp_path / "out", "--overwrite", "--quiet"
    )
    assert (quiet.stdout, quiet.exit_code) == ("", 0)


def test_machines_read_json(run: Path) -> None:
    found = told("report", run)
    assert found["rows"] == 150
    assert found["flagged"] == len(Folder(run).findings.flagged)
    assert {"row", "given", "suggested", "candidate", "label_quality", "why"} == found["top"][0].keys()
    assert Path(found["report"]).exists()


def test_command_line_report_and_json_say_the_same(run: Path) -> None:
    found, findings = told("report", run), Folder(run).findings
    assert findings.verdict is not None
    assert findings.power is not None
    assert found["verdict"] == findings.verdict.name.lower()
    assert found["verdict_sentence"] == str(findings.verdict)
    assert found["verdict_reason"] == findings.verdict_reason
    assert found["power"]["sentence"] == findings.power.sentence
    assert found["changed"] == len(findings.fixed)
    page = html.unescape((run / "report.html").read_text(encoding="utf-8"))
    shown = " ".join(typed("report", run).stdout.split())
    assert found["verdict_sentence"] in page
    assert " ".join(found["summary"]) in page
    for sentence in (found["verdict_sentence"], *found["summary"]):
        assert " ".join(sentence.split()) in shown


def test_findings_of_the_papers_recipe_have_no_verdict(files: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = told("debug", *files[:2], "--label", "granted", "--recipe", "paper", "--budget", 10, "--out", out)
    assert found["verdict"] is None
    assert found["power"] is None
    assert found["flagged"] == found["changed"]
    assert "look mislabelled; " in found["verdict_sentence"]
    assert told("apply", out, "--top", 3)["changed"] == 3
    refused = typed("apply", out, "--at-least", 0.5)
    assert refused.exit_code == 2
    assert "scores, not probabilities" in refused.stderr


def test_a_dry_run_writes_nothing(files: Any, tmp_path: Path) -> None:
    plan = told("debug", *files[:2], "--label", "granted", "--dry-run", "--out", tmp_path / "out")
    assert (plan["rows"], plan["trusted"], plan["classes"]) == (150, 30, 2)
    assert plan["seconds"] > 0
    assert plan["bytes"] > 0
    assert not (tmp_path / "out").exists()
    shown = typed("debug", *files[:2], "--label", "granted", "--dry-run", "--out", tmp_path / "out").stdout
    assert "age: number" in shown
    assert "It would take about" in shown


def test_a_finished_run_is_not_replaced_without_being_asked(run: Path, files: Any) -> None:
    result = typed("debug", *files[:2], "--label", "granted", "--out", run)
    assert result.exit_code == 2
    assert "already holds a run that is finished" in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_is_there_stays_if_the_new_input_is_wrong(copied: Path, files: Any, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in copied.iterdir()}
    (tmp_path / "broken.csv").write_text("granted\n")
    result = typed(
        "debug", files[0], tmp_path / "broken.csv", "--label", "granted", "--out", copied, "--overwrite"
    )
    assert result.exit_code == 2
    assert {file.name: file.read_bytes() for file in copied.iterdir()} == before


def test_resuming_a_finished_run_shows_it_again(copied: Path, files: Any) -> None:
    options = ("--label", "granted", "--id", "name", "--group", "city", "--budget", 20, "--out", copied)
    (copied / "report.html").unlink()
    assert told("debug", *files[:2], *options, "--resume")["flagged"] == len(Folder(copied).findings.flagged)
    assert (copied / "report.html").exists()


def test_resuming_with_other_options_is_refused(run: Path, files: Any) -> None:
    result = typed("debug", *files[:2], "--label", "granted", "--out", run, "--resume", "--budget", 3)
    assert result.exit_code == 2
    assert "budget" in result.stderr


def test_fixes_are_applied_from_the_top(copied: Path, files: Any, tmp_path: Path) -> None:
    assert told("apply", copied, "--top", 2)["changed"] == 2
    out = tmp_path / "mine.csv"
    assert told("apply", copied, "--top", 0, "--out", out)["changed"] == 0
    assert out.read_bytes() == files[0].read_bytes()
    assert typed("apply", copied, "--top", 1, "--accepted").exit_code == 2
    assert typed("apply", copied, "--at-least", 0.5, "--accepted").exit_code == 2
    assert typed("apply", copied, "--at-least", 1.5).exit_code == 2
    too_many = typed("apply", copied, "--top", 9999)
    assert too_many.exit_code == 2
    assert "Error: --top is 9999, but 150 rows are not verified; use 0 to 150." in too_many.stderr


def test_fixes_are_applied_by_their_probability(copied: Path, run: Path) -> None:
    wrong = 1 - Folder(run).findings.label_quality
    middle = float(np.median(wrong[wrong > 0.1]))
    likely = int((wrong >= middle - 1e-9).sum())
    assert told("apply", copied, "--at-least", middle)["changed"] == likely > 1
    assert told("apply", copied, "--at-least", middle, "--top", 1)["changed"] == 1
    assert told("apply", copied, "--at-least", middle, "--top", 150)["changed"] == likely


def test_applied_without_a_word_are_the_fixes_of_the_run(copied: Path, run: Path) -> None:
    told("apply", copied, "--top", 0)
    assert told("apply", copied)["changed"] == len(Folder(run).findings.fixed)
    assert (copied / "corrected.csv").read_bytes() == (run / "corrected.csv").read_bytes()


def test_exported_rows_have_their_candidates(copied: Path) -> None:
    files = {
        to: Path(told("export", copied, "--to", to)["files"][0]) for to in ("csv", "jsonl", "label-studio")
    }
    findings = Folder(copied).findings
    candidates = findings.candidate_labels[findings.flagged].tolist()
    with files["csv"].open(encoding="utf-8") as lines:
        assert [row["duti_candidate"] for row in csv.DictReader(lines)] == candidates
    rows = [json.loads(line) for line in files["jsonl"].read_text(encoding="utf-8").splitlines()]
    assert [row["duti_candidate"] for row in rows] == candidates
    assert [row["duti_suggested"] for row in rows] == findings.suggested_labels[findings.flagged].tolist()
    tasks = json.loads(files["label-studio"].read_text(encoding="utf-8"))
    choices = [task["predictions"][0]["result"][0]["value"]["choices"] for task in tasks]
    assert choices == [[label] for label in candidates]


def test_the_input_is_never_overwritten(copied: Path, files: Any) -> None:
    before = files[0].read_bytes()
    result = typed("apply", copied, "--top", 1, "--out", files[0])
    assert result.exit_code == 2
    assert files[0].read_bytes() == before


@pytest.mark.parametrize("to", ["csv", "jsonl", "label-studio"])
def test_answers_come_back_in_any_format(to: str, copied: Path) -> None:
    file = Path(told("export", copied, "--to", to)["files"][0])
    names = answer(file, ["yes", "no", "yes"])
    found = told("import", copied, file)
    assert found == {"answers": 3, "unsure": 0, "in_all": 3}
    applied = told("apply", copied, "--accepted")
    given = dict(
        zip(
            *pq.read_table(copied / "findings.parquet").select(["name", "given_label"]).to_pydict().values(),
            strict=True,
        )
    )
    assert applied["changed"] == sum(given[name] != label for name, label in names.items())


def answer(file: Path, labels: list[str]) -> dict[str, str]:
    """Fill in the first answers, as a person or Label Studio would."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row, label in zip(rows, labels, strict=False):
            row["duti_answer"] = label
        with file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return {row["duti_row"]: row["duti_answer"] for row in rows[: len(labels)]}
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row, label in zip(rows, labels, strict=False):
            row["duti_answer"] = label
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return {row["duti_row"]: row["duti_answer"] for row in rows[: len(labels)]}
    tasks = json.loads(file.read_text(encoding="utf-8"))
    for task, label in zip(tasks, labels, strict=False):
        task["annotations"] = [{"result": [{"type": "choices", "value": {"choices": [label]}}]}]
    for task in tasks[len(labels) :]:
        task["annotations"] = []
    file.write_text(json.dumps(tasks), encoding="utf-8")
    return {task["data"]["duti_row"]: label for task, label in zip(tasks, labels, strict=False)}


def test_answers_are_verified_rows_of_the_next_run(copied: Path) -> None:
    file = Path(told("export", copied, "--to", "csv")["files"][0])
    names = answer(file, ["no", "no"])
    told("import", copied, file, "--rerun")
    table = pq.read_table(copied / "findings.parquet").to_pylist()
    verified = {row["name"] for row in table if row["verified"]}
    assert verified == set(names)
    assert not any(row["flagged"] for row in table if row["verified"])
    again = told("report", copied)
    assert again["flagged"] == sum(row["flagged"] for row in table)


@pytest.mark.parametrize(
    "cells, complaint",
    [
        (
            "duti_row,duti_answer\np0-001,maybe\n",
            "answers.csv line 2: the answer 'maybe' is not among the labels no, yes",
        ),
        ("duti_row,duti_answer\nnobody,yes\n", "there is no row 'nobody'"),
        ("duti_row,duti_answer\np0-001,yes\np0-001,no\n", "has two answers"),
        ("duti_row,duti_answer\np0-001,\n", "has no answers"),
        ("row,answer\np0-001,yes\n", "has no column 'duti_row'"),
    ],
)
def test_wrong_answers_are_named(cells: str, complaint: str, copied: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(cells, encoding="utf-8")
    result = typed("import", copied, file)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert not (copied / "answers.json").exists()


def test_answers_about_another_table_are_forgotten(copied: Path, files: Any, tmp_path: Path) -> None:
    file = Path(told("export", copied, "--to", "csv")["files"][0])
    answer(file, ["yes", "no"])
    told("import", copied, file)
    other = tmp_path / "other.csv"
    other.write_bytes(files[0].read_bytes().replace(b"Paris", b"Lyon"))
    words = "debug", other, files[1], "--label", "granted", "--out", copied, "--overwrite"
    assert "flagged.csv is not as duti wrote it" in typed(*words).stderr  # somebody's answers
    file.rename(tmp_path / "answers.csv")
    told(*words)
    assert told("apply", copied, "--accepted")["changed"] == 0


def test_no_input_is_ever_overwritten_nor_written_in_another_format(
    copied: Path, files: Any, tmp_path: Path
) -> None:
    before = files[1].read_bytes()
    for out in (files[1], tmp_path / "table.parquet"):
        assert typed("apply", copied, "--top", 1, "--out", out).exit_code == 2
    assert files[1].read_bytes() == before


def test_what_cannot_be_written_has_an_exit_code_of_its_own(copied: Path, tmp_path: Path) -> None:
    result = typed("apply", copied, "--top", 1, "--out", tmp_path / "nowhere" / "x.csv")
    assert result.exit_code == 4
    assert "cannot be written" in result.stderr


def test_a_clean_table_is_told_to_be_clean(tmp_path: Path) -> None:
    rows = "x,label\n" + "".join(f"{i},{'a' if i < 40 else 'b'}\n" for i in [*range(35), *range(45, 80)])
    (tmp_path / "rows.csv").write_text(rows)
    (tmp_path / "trusted.csv").write_text("x,label\n3,a\n70,b\n20,a\n60,b\n")
    words = (tmp_path / "rows.csv", tmp_path / "trusted.csv", "--label", "label", "--out", tmp_path / "out")
    found = told("debug", *words)
    assert found["flagged"] == 0
    assert (found["verdict"], found["systematic"], found["changed"]) == ("no_evidence", None, 0)
    assert found["verdict_sentence"] == "There is no evidence of wrong labels."
    said = " ".join([*found["summary"], *found["notes"], (tmp_path / "out" / "report.html").read_text()])
    assert "mislabelled" not in said
    assert "The bugs look" not in said
    assert "contradict" not in said
    assert "no label needs to change" not in said
    assert "uspicious" not in (tmp_path / "out" / "report.html").read_text()
    shown = typed("report", tmp_path / "out").stdout
    assert shown.startswith("There is no evidence of wrong labels.")  # no table of no rows
    assert (tmp_path / "out" / "corrected.csv").read_bytes() == (tmp_path / "rows.csv").read_bytes()


def test_ids_called_like_our_columns_are_kept(files: Any, tmp_path: Path) -> None:
    lines = files[0].read_text(encoding="utf-8").splitlines()
    (tmp_path / "rows.csv").write_text("\n".join(["rank" + lines[0][6:], *lines[1:]]), encoding="utf-8")
    lines = files[1].read_text(encoding="utf-8").splitlines()
    (tmp_path / "trusted.csv").write_text("\n".join(["rank" + lines[0][6:], *lines[1:]]), encoding="utf-8")
    words = (tmp_path / "rows.csv", tmp_path / "trusted.csv", "--label", "granted", "--id", "rank")
    told("debug", *words, "--out", tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "findings.parquet")
    assert table.column_names[:2] == ["rank (id)", "rank"]
    assert table["rank (id)"][0].as_py().startswith("p0-")


@pytest.mark.parametrize("ids", [["028", "1.0", "None", "=1+1", "'x", " 7"], [5.0, 2.5, 1e6, 3.0, 4.0, 9.0]])
def test_rows_are_found_again_whatever_programs_make_of_their_names(ids: list[Any]) -> None:
    from duti.runs.answers import _Rows

    rows = _Rows(np.asarray(ids, dtype=object))
    for place, name in enumerate(ids):
        assert rows.place(name) == rows.place(str(name)) == rows.place(f"'{name}") == place
    assert _Rows(np.asarray(["028", "x"], dtype=object)).place("28") == 0
    assert _Rows(np.asarray(["28", "028"], dtype=object)).place("28.0") is None


def test_two_runs_do_not_share_a_folder(copied: Path, files: Any) -> None:
    with Folder(copied).locked():
        result = typed("debug", *files[:2], "--label", "granted", "--out", copied, "--overwrite")
    assert result.exit_code == 2
    assert "another run is at work" in result.stderr


def test_a_folder_with_files_of_somebody_else_is_refused(files: Any, tmp_path: Path) -> None:
    (tmp_path / "findings.csv").write_text("mine")
    result = typed("debug", *files[:2], "--label", "granted", "--out", tmp_path, "--overwrite")
    assert result.exit_code == 2
    assert (tmp_path / "findings.csv").read_text() == "mine"


def test_wrong_json_answers_are_named(copied: Path, tmp_path: Path) -> None:
    for text in ("{", "{}", "[1]", '[{"data": {}}]'):
        file = tmp_path / "answers.json"
        file.write_text(text, encoding="utf-8")
        result = typed("import", copied, file)
        assert result.exit_code == 2
        assert "answers.json" in result.stderr


def test_a_changed_input_is_noticed(files: Any, tmp_path: Path) -> None:
    train = tmp_path / "rows.csv"
    train.write_bytes(files[0].read_bytes())
    told("debug", train, files[1], "--label", "granted", "--out", tmp_path / "out")
    train.write_bytes(train.read_bytes().replace(b"Rome", b"Roma"))
    result = typed("report", tmp_path / "out")
    assert result.exit_code == 2
    assert "has changed since" in result.stderr


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    for command in (
        ["report"],
        ["export", "--to", "csv"],
        ["apply", "--top", 1],
        ["import", tmp_path / "a.csv"],
    ):
        result = typed(command[0], tmp_path, *command[1:])
        assert result.exit_code == 2, command
        assert "holds no run" in result.stderr


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom duti.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'sklearn', 'scipy', 'pyarrow', 'pandas', 'matplotlib', 'rich', 'jinja2', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stderr.strip() == "[]"
    assert "debug" in out.stdout


def test_the_version_is_told() -> None:
    assert duti.__version__ in typed("--version").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell: str) -> None:
    assert "_DUTI_COMPLETE" in typed("completion", shell).stdout


def test_every_command_and_option_is_documented() -> None:
    for name, command in main.commands.items():
        assert command.get_short_help_str(), name
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)


def test_labels_that_look_like_formulas_survive_the_round_trip(tmp_path: Path) -> None:
    import pyarrow.csv as pa_csv

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    labels = np.where(X[:, 0] > 0, "+1", "=cmd|' /C calc'!A0")
    labels[:6] = labels[:6][::-1]
    for name, some in (("rows.csv", slice(0, 60)), ("trusted.csv", slice(60, 80))):
        pa_csv.write_csv(
            pa.table({"a": X[some, 0], "b": X[some, 1], "y": labels[some].tolist()}), tmp_path / name
        )
    out = tmp_path / "out"
    told(
        "debug", tmp_path / "rows.csv", tmp_path / "trusted.csv", "--label", "y", "--out", out, "--budget", 10
    )
    with (out / "findings.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            assert row["given_label"].startswith("'")
    exact = set(pq.read_table(out / "findings.parquet")["given_label"].to_pylist())
    assert exact == set(labels)
    file = Path(told("export", out, "--to", "csv")["files"][0])
    answer(file, ["'+1"])
    assert told("import", out, file)["answers"] == 1


def test_tables_and_report_name_the_same_items_for_a_row_those_that_ask_for_the_change_first(
    run: Path,
) -> None:
    outcome = reported(Folder(run))
    case = outcome.case
    names = item_names(case)
    table = flagged_table(case, Marks.of(case), names)
    ids = dict(zip(case.findings.flagged.tolist(), case.findings.row_ids[case.findings.flagged], strict=True))
    with (run / "findings.csv").open(encoding="utf-8") as lines:
        why = {row["name"]: row["why"] for row in csv.DictReader(lines)}
    assert len(table.flags) > 5
    for flag in table.flags:
        told = [f"{pull.name} ({pull.share.replace(SPACE, ' ')})" for pull in flag.pulls]
        assert why[str(ids[flag.row])] == ", ".join(told)
        assert "against" not in told[0]


def test_findings_may_have_the_columns_of_the_table(files: Any, tmp_path: Path) -> None:
    options = ["--label", "granted", "--id", "name", "--recipe", "paper", "--with-columns", "--out"]
    assert typed("debug", *files[:2], *options, tmp_path / "out").exit_code == 0
    found = pq.read_table(tmp_path / "out" / "findings.parquet").to_pylist()
    with files[0].open(encoding="utf-8", newline="") as lines:
        rows = {row["name"]: row for row in csv.DictReader(lines)}
    assert len(found) == len(rows)
    for row in found:
        own = rows[row["name"]]
        assert (row["age"], row["city"]) == (float(own["age"]), own["city"])
    with (tmp_path / "out" / "findings.csv").open(encoding="utf-8") as lines:
        assert {"age", "city", "income"} <= set(csv.DictReader(lines).fieldnames or ())


def test_columns_that_are_called_like_findings_have_other_names(files: Any, tmp_path: Path) -> None:
    train = tmp_path / "rows.csv"
    train.write_bytes(files[0].read_bytes().replace(b'"city"', b'"rank"').replace(b'"age"', b'"why"'))
    trusted = tmp_path / "trusted.csv"
    trusted.write_bytes(files[1].read_bytes().replace(b'"city"', b'"rank"').replace(b'"age"', b'"why"'))
    options = ["--label", "granted", "--id", "name", "--recipe", "paper", "--with-columns", "--out"]
    assert typed("debug", train, trusted, *options, tmp_path / "out").exit_code == 0
    names = pq.read_table(tmp_path / "out" / "findings.parquet").column_names
    assert {"rank", "rank (column)", "why", "why (column)"} <= set(names)
