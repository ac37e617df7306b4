"""Find a node, or classes, for future partitions; nothing is published.

Observed taxonomies, and texts in the session's time zone, would not match later partitions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.prepare import refuse_method
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError, TargetError, TaxonomyError
from sqlanon.methods.base import AnyRun, Request
from sqlanon.methods.full_domain.full_domain_run import FullDomainRun
from sqlanon.methods.local.class_labels import PerClass
from sqlanon.methods.local.local_run import LocalFitRun, LocalPublication
from sqlanon.methods.stages import Progress, Stages, Stopped, never, proven_gap, silent
from sqlanon.methods.syntactic import NodePublication, found_by
from sqlanon.model.fitted import Fit, refuse_unfit
from sqlanon.model.names import possible
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.rules import Dates, Intervals
from sqlanon.partitions.increment import SQL
from sqlanon.partitions.sidecar import FORMAT, HASHES, attached, keep_hashes, opened, refuse_other_parts, table_of
from sqlanon.publish.files import staged_file
from sqlanon.queries import taxonomies
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import cast_value, exact_text, text
from sqlanon.queries.kit.nodes import aliased, column, count_rows, grouped, select, string
from sqlanon.queries.published_rows import released_value
from sqlanon.release.examined import examine
from sqlanon.satellites import installed_version

# By name of a method whose labels suit future rows, the run that finds them.
FITTED: Mapping[str, type[AnyRun]] = {"full-domain": FullDomainRun, "local-recoding": LocalFitRun}

REPLACED = "anon_replaced_fit"  # the name under which a replaced file is attached


# More than six parameters: those of a run, with a sidecar for a target.
def fit(
    engine: Engine,
    source: ResolvedSource,
    policy: Policy,
    sidecar: Path,
    *,
    node: Mapping[str, int] | None = None,
    every_partition: bool = False,
    accept_observed_domain: bool = False,
    replace: bool = False,
    progress: Progress = silent,
    stopped: Stopped = never,
) -> Fit:
    """Find the node that :func:`anonymize` would publish, or check a given one, and store it.

    With local recoding, the fit has a list of classes in place of the node.
    """
    refuse_unfit(policy)
    refuse_method(policy, "fit")
    if policy.method.name not in FITTED:
        raise PolicyError(f"partitions need full domains or local recoding, not the {policy.method}").with_guide(
            "partition-after-partition"
        )
    stages = Stages(progress)
    columns = [found.name for found in engine.describe(source.relation)]
    present = policy.without_missing_identifiers(columns)
    with own_taxonomies(engine, source, present):
        run = FITTED[present.method.name](engine, source, present, Request(node=node, stopped=stopped))
        with stages.watching(engine), created(engine, sidecar, replace=replace), engine.transaction(), engine.scratch():
            run = run.with_present_taxonomies()
            refuse_zoned_columns(run.bound)
            if not accept_observed_domain:
                refuse_observed_domains(run.bound)
            with stages.stage("encode"):
                table = run.encode()
                run.refuse_rows(table)
            made = run.make(table, run.search(table, stages))
            fitted = _fit(engine, made, policy.identifiers, every_partition=every_partition, seconds=stages.seconds)
            _store(engine, made, fitted)
    return fitted


def kept_types(bound: BoundPolicy) -> dict[str, str]:
    """Return the types of the columns that are published unchanged, or compared; ENUM becomes text."""
    policy = bound.policy
    types = {found.name: found.traits.released_as if found.traits.is_enum else found.type for found in bound.columns}
    kept = dict.fromkeys((*policy.protected_columns, *policy.sensitive, *policy.insensitive))
    return {name: types[name] for name in kept}


def refuse_other_types(fit: Fit, bound: BoundPolicy) -> None:
    found = kept_types(bound)
    changed = [
        f'"{name}" is {found[name]}, where the fit has {known}; cast it in a view or a query'
        for name, known in fit.types.items()
        if found[name] != known
    ]
    if changed:
        raise PolicyError(f"{bound.description} does not fit what was published:", changed)


def _fit(
    engine: Compute,
    made: NodePublication | LocalPublication,
    identifiers: tuple[str, ...],
    *,
    every_partition: bool,
    seconds: Mapping[str, float],
) -> Fit:
    assert made.groups is not None
    examined = examine(engine, made.groups)
    table, bound, context = made.table, made.table.bound, made.table.context
    policy, lattice = bound.policy.model_copy(update={"identifiers": identifiers}), context.lattice
    facts: dict[str, Any]
    if isinstance(made, LocalPublication):
        classes = made.classes
        facts = {
            "node": {},
            "suppressed_rows": classes.left_out,
            "loss": classes.loss,
            "search": policy.method.name,
            "checked_nodes": classes.checked_nodes,
            "proven_optimal": False,
            "gap": proven_gap(classes.loss, classes.lower_bound),
            "class_count": classes.class_count,
        }
    else:
        outcome, node = made.choice.outcome, made.choice.node
        facts = {
            "node": lattice.named(node.levels),
            "suppressed_rows": node.suppressed_rows,
            "loss": policy.quality.loss_of(node, context),
            "search": found_by(policy, outcome),
            "checked_nodes": outcome.checked_nodes,
            "proven_optimal": outcome.proven_optimal,
            "gap": proven_gap(outcome.loss, outcome.lower_bound),
        }
    return Fit(
        source=bound.description,
        rows=context.row_count + table.unknown.suppressed,
        unknown_rows=dict(table.unknown.by_column),
        policy=policy,
        policy_sha256=policy.sha256(),
        every_partition=every_partition,
        heights=lattice.named(lattice.heights),
        domains={name: shape.domain for name, shape in zip(policy.quasi_identifiers, bound.shapes, strict=True)},
        taxonomy_sha256=bound.taxonomy_hashes,
        types=kept_types(bound),
        quality=policy.quality.measure,
        lattice_nodes=lattice.size,
        version=installed_version(),
        seconds=dict(seconds),
        notes=(*made.notes, *examined.notes, *bound.label_notes, *bound.value_notes),
        findings=examined.findings,
        **facts,
    )


def _store(engine: Engine, made: NodePublication | LocalPublication, fitted: Fit) -> None:
    """Write the sidecar: the fit, empty tables for counts, and the values that classes are compared with."""
    encoding = made.table.encoding
    columns = {known.name: known for known in encoding.spec.columns}
    labels = [aliased(text(column(name)), name) for name in fitted.policy.quasi_identifiers]
    values = [aliased(released_value(columns[name], column(name)), name) for name in fitted.policy.protected_columns]
    shape = select([*labels, *values], encoding.spec.source.copy())
    compared = [aliased(cast_value(column(name), fitted.types[name]), name) for name in encoding.spec.compared]
    # Group by texts, too, which the macros compare: equal values can differ in them.
    keys = [key for item in compared for key in (item.this.copy(), exact_text(item.this.copy()))]
    reference = grouped(select([*compared, aliased(count_rows(), ROW_COUNT)], encoding.spec.source.copy()), keys)
    document, used = string(fitted.model_dump_json(exclude={"findings"})), [*map(string, fitted.taxonomy_sha256)]
    domains = taxonomies.domains_of(engine.taxonomy)
    queries = {
        "fit": SQL.query("document", format=FORMAT, document=document),
        "releases": SQL.query("no_entries"),
        "counts": SQL.query("no_counts", shape=shape.limit(0)),
        "reference": reference,
        **({"classes": PerClass(encoding).class_list} if isinstance(made, LocalPublication) else {}),
        "taxonomy": taxonomies.SQL.query("rows_of", taxonomy=engine.taxonomy, attributes=used),
        "taxonomy_domain": taxonomies.SQL.query("rows_of", taxonomy=domains, attributes=used),
    }
    for name, query in {**queries, HASHES: SQL.query("no_hashes")}.items():
        engine.execute(exp.Create(this=table_of(name), kind="TABLE", expression=query), "the sidecar")
    keep_hashes(engine, queries)


def refuse_observed_domains(bound: BoundPolicy) -> None:
    traits = {found.name: found.traits for found in bound.columns}

    def settings(name: str) -> str:
        rule = bound.policy.taxonomies.get(name)
        if isinstance(rule, Dates) or (rule is None and traits[name].is_date):
            return "`first` and `last`"
        if isinstance(rule, Intervals) or (rule is None and traits[name].is_number):
            return "`minimum` and `maximum`"
        return "its `values`, or name a file of values and labels"

    observed = [name for name, domain in bound.domains.items() if domain == "observed"]
    if observed:
        raise TaxonomyError(
            "the values of these taxonomies were observed: read off the data, or changed in SQL since they were "
            "loaded. A later partition with any other value could not be published. Declare the values, or accept "
            "that with --accept-observed-domain (accept_observed_domain=True):",
            [f'"{name}": declare {settings(name)}' for name in observed],
        ).with_guide("partition-after-partition")


def refuse_zoned_columns(bound: BoundPolicy) -> None:
    """Refuse columns whose texts depend on the session's time zone: an apply in another one would find other values."""
    zoned = [found for found in bound.columns if found.name in bound.all_shapes and found.traits.depends_on_time_zone]
    if zoned:
        raise PolicyError(
            "the texts of these columns depend on the time zone of the session, so that a partition that is read in "
            "another would have other values than the fit; cast them in a view, for example by "
            "CAST(timezone('UTC', seen_at) AS DATE):",
            [f'"{found.name}" ({found.type})' for found in zoned],
        )


@contextmanager
def created(engine: Engine, path: Path, *, replace: bool = False) -> Iterator[None]:
    """Attach a new, empty sidecar that appears under its name when the block succeeds.

    With ``replace`` it may replace a sidecar without published partitions.
    """
    possible(path, "sidecar")
    is_there = os.path.lexists(path) and not path.is_dir()
    if is_there and not replace:
        raise TargetError(
            f"the file {path} exists; give another name, or replace=True for a fit that nothing was published with",
            step="sidecar",
        )
    with ExitStack() as stack:
        if is_there:
            with opened(engine, path) as replaced:  # settles the entries of dead runs
                _refuse_published(path, len(replaced.entries))
            stack.enter_context(attached(engine, path, REPLACED))
            refuse_other_parts(engine, path, REPLACED)
            count = SQL.query("entry_count", entries=table_of("releases", REPLACED))
            _refuse_published(path, int(engine.fetch(count, "the entries of the sidecar")[0]["entries"]))
        staged = stack.enter_context(staged_file(path, replace=is_there))
        stack.enter_context(attached(engine, staged, new=True))
        staged.chmod(0o600)
        yield


def _refuse_published(path: Path, entries: int) -> None:
    if entries:
        raise EngineError(
            f"{path} holds the counts of {entries:,} published partitions, and later ones are proved with them: give "
            "the new fit another name",
            step="sidecar",
        )
