"""The labels of a release, held against those that its provenance records: of a node, or of a cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.engines.base import Compute, Engine
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.unknown import columns_with
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import Relation, Step, aliased, count_rows, names, select, subquery
from sqlanon.queries.tables import measures as queries
from sqlanon.queries.tables import taxonomies as taxonomy_queries
from sqlanon.queries.tables.spelled import both_spellings, with_whole_numbers
from sqlanon.verification.record import Record

CLASSES = Relation("anon_released_labels", "class")


def foreign_labels(engine: Engine, relation: exp.Expr, policy: Policy, record: Record) -> tuple[list[str], list[str]]:
    """Labels that are none of the recorded ones, as shortfalls; and a note on those that cannot be compared."""
    names = policy.quasi_identifiers
    shapes = taxonomies.shapes(engine, names)
    same = [name for name in names if name in shapes and shapes[name].sha256 == record.taxonomy_sha256.get(name)]
    known = record.of([*same, *record.intervals])
    compared = {*known.node, *known.cut, *record.cut_of_items}
    unknown = ", ".join(f'"{name}"' for name in names if name not in compared)
    notes = [
        f"the labels of {unknown} are not compared with their taxonomies: those that the release was made with are not "
        "loaded here"
    ]
    if not known.node and not known.cut:
        return [], notes
    masked = 0 if record.rows is None else record.rows.masked
    roots = labels_of_top(engine, policy, known)
    shortfalls = [*_other_masks(engine, relation, names, known, masked, roots)] if masked else []
    # A private method shows what was left out as masked rows, and does not record their number.
    if masked or policy.has_private_method:
        relation = subquery(queries.unmasked_rows(relation, names), "anon_unmasked")
    for row in _foreign_rows(engine, relation, known, roots):
        name = row["attribute"]
        level = known.node.get(name)
        where = "its taxonomy does not have in the cut"
        if name in known.intervals:
            where = "are none of the intervals"
        elif level is not None:
            where = f"its taxonomy does not have at level {level}, that"
        shortfalls.append(
            f'column "{name}" has {row["foreign_labels"]:,} labels, in {row["foreign_rows"]:,} rows, that {where} '
            "of the release"
        )
    return shortfalls, notes if unknown else []


def labels_of_top(engine: Engine, policy: Policy, known: Record) -> dict[str, str]:
    """The label that unknown values have by the policy, by column at a level of the node."""
    names = [name for name in columns_with(policy, "top") if name in known.node]
    found = engine.fetch(taxonomy_queries.roots(engine.taxonomy, names), "labels of the top", "node") if names else []
    return {row["attribute"]: row["root"] for row in found}


def _other_masks(
    engine: Engine, relation: exp.Expr, names: tuple[str, ...], known: Record, masked: int, roots: Mapping[str, str]
) -> Iterator[str]:
    """More or fewer masked rows than were released, unless the mask is a label of it: then they are a class."""
    rows = subquery(queries.masked_rows(relation, names), "anon_masked")
    count = int(engine.fetch(select([aliased(count_rows(), "rows")], rows), "masked rows")[0]["rows"])
    if count != masked and (count == 0 or _foreign(engine, rows, known, roots)):
        yield f"it has {count:,} masked rows where {masked:,} were released"


def _foreign_rows(engine: Engine, relation: exp.Expr, known: Record, roots: Mapping[str, str]) -> list[dict[str, Any]]:
    """Like :func:`_foreign`, which is asked about the classes first: they are few, and have every label of the rows."""
    names = dict.fromkeys([*known.node, *known.cut, *known.intervals])
    engine.run(Step(CLASSES, queries.distinct_labels(relation, names), "the classes of a release"))
    try:
        if not _foreign(engine, CLASSES.table, known, roots):
            return []
    finally:
        engine.drop(CLASSES)
    return _foreign(engine, relation, known, roots)


def _foreign(engine: Engine, relation: exp.Expr, known: Record, roots: Mapping[str, str]) -> list[dict[str, Any]]:
    """attribute, foreign_labels and foreign_rows of every column that has labels which it should not have."""
    at_the_bottom = [name for name, level in known.levels if level == 0]
    relation = with_whole_numbers(relation, at_the_bottom, engine.taxonomy)
    asked = [
        queries.labels_outside(relation, name, both_spellings(labels), engine.taxonomy)
        for name, labels in known.labels_of_cut.items()
    ]
    asked += [queries.other_labels(relation, name, labels) for name, labels in known.intervals.items()]
    at_levels = {name: level for name, level in known.node.items() if name not in roots}
    if at_levels:
        asked.insert(0, queries.foreign_labels(relation, at_levels, engine.taxonomy))
    for name, root in roots.items():
        others = subquery(queries.rows_without(relation, name, root), "anon_known_labels")
        asked.append(queries.foreign_labels(others, {name: known.node[name]}, engine.taxonomy))
    return [row for query in asked for row in engine.fetch(query, "verify labels") if row["foreign_rows"]]


def pseudonym_problems(engine: Compute, relation: exp.Expr, columns: Sequence[str]) -> Iterator[str]:
    """What is wrong with the columns of pseudonyms of a table, a sentence each."""
    if not columns:
        return
    query = table_call("pseudonym_problems", relation.copy(), names(list(columns)))
    for found in engine.fetch(query, "pseudonyms"):
        name = found["attribute"]
        if found["repeated_values"]:
            values, rows = found["repeated_values"], found["repeated_rows"]
            yield f'"{name}": {values:,} values repeat, in {rows:,} rows, which their pseudonyms link'
        if found["malformed_rows"]:
            yield f'"{name}": {found["malformed_rows"]:,} rows have a value that is not a pseudonym (64 hex digits)'
