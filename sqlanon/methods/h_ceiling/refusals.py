"""What h-ceiling refuses: companion tables with a column twice, and sources whose classes it cannot fill up."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.h_ceiling import counterfeits
from sqlanon.methods.h_ceiling.impossible import unknown_labels
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.methods.h_ceiling import COUNTERFEITS
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy


def refuse_table_of_counterfeits(policy: Policy) -> None:
    """Refuse a companion table of counterfeits two of whose columns would have one name.

    Raises:
        PolicyError: names the column.
    """
    for name in policy.columns:
        if folded(name) == COUNTERFEITS:
            raise PolicyError(f'the table of counterfeits needs the name of column "{name}"; rename it in a view')


def refuse_rows(engine: Compute, table: EncodedTable) -> None:
    """Refuse a table that has fewer rows than a class is to have, or rows without a sensitive value.

    And labels of impossible combinations that its taxonomies do not have.

    Raises:
        PolicyError: listing all.
    """
    problems, k = [], table.context.k
    if k > table.context.row_count:
        problems.append(f"k is {k:,}, and there are {table.context.row_count:,} rows: no class could be true")
    if nameless := counterfeits.rows_without_value(engine, table):
        (name,) = table.bound.policy.sensitive
        problems.append(
            f'"{name}" is NULL in {nameless:,} rows: give them a value in a view or a query, or leave them out'
        )
    problems += unknown_labels(engine, table)
    if problems:
        raise PolicyError(f"the policy does not fit {table.bound.description}:", problems)
