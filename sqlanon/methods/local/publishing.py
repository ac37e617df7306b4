"""What local recoding publishes: the class of each key, the labels of each class, and the record of these."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.classes import LocalClasses
from sqlanon.methods.local.parts import PARTS
from sqlanon.methods.local.recoding import KEYS, SQL, PerClass
from sqlanon.methods.shared.publishing import keep_classes
from sqlanon.model.labels import ClassesRecord
from sqlanon.queries.kit.nodes import Step
from sqlanon.queries.release.rows import KEPT_CLASSES
from sqlanon.queries.release.text_types import MASK


def make_classes(engine: Compute, recoding: PerClass, classes: LocalClasses, *, masks: bool) -> bool:
    """Make the tables of a recoding, and the classes that are kept (``KEPT_CLASSES``).

    Args:
        engine: the database, with the classes (:func:`~sqlanon.methods.local.classes.found_classes`).
        recoding: the recoding.
        classes: the classes.
        masks: whether rows that are left out are to be masked, if they meet the privacy models as one class.

    Returns:
        whether they are masked.
    """
    engine.run(recoding.step())
    masks = masks and classes.left_out > 0
    _make_keys(engine, recoding, first=0 if masks else 1)
    if not masks:
        return False
    if engine.fetch(SQL.query("masked_class", kept=KEPT_CLASSES), "masked rows", "node")[0]["kept"]:
        return True
    for relation in (KEYS, KEPT_CLASSES):
        engine.drop(relation)
    _make_keys(engine, recoding, first=1)
    return False


def _make_keys(engine: Compute, recoding: PerClass, *, first: int) -> None:
    query = SQL.query("published_keys", parts=PARTS, keys=recoding.words, first=first)
    engine.run(Step(KEYS, query, "classes of keys"))
    keep_classes(engine, recoding)


def recorded_classes(engine: Compute, recoding: PerClass, names: Sequence[str], masked_rows: int) -> ClassesRecord:
    """The record of the classes that are published, with the labels that the database has for them.

    Args:
        engine: the database.
        recoding: the recoding, with its classes (:func:`make_classes`).
        names: the quasi-identifiers.
        masked_rows: how many rows are masked.
    """
    roles = SQL.given(listed=recoding.class_list, kept=KEPT_CLASSES)
    query = roles.query("recorded_labels")
    labels: dict[str, list[tuple[int | None, str | None]]] = {name: [] for name in names}
    for row in engine.fetch(query, "labels of classes", "node"):
        labels[names[row["position"]]].append((row["depth"], row["label"]))
    query = roles.query("recorded_classes", labels=query.copy(), parts=PARTS)
    classes = [tuple(row["recorded"]) for row in engine.fetch(query, "classes", "class")]
    if masked_rows:
        classes.append((masked_rows, *map(len, labels.values())))
        for of_name in labels.values():
            of_name.append((None, MASK))
    return ClassesRecord(labels={name: tuple(found) for name, found in labels.items()}, classes=tuple(classes))
