"""The detectors of the paper, and the peers that a user would pick instead."""

from __future__ import annotations

from dataclasses import dataclass

from duti.automatic import Automatic
from duti.baselines import (
    Influence,
    KNNShapley,
    LabelNoise,
    NearestTrusted,
    NormalizedMargin,
    SelfConfidence,
    TrainingLoss,
    TrustedOnly,
)
from duti.datasets import LabelledBugs
from duti.detector import Duti
from duti.experiments.experiment import Contender
from duti.findings import Findings
from duti.learners import Learner
from duti.problem import Problem
from duti.solvers.prox_linear import ProxLinear
from duti.tune import median_distance, tune

TUNED = "kernel learner, 10-fold cross-validation"
NARROW_RIDGE, CAUTION = 1e-3, 0.3


@dataclass(frozen=True)
class Tuned:
    """DUTI with a kernel learner chosen by cross-validation."""

    learner: Learner
    """What is left open in it is tuned."""
    budget: int
    simplest: bool = False
    """The most regularised learner within one standard error of the best, rather than the best."""
    least_ridge: float = 0.0
    rtol: float | None = None
    """Frank-Wolfe gap to which each step is solved; as `ProxLinear` likes if None."""

    def rank(self, problem: Problem) -> Findings:
        """The findings for a problem."""
        tuning = tune(self.learner, problem.X, problem.y, problem.k)
        learner = tuning.simplest if self.simplest else tuning.best
        learner = learner.with_(ridge=max(learner.ridge or 0.0, self.least_ridge))
        return Duti(learner, self.budget, solver=ProxLinear(self.rtol) if self.rtol else None).rank(problem)


def paper(learner: Learner | None, setting: str = TUNED) -> tuple[Contender, ...]:
    """DUTI, INF and NN as the paper has them, with a given or a tuned learner."""
    return (
        Contender("DUTI", lambda data: Duti(learner, len(data.y)), f"{setting}, confidence 100"),
        *first_order(learner, setting),
    )


def first_order(learner: Learner | None, setting: str = TUNED) -> tuple[Contender, ...]:
    """INF and NN."""
    return (
        Contender("INF", lambda data: Influence(learner, len(data.y)), setting),
        Contender("NN", lambda data: NearestTrusted(len(data.y)), "features normalised one by one"),
    )


def coarse(learner: Learner, *, least_ridge: float, rtol: float) -> tuple[Contender, ...]:
    """The paper's recipe and two others, for ten classes, where tiny ridges and gaps take too long."""
    bounds = f"ridge at least {least_ridge:g}, gap {rtol:g}"
    return (
        Contender(
            "DUTI",
            lambda data: Tuned(learner, len(data.y), least_ridge=least_ridge, rtol=rtol),
            f"{TUNED}, {bounds}, confidence 100",
        ),
        Contender(
            "DUTI, narrow",
            lambda data: Duti(_narrow(learner, data), len(data.y), solver=ProxLinear(rtol)),
            f"bandwidth half the median distance, ridge {NARROW_RIDGE:g}, gap {rtol:g}, confidence 100",
        ),
        cautious(learner, least_ridge=least_ridge, rtol=rtol),
    )


def _narrow(learner: Learner, data: LabelledBugs) -> Learner:
    return learner.with_(bandwidth=median_distance(learner, data.X) / 2, ridge=NARROW_RIDGE)


def oracle() -> Contender:
    """LND, which is told how many labels of each class are wrong."""

    def detector(data: LabelledBugs) -> LabelNoise:
        positive = data.is_bug & (data.y == max(data.y))
        return LabelNoise(int(positive.sum()), int((data.is_bug & ~positive).sum()), budget=len(data.y))

    return Contender("LND", detector, "oracle: told the number of bugs of each class")


def cautious(learner: Learner, *, least_ridge: float = 0.0, rtol: float | None = None) -> Contender:
    """DUTI with a learner that bends less and with trusted items that weigh less."""
    return Contender(
        "DUTI, cautious",
        lambda data: Tuned(learner, len(data.y), simplest=True, least_ridge=least_ridge, rtol=rtol),
        f"simplest learner within one standard error, confidence {CAUTION:g}",
        confidence=CAUTION,
    )


def automatic(learner: Learner | None) -> Contender:
    """The default of this package."""
    return Contender(
        "DUTI, automatic",
        lambda data: Automatic(learner, len(data.y)),
        "many kernel learners weighed by the trusted items, nothing tuned",
        confidence=None,
    )


def peers(
    learner: Learner | None, *, regression: bool = False, setting: str = TUNED
) -> tuple[Contender, ...]:
    """What others use: scores out of sample, training loss, KNN-Shapley, trusted items alone."""
    chosen = [
        Contender("self-confidence", lambda data: SelfConfidence(learner, len(data.y)), setting),
        Contender("training loss", lambda data: TrainingLoss(learner, len(data.y)), setting),
        Contender("trusted only", lambda data: TrustedOnly(learner, len(data.y)), setting),
    ]
    if not regression:
        chosen += [
            Contender("margin", lambda data: NormalizedMargin(learner, len(data.y)), setting),
            Contender("KNN-Shapley", lambda data: KNNShapley(budget=len(data.y)), "5 neighbours"),
        ]
    return tuple(chosen)
