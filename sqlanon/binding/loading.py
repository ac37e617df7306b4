"""Load taxonomies into a warehouse: stage them together, check them, and replace stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.binding.stored_taxonomies import (
    described,
    keep_well_formed,
    shapes_beside,
    shapes_of,
    stored_attributes,
    well_formed,
)
from sqlanon.binding.unknown_values import unknown_in, values_made_by
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import TaxonomyError
from sqlanon.model.names import counted, folded, possible
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange
from sqlanon.model.taxonomy.hierarchies import Hierarchy
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.nodes import Relation, Step, column, number, select, string, subquery
from sqlanon.queries.source import MadeTaxonomy, TaxonomyShape, is_respelled, with_spellings
from sqlanon.queries.taxonomies import SQL

STAGED = Relation("anon_staged", "node")

SMALL_FILE = 100_000  # bytes; smaller files are checked faster in Python than by a statement (tests.benchmarks.start)

MAX_NAMED_LINES = 5  # of a file that an error lists per problem

MAX_STAGED_ROWS = 50_000  # per statement: its parameters are Python objects; fewer are slower (benchmarks.start)
HIGHEST_LEVEL = 255  # a higher one is a mistake, and expensive to check

Refused = dict[str, TaxonomyError]  # by attribute

# Problems of a taxonomy made of columns, where a value must have one value of each coarser column.
OF_COLUMNS = {
    "several labels": 'with several values of "{above}"',
    "missing level": 'with no value of "{above}"',
    "empty label": 'with an empty text in "{above}"',
    "not nested": 'with several values of "{above}"',
}


@dataclass(frozen=True)
class TaxonomyLoad:
    attribute: str  # the quasi-identifier
    taxonomy: Taxonomy  # the origin of the labels
    source: ResolvedSource | None  # must be covered, and is the domain if the taxonomy has none
    name: str  # the column of the source
    occurring: tuple[exp.Expr, ...] = ()  # relations with the column; a range only lists their values

    def is_ready(self) -> bool:
        """Return whether this is a small, well-formed file that needs no source."""
        possible(self.attribute, "taxonomy")
        rows = self.taxonomy.rows
        if self.source is not None or not isinstance(rows, Hierarchy) or len(rows.content) > SMALL_FILE:
            return False
        return len(next(iter(rows))) <= HIGHEST_LEVEL and not rows.lines_of_problems()


def stage(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    batches = staged_batches(wanted)
    purpose, rows = "the taxonomies that are given", SQL.query("given_taxonomies")
    engine.run(Step(STAGED, rows, purpose), next(batches, [[], [], []]))
    for batch in batches:
        engine.execute(exp.insert(rows, STAGED.table), purpose, batch)
    for each in wanted:
        if each.taxonomy.rows is None:
            levels, values = levels_of(engine, each)
            staged = SQL.query("staged_taxonomy", attribute=string(each.attribute), levels=levels)
            engine.execute(exp.insert(staged, STAGED.table), f'the taxonomy of "{each.attribute}"', values)


def staged_batches(wanted: Sequence[TaxonomyLoad]) -> Iterator[list[list[object]]]:
    rows = ((each.attribute, row) for each in wanted if each.taxonomy.rows is not None for row in each.taxonomy.rows)
    while batch := list(islice(rows, MAX_STAGED_ROWS)):
        levels = [
            (attribute, depth, labels)
            for attribute, found in groupby(batch, key=itemgetter(0))
            for depth, labels in enumerate(zip(*map(itemgetter(1), found), strict=True))
        ]
        yield [list(values) for values in zip(*levels, strict=True)]


def levels_of(engine: Engine, wanted: TaxonomyLoad, *, whole: bool = False) -> tuple[exp.Query, Sequence[object]]:
    """Select level, value, label of a taxonomy made by a query, columns or rules, with its parameters.

    An unlisted range has its occurring values, or all if ``whole``.
    """
    taxonomy = wanted.taxonomy
    if taxonomy.query is not None:
        relation = engine.resolve(taxonomy.query, restricted=True).relation
        names = [found.name for found in engine.describe(relation)]
        query = select([exp.Star()], relation.copy())
        is_long = set(taxonomies.LONG_COLUMNS) <= set(names)
        return (SQL.query("long_taxonomy", rows=query) if is_long else taxonomies.unpivoted(query, names)), ()
    if taxonomy.coarser is not None:
        assert wanted.source is not None
        return taxonomies.of_columns(wanted.source.relation, wanted.name, taxonomy.coarser), ()
    assert taxonomy.rules is not None
    if isinstance(taxonomy.values, tuple):
        return taxonomies.labelled(SQL.query("given_values"), taxonomy.rules), ([*taxonomy.values],)
    return taxonomies.labelled(_domain(wanted, () if whole else wanted.occurring), taxonomy.rules), ()


def _domain(wanted: TaxonomyLoad, occurring: Sequence[exp.Expr]) -> exp.Query:
    match wanted.taxonomy.values:
        case IntegerRange() as numbers:
            return taxonomies.integers(numbers, [(relation, wanted.name) for relation in occurring])
        case DateRange() as dates:
            return taxonomies.days(dates)
    assert wanted.source is not None
    return SQL.query("observed_values", source=wanted.source.relation, name=wanted.name)


def malformed(engine: Compute, wanted: Sequence[TaxonomyLoad]) -> Refused:
    counts = engine.fetch(SQL.query("level_counts", taxonomy=STAGED, highest=HIGHEST_LEVEL), "check a taxonomy")
    wrong_levels = {str(row["attribute"]): int(row["wrong_levels"]) for row in counts}
    # Only of those with levels from 0: levels are counted up from 0.
    others = [each.attribute for each in wanted if not wrong_levels.get(each.attribute, 1)]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in engine.fetch(taxonomies.problems(STAGED.table, others), "check a taxonomy") if others else ():
        found.setdefault(str(row["attribute"]), []).append(row)
    refused = {}
    for each in wanted:
        if each.attribute not in wrong_levels:
            problems = ["it has no values"]
        elif wrong := wrong_levels[each.attribute]:
            problems = [f"{wrong:,} rows whose level is not a whole number from 0 to {HIGHEST_LEVEL}"]
        else:
            problems = _problems(engine, each, found.get(each.attribute, []))
        if problems:
            why = "is malformed:"
            if each.taxonomy.coarser is not None:
                why = (
                    "cannot be made, since each value must stand with one value of every column; correct the rows in a "
                    "view or a query, or make values distinct there, as by concat(state, ', ', county):"
                )
            heading = f'the taxonomy of "{each.attribute}" from {each.taxonomy.origin} {why}'
            refused[each.attribute] = TaxonomyError(heading, problems)
    return refused


def _problems(engine: Compute, wanted: TaxonomyLoad, found: Sequence[Mapping[str, Any]]) -> list[str]:
    taxonomy = wanted.taxonomy
    if taxonomy.coarser is not None:
        return [_of_columns((wanted.name, *taxonomy.coarser), row) for row in found]
    if taxonomy.rules and any(row["problem"] == "empty label" for row in found):
        # One level is enough: a rule that does not apply to a value applies at no level.
        return [_without_label(engine, wanted.attribute, taxonomy.rules[0].takes)]
    lines = taxonomy.rows.lines_of_problems() if isinstance(taxonomy.rows, Hierarchy) and found else {}
    problems = []
    for row in found:
        places = lines.get((str(row["problem"]), int(row["level"])), ())
        named = ", ".join(map(str, places[:MAX_NAMED_LINES])) + " …" * (len(places) > MAX_NAMED_LINES)
        problems.append(described(row) + (f", line{'s' * (len(places) > 1)} {named}" if places else ""))
    return problems


def _of_columns(columns: Sequence[str], row: Mapping[str, Any]) -> str:
    problem, depth = str(row["problem"]), int(row["level"])
    if problem not in OF_COLUMNS:
        return described(row)
    below, above = (columns[depth], columns[depth + 1]) if problem == "not nested" else (columns[0], columns[depth])
    stands = "stands" if row["problem_count"] == 1 else "stand"
    return f'{counted(row["problem_count"], "value")} of "{below}" {stands} {OF_COLUMNS[problem].format(above=above)}'


def _without_label(engine: Compute, attribute: str, takes: str) -> str:
    """Count the values without a label by a rule; decimal commas are a common cause."""
    query = SQL.query("values_without_rule", taxonomy=STAGED, attribute=string(attribute))
    [counts] = engine.fetch(query, "check a taxonomy")
    problem = f'"{attribute}" has {counted(counts["value_count"], "value")} other than {takes}, which get no label'
    if not counts["comma_count"] or takes != "numbers":
        return problem
    return (
        f"{problem}: {counts['comma_count']:,} with a decimal comma; write a decimal point in its place, as by "
        "replace(value, ',', '.') in a view or a query"
    )


def load(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Replace stored taxonomies, all or none, in one transaction.

    A TaxonomyError lists each malformed taxonomy, and each that does not cover its source.
    """
    refused = load_unless_refused(engine, wanted)
    if len(refused) == 1:
        raise next(iter(refused.values()))
    if refused:
        raise TaxonomyError(
            "none of the taxonomies was loaded, as some of them are not valid:",
            [f"{error.heading} {each}".rstrip() for error in refused.values() for each in error.problems or ("",)],
        )


def load_unless_refused(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> Refused:
    """Store taxonomies like :func:`load`, but return the errors."""
    # Of names that are equal to the warehouse the last one wins, as if they were loaded in turn.
    wanted = [*{folded(each.attribute): each for each in wanted}.values()]
    refused = unfit(engine, wanted)
    if refused or not wanted:
        return refused
    try:
        with engine.transaction():
            _load(engine, wanted)
    except _RefusedError as error:
        return error.refused
    engine.made_by |= {each.attribute: MadeTaxonomy(each.taxonomy) for each in wanted}
    return {}


class _RefusedError(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__()
        self.refused = refused


def _load(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    engine.prepare_taxonomies()
    stage(engine, wanted)
    stored, shapes, observed = _shapes(engine, wanted)
    if stage_missing_values(engine, [each for each in wanted if each.attribute not in shapes]):
        stored, shapes, observed = _shapes(engine, wanted)
    new = [each for each in wanted if (of := shapes.get(each.attribute)) is None or of.content not in well_formed]
    if new:
        refused = malformed(engine, new)
        if refused:  # maybe because of repeated lines, which count once
            drop_repeated_rows(engine)
            stored, shapes, observed = _shapes(engine, wanted)
            refused = malformed(engine, new)
        if refused:
            raise _RefusedError(refused)
        keep_well_formed(shapes.values())
    _replace(engine, [each.attribute for each in wanted], stored)
    if refused := uncovered(engine, wanted, engine.taxonomy):
        raise _RefusedError(refused)
    _note_origins(engine, wanted, shapes, observed)
    engine.drop(STAGED)


def drop_repeated_rows(engine: Engine) -> None:
    firsts = exp.Subquery(this=SQL.query("first_of_equal_rows", taxonomy=STAGED))
    is_another = exp.not_(exp.In(this=column("rowid"), query=firsts))
    engine.execute(exp.delete(STAGED.table, where=is_another), "make equal rows one")


def stage_missing_values(engine: Engine, empty: Sequence[TaxonomyLoad]) -> int:
    """Stage NULL for observed taxonomies of columns without other values; return the number of these taxonomies."""
    read = [(each, each.source.relation) for each in empty if each.taxonomy.needs_source and each.source is not None]
    for each, relation in read:
        made_by = each.taxonomy.coarser or each.taxonomy.rules or ()
        rows = SQL.query(
            "missing_values",
            attribute=string(each.attribute),
            source=relation,
            name=each.name,
            levels=number(len(made_by) + 2),
            top=string(TOP),
        )
        engine.execute(exp.insert(rows, STAGED.table), f'the taxonomy of "{each.attribute}"')
    return len(read)


def unfit(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> Refused:
    refused = {}
    for each in wanted:
        possible(each.attribute, "taxonomy")
        if each.source is None:
            if each.taxonomy.needs_source:
                refused[each.attribute] = TaxonomyError(
                    f'the {each.taxonomy.origin} taxonomy of "{each.attribute}" has no declared domain: give its '
                    "values, or a source whose column they are read from"
                )
            continue
        names = [found.name for found in engine.describe(each.source.relation)]
        problems = [
            f'column "{name}" is not in {each.source.description}{did_you_mean(name, names)}'
            for name in (each.name, *(each.taxonomy.coarser or ()))
            if folded(name) not in map(folded, names)
        ]
        if problems:
            refused[each.attribute] = TaxonomyError(f'the taxonomy of "{each.attribute}" cannot be made:', problems)
    return refused


def _shapes(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> tuple[Iterable[str], dict[str, TaxonomyShape], set[str]]:
    """Find the stored attributes, the shapes of staged taxonomies, and the hashes of observed taxonomies.

    The hashes only matter for taxonomies stated by files, and need the shapes of all stored ones.
    """
    if not any(each.taxonomy.domain == "stated" for each in wanted):
        staged = subquery(select([exp.Star()], STAGED.table), "anon_taxonomy")
        return stored_attributes(engine), shapes_of(engine, staged), set()
    loaded = engine.fetch(taxonomies.observed(engine.taxonomy), "taxonomies")
    stored, shapes = shapes_beside(engine, STAGED)
    observed = {shape.sha256 for shape in stored.values() if shape.domain == "observed"}
    return stored, shapes, observed | {str(row["sha256"]) for row in loaded}


def _replace(engine: Engine, names: Sequence[str], stored: Iterable[str]) -> None:
    replaced = {*map(folded, names)}
    alike = [other for other in stored if folded(other) in replaced]
    for table in (engine.taxonomy, taxonomies.domains_of(engine.taxonomy)):
        engine.execute(taxonomies.removal(table, [*{*alike, *names}]), "replace a taxonomy")
    engine.execute(exp.insert(select([exp.Star()], STAGED.table), engine.taxonomy.copy()), "store a taxonomy")


def uncovered(engine: Engine, wanted: Sequence[TaxonomyLoad], taxonomy: exp.Table) -> Refused:
    """Find taxonomies, as a table holds them, that lack values of their sources."""
    refused = {}
    for each in wanted:
        if each.source is None:
            continue
        labelled: exp.Query = taxonomies.values_of(taxonomy, each.attribute)
        if each.taxonomy.query is None:
            known = values_made_by(each.taxonomy)
        else:
            known = SQL.query("values_of_levels", levels=levels_of(engine, each)[0])
        kind = next(found for found in engine.describe(each.source.relation) if folded(found.name) == folded(each.name))
        if is_respelled(kind) and each.taxonomy.domain != "observed":
            labelled = with_spellings(labelled, kind.type)
            known = None if known is None else with_spellings(known, kind.type)
        problem = unknown_in(engine, each.source.relation, each.name, labelled, known, each.attribute)
        if problem is not None:
            refused[each.attribute] = TaxonomyError(
                f'the taxonomy of "{each.attribute}" from {each.taxonomy.origin} does not cover '
                f"{each.source.description}:",
                [problem],
            )
    return refused


def _note_origins(
    engine: Engine, wanted: Sequence[TaxonomyLoad], shapes: Mapping[str, TaxonomyShape], observed: set[str]
) -> None:
    """Store the origins of values: a file that equals an observed taxonomy counts as observed."""
    observed = observed | {shapes[each.attribute].sha256 for each in wanted if each.taxonomy.domain == "observed"}
    domains, origins = [], []
    for each in wanted:
        sha256 = shapes[each.attribute].sha256
        domain = "observed" if sha256 in observed else each.taxonomy.domain
        file = string(Path(each.taxonomy.origin).name) if domain == "stated" else exp.null()
        domains.append((string(each.attribute), string(domain)))
        origins.append((string(each.attribute), string(domain), file, string(sha256)))
    for rows, table in ((domains, taxonomies.domains_of), (origins, taxonomies.origin_table)):
        engine.execute(exp.insert(exp.values(rows), table(engine.taxonomy)), "store a taxonomy")
