"""A million rows: classification from a float32 X to findings, with the memory it takes."""

from __future__ import annotations

import numpy as np

import duti
from benchmarks.data import bands
from benchmarks.engine import budget_of, problem_of
from benchmarks.machine import peak_memory
from benchmarks.measurement import Measurement, Report, at_most, timed

MOST_COPIES = 3.0
"""Peak memory, in sizes of a float32 Z, the user's own X included."""


def measure(quick: bool) -> Report:
    baseline = peak_memory()
    n, D = (300, 5) if quick else (1_000_000, 500)
    data = bands(np.random.default_rng(0), n, D, k=2, m=10 if quick else 200)
    handed_over = peak_memory() - baseline
    learner, budget = duti.Logistic(ridge=1e-3), budget_of(data)
    seconds, findings = timed(lambda: duti.Duti(learner, budget).rank(problem_of(data)))
    taken, Z = peak_memory() - baseline, data.X.nbytes
    where = f"n={n:,}, D={D}, k=2, ridge 0.001"
    right = data.is_bug[findings.flagged].mean() if len(findings.flagged) else 0.0
    ended = findings.status.partition(":")[0]
    return Report(
        [
            Measurement(
                f"{where}: from X to findings, float32",
                "finishes",
                f"{ended} in {seconds:.0f} s, {len(findings.path)} steps; {right:.0%} of the flags are bugs",
                holds=findings.status is not duti.Status.NOT_CONVERGED,
            ),
            at_most(
                f"{where}: peak memory / size of Z",
                taken / Z,
                MOST_COPIES,
                f"{taken / 1e9:.2f} GB for a Z of {Z / 1e9:.2f} GB; {handed_over / 1e9:.2f} GB of it is X",
            ),
        ],
        [{"n": n, "D": D, "seconds": seconds, "peak": taken, "X": handed_over, "Z": Z, "status": ended}],
    )
