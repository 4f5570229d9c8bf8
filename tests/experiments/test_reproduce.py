"""The experiments of the paper: raw results, what is drawn from them, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from duti.cli import NAMES, main
from duti.experiments.catalogue import BY_NAME, GROUPS, LIMITS
from duti.experiments.experiment import Contender, Experiment
from duti.experiments.harness import results, to_json
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


def test_figures_come_from_the_raw_results_alone(potter: dict[str, Any], tmp_path: Path) -> None:
    folder = write(potter, tmp_path)
    drawn = sorted(path.name for path in folder.iterdir())
    assert {"results.json", "table.md", "precision-recall.svg", "flagged.png"} <= set(drawn)
    before = (folder / "precision-recall.svg").read_text()
    for path in folder.iterdir():
        if path.name != "results.json":
            path.unlink()
    draw(folder)
    assert sorted(path.name for path in folder.iterdir()) == drawn
    assert "DUTI" in before
    assert read(folder) == json.loads(to_json(potter))


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
    assert mean_curve(potter, "DUTI").curve.precision[0] == pytest.approx(1, abs=0.5)


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


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output.startswith("duti, version ")
