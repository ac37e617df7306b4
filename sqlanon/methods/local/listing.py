"""The class of a list to which a cell goes: the one of the least loss that covers its values."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.recoding import KEYS, SQL, PerClass
from sqlanon.methods.local.table import (
    UNITS,
    key_words,
    label_masks,
    loss_column,
    mask_columns,
    weighed_shares,
    with_words,
)
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.kit.nodes import Relation, Step, aliased, bits, column


def find_classes(engine: Compute, recoding: PerClass, policy: Policy, listed: Relation | exp.Expr) -> None:
    """Make the tables of a recoding for cells that go to listed classes: each to the one of the least loss.

    Args:
        engine: the database.
        recoding: the recoding, of the new cells.
        policy: the policy of the list.
        listed: the list (:attr:`PerClass.class_list`), made with the same taxonomies.
    """
    engine.run(recoding.step_of_listed(listed))
    encoding = recoding.encoding
    labels = SQL.query(
        "listed_labels",
        listed=listed,
        labels=with_words(encoding, encoding.labels),
        shares=weighed_shares(policy),
        loss=loss_column(policy),
        keys=key_words(encoding),
        width=len(encoding.spec.shapes),
        units=UNITS,
    )
    keys = SQL.query("keys", cells=with_words(encoding, encoding.cells), keys=key_words(encoding))
    engine.run(Step(KEYS, covering_classes(encoding, keys, labels), "classes of keys"))


def covering_classes(encoding: Encoding, keys: exp.Query, labels: exp.Query | Relation) -> exp.Query:
    """Keys that a class covers, with the one of the least loss (``anon_class``), of several the first.

    Args:
        encoding: that of the keys.
        keys: the keys, each once.
        labels: the labels of classes by position, with their words and what they lose.
    """
    words, masks = key_words(encoding), mask_columns(encoding)
    listed = SQL.query(
        "covers",
        labels=labels,
        masks=label_masks(encoding),
        keys=[aliased(exp.func("bit_or", column(word, "anon_labels")), word) for word in words],
        bits=[aliased(exp.func("bit_or", column(mask, "anon_masks")), mask) for mask in masks],
    )
    masked = [
        aliased(bits(column(word, "anon_keys"), column(mask, "anon_nodes")), f"anon_class_{word}")
        for word, mask in zip(words, masks, strict=True)
    ]
    covered = [column(f"anon_class_{word}", "anon_at_nodes").eq(column(word, "anon_covers")) for word in words]
    return SQL.query(
        "covering_classes",
        keys=words,
        of_keys=keys,
        covers=listed,
        bits=masks,
        masked=masked,
        is_covered=exp.and_(*covered, copy=False),
    )
