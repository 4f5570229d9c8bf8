"""Small random problems that cover both tasks, kernel and linear learners, with and without intercept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti import KernelLogistic, KernelRidge, Learner, Logistic, Objective, Problem, Ridge
from duti.arrays import Array


@dataclass(frozen=True)
class Case:
    objective: Objective
    delta: Array
    """A point strictly inside the domain of δ."""
    direction: Array
    """A direction that stays inside: zero-sum over the classes."""
    gamma: float


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    n, d, m = int(rng.integers(12, 40)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
    k = int(rng.integers(2, 6)) if rng.random() < 0.6 else 0
    X, X_trusted = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    confidence = rng.uniform(0, 100, m)
    learner = random_learner(rng, k)
    if k:
        y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
        problem = Problem(
            X, y, X_trusted, rng.integers(k, size=m), confidence=confidence, task="classification"
        )
        delta = rng.dirichlet(np.ones(k), n)
        direction = rng.normal(size=(n, k))
        direction -= direction.mean(axis=1, keepdims=True)
        # Stay inside the simplex for every step of a finite difference.
        delta = 0.9 * delta + 0.1 / k
    else:
        problem = Problem(
            X,
            rng.normal(size=n),
            X_trusted,
            rng.normal(size=m),
            confidence=confidence,
            task="regression",
        )
        delta = rng.choice([-1, 1], n) * rng.uniform(0.1, 1, n)
        direction = rng.normal(size=n)
    return Case(Objective(problem, learner), delta, direction, float(rng.uniform(0, 5)))


def random_learner(rng: np.random.Generator, k: int) -> Learner:
    ridge, intercept = float(10 ** rng.uniform(-3, -0.5)), bool(rng.random() < 0.5)
    if rng.random() < 0.5:
        bandwidth = float(rng.uniform(0.4, 2))
        kernel = KernelLogistic if k else KernelRidge
        return kernel(bandwidth=bandwidth, ridge=ridge, intercept=intercept)
    return (Logistic if k else Ridge)(ridge=ridge, intercept=intercept)
