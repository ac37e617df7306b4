"""The list of classes that is kept of a local recoding, and the classes that new cells find in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.methods.local.arrays import UNITS, label_masks, loss_of
from sqlanon.methods.local.covering import ListedClasses
from sqlanon.methods.local.recoding import CLASS, KEYS, SQL, PerClass
from sqlanon.methods.local.settling import OUT
from sqlanon.methods.shared.arrays import Ints, grouped, key_words
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.nodes import Relation, column


def find_classes(engine: Compute, recoding: PerClass, policy: Policy, listed: Relation | exp.Expr) -> None:
    """Make the tables of a recoding for cells that go to listed classes: each to the one of the least loss.

    Args:
        engine: the database.
        recoding: the recoding, of the new cells.
        policy: the policy of the list.
        listed: the list (:attr:`PerClass.class_list`), made with the same taxonomies.
    """
    engine.run(recoding.step_of_listed(listed))
    numbers, classes = _listed(engine, recoding, policy, listed)
    keys = _keys(engine, recoding)
    of_keys = classes.covering(keys)
    is_covered = of_keys != OUT
    words = dict(zip(recoding.words, keys[:, is_covered], strict=True))
    engine.put(KEYS, pa.table({**words, CLASS: numbers[of_keys[is_covered]]}))


def _listed(
    engine: Compute, recoding: PerClass, policy: Policy, listed: Relation | exp.Expr
) -> tuple[Ints, ListedClasses]:
    """The numbers of listed classes, ascending, and the classes."""
    assert isinstance(policy.method, LocalRecoding)
    encoding, shares = recoding.encoding, np.array(policy.method.shares(policy))
    width, height = len(shares), max(shape.height for shape in encoding.spec.shapes)
    query = SQL.query(
        "listed_labels",
        listed=listed,
        labels=encoding.labels,
        loss=column(loss_of(policy)),
        keys=recoding.words,
        width=width,
    )
    found = engine.arrays(query, "listed classes as arrays")
    count = len(found[CLASS]) // width
    losses = np.rint(found["loss"].reshape(count, width) * (shares * UNITS)).astype(np.int64)
    levels = found["depth"].astype(np.int64).reshape(count, width)
    bits = key_words(encoding, found, count * width).reshape(len(recoding.words), count, width)
    masks = label_masks(encoding.keys, width, height)[np.arange(width), levels].transpose(2, 0, 1)
    numbers: Ints = found[CLASS].astype(np.int64)[::width]
    return numbers, ListedClasses(
        np.bitwise_or.reduce(bits, axis=2), np.bitwise_or.reduce(masks, axis=2), losses.sum(axis=1)
    )


def _keys(engine: Compute, recoding: PerClass) -> Ints:
    """The distinct keys of cells, ascending, of shape (words, keys)."""
    words, cells = recoding.words, recoding.encoding.cells
    if not words:  # every quasi-identifier has one label
        return np.zeros((0, 1), dtype=np.int64)
    found = engine.arrays(SQL.query("keys", cells=cells, keys=words), "keys of cells")
    keys = key_words(recoding.encoding, found, len(found[words[0]]))
    return keys[:, grouped(keys)[0]]
