"""The taxonomies that a policy, or a fit, carries with it: they hold for one run, and are stored nowhere.

They are put in a database in memory that is attached for the run, beside copies of the stored ones that the policy uses
as well. All queries of the run read taxonomies there, so that a run changes nothing but its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import chain, count
from typing import Concatenate, ParamSpec, TypeVar, cast

from sqlglot import exp

from sqlanon.compiler.nodes import column, identifier, select, string
from sqlanon.compiler.taxonomies import origin_table
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.engines.refusals import is_in_use
from sqlanon.errors import EngineError, TaxonomyError
from sqlanon.model.fit import Fit
from sqlanon.model.names import spelled_like
from sqlanon.model.policy import Policy
from sqlanon.model.taxonomy import Taxonomy
from sqlanon.run import taxonomies
from sqlanon.run.sidecar import Sidecar

CATALOG = "anon_of_policy"
"""How the names of these databases begin: sessions on connections to one database see those of each other."""
SCHEMA = "anon"

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
        with own_taxonomies(engine, source, policy):
            return run(engine, source, policy, *more, **named)

    return cast(Callable[Concatenate[Engine, ResolvedSource, Policy, More], Result], with_taxonomies)


@contextmanager
def own_taxonomies(
    engine: Engine, source: ResolvedSource, policy: Policy, attributes: Sequence[str] | None = None
) -> Iterator[None]:
    """The taxonomies that a policy carries hold within the block; nothing changes if it carries none.

    Args:
        engine: the database.
        source: what values are read from that are not declared.
        policy: the policy.
        attributes: of which columns; of all if they are not given.

    Raises:
        PolicyError: the policy does not fit the source.
        TaxonomyError: names every entry that is malformed, or that the warehouse stores another taxonomy for.
    """
    carried = [name for name in policy.taxonomies if attributes is None or name in attributes]
    if not carried or engine.taxonomy.catalog.startswith(CATALOG):
        yield
        return
    if attributes is None:
        policy.check_columns([known.name for known in engine.describe(source.relation)], source.description)
    made = _made(policy, carried)
    stored = taxonomies.shapes(engine, carried)
    known = taxonomies.attributes(engine)
    with _apart(engine, [spelled_like(name, known) for name in _used(policy) if name not in carried]):
        _load(engine, source, made)
        own = taxonomies.shapes(engine, carried)
        others = [name for name, shape in stored.items() if shape.sha256 != own[name].sha256]
        if others:
            raise TaxonomyError(
                "the warehouse stores others than the policy carries; remove what is not meant from the policy "
                "or from anon.taxonomy:",
                [f'taxonomies."{name}"' for name in others],
            )
        yield


@contextmanager
def taxonomies_of_fit(engine: Engine, sidecar: Sidecar) -> Iterator[None]:
    """The taxonomies that the fit has kept hold within the block; those of the session, if it has kept none.

    Raises:
        TaxonomyError: the session has another one than the fit was made with: nobody knows which one is meant.
    """
    kept = sidecar.taxonomies
    if kept is None:
        yield
        return
    wanted = [name for name in sidecar.fit.taxonomy_sha256 if name not in sidecar.fit.policy.taxonomies]
    found = {name: shape.sha256 for name, shape in taxonomies.shapes(engine, wanted).items()}
    refuse_other_taxonomies(sidecar.fit, found)
    with reading_taxonomies(engine, *kept):
        yield


def refuse_other_taxonomies(fit: Fit, found: Mapping[str, str]) -> None:
    """Refuse taxonomies of other hashes than a fit was made with.

    Raises:
        TaxonomyError: names all of them.
    """
    changed = [f'"{name}"' for name, known in fit.taxonomy_sha256.items() if found.get(name, known) != known]
    if changed:
        raise TaxonomyError("taxonomies have changed since the fit; load those that it was made with:", changed)


def measured_with(policy: Policy) -> tuple[str, ...]:
    """The columns whose taxonomies a measurement needs: those of labels only to generalize a population, too."""
    return policy.sensitive_taxonomies if policy.population is None else _used(policy)


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
        return False  # which is told where it is made


def _used(policy: Policy) -> tuple[str, ...]:
    return (*policy.quasi_identifiers, *policy.sensitive_taxonomies)


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


def _load(engine: Engine, source: ResolvedSource, made: dict[str, Taxonomy]) -> None:
    problems = []
    for name, taxonomy in made.items():
        try:
            taxonomies.load(engine, name, taxonomy, source if taxonomy.needs_source else None, name)
        except TaxonomyError as error:
            problems += _problems(name, error)
    if problems:
        raise TaxonomyError("the taxonomies of the policy are not valid:", problems)


def _problems(name: str, error: TaxonomyError) -> list[str]:
    return [f'taxonomies."{name}": {problem}' for problem in (error.problems or (str(error),))]


@contextmanager
def _apart(engine: Engine, copied: Sequence[str]) -> Iterator[None]:
    """Taxonomies are read and written in a new database in memory within the block, which starts with copies."""
    with engine.transaction():
        pass  # Refuses a connection that is in a transaction already: no database could be detached from it.
    stored = engine.taxonomy, engine.taxonomy_domain
    are_stored = engine.has_taxonomies
    catalog = _attach(engine)
    try:
        with reading_taxonomies(engine, *(_table(catalog, table.name) for table in stored)):
            engine.prepare_taxonomies()
            _copy_origins(engine, stored[0])
            if are_stored and copied:
                _copy(engine, stored, copied)
            yield
    finally:
        engine.execute(exp.Detach(this=identifier(catalog)), "taxonomies of the policy")


def _attach(engine: Engine) -> str:
    """Attach a new database in memory, under the first name that no other session on this database has.

    Returns:
        its name.
    """
    # As the database of the connection may be read-only, and what is attached is then, too, by default.
    writable = exp.AttachOption(this=exp.var("READ_WRITE"))
    for name in chain([CATALOG], (f"{CATALOG}_{number}" for number in count(2))):
        memory = exp.alias_(string(":memory:"), identifier(name))
        try:
            engine.execute(exp.Attach(this=memory, expressions=[writable]), "taxonomies of the policy")
        except EngineError as error:
            if not is_in_use(error.original):
                raise
        else:
            return name
    raise AssertionError("there is always another number")


@contextmanager
def reading_taxonomies(engine: Engine, taxonomy: exp.Table, domain: exp.Table) -> Iterator[None]:
    """Taxonomies are read and written in other tables within the block."""
    stored = engine.taxonomy, engine.taxonomy_domain
    engine.taxonomy, engine.taxonomy_domain = taxonomy, domain
    try:
        yield
    finally:
        engine.taxonomy, engine.taxonomy_domain = stored


def _copy_origins(engine: Engine, stored: exp.Table) -> None:
    """Copy where values come from, of all taxonomies: a file that equals an observed one is observed, too."""
    theirs = origin_table(stored)
    if engine.has(theirs):
        query = select([exp.Star()], theirs)
        engine.execute(exp.insert(query, origin_table(engine.taxonomy)), "copy the taxonomies")


def _copy(engine: Engine, stored: Sequence[exp.Table], attributes: Sequence[str]) -> None:
    for theirs, ours in zip(stored, (engine.taxonomy, engine.taxonomy_domain), strict=True):
        wanted = exp.In(this=column("attribute"), expressions=[string(name) for name in attributes])
        rows = select([exp.Star()], theirs.copy()).where(wanted, copy=False)
        engine.execute(exp.insert(rows, ours.copy()), "copy the taxonomies")


def _table(catalog: str, name: str) -> exp.Table:
    return exp.Table(this=identifier(name), db=identifier(SCHEMA), catalog=identifier(catalog))
