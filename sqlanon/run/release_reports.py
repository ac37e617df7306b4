"""Reports on published releases, from their rows, their provenance and, if given, the source."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.binding.coding import coded
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError, SqlanonError, reason_of
from sqlanon.methods.base import method_of
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.microaggregation import Microaggregation
from sqlanon.model.names import folded, listed
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Findings, Spent
from sqlanon.model.release.pictures import MeasuredMarginal
from sqlanon.model.release.release_report import Edition, ReleaseReport
from sqlanon.model.release.utility import Utility
from sqlanon.nodes.counting import node_summaries
from sqlanon.nodes.table import encode_table, refuse_empty
from sqlanon.publish.provenance import without_place
from sqlanon.queries.kit.nodes import string
from sqlanon.release.examined import Examined, examine, examine_kept
from sqlanon.release.kept_columns import released_values
from sqlanon.release.publishing import GroupedRows, PublishedNode, groups_as_written
from sqlanon.report.document import count, percent
from sqlanon.run.earlier import with_joint_classes
from sqlanon.run.others import others_of
from sqlanon.run.population_risks import WeightedRelease
from sqlanon.run.recorded import recorded_release
from sqlanon.run.reported_release import ReportedRelease
from sqlanon.satellites import installed_version
from sqlanon.verification.found_release import FoundRelease
from sqlanon.verification.utility import UtilityQuestion, compared
from sqlanon.verification.verify import OTHER_POLICY, verify_found

OTHER_SOURCE = (
    "the source has changed since the release was made: a different number of rows is suppressed, so the labels of "
    "suppressed rows are not compared"
)


# More than six parameters: options of :meth:`sqlanon.Session.report`.
def release_report(
    engine: Engine,
    release: Source,
    resolve: Callable[[Source], ResolvedSource],
    given: Policy | None,
    *,
    made_from: Source | None,
    edition: Edition,
    wants_alternatives: bool,
    stages: Stages,
) -> ReleaseReport:
    """Report on a release.

    Args:
        resolve: finds the release and its source by the names that the user gives.
        given: the policy with its taxonomy files, which the recorded one lacks.
    """
    with stages.stage("read"):
        found, record, recorded = recorded_release(engine, release, resolve)
    policy = recorded if given is None else _with_places(recorded, given)
    has_source = made_from is not None and edition != "public"
    if wants_alternatives and (not isinstance(policy.method, FullDomain) or not isinstance(record.labels, NodeRecord)):
        raise PolicyError(f'alternatives needs method "full-domain"; this release used the {policy.method}')
    if wants_alternatives and not has_source:
        raise PolicyError("alternatives are counted on the source: give it, and take the custodian's edition")
    _refuse_lost_columns(found, policy)
    engine.read_as(policy.csv, policy.timezone)
    source = None if made_from is None or not has_source else resolve(made_from)
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
        with stages.stage("verify"):
            verification = verify_found(engine, found, policy, source)
            if policy.held_with:
                verification = with_joint_classes(engine, verification, str(release), policy, source)
        stages.begin("report")
        examined = examined_release(engine, found, record, policy, source)
        columns, examples = tuple(table.columns()), table.examples()
        alternatives = table.alternatives() if wants_alternatives else None
        population_risk = WeightedRelease(engine, found, record, policy, source).risk()
        utility, unmeasured = (None, ()) if edition == "public" else utility_of_changes(engine, found, policy, source)
        others, left = ((), 0) if source is None else others_of(engine, source, found, policy, str(release))
    before, sizes = table.exposure_before(), tuple(table.sizes())
    stages.finish()
    if given is None:  # the recorded policy differs only in paths
        verification = verification.without(OTHER_POLICY)
    facts = {} if record.report is None else record.report.as_json
    rows, exposure = record.rows, verification.measurement.exposure
    left_out = None if rows is None or rows.source is None else rows.source - rows.released
    report = ReleaseReport(
        edition=edition,
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
        before=before,
        after=exposure,
        individuals=facts.get("individuals"),
        quality=facts.get("quality"),
        loss=facts.get("loss"),
        search=_search_of(facts),
        promise=None if record.promise is None else record.promise.guarantee,
        verification=verification,
        columns=columns,
        drops_rest=policy.rest is not None,
        notes=(*examined.notes, *unmeasured),
        findings=examined.findings,
        sizes=sizes,
        population_risk=population_risk,
        utility=utility,
        alternatives=alternatives,
        other_releases=others,
        uncompared_releases=left,
        stamp=record.stamp,
        spent=tuple(Spent(**each) for each in facts.get("spent", ())),
        thresholds=facts.get("thresholds", {}),
        marginals=tuple(MeasuredMarginal(**each) for each in facts.get("measured", ())),
        facts=_facts(record, facts, policy, source),
        policy="" if record.policy is None else _policy_text(record.policy.as_json),
        check=tuple(_commands(str(release), policy)),
    )
    report._examples = None if source is None else examples
    return report


def utility_of_changes(
    engine: Engine, found: FoundRelease, policy: Policy, source: ResolvedSource | None
) -> tuple[Utility | None, tuple[str, ...]]:
    """Measure what a release keeps of the columns that show other values of their type, or note why it cannot be."""
    changed = [*policy.perturbed_columns]
    if isinstance(policy.method, Microaggregation):
        changed += policy.quasi_identifiers
    reason = "give the source"
    if changed and source is not None:
        try:
            return compared(engine, source, found.source, UtilityQuestion(columns=changed)), ()
        except PolicyError as error:
            reason = reason_of(error)
    return None, (f"what is kept of {listed(changed)} is not measured: {reason}",) if changed else ()


def _with_places(recorded: Policy, given: Policy) -> Policy:
    """Add to a recorded policy what records leave out: taxonomy files, sources and keys of earlier releases."""
    changes: dict[str, Any] = {"taxonomies": given.taxonomies, "csv": given.csv or recorded.csv}
    named = [without_place(each.release) for each in given.held_with]
    if named and named == [each.release for each in recorded.held_with]:
        changes["earlier"] = given.held_with
    return recorded.changed(changes)


def examined_release(
    engine: Engine, found: FoundRelease, record: Record, policy: Policy, source: ResolvedSource | None
) -> Examined:
    """Find what a release leaves open: by itself, or beside its source.

    Without the source, only the released rows and k count. A private release has only its recorded notes: counts on its
    source would be outside its budget.
    """
    recorded = () if record.report is None else tuple(record.report.as_json.get("notes", ()))
    if policy.has_private_method:
        return Examined(Findings(), recorded, None)
    problems: tuple[str, ...] = ()
    examined = None
    if source is not None:
        try:
            with engine.transaction(), engine.scratch():
                examined, problems = _beside(engine, found, record, policy, source)
        except SqlanonError as error:
            unfit = "the source does not fit the policy of the release any more"
            problems = (f"{unfit}, so that findings beside it are missing: {reason_of(error)}",)
    if examined is None:
        examined = _alone(engine, found, policy)
    notes = dict.fromkeys((*recorded, *examined.notes, *problems))
    return Examined(examined.findings, tuple(notes), None)


def _alone(engine: Engine, found: FoundRelease, policy: Policy) -> Examined:
    described = {folded(each.name): each.traits for each in engine.describe(found.source.relation)}
    kept = policy.model_copy(
        update={
            role: tuple(name for name in getattr(policy, role) if folded(name) in described)
            for role in ("sensitive", "insensitive")
        }
    )
    traits = {name: described[folded(name)] for name in (*kept.sensitive, *kept.insensitive)}
    groups = groups_as_written(kept, kept.quasi_identifiers, found.source.relation)
    return examine_kept(engine, released_values(engine, kept, traits, groups))


def _beside(
    engine: Engine, found: FoundRelease, record: Record, policy: Policy, source: ResolvedSource
) -> tuple[Examined, tuple[str, ...]]:
    bound = prepare(engine, source, policy, has_earlier=True)
    node: PublishedNode | None = None
    problems: tuple[str, ...] = ()
    # Relocation and h-ceiling publish other rows than the source has at the node.
    if isinstance(record.labels, NodeRecord) and isinstance(policy.method, FullDomain) and record.report is not None:
        table = encode_table(engine, bound, label_losses=policy.quality.label_losses, may_stay=True)
        refuse_empty(engine, table)
        levels = tuple(record.labels.levels[name] for name in policy.taxonomy_columns)
        [summary] = node_summaries(engine, table, [levels], as_asked=True)
        # Beside earlier releases, persons may be left out although their classes meet the policy.
        suppresses = summary.suppressed_rows == record.report.as_json.get("suppressed_rows")
        problems = () if suppresses or policy.held_with else (OTHER_SOURCE,)
        node = PublishedNode(table, summary, suppresses=suppresses)
    names, rows = policy.quasi_identifiers, 0 if record.rows is None else record.rows.source or 0
    groups = groups_as_written(policy, names, found.source.relation)
    return examine(engine, GroupedRows(bound, rows, names, node=node, relation=groups)), problems


def _refuse_lost_columns(found: FoundRelease, policy: Policy) -> None:
    there = {folded(name) for name in found.columns}
    counted = () if policy.has_private_method else (*policy.quasi_identifiers, *policy.sensitive)
    if lost := [f'column "{name}" is not there' for name in counted if folded(name) not in there]:
        heading = f"{found.source.description} does not match its provenance:"
        raise PolicyError(heading, [*lost, "sqlanon verify lists other changes"])


def _search_of(facts: Mapping[str, Any]) -> str:
    if facts.get("proven_optimal"):
        return f"proven least by checking {facts['checked_nodes']:,} of {facts['lattice_nodes']:,} nodes"
    gap = facts.get("gap")
    return "not proven least" if gap is None else f"no method loses less than {percent(facts['loss'] - gap)}"


def _facts(
    record: Record, reported: Mapping[str, Any], policy: Policy, source: ResolvedSource | None
) -> dict[str, Any]:
    """List unmeasured facts: partitions of a fit, facts of the method, and how files of the source are read."""
    facts: dict[str, Any] = {}
    if (fit := record.fit) is not None:
        facts["partitions published with the fit"] = fit.partitions
        each = "by each partition on its own" if fit.every_partition else "by all partitions together"
        facts["privacy models are met"] = each
        facts["rows of all partitions"] = f"{count(fit.rows.released)} of {count(fit.rows.source)}"
    for name, field in method_of(policy).report_class.model_fields.items():
        if field.title is not None and reported.get(name) not in (None, []):
            facts[field.title] = reported[name]
    if source is not None and source.read_as:
        facts["source read as"] = ", ".join(source.read_as)
    return facts


def _policy_text(fields: Mapping[str, Any]) -> str:
    """Write a policy as JSON: a line per field that is not empty, and one per taxonomy."""
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
