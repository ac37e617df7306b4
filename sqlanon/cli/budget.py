"""Commands on privacy budgets: spending, caps, and the cost of a planned release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, BadParameter, Option, Typer

from sqlanon.api.session_ledger import Ledger
from sqlanon.cli.command import command, connected, existing
from sqlanon.cli.options import Json, ReplaceFile, Tight
from sqlanon.cli.output import say, show, write, write_json

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.ledger.accounts import Account
    from sqlanon.ledger.ledger_table import Entry
    from sqlanon.model.budget import Budget
    from sqlanon.report.document import Document

Dataset = Annotated[
    str,
    Argument(metavar="DATASET", help="The data set: a table, the path, glob or folder of files, or its given name."),
]
Warehouse = Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file with the ledger.")]
LedgerFile = Annotated[Path | None, Option("--ledger", metavar="FILE", help="The DuckDB file of a ledger.")]

ledger_app = Typer(help="Budgets: what was spent of the privacy of each data set, and what may be.")
plan_app = Typer(help="Plans: what a release could show, before any data is read.")

DIGITS = Context(prec=5, rounding=ROUND_CEILING)  # δ is shown in five digits, rounded up
MIN_SHOWN = Decimal("1e-300")  # a smaller δ may have underflowed to 0

ALONE = (
    "these sums leave out what other ledgers were charged for the same tables and files, since every other ledger "
    "gives them another budget: charge all warehouses that read them to one file (--ledger)"
)


@ledger_app.command(name="show")
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


@ledger_app.command()
@command(Ledger.cap)
def cap(
    dataset: Dataset,
    database: Warehouse = None,
    ledger: LedgerFile = None,
    epsilon: Annotated[str | None, Option(metavar="E", help="The cap on ε, such as 1.5 or 1/3.")] = None,
    delta: Annotated[str | None, Option(metavar="D", help="The cap on δ, below 1; 0 by default.")] = None,
    lift: Annotated[bool, Option("--lift", help="Lift the cap.")] = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Cap the total spending of a data set. Caps are rows of the ledger, so that raising one leaves a trace.

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


@ledger_app.command()
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


@ledger_app.command()
@command(Ledger.verify)
def verify(database: Warehouse = None, ledger: LedgerFile = None, as_json: Json = False, **given: Any) -> None:
    """Check that no row was changed, removed, moved or inserted, and print the hash of the newest row.

    Removed newest rows show only if the warehouse has a later release, or with --head, the hash that was printed
    before.

    Example: sqlanon ledger verify --db clinic.duckdb
    """
    with _opened(database, ledger) as session:
        newest = session.ledger.verify(**given)
    if as_json:
        write_json({"head": newest, "met": True})
    else:
        write(f"{newest}\n")
    say("Every row is as it was written.")


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
    """Open a session on the ledger of a warehouse, or on a ledger file, which is created only for writing."""
    if (database is None) == (ledger is None):
        raise BadParameter("give one of --db and --ledger")
    if ledger is not None:
        if read_only and not ledger.exists():
            raise BadParameter(f"the file {ledger} does not exist", param_hint="--ledger")
        return connected(ledger=ledger)
    return existing(cast("Path", database), read_only=read_only)


def _entries(session: Session) -> list[Entry]:
    from sqlanon.ledger.ledger_table import Entry

    return [Entry(**row) for row in session.ledger.entries().to_pylist()]


def _account(session: Session, dataset: str) -> tuple[str, Account]:
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


@plan_app.command()
def epsilon_safe(
    rows: Annotated[int, Option(metavar="N", min=1, help="How many rows the table has.")],
    epsilon: Annotated[str, Option(metavar="E", help="ε of the node and the sampling in all, such as 1.5 or 1/3.")],
    delta: Annotated[str, Option(metavar="D", help="δ, above 0 and below 1; all of it is for the sampling.")],
    epsilon_node: Annotated[
        str, Option(metavar="E", help="The part of ε for the choice of the node; 0 if it is public.")
    ] = "0.1",
    tight: Tight = False,
    out: Annotated[
        Path | None, Option(metavar="DIR", help="A folder for a table (.csv, .md) and a chart (.svg).")
    ] = None,
    replace: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Show the k that each β requires, the probability of a row to be sampled, and how large classes must be.

    Example: sqlanon plan epsilon-safe --rows 100000 --epsilon 2 --delta 1e-6
    """
    from sqlanon.evaluation.plans import NAME, plan_chart, plan_epsilon_safe, reported
    from sqlanon.evaluation.results import refuse_targets, write_files

    if out is not None:
        refuse_targets(out, NAME, replace=replace)
    made = plan_epsilon_safe(rows, epsilon, delta, epsilon_node=epsilon_node, tight=tight)
    paths = []
    if out is not None:
        files = write_files(out, NAME, reported(made, plan_chart(made)), replace=replace)
        paths = [str(path) for path in files.values()]
    if as_json:
        write_json({**made.model_dump(mode="json"), "best": made.best.model_dump(mode="json"), "files": paths})
    else:
        show(made.document())
        for path in paths:
            say(f"Written: {path}")


def delta(
    epsilon: Annotated[
        str, Option(metavar="E", help="ε of the sampling, such as 1.5 or 1/3, without the choice of a node.")
    ],
    k: Annotated[int | None, Option(metavar="K", help="The least count of a class that is published.")] = None,
    beta: Annotated[float | None, Option(metavar="B", help="The probability of each row to be in the sample.")] = None,
    delta: Annotated[str | None, Option(metavar="D", help="The largest δ, above 0 and below 1.")] = None,
    tight: Tight = False,
    as_json: Json = False,
) -> None:
    """Print δ of publishing the classes of k rows or more in a sample that has each row with probability beta.

    With --delta and one of the two, print the other: the least k, or the largest beta in steps of 1/1000.

    No data is read. δ holds at a node that is public, or that was chosen on the whole table and not on the sample.

    Example: sqlanon delta --k 50 --beta 0.75 --epsilon 2
    """
    document = _computed(epsilon, k, beta, delta, tight=tight)
    if as_json:
        write_json(document)
        return
    # Rounded up, and bounded from below where a float underflows.
    rounded = float(max(DIGITS.create_decimal_from_float(document["delta"]), MIN_SHOWN))
    shown = {**document, "delta": f"{rounded:.5g}"}
    write(f"{shown[document['computed']]}\n")
    say(
        f"To publish the classes of {shown['k']} rows or more in a sample that has each row with probability "
        f"{shown['beta']} costs ε = {epsilon} and δ = {shown['delta']}; to choose a node on the data costs more."
    )


def _computed(epsilon: str, k: int | None, beta: float | None, delta: str | None, *, tight: bool) -> dict[str, Any]:
    from sqlanon.model import sampled_classes
    from sqlanon.model.budget import Budget, as_float

    if [k, beta, delta].count(None) != 1:
        raise BadParameter("give two of --k, --beta and --delta: the third is computed")
    budget = Budget(epsilon, delta or 0)
    spent, limit = as_float(budget.epsilon), as_float(budget.delta)
    missing = "delta" if delta is None else "k" if k is None else "beta"
    if beta is None:
        beta = float(sampled_classes.maximum_beta(k or 0, spent, limit, tight=tight))
    if k is None:
        k = sampled_classes.minimum_k(beta, spent, limit, tight=tight)
    return {
        "computed": missing,
        "k": k,
        "beta": beta,
        "epsilon": spent,
        "delta": sampled_classes.delta(k, beta, spent, tight=tight),
        "delta_limit": None if delta is None else limit,
        "tight": tight,
    }
