"""Verification of a release against its policy and its provenance: the levels of a node, the labels of a cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.carried_taxonomies import own_taxonomies, verified_with
from sqlanon.binding.coding import beyond_bounds
from sqlanon.binding.prepare import spelled_like_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.model.labels import ClassesRecord, CutRecord, NodeRecord, RungsRecord
from sqlanon.model.names import enumerated, folded
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy_value import unknown_names
from sqlanon.model.record import Record
from sqlanon.model.release import Measurement, Verification
from sqlanon.queries import measures as queries
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import Relation, Step, counted_rows, names, subquery
from sqlanon.queries.source import both_spellings, with_whole_numbers
from sqlanon.verification.added_values import added_values, impossible_values, not_compared
from sqlanon.verification.blanks import few_matches
from sqlanon.verification.found_release import FoundRelease, columns_of, find_release
from sqlanon.verification.measure import Beside, beside_release, counted, measure

RELEASED_ROLES = ("quasi_identifiers", "sensitive", "pseudonyms", "insensitive")

OTHER_POLICY = "it was made by a policy other than the one it is verified against"

NOT_COVERED = (
    "whether the sensitive and insensitive values are true: the privacy models and the provenance are checked, and "
    "nothing is compared with the rows of the source",
)
PLACES_NOT_COVERED = (
    "whether each row has the labels of its own row of the source: values were compared with those of all rows",
)
PROMISE_NOT_COVERED = (
    "what its mechanism promises: that is a property of how the release was made, which its provenance records and no "
    "measure of its rows shows; audit-privacy tests the mechanism",
)


def verify(engine: Engine, release: ResolvedSource, policy: Policy, beside: Beside | None = None) -> Verification:
    """Verify a release against its policy: the privacy models, and columns that must or must not be present."""
    return verify_published(engine, FoundRelease(release, columns_of(engine, release)), policy, beside)


def verify_published(
    engine: Engine,
    found: FoundRelease,
    policy: Policy,
    beside: Beside | None = None,
    *,
    has_source: bool = False,
    expected_record: str | None = None,
) -> Verification:
    """Verify a release against its policy and its provenance.

    Args:
        has_source: look up its values in the source that it is measured with.
    """
    is_private, as_given = policy.has_private_method, policy.sha256()
    policy = spelled_like_taxonomies(engine, policy)
    if is_private:
        measurement = counted(engine, found.source, policy)
    else:
        measurement = measure(engine, found.source, policy, beside or Beside())
    shortfalls = [*found.shortfalls, *misfits(policy, found.columns)]
    shortfalls += () if is_private else measurement.shortfalls
    notes = list(found.notes)
    if found.policies and found.policies.isdisjoint({as_given, policy.sha256()}):
        notes.append(OTHER_POLICY)
    if found.record is not None:
        record = found.record.spelled_like(policy.quasi_identifiers)
        shortfalls += [*other_counts(record, policy, measurement), *other_levels(record, policy)]
    compares_values = has_source and beside is not None and not policy.method.invents_values
    source, whole = (beside.source, beside.whole) if compares_values and beside is not None else (None, None)
    more, unknown = differences(engine, found, policy, source, whole)
    shortfalls += more
    notes += labels_not_compared(unknown)
    k = measurement.k
    if not is_private and beside is not None and beside.source is not None and k is not None and k < policy.criteria.k:
        relation = found.source.relation
        notes += few_matches(engine, relation, beside.source, policy.quasi_identifiers, policy.criteria.k)
    verification = Verification(
        source=found.source.description,
        measurement=measurement,
        shortfalls=tuple(shortfalls),
        notes=tuple(notes),
        not_covered=(
            PROMISE_NOT_COVERED if is_private else NOT_COVERED if source is None else tuple(_places_not_covered(policy))
        ),
        record_sha256=found.record_sha256,
    )
    return verification.with_record(expected_record)


def differences(
    engine: Engine, found: FoundRelease, policy: Policy, source: exp.Expr | None, whole: exp.Expr | None = None
) -> tuple[list[str], list[str]]:
    """Compare the values of a table with its policy, its record and its source.

    Return a sentence on each difference, and the quasi-identifiers whose labels cannot be compared.

    Args:
        whole: the source with rows of unknown values, among which values were perturbed.
    """
    relation, there = found.source.relation, {*map(folded, found.columns)}
    kept = [name for name in found.columns if folded(name) not in map(folded, policy.quasi_identifiers)]
    shortfalls = [*beyond_bounds(engine, relation, policy, kept)]
    pseudonyms = [name for name in policy.pseudonyms if folded(name) in there]
    shortfalls += pseudonym_problems(engine, relation, pseudonyms)
    unknown: list[str] = []
    if found.record is not None:
        record = found.record.spelled_like(policy.quasi_identifiers)
        foreign, unknown = foreign_labels(engine, relation, policy, record)
        shortfalls += foreign
    if source is not None:
        kept = [name for name in (*policy.sensitive, *policy.insensitive) if folded(name) in there]
        shortfalls += added_values(engine, relation, policy, source, kept)
        shortfalls += impossible_values(engine, relation, policy, source if whole is None else whole, kept)
    return shortfalls, unknown


def _places_not_covered(policy: Policy) -> Iterator[str]:
    yield from PLACES_NOT_COVERED
    yield from not_compared(policy)


def labels_not_compared(columns: Sequence[str]) -> Iterator[str]:
    """Note the columns whose labels are not compared, if there are any."""
    if columns:
        named = ", ".join(f'"{name}"' for name in columns)
        yield (
            f"the labels of {named} are not compared with their taxonomies: those of the release are not loaded here"
        )


# More than six parameters: they are options of :meth:`sqlanon.Session.verify`.
def verify_release(
    engine: Engine,
    release: Source,
    policy: Policy,
    resolve: Callable[[Source], ResolvedSource],
    *,
    source: Source | None,
    without_provenance: bool,
    record_sha256: str | None,
) -> Verification:
    found = find_release(engine, release, resolve, without_provenance=without_provenance)
    if policy.csv is None and found.record is not None and found.record.policy is not None:
        engine.read_as(found.record.policy.csv)
    return verify_found(engine, found, policy, None if source is None else resolve(source), record_sha256)


def verify_found(
    engine: Engine,
    found: FoundRelease,
    policy: Policy,
    original: ResolvedSource | None,
    record_sha256: str | None = None,
) -> Verification:
    if original is not None and not policy.has_private_method:
        _refuse_other_source(engine, original, policy)
    labels = None if found.record is None else found.record.labels
    node = labels.levels if isinstance(labels, NodeRecord) else None
    attributes = verified_with(policy, has_source=original is not None)
    with own_taxonomies(engine, original or found.source, policy, attributes):
        beside = None if policy.has_private_method else beside_release(engine, policy, node, original)
        has_source = original is not None and not found.is_of_fit
        return verify_published(engine, found, policy, beside, has_source=has_source, expected_record=record_sha256)


def _refuse_other_source(engine: Engine, original: ResolvedSource, policy: Policy) -> None:
    columns = [column.name for column in engine.describe(original.relation)]
    there = set(map(folded, columns))
    shown = (*policy.quasi_identifiers, *policy.sensitive, *policy.insensitive)
    missing = [name for name in shown if folded(name) not in there]
    if missing:
        raise PolicyError(
            f"{original.description} is not the source of the release:",
            [f'column "{name}" is not there{meant}' for name, meant in unknown_names(missing, columns)],
        )


# guarded: tests/unit/test_guarded_verification.py
def shortfalls_of(found: Verification, released: int, others: Iterable[str] = ()) -> tuple[str, ...]:
    """List the shortfalls of a release that was just written, a wrong number of rows among them.

    ``others`` are shortfalls that its method found, a sentence each.
    """
    row_count = found.measurement.row_count
    if row_count != released:
        others = (f"it has {row_count:,} rows where {released:,} were to be released", *others)
    return (*found.shortfalls, *others)


# guarded: tests/unit/test_guarded_verification.py
def misfits(policy: Policy, columns: tuple[str, ...]) -> Iterator[str]:
    released = {folded(name) for name in (*policy.released_columns, *policy.method.added_columns)}
    identifiers = {folded(name): name for name in policy.identifiers}
    there = {folded(name) for name in columns}
    for name in columns:
        if folded(name) in identifiers:
            yield f'it has the identifier "{identifiers[folded(name)]}"'
        elif folded(name) not in released:
            yield f'it has the column "{name}", to which the policy gives no role'
    for name in (*policy.method.added_columns, *(each for role in RELEASED_ROLES for each in getattr(policy, role))):
        if folded(name) not in there:
            yield f'it lacks the column "{name}", which the policy releases'


# guarded: tests/unit/test_guarded_verification.py
def other_counts(record: Record, policy: Policy, measurement: Measurement) -> Iterator[str]:
    if record.rows is not None and record.rows.released != measurement.row_count:
        yield f"it has {measurement.row_count:,} rows where {record.rows.released:,} were released"
    if record.report is not None:
        # A private method that adds a column of counts writes a group of equal rows as one row.
        drawn = record.report.released_groups if policy.method.added_columns else record.report.released_rows
        if drawn is not None and drawn != measurement.row_count:
            yield f"it has {measurement.row_count:,} rows where {drawn:,} were released"
    if record.report is None or record.labels is None or {*record.labels.columns} != {*policy.quasi_identifiers}:
        return
    classes, smallest = record.report.class_count, record.report.min_class_size
    if classes is not None and classes != measurement.class_count:
        yield f"it has {measurement.class_count:,} equivalence classes where {classes:,} were released"
    if smallest is not None and smallest != (measurement.k or 0):
        yield f"its smallest class has {measurement.k or 0:,} rows where that of the release had {smallest:,}"


# guarded: tests/unit/test_guarded_verification.py
def other_levels(record: Record, policy: Policy | LinkedPolicy) -> Iterator[str]:
    for name, level in () if record.labels is None else record.labels.used_levels:
        least, most = policy.minimum_levels.get(name, level), policy.maximum_levels.get(name, level)
        if level < least:
            yield f'"{name}" is at level {level}, where the policy asks for at least {least}'
        if level > most:
            yield f'"{name}" is at level {level}, where the policy allows at most {most}'


CLASSES = Relation("anon_released_labels", "class")
LISTED = Relation("anon_listed_classes", "class")


def foreign_labels(engine: Engine, relation: exp.Expr, policy: Policy, record: Record) -> tuple[list[str], list[str]]:
    """Return a sentence on each column with labels that the release cannot have, and the columns not compared."""
    names = policy.quasi_identifiers
    listed = [*unlisted_classes(engine, relation, record.labels)] if isinstance(record.labels, ClassesRecord) else []
    labels = record.labels
    ordered = labels.ordered if isinstance(labels, ClassesRecord) else ()  # whose intervals the classes list
    if labels is not None:
        labels = labels.of(stored_taxonomies.unchanged(engine, names, record.taxonomy_sha256))
    items = labels.items if isinstance(labels, CutRecord) else ()
    compared = {*items, *ordered} if labels is None else {*labels.columns, *items, *ordered}
    unknown = [name for name in names if name not in compared and policy.method.needs_taxonomies]
    if labels is None or not labels.columns:
        return listed, unknown
    roots = labels_of_top(engine, policy, labels) if isinstance(labels, NodeRecord | RungsRecord) else {}
    check = LabelsCheck(engine, labels, roots)
    masked = 0 if record.rows is None else record.rows.masked
    shortfalls = [*listed, *(_other_masks(check, relation, names, masked) if masked else ())]
    # A private method masks what it leaves out, and does not record the number of masked rows.
    if masked or policy.has_private_method:
        relation = subquery(queries.unmasked_rows(relation, names), "anon_unmasked")
    shortfalls += [f"column {each}" for each in check.shortfalls(relation)]
    return shortfalls, unknown


# guarded: tests/unit/test_guarded_verification.py
def unlisted_classes(engine: Compute, relation: exp.Expr, recorded: ClassesRecord) -> Iterator[str]:
    import pyarrow as pa

    names = recorded.columns
    rows, *places = zip(*recorded.classes, strict=True) if recorded.classes else [()] * (len(names) + 1)
    texts = [[label for _, label in recorded.labels[name]] for name in names]
    columns = {
        name: pa.array([of_name[place] for place in found], pa.string())
        for name, of_name, found in zip(names, texts, places, strict=True)
    }
    engine.put(LISTED, pa.table({**columns, "anon_rows": pa.array(rows, pa.int64())}))
    found = engine.fetch(queries.class_mismatches(relation, names, LISTED), "classes of a release")[0]
    engine.drop(LISTED)
    if found["unlisted"]:
        yield (
            f"{found['unlisted']:,} combinations of labels, in {found['unlisted_rows']:,} rows, are not among the "
            "classes of the release"
        )
    if found["differing"]:
        yield f"{found['differing']:,} classes have a different number of rows than was released"


@dataclass(frozen=True)
class LabelsCheck:
    engine: Engine
    labels: NodeRecord | RungsRecord | CutRecord
    roots: Mapping[str, str]  # unless it is a cut, the labels that the policy gives unknown values, by column

    def mismatch(self, column: str) -> str:
        """Return the words between "labels that" and "of the release" for a column with foreign labels."""
        if isinstance(self.labels, NodeRecord):
            return f"its taxonomy does not have at level {self.labels.levels[column]}, that"
        if isinstance(self.labels, RungsRecord):
            return f"its taxonomy does not have at levels {enumerated(map(str, self.labels.levels[column]))}, those"
        if column in self.labels.intervals:
            return "are none of the intervals"
        return "its taxonomy does not have in the cut"

    def shortfalls(self, relation: exp.Expr) -> list[str]:
        """Return a sentence on every column with foreign labels, after its name."""
        return [
            f'"{row["attribute"]}" has {row["foreign_labels"]:,} labels, in {row["foreign_rows"]:,} rows, that '
            f"{self.mismatch(row['attribute'])} of the release"
            for row in self.foreign_in_rows(relation)
        ]

    def foreign_in_rows(self, relation: exp.Expr) -> list[dict[str, Any]]:
        """Do as :meth:`foreign`, but ask the few classes first: they have every label of the rows."""
        self.engine.run(
            Step(CLASSES, queries.distinct_labels(relation, self.labels.columns), "the classes of a release")
        )
        try:
            if not self.foreign(CLASSES.table):
                return []
        finally:
            self.engine.drop(CLASSES)
        return self.foreign(relation)

    def foreign(self, relation: exp.Expr) -> list[dict[str, Any]]:
        """Fetch attribute, foreign_labels and foreign_rows of every column with foreign labels."""
        at_the_bottom = [name for name, level in self.labels.used_levels if level == 0]
        relation = with_whole_numbers(relation, at_the_bottom, self.engine.taxonomy)
        found = (self.engine.fetch(query, "verify labels") for query in self._queries(relation))
        return [row for rows in found for row in rows if row["foreign_rows"]]

    def _queries(self, relation: exp.Expr) -> Iterator[exp.Query]:
        taxonomy = self.engine.taxonomy
        match self.labels:
            case NodeRecord(levels=levels):
                if known := {name: level for name, level in levels.items() if name not in self.roots}:
                    yield queries.foreign_labels(relation, known, taxonomy)
                for name in self.roots:
                    yield queries.foreign_labels(self._known(relation, name), {name: levels[name]}, taxonomy)
            case RungsRecord(levels=rungs):
                yield from (
                    queries.labels_off_levels(self._known(relation, name), name, levels, taxonomy)
                    for name, levels in rungs.items()
                )
            case CutRecord(labels=labels, interval_labels=intervals):
                for name, of_name in labels.items():
                    yield queries.labels_outside(relation, name, both_spellings(of_name), taxonomy)
                for name, texts in intervals.items():
                    yield queries.other_labels(relation, name, texts)

    def _known(self, relation: exp.Expr, name: str) -> exp.Expr:
        """Return the rows whose value of a column was known."""
        root = self.roots.get(name)
        return relation if root is None else subquery(queries.rows_without(relation, name, root), "anon_known_labels")


def labels_of_top(engine: Engine, policy: Policy, node: NodeRecord | RungsRecord) -> dict[str, str]:
    names = [name for name in policy.columns_with("top") if name in node.levels]
    found = engine.fetch(taxonomies.roots(engine.taxonomy, names), "labels of the top", "node") if names else []
    return {row["attribute"]: row["root"] for row in found}


def _other_masks(check: LabelsCheck, relation: exp.Expr, names: tuple[str, ...], masked: int) -> Iterator[str]:
    """Find a wrong number of masked rows, unless the mask is itself a label of a class."""
    rows = subquery(queries.masked_rows(relation, names), "anon_masked")
    count = int(check.engine.fetch(counted_rows(rows), "masked rows")[0]["rows"])
    if count != masked and (count == 0 or check.foreign(rows)):
        yield f"it has {count:,} masked rows where {masked:,} were released"


def pseudonym_problems(engine: Compute, relation: exp.Expr, columns: Sequence[str]) -> Iterator[str]:
    if not columns:
        return
    query = table_call("pseudonym_problems", relation.copy(), names(list(columns)))
    for found in engine.fetch(query, "pseudonyms"):
        name = found["attribute"]
        if found["repeated_values"]:
            values, rows = found["repeated_values"], found["repeated_rows"]
            yield f'"{name}": {values:,} values repeat, in {rows:,} rows, which their pseudonyms link'
        if found["malformed_rows"]:
            yield f'"{name}": {found["malformed_rows"]:,} rows have a value that is not a pseudonym (64 hex digits)'
