"""Earlier releases that a policy names, each with its policy, its source and its taxonomies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import own_taxonomies, reading_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, reason_of
from sqlanon.joint.beside import compare, keys_of
from sqlanon.joint.persons import EarlierRelease, MakeAgain
from sqlanon.model.labels import ClassesRecord, LabelsRecord
from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.methods.full_domain import FullDomain, LocalRecoding
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import Csv, Earlier, key_misfits
from sqlanon.model.record import EarlierRecord, Record
from sqlanon.model.release import Verification
from sqlanon.model.release.joint import JointClasses
from sqlanon.model.taxonomy.rules import TaxonomyRule
from sqlanon.publish.provenance import without_place
from sqlanon.queries.kit.nodes import counted_rows
from sqlanon.run.recorded import PRESENT, ShownColumn, of_several_roles, recorded_release, shown_columns
from sqlanon.verification.found_release import FoundRelease

WITHOUT_CLASSES = (
    "its classes cannot be found again: it is not one whole release at a node, at a cut or by local recoding"
)
WITH_AGGREGATES = "aggregates of its classes show more than their labels"
SEVERAL_ROWS = "its individuals own several rows, where a comparison needs one row per person"
MASKED = "its masked rows show who was suppressed"
# Some releases generalize a column that others publish otherwise, whatever their source.
SEVERAL_ROLES = "joint classes would leave out columns that the releases publish in different roles:"


@dataclass(frozen=True)
class Found:
    """An earlier release that can be compared with others."""

    release: FoundRelease
    record: Record
    policy: Policy  # as recorded
    origin: ResolvedSource  # its source
    labels: LabelsRecord  # its node, its cut, or its classes

    def columns(self, engine: Engine) -> Sequence[ShownColumn]:
        return shown_columns(engine, self.policy, self.origin, self.release.columns)


def compare_releases(engine: Engine, source: ResolvedSource, named: Sequence[Earlier]) -> JointClasses:
    """Count what releases, in order, show together about their persons; nothing is written.

    ``source`` is the source of those that name none.
    """
    problems = [*key_misfits(named)]
    if len(named) < 2:
        problems.append(f"joint classes need at least two releases, not {len(named)}")
    if problems:
        raise PolicyError("the releases cannot be compared:", problems)
    with earlier_releases(engine, source, named) as releases, engine.transaction(), engine.scratch():
        return compare(engine, releases)


def with_joint_classes(
    engine: Engine, found: Verification, release: str, policy: Policy, source: ResolvedSource | None
) -> Verification:
    names = ", ".join(f'"{each.release}"' for each in policy.held_with)
    if source is None:
        note = f"what it shows together with {names}: no source was given, in which its persons are found"
        return found.model_copy(update={"not_covered": (*found.not_covered, note)})
    named, k = [*policy.held_with, Earlier(release, key=policy.held_with[0].key)], policy.criteria.k
    try:
        joint = compare_releases(engine, source, named)
    except PolicyError as error:
        if error.heading == SEVERAL_ROLES:
            several = (f"together with {names}: {problem}" for problem in error.problems)
            return found.model_copy(update={"shortfalls": (*found.shortfalls, *several)})
        # A problem of the sources is not one of the release: a recorded policy, for one, has no paths of them.
        note = f"what it shows together with {names}, which cannot be determined: {reason_of(error)}"
        return found.model_copy(update={"not_covered": (*found.not_covered, note)})
    shortfalls = []
    if joint.k is not None and joint.k < k:
        shortfalls.append(f"together with {names}: joint classes have {joint.k:,} persons, not {k:,}")
    if joint.failing_classes:
        failing = f"{joint.failing_classes:,} joint classes do not meet its privacy models"
        shortfalls.append(f"together with {names}: {failing}")
    notes = (*found.notes, *joint.few_in_common)
    return found.model_copy(update={"shortfalls": (*found.shortfalls, *shortfalls), "notes": notes})


@contextmanager
def earlier_releases(
    engine: Engine,
    source: ResolvedSource,
    named: Sequence[Earlier],
    present: Policy | None = None,
    read: Callable[[ResolvedSource], ResolvedSource] = lambda found: found,
) -> Iterator[tuple[EarlierRelease, ...]]:
    """Find releases by name, and load their taxonomies for the time of the block.

    Args:
        source: the present source.
        present: the policy that names the releases, if any.
        read: replaces a release or its source by what is to be read of it.
    """
    if not named:
        yield ()
        return
    found = [_found(engine, source, each) for each in named]
    problems = [line for each in found if not isinstance(each, Found) for line in each]
    releases = [each for each in found if isinstance(each, Found)]
    policies = [*(each.policy for each in releases), *([] if present is None else [present])]
    if present is not None:
        engine.read_as(present.csv or Csv())
    zones = [*dict.fromkeys(policy.timezone for policy in policies)]
    if len(zones) > 1:
        problems.append(f"their policies have several time zones: {', '.join(zones)}")
    elif zones:
        engine.read_as(None, zones[0])
    if not problems:
        far = [each for each in (source, *(found.origin for found in releases)) if engine.is_far(each.relation)]
        problems = [f"{each.description} is not in the database: copy it there" for each in far]
        problems += [line for place in range(len(releases)) for line in _missing_before(releases, place)]
        problems += [] if named[0].key is not None else _other_codings(policies)
        shown = [(each.release.source.description, each.columns(engine)) for each in releases]
        shown += [] if present is None else [(PRESENT, shown_columns(engine, present, source))]
        if several := [*of_several_roles(*shown)]:
            raise PolicyError(SEVERAL_ROLES, [*several, *problems])
    if problems:
        raise PolicyError("the releases cannot be compared:", problems)
    with ExitStack() as stack:
        rules = {} if present is None else present.taxonomies
        bounds = [bound_to(stack, engine, rules, each, read) for each in releases]
        keys = _keys(named[0].key, policies, bounds)
        as_text = _are_of_several_types(engine, source, keys, bounds)
        yield tuple(
            EarlierRelease(
                name=each.release.source.description,
                bound=bound,
                labels=each.labels,
                released=read(each.release.source).relation,
                keys=of_source,
                is_by_person=named[0].key is not None,
                as_text=as_text,
                beside=_beside(releases, place),
                read=(each.release.source, each.origin),
                record=EarlierRecord(release=without_place(given.release), record_sha256=each.release.record_sha256),
                make_again=_make_again(each.labels),
            )
            for place, (given, each, bound, of_source) in enumerate(zip(named, releases, bounds, keys, strict=True))
        )


def read_with(releases: Sequence[EarlierRelease]) -> dict[str, ResolvedSource]:
    roles = ("earlier release", "source of its earlier release")
    return {
        f"{role} {number}": found
        for number, each in enumerate(releases, 1)
        for role, found in zip(roles, each.read, strict=True)
    }


def read_as_released(engine: Engine, release: str) -> None:
    """Configure the reading of CSV files and times as for a release."""
    _, _, policy = recorded_release(engine, release, engine.resolve, hashes_rows=False)
    engine.read_as(policy.csv, policy.timezone)


def _found(engine: Engine, source: ResolvedSource, named: Earlier) -> Found | list[str]:
    # Its rows need no hash: its classes are counted beside its source, and with the released number of rows none of
    # them can be missing. Other columns are not used.
    release, record, policy = recorded_release(engine, named.release, engine.resolve, hashes_rows=False)
    record = record.spelled_like(policy.quasi_identifiers)
    problems = [*in_the_way(release, record, policy)]
    rows = engine.fetch(counted_rows(release.source.relation), "rows of an earlier release")[0]["rows"]
    if record.rows is None:
        problems.append("its provenance lacks the number of its rows")
    elif rows != record.rows.released:
        problems.append(f"it has {rows:,} rows, and {record.rows.released:,} were released")
    if problems or record.labels is None:
        return [f"{release.source.description}: {problem}" for problem in problems]
    engine.read_as(policy.csv)
    origin = source if named.source is None else engine.resolve(named.source, restricted=True)
    return Found(release, record, policy, origin, record.labels)


def in_the_way(release: FoundRelease, record: Record, policy: Policy) -> Iterator[str]:
    yield from release.shortfalls
    method = policy.method
    has_classes = isinstance(method, FullDomain | TopDownSpecialization | LocalRecoding) and record.labels is not None
    if not has_classes or release.is_of_fit:
        yield WITHOUT_CLASSES
    if isinstance(method, LocalRecoding) and method.aggregate:
        yield WITH_AGGREGATES
    if policy.individual is not None:
        yield SEVERAL_ROWS
    if record.rows is not None and record.rows.masked:
        yield MASKED


def _make_again(labels: LabelsRecord) -> MakeAgain | None:
    """Return the function that finds the class of each row again, if its labels do not determine it."""
    if not isinstance(labels, ClassesRecord):
        return None
    from sqlanon.methods.local.local_classes import rows_made_again

    return rows_made_again


def _beside(releases: Sequence[Found], place: int) -> tuple[int, ...]:
    """Return the positions of the releases that this one was compared with."""
    hashes = [each.release.record_sha256 for each in releases[:place]]
    return tuple(hashes.index(each.record_sha256) for each in releases[place].record.earlier)


def _missing_before(releases: Sequence[Found], place: int) -> Iterator[str]:
    """Yield the releases that this one was compared with and that do not stand before it."""
    hashes = {each.release.record_sha256 for each in releases[:place]}
    for each in releases[place].record.earlier:
        if each.record_sha256 not in hashes:
            name = releases[place].release.source.description
            yield f'{name} was held together with "{each.release}", which has to stand before it in earlier, unchanged'


def bound_to(
    stack: ExitStack,
    engine: Engine,
    rules: Mapping[str, TaxonomyRule],
    found: Found,
    read: Callable[[ResolvedSource], ResolvedSource] = lambda found: found,
) -> BoundPolicy:
    """Bind the policy of a release to its source with its own taxonomies; refuse any others."""
    own, columns = found.policy, found.policy.taxonomy_columns
    others = _other_taxonomies(engine, found.record, columns)
    present = engine.taxonomy
    if others:
        # Records lack files of taxonomies: those of the present policy may be the right ones.
        present_rules = {name: rule for name, rule in rules.items() if name in columns}
        own = own.model_copy(update={"taxonomies": {**present_rules, **own.taxonomies}})
        stack.enter_context(reading_taxonomies(engine, engine.warehouse.anon("taxonomy")))
        stack.enter_context(own_taxonomies(engine, found.origin, own))
        others = _other_taxonomies(engine, found.record, columns)
    if others:
        raise PolicyError(
            f"{found.release.source.description} was made with other taxonomies than the present ones; load its own:",
            [f'"{name}" does not have the recorded hash' for name in others],
        )
    names = [each.name for each in engine.describe(found.origin.relation)]
    own = own.without_missing_identifiers(names)
    bound = prepare(engine, read(found.origin), own, has_earlier=True)
    stack.enter_context(reading_taxonomies(engine, present))
    return bound


def _other_taxonomies(engine: Engine, record: Record, columns: Sequence[str]) -> list[str]:
    same = stored_taxonomies.unchanged(engine, columns, record.taxonomy_sha256)
    return [name for name in columns if name not in same]


def _keys(key: str | None, policies: Sequence[Policy], bounds: Sequence[BoundPolicy]) -> list[tuple[str, ...]]:
    """Return per release the columns of its source that identify persons in the others.

    For a single unchanged source, these are the quasi-identifiers of all policies and the values they protect, which is
    all that matters of a row.
    """
    names = (name for policy in policies for name in (*policy.quasi_identifiers, *policy.protected_columns))
    read = dict.fromkeys(map(folded, names))
    return [keys_of(bound, [key] if key is not None else [*read]) for bound in bounds]


def _other_codings(policies: Sequence[Policy]) -> list[str]:
    """Find quasi-identifiers that policies code differently: their rows cannot be matched."""
    names = dict.fromkeys(folded(name) for policy in policies for name in policy.quasi_identifiers)
    problems = []
    for kind in ("bottom", "top"):
        codings = [
            {folded(name): value for name, value in getattr(policy, f"{kind}_coding").items()} for policy in policies
        ]
        problems += [
            f'"{name}" has a different {kind} coding in some of the policies: give a key'
            for name in names
            if len({coding.get(name) for coding in codings}) > 1
        ]
    return problems


def _are_of_several_types(
    engine: Engine, source: ResolvedSource, keys: Sequence[tuple[str, ...]], bounds: Sequence[BoundPolicy]
) -> bool:
    """Return whether keys have several types, or a type in which equal values have several texts."""
    found: dict[str, set[str]] = {}
    for columns in [engine.describe(source.relation), *(bound.columns for bound in bounds)]:
        for each in columns:
            found.setdefault(folded(each.name), set()).add(each.type if each.traits.has_one_text else "")
    return any(len(types) > 1 or "" in types for types in (found[folded(name)] for name in keys[0]))
