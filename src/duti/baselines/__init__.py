"""Other detectors: what DUTI is compared with in the paper, and what people use today."""

from duti.baselines.cleanlab import Cleanlab
from duti.baselines.influence import Influence
from duti.baselines.knn_shapley import KNNShapley
from duti.baselines.label_noise import LabelNoise
from duti.baselines.nearest_trusted import NearestTrusted
from duti.baselines.out_of_sample import NormalizedMargin, SelfConfidence
from duti.baselines.pooled import Pooled
from duti.baselines.training_loss import TrainingLoss
from duti.baselines.trusted_only import TrustedOnly

__all__ = [
    "Cleanlab",
    "Influence",
    "KNNShapley",
    "LabelNoise",
    "NearestTrusted",
    "NormalizedMargin",
    "Pooled",
    "SelfConfidence",
    "TrainingLoss",
    "TrustedOnly",
]
