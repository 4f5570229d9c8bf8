"""Work that is killed goes on where it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duti
from duti.automatic import Automatic
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.detector import STAGES, Detector
from duti.journal import Journal, Kept
from duti.learners import LEARNERS
from duti.problem import Problem


class KilledError(Exception):
    """The machine was switched off."""


class Mortal(Journal):
    """A journal whose owner dies at the start of a stage, or before it is kept."""

    def __init__(self, folder: Path, lives: int, *, before_keeping: bool = False) -> None:
        super().__init__(folder, STAGES)
        self.lives, self.before_keeping = lives, before_keeping

    def recalled(self, stage: str, work: Callable[[], Kept]) -> Kept:
        def mortal() -> Kept:
            self.lives -= 1
            if self.lives < 0 and not self.before_keeping:
                raise KilledError
            found = work()
            if self.lives < 0:
                raise KilledError
            return found

        return super().recalled(stage, mortal)


def flipped(n: int = 300) -> LabelledBugs:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    truth = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    is_bug = (X[:, 0] > 0) & (X[:, 2] > 0.8)
    y = np.where(is_bug, "down", truth)
    trusted = rng.normal(size=(30, 3))
    return LabelledBugs(
        X,
        y,
        trusted,
        np.where(trusted[:, 0] + trusted[:, 1] > 0, "up", "down"),
        truth,
        is_bug,
        ("a", "b", "c"),
    )


DETECTORS: dict[str, tuple[LabelledBugs, Callable[[Any], Detector]]] = {
    "classes": (harry_potter(np.random.default_rng(0)), lambda memory: Automatic(memory=memory)),
    "values": (sine(np.random.default_rng(0)), lambda memory: Automatic(memory=memory)),
    "paper": (flipped(), lambda memory: duti.Duti(duti.KernelLogistic(1.0, 1e-2), budget=60, memory=memory)),
    "tuned": (flipped(), lambda memory: duti.Duti(random_state=0, memory=memory)),
}


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("lives, before_keeping", [(0, True), (1, False), (5, True)])
def test_a_run_that_is_killed_and_resumed_finds_the_same(
    name: str, lives: int, before_keeping: bool, tmp_path: Path
) -> None:
    data, detector = DETECTORS[name]
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    whole = detector(Journal(tmp_path / "whole", STAGES)).rank(problem)
    try:
        detector(Mortal(tmp_path / "resumed", lives, before_keeping=before_keeping)).rank(problem)
        survived = True
    except KilledError:
        survived = False
    stages = set((tmp_path / "whole").glob("*.npz"))
    assert survived == (lives >= len(stages))
    resumed = detector(Journal(tmp_path / "resumed", STAGES)).rank(problem)
    assert resumed.ranking.tolist() == whole.ranking.tolist()
    assert resumed.suggested_labels.tolist() == whole.suggested_labels.tolist()
    np.testing.assert_allclose(resumed.label_quality, whole.label_quality, rtol=0, atol=1e-12)
    assert [step.objective for step in resumed.path] == [step.objective for step in whole.path]
    assert resumed.learners == whole.learners


def test_finished_stages_are_not_worked_on_again(tmp_path: Path) -> None:
    data, detector = DETECTORS["classes"]
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    detector(Journal(tmp_path, STAGES)).rank(problem)
    detector(Mortal(tmp_path, lives=0)).rank(problem)


def test_a_damaged_stage_is_worked_on_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path, ())
    journal.recalled("one", lambda: np.arange(3))
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:-40])
    assert journal.recalled("one", lambda: np.arange(4)).tolist() == [0, 1, 2, 3]
    assert journal.recalled("one", lambda: np.arange(5)).tolist() == [0, 1, 2, 3]


def test_all_that_a_stage_is_made_of_comes_back_as_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path, STAGES)
    learners = tuple(kind() for kind in LEARNERS.values())
    value = (
        learners,
        [np.asfortranarray(np.ones((2, 3), np.float32)), None, True, "text"],
        float("inf"),
        duti.Status.CONVERGED,
    )
    journal.recalled("all", lambda: value)
    again = journal.recalled("all", tuple[Any, ...])
    assert again[0] == learners
    assert again[1][0].dtype == np.float32
    assert again[1][0].flags.f_contiguous
    assert again[1][1:] == [None, True, "text"]
    assert again[2:] == (float("inf"), duti.Status.CONVERGED)


def test_types_that_were_not_named_are_not_made(tmp_path: Path) -> None:
    Journal(tmp_path, STAGES).recalled("learner", lambda: duti.Ridge(0.1))
    assert Journal(tmp_path, ()).recalled("learner", lambda: "made anew") == "made anew"
