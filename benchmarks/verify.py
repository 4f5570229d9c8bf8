"""The figures that the README quotes, measured: `make verify` (about two minutes; --quick for a glance)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import duti
from benchmarks.measurement import Measurement, table
from duti.datasets import harry_potter, sine
from duti.metrics import average_precision


def harry_potter_quality(seeds: range) -> Iterator[Measurement]:
    scores, gaps, seconds = [], [], []
    for seed in seeds:
        data = harry_potter(np.random.default_rng(seed))
        start = time.perf_counter()
        findings = duti.debug(
            data.X,
            data.y,
            data.X_trusted,
            data.y_trusted,
            learner=duti.KernelLogistic(bandwidth=0.5, ridge=2e-3),
            budget=len(data.y),
        )
        seconds.append(time.perf_counter() - start)
        scores.append(average_precision(findings.ranking, data.is_bug))
        gaps += [step.accuracy for step in findings.path]
    error = np.std(scores) / np.sqrt(len(scores))
    yield Measurement(
        f"Harry Potter, {len(seeds)} seeds, budget n: mean average precision",
        "≥ 0.88 (paper 0.897)",
        f"{np.mean(scores):.3f} ± {error:.3f}, median {np.median(seconds):.2f} s a run",
        bool(np.mean(scores) >= 0.88),
    )
    yield Measurement(
        "Harry Potter: largest relative Frank-Wolfe gap of a step",
        "≤ 1e-5",
        f"{max(gaps):.1e} over {len(gaps)} steps",
        max(gaps) <= 1e-5,
    )


def sine_quality(seeds: range) -> Iterator[Measurement]:
    scores, gaps, errors = [], [], []
    for seed in seeds:
        data = sine(np.random.default_rng(seed))
        findings = duti.debug(
            data.X,
            data.y,
            data.X_trusted,
            data.y_trusted,
            learner=duti.KernelRidge(bandwidth=0.7, ridge=3.8e-6),
            budget=50,
        )
        scores.append(average_precision(findings.ranking, data.is_bug))
        errors.append((findings.suggested_labels - data.truth)[data.is_bug] ** 2)
        gaps += [step.accuracy for step in findings.path]
    error = np.std(scores) / np.sqrt(len(scores))
    rmse = float(np.sqrt(np.concatenate(errors).mean()))
    yield Measurement(
        f"sine, {len(seeds)} seeds, budget 50: mean average precision",
        "≥ 0.93 (paper 0.874)",
        f"{np.mean(scores):.3f} ± {error:.3f}",
        bool(np.mean(scores) >= 0.93),
    )
    yield Measurement("sine: RMSE of the fixes on the bugs", "≤ 0.12", f"{rmse:.3f}", rmse <= 0.12)
    yield Measurement(
        "sine: largest relative duality gap of a step",
        "≤ 1e-9",
        f"{max(gaps):.1e} over {len(gaps)} steps",
        max(gaps) <= 1e-9,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the seeds")
    seeds = range(10 if parser.parse_args().quick else 100)
    rows = [*harry_potter_quality(seeds), *sine_quality(seeds)]
    print(table(rows))


if __name__ == "__main__":
    main()
