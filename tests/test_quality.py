from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.quality import run
from benchmarks.quality.contenders import NAMES, ORACLE, OURS, PUBLISHED, SHAPLEY, TRAINING, TRUSTED, rivals
from benchmarks.quality.measures import bins, repaired, rounded
from benchmarks.quality.summary import Counting, Outcome, Results, paired
from benchmarks.quality.targets import targets
from benchmarks.quality.tasks import BY_NAME, QUICK, TASKS, corner, trusting_few

from duti import KernelLogistic, KernelRidge, Problem
from duti.datasets import LabelledBugs, sine

FAST = [
    task.name for task in TASKS if task.name.startswith(("harry", "sine", "optdigits", "corner", "potter"))
]


def drawn(name: str, seed: int = 0) -> LabelledBugs:
    return BY_NAME[name].draw(np.random.default_rng(seed))


def record(seed: int, contenders: dict[str, Any], task: str = "german", m: int = 40) -> dict[str, Any]:
    facts = {"n": 100, "m": m, "k": 2, "bugs": 10, "error_as_given": 0.2, "error_of_truth": 0.1}
    return {"task": task, "seed": seed, **facts, "complete": True, "contenders": contenders}


def outcome(*records: dict[str, Any]) -> Outcome:
    return Outcome(BY_NAME[records[0]["task"]], list(records))


def ours(ap: float, **more: Any) -> dict[str, Any]:
    return {OURS: {"ap": ap, "fixes": ap, **more}}


@pytest.mark.parametrize("name", FAST)
def test_a_task_is_determined_by_its_seed_and_its_bugs_are_wrong_labels(name: str) -> None:
    data, again, other = drawn(name), drawn(name), drawn(name, 1)
    np.testing.assert_array_equal(data.y, again.y)
    np.testing.assert_array_equal(data.X_trusted, again.X_trusted)
    assert data.X.shape != other.X.shape or (data.X != other.X).any() or (data.y != other.y).any()
    assert len(data.X) == len(data.y) == len(data.truth) == len(data.is_bug)
    assert 0 < data.is_bug.sum() < len(data.y) / 2
    if data.truth.dtype.kind != "f":
        np.testing.assert_array_equal(data.is_bug, data.y != data.truth)


def test_sizes_are_what_names_say() -> None:
    for d, k, m in ((2, 2, 6), (8, 5, 40)):
        data = drawn(f"corner-d{d}-k{k}-m{m}")
        assert data.X.shape == (200, d)
        assert data.X_trusted.shape == (m, d)
        assert set(data.truth) == set(range(k))
    data = drawn("optdigits-m100")
    assert data.X.shape == (500, 64)
    assert len(data.y_trusted) == 100
    assert len(drawn("german-m3").y_trusted) == 3


def test_a_fifth_is_flipped_and_the_rest_is_true() -> None:
    assert drawn("german-flips").is_bug.sum() == 68


def test_digits_are_confused_in_one_direction() -> None:
    data = drawn("optdigits-m40")
    assert set(zip(data.truth[data.is_bug], data.y[data.is_bug], strict=True)) == {
        (1, 7),
        (3, 8),
        (4, 9),
        (5, 6),
    }


def test_one_corner_is_all_zero() -> None:
    data = corner(2, 3, 12, np.random.default_rng(0))
    inside = (data.X > 0.6).all(axis=1)
    np.testing.assert_array_equal(data.is_bug, inside)
    assert not data.y[inside].any()


def test_few_items_are_some_of_many() -> None:
    data, few = sine(np.random.default_rng(3)), trusting_few(sine, 2, np.random.default_rng(3))
    assert set(few.y_trusted) < set(data.y_trusted)


def test_uneven_noise_leaves_the_peak_where_it_is() -> None:
    data = drawn("sine-uneven")
    x, noise = data.X[:, 0], abs(np.where(data.is_bug, -data.y, data.y) - data.truth)
    assert ((x[data.is_bug] > 1) & (x[data.is_bug] <= 1.8)).all()
    assert noise[x > 1].mean() > 1.5 * noise[x <= 1].mean()


@pytest.mark.parametrize("name", ["air-quality", "cifar-worse-500"])
def test_shared_data_are_used_where_they_are(name: str) -> None:
    task = BY_NAME[name]
    if task.missing:
        pytest.skip(task.missing)
    data = drawn(name)
    assert data.X.shape == {"air-quality": (1000, 10), "cifar-worse-500": (500, 128)}[name]
    assert 0.05 < data.is_bug.mean() < 0.5


def test_a_task_without_its_data_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    task = BY_NAME["air-quality"]
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert task.missing == "air-quality needs reg_airquality_uci.csv.gz in ../shared/data"


def test_only_those_compete_that_can() -> None:
    def names(name: str, learner: Any) -> set[str]:
        data = drawn(name)
        problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
        return {rival.name for rival in rivals(data, problem, None, learner)}

    two, three = (names(f"corner-d2-k{k}-m6", KernelLogistic(1.0, 0.1)) for k in (2, 3))
    values = names("sine", KernelRidge(1.0, 0.1))
    assert two - three == {ORACLE}
    assert SHAPLEY not in values
    assert two | values == set(NAMES)


def test_a_repaired_value_is_at_most_half_as_wrong() -> None:
    truth, y = np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0])
    data = LabelledBugs(truth[:, None], y, truth[:, None], truth, truth, y != truth, ("x",))
    assert repaired(data, np.array([0.5, 0.6, -0.4])).tolist() == [True, False, True]


def test_bins_hold_numbers_sums_and_bugs() -> None:
    number, total, bugs = bins(np.array([0.05, 0.07, 1.0]), np.array([False, True, True]))
    assert (number[0], bugs[0], number[9], bugs[9]) == (2, 1, 1, 1)
    np.testing.assert_allclose([total[0], total[9]], [0.12, 1.0])


def test_numbers_are_kept_short() -> None:
    assert rounded([0.123456, 2.0, None, "a", 1234567.0]) == [0.1235, 2, None, "a", 1235000]


def test_a_paired_interval_is_that_of_the_t_distribution() -> None:
    found = paired(np.array([3.0, 5.0, 7.0, np.nan]), np.array([2.0, 3.0, 4.0, 9.0]))
    assert found.mean == pytest.approx(2.0)  # differences 1, 2, 3: deviation 1, quantile 4.3027
    assert found.high - found.mean == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert np.isnan(paired(np.array([1.0]), np.array([0.5])).low)


def test_the_best_peer_is_chosen_by_the_mean_and_is_no_oracle() -> None:
    found = outcome(
        record(0, ours(0.9) | {TRUSTED: {"ap": 0.8}, TRAINING: {"ap": 0.1}, ORACLE: {"ap": 1.0}}),
        record(1, ours(0.9) | {TRUSTED: {"ap": 0.4}, TRAINING: {"ap": 0.9}, ORACLE: {"ap": 1.0}}),
    )
    assert found.best_peer("ap") == TRUSTED
    duel = found.against_best("ap")
    assert duel is not None
    assert duel.difference.mean == pytest.approx(0.3)
    assert found.best_peer("error") is None
    lower = outcome(record(0, {TRUSTED: {"error": 0.1}, TRAINING: {"error": 0.3}}))
    assert lower.best_peer("error") == TRUSTED


def test_counts_are_told_cover_and_are_narrow() -> None:
    intervals = [None, [8, 10, 12], [11, 13, 15], [1, 5, 12]]
    found = outcome(*(record(s, ours(0.9, expected_bugs=told)) for s, told in enumerate(intervals)))
    assert found.counting() == Counting(runs=4, told=3, covering=2, narrow=2)
    assert found.counting() + found.counting() == Counting(8, 6, 4, 4)


def test_targets_name_the_tasks_that_miss_them() -> None:
    peer = {TRAINING: {"ap": 0.8, "fixes": 0.95}}
    good = [record(seed, ours(0.9 + seed / 100) | peer) for seed in range(3)]
    corners = [record(s, ours(0.5) | {PUBLISHED: {"ap": 0.53}}, "corner-d2-k2-m6", m=6) for s in range(3)]
    lines = {line.what: line for line in targets([outcome(*good), outcome(*corners)])}
    assert lines["20 trusted items or more: AP − best peer's"].holds
    fixes = lines["20 trusted items or more: correct fixes − best peer's"]
    assert (fixes.holds, fixes.measured) == (False, "0 of 1; not german")
    assert lines["german: AP"].holds
    published, trusted = (lines[f"corners with fewer: AP ≥ that of {peer}"] for peer in (PUBLISHED, TRUSTED))
    assert not published.holds
    assert (trusted.holds, trusted.measured) == (False, "not measured")


def test_a_quick_run_measures_and_draws_everything(tmp_path: Path) -> None:
    run.main(["--quick", "--workers", "1", "--out", str(tmp_path)])
    results = Results.read(tmp_path / "quality.jsonl")
    assert [found.name for found in results.outcomes()] == [task.name for task in TASKS if task.name in QUICK]
    assert not any(found.failures() for found in results.outcomes())
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    plots = {
        name: (tmp_path / "images" / name)
        for name in map("quality-{}.svg".format, ("differences", "items", "reliability"))
    }
    assert all(f"images/{name}" in page and plot.exists() for name, plot in plots.items())
    before = [page, *(plot.read_text(encoding="utf-8") for plot in plots.values())]
    run.main(["--draw", "--out", str(tmp_path)])
    page = (tmp_path / "quality.md").read_text(encoding="utf-8")
    assert [page, *(plot.read_text(encoding="utf-8") for plot in plots.values())] == before


def test_a_run_goes_on_where_it_was_and_merges_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fake(task: str, seed: int, wanted: tuple[str, ...]) -> dict[str, Any]:
        asked.append((task, seed, wanted))
        found = {name: {"ap": len(asked) / 10} for name in wanted or (OURS, TRAINING)}
        return record(seed, found, task)

    monkeypatch.setattr(run, "measured", fake)
    file, options = tmp_path / "quality.jsonl", ["--workers", "1", "--out", str(tmp_path)]
    run.main(["--only", "sine", "german", "--seeds", "1", *options])
    run.main(["--only", "paper", "--seeds", "1", "--first-seed", "5000", *options])
    assert [task for task, _, _ in asked] == ["sine", "german", "harry-potter", "adult", "digits"]
    run.main(["--only", "sine", "--seeds", "1", "--contenders", OURS, *options])
    assert len(asked) == 5
    run.main(["--only", "sine", "--seeds", "1", "--contenders", OURS, "--again", *options])
    assert asked[5:] == [("sine", 5000, (OURS,))]
    kept = Results.read(file).records["sine", 5000]
    assert kept["contenders"] == {OURS: {"ap": 0.6}, TRAINING: {"ap": 0.1}}
    assert kept["complete"]
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert "environment" in lines[0]
    assert len(lines) == 6


def test_an_unknown_task_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["--only", "iris"])
    assert "no task is called iris; use some of paper, flips," in capsys.readouterr().err
