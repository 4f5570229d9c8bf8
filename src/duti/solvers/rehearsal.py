"""Steps of labels, learner and adjoint tried out on a sample of the rows, before all rows take them.

Around a point of all rows, with scores s₀ and what is left of both systems known, the learner at other
labels of some candidate rows C is about the one of the sample S with the same corrections:

    g = g₀ + Σ_S share (P − P₀) z + Λ(θ − θ₀) − (1/n) Z_Cᵀ(δ − δ₀)

and Hv, the risk and O likewise. Changes of the labels enter exactly, only changes of P are sampled. Ten
rows a feature predict those to within a tenth or so, and so does a rehearsal. Its points are `Point`s
whose scores are those of the sample, and whose labels and evidence are those of the candidates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints
from duti.features.rows import gathered
from duti.learners.losses import SoftmaxCurvature, log_sum_exp, softmax
from duti.learners.preconditioner import Sample
from duti.solvers.bilevel import Bilevel, Change, Point

REHEARSED = 0.1
"""How far a sweep reduces what is left of the two systems."""
NEWTON_STEPS, CG_STEPS = 10, 100
HOPELESS = 1e3
"""So many times the residual of the start mean that the preconditioner belongs to another place."""
SHORTEST = 1e-3
"""The shortest part of a Newton step that is tried."""


class Rehearsal:
    """The problem around a point, with learner and adjoint on a sample and labels on candidates."""

    def __init__(self, bilevel: Bilevel, sample: Sample, at: Point, candidates: Ints) -> None:
        self.bilevel, self.sample, self.candidates = bilevel, sample, candidates
        self.share = sample.share.astype(bilevel.dtype)
        self.rows = bilevel.rows.subset(candidates)
        self.given = gathered(bilevel.given, candidates)
        self.cg_steps = 0
        """Steps of conjugate gradients of the last sweep."""
        self.start = replace(
            at,
            delta=gathered(at.delta, candidates),
            scores=gathered(at.scores, sample.index),
            adjoint_scores=gathered(at.adjoint_scores, sample.index),
            evidence=gathered(at.evidence, candidates),
        )

    def change(self, at: Point, delta: NDArray[Any], image: Array) -> Change:
        """From the labels of a point to other ones, with Zᵀ(δ' − δ)."""
        moves = (delta - at.delta).astype(np.float64)
        rows = np.flatnonzero(moves.any(axis=1))
        farther = -float((moves * self.given).sum()) / self.bilevel.n
        return Change(rows, moves[rows], image / self.bilevel.n, farther)

    def everywhere(self, change: Change) -> Change:
        """The same change for a point of all rows."""
        return replace(change, rows=self.candidates[change.rows])

    def sweep(self, at: Point) -> Point:
        """Solve both systems to a tenth of what is left of them."""
        bilevel, u = self.bilevel, at.adjoint_scores
        s0, P0, lse0 = at.scores, softmax(at.scores), log_sum_exp(at.scores)
        s, P, x, risk, d_theta = s0, P0, np.zeros_like(at.theta), 0.0, at.d_theta

        def risk_at(x: Array, s: NDArray[Any]) -> float:
            bend = float(self.share @ (log_sum_exp(s) - lse0 - (P0 * (s - s0)).sum(axis=1)))
            return bend + float((at.d_theta * x).sum()) + bilevel.penalty(x)

        self.cg_steps, enough = 0, REHEARSED * bilevel.size(at.d_theta)
        for _ in range(NEWTON_STEPS):
            more, image = self._solve(P, -d_theta)
            slope, length = float((d_theta * more).sum()), 1.0
            while True:
                reached = risk_at(x + length * more, s + length * image)
                if reached <= risk + 1e-4 * length * slope + bilevel.rounding(at) or length < SHORTEST:
                    break
                length /= 2
            x, s, risk = x + length * more, s + length * image, reached
            P = softmax(s)
            d_theta = at.d_theta + self._back(P - P0) + bilevel.erm.penalised(x)
            if bilevel.size(d_theta) <= enough:
                break
        bent, bent0 = SoftmaxCurvature(P).times(u), SoftmaxCurvature(P0).times(u)
        Hv = at.Hv + self._back(bent - bent0)
        theta = at.theta + x
        trusted = bilevel.trusted(theta)
        v_step, image = self._solve(P, trusted.right - Hv)
        v, risk = at.v + v_step, at.risk + risk
        Hv += self._back(SoftmaxCurvature(P).times(image)) + bilevel.erm.penalised(v_step)
        (moved,) = self.rows.times_zero_sum(x - v_step)
        return replace(
            at,
            theta=theta,
            v=v,
            scores=s,
            adjoint_scores=u + image,
            evidence=at.evidence + moved,
            risk=risk,
            d_theta=d_theta,
            Hv=Hv,
            trusted=trusted,
            value=trusted.loss + risk - bilevel.penalty(theta) - float((v * d_theta).sum()),
        )

    def _solve(self, P: NDArray[Any], R: Array) -> tuple[Array, NDArray[Any]]:
        """About H⁻¹ R by conjugate gradients on the sample, and its image there."""
        bilevel, curvature = self.bilevel, SoftmaxCurvature(P)
        X, image = np.zeros_like(R), np.zeros_like(P)
        Y = bilevel.inverse(R)
        direction, size = Y, float((R * Y).sum())
        target, hopeless = REHEARSED**2 * size, HOPELESS * size
        for _ in range(CG_STEPS):
            if not target < size <= hopeless:
                break
            self.cg_steps += 1
            (along,) = self.sample.rows.times_zero_sum(direction)
            bent = self._back(curvature.times(along)) + bilevel.erm.penalised(direction)
            bend = float((direction * bent).sum())
            if not bend > 0:
                break
            length = size / bend
            X, R, image = X + length * direction, R - length * bent, image + P.dtype.type(length) * along
            Y = bilevel.inverse(R)
            size, previous = float((R * Y).sum()), size
            direction = Y + (size / previous) * direction
        return X, image

    def _back(self, residual: NDArray[Any]) -> Array:
        """Σ share residual z over the sample."""
        return self.sample.rows.transposed_times_zero_sum(self.share[:, None] * residual)[0]
