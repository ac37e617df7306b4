"""The taxonomies of a policy stay in the warehouse that its release goes to, so that SQL users can go on with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import reading_taxonomies
from sqlanon.binding.taxonomies import OF_POLICY
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.names import folded
from sqlanon.queries.kit.nodes import string
from sqlanon.queries.source import TaxonomyShape
from sqlanon.queries.tables.taxonomies import SQL, domains_of, origin_table, removal


def keep_taxonomies(engine: Engine, bound: BoundPolicy, read: Sequence[ResolvedSource]) -> tuple[str, ...]:
    """Store the taxonomies that a policy carries, and create the macros where schema ``anon`` has none.

    They take the place of those that another policy left there; others are equal to them, or the run was refused.
    Values that were read off the data are stored only where these are tables of the same warehouse: whoever is handed
    a warehouse without its source must not find them there. Ranges that are too large to be listed are not stored.

    Args:
        engine: the database, with the taxonomies of the policy attached.
        bound: the policy, bound to its source.
        read: everything that the run has read.

    Returns:
        a note if that was not possible: the release is published by then.
    """
    kept = _listed_whole(engine, bound) if bound.policy.taxonomies else {}
    is_observed = any(shape.domain == "observed" for shape in kept.values())
    if is_observed and not all(_is_within(engine, source) for source in read):
        kept = {name: shape for name, shape in kept.items() if shape.domain != "observed"}
    lacks_macros = engine.lacks_macros
    if not kept and not lacks_macros:
        return ()
    try:
        with engine.transaction():
            if lacks_macros:
                engine.install()
            if kept:
                _store(engine, kept)
    except EngineError as error:
        return (f"the macros and the taxonomies of the policy were not stored in the warehouse: {error}",)
    return ()


def _listed_whole(engine: Engine, bound: BoundPolicy) -> dict[str, TaxonomyShape]:
    """The taxonomies that the policy carries, by name, but for ranges whose rows are of values alone that occur."""
    carried = {*map(folded, bound.policy.taxonomies)}
    shapes = {folded(name): shape for name, shape in bound.all_shapes.items() if folded(name) in carried}
    in_part = {name for name, made in engine.made_by.items() if made.shape is not None}
    names = [name for name in taxonomies.attributes(engine) if name not in in_part]
    return {name: shapes[folded(name)] for name in names if folded(name) in shapes}


def _is_within(engine: Engine, source: ResolvedSource) -> bool:
    """Whether all rows of a source are in tables of the warehouse."""
    found, warehouse = engine.origins(source), folded(engine.warehouse.name)
    if found.files or found.has_frames or found.unseen is not None:
        return False
    return bool(found.tables) and all(folded(table.catalog) == warehouse for table in found.tables)


def _store(engine: Engine, kept: Mapping[str, TaxonomyShape]) -> None:
    own, stored = engine.taxonomy, engine.warehouse.anon("taxonomy")
    with reading_taxonomies(engine, stored):
        engine.prepare_taxonomies()
        names = {*map(folded, kept)}
        alike = [name for name in taxonomies.stored_attributes(engine) if folded(name) in names]
        there = {folded(name): shape.sha256 for name, shape in taxonomies.shapes(engine, alike).items()}
    # One that is equal stays as it is: somebody may have loaded it for all policies.
    new = {name: shape for name, shape in kept.items() if there.get(folded(name)) != shape.sha256}
    if not new:
        return
    attributes = [*map(string, new)]
    replaced = [name for name in alike if folded(name) in {*map(folded, new)}]
    for ours, theirs in ((own, stored), (domains_of(own), domains_of(stored))):
        if replaced:
            engine.execute(removal(theirs, replaced), "replace a taxonomy")
        rows = SQL.query("rows_of", taxonomy=ours, attributes=attributes)
        engine.execute(exp.insert(rows, theirs), "store a taxonomy")
    origins = [
        tuple(map(string, (name, shape.domain, OF_POLICY + (shape.origin or ""), shape.sha256)))
        for name, shape in new.items()
    ]
    engine.execute(exp.insert(exp.values(origins), origin_table(stored)), "store a taxonomy")
