"""Regression of a million rows: the whole path against one ridge fit of the same matrix."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import duti
from benchmarks.data import waves
from benchmarks.engine import REPEATS, budget_of, passes, problem_of
from benchmarks.machine import peak_memory
from benchmarks.measurement import Measurement, Report, at_most, timed
from duti.arrays import Array
from duti.objective import Objective
from duti.path import default_solver, follow
from duti.ranking import Tally
from duti.resources import limited_threads

RIDGE = 1e-3
MOST_FITS = 1.5


def measure(quick: bool) -> Report:
    baseline = peak_memory()
    n, D = (2_000, 20) if quick else (1_000_000, 500)
    data = waves(np.random.default_rng(0), n, D)
    problem, budget = problem_of(data), budget_of(data)
    fits, searches, runs = [], [], []
    for _ in range(REPEATS):
        with limited_threads(None):
            objective = Objective(problem, duti.Ridge(ridge=RIDGE))
            Z = np.asarray(objective.rows.Z)
            fits.append(timed(lambda: ridge_fit(Z, problem.y, n * RIDGE))[0])  # noqa: B023
            before = passes(objective)
            tally, search, run = walk(objective, budget)
            path_passes = passes(objective) - before
        searches.append(search)
        runs.append(run)
    fit, search, run, taken = min(fits), min(searches), min(runs), peak_memory() - baseline
    where = f"regression n={n:,}, D={D}, m={problem.m}, 4 % bugs"
    gap = max(step.accuracy for step in tally.steps)
    fitted = f"ridge fit {fit:.2f} s"
    return Report(
        [
            # The solver factors the ridge system itself: all that it takes beyond one fit is the path.
            at_most(
                f"{where}: path to the budget / one ridge fit",
                search / fit - 1,
                MOST_FITS,
                f"fit and path {search:.2f} s; {fitted}",
            ),
            Measurement(
                f"{where}: path to the budget and on to the noise level / one ridge fit",
                "–",
                f"{run / fit - 1:.2f} (fit and path {run:.2f} s, {len(tally.steps)} steps; {fitted})",
                holds=None,
            ),
            at_most(f"{where}: largest relative duality gap", gap, 1e-6, f"{tally.flagged:,} rows flagged"),
            Measurement(
                f"{where}: peak memory / size of Z",
                "–",
                f"{taken / Z.nbytes:.2f} ({taken / 1e9:.1f} GB, Z itself included)",
                holds=None,
            ),
        ],
        [
            {
                "n": n,
                "D": D,
                "ridge_fit": fit,
                "fit_and_path_to_budget": search,
                "fit_and_path": run,
                "passes": path_passes,
                "steps": len(tally.steps),
                "gap": gap,
                "peak": taken,
                "Z": Z.nbytes,
            }
        ],
    )


def walk(objective: Objective, budget: int) -> tuple[Tally, float, float]:
    """Algorithm 1, with the seconds until the budget is spent and until the noise level is reached."""
    problem, began = objective.problem, perf_counter()
    solver = default_solver(problem).prepare(objective)
    start = solver.start()
    tally, search = Tally(objective.relabelling, start), np.inf
    for solution in follow(problem, objective.relabelling, solver, start, budget):
        tally.add(solution)
        if tally.flagged > budget:
            search = min(search, perf_counter() - began)
    return tally, search, perf_counter() - began


def ridge_fit(Z: Array, y: Array, mu: float) -> Array:
    """(ZᵀZ + μI)⁻¹ Zᵀy in the precision of Z; NumPy forms half of a product of Zᵀ with Z itself."""
    G = Z.T @ Z
    G[np.diag_indices_from(G)] += mu
    factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, Z.T @ y.astype(Z.dtype, copy=False), check_finite=False))
