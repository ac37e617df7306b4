"""What h-ceiling refuses: requests that it does not take, and tables whose rows it cannot fill up."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Request
from sqlanon.methods.h_ceiling import counterfeits
from sqlanon.methods.h_ceiling.impossible import unknown_labels
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.names import folded
from sqlanon.model.policy.h_ceiling import COUNTERFEITS, INVENTED
from sqlanon.model.policy.policy import Policy


def refuse_request(policy: Policy, request: Request) -> None:
    """Refuse what is asked of a run that the method does not take.

    Raises:
        PolicyError: a data set whose budget is spent, a node, or a table of counterfeits whose columns have one name.
    """
    if request.names_account:
        raise PolicyError("dataset and public are for private methods, of which the policy has none")
    if request.node is not None:
        raise PolicyError(f"{policy.method} looks for its node: bound it by minimum_levels and maximum_levels")
    taken = [name for name in policy.columns if folded(name) == COUNTERFEITS]
    if taken and INVENTED in request.tables:
        raise PolicyError(f'the table of counterfeits needs the name of column "{taken[0]}"; rename it in a view')


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
