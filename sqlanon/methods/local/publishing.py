"""What local recoding hands down to the database: the class of each key, and the levels of each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.peeling import LocalClasses
from sqlanon.methods.local.recoding import CLASS, KEYS, LABELS, LEVELS, SQL, PerClass
from sqlanon.methods.shared.arrays import Ints, Mask
from sqlanon.methods.shared.publishing import keep_classes
from sqlanon.model.labels import ClassesRecord
from sqlanon.queries.release.rows import KEPT_CLASSES


def make_classes(engine: Compute, recoding: PerClass, cells: CellArrays, classes: LocalClasses, *, masks: bool) -> bool:
    """Make the tables of a recoding, and the classes that are kept (``KEPT_CLASSES``).

    Args:
        engine: the database.
        recoding: the recoding.
        cells: the cells.
        classes: their classes.
        masks: whether rows that are left out are to be masked, if they meet the privacy models as one class.

    Returns:
        whether they are masked.
    """
    engine.put(LEVELS, _levels(recoding, cells, classes))
    engine.run(recoding.step())
    of_keys = classes.of_cells[cells.firsts] + 1
    masks = masks and classes.left_out > 0
    _put_keys(engine, recoding, cells, of_keys, of_keys >= (0 if masks else 1))
    keep_classes(engine, recoding)
    if not masks:
        return False
    if engine.fetch(SQL.query("masked_class", kept=KEPT_CLASSES), "masked rows", "node")[0]["kept"]:
        return True
    for relation in (KEYS, KEPT_CLASSES):
        engine.drop(relation)
    _put_keys(engine, recoding, cells, of_keys, of_keys > 0)
    keep_classes(engine, recoding)
    return False


def _put_keys(engine: Compute, recoding: PerClass, cells: CellArrays, of_keys: Ints, published: Mask) -> None:
    words = {name: word[published] for name, word in zip(recoding.words, cells.keys[:, cells.firsts], strict=True)}
    engine.put(KEYS, pa.table({**words, CLASS: of_keys[published]}))


def _levels(recoding: PerClass, cells: CellArrays, classes: LocalClasses) -> pa.Table:
    """The rows of :data:`LEVELS`: the bits of a label are those of any cell of the class at its level."""
    count, width = classes.levels.shape
    members = np.zeros(count, dtype=np.int64)
    published = np.flatnonzero(classes.of_cells >= 0)
    members[classes.of_cells[published]] = published
    bits = cells.keys[:, members, np.newaxis] & cells.label_masks[np.arange(width), classes.levels].transpose(2, 0, 1)
    return pa.table(
        {
            CLASS: np.tile(np.arange(1, count + 1, dtype=np.int32), width),
            "position": np.repeat(np.arange(width, dtype=np.int32), count),
            "depth": classes.levels.T.reshape(-1).astype(np.int32),
            **{name: of_word.T.reshape(-1) for name, of_word in zip(recoding.words, bits, strict=True)},
        }
    )


def recorded_classes(engine: Compute, recoding: PerClass, names: Sequence[str], classes: LocalClasses) -> ClassesRecord:
    """The record of the classes that are published, with the labels that the database has for them.

    Args:
        engine: the database.
        recoding: the recoding, with its classes (:func:`make_classes`).
        names: the quasi-identifiers.
        classes: the classes.
    """
    found = engine.fetch(SQL.query("kept_labels", labels=LABELS, kept=KEPT_CLASSES), "labels of classes", "class")
    places: list[dict[tuple[int | None, str | None], int]] = [{} for _ in names]
    rows: Counter[tuple[int, ...]] = Counter()
    levels = classes.levels.tolist()
    for row in found:
        number = row[CLASS]
        of_class = levels[number - 1] if number else [None] * len(names)
        labels = zip(of_class, (row[name] for name in recoding.encoding.label_columns), strict=True)
        combination = tuple(known.setdefault(label, len(known)) for known, label in zip(places, labels, strict=True))
        rows[combination] += int(classes.rows[number - 1]) if number else classes.left_out
    return ClassesRecord(
        labels={name: tuple(known) for name, known in zip(names, places, strict=True)},
        classes=tuple((count, *combination) for combination, count in rows.items()),
    )
