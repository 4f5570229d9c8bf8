"""Shared material: where the authors' numbers are, and small random problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ORACLE = Path(__file__).resolve().parents[2] / "shared" / "paper" / "objective_oracle.json"


@pytest.fixture(scope="session")
def oracle_cases() -> list[dict[str, Any]]:
    if not ORACLE.exists():
        pytest.skip("the authors' objective values (shared/paper/objective_oracle.json) are not here")
    cases: list[dict[str, Any]] = json.loads(ORACLE.read_text())["cases"]
    return cases
