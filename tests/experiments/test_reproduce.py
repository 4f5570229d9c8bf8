"""The experiments of the paper: raw results, what is drawn from them, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from duti import DutiError
from duti.cli import main
from duti.cli.reproduce import NAMES
from duti.datasets import LabelledBugs
from duti.experiments.catalogue import BY_NAME, GROUPS, LIMITS
from duti.experiments.drawings import CAPTIONS, figures
from duti.experiments.experiment import Contender, Experiment
from duti.experiments.harness import _scene, results, to_json
from duti.experiments.report import draw, markdown, page, read, write
from duti.experiments.summary import flagged_point, mean_curve, published, scores
from duti.metrics import Curve


@pytest.fixture(scope="module")
def potter() -> dict[str, Any]:
    return results("harry-potter", [0, 1])


@pytest.fixture(scope="module")
def sine() -> dict[str, Any]:
    return results("sine", [0, 1])


def test_the_command_knows_every_experiment() -> None:
    assert set(NAMES) == {*GROUPS, "all"}
    assert {name for group in GROUPS.values() for name in group} == set(BY_NAME)
    assert len(LIMITS) == 3


@pytest.mark.parametrize("name", [e.published for e in BY_NAME.values() if e.published])
def test_our_area_of_a_published_curve_is_the_published_area(name: str) -> None:
    for detector, curve in published()[name].items():
        if detector != "LND":
            recall, precision = np.array(curve["points"]).T
            assert Curve(recall, precision).area == pytest.approx(curve["area"], abs=5e-4)


def test_detectors_see_the_same_data_and_rank_every_row(potter: dict[str, Any]) -> None:
    assert [run["seed"] for run in potter["runs"]] == [0, 1]
    assert {"DUTI", "INF", "NN", "LND", "trusted only"} <= set(potter["settings"])
    for run in potter["runs"]:
        for outcome in run["detectors"].values():
            assert sorted(outcome["ranking"]) == list(range(run["n"]))


def test_the_paper_order_of_detectors_holds(potter: dict[str, Any], sine: dict[str, Any]) -> None:
    for found in (potter, sine):
        area = {score.name: score.area for score in scores(found)}
        assert area["DUTI"] > max(area["INF"], area["NN"])


def test_results_are_the_same_again_and_in_processes(sine: dict[str, Any]) -> None:
    again = results("sine", [0, 1], workers=2)

    def untimed(found: dict[str, Any]) -> Any:
        return json.loads(to_json(found), parse_float=lambda text: round(float(text), 9))["runs"]

    for one, other in zip(untimed(sine), untimed(again), strict=True):
        for name in one["detectors"]:
            del one["detectors"][name]["seconds"], other["detectors"][name]["seconds"]
        assert one == other


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    results("underfitting", [0, 1], lambda _, done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_the_data_are_drawn_once_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, drawn = BY_NAME["underfitting"], []

    def counted(rng: np.random.Generator) -> LabelledBugs:
        drawn.append(plain.draw(rng))
        return drawn[-1]

    monkeypatch.setitem(BY_NAME, "underfitting", replace(plain, draw=counted))
    found = results("underfitting", [3, 4])
    assert len(drawn) == 2
    assert found["scene"]["X"] == drawn[0].X.tolist()


def test_the_scene_of_images_is_the_first_bug_of_each_digit() -> None:
    truth, y = np.array([2, 1, 1, 2, 1]), np.array([2, 2, 2, 1, 1])
    X = np.arange(20.0).reshape(5, 4)
    data = LabelledBugs(X, y, X[:1], y[:1], truth, y != truth, tuple("abcd"))
    scene = _scene(BY_NAME["digits"], data)
    assert scene == {"rows": [1, 3], "images": X[[1, 3]].tolist()}
    assert _scene(BY_NAME["german"], data) == {}


def test_figures_come_from_the_raw_results_alone(potter: dict[str, Any], tmp_path: Path) -> None:
    folder = write(potter, tmp_path)
    drawn = sorted(path.name for path in folder.iterdir())
    assert {"results.json", "table.md", "precision-recall.svg", "flagged.png"} <= set(drawn)
    for path in folder.iterdir():
        if path.name != "results.json":
            path.unlink()
    draw(folder)
    assert sorted(path.name for path in folder.iterdir()) == drawn
    assert read(folder) == json.loads(to_json(potter))


def test_the_same_results_give_the_same_files(potter: dict[str, Any], tmp_path: Path) -> None:
    one, other = write(potter, tmp_path / "one"), write(potter, tmp_path / "other")
    assert len(list(one.glob("*.svg"))) == 2
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes(), path.name


@pytest.mark.parametrize("seen, text", [(2, '{"format": 2}'), (None, "{}")])
def test_results_of_another_format_are_refused(seen: int | None, text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(DutiError, match=f"results.json has format {seen}; this version of duti reads 1, so"):
        read(tmp_path)


def test_the_page_shows_what_there_is_and_nothing_else(
    potter: dict[str, Any], sine: dict[str, Any], tmp_path: Path
) -> None:
    write(potter, tmp_path)
    write(sine, tmp_path)
    text = page(tmp_path).read_text(encoding="utf-8")
    assert "harry-potter/precision-recall.svg" in text
    assert "sine/flagged.svg" in text
    assert "adult/" not in text
    assert "0.897" in text
    assert "http" not in text
    (tmp_path / "sine" / "flagged.svg").unlink()
    assert "sine/flagged.svg" not in page(tmp_path).read_text(encoding="utf-8")


def test_every_figure_has_a_caption(potter: dict[str, Any], sine: dict[str, Any]) -> None:
    for found in (potter, sine):
        assert {name for name, _ in figures(BY_NAME[found["experiment"]], found)} <= set(CAPTIONS)


def test_what_is_written_in_a_setting_does_not_become_markup(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = BY_NAME["underfitting"]
    hostile = Contender("<script>alert(1)</script>", plain.contenders[0].detector, "<b>bold</b>")
    experiment = Experiment(plain.name, plain.title, plain.draw, (hostile,), plain.figure, runs=1)
    monkeypatch.setitem(BY_NAME, "underfitting", experiment)
    write(results("underfitting", [0]), tmp_path)
    text = page(tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text


def test_a_table_states_areas_fixes_and_errors(potter: dict[str, Any], sine: dict[str, Any]) -> None:
    assert "right fixes" in markdown(potter)
    assert "fix error" in markdown(sine)
    assert "0.897" in markdown(potter)
    recall, precision = flagged_point(potter, "LND")
    assert 0.5 < recall == pytest.approx(precision)


def test_the_mean_curve_is_that_of_the_precisions_at_each_recall() -> None:
    runs = [
        {"n": 4, "bugs": [0, 1], "detectors": {"D": {"ranking": ranking}}}
        for ranking in ([0, 2, 1, 3], [2, 0, 1, 3])
    ]
    mean = mean_curve({"runs": runs}, "D")
    # (recall, precision) is (½, 1), (½, ½), (1, ⅔), (1, ½) in the first run,
    # and (0, 0), (½, ½), (1, ⅔), (1, ½) in the second: at ¼ they have 1 and ¼, at ¾ both have 7/12.
    quarters = [0, 25, 50, 75, 100]
    np.testing.assert_allclose(mean.curve.recall[quarters], [0, 1 / 4, 1 / 2, 3 / 4, 1])
    np.testing.assert_allclose(mean.curve.precision[quarters], [1 / 2, 5 / 8, 1 / 2, 7 / 12, 1 / 2])
    np.testing.assert_allclose(mean.error[quarters], [1 / 2, 3 / 8, 0, 0, 0], atol=1e-12)


def test_a_single_run_has_no_standard_error(potter: dict[str, Any]) -> None:
    assert " ± " in markdown(potter)
    single = markdown(potter | {"runs": potter["runs"][:1]})
    assert "nan" not in single
    assert "±" not in single
    assert "1 run, seed 0;" in single


@pytest.mark.parametrize("name", ["limits", "sine"])
def test_the_command_writes_results_figures_and_a_page(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["reproduce", name, "--quick", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    for experiment in GROUPS[name]:
        assert (tmp_path / "out" / experiment / "flagged.svg").exists()
    assert "index.html" in done.output


def test_an_unknown_experiment_is_named_with_the_known_ones() -> None:
    done = CliRunner().invoke(main, ["reproduce", "hogwarts"])
    assert done.exit_code == 2
    assert "hogwarts" in done.output
    assert "harry-potter" in done.output


def test_results_that_cannot_be_read_are_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "german").mkdir()
    (tmp_path / "german" / "results.json").write_text('{"format": 99}')
    done = CliRunner().invoke(
        main, ["reproduce", "limits", "--quick", "--workers", "1", "--out", str(tmp_path)]
    )
    assert done.exit_code == 2
    assert "format 99" in done.output
    assert isinstance(done.exception, SystemExit)


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output.startswith("duti, version ")
