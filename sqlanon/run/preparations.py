"""Tables as sensitive as their source: individuals made from events, and new rows with a release's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.binding.unknown_values import refuse_unlabelled
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.methods.local.class_labels import PerClass
from sqlanon.methods.points import no_list
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.labels import ClassesRecord, CutRecord
from sqlanon.model.names import folded
from sqlanon.model.policy.fields import action_for
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import unknown_names
from sqlanon.model.prepared_tables import Flattened, Flattening, Generalized
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.record import FlattenedRecord, GeneralizedRecord, PolicyRecord, Record, RecordError
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.publish.provenance import new_record
from sqlanon.publish.targets import Target, target_for
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    column,
    count_rows,
    counted_rows,
    f,
    filtered,
    names,
    number,
    string,
    struct,
    subquery,
)
from sqlanon.queries.released_classes import (
    CUT_LABELS,
    CUT_PARTS,
    Predictors,
    cut_step,
    noted_labels,
    noted_parts,
    rows_at_cut,
    rows_without_label,
)
from sqlanon.queries.source import SourceColumn, spelled
from sqlanon.queries.source_rows import known_rows
from sqlanon.release import publishing
from sqlanon.verification.found_release import provenance_at

# Classes of a release: per class and quasi-identifier (``position``), the level (``depth``) and the label.
RECORDED = Relation("anon_recorded_classes", "class")


def flatten(
    engine: Engine, source: ResolvedSource, flattening: Flattening, into: Destination, *, replace: Replace
) -> Flattened:
    """Write a table with a row per individual. It is as sensitive as its source: nothing is anonymized."""
    with target_for(engine, into, {"source": source}, replace=replace) as target, engine.transaction():
        relation, columns = spelled(source.relation, engine.describe(source.relation), flattening.named)
        flattening.check_columns([column.name for column in columns], source.description)
        counts = engine.fetch(_event_counts(relation, flattening), "count the events")[0]
        _refuse_unfit_rows(source, flattening, counts)
        target.write(_flattened(relation, flattening))
        made = FlattenedRecord(
            flattening=flattening.model_dump(mode="json"), events=counts["events"], individuals=counts["individuals"]
        )
        target.add_record(new_record(flattened=made))
        return Flattened(
            source=source.description,
            into=target.name,
            columns=flattening.columns,
            individuals=counts["individuals"],
            events=counts["events"],
            cut_individuals=counts["cut_individuals"],
            cut_events=counts["cut_events"],
            notes=target.notes,
        )


def _refuse_unfit_rows(source: ResolvedSource, flattening: Flattening, counts: Mapping[str, Any]) -> None:
    problems = []
    if counts["lost_events"]:
        problems.append(f'{counts["lost_events"]:,} rows have no individual: their "{flattening.individual}" is NULL')
    for place, name in enumerate(flattening.keep):
        varying = counts[f"varying_{place}"]
        if varying:
            problems.append(
                f'column "{name}" has several values for {varying:,} of {counts["individuals"]:,} individuals; '
                "make it an event, or one value in a view"
            )
    if problems:
        raise PolicyError(f"{source.description} cannot be flattened:", problems)


def _event_counts(source: exp.Expr, flattening: Flattening) -> exp.Query:
    """Return one row of counts: those of :class:`Flattened`, and ``lost_events``, which have no individual.

    ``varying_<place>`` counts the individuals whose rows differ in the kept column at that place.
    """
    places = range(len(flattening.keep))
    return Queries("tables").query(
        "event_counts",
        source=source,
        individual=flattening.individual,
        first=flattening.first,
        are_different=[*map(_varies, flattening.keep)],
        varies=[f"varies_{place}" for place in places],
        varying=[f"varying_{place}" for place in places],
    )


def _flattened(source: exp.Expr, flattening: Flattening) -> exp.Query:
    order = [f"anon_order_{place}" for place in range(len(flattening.order) + len(flattening.event))]
    rows = subquery(_rows(source, flattening, order), "anon_rows")
    first = number(flattening.first)
    events = table_call("first_events", rows, string("anon_individual"), string("anon_event"), names(order), first)
    columns: list[exp.Expr] = [aliased(_any(f"keep_{place}"), name) for place, name in enumerate(flattening.keep)]
    for place, position, name in flattening.event_columns:
        is_there = column("position", "anon_events").eq(number(position))
        columns.append(aliased(filtered(_any(f"event_{place}"), is_there), name))
    if flattening.count is not None:
        columns.append(aliased(_any("count"), flattening.count))
    return Queries("tables").query("individuals", events=events, individual=flattening.individual, columns=columns)


def _rows(source: exp.Expr, flattening: Flattening, order: list[str]) -> exp.Query:
    """Select the rows of the source in the form that the macro expects.

    The texts of the events break ties, as in the macro for a single event column.
    """
    keys = [*map(_of_source, flattening.order), *(exact_text(_of_source(name)) for name in flattening.event)]
    fields: dict[str, exp.Expr] = {"individual": _of_source(flattening.individual)}
    fields |= {f"keep_{place}": _of_source(name) for place, name in enumerate(flattening.keep)}
    fields |= {f"event_{place}": _of_source(name) for place, name in enumerate(flattening.event)}
    if flattening.count is not None:
        fields["count"] = exp.Window(this=count_rows(), partition_by=[exact_text(_of_source(flattening.individual))])
    return Queries("tables").query(
        "rows_of_individuals",
        source=source,
        individual=flattening.individual,
        event=struct(fields),
        order=[aliased(key, name) for key, name in zip(keys, order, strict=True)],
    )


def _of_source(name: str) -> exp.Column:
    return column(name, "anon_source")


def _varies(name: str) -> exp.Expr:
    """Return whether a column has several values within a group, compared as text and with NULL as a value."""
    text, present = exact_text(_of_source(name)), f.count(_of_source(name))
    several = exp.NullSafeNEQ(this=f.min(text), expression=f.max(text))
    return exp.or_(several, exp.and_(exp.GT(this=present, expression=number(0)), present < count_rows()))


def _any(field: str) -> exp.Expr:
    return f.any_value(f.struct_extract(column("event", "anon_events"), field))


def generalize(
    engine: Engine,
    source: ResolvedSource,
    release: ResolvedSource,
    place: Destination,
    into: Destination,
    *,
    replace: Replace,
) -> Generalized:
    """Write the rows of a source with the labels of a release. They are as sensitive as before."""
    record, labels = _recorded(provenance_at(engine, release, place), release.description)
    with target_for(engine, into, {"source": source, "release": release}, replace=replace) as target:
        if isinstance(labels, CutRecord):
            return _generalize(engine, source, record, labels, release.description, target)
        with engine.transaction(), engine.scratch():
            _refuse_taxonomies(engine, record, labels.columns, release.description)
            return _generalize_in_classes(engine, source, record, labels, release.description, target)


def _recorded(text: str | None, release: str) -> tuple[Record, CutRecord | ClassesRecord]:
    try:
        found = Record.parse(text)
    except RecordError as error:
        raise PolicyError(f"{release} cannot be taken as an example: {error}") from None
    if found is None:
        raise PolicyError(f"{release} has no note of sqlanon with its cut: name the release itself")
    if not isinstance(found.labels, CutRecord | ClassesRecord):
        raise PolicyError(
            f"the note of {release} has no cut: only methods with labels of several levels, such as diffgen and local "
            "recoding, record one, unless it has very many labels; with a table of its cuts, anon.apply_cut does the "
            "same in SQL"
        )
    return found, found.labels


def _generalize(
    engine: Engine, source: ResolvedSource, record: Record, cut: CutRecord, release: str, target: Target
) -> Generalized:
    predictors = Predictors.of(cut)
    relation, columns = spelled(source.relation, engine.describe(source.relation), predictors.all)
    if problems := list(_misfits(columns, predictors)):
        raise PolicyError(f"{source.description} does not fit the cut of {release}:", problems)
    names = [column.name for column in columns]
    with engine.transaction(), engine.scratch():
        _refuse_taxonomies(engine, record, (*predictors.categories, *predictors.sets), release)
        engine.put(CUT_LABELS, noted_labels(cut))
        engine.put(CUT_PARTS, noted_parts(cut))
        engine.run(cut_step(engine.taxonomy))
        unknown = {} if record.policy is None else record.policy.unknown
        suppressed = [name for name in predictors.categories if action_for(unknown, name) == "suppress"]
        known = known_rows(relation, suppressed, engine.taxonomy)
        refuse_unlabelled(engine, source.description, rows_without_label(known, predictors), release)
        whole, rows = (int(engine.fetch(counted_rows(each), "rows")[0]["rows"]) for each in (relation, known))
        target.write(rows_at_cut(known, names, predictors))
        made = GeneralizedRecord(columns=tuple(predictors.all), policy_sha256=record.policy_sha256, rows=rows)
        target.add_record(new_record(generalized=made))
    return Generalized(
        source=source.description,
        release=release,
        into=target.name,
        columns=tuple(names),
        generalized=tuple(name for name in names if name in predictors.all),
        rows=rows,
        unknown_rows=whole - rows,
        notes=target.notes,
    )


def _generalize_in_classes(
    engine: Engine, source: ResolvedSource, record: Record, classes: ClassesRecord, release: str, target: Target
) -> Generalized:
    if record.policy is None:
        raise PolicyError(f"the note of {release} has no policy, by which its classes were made")
    table = group_in_classes(engine, source, record.policy, classes)
    bound = table.bound
    rows, _ = publishing.released_sizes(engine)
    target.write(publishing.released_rows(engine, table.encoding, target.takes_enums), streamed=True)
    made = GeneralizedRecord(columns=classes.columns, policy_sha256=record.policy_sha256, rows=rows)
    target.add_record(new_record(generalized=made))
    return Generalized(
        source=source.description,
        release=release,
        into=target.name,
        columns=tuple(found.name for found in bound.columns),
        generalized=tuple(found.name for found in bound.columns if found.name in bound.policy.quasi_identifiers),
        rows=rows,
        unknown_rows=table.unknown.suppressed,
        uncovered_rows=table.context.row_count - rows,
        notes=target.notes,
    )


def group_in_classes(
    engine: Engine, source: ResolvedSource, policy: PolicyRecord, classes: ClassesRecord
) -> EncodedTable:
    """Make the published rows of a source whose rows go to the recorded classes of least loss that cover them."""
    names = [column.name for column in engine.describe(source.relation)]
    table = encode_table(engine, prepare(engine, source, _policy_of_rows(policy, classes, names)), label_losses=())
    recoding = PerClass(table.encoding)
    engine.put(RECORDED, _listed(classes))
    recoding.find_classes(engine, table.bound.policy, RECORDED)
    recoding.keep_all(engine)
    publishing.group_rows(engine, table, recoding, masked=False, is_examined=False)
    return table


def _policy_of_rows(record: PolicyRecord, classes: ClassesRecord, columns: list[str]) -> Policy:
    """Reduce the policy of a release to what assigns rows to classes; all other columns are kept."""
    given, own = record.as_json, {*map(folded, classes.columns)}
    settings: dict[str, Any] = {
        coding: {name: value for name, value in given[coding].items() if folded(name) in own}
        for coding in ("bottom_coding", "top_coding")
    }
    settings["method"] = {**given["method"], "aggregate": {}}
    return Policy(
        quasi_identifiers=classes.columns,
        insensitive=[name for name in columns if folded(name) not in own],
        privacy=[KAnonymity(2)],  # unused, but a policy needs a model
        quality=given["quality"],
        unknown={name: action_for(record.unknown, name) for name in classes.columns},
        **settings,
    )


def _listed(classes: ClassesRecord) -> pa.Table:
    """Make the rows of :data:`RECORDED`; masked rows have no class."""
    known = [*classes.labels.values()]
    of_classes = (
        (number, position, *known[position][place])
        for number, (_, *places) in enumerate(classes.classes, 1)
        for position, place in enumerate(places)
    )
    rows = [row for row in of_classes if row[2] is not None]
    kinds = {"anon_class": pa.int64(), "position": pa.int32(), "depth": pa.int32(), "label": pa.string()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def _misfits(columns: Sequence[SourceColumn], predictors: Predictors) -> Iterator[str]:
    found = {column.name: column for column in columns}
    unknown = dict(unknown_names(predictors.all, found))
    for name in predictors.all:
        if name in unknown:
            yield f'column "{name}" is not there{unknown[name]}'
        elif name in predictors.numbers and not found[name].traits.is_number:
            yield found[name].no_number
        elif name in predictors.sets and not found[name].traits.is_list:
            yield no_list(found[name])
        elif name in predictors.categories and found[name].traits.is_list:
            yield f'"{name}" is {found[name].type}, where the release has one label'


def _refuse_taxonomies(engine: Engine, record: Record, needed: Sequence[str], release: str) -> None:
    stored = stored_taxonomies.shapes(engine, needed)
    problems = []
    for name in needed:
        if name not in stored:
            problems.append(f'the taxonomy "{name}" is missing: load it')
        elif stored[name].sha256 != record.taxonomy_sha256.get(name):
            problems.append(f'the taxonomy "{name}" is not that of the release: load the latter')
    if problems:
        raise TaxonomyError(f"the labels of {release} belong to taxonomies that are not loaded:", problems)
