"""A release with the policy that its provenance records."""

from __future__ import annotations

from collections.abc import Callable

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError
from sqlanon.model.policy.policy import Policy, policy_of
from sqlanon.model.record import PolicyRecord, Record
from sqlanon.verification.published import Published, published

ROLES = {
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "pseudonyms": "pseudonym",
}
"""The role of the columns in each list of a policy whose columns are released."""


def recorded_release(
    engine: Engine, release: Source, resolve: Callable[[Source], ResolvedSource], *, hashes_rows: bool = True
) -> tuple[Published, Record, Policy]:
    """A release as it is found (:func:`published`), its record, and the policy that is recorded.

    Raises:
        EngineError: there is none, or it has no provenance of a release.
    """
    found = published(engine, release, resolve, hashes_rows=hashes_rows)
    record = found.record
    if record is None or record.policy is None or _is_beside(record):
        what_next = "measure it as any other table"
        reason = f"{found.source.description} has no provenance of a release, as a run writes it: {what_next}"
        raise EngineError(reason, step="provenance")
    return found, record, _recorded_policy(record.policy)


def _is_beside(record: Record) -> bool:
    """Whether a record is that of another table than a release."""
    others = (record.companion, record.lattice, record.flattened, record.generalized)
    return any(other is not None for other in others)


def _recorded_policy(recorded: PolicyRecord) -> Policy:
    """The policy of a record, without the taxonomies that are in files: it does not say where these are."""
    fields = recorded.as_json
    rules = fields.get("taxonomies", {})
    rules = {name: rule for name, rule in rules.items() if not isinstance(rule, str) and rule.get("kind") != "file"}
    return policy_of({**fields, "taxonomies": rules})
