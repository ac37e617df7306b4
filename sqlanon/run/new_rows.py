"""New rows in the classes of a release of local recoding, each at the labels of the class that covers it best."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.local.class_labels import CLASS_LABELS, PerClass
from sqlanon.methods.local.class_labels import SQL as LOCAL
from sqlanon.model.labels import ClassesRecord
from sqlanon.model.names import folded
from sqlanon.model.policy.fields import action_for
from sqlanon.model.policy.policy import Policy
from sqlanon.model.preparations import Generalized
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.record import GeneralizedRecord, PolicyRecord, Record
from sqlanon.nodes.table import encode_table
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import Target
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.release.rows import KEPT_CLASSES
from sqlanon.release import publishing

RECORDED = Relation("anon_recorded_classes", "class")
"""The classes of a release: by class and quasi-identifier (``position``) the level (``depth``) and the label."""


# More than six parameters: what is generalized, like what, as it is called, and where to.
def generalize_in_classes(
    engine: Engine, source: ResolvedSource, record: Record, classes: ClassesRecord, release: str, target: Target
) -> Generalized:
    """Write the rows that a class of a release covers, with the labels of the one of the least loss.

    It runs in the transaction of the caller.

    Args:
        engine: the database, with the taxonomies of the release.
        source: the rows.
        record: what is recorded of the release.
        classes: its classes.
        release: the release, in words.
        target: where the rows go.

    Raises:
        PolicyError, TaxonomyError: columns do not fit the classes, or a taxonomy does not have a value.
    """
    if record.policy is None:
        raise PolicyError(f"the note of {release} has no policy, by which its classes were made")
    names = [column.name for column in engine.describe(source.relation)]
    bound = prepare(engine, source, _policy_of_rows(record.policy, classes, names))
    table = encode_table(engine, bound, label_losses=(), may_be_empty=True)
    recoding = PerClass(table.encoding)
    engine.put(RECORDED, _listed(classes))
    recoding.find_classes(engine, bound.policy, RECORDED)
    engine.run(LOCAL.step(KEPT_CLASSES, "all_classes", labels=CLASS_LABELS))
    publishing.group_rows(engine, table, recoding, masked=False, is_examined=False)
    rows, _ = publishing.released_sizes(engine)
    target.write(publishing.released_rows(engine, table.encoding, target.takes_enums), streamed=True)
    made = GeneralizedRecord(columns=classes.columns, policy_sha256=record.policy_sha256, rows=rows)
    target.add_record(new_record(generalized=made))
    return Generalized(
        source=source.description,
        release=release,
        into=target.name,
        columns=tuple(found.name for found in bound.columns),
        generalized=tuple(found.name for found in bound.columns if found.name in bound.policy.quasi_identifiers),
        rows=rows,
        unknown_rows=table.unknown.suppressed,
        uncovered_rows=table.context.row_count - rows,
        notes=target.notes,
    )


def _policy_of_rows(record: PolicyRecord, classes: ClassesRecord, columns: list[str]) -> Policy:
    """The policy of a release, as far as it says how rows find classes; all other columns are kept."""
    given, own = record.as_json, {*map(folded, classes.columns)}
    settings: dict[str, Any] = {
        coding: {name: value for name, value in given[coding].items() if folded(name) in own}
        for coding in ("bottom_coding", "top_coding")
    }
    settings["method"] = {**given["method"], "aggregate": {}}
    return Policy(
        quasi_identifiers=classes.columns,
        insensitive=[name for name in columns if folded(name) not in own],
        privacy=[KAnonymity(2)],  # a policy needs a model, and rows are not judged here
        quality=given["quality"],
        unknown={name: action_for(record.unknown, name) for name in classes.columns},
        **settings,
    )


def _listed(classes: ClassesRecord) -> pa.Table:
    """The rows of :data:`RECORDED`; masked rows are in no class."""
    rows = [*_labels(classes)]
    kinds = {"anon_class": pa.int64(), "position": pa.int32(), "depth": pa.int32(), "label": pa.string()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def _labels(classes: ClassesRecord) -> Iterator[tuple[int, int, int, str | None]]:
    known = [*classes.labels.values()]
    for number, (_, *places) in enumerate(classes.classes, 1):
        for position, place in enumerate(places):
            level, label = known[position][place]
            if level is not None:
                yield number, position, level, label
