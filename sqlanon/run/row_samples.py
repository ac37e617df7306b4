"""Some rows of a source beside the labels that a release shows for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.coding import coded
from sqlanon.binding.loading import STAGED, TaxonomyLoad, stage
from sqlanon.binding.prepare import spelled_like_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import EngineError, PolicyError, TaxonomyError
from sqlanon.methods.base import method_of
from sqlanon.model.destination import destination
from sqlanon.model.labels import ClassesRecord, CutRecord, LabelsRecord
from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.methods.full_domain import FullDomain, LocalRecoding
from sqlanon.model.methods.mondrian import Mondrian
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import unknown_names
from sqlanon.model.record import PolicyRecord, Record, RecordError
from sqlanon.model.release.profiles import SampledRow, SampledRows
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.queries.kit.macros import exact_text, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, aliased, all_of, column, f, number, select, string, subquery
from sqlanon.queries.source import fractional_types, spelled, spelled_taxonomy
from sqlanon.release import publishing
from sqlanon.run.preparations import group_in_classes
from sqlanon.run.recorded import with_policy
from sqlanon.verification.found_release import provenance_at

SQL = Queries("report")
CHOSEN = Relation("anon_chosen_rows", "row")
BEFORE = Relation("anon_rows_with_labels", "row")
SHOWN = Relation("anon_released_labels", "class")

MAX_SAMPLED_ROWS = 1_000
NO_VALUE = "\0"  # in place of NULL among labels
MASK = "*"

GENERALIZES = (FullDomain, LocalRecoding, Mondrian, TopDownSpecialization)
"""Settings of methods that show each row under labels of its values, or leave it out."""


# More than six parameters: options of :meth:`sqlanon.Session.sample_rows`.
def sample_rows(
    engine: Engine,
    made_from: Source,
    release: str | Path,
    resolve: Callable[[Source], ResolvedSource],
    given: Policy | None,
    *,
    most: int,
    seed: int,
) -> SampledRows:
    if not 1 <= most <= MAX_SAMPLED_ROWS:
        raise PolicyError(f"n is a number of rows from 1 to {MAX_SAMPLED_ROWS:,}, not {most}")
    # Whether the release is as it was written is for verify to say: hashing a file takes longer than all else.
    released = resolve(release)
    try:
        found = Record.parse(provenance_at(engine, released, destination(release)))
    except RecordError as error:
        raise EngineError(
            f"{released.description} cannot be put beside its source: {error}", step="provenance"
        ) from None
    record, policy = with_policy(found, released.description)
    levels = _levels_of(record.labels, policy, released.description)
    # The record has all taxonomies but those of files.
    recorded = {*map(folded, policy.taxonomies)}
    rules = {**({} if given is None else given.taxonomies), **policy.taxonomies}
    policy = spelled_like_taxonomies(engine, policy.changed({"taxonomies": rules}))
    names = policy.quasi_identifiers
    others = [name for name in names if folded(name) not in recorded]
    from_files = [name for name in others if name in policy.taxonomies]
    engine.read_as(policy.csv, policy.timezone)
    source = resolve(made_from)
    if engine.is_far(source.relation):
        raise EngineError(f"the rows of {source.description} stay on their server", step="sample")
    classes = record.labels if isinstance(policy.method, LocalRecoding) else None
    if isinstance(classes, ClassesRecord):
        # Which class loses least depends on whole taxonomies.
        others, from_files = [*names], [name for name in names if name in policy.taxonomies]
    # Rules of the record make the same labels again for the chosen rows; all others must be those of the release.
    with own_taxonomies(engine, source, policy, from_files), engine.scratch():
        _refuse_others(engine, record, others, released.description)
        _choose(engine, source, policy, most, seed)
        carried = _stage(engine, policy, [name for name in names if name not in others], source.description)
        _label(engine, policy, levels, carried)
        rows = _beside(engine, released, policy)
        if isinstance(classes, ClassesRecord) and record.policy is not None:
            own = _in_classes(engine, names, record.policy, classes.spelled_like(names))
            rows = [{**row, "anon_after": own.get(row["anon_place"], row["anon_after"])} for row in rows]
    return SampledRows(
        source=source.description,
        release=released.description,
        columns=names,
        rows=tuple(
            SampledRow(
                before=tuple(row["anon_before"]),
                after=None if row["anon_after"] is None else tuple(map(_label_of, row["anon_after"])),
                others=max(row["anon_places"] - 1, 0),
            )
            for row in rows
        ),
    )


def _label_of(shown: str) -> str | None:
    return None if shown == NO_VALUE else shown


def _levels_of(labels: LabelsRecord | None, policy: Policy, release: str) -> dict[str, list[int]]:
    """Return the levels whose labels the release shows; refuse one whose rows have none of these."""
    if not isinstance(policy.method, GENERALIZES):
        about = method_of(policy).about_rows or "its rows are not those of the source under other labels."
        raise PolicyError(f"rows of the source have no counterpart in {release}, by the {policy.method}: {about}")
    if policy.held_with:
        raise PolicyError(
            f"{release} may leave out persons beside earlier releases though it shows their labels, so that rows "
            "cannot be put beside it"
        )
    if labels is None:
        raise PolicyError(f"the provenance of {release} lists no labels, so that rows cannot be put beside it")
    intervals = labels.ordered if isinstance(labels, ClassesRecord) else ()
    if isinstance(labels, CutRecord):
        intervals = (*labels.intervals, *labels.items)
    if intervals:
        raise PolicyError(
            f"{release} has labels that are in no taxonomy, so that rows cannot be put beside it:",
            [f'"{name}"' for name in intervals],
        )
    found: dict[str, list[int]] = {}
    for name, level in labels.used_levels:
        found.setdefault(folded(name), []).append(level)
    return found


def _choose(engine: Engine, source: ResolvedSource, policy: Policy, most: int, seed: int) -> None:
    """Make :data:`CHOSEN`: columns as the run read them, and quasi-identifiers as they are."""
    relation, columns = spelled(source.relation, engine.describe(source.relation), policy.columns)
    names = policy.quasi_identifiers
    coarser = [each for name in names if name in policy.taxonomies for each in _columns_of(policy, name)]
    needed = [*dict.fromkeys([*names, *coarser])]
    if missing := [*unknown_names(needed, [found.name for found in columns])]:
        raise PolicyError(
            f"{source.description} is not the source of the release:",
            [f'column "{name}" is not there{meant}' for name, meant in missing],
        )
    befores = [aliased(column(name), f"anon_before_{place}") for place, name in enumerate(names)]
    whole = subquery(select([exp.Star(), *befores], relation.copy()), "anon_whole")
    read = coded(engine, replace(source, relation=whole), policy)
    kept = [*needed, *(each.alias for each in befores)]
    engine.run(SQL.step(CHOSEN, "chosen_rows", source=read.relation, columns=kept, seed=seed, most=most))


def _columns_of(policy: Policy, name: str) -> Sequence[str]:
    return policy.taxonomies[name].taxonomy().coarser or ()


def _in_classes(
    engine: Engine, names: Sequence[str], policy: PolicyRecord, classes: ClassesRecord
) -> dict[int, list[str]]:
    """Return the labels of the recorded class of least loss that covers each chosen row, by its place."""
    place = "place"
    while place in map(folded, names):
        place += "_"
    columns = [*map(column, names), aliased(column("anon_place"), place)]
    chosen = ResolvedSource(subquery(select(columns, CHOSEN.table), "anon_placed"), "the chosen rows")
    table = group_in_classes(engine, chosen, policy, classes)
    released = subquery(publishing.released_rows(engine, table.encoding, lambda _: False), "anon_in_classes")
    shown = [f.coalesce(text(column(name)), string(NO_VALUE)) for name in names]
    found = engine.fetch(
        SQL.query("rows_in_classes", rows=released, place=place, shown=shown), "rows in classes", "cell"
    )
    return {row["anon_place"]: row["anon_after"] for row in found}


def _stage(engine: Engine, policy: Policy, names: Sequence[str], source: str) -> Mapping[str, Taxonomy]:
    """Make the rows of taxonomies by rules for the chosen rows alone."""
    made = {name: policy.taxonomies[name].taxonomy() for name in names}
    chosen = ResolvedSource(CHOSEN.table, source)
    stage(engine, [TaxonomyLoad(name, each, chosen, name, (CHOSEN.table,)) for name, each in made.items()])
    return made


def _refuse_others(engine: Engine, record: Record, names: Sequence[str], release: str) -> None:
    found = stored_taxonomies.shapes(engine, names)
    problems = [
        f'the taxonomy "{name}" is {"not that of the release" if name in found else "missing"}'
        for name in names
        if name not in found or found[name].sha256 != record.taxonomy_sha256.get(name)
    ]
    if problems:
        raise TaxonomyError(f"the labels of {release} belong to taxonomies that are not here:", problems)


def _label(
    engine: Engine, policy: Policy, levels: Mapping[str, Sequence[int]], carried: Mapping[str, Taxonomy]
) -> None:
    """Make :data:`BEFORE`: the chosen rows with the labels that the taxonomies have for them at some levels."""
    columns = {found.name: found for found in engine.describe(CHOSEN.table)}
    at_top, names = policy.columns_with("top"), policy.quasi_identifiers
    stored = stored_taxonomies.shapes(engine, [name for name in names if name not in carried])
    labels = []
    for name in names:
        domain = carried[name].domain if name in carried else stored[name].domain
        types = {} if domain == "observed" else fractional_types([columns[name]], [name])
        query = SQL.query(
            "labels_of_value",
            taxonomy=spelled_taxonomy(STAGED.table if name in carried else engine.taxonomy, types),
            attribute=string(name),
            levels=number(sorted(levels.get(folded(name), []))),
            value=exact_text(column(name, "anon_chosen")),
            is_at_top=exp.convert(name in at_top),
        )
        labels.append(exp.Subquery(this=query))
    places = range(len(names))
    step = SQL.step(
        BEFORE,
        "rows_with_labels",
        chosen=CHOSEN,
        befores=[text(column(f"anon_before_{place}")) for place in places],
        labels=labels,
        names=[f"anon_labels_{place}" for place in places],
    )
    engine.run(step)


def _beside(engine: Engine, release: ResolvedSource, policy: Policy) -> list[dict[str, Any]]:
    names = policy.quasi_identifiers
    shown = [f"anon_shown_{place}" for place, _ in enumerate(names)]
    labels = [f"anon_labels_{place}" for place, _ in enumerate(names)]
    texts = [f.coalesce(exact_text(column(name)), string(NO_VALUE)) for name in names]
    # Most labels of a release are none of the chosen rows.
    are_known = [
        exp.In(this=each.copy(), query=exp.Subquery(this=select([f.unnest(column(of_rows))], BEFORE.table)))
        for each, of_rows in zip(texts, labels, strict=True)
    ]
    is_mask: exp.Expr = exp.false()
    is_counted = all_of(are_known)
    if policy.suppression == "mask":
        is_mask = all_of([column(each).eq(string(MASK)) for each in shown])
        is_counted = exp.or_(is_counted, all_of([each.copy().eq(string(MASK)) for each in texts]))
    engine.run(
        SQL.step(SHOWN, "released_labels", released=release.relation, shown=texts, names=shown, is_counted=is_counted)
    )
    is_covered = all_of(
        [f.list_contains(column(of_rows), column(each)) for of_rows, each in zip(labels, shown, strict=True)]
    )
    query = SQL.query("rows_beside", chosen=BEFORE, released=SHOWN, is_covered=is_covered, is_mask=is_mask, shown=shown)
    return engine.fetch(query, "rows beside the release", "cell")
