"""Quality models: how much information a node loses (``spec/metrics.md``). Less is better in all of them."""

from sqlanon.model.quality.base import Bounds, ClassLoss, Columns, QualityModel, Table, Terms, WeightedModel
from sqlanon.model.quality.losses import AECS, ALWAYS_REPORTED, DM, LM, NCP, DMStar, Entropy, Prec

__all__ = [
    "AECS",
    "ALWAYS_REPORTED",
    "DM",
    "LM",
    "NCP",
    "Bounds",
    "ClassLoss",
    "Columns",
    "DMStar",
    "Entropy",
    "Prec",
    "QualityModel",
    "Table",
    "Terms",
    "WeightedModel",
]
