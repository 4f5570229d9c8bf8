"""The fit of the recipe's weights: bugs are planted, tables left out, and numbers come back."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from benchmarks.fitting import bugs
from benchmarks.fitting.cases import SYSTEMATIC, Case, case
from benchmarks.fitting.fit import CAUTION, fitted
from benchmarks.fitting.run import drawn, left_out, recalls
from benchmarks.fitting.tables import MADE, Planted, planted
from benchmarks.fitting.tables import drawn as table_of
from benchmarks.quality.tasks import BY_NAME

from duti.automatic import fitted as package
from duti.automatic.evidence import STATISTICS
from duti.automatic.fitted import LABELS
from duti.experiments.experiment import Draw

BUGS = {
    "region": bugs.region,
    "standard": bugs.standard,
    "confused": bugs.confused,
    "eyesight": bugs.poor_eyesight,
    "heuristic": bugs.heuristic,
    "human": bugs.human,
    "missed": bugs.missed,
}


def honest(name: str = "stripes2-2", m: int = 20, n: int = 120) -> Draw:
    return partial(table_of, name, m, n, vary=False)


@pytest.mark.parametrize("kind", BUGS)
def test_planted_bugs_change_labels_and_nothing_else(kind: str) -> None:
    clean, data = honest()(np.random.default_rng(1)), BUGS[kind](honest(), np.random.default_rng(1))
    np.testing.assert_array_equal(data.X, clean.X)
    np.testing.assert_array_equal(data.truth, clean.truth)
    np.testing.assert_array_equal(data.y_trusted, clean.y_trusted)
    np.testing.assert_array_equal(data.is_bug, data.y != data.truth)
    assert 0 < data.is_bug.mean() < 0.6


def test_no_table_that_numbers_are_chosen_on_is_one_that_is_reported() -> None:
    reported = {word for name in BY_NAME for word in name.split("-")}
    assert not {task.table for task in planted(vary=False)} & reported


def made() -> list[Planted]:
    return [task for task in planted(vary=False) if task.table in MADE]


def test_every_kind_of_bugs_is_planted_in_made_tables_or_in_real_ones() -> None:
    kinds = {task.kind for task in planted(vary=False)}
    assert set(SYSTEMATIC) <= kinds
    assert {"clean", "flips", "few", "human", "unseen", "untrusted", "rare"} <= kinds
    assert {"clean", "flips", "region"} <= {task.kind for task in made()}


def test_a_case_has_the_statistics_and_features_of_the_recipe() -> None:
    found = case("region", "stripes2-2", 0, bugs.region(honest(), np.random.default_rng(0)))
    assert set(found.statistics) == set(STATISTICS)
    assert set(found.features) == set(LABELS.weights)
    assert all(some.shape == found.is_bug.shape for some in found.features.values())
    assert found.has_bugs is (True if found.touched else None)


def test_a_job_is_a_task_and_a_seed() -> None:
    place, task = next(
        (place, task) for place, task in enumerate(planted(vary=False)) if task.name == "region stripes2-2"
    )
    found = drawn((place, 0))
    assert found is not None
    assert (found.kind, found.table, found.seed) == (task.kind, task.table, 0)


def simulated(number: int) -> list[Case]:
    """Cases that follow known weights, on eight tables."""
    rng, cases = np.random.default_rng(0), list[Case]()
    for seed in range(number):
        bug = seed % 2 == 1
        kind = "clean" if not bug else ("flips" if seed % 4 == 1 else "region")
        statistics = {name: float(rng.normal()) for name in STATISTICS}
        statistics["contrary"] += 2 * bug
        statistics["surprise"] += 3 * (kind == "region")
        features = {name: rng.normal(size=100) for name in LABELS.weights}
        odds = 2 * features["unlikely"] - 3
        wrong = (rng.random(100) < 1 / (1 + np.exp(-odds))) & bug
        cases.append(Case(kind, f"table {seed % 8}", seed, statistics, features, wrong, 5, 40))
    return cases


def test_weights_that_made_the_cases_come_back() -> None:
    cases = simulated(200)
    fit = fitted(cases)
    assert fit.bugs.weights["contrary"] > 1
    assert max(abs(w) for name, w in fit.bugs.weights.items() if name not in ("contrary", "surprise")) < 1
    assert fit.systematic.weights["surprise"] > 1
    first, added = fit.labels.weights["unlikely"]
    assert first + added / 2 == pytest.approx(2, abs=0.4)
    found = recalls(list(left_out(cases)))
    assert min(found.values()) > 1 / 2


def test_a_case_is_judged_by_weights_that_know_nothing_of_its_table() -> None:
    cases = simulated(48)
    for one, fit in list(left_out(cases))[::11]:
        alone = fitted([case for case in cases if case.table != one.table])
        assert fit.bugs.constant == pytest.approx(alone.bugs.constant)


def test_weights_of_the_package_have_the_shape_of_a_fit() -> None:
    fit = fitted(simulated(60))
    assert set(fit.bugs.weights) == set(package.BUGS.weights)
    assert set(fit.systematic.weights) == set(package.SYSTEMATIC.weights)
    assert set(fit.labels.weights) == set(package.LABELS.weights)
    assert CAUTION > 0
