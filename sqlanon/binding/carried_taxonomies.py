"""The taxonomies that a policy carries for one run.

They live in a database in memory that is attached for the run, beside copies of the stored taxonomies that the policy
uses. All queries of the run read them there, so nothing but the target changes before it is published.

Large declared ranges are not listed: only values in the source have rows. Losses of labels still depend on the whole
range, whose values are generated and counted once, and stored nowhere.

The warehouse of the release stores the taxonomies afterwards, for SQL users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.loading import TaxonomyLoad, levels_of, load_unless_refused
from sqlanon.binding.prepare import as_policy_says, read_by, unguessed
from sqlanon.binding.stored_taxonomies import OF_POLICY
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, TaxonomyError
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded, listed, spelled_like
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.arguments import IntegerRange
from sqlanon.model.taxonomy.rules import TaxonomyRule
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.nodes import aliased, column, create_table, select, string, subquery
from sqlanon.queries.source import MadeTaxonomy, TaxonomyShape
from sqlanon.queries.taxonomies import SQL, domains_of, leaf_counts, leaves_of, origin_table, removal

CATALOG = "anon_of_policy"  # prefix of these databases; sessions on one connection see each other's
MAX_LISTED_VALUES = 10_000  # of a declared range that is listed; a larger range only has rows for values in the source

More = ParamSpec("More")
Result = TypeVar("Result")


def with_own_taxonomies(
    run: Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result],
) -> Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result]:
    @wraps(run)
    def with_taxonomies(
        engine: Engine, source: ResolvedSource, policy: Policy, *more: More.args, **named: More.kwargs
    ) -> Result:
        with own_taxonomies(engine, source, policy, lists_ranges=False):
            return run(engine, source, policy, *more, **named)

    return cast(Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result], with_taxonomies)


@contextmanager
def own_taxonomies(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    attributes: Sequence[str] | None = None,
    *,
    lists_ranges: bool = True,
) -> Iterator[None]:
    """Make the taxonomies that a policy carries available within the block.

    Observed values are read from the ``source``. ``attributes`` restricts the columns. Large declared ranges are only
    listed if ``lists_ranges``, or if labels of other values are needed.
    """
    carried = [name for name in policy.taxonomies if attributes is None or name in attributes]
    if not carried or engine.taxonomy.catalog.startswith(CATALOG):
        yield
        return
    if attributes is None:
        source, _ = unguessed(engine, source, policy)
    made = made_by_policy({name: policy.taxonomies[name] for name in carried})
    stored = stored_taxonomies.shapes(engine, carried)
    known = stored_taxonomies.attributes(engine)
    copied = [spelled_like(name, known) for name in policy.columns_with_taxonomy if name not in carried]
    with apart(engine, copied):
        large = [] if lists_ranges else large_ranges(policy, made)
        if large or any(taxonomy.needs_source for taxonomy in made.values()):
            source = as_policy_says(engine, source, policy)
        read = [each.relation for each in read_by(engine, source, policy).values()] if large else []
        load_made(engine, source, made, dict.fromkeys(large, tuple(read)))
        own = stored_taxonomies.shapes(engine, carried)
        others = [name for name, shape in stored.items() if shape.sha256 != own[name].sha256 and not shape.is_of_policy]
        if others and policy.stored_taxonomies != "ignore":
            raise TaxonomyError(
                "the warehouse stores others than the policy carries; remove what is not meant from the policy "
                'or from anon.taxonomy, or write stored_taxonomies = "ignore", so that those of the policy hold:',
                [f'taxonomies."{name}"' for name in others],
            )
        yield


def verified_with(policy: Policy, *, has_source: bool) -> tuple[str, ...]:
    """Return the columns whose taxonomies a verification uses, including those of its labels if they can be made.

    Rules that read their values from the source need one.
    """

    def can_be_made(name: str) -> bool:
        try:
            return has_source or not policy.taxonomies[name].taxonomy().needs_source
        except TaxonomyError:
            return True  # the load reports it

    labels = (name for name in policy.quasi_identifiers if name in policy.taxonomies and can_be_made(name))
    # A population is generalized by all columns.
    measured = policy.sensitive_taxonomies if policy.population is None else policy.columns_with_taxonomy
    return (*measured, *labels)


def made_by_policy(rules: Mapping[str, TaxonomyRule]) -> dict[str, Taxonomy]:
    """Make the taxonomies of the rules of a policy, by column; a TaxonomyError lists all that are not valid."""
    made, problems = {}, []
    for name, rule in rules.items():
        try:
            made[name] = rule.taxonomy()
        except TaxonomyError as error:
            problems += _problems(name, error)
    if problems:
        raise TaxonomyError("the taxonomies of the policy are not valid:", problems)
    return made


def load_made(
    engine: Engine,
    source: ResolvedSource,
    made: Mapping[str, Taxonomy],
    occurring: Mapping[str, tuple[exp.Expr, ...]] | None = None,
) -> None:
    """Load taxonomies whose values are declared, or those of a source; ranges may list ``occurring`` values only."""
    occurring = occurring or {}
    wanted = [
        TaxonomyLoad(name, taxonomy, source if taxonomy.needs_source else None, name, occurring.get(name, ()))
        for name, taxonomy in made.items()
    ]
    refused = load_unless_refused(engine, wanted)
    problems = [problem for name, error in refused.items() for problem in _problems(name, error)]
    if problems:
        raise TaxonomyError("the taxonomies of the policy are not valid:", problems)
    count_ranges(engine, [each for each in wanted if each.occurring])


def _problems(name: str, error: TaxonomyError) -> list[str]:
    return [f'taxonomies."{name}": {problem}' for problem in (error.problems or (str(error),))]


@contextmanager
def apart(engine: Engine, copied: Sequence[str]) -> Iterator[None]:
    """Use a new database in memory for taxonomies within the block, starting with copies."""
    stored = engine.taxonomy
    with engine.attached(None, CATALOG) as own, reading_taxonomies(engine, own.anon("taxonomy")):
        engine.prepare_taxonomies()
        ours, origins = engine.taxonomy, origin_table(stored)
        # Copy the origins of all taxonomies: a file that equals an observed one is observed, too.
        if engine.find(origins):
            query = select([exp.Star()], origins)
            engine.execute(exp.insert(query, origin_table(ours)), "copy the taxonomies")
        if copied and engine.find(stored):
            for theirs, table in ((stored, ours), (domains_of(stored), domains_of(ours))):
                rows = SQL.query("rows_of", taxonomy=theirs, attributes=[*map(string, copied)])
                engine.execute(exp.insert(rows, table.copy()), "copy the taxonomies")
        yield


@contextmanager
def reading_taxonomies(engine: Engine, taxonomy: exp.Table) -> Iterator[None]:
    stored, made_by = engine.taxonomy, engine.made_by
    engine.taxonomy, engine.made_by = taxonomy, {**made_by}
    try:
        yield
    finally:
        engine.taxonomy, engine.made_by = stored, made_by


def large_ranges(policy: Policy, made: Mapping[str, Taxonomy]) -> list[str]:
    """Find the quasi-identifiers whose ranges are not listed.

    Only full-domain generalization works without unlisted values. A private method's draws depend on all values of its
    domains, so that they do not reveal which ones occur.
    """
    if not isinstance(policy.method, FullDomain):
        return []
    labelled_at_the_top = policy.columns_with("top")
    return [
        name
        for name, taxonomy in made.items()
        if isinstance(taxonomy.values, IntegerRange)
        and taxonomy.values.maximum - taxonomy.values.minimum >= MAX_LISTED_VALUES
        and name in policy.quasi_identifiers
        and name not in policy.sensitive_taxonomies
        and name not in labelled_at_the_top
    ]


def count_ranges(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Count the labels of whole ranges, once taxonomies of their occurring values are stored."""
    if not wanted:
        return
    listings = []
    for each in wanted:
        levels, _ = levels_of(engine, each, whole=True)
        columns = [column(name, "anon_levels") for name in ("level", "value", "label")]
        rows = select([aliased(string(each.attribute), "attribute"), *columns], subquery(levels, "anon_levels"))
        listings.append(subquery(rows, "anon_listing"))
        shape = stored_taxonomies.shapes_of(engine, listings[-1])[each.attribute]
        engine.made_by[each.attribute] = MadeTaxonomy(each.taxonomy, shape)
    counts = leaf_counts(engine.taxonomy, listings)
    engine.execute(create_table(leaves_of(engine.taxonomy), counts), "the values of declared ranges")


def keep_taxonomies(engine: Engine, bound: BoundPolicy, read: Sequence[ResolvedSource]) -> tuple[str, ...]:
    """Store the policy's taxonomies, and create the macros where schema ``anon`` has none.

    They replace those that another policy left there; other stored ones stay. Observed values are only stored if they
    come from tables of the same warehouse: whoever gets a warehouse without its source must not find them there.
    Unlisted ranges are not stored.

    Returns:
        a note if others stay, or if that failed: the release is published by then.
    """
    kept: dict[str, TaxonomyShape] = {}
    if bound.policy.taxonomies:
        carried = {*map(folded, bound.policy.taxonomies)}
        shapes = {folded(name): shape for name, shape in bound.all_shapes.items() if folded(name) in carried}
        # Without ranges that only have rows for occurring values.
        in_part = {name for name, made in engine.made_by.items() if made.shape is not None}
        names = [name for name in stored_taxonomies.attributes(engine) if name not in in_part]
        kept = {name: shapes[folded(name)] for name in names if folded(name) in shapes}
    is_observed = any(shape.domain == "observed" for shape in kept.values())
    if is_observed and not all(_is_within(engine, source) for source in read):
        kept = {name: shape for name, shape in kept.items() if shape.domain != "observed"}
    lacks_macros = engine.lacks_macros
    if not kept and not lacks_macros:
        return ()
    others: list[str] = []
    try:
        with engine.transaction():
            if lacks_macros:
                engine.install()
            if kept:
                others = _store(engine, kept)
    except EngineError as error:
        return (f"the macros and the taxonomies of the policy were not stored in the warehouse: {error}",)
    if others:
        return (f"the warehouse keeps its own taxonomies of {listed(others)}, which differ from those of the policy",)
    return ()


def _is_within(engine: Engine, source: ResolvedSource) -> bool:
    found, warehouse = engine.origins(source), folded(engine.warehouse.name)
    if found.files or found.has_frames or found.unseen is not None:
        return False
    return bool(found.tables) and all(folded(table.catalog) == warehouse for table in found.tables)


def _store(engine: Engine, kept: Mapping[str, TaxonomyShape]) -> list[str]:
    """Store taxonomies, and return the names of those that the warehouse has with other labels."""
    own, stored = engine.taxonomy, engine.warehouse.anon("taxonomy")
    with reading_taxonomies(engine, stored):
        engine.prepare_taxonomies()
        names = {*map(folded, kept)}
        alike = [name for name in stored_taxonomies.stored_attributes(engine) if folded(name) in names]
        there = {folded(name): shape for name, shape in stored_taxonomies.shapes(engine, alike).items()}
    # Keep an equal one: somebody may have loaded it for all policies.
    differing = [name for name in kept if folded(name) not in there or there[folded(name)].sha256 != kept[name].sha256]
    others = [name for name in differing if folded(name) in there and not there[folded(name)].is_of_policy]
    new = {name: kept[name] for name in differing if name not in others}
    if not new:
        return others
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
    return others
