"""The classes of a fit: how the cells of a partition find them, and which of them it has rows in."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.recoding import CLASS_LABELS, PerClass
from sqlanon.methods.local.recoding import SQL as LOCAL
from sqlanon.methods.local.table import CLASS
from sqlanon.model.fit import Fit
from sqlanon.model.labels import ClassesRecord, LabelsRecord, NodeRecord
from sqlanon.partitions.increment import Increment, Lookup, kept_cells, lookups_at, node_labels
from sqlanon.partitions.sidecar import LISTED, REFERENCE
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.queries.release.rows import KEPT_CLASSES


def increment_of(engine: Compute, encoding: Encoding, fit: Fit, published: exp.Expr) -> Increment:
    """Find the labels of the cells of a partition: those of the node, or of the listed class of the least loss.

    Args:
        engine: the database, in which the sidecar of the fit is attached.
        encoding: that of the partition.
        fit: the fit.
        published: the counts of what was published before.
    """
    if fit.class_count is None:
        node = AtNode(encoding, tuple(fit.node[name] for name in fit.policy.quasi_identifiers))
        for step in node_labels(node):
            engine.run(step)
        return Increment(node, lookups_at(node), published, REFERENCE)
    classes = PerClass(encoding)
    classes.find_classes(engine, fit.policy, LISTED)
    lookup = Lookup(CLASS_LABELS, CLASS, dict(enumerate(encoding.label_columns)))
    return Increment(classes, [lookup], published, REFERENCE)


def labels_of(engine: Compute, fit: Fit, increment: Increment) -> LabelsRecord:
    """The record of the labels of a partition: the node, or the classes that it has published rows in.

    All partitions of a fit record the same labels, so that what they record of classes can be added up.
    """
    names = fit.policy.quasi_identifiers
    if fit.class_count is None:
        return NodeRecord(levels=fit.node)
    labels: list[dict[tuple[int | None, str | None], int]] = [{} for _ in names]
    for row in engine.fetch(LOCAL.query("distinct_labels", listed=LISTED), "labels of listed classes", "node"):
        of_column = labels[row["position"]]
        of_column[row["depth"], row["label"]] = len(of_column)
    query = LOCAL.query("released_classes", listed=LISTED, cells=kept_cells(increment, KEPT_CLASSES))
    classes = []
    for row in engine.fetch(query, "classes of the partition", "class"):
        combination = zip(row["depths"], row["labels"], strict=True)
        places = (known[label] for known, label in zip(labels, combination, strict=True))
        classes.append((int(row["rows"]), *places))
    recorded = {name: tuple(known) for name, known in zip(names, labels, strict=True)}
    return ClassesRecord(labels=recorded, classes=tuple(classes))


def uncovered_notes(rows: int) -> Iterator[str]:
    """That rows are in no class of a fit, in words; nothing of no rows."""
    if rows:
        yield f"{rows:,} of its rows are in none of the classes of the fit, which suppresses them"
