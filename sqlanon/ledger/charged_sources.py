"""The ledger and the account to charge for a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.ledger import ledger_table as table
from sqlanon.ledger.accounts import known, others_named, owners, refuse_uncapped, several_accounts
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.ledger.ledger_table import START, Entry
from sqlanon.model.names import KnownSource, dataset_named, possible

# Ways out if the ledger of a release, or of a warehouse, is lost.
IF_RELEASED_BEFORE = "If it is lost, so is the record of spending; COMMENT ON TABLE ... IS NULL drops this check"
IF_LOST = "If it is lost, so is the record of spending; DROP TABLE anon.ledger_note starts over"


@dataclass(frozen=True)
class DataSet:
    """The data set to charge."""

    name: str  # of the account
    sources: tuple[KnownSource, ...] = ()  # its tables and files that are read
    public: tuple[KnownSource, ...] = ()  # other tables and files that are read, declared public
    has_frames: bool = False  # Python frames are read, which have no names
    once_public: tuple[KnownSource, ...] = ()  # its tables and files that earlier charges declared public
    is_new: bool = False  # the ledger has no row of the account yet


def charged(
    engine: Engine, ledger: WarehouseLedger, source: ResolvedSource, given: str | None, public: Sequence[str] = ()
) -> DataSet:
    """Find the data set that a release of a source is charged to, and refuse any that it must not be.

    Args:
        given: names the data set of a source without a name of its own.
        public: tables and files that a query reads and that are no secret.
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
    """Charge a query, a view or a frame to the data set that owns all it reads, except what is public."""
    origins = engine.origins(source)
    if origins.unseen is not None:
        raise PolicyError(
            f"{source.description} is to be charged for everything it reads, but {origins.unseen}; spell out names of "
            "existing tables and files, or make a table of what it reads"
        )
    read = known((*origins.files, *source.read), origins.tables)
    declared = [each for given in public for each in _public(engine, entries, given, read, source)]
    own = tuple(each for each in read if each not in declared)
    if declared and not own:
        raise PolicyError(f"everything that {source.description} reads was declared public: nothing is left to charge")
    if others := [other for other in owners(entries, own) if other != name]:
        raise others_named(source.description, name, others)
    return DataSet(name, own, tuple(dict.fromkeys(declared)), origins.has_frames)


def _public(
    engine: Engine, entries: Sequence[Entry], given: str, read: Sequence[KnownSource], source: ResolvedSource
) -> tuple[KnownSource, ...]:
    found = resolved(engine, given)
    if found is None:
        raise PolicyError(f'"{given}", declared public, is not a table or file here')
    stored = engine.find(found.relation) if isinstance(found.relation, exp.Table) else None
    if not found.files and (stored is None or stored.is_view):
        raise PolicyError(f'"{given}", declared public, is a view or a query: name the tables that it reads')
    sources = known_source(found)
    if others := owners(entries, sources):
        raise PolicyError(
            f'"{given}", declared public, belongs to an account of the ledger, so it is secret:',
            [f'"{other}"' for other in others],
        )
    if not set(sources) <= set(read):
        raise PolicyError(f'"{given}", declared public, is not read by {source.description}')
    return sources


def known_source(source: ResolvedSource) -> tuple[KnownSource, ...]:
    """Return what a ledger keeps of a table or files; their data set if the files cannot be listed."""
    relation = source.relation
    if isinstance(relation, exp.Table) and isinstance(relation.this, exp.Identifier):
        return known((), [relation])
    return known(source.files) or (KnownSource(source.dataset or ""),)


def dataset_of(engine: Engine, source: ResolvedSource, given: str | None) -> str:
    """Return the ledger's name for the rows of a source: its own, or ``given`` if it has none.

    Refuse a source without either, whose rows would get a budget under every name; another name for a named source,
    for the same reason; and the name of a view, which has no account.
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
            "under every name, so name the data set that they come from with dataset="
        ).with_guide("the-budget")
    return source.dataset


def account_of(entries: Sequence[Entry], name: str, sources: Sequence[KnownSource], source: str) -> str:
    """Find the data set that owns a source, described by ``source``; refuse several owners.

    Without ``sources``, because its tables or files are not here, its name stands for them.
    """
    found = owners(entries, sources or [KnownSource(name)])
    others = [other for other in found if other != name]
    has_account = name in found or any(entry.dataset == name for entry in entries)
    if len(others) > 1 or (others and has_account):
        raise several_accounts(source, found)
    return others[0] if others else name


def refuse_undeclared(engine: Engine, entries: Sequence[Entry], given: str, name: str) -> None:
    """Refuse a name that may be a slip: neither a source here nor in the ledger, it would have a fresh budget."""
    if resolved(engine, given) is None and all(entry.dataset != name for entry in entries):
        raise PolicyError(
            f'nobody has declared the data set "{name}": it is not a table or file here, and not in the ledger. '
            "If it is spelled right, ask the custodian of the data to declare it by a cap (`sqlanon ledger cap` or "
            "session.ledger.cap)"
        )


def known_dataset(engine: Engine, name: str) -> str:
    """Return the ledger's name for what a user names: a table, Parquet files, or any other name.

    Refuse a view: its releases are charged to the data set that they are given.
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
    try:
        return engine.resolve(name)
    except EngineError:
        return None


def known_account(engine: Engine, ledger: WarehouseLedger, name: str) -> DataSet:
    """Find the account of a data set that a user names; refuse files of several accounts."""
    called, source = known_dataset(engine, name), resolved(engine, name)
    sources = () if source is None else known_source(source)
    return DataSet(account_of(ledger.entries(), called, sources, f'"{name}"'), sources)


def open_ledger(engine: Engine, path: str | Path | None, *, must_be_capped: bool = False) -> WarehouseLedger:
    """Open the ledger to charge: a file, which is created if missing, or the warehouse itself.

    Refuse a read-only warehouse without a path, and one that could have noted its ledger but has not.
    """
    if path is None and engine.warehouse.is_read_only:
        reason = "the warehouse is open read-only, and a private release is charged to a ledger first"
        raise EngineError(f"{reason}; name another file with ledger=", step="ledger")
    found = read_ledger(engine, path)
    found.must_be_capped = must_be_capped
    if not found.is_own and table.could_be_noted(engine):
        raise EngineError(
            "the warehouse is open read-only and has not noted its ledger, so any other file would be a fresh account; "
            "open it writable once with this ledger=, and set a cap, so that it notes its ledger",
            step="ledger",
        )
    return found


def read_ledger(engine: Engine, path: str | Path | None) -> WarehouseLedger:
    """Open a ledger for reading; nothing is created.

    Refuse a ledger other than the warehouse's, or one that lacks rows for which releases vouch.
    """
    given, file = ledger_file(path), engine.warehouse.file
    if given is None and file is None:
        reason = "the warehouse is not a DuckDB file, and a private release needs a ledger that outlives the session"
        raise EngineError(f"{reason}; name a file with ledger=", step="ledger")
    is_own = given is not None and file is not None and given.exists() and given.samefile(file)
    found = WarehouseLedger(engine, None if is_own else given)
    releases = table.releases(engine)  # before the rows: a run may be adding both
    _refuse_another(engine, found)
    _refuse_shortened(found, releases)
    return found


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
# no mutants of table.is_there(engine, table.ledger_of(engine)): a missing ledger has the hash of an empty one
def _refuse_another(engine: Engine, found: WarehouseLedger) -> None:
    """Refuse a ledger that is not the warehouse's, or an old copy: earlier spending would not count."""
    noted = table.notes(engine)
    if found.is_own:
        path = noted[-1].path if noted else ""
        if any(note.sha256 != START for note in noted) or (path and WarehouseLedger(engine, Path(path)).entries()):
            raise EngineError(f"the ledger of this warehouse is the file {path}; name it with ledger=", step="ledger")
        return  # no mutants: its own rows are there
    hashes = {START, *(entry.sha256 for entry in found.entries())}
    if any(note.sha256 not in hashes for note in noted):
        reason = f"{found.name} is not that of this warehouse, or an old copy of it: a row is missing that was noted"
        reason += f" when {noted[-1].path} was charged; name that file with ledger=. {IF_LOST}"
        raise EngineError(reason, step="ledger")
    if table.is_there(engine, table.ledger_of(engine)) and WarehouseLedger(engine, None).verify() not in hashes:
        raise EngineError(
            "the warehouse has a ledger of its own: charge that one, without ledger=, or first copy its table "
            "anon.ledger to the file, including its key",
            step="ledger",
        )


# guarded: tests/unit/test_guarded_warehouse.py::TestWhichLedger
def _refuse_shortened(found: WarehouseLedger, releases: Mapping[str, str]) -> None:
    """Refuse a ledger that lacks rows which releases in the warehouse vouch for."""
    if not releases:
        return  # no mutants: a shortcut
    hashes = {entry.sha256 for entry in found.entries()}
    if charged := [f'"{name}"' for name, sha256 in releases.items() if sha256 not in hashes]:
        raise EngineError(
            f"{found.name} is an old copy, or its newest rows were removed: a row is missing that was written before "
            f"the release {', '.join(charged)}. Bring back the ledger as it was. {IF_RELEASED_BEFORE}",
            step="ledger",
        )


def ledger_file(path: str | Path | None) -> Path | None:
    if path is None:
        return None
    if str(path).startswith(":memory:"):
        reason = "a private release needs a ledger that outlives the session; name a file with ledger="
        raise EngineError(reason, step="ledger")
    return Path(possible(path, "ledger")).absolute()
