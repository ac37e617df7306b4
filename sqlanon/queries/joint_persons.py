"""Persons by their classes in successive releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.class_measures import KEPT
from sqlanon.queries.coded_labels import dense_rank
from sqlanon.queries.encoded_rows import ROWS
from sqlanon.queries.encoding import EARLIER, ROW_COUNT, Encoding, row_sum
from sqlanon.queries.grouping import CLASS_ROWS
from sqlanon.queries.joint_classes import JUDGED
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    added,
    aliased,
    ascending,
    bits,
    called,
    case,
    cast,
    column,
    copies,
    count_rows,
    f,
    grouped,
    is_there,
    left_join,
    number,
    select,
    subquery,
    union_all,
    union_by_name,
)
from sqlanon.queries.published_rows import KEPT_CLASSES
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import (
    ClassesOfKeys,
    ClassesOfRows,
    ListedClasses,
    NodeClasses,
    ReleasedClasses,
    class_of,
)
from sqlanon.queries.source_rows import (
    ABSENT,
    PERSONS,
    SQL,
    key_columns,
    number_of_key,
    person_key,
    person_value,
    persons_by,
    text_of,
)

JOINT = Relation("anon_joint_classes", "class")
BY_SOURCES = Relation("anon_persons_by_sources", "node")
WITHHELD_PERSONS = Relation("anon_withheld_persons", "rows")

ALL_EARLIER = class_of(0)
"""The column with the number of the joint class in all earlier releases, next to the class in one release."""


def persons_of(place: int) -> Relation:
    """Name the persons by their classes, after the release at ``place`` was reduced to the classes that it shows."""
    return Relation(f"anon_persons_of_{place}", "rows")


def persons_made_again(place: int) -> Relation:
    """Name the persons by their classes, after the classes of the release at ``place`` were rebuilt."""
    return Relation(f"anon_persons_made_again_{place}", "rows")


def rows_of(place: int) -> Relation:
    """Name the rows of the source of a release: keys of persons, and the number of a class."""
    return Relation(f"anon_rows_of_{place}", "rows")


def source_rows(
    release: ClassesOfRows, keys: Sequence[str], values: Mapping[str, str], labelled: Sequence[str], *, as_text: bool
) -> Step:
    """Make :func:`rows_of` a release, one source at a time, since its joins take memory.

    Values become codes from 1 up, in order; the ``labelled`` ones are added as texts, too.
    """
    rows = release.rows(keys, values, as_text=as_text)
    if values:
        texts = [aliased(exact_text(column(name)), text_of(name)) for name in labelled]
        rows = select([exp.Star(replace=[*map(_coded, values)]), *texts], subquery(rows, "anon_rows_with_values"))
    return Step(rows_of(release.place), rows, "rows of a source by their classes")


def persons_in_rows(place: int) -> exp.Select:
    """Select the persons of one source, from :func:`rows_of` the release at ``place``."""
    return select([exp.Star(), aliased(number(1), "anon_rows")], rows_of(place).table)


def _coded(name: str, table: str | None = None) -> exp.Alias:
    """Return the code of a value among all values of its column, in order, from 1 up."""
    return aliased(cast(dense_rank(column(name, table), nulls_first=False), "UINTEGER"), name)


def persons_by_classes(releases: Sequence[ReleasedClasses], keys: Sequence[str], values: Sequence[str]) -> Step:
    """Make the persons of all :func:`rows_of` some releases, with their ``values``."""
    rows: list[exp.Query] = [select([exp.Star()], rows_of(each.place).table) for each in releases]
    names = [release.name for release in releases]
    are_there = [cast(is_there(exp.AnyValue(this=column(name))), "INTEGER") for name in names]
    roles = SQL.given(rows=union_by_name(rows), persons_by=persons_by(keys), classes=names, values=values)
    return roles.step(persons_of(0), "persons_by_classes", sources=added(are_there))


def persons_of_cells(releases: Sequence[NodeClasses]) -> Step:
    """Make persons by their classes in releases of one table, from its cells."""
    cells = releases[0].recoding.encoding.cells
    query = select([column(ROW_COUNT, cells.name)], called(cells.table, cells.name))
    for release in releases:
        query = release.join_to_keys(query, cells.name)
    classes = [column(release.name) for release in releases]
    counted = select([*classes, row_sum(name="anon_rows")], subquery(query, "anon_classes_of_cells"))
    return Step(persons_of(len(releases)), grouped(counted, copies(classes)), "persons of cells by their classes")


def no_rows(release: ListedClasses, keys: Sequence[str], persons: Relation) -> Step:
    """Make an empty :func:`rows_of` a release, to be filled after its classes are rebuilt."""
    columns = [*map(column, persons_by(keys)), column(release.name)]
    query = select(columns, persons.table).where(exp.false(), copy=False)
    return Step(rows_of(release.place), query, "rows of a source by their classes")


def persons_by_rows(
    made: Relation, persons: Relation, rows: Relation, keys: Sequence[str], release: ListedClasses
) -> Step:
    names = persons_by(keys)
    return SQL.step(made, "persons_by_rows", persons=persons, rows=rows, persons_by=names, name=release.name)


def key_problems(persons: Relation) -> exp.Query:
    """Select one row about persons with one key column: ``without_key`` and ``repeated_keys``, in several rows."""
    return SQL.query("key_problems", persons=persons, key=person_key(0))


def source_keys(source: exp.Expr, key: str, *, as_text: bool) -> exp.Query:
    """Select :func:`key_problems` of one source."""
    name = person_key(0)
    keys = select([aliased(person_value(column(key), as_text), name)], source.copy())
    counted = select([column(name), aliased(count_rows(), "anon_rows")], subquery(keys, "anon_source_keys"))
    return SQL.query("key_problems", persons=grouped(counted, [column(name)]), key=name)


def persons_by_sources(sources: Sequence[tuple[exp.Expr, str]], *, as_text: bool) -> Step:
    """Make :data:`BY_SOURCES`, given sources with the column that identifies a person."""
    rows: list[exp.Query] = [
        select([*key_columns([key], None, as_text=as_text), aliased(number(place), "anon_source")], source.copy())
        for place, (source, key) in enumerate(sources)
    ]
    are_in = [exp.LogicalOr(this=column("anon_source").eq(place)) for place in range(len(sources))]
    return SQL.step(BY_SOURCES, "persons_by_sources", rows=union_all(rows), key=person_key(0), are_in=are_in)


def common_persons() -> exp.Select:
    """Select :data:`BY_SOURCES`: ``anon_are_in``, whether each source has them, and ``anon_persons``."""
    return select([exp.Star()], BY_SOURCES.table)


def shown_groups(persons: Relation | exp.Query, classes: Sequence[str], k: int, *, is_by_person: bool) -> Step:
    """Make :data:`JUDGED`: persons by their classes in a release, the last of ``classes``, and in the ones beside it.

    The release shows joint classes of ``k`` persons. Persons whom it withheld for others don't count; it can withhold
    some only if they are known ``is_by_person``.
    """
    *beside, name = classes
    shown = SQL.query("shown_groups", persons=persons, classes=beside, name=name, k=k if beside else 1)
    if not beside:
        return Step(JUDGED, shown, "classes of a release")
    is_shown = f.greatest(*map(column, beside)) > 0
    numbers = case(is_shown, dense_rank(*map(column, beside), nulls_first=True), number(0))
    nobody = exp.Select(expressions=[aliased(number(0), EARLIER), aliased(number(0), "anon_absent")]).limit(0)
    kept = SQL.query(
        "jointly_kept",
        classes=shown,
        absent=nobody,
        number=numbers,
        node=[],
        keys=[name],
        k=k,
        by_person=exp.true() if is_by_person else exp.false(),
    )
    return Step(JUDGED, kept, "classes of a release")


def found_groups(persons: Relation, classes: Sequence[str]) -> Step:
    """Make :data:`JUDGED` of a release with exact classes: it shows all that are found."""
    *beside, name = classes
    return SQL.step(JUDGED, "shown_groups", persons=persons, classes=beside, name=name, k=1)


def mismatches(release: ReleasedClasses) -> exp.Query:
    """Select one row, ``classes``: the classes whose size in a release differs from :data:`JUDGED`."""
    return SQL.query("release_mismatches", judged=JUDGED, released=release.relation, name=release.name)


def shown_persons(persons: Relation, before: Relation, classes: Sequence[str], k: int) -> list[Step]:
    """Make persons with the classes of :data:`JUDGED` that a release shows, from the persons before it.

    ``classes`` are the columns that distinguish its joint classes, its own last, which have at least ``k`` persons.
    """
    judged = select([exp.Star()], JUDGED.table).where(column(KEPT), copy=False)
    withheld = SQL.query("withheld_persons", persons=before, withholding=judged, grouped=classes, k=k)
    withheld_step = Step(WITHHELD_PERSONS, withheld, "persons who were withheld")
    queries = SQL.given(persons=before, judged=judged, grouped=classes, name=classes[-1], withheld=WITHHELD_PERSONS)
    return [withheld_step, queries.step(persons, "shown_persons")]


def persons_beside(release: ClassesOfRows, keys: Sequence[str], *, as_text: bool) -> Step:
    """Make persons by their classes from ``PERSONS`` and the source of a release, with :data:`ALL_EARLIER`."""
    rows, names = release.rows(keys, {}, as_text=as_text), persons_by(keys)
    roles = SQL.given(rows=rows, persons=PERSONS, persons_by=names, number=ALL_EARLIER, name=release.name)
    return roles.step(persons_of(release.place), "persons_beside")


def persons_of_rows(release: ClassesOfKeys, encoding: Encoding) -> Step:
    """Make persons by their classes from the rows of a run, with :data:`ALL_EARLIER`, and codes of compared values."""
    spec = encoding.spec
    values, coded = [*spec.protected], [*spec.coded]
    to_code = {*spec.compared} - {*coded}
    of_rows = [_coded(name, ROWS.name) if name in to_code else column(name, ROWS.name) for name in values]
    texts = [aliased(exact_text(column(name, ROWS.name)), text_of(name)) for name in spec.labelled]
    columns = [aliased(number_of_key(encoding, ROWS.name), ALL_EARLIER), *of_rows, *texts]
    values += [text.alias for text in texts]
    rows = release.join_to_keys(select(columns, called(ROWS.table, ROWS.name)), ROWS.name)
    roles = SQL.given(rows=rows, absent=ABSENT, number=ALL_EARLIER, name=release.name, values=values, coded=coded)
    return roles.step(persons_of(release.place), "persons_of_rows")


def shown_classes(classes: Sequence[str]) -> exp.Select:
    """Select the joint classes of :data:`JUDGED` as persons by classes; 0 if the last release hides theirs."""
    *beside, name = classes
    shown = case(column(KEPT), column(name), number(0))
    rows = aliased(column(CLASS_ROWS), "anon_rows")
    return select([*map(column, beside), aliased(shown, name), rows], JUDGED.table)


def withheld_persons(recoding: AtNode) -> Step:
    encoding = recoding.encoding
    masks = {encoding.key(word): mask for word, mask in encoding.keys.node_masks(recoding.levels).items()}
    words = [aliased(bits(column(name), number(mask)), name) for name, mask in masks.items()]
    persons = select([column(person_key(0)), *words], ROWS.table)
    roles = SQL.given(persons=persons, withholding=KEPT_CLASSES, grouped=[*masks], k=encoding.criteria.k)
    query = roles.query("withheld_persons")
    return Step(WITHHELD_PERSONS, query, "persons who are withheld")


def without_withheld() -> exp.Update:
    """Negate the joint class of withheld persons in ``PERSONS``, a number that no class has."""
    update = exp.update(PERSONS.table, {}, dialect="duckdb")
    negative = exp.EQ(this=column(EARLIER), expression=exp.Neg(this=column(EARLIER)))
    update.set("expressions", [negative])
    update.set("from_", exp.From(this=called(WITHHELD_PERSONS.table, "anon_withheld")))
    same_person = column(person_key(0), "anon_withheld").eq(column(person_key(0), PERSONS.name))
    return update.where(same_person, copy=False)


def joint_classes(persons: Relation | exp.Query, classes: Sequence[str]) -> Step:
    """Make :data:`JOINT` from persons by their classes in some releases."""
    return SQL.step(JOINT, "joint_classes", persons=persons, classes=classes, are_shown=_are_shown(classes))


def joint_class_ranges(classes: Sequence[str]) -> exp.Query:
    """Select ranges of numbers of :data:`JOINT`, ``first_number`` to ``last_number``, by ``shown_by``."""
    return SQL.query("joint_class_ranges", joint=JOINT, are_shown=_are_shown(classes))


def _are_shown(classes: Sequence[str]) -> list[exp.Expr]:
    return [column(name) > 0 for name in classes]


def joint_sizes() -> exp.Query:
    """Select one row about :data:`JOINT`: ``k``, ``class_count``, ``person_count`` and ``unique_persons``."""
    persons = select([aliased(column("anon_persons"), "person_count")], JOINT.table)
    return table_call("joint_sizes", subquery(persons, "anon_joint"))


def numbered_persons(persons: Relation, classes: Sequence[str], keys: Sequence[str], values: Sequence[str]) -> Step:
    """Make ``PERSONS`` from persons by their classes, with codes of their values and numbers of :data:`JOINT`."""
    roles = SQL.given(persons=persons, joint=JOINT, persons_by=persons_by(keys), classes=classes, values=[*values])
    return roles.step(PERSONS, "numbered_persons")


def persons_at_risk(k: int) -> exp.Query:
    """Select one row about :data:`JOINT`, ``persons_at_risk``: the persons in joint classes of fewer than k."""
    return SQL.query("persons_at_risk", joint=JOINT, k=k)


def smallest_classes(releases: Sequence[ReleasedClasses], k: int, most: int) -> exp.Select:
    """Select the smallest of :data:`JOINT` with fewer persons than k: ``persons``, and labels by release."""
    query = select([aliased(column("anon_persons", "anon_joint"), "persons")], exp.alias_(JOINT.table, "anon_joint"))
    for place, release in enumerate(releases):
        name = release.relation.name
        labels = exp.Array(expressions=[column(label, name) for label in release.labels.values()])
        is_shown = case(column(release.name, "anon_joint") > 0, labels)
        same_class = column(release.name, name).eq(column(release.name, "anon_joint"))
        query = left_join(query, called(release.relation.table, name), same_class)
        query = query.select(aliased(is_shown, f"labels_{place}"), copy=False)
    query = query.where(column("anon_persons", "anon_joint") < k, copy=False)
    order = [column(name, "anon_joint") for name in ("anon_persons", EARLIER)]
    query.set("order", ascending(*order))
    return query.limit(most, copy=False)
