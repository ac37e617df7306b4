"""The columns whose values name the folders of a release: refused where they cannot, before a row is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlanon.errors import PolicyError
from sqlanon.model.base import did_you_mean
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.source import SourceColumn

PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")
"""Names of columns that are part of the name of a folder as they are: DuckDB encodes others, and never decodes them."""


def refuse_columns(policy: Policy, columns: Sequence[SourceColumn], partition_by: Sequence[str]) -> None:
    """Refuse to partition by what is not in the release, or cannot be the name of a folder.

    Args:
        policy: the policy of the release.
        columns: the columns of its source.
        partition_by: the columns to partition by.

    Raises:
        PolicyError: lists every problem.
    """
    problems = [*_unreleased(policy, partition_by)]
    nested = {found.name: found.type for found in columns if not found.traits.has_name}
    problems += [
        f'column "{name}" is of type {nested[name]}, whose values are no names of folders'
        for name in partition_by
        if name in nested and name not in policy.quasi_identifiers and name in policy.released_columns
    ]
    problems += [
        f'column "{name}" has a name that readers of folders misread; rename it in a view, with letters of ASCII, '
        "digits and _ - . ~ alone"
        for name in partition_by
        if name in policy.released_columns and not PLAIN.fullmatch(name)
    ]
    if partition_by and policy.released_columns <= set(partition_by):
        problems.append("no column would be left to stand in the files")
    if problems:
        raise PolicyError("the release cannot be partitioned:", problems)


def _unreleased(policy: Policy, partition_by: Sequence[str]) -> list[str]:
    found = []
    for name in partition_by:
        if name in policy.identifiers:
            found.append(f'column "{name}" is an identifier, which is not released')
        elif name not in policy.released_columns:
            found.append(f'column "{name}" is not in the release{did_you_mean(name, policy.released_columns)}')
    return found
