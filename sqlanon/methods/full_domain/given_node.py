"""A node that the user gives, in place of one that is searched for: it must meet the policy on the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.choice import only_checked
from sqlanon.methods.shared.counting import examine_nodes, node_summaries
from sqlanon.model.base import respelled, unknown_names
from sqlanon.model.lattice import Levels
from sqlanon.search import SearchOutcome, SearchProblem


def given_levels(bound: BoundPolicy, node: Mapping[str, int]) -> Levels:
    """The levels of a node that was given.

    Raises:
        PolicyError: it is not one of the lattice, or the policy leaves to the search what is to be guaranteed.
    """
    if not isinstance(node, Mapping) or not all(isinstance(name, str) for name in node):
        raise PolicyError("a node is a mapping from quasi-identifiers to their levels")
    names = bound.policy.quasi_identifiers
    node = respelled(dict(node), names)
    problems = [f'"{name}" has no level' for name in names if name not in node]
    problems += [f'"{name}" is not a quasi-identifier{meant}' for name, meant in unknown_names(node, names)]
    lattice = bound.lattice
    problems += [
        f'"{name}" has levels {least} to {most}, so not {node[name]}'
        for name, least, most in zip(names, lattice.bottom, lattice.top, strict=True)
        if name in node and not (_is_whole(node[name]) and least <= node[name] <= most)
    ]
    if bound.policy.objective == "privacy":
        problems.append('objective "privacy" finds how private a release can be by searching: give no node')
    if problems:
        raise PolicyError("the node that was given does not fit the policy:", problems)
    return tuple(node[name] for name in names)


def check_given(engine: Compute, table: EncodedTable, levels: Levels) -> SearchOutcome:
    """Check a node that was given, as the outcome of a search that looked at nothing else.

    Raises:
        UnsatisfiableError: it does not meet the policy; names the models that stand in the way.
    """
    context, policy = table.context, table.bound.policy
    node = node_summaries(engine, table, [levels])[0]
    if not SearchProblem(policy.quality, context).satisfies(node):
        problems = [
            f"{node.suppressed_rows:,} of {context.row_count:,} rows are in classes that fall short; "
            f"{context.allowed_rows:,} may be suppressed (suppression_limit {100 * policy.suppression_limit:g} %)",
            *_in_the_way(engine, table, levels),
        ]
        raise UnsatisfiableError("the node that was given does not meet the policy:", problems)
    return only_checked(node, policy.quality.loss(node, context))


def _in_the_way(engine: Compute, table: EncodedTable, levels: Levels) -> Iterator[str]:
    blocked = examine_nodes(engine, table, [levels])[0].blocked_rows
    for model, rows in zip(table.bound.policy.privacy, blocked, strict=True):
        if rows:
            yield f"{model}: {rows:,} rows are in classes that violate it"


def _is_whole(level: object) -> bool:
    return isinstance(level, int) and not isinstance(level, bool)
