from __future__ import annotations

import json
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from benchmarks import run
from benchmarks.data import bands, waves
from benchmarks.measurement import time_limit


def test_a_quick_run_fills_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.main(["--quick", "--out", str(tmp_path)])
    parts = json.loads((tmp_path / "benchmarks.json").read_text())
    assert list(parts) == list(run.PARTS)
    assert all(results["measurements"] and results["figures"] for results in parts.values())
    assert parts["classification"]["figures"][0]["path_passes"] > 0
    assert parts["robustness"]["measurements"][0]["holds"]
    page, printed = (tmp_path / "benchmarks.md").read_text(), capsys.readouterr().out
    for results in parts.values():
        for row in results["measurements"]:
            assert f"| {row['what']} |" in page
            assert f"| {row['what']} |" in printed
    assert (tmp_path / "images" / "benchmarks.png").read_bytes().startswith(b"\x89PNG")
    assert "images/benchmarks.png" in page


def test_a_part_that_is_run_again_replaces_its_own_results_alone(tmp_path: Path) -> None:
    old, new = run.measured("regression", quick=True), run.measured("regression", quick=True)
    run.merge(tmp_path, "regression", old)
    run.merge(tmp_path, "peers", {**old, "seconds": 1e6})
    run.merge(tmp_path, "regression", {**new, "seconds": 2e6})
    parts = json.loads((tmp_path / "benchmarks.json").read_text())
    assert {name: results["seconds"] for name, results in parts.items()} == {"regression": 2e6, "peers": 1e6}


def test_bugs_are_systematic_and_every_class_is_known() -> None:
    data = bands(np.random.default_rng(0), n=2000, D=5, k=3)
    assert set(data.y) == set(data.truth) == {0, 1, 2}
    assert (data.y[data.is_bug] == data.truth[data.is_bug] - 1).all()
    assert data.X.dtype == np.float32
    assert len(data.y_trusted) == 200


def test_four_in_a_hundred_labels_of_the_regression_are_one_too_high() -> None:
    data = waves(np.random.default_rng(0), n=10_000, D=5)
    assert data.is_bug.mean() == pytest.approx(0.04, abs=0.005)
    np.testing.assert_allclose((data.y - data.truth)[data.is_bug], 1.0)


def test_a_time_limit_counts_the_work_of_this_process_alone() -> None:
    with time_limit(0.05):
        time.sleep(0.2)  # as if other jobs had the processor
    with pytest.raises(TimeoutError, match=r"not done in 0\.05 s of a processor"), time_limit(0.05):
        any(number < 0 for number in count())
