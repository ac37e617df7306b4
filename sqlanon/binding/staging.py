"""The rows of taxonomies, made in a temporary table before they are checked and stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter

from sqlglot import exp

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.model.taxonomy.domains import DateRange, IntegerRange
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import Relation, Step, aliased, cast, column, select, string, subquery
from sqlanon.queries.tables import generate

STAGED = Relation("anon_staged", "node")

MAX_STAGED_ROWS = 50_000
"""Of one statement, whose parameters are Python objects. Fewer take longer: see tests.benchmarks.hierarchies."""


@dataclass(frozen=True)
class TaxonomyLoad:
    """A taxonomy that is to be stored under an attribute.

    Attributes:
        attribute: the name of the quasi-identifier.
        taxonomy: where the labels come from.
        source: if given, the taxonomy must cover the values of the column ``name`` there; a rule without a declared
            domain takes its values from it.
        name: the column of the source.
        occurring: if there are any, the relations of whose columns ``name`` alone the values of a range are listed.
    """

    attribute: str
    taxonomy: Taxonomy
    source: ResolvedSource | None
    name: str
    occurring: tuple[exp.Expr, ...] = ()


def stage(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Put the rows of taxonomies in a temporary table shaped like ``anon.taxonomy``."""
    batches = _batches(wanted)
    purpose, rows = "the taxonomies that are given", template("given_taxonomies")
    engine.run(Step(STAGED, rows, purpose), next(batches, [[], [], []]))
    for batch in batches:
        engine.execute(exp.insert(rows, STAGED.table), purpose, batch)
    for each in wanted:
        if each.taxonomy.rows is None:
            levels, values = levels_of(engine, each)
            staged = select(
                [
                    aliased(string(each.attribute), "attribute"),
                    cast(column("level", "anon_levels"), "INTEGER"),
                    column("value", "anon_levels"),
                    column("label", "anon_levels"),
                ],
                subquery(levels, "anon_levels"),
            )
            engine.execute(exp.insert(staged, STAGED.table), f'the taxonomy of "{each.attribute}"', values)


def _batches(wanted: Sequence[TaxonomyLoad]) -> Iterator[list[list[object]]]:
    """The parameters of ``given_taxonomies``, for some of the rows that are given after the other."""
    rows = ((each.attribute, row) for each in wanted if each.taxonomy.rows is not None for row in each.taxonomy.rows)
    while batch := list(islice(rows, MAX_STAGED_ROWS)):
        levels = [
            (attribute, depth, labels)
            for attribute, found in groupby(batch, key=itemgetter(0))
            for depth, labels in enumerate(zip(*map(itemgetter(1), found), strict=True))
        ]
        yield [list(values) for values in zip(*levels, strict=True)]


def levels_of(engine: Engine, wanted: TaxonomyLoad, *, whole: bool = False) -> tuple[exp.Query, Sequence[object]]:
    """level, value, label of a taxonomy that is made by a query, columns or rules, and the values of its parameters.

    Those of a range are its values that occur, where it is not to be listed, or the whole range.
    """
    taxonomy = wanted.taxonomy
    if taxonomy.query is not None:
        relation = engine.resolve(taxonomy.query, restricted=True).relation
        names = [found.name for found in engine.describe(relation)]
        query = select([exp.Star()], relation.copy())
        is_long = set(generate.LONG_COLUMNS) <= set(names)
        return (generate.long(query) if is_long else generate.unpivoted(query, names)), ()
    if taxonomy.coarser is not None:
        assert wanted.source is not None
        return generate.of_columns(wanted.source.relation, wanted.name, taxonomy.coarser), ()
    assert taxonomy.rules is not None
    if isinstance(taxonomy.values, tuple):
        return generate.labelled(generate.given(), taxonomy.rules), ([*taxonomy.values],)
    return generate.labelled(_domain(wanted, () if whole else wanted.occurring), taxonomy.rules), ()


def _domain(wanted: TaxonomyLoad, occurring: Sequence[exp.Expr]) -> exp.Query:
    match wanted.taxonomy.values:
        case IntegerRange() as numbers:
            return generate.integers(numbers, [(relation, wanted.name) for relation in occurring])
        case DateRange() as dates:
            return generate.days(dates)
    assert wanted.source is not None
    return generate.observed(wanted.source.relation, wanted.name)
