from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duti import demo


def test_the_demo_prints_flags_that_are_bugs_and_draws_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["demo", "--out", str(tmp_path)])
    demo.main()
    printed = capsys.readouterr().out
    assert "10 of 11 flags are real bugs" in printed
    assert (tmp_path / "harry_potter.png").read_bytes().startswith(b"\x89PNG")
