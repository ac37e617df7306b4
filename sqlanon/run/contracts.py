"""Data contracts of releases that were published."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.methods.base import method_of
from sqlanon.model.extras import installed_version
from sqlanon.model.labels import NodeRecord
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release.contract import Contract, ContractCheck, ContractColumn
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.measures import Comparison, MeasuredClasses, attained
from sqlanon.run.recorded import ROLES, recorded_release
from sqlanon.verification.published import Published


def contract(engine: Engine, release: Source, resolve: Callable[[Source], ResolvedSource]) -> Contract:
    """The contract of a release; see :meth:`sqlanon.Session.contract`."""
    found, record, policy = recorded_release(engine, release, resolve)
    promise = record.promise
    made_by = f"Released by method {policy.method.name}, described by sqlanon {installed_version()}."
    return Contract(
        release=str(release),
        kind="file" if found.source.files else "table",
        description=" ".join((made_by, method_of(policy).about_rows)).strip(),
        record_sha256=found.record_sha256 or record.sha256,
        policy_sha256=record.policy_sha256 or "",
        columns=tuple(_columns(engine, found, record, policy)),
        checks=tuple(_checks(engine, found, policy)),
        claims=() if promise is None else promise.claims,
        conditions=() if promise is None else promise.conditions,
        not_covered=() if promise is None else promise.not_covered,
    )


def _columns(engine: Engine, found: Published, record: Record, policy: Policy) -> Iterator[ContractColumn]:
    roles = {name: role for field, role in ROLES.items() for name in getattr(policy, field)}
    levels = record.labels.levels if isinstance(record.labels, NodeRecord) else {}
    for column in engine.describe(found.source.relation):
        yield ContractColumn(
            name=column.name,
            type=column.type,
            role=roles.get(column.name, ""),
            description=_in_words(levels[column.name]) if column.name in levels else "",
        )


def _in_words(level: int) -> str:
    return f"generalized to level {level} of its taxonomy" if level else "as it is in the source"


def _checks(engine: Engine, found: Published, policy: Policy) -> Iterator[ContractCheck]:
    """The bounds that neither the source, nor a population, nor a column that was dropped is needed for."""
    if policy.has_private_method or policy.population is not None or policy.individual is not None:
        return
    classes, comparison = MeasuredClasses(policy.quasi_identifiers), Comparison(engine.taxonomy)
    for model in policy.privacy:
        for bound in () if model.compares_with_source else model.bounds:
            query = attained(found.source.relation, classes, bound, comparison)
            text = printed(query, pretty=False)
            yield ContractCheck(model=str(model), query=text, comparison=bound.comparison, required=bound.required)
