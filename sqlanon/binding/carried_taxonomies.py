"""The taxonomies that a policy carries with it: they hold for one run.

They are put in a database in memory that is attached for the run, beside copies of the stored ones that the policy uses
as well. All queries of the run read taxonomies there, so that nothing but the target changes before it is published.

Declared ranges that are too large to be listed have rows for the values that occur in a source. What a label loses
still depends on all values of the range: they are generated and counted once, and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from sqlglot import exp

from sqlanon.binding import taxonomies
from sqlanon.binding.loading import TaxonomyLoad, levels_of, load_unless_refused
from sqlanon.binding.policy_types import as_policy_says, unguessed
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import TaxonomyError
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import spelled_like
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.arguments import IntegerRange
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.nodes import aliased, column, select, string, subquery
from sqlanon.queries.source import MadeTaxonomy
from sqlanon.queries.tables.taxonomies import SQL, domains_of, leaf_counts, leaves_of, origin_table

CATALOG = "anon_of_policy"
"""How the names of these databases begin: sessions on connections to one database see those of each other."""

More = ParamSpec("More")
Result = TypeVar("Result")


def with_own_taxonomies(
    run: Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result],
) -> Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result]:
    """A run of a policy on a source, with the taxonomies that the policy carries."""

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
    """The taxonomies that a policy carries hold within the block; nothing changes if it carries none.

    Args:
        engine: the database.
        source: what values are read from that are not declared.
        policy: the policy.
        attributes: the columns; all if they are not given.
        lists_ranges: whether large declared ranges are listed even if the labels of other values are not needed.

    Raises:
        PolicyError: the policy does not fit the source.
        TaxonomyError: names every entry that is malformed, or that the warehouse stores another taxonomy for.
    """
    carried = [name for name in policy.taxonomies if attributes is None or name in attributes]
    if not carried or engine.taxonomy.catalog.startswith(CATALOG):
        yield
        return
    if attributes is None:
        source, _ = unguessed(engine, source, policy)
    made = _made(policy, carried)
    stored = taxonomies.shapes(engine, carried)
    known = taxonomies.attributes(engine)
    copied = [spelled_like(name, known) for name in policy.columns_with_taxonomy if name not in carried]
    with _apart(engine, copied):
        large = [] if lists_ranges else large_ranges(policy, made)
        if large or any(taxonomy.needs_source for taxonomy in made.values()):
            source = as_policy_says(engine, source, policy)
        _load(engine, source, made, dict.fromkeys(large, read_in(engine, source, policy) if large else ()))
        own = taxonomies.shapes(engine, carried)
        others = [name for name, shape in stored.items() if shape.sha256 != own[name].sha256 and not shape.is_of_policy]
        if others:
            raise TaxonomyError(
                "the warehouse stores others than the policy carries; remove what is not meant from the policy "
                "or from anon.taxonomy:",
                [f'taxonomies."{name}"' for name in others],
            )
        yield


def measured_with(policy: Policy) -> tuple[str, ...]:
    """The columns whose taxonomies a measurement needs: those of labels only to generalize a population, too."""
    return policy.sensitive_taxonomies if policy.population is None else policy.columns_with_taxonomy


def verified_with(policy: Policy, *, has_source: bool) -> tuple[str, ...]:
    """The columns whose taxonomies a verification uses: those of its labels, too, if they can be made.

    Rules that take their values from the source can be followed only where that is given.
    """
    labels = (name for name in policy.quasi_identifiers if name in policy.taxonomies)
    return (*measured_with(policy), *(name for name in labels if has_source or not _needs_source(policy, name)))


def _needs_source(policy: Policy, name: str) -> bool:
    try:
        return policy.taxonomies[name].taxonomy().needs_source
    except TaxonomyError:
        return False  # the load reports it


def _made(policy: Policy, attributes: Sequence[str]) -> dict[str, Taxonomy]:
    made, problems = {}, []
    for name in attributes:
        try:
            made[name] = policy.taxonomies[name].taxonomy()
        except TaxonomyError as error:
            problems += _problems(name, error)
    if problems:
        raise TaxonomyError("the taxonomies of the policy are not valid:", problems)
    return made


def _load(
    engine: Engine,
    source: ResolvedSource,
    made: dict[str, Taxonomy],
    occurring: Mapping[str, tuple[exp.Expr, ...]],
) -> None:
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
def _apart(engine: Engine, copied: Sequence[str]) -> Iterator[None]:
    """Taxonomies are read and written in a new database in memory within the block, which starts with copies."""
    stored = engine.taxonomy
    with engine.attached(None, CATALOG) as own, reading_taxonomies(engine, own.anon("taxonomy")):
        engine.prepare_taxonomies()
        _copy_origins(engine, stored)
        if copied and engine.find(stored):
            _copy(engine, stored, copied)
        yield


@contextmanager
def reading_taxonomies(engine: Engine, taxonomy: exp.Table) -> Iterator[None]:
    """Taxonomies are read and written in other tables within the block."""
    stored, made_by = engine.taxonomy, engine.made_by
    engine.taxonomy, engine.made_by = taxonomy, {**made_by}
    try:
        yield
    finally:
        engine.taxonomy, engine.made_by = stored, made_by


def _copy_origins(engine: Engine, stored: exp.Table) -> None:
    """Copy where values come from, of all taxonomies: a file that equals an observed one is observed, too."""
    theirs = origin_table(stored)
    if engine.find(theirs):
        query = select([exp.Star()], theirs)
        engine.execute(exp.insert(query, origin_table(engine.taxonomy)), "copy the taxonomies")


def _copy(engine: Engine, stored: exp.Table, attributes: Sequence[str]) -> None:
    pairs = ((stored, engine.taxonomy), (domains_of(stored), domains_of(engine.taxonomy)))
    for theirs, ours in pairs:
        rows = SQL.query("rows_of", taxonomy=theirs, attributes=[*map(string, attributes)])
        engine.execute(exp.insert(rows, ours.copy()), "copy the taxonomies")


MAX_LISTED_VALUES = 10_000
"""Of a declared range: a taxonomy of more has rows for those alone that occur."""


def large_ranges(policy: Policy, made: Mapping[str, Taxonomy]) -> list[str]:
    """The quasi-identifiers whose ranges are not listed.

    Only full-domain generalization does without the other values. What a private method draws depends on all values
    of its domains, so that nobody learns from it which of them occur.
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


def read_in(engine: Engine, source: ResolvedSource, policy: Policy) -> tuple[exp.Expr, ...]:
    """The relations whose values need labels."""
    people = () if policy.population is None else (engine.resolve(policy.population, restricted=True).relation,)
    return (source.relation, *people)


def count_ranges(engine: Engine, wanted: Sequence[TaxonomyLoad]) -> None:
    """Count the labels of whole ranges, once the taxonomies of what occurs in them are stored."""
    if not wanted:
        return
    listings = {each.attribute: _listing(engine, each) for each in wanted}
    for each in wanted:
        shape = taxonomies.shapes_of(engine, listings[each.attribute])[each.attribute]
        engine.made_by[each.attribute] = MadeTaxonomy(each.taxonomy, shape)
    counts = leaf_counts(engine.taxonomy, list(listings.values()))
    table = leaves_of(engine.taxonomy)
    engine.execute(exp.Create(this=table, kind="TABLE", expression=counts), "the values of declared ranges")


def _listing(engine: Engine, wanted: TaxonomyLoad) -> exp.Subquery:
    """The rows of a taxonomy with all values of its range."""
    levels, _ = levels_of(engine, wanted, whole=True)
    columns = [column(name, "anon_levels") for name in ("level", "value", "label")]
    rows = select([aliased(string(wanted.attribute), "attribute"), *columns], subquery(levels, "anon_levels"))
    return subquery(rows, "anon_listing")
