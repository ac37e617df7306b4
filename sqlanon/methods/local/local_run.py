"""Local recoding: cells are peeled off from fine to coarse, and each class is published at its own levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import Field

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.joint.beside import cells_beside, joint_shortfalls
from sqlanon.methods.base import ChoiceT, Comparison, Measured
from sqlanon.methods.local.class_labels import (
    PerClass,
    make_aggregates,
    make_classes,
    recorded_classes,
    without_numbers,
)
from sqlanon.methods.local.least_loss import lower_bound
from sqlanon.methods.local.local_classes import KeyedClasses, LocalClasses, covering_classes_of, found_classes
from sqlanon.methods.local.local_table import LocalTable, judges_no_classes
from sqlanon.methods.local.peeling import Watch
from sqlanon.methods.stages import Stages, proven_gap
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, joint_facts, report_of_classes, row_counts
from sqlanon.model.labels import ClassesRecord
from sqlanon.model.methods.full_domain import LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Report
from sqlanon.model.release.measurement import models_table
from sqlanon.nodes.table import EncodedTable, encode_table, refuse_too_many, unknown_notes
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.joint_persons import persons_of_rows
from sqlanon.queries.released_classes import labels_by_place, released_labels
from sqlanon.release import publishing
from sqlanon.release.guarantee import CHOSEN_NODE
from sqlanon.report.document import Part, Table, paragraph, percent
from sqlanon.verification.measure import Beside
from sqlanon.verification.verify import unlisted_classes

MAX_NODES = 10**6  # to look at; sorting and counting them takes at least ten microseconds each
BOUNDED_WORK = 1e8
"""The most cells times nodes for which the least loss is bounded by default: a second's work.

ARX's Adult (2.5e8) takes 3 CPU seconds, beside 5 for the rest of the run (tests.benchmarks.runs).
"""


class LocalReport(Report):
    """The numbers of a run of local recoding.

    Attributes:
        level_shares: by quasi-identifier and level, the share of released rows with a label of that level; the last
            level is the top, where all rows have one label.
        used_nodes: how many nodes of the lattice have classes in the release.
        minimality_rows: rows that were in a class of enough rows that violated a privacy model on values; whoever
            knows the method can conclude that its values were too few or too alike. None if there are none.
        minimality_cell_rows: how many of these were in such a class at the bottom of the lattice, where rows are equal.
    """

    level_shares: dict[str, tuple[float, ...]]
    used_nodes: int = Field(title="nodes of the lattice with classes")
    minimality_rows: int | None = Field(None, title="rows once in large classes that violated a model")
    minimality_cell_rows: int | None = Field(None, title="of these, rows of equal quasi-identifiers")

    @property
    def search_in_words(self) -> str:
        seconds = f"{sum(self.seconds.values()):.2f} s"
        found = f"{self.class_count:,} classes at {self.used_nodes:,} of {self.lattice_nodes:,} nodes in {seconds}"
        return f"Not proven optimal: {self.quality} loss {self.loss:.4g}, {found}{self._gap_in_words}."

    def summary(self) -> Iterator[Part]:
        """Show how the classes were found, the levels of columns, the privacy models, and the minimality leaks."""
        yield paragraph(self.search_in_words)
        highest = max(map(len, self.level_shares.values()))
        rows = []
        for name, shares in self.level_shares.items():
            below = [percent(share) for share in shares[:-1]]
            rows.append((name, *below, *[""] * (highest - len(shares)), percent(shares[-1])))
        levels = [f"level {level}" for level in range(highest - 1)]
        yield Table(("quasi-identifier", *levels, "top"), rows, numbers=tuple(range(1, highest + 1)))
        yield models_table(self.models)
        yield from self.of_method()


@dataclass(frozen=True, kw_only=True)
class ClassesPublication(SyntacticPublication):
    table: EncodedTable
    recoding: PerClass
    class_list: ClassesRecord


MadeT = TypeVar("MadeT", bound=ClassesPublication)


class ClassesRun(SyntacticRun[EncodedTable, ChoiceT, MadeT], Generic[ChoiceT, MadeT]):
    """Base of methods that publish classes with labels of their own."""

    is_repeatable = True

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        if others := judges_no_classes(bound.policy.criteria.bounds):
            measures = ", ".join(other.measure.name for other in others)
            raise PolicyError(f"{bound.policy.method} judges classes only by their rows and values, not by {measures}")
        return bound

    def refuse_rows(self, table: EncodedTable) -> None:
        super().refuse_rows(table)
        refuse_too_many(self.engine, table)

    def reference(self, made: MadeT) -> Beside:
        return self.beside_unpublished(super().reference(made), made.recoding, masked=False)

    def compare(self, made: MadeT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Comparison:
        return Comparison([*unlisted_classes(self.engine, written.relation, made.class_list)])

    def report(self, made: MadeT, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        bound, lattice, facts = made.bound, made.table.context.lattice, self.facts(made, measured)
        return report_of_classes(
            self.report_class,
            bound,
            measured.measurement,
            into,
            seconds,
            heights=lattice.named(lattice.heights),
            losses={facts["quality"]: facts["loss"]},
            rows=made.rows,
            unknown_rows=dict(made.table.unknown.by_column),
            search=bound.policy.method.name,
            proven_optimal=False,
            notes=made.notes,
            after=measured.measurement.exposure,
            **facts,
        )

    def labels_record(self, made: MadeT, report: Report) -> ClassesRecord:
        return made.class_list

    def guarantee(self, made: MadeT, report: Report) -> Guarantee:
        """Add what classes promise, and what the order in which they were made gives away."""
        plain = super().guarantee(made, report)
        return Guarantee(
            claims=(*plain.claims, "every row stands for one row of the source, whose values are under its labels"),
            conditions=plain.conditions,
            not_covered=(
                *(each for each in plain.not_covered if each != CHOSEN_NODE),
                *self.not_covered(made, report),
            ),
        )

    def facts(self, made: MadeT, measured: Measured) -> dict[str, Any]:
        """Return what a report has of the method alone, and the loss."""
        raise NotImplementedError

    def not_covered(self, made: MadeT, report: Report) -> Iterable[str]:
        """Say what the method gives away."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LocalPublication(ClassesPublication):
    numbered: Encoding  # with the numbers of joint classes, which the table lacks
    classes: LocalClasses


class LocalRun(ClassesRun[LocalClasses, LocalPublication]):
    takes_far_rows = True
    instead_of_node = "each class has levels of its own"
    report_class = LocalReport
    find = staticmethod(found_classes)
    # A count of rows in classes that no release shows stays with the custodian.
    custodian_fields = CUSTODIAN_FIELDS | {"minimality_rows", "minimality_cell_rows"}

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        method = LocalRecoding.of(bound.policy)
        refuse_wide(bound.lattice, str(method), most=MAX_NODES)
        super().refuse(bound)
        types, problems = {found.name: found for found in bound.columns}, []
        there = {*map(folded, types)}
        for name, columns in method.aggregates.items():
            if not types[name].traits.is_number:
                problems.append(f'"{name}" has type {types[name].type}, which is not numeric')
            taken = (added for added in columns if folded(added) in there)
            problems += [f'the source has a column "{added}" already: rename it in a view' for added in taken]
        if problems:
            raise PolicyError(f"{method} cannot publish these aggregates:", problems)
        return bound

    def encode(self) -> EncodedTable:
        spec = cells_beside(self.engine, self.bound, self.request.earlier)
        return encode_table(self.engine, self.bound, spec, label_losses=())

    def search(self, table: EncodedTable, stages: Stages) -> LocalClasses:
        loss_alone = least_loss = None
        with stages.stage("search"):
            if self.request.earlier:
                with self.engine.scratch():
                    loss_alone = found_classes(self.engine, table.alone(), Watch(stopped=self.stopped)).loss
            watch = Watch(partial(stages.peeled, self.bound.lattice.size), self.stopped)
            classes = self.find(self.engine, table, watch)
            is_bounded = LocalRecoding.of(self.bound.policy).lower_bound
            if is_bounded is None:
                is_bounded = classes.is_final and table.cell_count * self.bound.lattice.size <= BOUNDED_WORK
            if is_bounded and not self.request.earlier:
                least_loss = lower_bound(LocalTable(self.engine, table))
        return replace(classes, lower_bound=least_loss, loss_alone=loss_alone)

    def make(self, table: EncodedTable, choice: LocalClasses) -> LocalPublication:
        engine, settings, left_out = self.engine, LocalRecoding.of(self.bound.policy), choice.left_out
        numbered, table = table.encoding, without_numbers(table)
        encoding = replace(table.encoding, beside=settings.aggregates)
        table, recoding = replace(table, encoding=encoding), PerClass(encoding, numbered.spec.earlier)
        masked = make_classes(engine, recoding, left_out, masks=self.bound.policy.suppression == "mask")
        make_aggregates(engine, recoding, settings)
        return LocalPublication(
            bound=self.bound,
            encoding=encoding,
            class_list=recorded_classes(engine, recoding, left_out if masked else 0),
            attained=publishing.attained_at(engine, recoding),
            groups=publishing.make_rows(engine, table, recoding, self.request.pseudonym_key, masked=False),
            rows=row_counts(table, left_out, masked=masked),
            notes=tuple(_notes(table, choice)),
            numbered=numbered,
            table=table,
            recoding=recoding,
            classes=choice,
        )

    def compare(
        self, made: LocalPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        listed = super().compare(made, written, companions)
        if not (earlier := self.request.earlier):
            return listed
        spec = made.recoding.encoding.spec
        counted = released_labels(written.relation, labels_by_place(spec.quasi_identifiers))
        present = KeyedClasses(counted, len(earlier), spec.quasi_identifiers, spec.source, made.recoding)
        persons = persons_of_rows(present, made.numbered)
        joint, of_joint = joint_shortfalls(self.engine, earlier, made.bound, made.numbered.spec, present, persons)
        return Comparison([*listed.differences, *of_joint], joint)

    def facts(self, made: LocalPublication, measured: Measured) -> dict[str, Any]:
        classes, names = made.classes, made.bound.policy.quasi_identifiers
        return {
            "labels": dict(zip(names, classes.label_counts, strict=True)),
            "quality": made.bound.policy.quality.measure,
            "loss": classes.loss,
            "suppressed_rows": classes.left_out,
            "lattice_nodes": made.table.context.lattice.size,
            "checked_nodes": classes.checked_nodes,
            "lower_bound": classes.lower_bound,
            "gap": proven_gap(classes.loss, classes.lower_bound),
            "level_shares": dict(zip(names, map(tuple, classes.level_shares), strict=True)),
            "used_nodes": classes.used_nodes,
            "minimality_rows": classes.minimality[0] or None,
            "minimality_cell_rows": classes.minimality[1] or None,
            **joint_facts(measured, classes.loss_alone),
        }

    def not_covered(self, made: LocalPublication, report: Report) -> Iterator[str]:
        assert isinstance(report, LocalReport)
        return _not_covered(LocalRecoding.of(made.bound.policy), report)


class LocalFitRun(LocalRun):
    """Make classes for partitions, which must also hold for future rows."""

    find = staticmethod(covering_classes_of)


def _notes(table: EncodedTable, classes: LocalClasses) -> Iterator[str]:
    policy = table.bound.policy
    if not classes.is_final:
        yield "the search was stopped: rows that were in no class by then have more general labels than they could have"
    yield from unknown_notes(policy, table.unknown)
    if policy.row_weight is not None:
        yield f'the loss counts the weights of "{policy.row_weight}"; all other measures count rows'


def _not_covered(settings: LocalRecoding, report: LocalReport) -> Iterator[str]:
    yield "that a row is in a coarse class says that no finer one of its rows met the privacy models (minimality)"
    yield (
        "every label is the finest that all rows of its class share, so that these rows stand under two or more finer "
        "labels: each of two rows under another one, and who knows all rows of a class but one may learn that of the "
        "last (downcoding); a larger k makes that rare"
    )
    if report.minimality_rows:
        yield (
            f"{report.minimality_rows:,} rows were in a class of enough rows that violated another privacy model: who "
            "knows the method can conclude that the sensitive values of such a class were too few or too alike"
        )
    for name, kind in settings.aggregate.items():
        if kind == "range":
            yield f'the least and the greatest "{name}" of each class are published: they are values of single rows'
        else:
            yield (
                f'the {kind} of "{name}" is published of each class as it is: who knows that value in all rows of a '
                "class but one can work it out for that one, or narrow it down"
            )
