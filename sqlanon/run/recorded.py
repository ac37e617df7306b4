"""A release with the policy that its provenance records, and the roles of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy, policy_of
from sqlanon.model.record import Record
from sqlanon.queries.source import ColumnOrigin
from sqlanon.verification.found_release import FoundRelease, find_release

ROLES = {
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "pseudonyms": "pseudonym",
}
"""The role of the columns in each list of a policy whose columns are released."""

PRESENT = "this policy"
"""What a release that is yet to be made is called."""

IN_WORDS = {"sensitive": "sensitive in", "insensitive": "insensitive in", "pseudonyms": "a pseudonym in"}
"""The roles of columns that are published and not generalized."""

HELP = "joint classes count labels alone; generalize the column in each of them, or publish it in one alone"


def recorded_release(
    engine: Engine, release: Source, resolve: Callable[[Source], ResolvedSource], *, hashes_rows: bool = True
) -> tuple[FoundRelease, Record, Policy]:
    """Find a release (:func:`find_release`), its record, and the policy that is recorded.

    Raises:
        EngineError: the release is missing, or lacks its provenance.
    """
    found = find_release(engine, release, resolve, hashes_rows=hashes_rows)
    record = found.record
    others = () if record is None else (record.companion, record.lattice, record.flattened, record.generalized)
    if record is None or record.policy is None or any(other is not None for other in others):
        what_next = "measure it as any other table"
        reason = f"{found.source.description} has no provenance of a release, as a run writes it: {what_next}"
        raise EngineError(reason, step="provenance")
    # The record does not say where the files of taxonomies are.
    fields = record.policy.as_json
    rules = fields.get("taxonomies", {})
    rules = {name: rule for name, rule in rules.items() if not isinstance(rule, str) and rule.get("kind") != "file"}
    return found, record, policy_of({**fields, "taxonomies": rules})


@dataclass(frozen=True)
class ShownColumn:
    """A column that a release has."""

    name: str
    role: str | None  # what it is in the release if it is not generalized, in words
    origin: ColumnOrigin | None  # the column that it is in the source; None if it may be made of others

    # guarded: tests/unit/test_guarded_releases.py
    def is_same_as(self, other: ShownColumn) -> bool:
        """Return whether both are one column by their names, or are references to the same one."""
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
    """Describe the columns of a release.

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
    """Name the columns that some releases generalize and others publish otherwise, a sentence for each.

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
