from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import random_array

import duti
from duti import KernelLogistic, Logistic, Problem, ResourceError
from duti.datasets import harry_potter
from duti.progress import reporting, silent
from duti.resources import (
    Estimate,
    Speed,
    estimate,
    foresee,
    limited_threads,
    measured_speed,
)


def problem(n: int = 4000, d: int = 2) -> Problem:
    X = np.random.default_rng(0).normal(size=(n, d))
    return Problem(X, X[:, 0] > 0, X[:2], [True, False])


def test_unknown_memory_forbids_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duti.resources.available_memory", lambda: None)
    foresee(problem(), KernelLogistic(approximation="exact"), silent)


def test_what_does_not_fit_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duti.resources.available_memory", lambda: 40e6)
    monkeypatch.setattr("duti.detector.Objective", None)  # never reached
    message = (
        r"KernelLogistic needs about .* for 4,000 rows with 1,001 features, but 40.0 MB are available; "
        r"use fewer components, such as (\d+), or debug a sample of about [\d,]+ rows, "
        r"or use the linear learner duti\.Logistic\(\)\."
    )
    with pytest.raises(ResourceError, match=message) as refused:
        duti.Duti(KernelLogistic(1.0, 0.1)).rank(problem())
    components = int(str(refused.value).partition("such as ")[2].partition(",")[0])
    foresee(problem(), KernelLogistic(1.0, 0.1, components=components), silent)


@pytest.mark.parametrize(
    "learner,remedy",
    [
        (KernelLogistic(), "use fewer components, such as 500"),
        (KernelLogistic(1.0, 0.1, approximation="exact"), 'use approximation="nystroem"'),
        (Logistic(0.1), "use fewer columns"),
    ],
    ids=repr,
)
def test_the_remedy_depends_on_the_learner(
    learner: duti.Learner, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = estimate(problem(), learner, Speed()).bytes
    monkeypatch.setattr("duti.resources.available_memory", lambda: 0.99 * need)
    with pytest.raises(ResourceError, match=remedy):
        foresee(problem(), learner, silent)


def test_the_estimate_covers_the_features_and_shrinks_with_their_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide, learner = problem(1000, 300), Logistic(0.1)
    double = estimate(wide, learner, Speed()).bytes
    monkeypatch.setattr("duti.resources.SINGLE_PRECISION", wide.n * 300)
    single = estimate(wide, learner, Speed()).bytes
    assert wide.n * 301 * 4 < single < 0.8 * double


def test_sparse_text_needs_no_square_of_its_columns() -> None:
    X = random_array((2100, 20_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    text = Problem(X, np.arange(2100) % 2, X[:2], [0, 1])
    assert estimate(text, Logistic(0.1), Speed()).bytes < 1e7


def test_large_work_is_announced_and_small_work_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int]] = []
    for speed in (Speed(1e12, 1e12), Speed(1e9, 1e9)):
        monkeypatch.setattr("duti.resources.measured_speed", lambda speed=speed: speed)
        foresee(problem(), KernelLogistic(1.0, 0.1), lambda *event: seen.append(event))
    ((remark, *steps),) = seen
    assert remark.startswith("expecting about ")
    assert remark.endswith(" of memory")
    assert steps == [0, 0]


def test_the_measured_speed_is_plausible() -> None:
    speed = measured_speed()
    assert 1e7 < speed.multiplications < 1e15
    assert 1e7 < speed.bytes < 1e15


def test_remarks_go_to_an_error_stream_that_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting(True) as report:
        report("expecting much", 0, 0)
        report("following the path", 1, 20)
    assert capsys.readouterr().err == "duti: expecting much\n"


@pytest.mark.parametrize(
    "seconds,words",
    [(0.2, "a second"), (44, "40 seconds"), (130, "2 minutes"), (2600, "40 minutes"), (9000, "2 hours")],
)
def test_durations_are_rounded_to_what_is_known(seconds: float, words: str) -> None:
    assert str(Estimate(2e9, seconds)) == f"about {words} and 2.0 GB of memory"


def test_threads_are_limited_during_the_call_only() -> None:
    from threadpoolctl import threadpool_info

    def blas_threads() -> set[Any]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before, seen = blas_threads(), []
    data = harry_potter(np.random.default_rng(0))
    learner = KernelLogistic(0.5, 2e-3)
    duti.debug(
        data.X,
        data.y,
        data.X_trusted,
        data.y_trusted,
        learner=learner,
        budget=1,
        threads=1,
        progress=lambda *_: seen.append(blas_threads()),
    )
    assert seen
    assert all(threads == {1} for threads in seen)
    assert blas_threads() == before


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_impossible_threads_are_refused(threads: Any) -> None:
    with (
        pytest.raises(duti.ProblemError, match=r"threads is .*; use a whole number above 0"),
        limited_threads(threads),
    ):
        pass


def test_the_package_imports_no_thread_control_until_it_is_asked_for() -> None:
    import subprocess

    check = "import sys, duti.resources; sys.exit('threadpoolctl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_default_call_refuses_what_cannot_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duti.resources.available_memory", lambda: 1e7)
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    with pytest.raises(ResourceError, match=r"KernelLogistic needs about .* for 20,000 rows with 1,001"):
        duti.debug(X, X[:, 0] > 0, X[:2], [True, False])


def test_several_learners_take_longer_and_keep_more() -> None:
    one, two = (estimate(problem(), Logistic(), Speed(), learners) for learners in (1, 2))
    assert two.seconds > 2 * one.seconds
    assert two.bytes > one.bytes
