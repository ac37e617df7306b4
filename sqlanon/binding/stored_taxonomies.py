"""List, check and export the taxonomies of a warehouse; :mod:`.loading` stores them.

Their values are also numbered in the order of their labels, so that those under any label are consecutive.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.errors import TaxonomyError
from sqlanon.model.names import possible, spelled_like
from sqlanon.model.taxonomy.hierarchies import note_path, note_text
from sqlanon.publish.files import staged_file
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, column, enum_type, f, number, own_type, string, subquery, values
from sqlanon.queries.source import Taxonomies, TaxonomyShape

# The contents of taxonomies that were well-formed in any session: checking takes a third of a load.
well_formed: set[tuple[object, ...]] = set()
MAX_WELL_FORMED = 10_000

CONTENT = ("level", "value_count", "null_value_count", "null_label_count", "sha256")  # identifies the rows of a level

OF_POLICY = "policy:"  # prefix of the origins of taxonomies that a run has stored; other policies may replace these


def shapes(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, TaxonomyShape]:
    if attributes is not None and not attributes:
        return {}
    is_there, is_noted = map(bool, engine.find_all(engine.taxonomy, taxonomies.origin_table(engine.taxonomy)))
    if not is_there:
        return {}
    # The taxonomies of a fit have no origins of loads.
    found = _shapes(engine, taxonomies.shapes(engine.taxonomy, attributes), _loaded(engine) if is_noted else {})
    return found | _whole(engine, found)


def stored(engine: Engine, attribute: str) -> tuple[str, TaxonomyShape]:
    """Return the name and the shape of a stored taxonomy; raise TaxonomyError if there is none."""
    attribute = spelled_like(possible(attribute, "taxonomy"), attributes(engine))
    shape = shapes(engine, [attribute]).get(attribute)
    if shape is None:
        has = ", ".join(f'"{name}"' for name in shapes(engine)) or "none"
        raise TaxonomyError(f'the database has no taxonomy "{attribute}"; it has: {has}')
    return attribute, shape


def unchanged(engine: Engine, names: Sequence[str], hashes: Mapping[str, str]) -> list[str]:
    stored = shapes(engine, names)
    return [name for name in names if name in stored and stored[name].sha256 == hashes.get(name)]


def shapes_of(engine: Engine, listing: exp.Subquery) -> dict[str, TaxonomyShape]:
    return _shapes(engine, taxonomies.at(taxonomies.shapes(engine.taxonomy), listing), {})


def shapes_beside(engine: Engine, staged: Relation) -> tuple[dict[str, TaxonomyShape], dict[str, TaxonomyShape]]:
    """Find the shapes of all stored taxonomies, and of the staged ones, in one statement."""
    query = taxonomies.at(taxonomies.shapes(engine.taxonomy), taxonomies.stored_and_staged(engine.taxonomy, staged))
    found = _shapes(engine, query, _loaded(engine))
    new = {name: found.pop(name) for name in [*found] if name.startswith(taxonomies.NOT_STORED)}
    return found | _whole(engine, found), {name.removeprefix(taxonomies.NOT_STORED): new[name] for name in new}


def _shapes(engine: Engine, query: exp.Query, loaded: Mapping[str, Mapping[str, Any]]) -> dict[str, TaxonomyShape]:
    rows = engine.fetch(query, "taxonomies")
    return {
        attribute: _shape(list(levels), loaded.get(attribute))
        for attribute, levels in groupby(rows, key=lambda row: str(row["attribute"]))
    }


def _whole(engine: Engine, found: Iterable[str]) -> dict[str, TaxonomyShape]:
    """Return the shapes of taxonomies whose table only has rows for occurring values."""
    made = {name: engine.made_by[name].shape for name in found if name in engine.made_by}
    return {name: shape for name, shape in made.items() if shape is not None}


def attributes(engine: Engine) -> list[str]:
    return stored_attributes(engine) if engine.find(engine.taxonomy) else []


def stored_attributes(engine: Engine) -> list[str]:
    query = taxonomies.SQL.query("attributes", taxonomy=engine.taxonomy)
    return [row["attribute"] for row in engine.fetch(query, "taxonomies")]


def _loaded(engine: Engine) -> dict[str, dict[str, Any]]:
    rows = engine.fetch(taxonomies.origins(engine.taxonomy), "taxonomies")
    return {str(row["attribute"]): row for row in rows}


def malformed(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, list[str]]:
    if not engine.find(engine.taxonomy):
        return {}
    rows = engine.fetch(taxonomies.problems(engine.taxonomy, attributes), "taxonomies")
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["attribute"], []).append(described(row))
    return found


def malformed_of(engine: Engine, shapes: Mapping[str, TaxonomyShape]) -> dict[str, list[str]]:
    """List the problems of stored taxonomies, skipping shapes that are known to be well-formed."""
    new = [name for name, shape in shapes.items() if shape.content not in well_formed]
    found = malformed(engine, new) if new else {}
    # Taxonomies that are only listed in part were only checked in part.
    seen = [name for name in new if name not in found and name not in _whole(engine, new)]
    keep_well_formed(shapes[name] for name in seen)
    return found


def keep_well_formed(shapes: Iterable[TaxonomyShape]) -> None:
    if len(well_formed) > MAX_WELL_FORMED:
        well_formed.clear()
    well_formed.update(shape.content for shape in shapes)


def ambiguous_labels(engine: Engine, shapes: Mapping[str, TaxonomyShape]) -> dict[str, int]:
    """Count the labels of stored taxonomies that are also values with another label at the same level.

    The engine caches the counts by content.
    """
    new = [name for name, shape in shapes.items() if shape.content not in engine.ambiguous]
    if new:
        for row in engine.fetch(taxonomies.ambiguous_labels(engine.taxonomy, new), "check a taxonomy"):
            engine.ambiguous[shapes[str(row["attribute"])].content] = int(row["ambiguous_labels"])
    return {name: engine.ambiguous[shape.content] for name, shape in shapes.items()}


def uneven_digits(engine: Engine, attributes: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the fewest and the most digits of values in taxonomies of digits, where these differ."""
    if not attributes:
        return {}
    rows = engine.fetch(taxonomies.uneven_digits(engine.taxonomy, attributes), "digits of values")
    return {str(row["attribute"]): (row["fewest_digits"], row["most_digits"]) for row in rows}


def export(engine: Engine, attribute: str, path: Path, *, replace: bool) -> None:
    """Write a stored taxonomy as an ARX hierarchy: ``;``-separated, no header, NULL as an empty first field.

    A note beside it records the origin of its values, for which the format has no place.

    Raises:
        TaxonomyError: there is no such taxonomy.
        EngineError: the file exists, or cannot be written.
    """
    possible(path, "target")
    attribute, shape = stored(engine, attribute)
    query = taxonomies.wide(engine.taxonomy, attribute, shape.height)
    with staged_file(path, replace=replace) as staged:
        engine.write_csv(staged, query, header=False, delimiter=";")
        with staged.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        # Published first, so that a file of observed values never lacks its note.
        with staged_file(note_path(path), replace=True) as note:
            note.write_text(note_text(shape.domain, sha256), encoding="utf-8")


def described(row: Mapping[str, Any]) -> str:
    return f'"{row["attribute"]}" level {row["level"]}: {row["problem"]} ({row["problem_count"]:,})'


def _shape(levels: list[Mapping[str, Any]], loaded: Mapping[str, Any] | None) -> TaxonomyShape:
    """Make the shape of a taxonomy; one that was changed since its load counts as observed."""
    sha256 = hashlib.sha256("".join(str(level["sha256"]) for level in levels).encode()).hexdigest()
    is_changed = loaded is not None and loaded["sha256"] != sha256
    domain = "observed" if is_changed else str(levels[0]["domain"])
    origin = "" if loaded is None or is_changed else str(loaded["origin"])
    return TaxonomyShape(
        label_counts=tuple(int(level["label_count"]) for level in levels),
        domain_size=int(levels[0]["value_count"]),
        domain=domain,
        sha256=sha256,
        origin=origin.removeprefix(OF_POLICY) or None if domain == "stated" else None,
        is_of_policy=origin.startswith(OF_POLICY),
        content=tuple(tuple(level[name] for name in CONTENT) for level in levels),
    )


LEAVES = Relation("anon_ordered_leaves", "node")
"""The values of taxonomies by number (``leaf``), with their label at every level (``depth``)."""

OF_LEAVES = Queries("cuts", {"leaves": LEAVES})


def make_leaves(engine: Compute, taxonomy: Taxonomies, attributes: Sequence[tuple[int, str]]) -> None:
    """Make :data:`LEAVES` of the taxonomies of columns at positions, and the types that look up values."""
    if not attributes:
        import pyarrow as pa

        types = {"position": pa.int64(), "depth": pa.int64(), "value": pa.string(), "label": pa.string()}
        engine.put(LEAVES, pa.schema({**types, "leaf": pa.int64()}).empty_table())
        return
    rows = [[number(position), string(name)] for position, name in attributes]
    given = values("anon_taxonomies", ("position", "attribute"), rows)
    labels = taxonomies.all_labels(taxonomy, [name for _, name in attributes])
    query = OF_LEAVES.query(
        "ordered_leaves", taxonomies=given, taxonomy_labels=subquery(labels, "anon_taxonomy_labels")
    )
    engine.run(Step(LEAVES, query, "the values of the taxonomies in the order of their labels"))
    for position, _ in attributes:
        statement = enum_type(type_of(position), OF_LEAVES.query("values_of_axis", position=position), "leaf")
        engine.execute(statement, "types of values")


def leaf_of(position: int, name: str) -> exp.Expr:
    """Return the number of a column's value; NULL if the taxonomy lacks it."""
    return leaf_of_text(position, text(column(name)))


def leaf_of_text(position: int, value: exp.Expr) -> exp.Expr:
    return f.enum_code(exp.TryCast(this=value, to=own_type(type_of(position))))


def type_of(position: int) -> str:
    return f"anon_values_{position}"
