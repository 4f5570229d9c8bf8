"""Ranking: the fast solver ranks the paper's example as well as the plain one."""

from __future__ import annotations

import numpy as np

import duti
from benchmarks.measurement import Measurement, Report
from duti.arrays import Array
from duti.datasets import harry_potter
from duti.metrics import average_precision
from duti.solvers import Solver
from duti.solvers.projected_gradient import ProjectedGradient
from duti.solvers.prox_linear import ProxLinear

LEARNER = duti.KernelLogistic(bandwidth=0.5, ridge=2e-3)
LARGEST_LOSS = 0.005


def measure(quick: bool) -> Report:
    seeds = range(100, 101 if quick else 200)
    fast, plain = (average_precisions(solver, seeds) for solver in (ProxLinear(), ProjectedGradient()))
    loss = float(plain.mean() - fast.mean())
    error = float((plain - fast).std() / np.sqrt(len(seeds)))
    return Report(
        [
            Measurement(
                f"Harry Potter, seeds {seeds[0]}–{seeds[-1]}, budget n: mean average precision",
                f"≥ the plain solver's − {LARGEST_LOSS:g}",
                f"{fast.mean():.4f}, plain {plain.mean():.4f} (difference ± {error:.4f})",
                loss <= LARGEST_LOSS,
            )
        ],
        [
            {"seed": seed, "fast": a, "plain": b}
            for seed, a, b in zip(seeds, fast.tolist(), plain.tolist(), strict=True)
        ],
    )


def average_precisions(solver: Solver, seeds: range) -> Array:
    scores = []
    for seed in seeds:
        data = harry_potter(np.random.default_rng(seed))
        problem = duti.Problem(data.X, data.y, data.X_trusted, data.y_trusted)
        findings = duti.Duti(LEARNER, budget=problem.n, solver=solver).rank(problem)
        scores.append(average_precision(findings.ranking, data.is_bug))
    return np.array(scores)
