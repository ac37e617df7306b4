"""In which of the classes that a release by local recoding shows the rows and the cells of its source are."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.classes import found_classes, without_numbers
from sqlanon.methods.local.publishing import make_classes
from sqlanon.methods.local.recoding import CLASS, LABELS, PerClass
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.persons import EarlierRelease
from sqlanon.queries.cells.encoding import CellSpec
from sqlanon.queries.kit.nodes import all_of, column, left_join, same, select
from sqlanon.queries.release.listed_classes import ListedClasses
from sqlanon.queries.release.released_classes import ClassesOfKeys, ReleasedClasses, carried_columns


@dataclass(frozen=True)
class LocalReleasedClasses(ListedClasses, ClassesOfKeys):
    """The classes of a release by local recoding, and those of keys.

    Attributes:
        recoding: the classes of keys, with their labels.
    """

    recoding: PerClass

    @classmethod
    def of(cls, recoding: PerClass, released: exp.Expr, place: int) -> LocalReleasedClasses:
        """Those of the rows of a release."""
        spec = recoding.encoding.spec
        listed = ListedClasses.of_release(spec.quasi_identifiers, spec.source, released, place)
        return cls(listed.counted, place, listed.names, listed.source, recoding)

    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        return _with_number(self, self.recoding.join_classes(query, table))


def rows_made_again(engine: Compute, release: EarlierRelease, spec: CellSpec, classes: ListedClasses) -> exp.Select:
    """The rows of the source of a release with the number of their class, for which its classes are made again.

    Args:
        engine: the database.
        release: the release.
        spec: its cells, by what earlier releases show.
        classes: the classes that it shows, which there is a table of.

    Raises:
        UnsatisfiableError: no classes meet its policy, so that its source is another one.
    """
    table = encode_table(engine, release.bound, spec, label_losses=())
    found = found_classes(engine, table, Watch())
    recoding = PerClass(without_numbers(table).encoding, spec.earlier)
    make_classes(engine, recoding, found, masks=False)
    source = exp.alias_(spec.source.copy(), "anon_source", table=True)
    query = select(carried_columns(release.keys, {}, as_text=release.as_text), source)
    return _with_number(classes, recoding.join_classes_to_source(query, "anon_source"))


def _with_number(classes: ReleasedClasses, query: exp.Select) -> exp.Select:
    """A query that is joined with the classes of keys, and the number that a release shows for these."""
    of_class = exp.alias_(LABELS.table, "anon_of_class", table=True)
    query = left_join(query, of_class, column(CLASS, "anon_of_class").eq(column(CLASS, "anon_of_key")))
    name = classes.relation.name
    labels = (same(column(label, name), column(label, "anon_of_class")) for label in classes.labels.values())
    is_in_one = exp.Not(this=column(CLASS, "anon_of_class").is_(exp.null()))
    return classes.join_to(query, name, all_of([is_in_one, *labels]))
