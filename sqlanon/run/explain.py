"""The SQL of a run, for reading: a dry run over a source without rows.

The statements shown are those a run sends. Tables that the source or the population would fill stay empty, so that a
large table takes no longer. The node is the public one, or else the bottom of the lattice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.linked import BoundLinked, bound_table, linked_taxonomies, read_tables, spelled_like_sources
from sqlanon.chance.random_source import SeededSource
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import AnyRun, Publication, Request, method_of
from sqlanon.methods.linked.choices import counter_of
from sqlanon.methods.linked.encoded import encode_linked
from sqlanon.methods.linked.written_rows import draw_keys, written_rows
from sqlanon.methods.perturbation.perturbed_rows import with_perturbed_rows
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import ContentRecord, Record
from sqlanon.publish.targets import Target
from sqlanon.queries.kit.nodes import Grain, PreparedQuery, Relation, Step, select
from sqlanon.queries.kit.steps import printed
from sqlanon.report.document import Code, Document
from sqlanon.report.html import in_notebook
from sqlanon.run.earlier import earlier_releases
from sqlanon.verification.linked import measure_linked

if TYPE_CHECKING:
    import pyarrow as pa

STANDS_FOR = "stands_for"  # metadata key of an empty relation for the relation it replaces


@dataclass(frozen=True)
class ExplainedStep:
    """A step: its purpose, the temporary table that it makes (if any), and its SQL."""

    purpose: str
    makes: str | None
    sql: str


class ExplainedSteps(list[ExplainedStep]):
    """The steps of a run in order; a notebook shows each purpose, and its SQL on demand."""

    def _repr_html_(self) -> str:
        parts = tuple(Code(step.sql, f"{number}. {step.purpose}") for number, step in enumerate(self, start=1))
        return in_notebook(Document("", parts))


def explain(engine: Engine, source: ResolvedSource, policy: Policy) -> ExplainedSteps:
    dry_run = DryRun(engine)
    # The policy's own taxonomies are made from the values of the source, with its rows.
    with (
        own_taxonomies(engine, source, policy, lists_ranges=False),
        earlier_releases(engine, source, policy.held_with, policy, without_rows) as earlier,
    ):
        method = method_of(policy)
        # A seeded source charges no ledger.
        seeded = SeededSource(0) if method.is_private or policy.perturbation else None
        request = Request(earlier=earlier, random_source=seeded)
        run = method(cast(Engine, dry_run), without_rows(source), policy, request)
        dry_run.steps.clear()
        with engine.transaction(), engine.scratch():
            _carry_out(dry_run, run.with_present_taxonomies())
    return ExplainedSteps(dry_run.steps)


def explain_linked(engine: Engine, sources: Mapping[str, ResolvedSource], policy: LinkedPolicy) -> ExplainedSteps:
    """Return the steps of a run over linked tables; of a search for a node, those that bound and count one."""
    policy.check_run()
    policy, named = spelled_like_sources(engine, sources, policy)
    empty = {name: without_rows(source) for name, source in named.items()}
    dry_run = _LinkedDryRun(engine)
    run = cast(Engine, dry_run)
    with linked_taxonomies(engine, named, policy), engine.transaction(), engine.scratch():
        read = read_tables(run, empty, policy)
        tables = {name: bound_table(run, empty[name], policy, *each) for name, each in read.items()}
        encoded = encode_linked(run, BoundLinked(policy, tables))
        bottom = encoded.bound.lattice.bottom
        with engine.scratch():
            counter = counter_of(run, encoded)
            counter.bounds([bottom])
            counter.counts([bottom], with_losses=True)
        shown = counter_of(run, encoded).show(bottom)
        draw_keys(run, encoded, shown)
        targets = {name: _DryRunTarget(dry_run, name) for name in shown}
        written = {name: target.write(written_rows(encoded, name, shown[name])) for name, target in targets.items()}
        measure_linked(run, written, policy, sources={name: without_rows(each) for name, each in sources.items()})
    return ExplainedSteps(dry_run.steps)


def _carry_out(dry_run: DryRun, run: AnyRun) -> None:
    """Call the hooks in the order of :func:`sqlanon.run.pipeline.carry_out`, but refuse neither rows nor shortfalls."""
    target = _DryRunTarget(dry_run)
    run, _ = with_perturbed_rows(run)
    encoded = run.encode()
    run.refuse_columns_of(target)
    table = run.charge(encoded)
    made: Publication = run.make(table, run.choice_without_rows(table))
    written = target.write(run.released_rows(made, target.takes_enums), streamed=True)
    queries = run.companion_rows(made)
    companions = {name: _DryRunTarget(dry_run, name).write(query) for name, query in queries.items()}
    measured = run.verify(made, written, companions)
    run.record(made, measured, run.report(made, measured, target.name, {}), None)


def without_rows(source: ResolvedSource) -> ResolvedSource:
    return replace(source, relation=_empty(source.relation))


def _empty(relation: exp.Expr) -> exp.Subquery:
    empty = exp.Subquery(this=select([exp.Star()], relation.copy()).where(exp.false()))
    empty.set("alias", relation.args.get("alias"))
    empty.meta[STANDS_FOR] = relation
    return empty


class DryRun:
    """An engine that records statements and lets no row in; it otherwise behaves like the wrapped one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.steps: list[ExplainedStep] = []

    def resolve(self, source: str, *, restricted: bool = False) -> ResolvedSource:
        return without_rows(self._engine.resolve(source, restricted=restricted))

    def run(self, step: Step, parameters: Sequence[object] = ()) -> None:
        self._note(step.purpose, step.query, step.makes.name)
        self._engine.run(step, parameters)

    def pieces(self, relation: exp.Expr, columns: int) -> list[exp.Expr]:
        """Return the first two pieces: all others are read like the second."""
        pieces = self._engine.pieces(_with_rows(relation), columns)
        return [relation] if len(pieces) == 1 else [_empty(piece) for piece in pieces[:2]]

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        if not isinstance(query, PreparedQuery):  # noted when it was prepared
            self._note(purpose, query)
        return self._engine.fetch(query, purpose, grain)

    def prepare(self, name: str, statement: exp.Query | exp.Insert, purpose: str) -> None:
        self._note(f"{purpose}: planned once, executed for each batch", statement)
        self._engine.prepare(name, statement, purpose)

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        self._note(purpose, statement)
        self._engine.execute(statement, purpose, parameters)

    def put(self, relation: Relation, table: pa.Table) -> None:
        comment = f"-- A table of numbers that Python has drawn: {', '.join(table.schema.names)}"
        self.steps.append(ExplainedStep("numbers that are drawn", relation.name, comment))
        self._engine.put(relation, table)

    def _note(self, purpose: str, statement: exp.Expr, makes: str | None = None) -> None:
        self.steps.append(ExplainedStep(purpose, makes, printed(_with_rows(statement), pretty=True)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class _LinkedDryRun(DryRun):
    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        found = super().fetch(query, purpose, grain)
        # A table without rows is refused: one row of a person stands for them.
        return [found[0] | {"rows": 1}] if purpose == "links of rows" else found


def _with_rows(statement: exp.Expr) -> exp.Expr:
    found = statement.copy()
    for node in list(found.find_all(exp.Subquery)):
        if (relation := node.meta.get(STANDS_FOR)) is not None:
            whole: exp.Expr = relation.copy()
            if node is found:
                return whole
            node.replace(whole)
    return found


class _DryRunTarget(Target):
    """A temporary table in place of the release or a companion table."""

    def __init__(self, dry_run: DryRun, what: str = "release") -> None:
        self._dry_run = dry_run
        self._what = f"the {what}"
        self._relation = Relation(f"the_{what}", "row")
        super().__init__(self._relation.name)

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        self._dry_run.run(Step(self._relation, query, self._what))
        return ResolvedSource(self._relation.table, self._what)

    def add_record(self, record: Record) -> ContentRecord:
        return ContentRecord()
