"""Which account of a ledger a source is charged to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.ledger.checks import others_named, refuse_uncapped, several_accounts
from sqlanon.ledger.known_sources import known, owners
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.model.datasets import KnownSource, dataset_named
from sqlanon.model.ledger import Entry


@dataclass(frozen=True)
class DataSet:
    """What is charged.

    Attributes:
        name: that of the account.
        sources: the tables and files that are read of it.
        public: what is read besides, and was declared public.
        has_frames: whether frames of Python are read, which have no names.
        once_public: what is read of it, and was declared public for earlier charges.
        is_new: whether the ledger has no row of the account yet.
    """

    name: str
    sources: tuple[KnownSource, ...] = ()
    public: tuple[KnownSource, ...] = ()
    has_frames: bool = False
    once_public: tuple[KnownSource, ...] = ()
    is_new: bool = False


def charged(
    engine: Engine, ledger: WarehouseLedger, source: ResolvedSource, given: str | None, public: Sequence[str] = ()
) -> DataSet:
    """The data set that a release of a source is charged to.

    Args:
        engine: the warehouse.
        ledger: the ledger.
        source: what is to be released.
        given: the name that the user gives, for what has none of its own.
        public: tables and files that a query reads, and that are no secret.

    Raises:
        PolicyError: as :func:`dataset_of`; or nobody has declared the name that is given, or what the source reads
            belongs to other data sets, or to several, or cannot be seen; or what is declared public is not read, or has
            an account.
        BudgetError: it has no cap, and must have one.
        EngineError: the ledger cannot be read, or was tampered with.
    """
    entries = ledger.entries()
    if source.dataset is None:
        name = dataset_of(engine, source, given)
        assert given is not None
        refuse_undeclared(engine, entries, given, name)
        found = _of_query(engine, entries, source, known_account(engine, ledger, given).name, public)
    elif public:
        raise PolicyError(f"public= is for queries and views, and {source.description} is neither")
    else:
        sources = known_source(source)
        account = account_of(entries, source.dataset, sources, source.description)
        if given is None or known_dataset(engine, given) != account:
            dataset_of(engine, source, given)
        found = DataSet(account, sources)
    if ledger.must_be_capped:
        refuse_uncapped(entries, [found.name])
    declared = {name for entry in entries for name in entry.public or ()}
    once_public = tuple(each for each in found.sources if each.name in declared)
    return replace(found, once_public=once_public, is_new=all(entry.dataset != found.name for entry in entries))


def _of_query(
    engine: Engine, entries: Sequence[Entry], source: ResolvedSource, name: str, public: Sequence[str]
) -> DataSet:
    """A data set that a query, a view or a frame is charged to: all that it reads belongs to it, or is public."""
    origins = engine.origins(source)
    if origins.unseen is not None:
        raise PolicyError(
            f"{source.description} is to be charged for all that it reads, and {origins.unseen}; spell the names of "
            "tables and files that are there, or make a table of what it reads"
        )
    read = known((*origins.files, *source.read), origins.tables)
    declared = [each for given in public for each in _public(engine, entries, given, read, source)]
    own = tuple(each for each in read if each not in declared)
    if declared and not own:
        raise PolicyError(f"all that {source.description} reads was declared public, and nothing is left to be charged")
    if others := [other for other in owners(entries, own) if other != name]:
        raise others_named(source.description, name, others)
    return DataSet(name, own, tuple(dict.fromkeys(declared)), origins.has_frames)


def _public(
    engine: Engine, entries: Sequence[Entry], given: str, read: Sequence[KnownSource], source: ResolvedSource
) -> tuple[KnownSource, ...]:
    """The tables or files of a name that was declared public."""
    found = resolved(engine, given)
    if found is None:
        raise PolicyError(f'"{given}", declared public, is not a table or file here')
    if not found.files and not _is_table(engine, found):
        raise PolicyError(f'"{given}", declared public, is a view or a query: name the tables that it reads')
    sources = known_source(found)
    if others := owners(entries, sources):
        raise PolicyError(
            f'"{given}", declared public, has an account in the ledger, or belongs to one, so it is a secret:',
            [f'"{other}"' for other in others],
        )
    if not set(sources) <= set(read):
        raise PolicyError(f'"{given}", declared public, is not read by {source.description}')
    return sources


def _is_table(engine: Engine, source: ResolvedSource) -> bool:
    stored = engine.find(source.relation) if isinstance(source.relation, exp.Table) else None
    return stored is not None and not stored.is_view


def known_source(source: ResolvedSource) -> tuple[KnownSource, ...]:
    """What a ledger keeps of a table, or of files; what these are called where they cannot be listed."""
    relation = source.relation
    if isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier):
        return known((), [relation])
    return known(source.files) or (KnownSource(source.dataset or ""),)


def dataset_of(engine: Engine, source: ResolvedSource, given: str | None) -> str:
    """The name under which the ledger knows the rows of a source.

    Args:
        engine: the warehouse.
        source: what is to be released.
        given: the name that the user gives, for what has none of its own.

    Raises:
        PolicyError: none is given, and the same rows could be had under another name; or one is given to what has a
            name, under which it would get a fresh budget; or it is that of a view, which has no account.
    """
    if given is not None:
        known = known_dataset(engine, given)
        if source.dataset not in (None, known):
            raise PolicyError(
                f'{source.description} is known to the ledger as "{source.dataset}": dataset= is for queries and views'
            ).with_guide("the-budget")
        return known
    if source.dataset is None:
        raise PolicyError(
            f"{source.description} is neither a table of the warehouse nor a file: its rows would get a fresh budget "
            "under every name, so say with dataset= which data set they come from"
        ).with_guide("the-budget")
    return source.dataset


def account_of(entries: Sequence[Entry], name: str, sources: Sequence[KnownSource], source: str) -> str:
    """The data set that is charged for a source: the one that it belongs to by what the ledger knows of it.

    Args:
        entries: the rows of the ledger.
        name: what the source is called.
        sources: the table or files that it is; what it is called stands for them where they are not here.
        source: the source in words.

    Raises:
        PolicyError: they belong to several data sets.
    """
    found = owners(entries, sources or [KnownSource(name)])
    others = [other for other in found if other != name]
    has_account = name in found or any(entry.dataset == name for entry in entries)
    if len(others) > 1 or (others and has_account):
        raise several_accounts(source, found)
    return others[0] if others else name


def refuse_undeclared(engine: Engine, entries: Sequence[Entry], given: str, name: str) -> None:
    """Refuse a name that a user gives to what has none of its own, if it may be a slip: it would have a fresh budget.

    Raises:
        PolicyError: it is neither a table nor a file here, and not in the ledger.
    """
    if resolved(engine, given) is None and all(entry.dataset != name for entry in entries):
        raise PolicyError(
            f'nobody has declared the data set "{name}": it is not a table or file here, and not in the ledger. '
            "If it is spelled right, have the custodian of the data declare it by a cap (`sqlanon ledger cap` or "
            "session.ledger.cap)"
        )


def known_dataset(engine: Engine, name: str) -> str:
    """The name under which the ledger knows what a user names: a table, Parquet files, or a name that was given.

    Raises:
        PolicyError: it is the name of a view, whose releases are charged to the data set that they are given.
    """
    elsewhere = dataset_named(name)
    source = resolved(engine, name)
    if source is None:
        return elsewhere
    if source.dataset is None:
        raise PolicyError(
            f"{source.description} has no budget of its own: name the data set that its releases are charged to"
        )
    return source.dataset


def resolved(engine: Engine, name: str) -> ResolvedSource | None:
    """The table or the files of a name, None if this session can read none."""
    try:
        return engine.resolve(name)
    except EngineError:
        return None


def known_account(engine: Engine, ledger: WarehouseLedger, name: str) -> DataSet:
    """The data set that a user names, by the account that it has.

    Raises:
        PolicyError: as :func:`known_dataset`, or its files belong to several data sets.
        EngineError: the ledger cannot be read, or was tampered with.
    """
    called, source = known_dataset(engine, name), resolved(engine, name)
    sources = () if source is None else known_source(source)
    return DataSet(account_of(ledger.entries(), called, sources, f'"{name}"'), sources)
