"""Regression against general lasso solvers: the same path, to the same duality gap.

In δ the paper's objective is a lasso with a dense design of as many columns as there are rows,

    min ½‖Xδ − Y‖² + η‖δ‖₁,   X = [S − I; √(n c/m) Z̃G⁻¹Zᵀ],   S = ZG⁻¹Zᵀ,   G = ZᵀZ + nλI,

which duti never forms. The others get it for nothing: the time to build it is not theirs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import duti
from benchmarks.data import waves
from benchmarks.engine import REPEATS, budget_of, problem_of, walk
from benchmarks.measurement import CONFIDENCE, Measurement, Report, timed
from duti.arrays import Array
from duti.datasets import LabelledBugs
from duti.objective import Objective

RIDGE = 1e-3
GAP = 1e-6
TIMES_FASTER = 10
SECONDS = 120
"""What one of the others may take before it counts as not done."""
LASSOS = {"skglm": "skglm", "celer": "celer", "scikit-learn Lasso": "sklearn.linear_model"}
"""Where the estimators by coordinate descent, all called Lasso, come from."""
LARS = "scikit-learn LARS"


@dataclass(frozen=True)
class Peer:
    """How far another solver came."""

    name: str
    seconds: float
    steps: int
    """How many steps of the path it solved in time."""
    gap: float
    """The largest relative duality gap of those steps."""


class DenseLasso:
    """The lasso of a regression, written out."""

    def __init__(self, data: LabelledBugs) -> None:
        Z, Zt, n = data.X, data.X_trusted, len(data.y)
        G = cho_factor(Z.T @ Z + n * RIDGE * np.eye(Z.shape[1]))
        weight = np.sqrt(n * CONFIDENCE / len(Zt))
        F = cho_solve(G, Z.T)
        w = F @ data.y
        self.X = np.asfortranarray(np.vstack([Z @ F - np.eye(n), weight * (Zt @ F)]))
        self.Y = np.concatenate([data.y - Z @ w, weight * (data.y_trusted - Zt @ w)])

    def gap(self, delta: Array, eta: float) -> float:
        """Relative to the primal value, with the scaled residual as the dual point."""
        residual = self.Y - self.X @ delta
        primal = float(residual @ residual) / 2 + eta * float(abs(delta).sum())
        scale = min(1.0, eta / max(float(abs(self.X.T @ residual).max()), np.finfo(float).tiny))
        dual = scale * float(self.Y @ residual) - scale**2 * float(residual @ residual) / 2
        return (primal - dual) / max(primal, np.finfo(float).tiny)


def measure(quick: bool) -> Report:
    n, D = (100, 10) if quick else (5_000, 300)
    data = waves(np.random.default_rng(0), n, D)
    problem, budget = problem_of(data), budget_of(data)
    runs = [timed(lambda: walk(Objective(problem, duti.Ridge(ridge=RIDGE)), budget)) for _ in range(REPEATS)]
    tally = runs[0][1]
    etas = [step.gamma / 2 for step in tally.steps]
    ours = Peer("duti", min(took for took, _ in runs), len(etas), max(step.accuracy for step in tally.steps))
    building, lasso = timed(lambda: DenseLasso(data))
    names = [name for name, module in LASSOS.items() if find_spec(module.partition(".")[0])]
    others = [raced(name, lasso, etas) for name in [*names, LARS]]
    where = f"regression n={n:,}, D={D}, whole path of {len(etas)} steps"
    return Report(
        [
            Measurement(
                f"{where}: relative duality gap",
                f"≤ {GAP:g}",
                f"{ours.gap:.1e} in {ours.seconds:.3f} s",
                ours.gap <= GAP,
            ),
            *(compared(where, peer, ours) for peer in others),
            *(
                Measurement(f"{where}: {name} / duti", f"≥ {TIMES_FASTER}", "not installed", holds=None)
                for name in LASSOS.keys() - set(names)
            ),
            Measurement(
                f"{where}: building the dense design of {lasso.X.shape[0]:,} x {n:,}",
                "–",
                f"{building:.1f} s and {lasso.X.nbytes / 1e6:.0f} MB, not counted against the others",
                holds=None,
            ),
        ],
        [asdict(peer) for peer in (ours, *others)],
    )


def compared(where: str, peer: Peer, ours: Peer) -> Measurement:
    ratio = peer.seconds / ours.seconds
    measured = f"{ratio:.0f} ({peer.seconds:.1f} s, gap {peer.gap:.1e})"
    if peer.steps < ours.steps:
        measured = f"> {ratio:.0f} ({peer.steps} steps done in {peer.seconds:.0f} s)"
    return Measurement(f"{where}: {peer.name} / duti", f"≥ {TIMES_FASTER}", measured, ratio >= TIMES_FASTER)


def raced(name: str, lasso: DenseLasso, etas: list[float]) -> Peer:
    """Run another solver in a process that can be ended; it is forked, so that the design is shared."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report_steps, args=(sender, name, lasso, etas))
    process.start()
    receiver.recv()
    deadline = time.perf_counter() + SECONDS
    steps: list[tuple[float, float]] = []
    while len(steps) < len(etas) and receiver.poll(max(deadline - time.perf_counter(), 0)):
        steps.append(receiver.recv())
    process.terminate()
    process.join()
    seconds = sum(took for took, _ in steps) if len(steps) == len(etas) else SECONDS
    return Peer(name, seconds, len(steps), max((gap for _, gap in steps), default=np.nan))


def _report_steps(sender: Connection, name: str, lasso: DenseLasso, etas: list[float]) -> None:
    warnings.simplefilter("ignore")
    steps = least_angle(lasso, etas) if name == LARS else coordinate_descent(LASSOS[name], lasso, etas)
    for step in steps:
        sender.send(step)


def coordinate_descent(module: str, lasso: DenseLasso, etas: list[float]) -> Iterator[tuple[float, float]]:
    """Seconds and gap of each step of a warm-started estimator, asked for more until its gap is small enough.

    The first thing it yields is that it is ready: just-in-time compilers may take their time before.
    """
    estimator = import_module(module).Lasso(fit_intercept=False, warm_start=True, max_iter=100_000)
    estimator.set_params(alpha=0.1).fit(np.asfortranarray(np.eye(3)), np.ones(3))
    del estimator.coef_
    yield 0.0, 0.0
    for eta in etas:
        seconds, gaps, tol = 0.0, [np.inf], GAP
        while min(gaps) > GAP and tol > 1e-16:
            # All of them minimise 1/(2 rows) ‖Xδ − Y‖² + α‖δ‖₁.
            estimator.set_params(alpha=eta / len(lasso.Y), tol=tol)
            seconds += timed(lambda: estimator.fit(lasso.X, lasso.Y))[0]
            gaps.append(lasso.gap(np.ravel(estimator.coef_), eta))
            tol /= 10
        yield seconds, min(gaps)


def least_angle(lasso: DenseLasso, etas: list[float]) -> Iterator[tuple[float, float]]:
    """Seconds and gap of each step of scikit-learn's homotopy, all of whose time goes to the first."""
    from sklearn.linear_model import lars_path

    yield 0.0, 0.0
    rows, most = len(lasso.Y), 100 * len(lasso.Y)
    seconds, (alphas, _, knots) = timed(
        lambda: lars_path(lasso.X, lasso.Y, method="lasso", alpha_min=etas[-1] / rows, max_iter=most)
    )
    for eta in etas:
        yield seconds, lasso.gap(_between(alphas, knots, eta / rows), eta)
        seconds = 0.0


def _between(alphas: Array, knots: Array, alpha: float) -> Array:
    """δ is linear in α between two knots."""
    above = int(np.clip(np.searchsorted(-alphas, -alpha) - 1, 0, len(alphas) - 2))
    share = (alphas[above] - alpha) / max(alphas[above] - alphas[above + 1], np.finfo(float).tiny)
    return np.asarray(knots[:, above] + np.clip(share, 0, 1) * (knots[:, above + 1] - knots[:, above]))
