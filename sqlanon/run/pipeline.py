"""One run, whatever its method: prepare, encode, charge, choose, draw, write, verify, publish; in one transaction.

What differs from method to method is behind the verbs of :mod:`sqlanon.methods.base`; in which order they are asked
for, what is taken back when one fails, and when the target changes, is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.binding.folders import refuse_columns
from sqlanon.binding.prepare import read_by
from sqlanon.engines.base import Compute, Engine, ResolvedSource
from sqlanon.methods.base import Prepared, Request
from sqlanon.methods.progress import Progress, silent
from sqlanon.methods.registry import method_of
from sqlanon.methods.shared.findings import examine, with_findings
from sqlanon.methods.stages import Stages
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Release
from sqlanon.model.release.result import with_notes
from sqlanon.publish.content import CONTENT
from sqlanon.publish.provenance import companion_note, with_tables
from sqlanon.publish.targets import Target, tables_beside, target_for
from sqlanon.run.unchanged import made_from, published_earlier

NOTHING_ASKED = Request()


# More than six parameters: what is asked for in a policy, for one run, of the target, and by who is told.
@with_own_taxonomies
def anonymize(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    into: Destination,
    request: Request = NOTHING_ASKED,
    *,
    replace: Replace,
    progress: Progress = silent,
) -> Release:
    """Publish what the method of a policy makes of a source, unless the target holds it already.

    Args:
        engine: the database.
        source: what to anonymize.
        policy: what to guarantee, and by which method.
        into: the target.
        request: what else is asked of the run.
        replace: whether an existing table, file or folder of that name may be replaced.
        progress: told of every stage; what it raises ends the run, except after the last stage has finished.

    Raises:
        PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source.
        BudgetError: the data set has less left than the method spends; nothing was spent.
        UnsatisfiableError: nothing meets the policy.
        VerificationError: what was written falls short; it was withdrawn, and what was spent is spent.
        EngineError: the database or the file system refused a step. The target is as it was before in every case.
    """
    method, stages = method_of(policy), Stages(progress)
    with stages.watching(engine):
        prepared = method.prepare(engine, source, policy, request)
        bound = prepared.bound
        into = into.spelled_like(bound.policy.columns)
        refuse_columns(bound.policy, bound.columns, into.partition_by)
        read = read_by(engine, source, policy)
        inputs: Mapping[str, Any] = {}
        # Nothing says with which key the pseudonyms of an earlier release were made.
        if method.is_repeatable and not prepared.beside and not policy.pseudonyms:
            inputs = made_from(bound, read, into, prepared.node)
            earlier = published_earlier(engine, source, into, inputs, replace=replace)
            if earlier is not None:
                return earlier
        with prepared.answering(), target_for(engine, into, read, replace=replace) as target:
            beside = tables_beside(
                engine, target, request.tables, published=prepared.beside, read=read, replace=replace
            )
            release = run(engine, prepared, target, beside, inputs, stages)
    stages.finish()
    return release


def run(
    engine: Compute,
    prepared: Prepared,
    target: Target,
    beside: Mapping[str, Target],
    inputs: Mapping[str, Any],
    stages: Stages,
) -> Release:
    """The stages up to the last one, which has begun and ends where the targets are left.

    Raises:
        SqlanonError: as :func:`anonymize`.
    """
    with engine.transaction(), engine.scratch():
        prepared = prepared.with_present_taxonomies()
        bound = prepared.bound
        inputs = {**inputs, "taxonomy_sha256": bound.taxonomy_hashes}
        with stages.stage("encode"):
            encoded = prepared.encode()
        chosen = encoded.charge().choose(stages)
        with stages.stage("release"):
            drawn = chosen.draw()
            examined = None if drawn.publication is None else examine(engine, drawn.publication)
            written = target.write(drawn.released_rows(target.takes_enums), streamed=True)
            others = {name: beside[name].write(query) for name, query in drawn.rows_beside().items()}
        with stages.stage("verify"):
            verified = drawn.verify(written, others)
        notes = (*(() if examined is None else examined.notes), *bound.label_notes, *target.notes)
        report = with_notes(verified.report(target.name, stages.seconds), notes)
        # Findings come after that: no method can have them travel with a release.
        written_beside = {
            name: {"table": other.name, CONTENT: other.add_note(companion_note(bound.policy, name, target.name))}
            for name, other in beside.items()
        }
        target.add_note(with_tables(drawn.note(report, inputs), written_beside))
        stages.begin("publish")
    return Release(
        into=target.name,
        tables={name: other.name for name, other in beside.items()},
        node=report.node,
        guarantee=verified.guarantee(report),
        report=report if examined is None else with_findings(report, examined),
    )
