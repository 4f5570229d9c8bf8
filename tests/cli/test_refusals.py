"""Every user error is one line with the place, what was seen and what to do; nothing is half written."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from duti.cli import main
from tests.runs.tables import written

ROWS = "a,b,city,y\n" + "".join(
    f"{i * 1.5},{i % 7},{'xyz'[i % 3]},{'cat' if i % 2 else 'dog'}\n" for i in range(30)
)
TRUSTED = "a,b,city,y\n3,1,x,cat\n4,2,y,dog\n5,5,z,cat\n"
DEBUG = ["--label", "y"]

REFUSED: dict[str, tuple[str, str | None, list[str], str]] = {
    "an unknown label": (
        ROWS,
        TRUSTED.replace("5,5,z,cat", "5,5,z,Cat"),
        DEBUG,
        "trusted.csv line 4: label 'Cat' is not among the training labels 'cat', 'dog'. Did you mean 'cat'? "
        "If not, insist with --classes Cat,cat,dog.",
    ),
    "classes without one that there is": (
        ROWS,
        TRUSTED,
        [*DEBUG, "--classes", "cat,cow"],
        "--classes lacks 'dog', the label of rows.csv line 2; add it.",
    ),
    "classes for the paper's recipe": (
        ROWS,
        TRUSTED,
        [*DEBUG, "--classes", "cat,dog", "--recipe", "paper"],
        "--classes is for --recipe auto; the paper's recipe takes the labels as they are: leave it out.",
    ),
    "predictions of one file only": (
        ROWS,
        TRUSTED,
        [*DEBUG, "--pred-probs", "probs.csv"],
        "--pred-probs-trusted is missing; predictions are needed for rows.csv and trusted.csv.",
    ),
    "a random draw of nothing": (
        ROWS,
        TRUSTED,
        [*DEBUG, "--verified-at-random"],
        "--verified-at-random is given, but no row is verified; give --trusted-column for rows that",
    ),
    "systematic values": (
        ROWS.replace("cat", "1.5").replace("dog", "2"),
        TRUSTED.replace("cat", "1.5").replace("dog", "2"),
        [*DEBUG, "--systematic", "0.5"],
        "--systematic is for classification, but the task is regression",
    ),
    "a trusted row without a label": (
        ROWS,
        TRUSTED.replace("z,cat", "z,"),
        DEBUG,
        "trusted.csv line 4: a trusted row",
    ),
    "no label column": (
        ROWS,
        TRUSTED,
        ["--label", "Y"],
        "has no column 'Y' (--label); it has a, b, city, y. Did",
    ),
    "no label column in trusted": (
        ROWS,
        TRUSTED.replace("city,y", "city,z"),
        DEBUG,
        "trusted.csv has no column 'y'",
    ),
    "a ragged line": (ROWS + "1,2,x,cat,5\n", TRUSTED, DEBUG, "rows.csv line 32"),
    "a missing column": (ROWS, "a,city,y\n3,x,cat\n", DEBUG, "trusted.csv"),
    "text in a number column": (ROWS, TRUSTED.replace("4,2,y", "four,2,y"), DEBUG, "'a'"),
    "no file": (ROWS, None, DEBUG, "trusted.csv: no such file"),
    "an empty file": ("", TRUSTED, DEBUG, "rows.csv"),
    "a header only": ("a,b,city,y\n", TRUSTED, DEBUG, "rows.csv"),
    "one class": (ROWS.replace("dog", "cat"), TRUSTED.replace("dog", "cat"), DEBUG, "rows.csv column 'y'"),
    "no labels": (ROWS.replace("dog", "").replace("cat", ""), TRUSTED, DEBUG, "no row has a label"),
    "a strange confidence": (ROWS, TRUSTED, [*DEBUG, "--confidence", "high"], "--confidence is 'high'"),
    "a confidence of text": (ROWS, TRUSTED, [*DEBUG, "--confidence", "city"], "column 'city' holds string"),
    "an id that is not unique": (ROWS, TRUSTED, [*DEBUG, "--id", "b"], "rows.csv line 9: the id 0 stands at"),
    "a group that is not there": (ROWS, TRUSTED, [*DEBUG, "--group", "sex"], "has no column 'sex' (--group)"),
    "a budget beyond the rows": (ROWS, TRUSTED, [*DEBUG, "--budget", "31"], "budget is 31"),
    "regression of text": (ROWS, TRUSTED, [*DEBUG, "--task", "regression"], "not numbers"),
    "an image that is none": (ROWS, TRUSTED, [*DEBUG, "--image", "city"], "rows.csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_user_errors_are_one_line(name: str, tmp_path: Path) -> None:
    rows, trusted, options, complaint = REFUSED[name]
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    if trusted is not None:
        (tmp_path / "trusted.csv").write_text(trusted, encoding="utf-8")
    words = [
        str(tmp_path / "rows.csv"),
        str(tmp_path / "trusted.csv"),
        "--out",
        str(tmp_path / "out"),
        *options,
    ]
    result = CliRunner().invoke(main, ["debug", *words], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    assert complaint in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("train", [".", "..", "/", ".hidden", "rows.xlsx"])
def test_strange_names_are_refused(train: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.xlsx").write_bytes(b"PK\x03\x04")
    result = CliRunner().invoke(main, ["debug", train, "trusted.csv", "--label", "y"], catch_exceptions=False)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert [file.name for file in tmp_path.iterdir()] == ["rows.xlsx"]


def test_nothing_trusted_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    result = CliRunner().invoke(main, ["debug", str(tmp_path / "rows.csv"), "--label", "y"])
    assert result.exit_code == 2
    assert "nothing is trusted" in result.stderr


def test_an_out_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "trusted.csv").write_text(TRUSTED, encoding="utf-8")
    words = [str(tmp_path / "rows.csv"), str(tmp_path / "trusted.csv"), "--label", "y"]
    result = CliRunner().invoke(main, ["debug", *words, "--out", str(tmp_path / "rows.csv")])
    assert result.exit_code == 2
    assert "is a file" in result.stderr


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_refused_and_not_waited_for(kind: str, tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    odd = tmp_path / "odd.csv"
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("/dev/zero")
    for files in ((odd, trusted), (train, odd)):
        words = ["debug", *map(str, files), "--label", "granted", "--out", str(tmp_path / "out")]
        found = CliRunner().invoke(main, words, catch_exceptions=False)
        assert found.exit_code == 2
        assert f"odd.csv is a {kind}, not a file" in found.output


def test_too_little_memory_is_said_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    train, trusted, _ = written(tmp_path)
    words = ["debug", str(train), str(trusted), "--label", "granted", "--out", str(tmp_path / "out")]
    for place in ("duti.files.reading.unzipped", "duti.runs.run.reasons", "duti.automatic.Automatic.rank"):
        with monkeypatch.context() as patched:
            patched.setattr(place, exhausted)
            if place.endswith("unzipped"):
                zipped = tmp_path / "rows.csv.gz"
                zipped.write_bytes(gzip.compress(train.read_bytes()))
                words[1] = str(zipped)
            found = CliRunner().invoke(main, [*words, "--overwrite"], catch_exceptions=False)
        assert found.exit_code == 3, found.output
        assert "not enough memory; use --sample to debug some of the rows" in found.output
    assert CliRunner().invoke(main, [*words, "--resume"]).exit_code == 0  # nothing was lost


@pytest.mark.parametrize(("redirected", "code"), [("| true", 141), ("2>&-", 0), (">&- 2>&-", 0), ("<&-", 0)])
def test_closed_pipes_and_streams_end_quietly_after_all_is_written(
    redirected: str, code: int, tmp_path: Path
) -> None:
    train, trusted, _ = written(tmp_path, n=60)
    options = "--label granted --recipe paper --out out"
    script = f"set -o pipefail; {sys.executable} -m duti debug {train} {trusted} {options} {redirected}"
    found = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == code, found.stderr
    assert not found.stderr
    assert {"report.html", "corrected.csv", "findings.csv", "run.json"} <= {
        file.name for file in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize("letter", ["\x1b[2J", "\x9b31m", "\u202e", "\x07", "\u2028"])
def test_no_message_tells_a_terminal_what_to_do(letter: str, tmp_path: Path) -> None:
    train, trusted, _ = written(tmp_path)
    odd = tmp_path / "odd.csv"
    odd.write_text(train.read_text(encoding="utf-8").replace("city", f"ci{letter}ty"), encoding="utf-8")
    for words in (
        ["debug", odd, trusted, "--label", "granted"],
        ["debug", odd, odd, "--label", "none"],
        ["debug", odd, trusted, "--label", "granted", "--group", f"ci{letter}"],
        ["report", tmp_path / f"no{letter}where"],
    ):
        found = CliRunner().invoke(main, [*map(str, words)])
        assert found.exit_code == 2
        assert letter not in found.output
        assert "[U+" in found.output


def test_images_come_from_the_folder_of_the_table_or_from_one_that_is_named(tmp_path: Path) -> None:
    from PIL import Image

    for place in ("table", "photos"):
        (tmp_path / place).mkdir()
    lines = ["photo,y"]
    for row in range(16):
        Image.new("L", (8, 8), 200 * (row % 2)).save(tmp_path / "photos" / f"{row}.png")
        lines.append(f"../photos/{row}.png,{'day' if row % 2 else 'night'}")
    for name, some in (("rows", lines), ("trusted", lines[:5])):
        (tmp_path / "table" / f"{name}.csv").write_text("\n".join(some))
    files = [str(tmp_path / "table" / f"{name}.csv") for name in ("rows", "trusted")]
    words = [
        "debug",
        *files,
        *["--label", "y", "--image", "photo", "--recipe", "paper", "--out"],
        str(tmp_path / "out"),
    ]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert "it is outside of" in refused.output
    for file in files:
        Path(file).write_text(Path(file).read_text().replace("../photos/", ""))
    named = CliRunner().invoke(main, [*words, "--images-from", str(tmp_path / "photos")])
    assert named.exit_code == 0, named.output
    assert CliRunner().invoke(main, ["report", str(tmp_path / "out")]).exit_code == 0
