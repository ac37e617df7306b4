"""A run of any method: encode, charge, search, make, write, verify and publish, in one transaction.

Methods differ in the hooks of :class:`sqlanon.methods.base.Run`. The order of the hooks, the clean-up after failures,
and the moment when the target changes are defined here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as replace_fields

from sqlanon.binding.carried_taxonomies import keep_taxonomies, with_own_taxonomies
from sqlanon.binding.coding import notes_on_reading, notes_on_years
from sqlanon.binding.prepare import read_by, refuse_columns
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError, VerificationError
from sqlanon.methods.base import AnyRun, Publication, Request, method_of
from sqlanon.methods.local.least_loss import estimated_loss
from sqlanon.methods.perturbation.perturbed_rows import with_perturbed_rows
from sqlanon.methods.stages import Progress, Stages, silent
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.methods.full_domain import FullDomain, LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, TableRecord
from sqlanon.model.release import Guarantee, Release, Report
from sqlanon.model.release.findings import LITTLE, MUCH_MORE, LocalEstimate, Trial
from sqlanon.model.release.measurement import with_notes
from sqlanon.publish.provenance import companion_record, promise_of
from sqlanon.publish.targets import Target, table_of, tables_beside, target_for
from sqlanon.release.examined import examine, with_findings
from sqlanon.release.guarantee import with_coding, with_earlier_versions
from sqlanon.release.publishing import GroupedRows
from sqlanon.releases.noting import Noting, note_unchanged, noting
from sqlanon.releases.release_table import target_name
from sqlanon.run.earlier import earlier_releases, read_with
from sqlanon.run.others import Others, examined_beside, latest_others, other_releases
from sqlanon.run.recorded import made_from, published_earlier
from sqlanon.run.second_draws import refuse_second_draws


# More than six parameters: the request has policy, run, target and progress.
@with_own_taxonomies
def anonymize(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    into: Destination,
    request: Request,
    *,
    replace: Replace,
    progress: Progress,
) -> Release:
    """Publish what the policy's method makes of a source, unless the target holds it already.

    Errors are those of :meth:`sqlanon.Session.anonymize`; after any of them, the target is as it was before.
    """
    stages = Stages(progress)
    with stages.watching(engine), earlier_releases(engine, source, policy.held_with, policy) as earlier:
        run = method_of(policy)(engine, source, policy, replace_fields(request, earlier=earlier))
        bound = run.bound
        into = into.spelled_like(bound.policy.columns)
        refuse_columns(bound.policy, bound.columns, into.partition_by)
        read = {**read_by(engine, source, policy), **read_with(earlier)}
        years = () if run.is_private else notes_on_years(engine, source, policy)
        inputs: Inputs | None = None
        # The key of an earlier release's pseudonyms is not known, and draws cannot be repeated.
        if run.is_repeatable and not run.companions and policy.is_fixed:
            inputs = made_from(bound, read, into, run.node)
            published = published_earlier(engine, source.description, into, inputs, replace=replace)
            if published is not None:
                refuse_useless(published.report, request.max_loss)
                notes = note_unchanged(engine, source, into) if request.is_listed else ()
                return published.model_copy(update={"report": with_notes(published.report, notes)})
        with (
            run.reporting_spend(),
            noting(engine, [source], into, is_listed=request.is_listed) as noted,
            target_for(engine, into, read, replace=replace) as target,
        ):
            companions = tables_beside(
                engine, target, request.tables, published=run.companions, read=read, replace=replace
            )
            own = target_name(engine, into, table_of(target))
            if run.is_private:
                noted.announce(own, bound.policy)
            refuse_second_draws(engine, bound.policy, noted.datasets, into)
            others = latest_others(engine, bound.policy, noted.datasets, [own], into, inputs)
            with other_releases(engine, source, bound, *others) as listed:
                release = carry_out(engine, run, target, companions, inputs, stages, listed, noted)
    stages.finish()
    report = noted.reported(release.report)
    if not run.is_private:
        report = with_notes(report, (*notes_on_reading(source), *years))
    if into.kind == "table" and request.keeps_taxonomies and engine.far is None:
        report = with_notes(report, keep_taxonomies(engine, bound, [*read.values()]))
    return release.model_copy(update={"report": report})


# More than six parameters: the run, its targets, and its inputs.
def carry_out(
    engine: Compute,
    run: AnyRun,
    target: Target,
    companions: Mapping[str, Target],
    inputs: Inputs | None,
    stages: Stages,
    listed: Others,
    noted: Noting | None = None,
) -> Release:
    """Run all stages; the last one, publication, ends when the targets are closed."""
    with engine.transaction(), engine.scratch():
        run = run.with_present_taxonomies()
        bound = run.bound
        if inputs is not None:
            inputs = inputs.model_copy(update={"taxonomy_sha256": bound.taxonomy_hashes})
        with stages.stage("encode"):
            run, perturbed = with_perturbed_rows(run)
            bound, encoded = run.bound, run.encode()
            run.refuse_rows(encoded)
        run.refuse_columns_of(target)
        table = run.charge(encoded)
        choice = run.search(table, stages)
        with stages.stage("release"):
            made: Publication = run.make(table, choice)
            written = target.write(run.released_rows(made, target.takes_enums), streamed=True)
            groups = None if made.groups is None else made.groups.as_written(engine, written.relation)
            examined = None if groups is None else examine(engine, groups)
            local = None if groups is None else local_loss(engine, groups)
            others = {name: companions[name].write(query) for name, query in run.companion_rows(made).items()}
        with stages.stage("verify"):
            measured = run.verify(made, written, others)
            if measured.shortfalls:
                raise VerificationError(run.withdrawn, measured.shortfalls)
            if groups is not None and examined is not None:
                examined = examined_beside(engine, examined, listed, groups.node, written)
        notes = (*(() if examined is None else examined.notes), *bound.label_notes, *target.notes)
        report = with_notes(run.report(made, measured, target.name, stages.seconds), notes)
        if perturbed:
            report = report.model_copy(update={"perturbed": perturbed})
        refuse_useless(report, run.request.max_loss)
        # The record is made before findings are added: they must not travel with a release.
        record = run.record(made, measured, report, inputs).model_copy(
            update={"earlier": tuple(each.record for each in run.request.earlier)}
        )
        promise = promise_of(bound.policy, _promised(run.recorded_guarantee(made, report), bound.policy, target))
        record = record.model_copy(update={"promise": promise})
        if companions:
            tables = {}
            for name, other in companions.items():
                content = other.add_record(companion_record(bound.policy, name, target.name))
                tables[name] = TableRecord(table=other.name, content=content)
            record = record.model_copy(update={"tables": tables})
        content = target.add_record(record)
        if noted is not None:
            noted.note(target, record, content)
        report = with_notes(report, bound.value_notes)
        stages.begin("publish")
    return Release(
        into=target.name,
        tables={name: other.name for name, other in companions.items()},
        node=report.node,
        guarantee=_promised(run.guarantee(made, report), bound.policy, target),
        report=report if examined is None else with_local_loss(with_findings(report, examined), local),
    )


def refuse_useless(report: Report, max_loss: float | None) -> None:
    """Refuse a release that loses more than ``max_loss``, or an unknown amount."""
    if max_loss is None or (report.loss is not None and report.loss <= max_loss):
        return
    loses = "no known number" if report.loss is None else f"{report.loss:.4g}"
    raise UnsatisfiableError(
        f"the release would lose {loses} ({report.quality}), where max_loss is {max_loss:g}; nothing is published:",
        [
            "what can help: another method, fewer quasi-identifiers, more levels in between, a smaller k, or a larger "
            "suppression_limit"
        ],
    )


def _promised(guarantee: Guarantee, policy: Policy, target: Target) -> Guarantee:
    return with_earlier_versions(with_coding(guarantee, policy), target.name)


@with_own_taxonomies
def tried(engine: Engine, source: ResolvedSource, policy: Policy, source_rows: int) -> Trial:
    """Try a full-domain policy on some rows of a source of ``source_rows``, and return only figures."""
    run = method_of(policy)(engine, source, policy, Request())
    with engine.transaction(), engine.scratch():
        run = run.with_present_taxonomies()
        table = run.encode()
        run.refuse_rows(table)
        groups = run.make(table, run.search(table, Stages(silent))).groups
        summary, context = groups.node.summary, groups.node.table.context
        heights = zip(context.lattice.quasi_identifiers, summary.levels, context.lattice.heights, strict=True)
        return Trial(
            source_rows=source_rows,
            rows=groups.source_rows,
            columns=len(policy.quasi_identifiers),
            loss=policy.quality.loss_of(summary, context),
            suppressed_rows=summary.suppressed_rows,
            at_top=tuple(name for name, level, height in heights if level == height > 0),
            local_loss=local_loss(engine, groups),
        )


def local_loss(engine: Compute, groups: GroupedRows) -> float | None:
    """Estimate the loss of local recoding on the table of a full-domain run, by its quality model in [0, 1].

    None if the run does not minimize such a loss, local recoding does not take its policy, or the table is too large to
    estimate within the time of a run.
    """
    node, policy = groups.node, groups.bound.policy
    if node is None or not isinstance(policy.method, FullDomain) or policy.objective != "utility":
        return None
    if policy.columns_with("top") or policy.held_with or [*LocalRecoding().misfits(policy)]:
        return None
    return estimated_loss(engine, node.table)


def with_local_loss(report: Report, loss: float | None) -> Report:
    """Add the loss of local recoding to a report's findings if it is much smaller."""
    if loss is None or report.findings is None or report.loss is None or report.loss < MUCH_MORE * max(loss, LITTLE):
        return report
    estimate = LocalEstimate(loss=loss, published_loss=report.loss)
    return report.model_copy(update={"findings": report.findings.model_copy(update={"local_recoding": estimate})})
