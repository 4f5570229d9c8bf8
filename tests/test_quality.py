from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.quality import run
from benchmarks.quality.contenders import (
    MARGIN,
    NAMES,
    ORACLE,
    OURS,
    SHAPLEY,
    TRAINING,
    TRUSTED,
    Trial,
    preferred,
    rivals,
)
from benchmarks.quality.draws import corner, flipped, remembered, touched, trusting_few, verified_rows
from benchmarks.quality.forests import CrossFitted, OnTrusted, OutOfBag
from benchmarks.quality.measures import bins, measured, repaired, rounded
from benchmarks.quality.summary import Outcome, Results, paired
from benchmarks.quality.tasks import BY_NAME, GROUPS, QUICK, TASKS

from duti import Problem
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.metrics import average_precision

SLOW = ("german", "adult", "digits", "cifar", "defects", "air", "yoruba")
FAST = [task.name for task in TASKS if not any(word in task.name.replace("optdigits", "") for word in SLOW)]
BUGLESS = [task.name for task in TASKS if task.group == "clean" or task.name.endswith("-clean")]


def drawn(name: str, seed: int = 0) -> LabelledBugs:
    return BY_NAME[name].draw(np.random.default_rng(seed))


def record(seed: int, contenders: dict[str, Any], task: str = "german", m: int = 40) -> dict[str, Any]:
    facts = {"n": 100, "m": m, "k": 2, "bugs": 10, "touched": 1}
    return {"task": task, "seed": seed, **facts, "asked": list(NAMES), "contenders": contenders}


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
    assert (data.is_bug.sum() == 0) == (name in BUGLESS)
    assert data.is_bug.mean() < 0.5
    if data.truth.dtype.kind != "f":
        np.testing.assert_array_equal(data.is_bug, data.y != data.truth)


def test_there_are_enough_draws_and_clean_tables_and_every_group_is_there() -> None:
    assert all(task.seeds >= 10 or task.large for task in TASKS)
    tables = {task.name.split("-")[1] for task in TASKS if task.group == "clean"}
    assert len(tables - {"sine", "diabetes"}) >= 8
    assert {"clean", "few", "unseen", "untrusted-class", "rare-class", "real-noise", "verified"} < set(GROUPS)
    assert len({task.name for task in TASKS if task.name.startswith("defects-")}) == 14
    assert run.FIRST_SEED == 7000


def test_few_bugs_are_one_to_three_percent() -> None:
    assert drawn("few-cancer-1%").is_bug.sum() == 5
    assert drawn("few-optdigits-3%").is_bug.sum() == 15
    shares = [drawn("few-corner", seed).is_bug.mean() for seed in range(20)]
    assert 0.02 <= np.mean(shares) <= 0.03


def test_no_item_touches_an_unseen_bug_and_rows_are_as_buggy_as_ever() -> None:
    seen, missed = drawn("corner-d2-k3-m40"), drawn("unseen-corner-d2-k3")
    np.testing.assert_array_equal(seen.y, missed.y)
    assert (touched(seen) or 0) > 0
    assert touched(missed) == 0
    assert not (missed.X_trusted > 0.6).all(axis=1).any()


def test_a_class_without_trusted_items_has_rows() -> None:
    for seed in range(5):
        data = drawn("untrusted-iris-clean", seed)
        assert len(np.unique(data.y_trusted)) == 2
        assert len(np.unique(data.y)) == 3


def test_a_rare_class_has_two_percent() -> None:
    for name in ("rare-cancer-clean", "rare-defects"):
        data = drawn(name)
        assert np.bincount(np.append(data.truth, data.y_trusted)).min() / (
            len(data.y) + len(data.y_trusted)
        ) == pytest.approx(0.02, abs=0.003)
    assert drawn("rare-cancer-flips").is_bug.sum() == 3


def test_items_touch_a_bug_where_their_labeller_would_have_been_wrong() -> None:
    data = corner(2, 2, 40, np.random.default_rng(0))
    assert touched(data) == int((data.X_trusted > 0.6).all(axis=1).sum())
    assert touched(harry_potter(np.random.default_rng(0))) == 1
    digits = drawn("optdigits-m40")
    assert touched(digits) == int(np.isin(digits.y_trusted, (1, 3, 4, 5)).sum())
    assert touched(drawn("wine-flips-10%")) is None
    assert touched(drawn("sine")) is None


def test_a_draw_that_is_remembered_leaves_the_generator_as_a_new_one_would() -> None:
    calls = []

    def draw(rng: np.random.Generator) -> LabelledBugs:
        calls.append(rng)
        return harry_potter(rng)

    first, again = (np.random.default_rng(3) for _ in range(2))
    once = remembered(draw)
    one, other = flipped(once, first), flipped(once, again)
    np.testing.assert_array_equal(one.y, other.y)
    assert first.random() == again.random()
    assert len(calls) == 1


def test_verified_rows_and_the_other_rows_are_the_table() -> None:
    data, parts = (
        harry_potter(np.random.default_rng(5)),
        verified_rows(harry_potter, 40, np.random.default_rng(5)),
    )
    assert len(parts.y) == 60
    assert parts.given_trusted is not None
    whole = np.column_stack([np.vstack([parts.X, parts.X_trusted]), np.append(parts.y, parts.given_trusted)])
    table = np.column_stack([data.X, data.y])
    np.testing.assert_array_equal(np.sort(whole, axis=0), np.sort(table, axis=0))
    np.testing.assert_array_equal(parts.is_bug, parts.y != parts.truth)


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


SHAPES = {
    "air-quality": (1000, 10),
    "cifar-worse-500": (500, 128),
    "defects-jruby-m20": (711, 65),
    "yoruba-m150": (1190, 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shared_data_are_used_where_they_are(name: str) -> None:
    task = BY_NAME[name]
    if task.missing:
        pytest.skip(task.missing)
    data = drawn(name)
    assert data.X.shape == SHAPES[name]
    assert 0.05 < data.is_bug.mean() < 0.5


def test_a_task_without_its_data_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    task = BY_NAME["air-quality"]
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert task.missing == "air-quality needs reg_airquality_uci.csv.gz in ../shared/data"


def test_only_those_compete_that_can() -> None:
    def names(name: str) -> set[str]:
        return {rival.name for rival in rivals(Trial(drawn(name)))}

    two, three, values = (names(name) for name in ("corner-d2-k2-m6", "corner-d2-k3-m6", "sine"))
    assert two - three == {ORACLE}
    assert three - two == {MARGIN}
    assert SHAPLEY not in values
    assert two | three | values == set(NAMES)


def test_only_verified_rows_are_asked_of_verified_tasks_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.quality.measures.outcome", lambda *_: {})
    assert set(measured("verified-potter", 0)["contenders"]) == set(NAMES[:2])
    assert set(measured("potter-m5", 0)["contenders"]) == {
        rival.name for rival in rivals(Trial(drawn("potter-m5")))
    } - {NAMES[1]}


def test_ours_alone_tunes_no_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.quality.measures.outcome", lambda *_: {})
    assert "tuning_seconds" not in measured("harry-potter", 0, [OURS])
    assert "tuning_seconds" in measured("harry-potter", 0, [TRAINING])


def test_each_kernel_peer_has_the_scaling_that_its_rows_prefer() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 3))
    y = (X[:, 0] > 0.5).astype(np.int64)
    # A useless column of large numbers drowns the others unless features are scaled; one of tiny numbers is
    # blown up if they are.
    loud, faint = X * [1, 1, 1000], X * [1, 0.001, 0.001]
    assert preferred(loud, y, 2).standardize  # type: ignore[attr-defined]
    assert not preferred(faint, y, 2).standardize  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["corner-d2-k3-m40", "sine"])
@pytest.mark.parametrize(
    "forest",
    [CrossFitted(trees=20), CrossFitted("boosting"), OutOfBag(trees=50), OutOfBag(pooled=True, trees=50)],
)
def test_a_forest_ranks_all_rows_better_than_chance(name: str, forest: Any) -> None:
    if name == "sine" and forest != OutOfBag(pooled=True, trees=50):
        return  # what has not seen the trusted items cannot tell a flipped peak
    data = drawn(name)
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    found = forest.rank(problem)
    assert sorted(found.ranking) == list(range(problem.n))
    assert average_precision(found.ranking, data.is_bug) > 1.2 * data.is_bug.mean()
    if problem.k:
        assert ((found.deviation >= 0) & (found.deviation <= 1)).all()


def test_a_forest_of_trusted_items_gives_no_chance_to_a_class_that_they_lack() -> None:
    data = drawn("untrusted-iris-clean")
    found = OnTrusted(trees=20).rank(Problem(data.X, data.y, data.X_trusted, data.y_trusted))
    np.testing.assert_array_equal(found.deviation[~np.isin(data.y, data.y_trusted)], 1.0)


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
    assert found.best_peer("brier") is None
    lower = outcome(record(0, {TRUSTED: {"brier": 0.1}, TRAINING: {"brier": 0.3}}))
    assert lower.best_peer("brier") == TRUSTED


def test_there_is_no_best_peer_without_bugs() -> None:
    found = outcome(record(0, {OURS: {"ap": None}, TRUSTED: {"ap": None}}, "clean-iris-m20"))
    assert found.best_peer("ap") is None
    assert found.against_best("ap") is None


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
        found = {name: {"ap": len(asked) / 10} for name in wanted if name in (OURS, TRAINING)}
        return record(seed, found, task)

    monkeypatch.setattr(run, "measured", fake)
    file, options = tmp_path / "quality.jsonl", ["--workers", "1", "--out", str(tmp_path)]
    run.main(["--only", "sine", "german", "--seeds", "1", *options])
    run.main(["--only", "paper", "--seeds", "1", "--first-seed", "7000", *options])
    assert [task for task, _, _ in asked] == ["sine", "german", "harry-potter", "adult", "digits"]
    run.main(["--only", "sine", "--seeds", "1", "--contenders", OURS, *options])
    assert len(asked) == 5
    run.main(["--only", "sine", "--seeds", "1", "--contenders", OURS, "--again", *options])
    assert asked[5:] == [("sine", 7000, (OURS,))]
    kept = Results.read(file).records["sine", 7000]
    assert kept["contenders"] == {OURS: {"ap": 0.6}, TRAINING: {"ap": 0.1}}
    assert kept["asked"] == list(NAMES)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert "environment" in lines[0]
    assert len(lines) == 6


def test_ours_may_be_measured_after_the_peers_and_neither_is_measured_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fake(task: str, seed: int, wanted: tuple[str, ...]) -> dict[str, Any]:
        asked.append(wanted)
        return record(seed, {name: {"ap": 0.5} for name in wanted if name in (OURS, TRAINING)}, task)

    monkeypatch.setattr(run, "measured", fake)
    options = ["--only", "sine", "--seeds", "1", "--workers", "1", "--out", str(tmp_path)]
    run.main(["--contenders", "peers", *options])
    assert OURS not in asked[0]
    assert TRAINING in asked[0]
    run.main(["--contenders", "ours", *options])
    assert asked[1] == NAMES[:2]
    kept = Results.read(tmp_path / "quality.jsonl").records["sine", 7000]
    assert set(kept["contenders"]) == {OURS, TRAINING}
    for again in (["--contenders", "peers"], ["--contenders", "ours"], []):
        run.main([*again, *options])
    assert len(asked) == 2


def test_an_unknown_task_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["--only", "irises"])
    assert "no task is called irises; use some of paper, flips," in capsys.readouterr().err
