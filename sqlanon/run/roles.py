"""Columns that one release generalizes and another one publishes otherwise, whose values joint classes do not count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.source import ColumnOrigin

PRESENT = "this policy"
"""What a release that is yet to be made is called."""

IN_WORDS = {"sensitive": "sensitive in", "insensitive": "insensitive in", "pseudonyms": "a pseudonym in"}
"""The roles of columns that are published and not generalized."""

HELP = "joint classes count labels alone; generalize the column in each of them, or publish it in one alone"


@dataclass(frozen=True)
class ShownColumn:
    """A column that a release has.

    Attributes:
        name: its name.
        role: what it is in the release if it is not generalized, in words.
        origin: the column of tables or files that it is in the source; None if it may be made of others.
    """

    name: str
    role: str | None
    origin: ColumnOrigin | None

    # guarded: tests/unit/test_guarded_releases.py
    def is_same_as(self, other: ShownColumn) -> bool:
        """Whether both are one column by their names, or are references to the same one."""
        if folded(self.name) == folded(other.name):
            return True
        if self.origin is None or other.origin is None or folded(self.origin.name) != folded(other.origin.name):
            return False
        # A table or file that is a source has no name there.
        ours, theirs = self.origin.tables, other.origin.tables
        return not (ours and theirs) or bool(ours & theirs)


def shown_columns(
    engine: Engine, policy: Policy, source: ResolvedSource, found: Iterable[str] = ()
) -> tuple[ShownColumn, ...]:
    """The columns of a release.

    Args:
        engine: the database.
        policy: its policy.
        source: what it is made from.
        found: the columns that it has; those that the policy does not name have no role.
    """
    roles = {folded(name): None for name in policy.quasi_identifiers} | {
        folded(name): words for role, words in IN_WORDS.items() for name in getattr(policy, role)
    }
    names = {folded(name): name for name in (*found, *sorted(policy.released_columns))}
    origins = engine.traced(source, [*names.values()])
    return tuple(
        ShownColumn(name, roles.get(key, "without a role in"), origin)
        for (key, name), origin in zip(names.items(), origins, strict=True)
    )


# guarded: tests/unit/test_guarded_releases.py
def of_several_roles(*releases: tuple[str, Sequence[ShownColumn]]) -> Iterator[str]:
    """The columns that some releases generalize and others publish otherwise, a sentence for each.

    Args:
        releases: what each is called, and its columns.
    """
    for (other, others), (release, columns) in permutations(releases, 2):
        generalized = (each for each in others if each.role is None)
        kept = (each for each in columns if each.role is not None)
        for known, shown in product(generalized, kept):
            if shown.is_same_as(known):
                spelled = "" if folded(shown.name) == folded(known.name) else f' as "{shown.name}"'
                yield f'"{known.name}" is a quasi-identifier of {other} and {shown.role} {release}{spelled}: {HELP}'
