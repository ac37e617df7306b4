"""The commands ``sqlanon ledger`` and ``sqlanon releases``: the two lists that a warehouse keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, BadParameter, Context, Option, Typer

from sqlanon.api.session_ledger import Ledger
from sqlanon.api.session_releases import ReleaseRegister
from sqlanon.cli.command import command
from sqlanon.cli.options import Database, Json, Spelled
from sqlanon.cli.output import put, say, show, write, write_json
from sqlanon.cli.sessions import connected, existing

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.ledger.accounts import Account
    from sqlanon.model.budget import Budget
    from sqlanon.model.ledger_entries import Entry
    from sqlanon.report.document import Document

Dataset = Annotated[
    str,
    Argument(metavar="DATASET", help="The data set: a table, the path, glob or folder of files, or its given name."),
]
Warehouse = Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file whose ledger it is.")]
LedgerFile = Annotated[Path | None, Option("--ledger", metavar="FILE", help="The DuckDB file of a ledger.")]

app = Typer(help="Budgets: what was spent of the privacy of each data set, and what may be.")
releases_app = Typer()

ALONE = (
    "these sums leave out what other ledgers were charged for the same tables and files, since every other ledger "
    "gives them another budget: charge all warehouses that read them to one file (--ledger)"
)
"""What a reader of sums has to know of other ledgers."""


@app.command(name="show")
@command()
def show_(database: Warehouse = None, ledger: LedgerFile = None, as_json: Json = False) -> None:
    """Show every charge and cap, and what each data set has left.

    Example: sqlanon ledger show --db clinic.duckdb
    """
    from sqlanon.ledger.accounts import account

    with _opened(database, ledger) as session:
        entries = _entries(session)
    accounts = {name: account(entries, name) for name in dict.fromkeys(entry.dataset for entry in entries)}
    if as_json:
        rows = [{**vars(entry), "spent_at": entry.spent_at.isoformat()} for entry in entries]
        write_json({"datasets": [_json(name, found) for name, found in accounts.items()], "entries": rows})
    elif not entries:
        say("The ledger has no rows.")
    else:
        show(_shown(accounts, entries))


@app.command()
@command(Ledger.cap)
def cap(
    dataset: Dataset,
    database: Warehouse = None,
    ledger: LedgerFile = None,
    epsilon: Annotated[str | None, Option(metavar="E", help="What ε may add up to: 1.5 or 1/3.")] = None,
    delta: Annotated[str | None, Option(metavar="D", help="What δ may add up to, below 1; 0 by default.")] = None,
    lift: Annotated[bool, Option("--lift", help="Bound it no more.")] = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Bound what a data set may spend in all. Caps are rows of the ledger, so that nobody raises one unseen.

    Example: sqlanon ledger cap visits --db clinic.duckdb --epsilon 2 --delta 1e-6
    """
    from sqlanon.model.budget import Budget

    if lift == (epsilon is not None) or (lift and (delta is not None or given["in_rho"])):
        raise BadParameter("give --epsilon and --delta, or --lift")
    budget = None if epsilon is None else Budget(epsilon, delta or 0)
    with _opened(database, ledger, read_only=False) as session:
        is_known = session.ledger.knows(dataset)
        session.ledger.cap(dataset, budget, **given)
        name, found = _account(session, dataset)
    if as_json:
        write_json(_json(name, found))
    if not is_known:
        _doubt(name)
    in_rho = ", added up in ρ" if given["in_rho"] else ""
    bound = "has no cap any more" if budget is None else f"may spend {budget} in all{in_rho}"
    unit = "" if found.unit is None else f", on {found.unit}"
    say(f'Data set "{name}" {bound}; it has spent {found.spent} so far{unit}.')


@app.command()
@command()
def remaining(dataset: Dataset, database: Warehouse = None, ledger: LedgerFile = None, as_json: Json = False) -> None:
    """Print what a data set has left.

    Example: sqlanon ledger remaining visits --db clinic.duckdb
    """
    with _opened(database, ledger) as session:
        is_known = session.ledger.knows(dataset)
        name, found = _account(session, dataset)
    if not is_known:
        _doubt(name)
    if as_json:
        write_json(_json(name, found))
    else:
        write(f"{'no cap' if found.remaining is None else found.remaining}\n")


@app.command()
@command(Ledger.verify)
def verify(database: Warehouse = None, ledger: LedgerFile = None, as_json: Json = False, **given: Any) -> None:
    """Check that no row was changed, removed, moved or put in, and print the hash of the newest row.

    That the newest rows were removed is seen where releases in the warehouse are later, and else only with --head, the
    hash that was printed before.

    Example: sqlanon ledger verify --db clinic.duckdb
    """
    with _opened(database, ledger) as session:
        newest = session.ledger.verify(**given)
    if as_json:
        write_json({"head": newest, "met": True})
    else:
        write(f"{newest}\n")
    say("Every row is as it was written.")


@releases_app.callback(invoke_without_command=True)
@command(ReleaseRegister.list, dataset=Spelled("SOURCE"))
def releases(
    context: Context,
    database: Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file whose list it is.")] = None,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Show every release that was made from a warehouse, and whether it is still there.

    Example: sqlanon releases --db clinic.duckdb
    """
    if context.invoked_subcommand is not None:
        return
    if database is None:
        raise BadParameter("give --db, the file whose list it is")
    with existing(database) as session:
        found = session.releases.list(**given)
    put(found, as_json=as_json)


@releases_app.command()
@command(ReleaseRegister.forget)
def forget(
    name: Annotated[str, Argument(metavar="RELEASE", help="The table, path or address, as the list has it.")],
    database: Database,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Mark a release as forgotten, such as one that nobody was given: it stays on the list, with the reason.

    Example: sqlanon releases forget visits_k5 --db clinic.duckdb --reason "it was a rehearsal"
    """
    with existing(database, read_only=False) as session:
        found = session.releases.forget(name, **given)
    put(found, as_json=as_json)
    say(f'Forgotten: {len(found.releases):,} of "{name}"; sqlanon releases --all shows them.')


def _shown(accounts: Mapping[str, Account], entries: Iterable[Entry]) -> Document:
    from sqlanon.report.document import Document, Table, notes

    left = []
    for name, account in accounts.items():
        unit = "" if account.unit is None else account.unit.individual or account.unit.name
        left.append((name, *_numbers(account.spent), *_numbers(account.remaining), unit))
    in_rho = [
        (name, f"{float(account.rho or 0):.6g}", *_numbers(total), "" if account.rho_cap is None else "cap")
        for name, account in accounts.items()
        if (total := account.in_rho) and (account.rho_cap is not None or total.epsilon < account.spent.epsilon)
    ]
    rows = [
        (
            str(entry.position),
            entry.spent_at.isoformat(" ", "seconds"),
            entry.kind,
            entry.dataset,
            entry.epsilon or "no cap",
            entry.delta or "no cap",
            entry.individual or entry.unit or "",
            "" if entry.method is None else f"{entry.method}: {entry.purpose}",
        )
        for entry in entries
    ]
    parts = [
        Table(("data set", "spent ε", "spent δ", "ε left", "δ left", "by"), left, range(1, 5)),
        Table(("added up in ρ", "ρ", "ε", "δ", "bound by"), in_rho, range(1, 4)),
        Table(("row", "UTC", "what", "data set", "ε", "δ", "by", "for"), rows, numbers=(0, 4, 5)),
    ]
    return Document("Ledger", (*(part for part in parts if part.rows), *notes("Notes", [ALONE])))


def _numbers(budget: Budget | None) -> tuple[str, str]:
    from sqlanon.model.budget import spelled

    return ("no cap", "no cap") if budget is None else (spelled(budget.epsilon), spelled(budget.delta))


def _doubt(name: str) -> None:
    say(f'Note: "{name}" is not a table or file here, and nothing was charged to it yet; is the name spelled right?')


def _opened(database: Path | None, ledger: Path | None, *, read_only: bool = True) -> AbstractContextManager[Session]:
    """Open a session on the ledger of a warehouse, or on that of a file, which is made only to be written."""
    if (database is None) == (ledger is None):
        raise BadParameter("give one of --db and --ledger")
    if ledger is not None:
        if read_only and not ledger.exists():
            raise BadParameter(f"the file {ledger} does not exist", param_hint="--ledger")
        return connected(ledger=ledger)
    return existing(cast("Path", database), read_only=read_only)


def _entries(session: Session) -> list[Entry]:
    from sqlanon.model.ledger_entries import Entry

    return [Entry(**row) for row in session.ledger.entries().to_pylist()]


def _account(session: Session, dataset: str) -> tuple[str, Account]:
    """The name under which the ledger knows a data set, and its account."""
    from sqlanon.ledger.accounts import account

    name = session.ledger.dataset_named(dataset)
    return name, account(_entries(session), name)


def _json(name: str, account: Account) -> dict[str, Any]:
    def dumped(budget: Budget | None) -> dict[str, Any] | None:
        return None if budget is None else budget.model_dump(mode="json")

    return {
        "dataset": name,
        "cap": dumped(account.cap),
        "spent": dumped(account.spent),
        "remaining": dumped(account.remaining),
        "spent_in_rho": dumped(account.in_rho),
        "cap_in_rho": account.rho_cap is not None,
        "unit": None if account.unit is None else account.unit.name,
        "individual": None if account.unit is None else account.unit.individual,
    }
