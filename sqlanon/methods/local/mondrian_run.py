"""Strict Mondrian: all rows in classes that are split at medians, or into the children of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlanon.binding.bound import BoundPolicy
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Measured
from sqlanon.methods.local.class_labels import make_classes, recorded_classes
from sqlanon.methods.local.local_run import ClassesPublication, ClassesRun
from sqlanon.methods.local.partitioning import InIntervals, Partition, partitioned
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import row_counts
from sqlanon.model.methods.mondrian import Mondrian
from sqlanon.model.names import in_quotes
from sqlanon.model.release import Report
from sqlanon.model.release.measurement import models_table
from sqlanon.nodes.table import EncodedTable, encode_table, unknown_notes
from sqlanon.release import publishing
from sqlanon.report.document import Part, Table, paragraph

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
class MondrianPublication(ClassesPublication):
    partition: Partition


class MondrianRun(ClassesRun[Partition, MondrianPublication]):
    instead_of_node = "each class has labels of its own"
    report_class = MondrianReport

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        named = Mondrian.of(super().refuse(bound).policy).ordered or ()
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

    def facts(self, made: MondrianPublication, measured: Measured) -> dict[str, Any]:
        names, losses = made.bound.policy.quasi_identifiers, made.partition.losses
        return {
            "quality": "ncp",
            "loss": made.partition.loss,
            "suppressed_rows": 0,
            "ordered": self.ordered,
            "column_losses": dict(zip(names, losses, strict=True)),
        }

    def not_covered(self, made: MondrianPublication, report: Report) -> Iterator[str]:
        if columns := ", ".join(map(in_quotes, made.class_list.ordered)):
            yield f"the ends of the intervals of {columns} are values of single rows"
        yield (
            "classes split wherever that meets the privacy models: that one did not split says that the parts of each "
            "split would have been too small or too alike (minimality)"
        )
