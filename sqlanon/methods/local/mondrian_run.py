"""Strict Mondrian: all rows in classes that are split at medians, or into the children of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.local.class_labels import make_classes, recorded_classes
from sqlanon.methods.local.local_table import judges_no_classes
from sqlanon.methods.local.partitioning import InIntervals, Partition, partitioned
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, report_of_classes, row_counts
from sqlanon.model.labels import ClassesRecord
from sqlanon.model.methods.mondrian import Mondrian
from sqlanon.model.names import in_quotes
from sqlanon.model.release import Guarantee, Report
from sqlanon.model.release.measurement import models_table
from sqlanon.nodes.table import EncodedTable, encode_table, refuse_too_many, unknown_notes
from sqlanon.release import publishing
from sqlanon.release.guarantee import CHOSEN_NODE
from sqlanon.report.document import Part, Table, paragraph
from sqlanon.verification.measure import Beside
from sqlanon.verification.verify import unlisted_classes

STOPPED = "the search was stopped: more classes could have been split"


class MondrianReport(Report):
    """The numbers of a run of Mondrian.

    Attributes:
        column_losses: by quasi-identifier, the mean over rows of the normalized certainty penalty, in [0, 1]. For an
            ordered one it is the share of the range of all values that the interval of a row spans.
        ordered: the quasi-identifiers that were split at medians; others were split into the children of labels.
    """

    column_losses: dict[str, float]
    ordered: tuple[str, ...]

    @property
    def search_in_words(self) -> str:
        seconds = f"{sum(self.seconds.values()):.2f} s"
        return f"A heuristic: {self.quality} loss {self.loss:.4g}, {self.class_count:,} classes in {seconds}."

    def summary(self) -> Iterator[Part]:
        """Show how many classes there are, the losses of columns, and the privacy models."""
        yield paragraph(self.search_in_words)
        splits = {name: "at medians" if name in self.ordered else "by labels" for name in self.column_losses}
        rows = [(name, splits[name], f"{loss:.4g}") for name, loss in self.column_losses.items()]
        yield Table(("quasi-identifier", "split", "loss"), rows, numbers=(2,))
        yield models_table(self.models)
        yield from self.of_method()


@dataclass(frozen=True, kw_only=True)
class MondrianPublication(SyntacticPublication):
    table: EncodedTable
    recoding: InIntervals
    partition: Partition
    class_list: ClassesRecord


class MondrianRun(SyntacticRun[EncodedTable, Partition, MondrianPublication]):
    instead_of_node = "each class has labels of its own"
    is_repeatable = True
    report_class = MondrianReport

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        method = Mondrian.of(bound.policy)
        if others := judges_no_classes(bound.policy.criteria.bounds):
            measures = ", ".join(other.measure.name for other in others)
            raise PolicyError(f"{method} judges classes only by their rows and values, not by {measures}")
        named = method.ordered or ()
        problems = [
            f'"{found.name}" is {found.type}, which has no medians: leave it out of method.ordered, or cast it in a '
            "view to a number or a date"
            for found in bound.columns
            if found.name in named and not (found.traits.is_number or found.traits.is_date)
        ]
        if problems:
            raise PolicyError(f"the policy does not fit {bound.description}:", problems)
        return bound

    @property
    def ordered(self) -> tuple[str, ...]:
        bound, given = self.bound, Mondrian.of(self.bound.policy).ordered
        if given is not None:
            return given
        with_order = {found.name for found in bound.columns if found.traits.is_number or found.traits.is_date}
        return tuple(name for name in bound.policy.quasi_identifiers if name in with_order)

    def encode(self) -> EncodedTable:
        return encode_table(self.engine, self.bound, label_losses=())

    def refuse_rows(self, table: EncodedTable) -> None:
        super().refuse_rows(table)
        refuse_too_many(self.engine, table)

    def search(self, table: EncodedTable, stages: Stages) -> Partition:
        with stages.stage("search"):
            return partitioned(self.engine, table, self.ordered, self.stopped)

    def make(self, table: EncodedTable, choice: Partition) -> MondrianPublication:
        engine, recoding = self.engine, InIntervals(table.encoding, class_count=choice.class_count)
        make_classes(engine, recoding, 0, masks=False)
        return MondrianPublication(
            bound=self.bound,
            encoding=table.encoding,
            class_list=recorded_classes(engine, recoding, 0).model_copy(update={"ordered": self.ordered}),
            attained=publishing.attained_at(engine, recoding),
            groups=publishing.make_rows(engine, table, recoding, self.request.pseudonym_key, masked=False),
            rows=row_counts(table, 0, masked=False),
            notes=(*(() if choice.is_final else (STOPPED,)), *unknown_notes(self.bound.policy, table.unknown)),
            table=table,
            recoding=recoding,
            partition=choice,
        )

    def reference(self, made: MondrianPublication) -> Beside:
        return self.beside_individuals(super().reference(made), made.recoding, masked=False)

    def compare(
        self, made: MondrianPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        return Comparison([*unlisted_classes(self.engine, written.relation, made.class_list)])

    def report(self, made: MondrianPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        bound, partition, lattice = made.bound, made.partition, made.table.context.lattice
        return report_of_classes(
            MondrianReport,
            bound,
            measured.measurement,
            into,
            seconds,
            heights=lattice.named(lattice.heights),
            quality="ncp",
            loss=partition.loss,
            losses={"ncp": partition.loss},
            rows=made.rows,
            suppressed_rows=0,
            unknown_rows=dict(made.table.unknown.by_column),
            search=bound.policy.method.name,
            proven_optimal=False,
            notes=made.notes,
            after=measured.measurement.exposure,
            ordered=self.ordered,
            column_losses=dict(zip(bound.policy.quasi_identifiers, partition.losses, strict=True)),
        )

    def labels_record(self, made: MondrianPublication, report: Report) -> ClassesRecord:
        return made.class_list

    def guarantee(self, made: MondrianPublication, report: Report) -> Guarantee:
        plain = super().guarantee(made, report)
        columns = ", ".join(map(in_quotes, made.class_list.ordered))
        ends = [f"the ends of the intervals of {columns} are values of single rows"] if columns else []
        return Guarantee(
            conditions=plain.conditions,
            claims=(*plain.claims, "every row stands for one row of the source, whose values are under its labels"),
            not_covered=(
                *(each for each in plain.not_covered if each != CHOSEN_NODE),
                *ends,
                "classes split wherever that meets the privacy models: that one did not split says that the parts of "
                "each split would have been too small or too alike (minimality)",
            ),
        )
