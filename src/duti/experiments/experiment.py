"""What an experiment is: data drawn from a seed, and detectors that compete on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duti.datasets import LabelledBugs
from duti.detector import Detector

Draw = Callable[[np.random.Generator], LabelledBugs]


@dataclass(frozen=True)
class Contender:
    """A detector, as it is set for an experiment."""

    name: str
    detector: Callable[[LabelledBugs], Detector]
    """The detector for some data; only an oracle looks at the bugs."""
    setting: str
    """How it is set, in a few words."""
    confidence: float | None = 100.0
    """Of the trusted items; None leaves it to the detector."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or a case of it."""

    name: str
    title: str
    draw: Draw
    contenders: tuple[Contender, ...]
    figure: str
    """Where the paper shows it."""
    runs: int
    published: str | None = None
    """The name of its precision-recall curves in the published figures."""
    shown: int = 12
    """How many of the most suspicious rows a picture shows."""
    images: bool = False
    """Whether a row is an image of a digit, which pictures show."""
    remarks: tuple[str, ...] = ()
    """What a reader should know, and why ours is not the paper's where it is not."""
