"""Loading taxonomies into a warehouse: staged together, checked, and put in place of those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.binding.malformed import Refused, malformed
from sqlanon.binding.staging import STAGED, TaxonomyLoad, levels_of, stage
from sqlanon.binding.taxonomies import attributes, keep_well_formed, stored_shapes
from sqlanon.binding.unknown_values import unknown_in, values_made_by
from sqlanon.engines.base import Engine
from sqlanon.errors import TaxonomyError
from sqlanon.model.base import did_you_mean
from sqlanon.model.names import folded, possible
from sqlanon.queries.kit.nodes import column, number, select, string, subquery
from sqlanon.queries.source import MadeTaxonomy
from sqlanon.queries.tables import taxonomies
from sqlanon.queries.tables.spelled import is_respelled, with_spellings


def load(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Store taxonomies in place of those that are there, all of them or none, in one transaction.

    Raises:
        TaxonomyError: some are malformed, or do not cover their source: it tells of each.
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
    """Store taxonomies as :func:`load` does; what is wrong with them is handed out, not raised."""
    # Of names that are the same to the warehouse the last one stays, as if they came one after the other.
    wanted = [*{folded(each.attribute): each for each in wanted}.values()]
    refused = _unfit(engine, wanted)
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
    """Ends the transaction in which taxonomies turn out to be wrong."""

    def __init__(self, refused: Refused) -> None:
        super().__init__()
        self.refused = refused


def _load(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    engine.prepare_taxonomies()
    stage(engine, wanted)
    _end_if(malformed(engine, wanted))
    observed = _observed(engine) if any(each.taxonomy.domain == "stated" for each in wanted) else set()
    _replace(engine, [each.attribute for each in wanted])
    _end_if(_uncovered(engine, wanted))
    _note_origins(engine, wanted, observed)
    engine.drop(STAGED)


def _end_if(refused: Refused) -> None:
    if refused:
        raise _RefusedError(refused)


def _unfit(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> Refused:
    """What is wrong before a row is looked at."""
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


def _observed(engine: Engine) -> set[str]:
    """The hashes of taxonomies whose values were read off the data."""
    loaded = engine.fetch(taxonomies.observed(engine.taxonomy), "taxonomies")
    return {str(row["sha256"]) for row in loaded} | {
        shape.sha256 for shape in stored_shapes(engine).values() if shape.domain == "observed"
    }


def _replace(engine: Engine, names: Sequence[str]) -> None:
    """Put what is staged in place of what is stored under the same names, in whatever case."""
    replaced = {*map(folded, names)}
    stored = [other for other in attributes(engine) if folded(other) in replaced]
    for table in (engine.taxonomy, taxonomies.domains_of(engine.taxonomy)):
        engine.execute(taxonomies.removal(table, [*{*stored, *names}]), "replace a taxonomy")
    engine.execute(exp.insert(select([exp.Star()], STAGED.table), engine.taxonomy.copy()), "store a taxonomy")


def _uncovered(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> Refused:
    """Which taxonomies do not have all values of their source."""
    refused = {}
    for each in wanted:
        if each.source is None:
            continue
        labelled: exp.Query = taxonomies.values_of(engine.taxonomy, each.attribute)
        known = _values(engine, each)
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


def _values(engine: Engine, wanted: TaxonomyLoad) -> exp.Query | None:
    """The values of a taxonomy that is not stored, for users to run."""
    if wanted.taxonomy.query is None:
        return values_made_by(wanted.taxonomy)
    levels, _ = levels_of(engine, wanted)
    at_the_bottom = column("level", "anon_levels").eq(number(0))
    return select([column("value", "anon_levels")], subquery(levels, "anon_levels")).where(at_the_bottom, copy=False)


def _note_origins(engine: Engine, wanted: Sequence[TaxonomyLoad], observed: set[str]) -> None:
    """Store where the values of taxonomies come from: a file that equals an observed one was read off the data."""
    shapes = stored_shapes(engine, [each.attribute for each in wanted])
    # It was they that were staged and looked at.
    keep_well_formed(engine, shapes)
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
