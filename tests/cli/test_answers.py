"""What people fill in comes back from any file, is never lost, and never written over."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from duti.runs.answers import Answers
from duti.runs.folder import Folder
from tests.cli.test_cli import told, typed
from tests.runs.tables import written

PAPER = "--label", "granted", "--recipe", "paper"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the paper's recipe, which flags 15 of 150 rows."""
    folder = tmp_path_factory.mktemp("answers")
    train, trusted, _ = written(folder)
    assert typed("debug", train, trusted, *PAPER, "--id", "name", "--out", folder / "run").exit_code == 0
    return folder / "run"


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(run, tmp_path / "run")


def exported(folder: Path, to: str = "csv") -> Path:
    return Path(told("export", folder, "--to", to)["files"][0])


def cells_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def filled(file: Path, *answers: str, comments: tuple[str, ...] = (), encoding: str = "utf-8") -> Path:
    """The first answers and comments, filled in by somebody's program."""
    rows = cells_of(file)
    for column, values in (("duti_answer", answers), ("duti_comment", comments)):
        for row, value in zip(rows, values, strict=False):
            row[column] = value
    with file.open("w", encoding=encoding, newline="") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return file


def refused(folder: Path, file: Path) -> str:
    result = typed("import", folder, file)
    assert result.exit_code == 2, result.output
    assert not (folder / "answers.json").exists()
    return result.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_answers_come_in_the_encodings_that_tables_come_in(encoding: str, copied: Path) -> None:
    file = filled(exported(copied), "yes", "no", comments=("für Köln",), encoding=encoding)
    assert told("import", copied, file)["answers"] == 2
    assert list(Answers(Folder(copied)).kept.comments.values()) == ["für Köln"]


@pytest.mark.parametrize("letter", ["\u2028", "\u0085", "\f", "\x1c", "\v"])
def test_letters_that_look_like_line_ends_are_letters(letter: str, copied: Path) -> None:
    file = filled(exported(copied), "yes", "no", comments=(f"one{letter}two",))
    assert told("import", copied, file)["answers"] == 2
    assert list(Answers(Folder(copied)).kept.comments.values()) == [f"one{letter}two"]


def test_cells_may_be_long(copied: Path) -> None:
    file = filled(exported(copied), "yes", comments=("x" * 300_000,))
    assert told("import", copied, file)["answers"] == 1


def tasks(folder: Path, **annotation: Any) -> Path:
    """A file of Label Studio whose first task was annotated so."""
    file = exported(folder, "label-studio")
    found = json.loads(file.read_text(encoding="utf-8"))
    for task in found:
        task["annotations"] = []
    found[0]["annotations"] = [annotation]
    file.write_text(json.dumps(found), encoding="utf-8")
    return file


@pytest.mark.parametrize("result", [None, 3, "yes", [3], [{"value": None}], [{"value": {"choices": []}}]])
def test_annotations_without_a_choice_are_no_answers(result: Any, copied: Path) -> None:
    assert "has no answers" in refused(copied, tasks(copied, result=result))


def test_two_choices_in_a_task_are_refused(copied: Path) -> None:
    file = tasks(copied, result=[{"value": {"choices": ["yes", "no"]}}])
    assert "label-studio.json task 1 has 2 answers, 'yes', 'no'; keep one." in refused(copied, file)


@pytest.mark.parametrize("text", ["[" * 100_000, '[{"a":' * 50_000])
def test_json_that_is_nested_too_deeply_is_refused(text: str, copied: Path, tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text(text, encoding="utf-8")
    assert "is not JSON" in refused(copied, file)


def test_somebody_may_be_unsure(copied: Path) -> None:
    file = filled(exported(copied), "?", "Unsure", "yes")
    assert told("import", copied, file) == {"answers": 1, "unsure": 2, "in_all": 1}
    assert [row["duti_answer"] for row in cells_of(exported(copied))[:3]] == ["?", "?", "yes"]
    alone = filled(exported(copied), "?")
    assert told("import", copied, alone)["in_all"] == 1
    assert "unsure, which change nothing" in typed("import", copied, alone).stdout


def test_a_question_mark_that_is_a_label_is_an_answer(tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    for file in (train, trusted):
        file.write_bytes(file.read_bytes().replace(b'"no"', b'"unsure"'))
    out = tmp_path / "run"
    assert (
        typed("debug", train, trusted, *["--label", "granted", "--recipe", "paper", "--out"], out).exit_code
        == 0
    )
    assert told("import", out, filled(exported(out), "unsure"))["answers"] == 1


def test_an_export_is_never_written_over_what_somebody_filled_in(copied: Path) -> None:
    first = filled(exported(copied), "yes", comments=("sure",))
    before = first.read_bytes()
    second = exported(copied)
    assert (first.name, second.name) == ("flagged.csv", "flagged-2.csv")
    assert exported(copied) == second  # nobody has changed this one
    assert first.read_bytes() == before
    told("import", copied, first)
    third = cells_of(exported(copied))
    assert (third[0]["duti_answer"], third[0]["duti_comment"]) == ("yes", "sure")


def test_rounds_are_kept_with_their_reports_answers_and_comments(copied: Path) -> None:
    said: dict[str, str] = {}
    for number, answer in enumerate(("yes", "no", "yes"), start=1):
        file = filled(exported(copied), answer, comments=(f"round {number}",))
        said[cells_of(file)[0]["duti_row"]] = answer
        told("import", copied, file, "--rerun")
        kept = copied / "rounds" / str(number)
        assert cells_of(kept / "flagged.csv")[0]["duti_comment"] == f"round {number}"
        assert "<html" in (kept / "report.html").read_text(encoding="utf-8")
        assert told("report", kept)["rows"] == 150
        assert not (copied / "flagged.csv").exists()
    rows = {row["name"]: row for row in pq.read_table(copied / "findings.parquet").to_pylist()}
    assert {name for name, row in rows.items() if row["verified"]} == set(said)
    comments = Answers(Folder(copied)).kept.comments
    assert sorted(comments.values()) == ["round 1", "round 2", "round 3"]


def test_an_answer_says_whether_the_given_label_was_right(copied: Path) -> None:
    file = exported(copied)
    given = {row["duti_row"]: row["duti_given"] for row in cells_of(file)}
    other = {"yes": "no", "no": "yes"}
    first, second = list(given)[:2]
    told("import", copied, filled(file, given[first], other[given[second]]), "--rerun")
    rows = {row["name"]: row for row in pq.read_table(copied / "findings.parquet").to_pylist()}
    told_of = [(rows[name]["given_label"], rows[name]["label_quality"]) for name in (first, second)]
    assert told_of == [(given[first], 1.0), (given[second], 0.0)]
    assert rows[second]["suggested_label"] == other[given[second]]
    assert not any(rows[name]["flagged"] for name in (first, second))


@pytest.mark.parametrize("after", ["keeping", "making room", "beginning"])
def test_a_round_that_is_interrupted_is_there_once(
    after: str, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    file = filled(exported(copied), "yes", comments=("mine",))
    place = {
        "keeping": "duti.runs.folder.removed",
        "making room": "duti.runs.folder.Folder.begin",
        "beginning": "duti.runs.run.debugged",
    }[after]
    with monkeypatch.context() as patched:
        patched.setattr(place, killed)
        with pytest.raises(Killed):
            typed("import", copied, file, "--rerun")
    if (copied / "flagged.csv").exists():
        file = copied / "flagged.csv"
    else:
        file = copied / "rounds" / "1" / "flagged.csv"
    told("import", copied, file, "--rerun")
    assert sorted(round_.name for round_ in (copied / "rounds").iterdir()) == ["1"]
    assert cells_of(copied / "rounds" / "1" / "flagged.csv")[0]["duti_comment"] == "mine"
    assert told("report", copied)["rows"] == 150


def options(folder: Path) -> tuple[Any, ...]:
    settings = Folder(folder).settings
    return (
        settings.train,
        settings.trusted,
        *["--label", "granted", "--id", "name", "--recipe", "paper", "--out"],
        folder,
    )


def test_a_table_of_ones_own_is_not_written_over(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "corrected.csv").write_text("my work")
    for more in ((), ("--overwrite",)):
        result = typed("debug", *options(run)[:-1], tmp_path / "mine", *more)
        assert result.exit_code == 2
        assert "corrected.csv" in result.stderr
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["corrected.csv"]


@pytest.mark.parametrize("name", ["corrected.csv", "findings.csv", "report.html"])
def test_a_file_that_was_edited_since_is_not_written_over(name: str, copied: Path) -> None:
    (copied / name).write_text("my work")
    result = typed("debug", *options(copied), "--overwrite")
    assert result.exit_code == 2
    assert f"{name} is not as duti wrote it, so it is yours" in result.stderr
    assert (copied / name).read_text() == "my work"
    command = {"corrected.csv": "apply", "report.html": "report"}.get(name)
    if command is not None:
        assert typed(command, copied).exit_code == 2
        assert (copied / name).read_text() == "my work"
    (copied / name).unlink()
    assert typed("debug", *options(copied), "--overwrite").exit_code == 0


def test_what_duti_wrote_is_written_again(copied: Path) -> None:
    for command in ("apply", "report", "apply"):
        assert typed(command, copied).exit_code == 0
    exported(copied)
    assert typed("debug", *options(copied), "--overwrite").exit_code == 0
    assert not (copied / "flagged.csv").exists()


def test_a_corrected_table_of_another_format_makes_room(copied: Path, tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    pq.write_table(pa.csv.read_csv(train), tmp_path / "rows.parquet")
    words = *PAPER, "--overwrite", "--out", copied
    assert typed("debug", tmp_path / "rows.parquet", trusted, *words).exit_code == 0
    assert {file.name for file in copied.glob("corrected.*")} == {"corrected.parquet"}


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("end", ["part", "old"])
def test_what_a_kill_left_half_written_is_removed(kind: str, end: str, copied: Path) -> None:
    left = copied / f".0123456789abcdef.{end}"
    if kind == "folder":
        left.mkdir()
        (left / "data.arrow").write_bytes(b"half")
    else:
        left.write_bytes(b"half")
    assert typed("debug", *options(copied), "--overwrite").exit_code == 0
    assert not left.exists()


WRONG: dict[str, list[Any]] = {
    "state": [None, "", 3, []],
    "settings": [None, [], 3, {}, {"label": 3}],
    "checksums": [None, [], "x"],
    "verified": [None, 3, [3], [[1]], [["a", "b"]], {}],
    "files": [3, [], {"report.html": 3}],
    "format": [None, 99, "1"],
}
DAMAGE = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("name", "value"), DAMAGE)
def test_a_record_that_was_damaged_is_said_to_be(name: str, value: Any, copied: Path) -> None:
    file = copied / "run.json"
    file.write_text(
        json.dumps(json.loads(file.read_text(encoding="utf-8")) | {name: value}), encoding="utf-8"
    )
    for words in (("report", copied), ("apply", copied), ("export", copied, "--to", "csv")):
        result = typed(*words)
        assert result.exit_code == 2, (words, result.output)
        assert "run.json" in result.stderr


@pytest.mark.parametrize(
    "setting", ["train", "label", "trusted", "budget", "drop", "text", "id", "task", "seed"]
)
@pytest.mark.parametrize("value", [{}, [[1]], 1.5, True])
def test_settings_of_another_type_are_said_to_be_damage(setting: str, value: Any, copied: Path) -> None:
    file = copied / "run.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    record["settings"][setting] = value
    file.write_text(json.dumps(record), encoding="utf-8")
    result = typed("report", copied)
    assert result.exit_code == 2
    assert f"run.json was changed, so that it says no run ({setting} is" in result.stderr
