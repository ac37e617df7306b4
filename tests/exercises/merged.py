"""Exercise: a loss of one's own. A macro (merged.sql), this value, and one line that registers it."""

from pathlib import Path
from typing import ClassVar, Literal

from sqlanon.model.lattice import ClassLoss, LossContext, NodeSummary
from sqlanon.model.quality import QualityModel

MERGED = ClassLoss("merged", "merged_of", ("anon_class_size", "anon_kept", "anon_row_count"))


class Merged(QualityModel):
    """The share of the rows that no longer have a published class of their own."""

    model: Literal["merged"] = "merged"
    class_losses: ClassVar = (MERGED,)

    def loss_of(self, summary: NodeSummary, context: LossContext) -> float:
        return summary.class_losses[MERGED.name]


REGISTRATION = {"kind": Merged, "macros": Path(__file__).with_suffix(".sql")}
"""What `sa.register` is to be told: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
