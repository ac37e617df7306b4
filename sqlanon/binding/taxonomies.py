"""Loading, checking, listing and exporting taxonomies in a warehouse."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.base import Compute, Engine, ResolvedSource
from sqlanon.errors import TaxonomyError
from sqlanon.model.base import did_you_mean
from sqlanon.model.names import folded, possible, spelled_like
from sqlanon.model.taxonomy.notes import note_beside, note_text
from sqlanon.model.taxonomy.taxonomy import DateRange, IntegerRange, Taxonomy
from sqlanon.publish.files import staged_file
from sqlanon.queries.kit.nodes import Relation, Step, aliased, cast, column, count_rows, string
from sqlanon.queries.source import TaxonomyShape
from sqlanon.queries.tables import generate, taxonomies

GIVEN = Relation("anon_given", "node")
STAGED = Relation("anon_staged", "node")
DOMAINS = Relation("anon_domains", "node")

HIGHEST_LEVEL = 255
"""Far beyond any taxonomy; a number above it is a mistake, and expensive to check."""


def load(engine: Engine, attribute: str, taxonomy: Taxonomy, source: ResolvedSource | None, name: str) -> TaxonomyShape:
    """Store a taxonomy under an attribute, in place of the one there, in one transaction.

    Args:
        engine: the warehouse.
        attribute: the name of the quasi-identifier.
        taxonomy: where the labels come from.
        source: if given, the taxonomy must cover the values of the column ``name`` there; a rule without a declared
            domain takes its values from it.
        name: the column of the source.

    Raises:
        TaxonomyError: malformed, or it does not cover the source; the taxonomy that was there stays.
    """
    possible(attribute, "taxonomy")
    if taxonomy.needs_source and source is None:
        raise TaxonomyError(
            f'the {taxonomy.origin} taxonomy of "{attribute}" has no declared domain: give its values, or a source '
            "whose column they are read from"
        )
    if source is not None:
        names = [found.name for found in engine.describe(source.relation)]
        if folded(name) not in map(folded, names):
            raise TaxonomyError(f'column "{name}" is not in {source.description}{did_you_mean(name, names)}')
    with engine.transaction():
        engine.prepare_taxonomies()
        _stage(engine, attribute, taxonomy, source, name)
        _refuse_malformed(engine, attribute, taxonomy)
        observed = _observed(engine) if taxonomy.domain == "stated" else set()
        _replace(engine, attribute)
        if source is not None:
            _refuse_uncovered(engine, attribute, taxonomy, source, name)
        _note_origin(engine, attribute, taxonomy, observed)
        engine.drop(STAGED)
        engine.drop(GIVEN)
    return shapes(engine, [attribute])[attribute]


def shapes(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, TaxonomyShape]:
    """The shapes of the stored taxonomies, by attribute: of those attributes that have one, or of all."""
    if attributes == [] or not engine.find(engine.taxonomy):
        return {}
    rows = engine.fetch(taxonomies.shapes(engine.taxonomy, attributes), "taxonomies")
    loaded = _loaded(engine)
    return {
        attribute: _shape(list(levels), loaded.get(attribute))
        for attribute, levels in groupby(rows, key=lambda row: str(row["attribute"]))
    }


def attributes(engine: Engine) -> list[str]:
    """The attributes that have a stored taxonomy."""
    if not engine.find(engine.taxonomy):
        return []
    return [row["attribute"] for row in engine.fetch(taxonomies.attributes(engine.taxonomy), "taxonomies")]


def _loaded(engine: Engine) -> dict[str, dict[str, Any]]:
    """What is known of the last time that each taxonomy was loaded; nothing in a warehouse of an earlier version."""
    if not engine.find(taxonomies.origin_table(engine.taxonomy)):
        return {}
    rows = engine.fetch(taxonomies.origins(engine.taxonomy), "taxonomies")
    return {str(row["attribute"]): row for row in rows}


def malformed(engine: Engine, attributes: Sequence[str] | None = None) -> dict[str, list[str]]:
    """What is wrong with the stored taxonomies of some attributes or of all: a line per problem, by attribute."""
    if not engine.find(engine.taxonomy):
        return {}
    rows = engine.fetch(taxonomies.problems(engine.taxonomy, attributes), "taxonomies")
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["attribute"], []).append(_problem(row))
    return found


def export(engine: Engine, attribute: str, path: Path, *, replace: bool) -> None:
    """Write a stored taxonomy as an ARX hierarchy: ``;``-separated, no header, NULL as an empty first field.

    A note beside it tells where its values come from, for the file has no place for that.

    Raises:
        TaxonomyError: there is no such taxonomy.
        EngineError: the file exists, or cannot be written.
    """
    possible(path, "target")
    attribute = spelled_like(possible(attribute, "taxonomy"), attributes(engine))
    shape = shapes(engine, [attribute]).get(attribute)
    if shape is None:
        raise TaxonomyError(f'there is no taxonomy "{attribute}"; there are: {_listed(shapes(engine))}')
    query = generate.wide(engine.taxonomy, attribute, shape.height)
    with staged_file(path, replace=replace) as staged:
        engine.write_csv(staged, query, header=False, delimiter=";")
        with staged.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        # First of the two, so that no file of values that were read off the data is ever without its note.
        with staged_file(note_beside(path), replace=True) as note:
            note.write_text(note_text(shape.domain, sha256), encoding="utf-8")


def _stage(engine: Engine, attribute: str, taxonomy: Taxonomy, source: ResolvedSource | None, name: str) -> None:
    """Put the rows of a taxonomy in a temporary table shaped like ``anon.taxonomy``."""
    levels = _levels(engine, taxonomy, source, name)
    staged = exp.select(
        exp.alias_(string(attribute), "attribute"),
        cast(column("level", "anon_levels"), "INTEGER").as_("level"),
        column("value", "anon_levels"),
        column("label", "anon_levels"),
    ).from_(exp.Subquery(this=levels, alias=exp.TableAlias(this=exp.to_identifier("anon_levels"))))
    engine.run(Step(STAGED, staged, f'the taxonomy of "{attribute}"'))


def _levels(engine: Engine, taxonomy: Taxonomy, source: ResolvedSource | None, name: str) -> exp.Query:
    """level, value, label of a taxonomy, whatever it is made from."""
    if taxonomy.rows is not None:
        names = [f"anon_{depth}" for depth in range(len(taxonomy.rows[0]))]
        fields = [pa.array(values, pa.string()) for values in zip(*taxonomy.rows, strict=True)]
        engine.put(GIVEN, pa.table(fields, names=names))
        return generate.unpivoted(exp.select("*").from_(GIVEN.table), names)
    if taxonomy.query is not None:
        relation = engine.resolve(taxonomy.query).relation
        names = [found.name for found in engine.describe(relation)]
        query = exp.select(exp.Star()).from_(relation.copy())
        if set(generate.LONG_COLUMNS) <= set(names):
            return generate.long(query)
        return generate.unpivoted(query, names)
    assert taxonomy.rules is not None
    return generate.labelled(_domain(engine, taxonomy, source, name), taxonomy.rules)


def _domain(engine: Compute, taxonomy: Taxonomy, source: ResolvedSource | None, name: str) -> exp.Query:
    if isinstance(taxonomy.values, IntegerRange):
        return generate.integers(taxonomy.values)
    if isinstance(taxonomy.values, DateRange):
        return generate.days(taxonomy.values)
    if taxonomy.values is not None:
        engine.put(GIVEN, pa.table({"value": pa.array(taxonomy.values, pa.string())}))
        return exp.select(column("value")).from_(GIVEN.table)
    assert source is not None
    return generate.observed(source.relation, name)


def _replace(engine: Engine, attribute: str) -> None:
    stored = [other for other in attributes(engine) if folded(other) == folded(attribute)]
    for table in (engine.taxonomy, taxonomies.domains_of(engine.taxonomy)):
        for name in {*stored, attribute}:
            here = column("attribute").eq(exp.Placeholder())
            engine.execute(exp.delete(table.copy(), where=here), "replace a taxonomy", (name,))
    engine.execute(exp.insert(exp.select(exp.Star()).from_(STAGED.table), engine.taxonomy.copy()), "store a taxonomy")


def _observed(engine: Engine) -> set[str]:
    """The hashes of taxonomies whose values were read off the data."""
    loaded = engine.fetch(taxonomies.observed(engine.taxonomy), "taxonomies")
    return {str(row["sha256"]) for row in loaded} | {
        shape.sha256 for shape in shapes(engine).values() if shape.domain == "observed"
    }


def _note_origin(engine: Engine, attribute: str, taxonomy: Taxonomy, observed: set[str]) -> None:
    """Store where the values of a taxonomy come from: a file that equals an observed taxonomy was read off the data."""
    sha256 = shapes(engine, [attribute])[attribute].sha256
    domain = "observed" if sha256 in observed else taxonomy.domain
    if engine.fetch(taxonomies.has_narrow_domains(engine.taxonomy), "taxonomies")[0]["is_narrow"]:
        _widen_domains(engine)
    values = exp.values([(string(attribute), string(domain))])
    engine.execute(exp.insert(values, taxonomies.domains_of(engine.taxonomy)), "store a taxonomy")
    file = string(Path(taxonomy.origin).name) if domain == "stated" else exp.null()
    values = exp.values([(string(attribute), string(domain), file, string(sha256))])
    engine.execute(exp.insert(values, taxonomies.origin_table(engine.taxonomy)), "store a taxonomy")


def _widen_domains(engine: Engine) -> None:
    """Make the table of domains anew, for a CHECK cannot be changed: that of earlier versions knows none stated."""
    engine.run(Step(DOMAINS, exp.select(exp.Star()).from_(taxonomies.domains_of(engine.taxonomy)), "the domains"))
    engine.execute(exp.Drop(tables=[taxonomies.domains_of(engine.taxonomy)], kind="TABLE"), "the domains")
    engine.execute(taxonomies.domain_table(engine.taxonomy), "the domains")
    engine.execute(
        exp.insert(exp.select(exp.Star()).from_(DOMAINS.table), taxonomies.domains_of(engine.taxonomy)), "the domains"
    )
    engine.drop(DOMAINS)


def _refuse_malformed(engine: Compute, attribute: str, taxonomy: Taxonomy) -> None:
    problems = _wrong_levels(engine)
    if not problems:
        problems = [_problem(row) for row in engine.fetch(taxonomies.problems(STAGED.table), "check a taxonomy")]
    if not problems and not engine.fetch(exp.select("1").from_(STAGED.table).limit(1), "check a taxonomy", "count"):
        problems = ["it has no values"]
    if problems:
        raise TaxonomyError(f'the taxonomy of "{attribute}" from {taxonomy.origin} is malformed:', problems)


def _wrong_levels(engine: Compute) -> list[str]:
    level = column("level")
    wrong = exp.or_(level.is_(exp.null()), exp.not_(level.copy().between(0, HIGHEST_LEVEL)))
    count = aliased(count_rows(), "wrong")
    found = engine.fetch(exp.select(count).from_(STAGED.table).where(wrong), "check a taxonomy")[0]["wrong"]
    return [f"{found:,} rows whose level is not a whole number from 0 to {HIGHEST_LEVEL}"] if found else []


def _refuse_uncovered(engine: Engine, attribute: str, taxonomy: Taxonomy, source: ResolvedSource, name: str) -> None:
    renamed = exp.Subquery(
        this=exp.select(exp.alias_(column(name), attribute, quoted=True)).from_(source.relation.copy())
    )
    gaps = engine.fetch(taxonomies.unmapped_values(renamed, (attribute,), engine.taxonomy), "check a taxonomy")[0]
    if gaps["unmapped_values"]:
        query = taxonomies.listing(source.relation, name, engine.taxonomy, attribute)
        raise TaxonomyError(
            f'the taxonomy of "{attribute}" from {taxonomy.origin} does not cover {source.description}:',
            [
                f"{gaps['unmapped_values']:,} distinct values in {gaps['unmapped_rows']:,} rows have no label; to list "
                f"them, load it without a source, and run {query}"
            ],
        )


def _problem(row: Mapping[str, Any]) -> str:
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
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "none"
