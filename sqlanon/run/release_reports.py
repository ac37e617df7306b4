"""Reports of releases that were published: from their rows, their provenance, and the source if it is there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.binding.coding import coded
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.methods.base import method_of
from sqlanon.model.extras import installed_version
from sqlanon.model.labels import NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Spent
from sqlanon.model.release.marginals import MeasuredMarginal
from sqlanon.model.release.release_report import Edition, ReleaseReport
from sqlanon.publish.provenance import without_place
from sqlanon.queries.kit.nodes import string
from sqlanon.report.document import percent
from sqlanon.run.earlier import with_joint_classes
from sqlanon.run.examined_release import examined_release
from sqlanon.run.listed_others import others_of
from sqlanon.run.recorded import recorded_release
from sqlanon.run.report_facts import of_files, of_partitions, titled
from sqlanon.run.reported_release import ReportedRelease
from sqlanon.verification.published import Published
from sqlanon.verification.verify import OTHER_POLICY, verify_found


@dataclass(frozen=True)
class ReportRequest:
    """What is asked of a report.

    Attributes:
        policy: a policy with the files of the taxonomies, which the recorded one lacks; None without any.
        source: the table that the release was made from; None if it is not there.
        edition: who may read it.
        alternatives: whether all nodes of the lattice are looked at.
    """

    policy: Policy | None = None
    source: Source | None = None
    edition: Edition = "custodian"
    alternatives: bool = False


def release_report(
    engine: Engine, release: Source, asked: ReportRequest, resolve: Callable[[Source], ResolvedSource]
) -> ReleaseReport:
    """The report of a release.

    Args:
        engine: the database.
        release: what the user calls it.
        asked: what is asked.
        resolve: finds what the user names.

    Raises:
        EngineError: there is none, or it has no provenance of a release.
        PolicyError, TaxonomyError: it lacks a column, or the policy or its taxonomies do not fit it.
    """
    found, record, recorded = recorded_release(engine, release, resolve)
    policy = recorded if asked.policy is None else _with_places(recorded, asked.policy)
    if asked.alternatives:
        _refuse_alternatives(asked, policy, record)
    _refuse_lost_columns(found, policy)
    engine.read_as(policy.csv, policy.timezone)
    source = None if asked.source is None or asked.edition == "public" else resolve(asked.source)
    described = () if source is None else engine.describe(source.relation)
    table = ReportedRelease(
        engine,
        policy,
        record,
        found,
        None if source is None else coded(engine, source, policy),
        tuple(each.name for each in described),
        recorded.taxonomies,
    )
    attributes = verified_with(policy, has_source=source is not None)
    with own_taxonomies(engine, source or found.source, policy, attributes):
        verification = verify_found(engine, found, policy, source)
        if policy.held_with:
            verification = with_joint_classes(engine, verification, str(release), policy, source)
        examined = examined_release(engine, found, record, policy, source)
        columns, examples = tuple(table.columns()), table.examples()
        alternatives = table.alternatives() if asked.alternatives else None
        others, left = ((), 0) if source is None else others_of(engine, source, found, policy, str(release))
    if asked.policy is None:  # it is the same, but for the places of files
        notes = tuple(note for note in verification.notes if note != OTHER_POLICY)
        verification = verification.model_copy(update={"notes": notes})
    facts = {} if record.report is None else record.report.as_json
    rows, exposure = record.rows, verification.measurement.exposure
    left_out = None if rows is None or rows.source is None else rows.source - rows.released
    report = ReleaseReport(
        edition=asked.edition,
        date=datetime.now(UTC).date().isoformat(),
        terms=recorded.release,
        release=found.source.description,
        source=None if source is None else source.description,
        method=policy.method.name,
        about_rows=method_of(policy).about_rows,
        version=installed_version(),
        k=None if policy.has_private_method else policy.criteria.k,
        source_rows=None if rows is None else rows.source,
        released_rows=verification.measurement.row_count,
        left_out_rows=left_out,
        before=table.exposure_before(),
        after=exposure,
        individuals=facts.get("individuals"),
        quality=facts.get("quality"),
        loss=facts.get("loss"),
        search=_search_of(facts),
        promise=None if record.promise is None else record.promise.guarantee,
        verification=verification,
        columns=columns,
        drops_rest=policy.rest is not None,
        notes=examined.notes,
        findings=examined.findings,
        sizes=tuple(table.sizes()),
        alternatives=alternatives,
        other_releases=others,
        uncompared_releases=left,
        stamp=record.stamp,
        spent=tuple(Spent(**each) for each in facts.get("spent", ())),
        thresholds=facts.get("thresholds", {}),
        marginals=tuple(MeasuredMarginal(**each) for each in facts.get("measured", ())),
        facts={**of_partitions(record.fit), **titled(facts, policy), **of_files(source)},
        policy="" if record.policy is None else _policy_text(record.policy.as_json),
        check=tuple(_commands(str(release), policy)),
    )
    report._examples = None if source is None else examples
    return report


def _with_places(recorded: Policy, given: Policy) -> Policy:
    """A recorded policy with what records leave out: files of taxonomies, and sources and keys of earlier releases."""
    changes: dict[str, Any] = {"taxonomies": given.taxonomies, "csv": given.csv or recorded.csv}
    named = [without_place(each.release) for each in given.held_with]
    if named and named == [each.release for each in recorded.held_with]:
        changes["earlier"] = given.held_with
    return recorded.changed(changes)


def _refuse_alternatives(asked: ReportRequest, policy: Policy, record: Record) -> None:
    if not isinstance(policy.method, FullDomain) or not isinstance(record.labels, NodeRecord):
        raise PolicyError(f"alternatives are nodes of full domains, and the {policy.method} has none to choose from")
    if asked.source is None or asked.edition == "public":
        raise PolicyError("alternatives are counted on the source: give it, for the edition of the custodian")


def _refuse_lost_columns(found: Published, policy: Policy) -> None:
    """Refuse a release without columns whose values are counted, which it had, or which its record alone has."""
    there = {folded(name) for name in found.columns}
    counted = () if policy.has_private_method else (*policy.quasi_identifiers, *policy.sensitive)
    if lost := [f'column "{name}" is not there' for name in counted if folded(name) not in there]:
        heading = f"{found.source.description} is not the release that its provenance is about:"
        raise PolicyError(heading, [*lost, "what else was changed: sqlanon verify"])


def _search_of(facts: Mapping[str, Any]) -> str:
    if facts.get("proven_optimal"):
        return f"proven least by checking {facts['checked_nodes']:,} of {facts['lattice_nodes']:,} nodes"
    gap = facts.get("gap")
    return "not proven least" if gap is None else f"no method loses less than {percent(facts['loss'] - gap)}"


def _policy_text(fields: Mapping[str, Any]) -> str:
    """A policy as JSON: a line for each of its fields that is not empty, and one for each taxonomy."""
    said = {name: value for name, value in fields.items() if value not in (None, {}, [])}
    lines = []
    for name, value in said.items():
        inner = [f"    {_json(key)}: {_json(each)}" for key, each in value.items()] if name == "taxonomies" else []
        lines.append(f"  {_json(name)}: " + ("{\n" + ",\n".join(inner) + "\n  }" if inner else _json(value)))
    return "{\n" + ",\n".join(lines) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _commands(release: str, policy: Policy) -> Iterator[str]:
    yield shlex.join(["sqlanon", "verify", release, "--policy", "policy.toml"])
    if not policy.has_private_method:
        columns = ", ".join(string(name).sql("duckdb") for name in policy.quasi_identifiers)
        yield f"FROM anon.k_anonymity({string(release).sql('duckdb')}, [{columns}]);"
