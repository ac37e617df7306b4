"""A ledger as tables for people: what data sets have left, and every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.table import Table

from sqlanon.cli.terminal.tables import plain, table
from sqlanon.model.budget import spelled
from sqlanon.model.ledger import Account, Entry


def accounts_table(accounts: Mapping[str, Account]) -> Table:
    """What data sets have spent and have left."""
    made = table("data set", "spent ε", "spent δ", "ε left", "δ left", "by", numbers=(1, 2, 3, 4))
    for name, account in accounts.items():
        budgets = (account.spent, account.remaining)
        numbers = [(spelled(b.epsilon), spelled(b.delta)) if b else ("no cap", "no cap") for b in budgets]
        unit = "" if account.unit is None else account.unit.individual or account.unit.name
        made.add_row(plain(name), *numbers[0], *numbers[1], plain(unit))
    return made


def entries_table(entries: Iterable[Entry]) -> Table:
    """The rows of a ledger."""
    made = table("row", "UTC", "what", "data set", "ε", "δ", "by", "for", numbers=(0, 4, 5))
    for entry in entries:
        made.add_row(
            str(entry.position),
            entry.spent_at.isoformat(" ", "seconds"),
            entry.kind,
            plain(entry.dataset),
            entry.epsilon or "no cap",
            entry.delta or "no cap",
            plain(entry.individual or entry.unit or ""),
            plain("" if entry.method is None else f"{entry.method}: {entry.purpose}"),
        )
    return made
