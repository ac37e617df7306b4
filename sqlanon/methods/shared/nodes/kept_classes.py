"""What is kept of a node that was chosen: its classes, what they attain, and what masking would make of the others."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.recoding import Recoding
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes import summaries as evaluate
from sqlanon.queries.classes.grouping import Grouping, recoded
from sqlanon.queries.kit.nodes import Relation, Step
from sqlanon.queries.release.rows import KEPT_CLASSES


def keep_classes(engine: Compute, table: EncodedTable, recoding: Recoding) -> Relation:
    """Make the table of the classes that are kept."""
    engine.run(Step(KEPT_CLASSES, evaluate.kept_classes(table.encoding, recoding), "kept classes"))
    return KEPT_CLASSES


def attained_measures(engine: Compute, grouping: Grouping) -> list[float]:
    """What the classes that are kept attain in each bound of the privacy models, in the policy's order."""
    row = engine.fetch(evaluate.attained(grouping), "attained measures", "node")[0]
    return [row[f"attained_{index}"] for index in range(len(grouping.encoding.criteria.bounds))]


def attained_at(engine: Compute, encoding: Encoding, recoding: Recoding) -> list[float]:
    """The same of the classes of a recoding."""
    return attained_measures(engine, recoded(encoding, recoding))


def masked_rows_fall_short(engine: Compute, table: EncodedTable, recoding: Recoding) -> list[PrivacyModel]:
    """The privacy models that the suppressed rows do not meet as one class of their own."""
    row = engine.fetch(evaluate.masked_class(table.encoding, recoding, KEPT_CLASSES.table), "masked rows", "class")[0]
    policy = table.bound.policy
    attained = {bound.measure: row[f"attained_{index}"] for index, bound in enumerate(policy.criteria.bounds)}
    return [
        model for model in policy.privacy if not all(bound.met_by(attained[bound.measure]) for bound in model.bounds)
    ]
