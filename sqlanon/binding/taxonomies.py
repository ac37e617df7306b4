"""Listing, checking and exporting the taxonomies that are stored in a warehouse; :mod:`.loading` stores them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import TaxonomyError
from sqlanon.model.names import possible, spelled_like
from sqlanon.model.taxonomy.hierarchies import note_path, note_text
from sqlanon.publish.files import staged_file
from sqlanon.queries.source import TaxonomyShape
from sqlanon.queries.tables import taxonomies

CONTENT = ("level", "value_count", "null_value_count", "null_label_count", "sha256")
"""Columns that identify the rows of a level."""


def shapes(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, TaxonomyShape]:
    """The shapes of the stored taxonomies, by attribute: of those attributes that have one, or of all."""
    is_of_none = attributes is not None and not attributes
    if is_of_none or not engine.find(engine.taxonomy):
        return {}
    # The taxonomies that a fit has kept come without what was loaded last.
    return stored_shapes(engine, attributes, is_noted=bool(engine.find(taxonomies.origin_table(engine.taxonomy))))


def stored_shapes(
    engine: Engine, attributes: Sequence[str] | None = None, *, is_noted: bool = True
) -> dict[str, TaxonomyShape]:
    """The shapes in a warehouse with tables of taxonomies, where the table of the last loading may be missing."""
    rows = engine.fetch(taxonomies.shapes(engine.taxonomy, attributes), "taxonomies")
    loaded = _loaded(engine) if is_noted else {}
    whole = {name: made.shape for name, made in engine.made_by.items() if made.shape is not None}
    return {
        attribute: whole.get(attribute) or _shape(list(levels), loaded.get(attribute))
        for attribute, levels in groupby(rows, key=lambda row: str(row["attribute"]))
    }


def shapes_of(engine: Engine, listing: exp.Subquery) -> dict[str, TaxonomyShape]:
    """The shapes of taxonomies in a relation, with domains as they are stored."""
    rows = engine.fetch(taxonomies.at(taxonomies.shapes(engine.taxonomy), listing), "taxonomies")
    return {
        attribute: _shape(list(levels), None)
        for attribute, levels in groupby(rows, key=lambda row: str(row["attribute"]))
    }


def attributes(engine: Engine) -> list[str]:
    """The attributes that have a stored taxonomy."""
    if not engine.find(engine.taxonomy):
        return []
    query = taxonomies.SQL.query("attributes", taxonomy=engine.taxonomy)
    return [row["attribute"] for row in engine.fetch(query, "taxonomies")]


def _loaded(engine: Engine) -> dict[str, dict[str, Any]]:
    """What is known of the last time that each taxonomy was loaded."""
    rows = engine.fetch(taxonomies.origins(engine.taxonomy), "taxonomies")
    return {str(row["attribute"]): row for row in rows}


def malformed(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, list[str]]:
    """What is wrong with the stored taxonomies of some attributes or of all: a line per problem, by attribute."""
    if not engine.find(engine.taxonomy):
        return {}
    rows = engine.fetch(taxonomies.problems(engine.taxonomy, attributes), "taxonomies")
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["attribute"], []).append(described(row))
    return found


def malformed_of(engine: Engine, shapes: Mapping[str, TaxonomyShape]) -> dict[str, list[str]]:
    """The same of stored taxonomies, by their shapes; those that were found well-formed before are not looked at."""
    new = [name for name, shape in shapes.items() if shape.content not in engine.well_formed]
    found = malformed(engine, new) if new else {}
    keep_well_formed(engine, {name: shapes[name] for name in new if name not in found})
    return found


def keep_well_formed(engine: Engine, shapes: Mapping[str, TaxonomyShape]) -> None:
    """Remember stored taxonomies that are well-formed, so that they are not looked at again."""
    ambiguous = ambiguous_labels(engine, list(shapes))
    engine.well_formed |= {shape.content: ambiguous[name] for name, shape in shapes.items()}


def ambiguous_labels(engine: Engine, attributes: Sequence[str]) -> dict[str, int]:
    """How many labels of stored taxonomies are also values with another label at the same level, by attribute."""
    if not attributes:
        return {}
    rows = engine.fetch(taxonomies.ambiguous_labels(engine.taxonomy, attributes), "check a taxonomy")
    return {str(row["attribute"]): int(row["ambiguous_labels"]) for row in rows}


def export(engine: Engine, attribute: str, path: Path, *, replace: bool) -> None:
    """Write a stored taxonomy as an ARX hierarchy: ``;``-separated, no header, NULL as an empty first field.

    A note beside it records the origin of its values, because the file has no place for it.

    Raises:
        TaxonomyError: there is no such taxonomy.
        EngineError: the file exists, or cannot be written.
    """
    possible(path, "target")
    attribute = spelled_like(possible(attribute, "taxonomy"), attributes(engine))
    shape = shapes(engine, [attribute]).get(attribute)
    if shape is None:
        raise TaxonomyError(f'the database has no taxonomy "{attribute}"; it has: {_listed(shapes(engine))}')
    query = taxonomies.wide(engine.taxonomy, attribute, shape.height)
    with staged_file(path, replace=replace) as staged:
        engine.write_csv(staged, query, header=False, delimiter=";")
        with staged.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        # First of the two, so that no file of values that were read off the data is ever without its note.
        with staged_file(note_path(path), replace=True) as note:
            note.write_text(note_text(shape.domain, sha256), encoding="utf-8")


def described(row: Mapping[str, Any]) -> str:
    """A row of ``anon.taxonomy_problems`` as a line of a message."""
    return f'"{row["attribute"]}" level {row["level"]}: {row["problem"]} ({row["problem_count"]:,})'


def _shape(levels: list[Mapping[str, Any]], loaded: Mapping[str, Any] | None) -> TaxonomyShape:
    """The shape of a taxonomy; one that was changed since it was loaded counts as observed: nobody says otherwise."""
    sha256 = hashlib.sha256("".join(str(level["sha256"]) for level in levels).encode()).hexdigest()
    is_changed = loaded is not None and loaded["sha256"] != sha256
    domain = "observed" if is_changed else str(levels[0]["domain"])
    return TaxonomyShape(
        label_counts=tuple(int(level["label_count"]) for level in levels),
        domain_size=int(levels[0]["value_count"]),
        domain=domain,
        sha256=sha256,
        origin=str(loaded["origin"]) or None if loaded is not None and domain == "stated" else None,
        content=tuple(tuple(level[name] for name in CONTENT) for level in levels),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"
