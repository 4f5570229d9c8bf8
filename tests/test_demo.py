from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from duti.cli import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(main, ["demo", "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, out


def test_the_demo_prints_flags_that_are_bugs(demo: tuple[str, Path]) -> None:
    assert "11 of 12 flags are real bugs" in demo[0]
    assert "Report:" in demo[0]


def test_the_demo_leaves_a_report_a_picture_and_the_corrected_table(demo: tuple[str, Path]) -> None:
    assert "students.csv" in (demo[1] / "report.html").read_text(encoding="utf-8")
    assert (demo[1] / "harry_potter.png").read_bytes().startswith(b"\x89PNG")
    assert (demo[1] / "corrected.csv").exists()
