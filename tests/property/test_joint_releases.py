"""Releases that follow each other against a naive count: persons come, go and change, and are left out.

A column that no release generalizes has the key of each person, so that whoever sees the releases links all rows
without an error: the strongest attacker of spec/earlier.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.privacy import PrivacyModel
from tests import oracle
from tests.effort import examples

Labels = tuple[str, str]

Snapshot = Mapping[int, tuple[int, str]]
"""The age and the sex of each person."""

AGES = {age: [str(age), f"{age // 2 * 2}-{age // 2 * 2 + 1}", "0-3" if age < 4 else "4-7", "*"] for age in range(8)}
SEXES = {"f": ["f", "*"], "m": ["m", "*"]}
ILLNESSES = [("flu", "airways", "*"), ("cold", "airways", "*"), ("gout", "joints", "*")]
NODES = [(age, sex) for age in range(4) for sex in range(2)]

people = st.tuples(st.integers(0, 7), st.sampled_from("fm"))
snapshots = st.dictionaries(st.integers(0, 23), people, min_size=1)


@st.composite
def sequences(draw: st.DrawFn) -> list[Snapshot]:
    """Each snapshot keeps most persons of the one before, so that a joint class lacks few; one person is in all."""
    found = [draw(snapshots)]
    stays = min(found[0])
    for number in range(1, draw(st.integers(2, 4))):
        before = found[-1]
        known = st.sampled_from(sorted(before))
        moved = {**before, **draw(st.dictionaries(known, people, max_size=3))}
        left = draw(st.sets(known, max_size=3)) - {stays}
        came = draw(st.dictionaries(st.integers(number * 100, number * 100 + 5), people, max_size=6))
        snapshot = {**{person: facts for person, facts in moved.items() if person not in left}, **came}
        found.append(snapshot)
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(":memory:") as session:
        session.connection.execute("SET threads = 1")
        session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES.values()))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows(SEXES.values()))
        session.taxonomies.load("illness", sa.Taxonomy.from_rows(ILLNESSES))
        yield session


def load(session: sa.Session, name: str, snapshot: Snapshot) -> None:
    persons = [*snapshot]
    ages, sexes = (list(each) for each in zip(*snapshot.values(), strict=True))
    table = pa.table({"id": persons, "tag": persons, "age": ages, "sex": sexes})
    session.connection.register("snapshot", table)
    session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM snapshot")
    session.connection.unregister("snapshot")


def policy(k: int, limit: float, earlier: Sequence[sa.Earlier]) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        identifiers=["id"],
        insensitive=["tag"],
        privacy=[sa.KAnonymity(k)],
        suppression_limit=limit,
        earlier=earlier,
    )


def shown(session: sa.Session, name: str) -> dict[int, Labels]:
    """The labels of each person whom a release shows."""
    rows = session.connection.execute(f"SELECT tag, age, sex FROM {name}").fetchall()
    return {tag: (age, sex) for tag, age, sex in rows}


def at(node: tuple[int, int], snapshot: Snapshot) -> dict[int, Labels]:
    return {person: (AGES[age][node[0]], SEXES[sex][node[1]]) for person, (age, sex) in snapshot.items()}


def suppressed(
    earlier: Sequence[dict[int, Labels]],
    snapshot: Snapshot,
    node: tuple[int, int],
    k: int,
    *,
    is_by_person: bool = True,
) -> int:
    shown_there = oracle.shown_beside(earlier, at(node, snapshot), k, is_by_person=is_by_person)
    return len(snapshot) - shown_there.total()


@settings(max_examples=examples(32), deadline=None)
@given(sequences(), st.integers(2, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_no_joint_class_has_fewer_than_k_persons(
    session: sa.Session, sequence: list[Snapshot], k: int, limit: float
) -> None:
    named: list[sa.Earlier] = []
    earlier: list[dict[int, Labels]] = []
    for place, snapshot in enumerate(sequence):
        source, target = f"snapshot_{place}", f"release_{place}"
        load(session, source, snapshot)
        allowed = int(Decimal(str(limit)) * len(snapshot))
        counts = {node: suppressed(earlier, snapshot, node, k) for node in NODES}
        satisfying = {node for node, rows in counts.items() if rows <= allowed and rows < len(snapshot)}
        try:
            release = session.anonymize(source, policy(k, limit, named), target, replace=True)
        except sa.UnsatisfiableError:
            assert not satisfying
            continue
        node = (release.node["age"], release.node["sex"])
        assert node in satisfying
        assert release.report.suppressed_rows == counts[node]
        without_tags = {"identifiers": ["id", "tag"], "insensitive": [], "search": "exhaustive"}
        other = session.anonymize(source, policy(k, limit, named).changed(without_tags), "other", replace=True)
        assert other.report.loss == pytest.approx(release.report.loss)
        named.append(sa.Earlier(target, source=source, key="id"))
        earlier.append(shown(session, target))
        if other.node == release.node:
            rows = session.connection.execute("SELECT age, sex FROM other").fetchall()
            assert Counter(rows) == Counter(earlier[-1].values())
        assert len(earlier[-1]) == len(snapshot) - counts[node]
        assert earlier[-1].items() <= at(node, snapshot).items()
        assert min(oracle.joint_classes(earlier).values()) >= k


QUASI_IDENTIFIERS = (["age"], ["sex"], ["age", "sex"])


nodes = st.builds(
    lambda names, age, sex: {name: level for name, level in (("age", age), ("sex", sex)) if name in names},
    st.sampled_from(QUASI_IDENTIFIERS),
    st.integers(0, 3),
    st.integers(0, 1),
)


@settings(max_examples=examples(32), deadline=None)
@given(snapshots, nodes, nodes, st.tuples(st.integers(2, 4), st.integers(2, 4)))
def test_a_run_counts_the_joint_classes_with_another_release(
    session: sa.Session, snapshot: Snapshot, one: dict[str, int], other: dict[str, int], k: tuple[int, int]
) -> None:
    load(session, "snapshot_0", snapshot)
    session.connection.execute("DROP TABLE IF EXISTS anon.releases")
    releases: list[dict[int, tuple[str, ...]]] = []
    for name, node, least in zip(("one", "other"), (one, other), k, strict=True):
        fields = {"quasi_identifiers": [*node], "identifiers": ["id", *({"age", "sex"} - {*node})]}
        wanted = policy(least, 1.0, ()).changed(fields)
        try:
            release = session.anonymize("snapshot_0", wanted, name, node=node, replace=True)
        except sa.UnsatisfiableError:
            return
        rows = session.connection.execute(f"SELECT tag, {', '.join(node)} FROM {name}").fetchall()
        releases.append({tag: tuple(labels) for tag, *labels in rows})
    assert release.report.findings is not None
    (found,) = (each.joint for each in release.report.findings.other_releases)
    sizes = oracle.joint_classes(releases)
    assert found is not None
    assert (found.k, found.class_count, found.person_count) == (min(sizes.values()), len(sizes), sizes.total())
    assert found.unique_persons == sum(size == 1 for size in sizes.values())
    assert found.persons_at_risk == sum(size for size in sizes.values() if size < min(k))


ill = st.sampled_from(["flu", "flu", "cold", "gout"])
Meets = Callable[[Sequence[str], Sequence[str]], bool]
DIFFERENCE = 1e-9
"""Of two orders of the same sum."""


def ordered_distance(values: Sequence[str], source: Sequence[str]) -> float:
    return oracle.ordered_distance(values, source, sorted({*source}))


MODELS: dict[str, tuple[PrivacyModel, Meets]] = {
    "distinct": (sa.DistinctLDiversity("illness", 2), lambda values, _: oracle.distinct_diversity(values) >= 2),
    "alpha": (sa.AlphaKAnonymity("illness", 0.5, 2), lambda values, _: oracle.largest_share(values) <= 0.5),
    "recursive": (sa.RecursiveCLDiversity("illness", 2, 2), lambda values, _: oracle.recursive_ratio(values, 2) < 2),
    "entropy": (
        sa.EntropyLDiversity("illness", 1.8),
        lambda values, _: oracle.entropy_diversity(values) >= 1.8 - DIFFERENCE,
    ),
    "close": (
        sa.TCloseness("illness", 0.3),
        lambda values, source: oracle.equal_distance(values, source) <= 0.3 + DIFFERENCE,
    ),
    "close in order": (
        sa.TCloseness("illness", 0.2, distance="ordered"),
        lambda values, source: ordered_distance(values, source) <= 0.2 + DIFFERENCE,
    ),
    "close by organs": (
        sa.TCloseness("illness", 0.2, distance="hierarchical"),
        lambda values, source: oracle.hierarchical_distance(values, source, ILLNESSES) <= 0.2 + DIFFERENCE,
    ),
    "likeness": (
        sa.BetaLikeness("illness", 0.7),
        lambda values, source: oracle.basic_likeness(values, source) <= 0.7 + DIFFERENCE,
    ),
    "disclosure": (
        sa.DeltaDisclosure("illness", 1.2),
        lambda values, source: oracle.disclosure(values, source) < 1.2 - DIFFERENCE,
    ),
}
"""A model, and whether the illnesses of a class meet it beside those of the source."""


@dataclass(frozen=True)
class Seen:
    """A release as one who sees it has it: the labels of persons, and the illness of everybody in its source."""

    labels: dict[int, Labels]
    illnesses: dict[int, str]


@dataclass(frozen=True)
class Rule:
    """What joint classes have to meet."""

    k: int
    model: Meets

    def is_met(self, persons: Iterable[int], joint: Sequence[Labels | None], releases: Sequence[Seen]) -> bool:
        """Whether persons are k at least, with illnesses as the model asks for in each release that shows them."""
        persons = [*persons]
        shown = [release.illnesses for release, labels in zip(releases, joint, strict=True) if labels is not None]
        return len(persons) >= self.k and all(
            self.model([illnesses[person] for person in persons], [*illnesses.values()]) for illnesses in shown
        )


def joint_classes(releases: Sequence[Seen], others: Iterable[int] = ()) -> dict[tuple[Labels | None, ...], list[int]]:
    """The persons of all sources, and others, by their labels."""
    found: dict[tuple[Labels | None, ...], list[int]] = {}
    for person in sorted({*others, *(person for release in releases for person in release.illnesses)}):
        found.setdefault(tuple(release.labels.get(person) for release in releases), []).append(person)
    return found


def left_out(earlier: Sequence[Seen], present: Seen, rule: Rule) -> set[int]:
    """How many a release leaves out beside others: several numbers where classes are of one size.

    Where those who are hidden of a joint class, or have gone, do not meet the models, they are hidden with the smallest
    class of it.
    """
    numbers = {0}
    for joint, persons in joint_classes(earlier, present.labels).items():
        found = _left_out_of(joint, persons, earlier, present, rule)
        numbers = {one + other for one in numbers for other in found}
    return numbers


def _left_out_of(
    joint: tuple[Labels | None, ...], persons: Sequence[int], earlier: Sequence[Seen], present: Seen, rule: Rule
) -> set[int]:
    """How many of the persons of one joint class are left out."""
    absent = [person for person in persons if person not in present.labels]
    classes: dict[Labels, list[int]] = {}
    for person in persons:
        if person in present.labels:
            classes.setdefault(present.labels[person], []).append(person)
    met, hidden = [], [*absent]
    for label, found in classes.items():
        is_met = rule.is_met(found, (*joint, label), (*earlier, present))
        met += [found] if is_met else []
        hidden += [] if is_met else found
    left = len(hidden) - len(absent)
    if not any(joint) or not hidden or rule.is_met(hidden, joint, earlier):
        return {left}
    least = min(map(len, met), default=0)
    lent = [found for found in met if len(found) == least] or [[]]
    whole = sum(map(len, classes.values()))
    return {left + least if rule.is_met([*hidden, *found], joint, earlier) else whole for found in lent}


def load_ill(session: sa.Session, name: str, snapshot: Snapshot, illnesses: Mapping[int, str]) -> None:
    load(session, name, snapshot)
    session.connection.execute(f"ALTER TABLE {name} ADD COLUMN illness VARCHAR")
    session.connection.executemany(
        f"UPDATE {name} SET illness = $2 WHERE id = $1", [[person, illnesses[person]] for person in snapshot]
    )


def diverse(k: int, model: str, earlier: Sequence[sa.Earlier], names: Sequence[str]) -> sa.Policy:
    fields = {
        "quasi_identifiers": names,
        "sensitive": ["illness"],
        "privacy": [sa.KAnonymity(k), MODELS[model][0]],
        "identifiers": ["id", *({"age", "sex"} - {*names})],
    }
    return policy(k, 0.5, earlier).changed(fields)


def check_next(
    session: sa.Session, target: str, wanted: sa.Policy, snapshot: Snapshot, illnesses: dict[int, str], seen: list[Seen]
) -> bool:
    """Anonymize a snapshot, the table "patients", and check the release against a naive count; whether there is one."""
    names = wanted.quasi_identifiers
    rule = Rule(wanted.criteria.k, next(meets for model, meets in MODELS.values() if model in wanted.privacy))
    counts = {}
    for node in {(age if "age" in names else 3, sex if "sex" in names else 1) for age, sex in NODES}:
        counts[node] = left_out(seen, Seen(at(node, snapshot), illnesses), rule)
    satisfying = {node for node, numbers in counts.items() if 2 * max(numbers) <= len(snapshot)}
    try:
        release = session.anonymize("patients", wanted, target, replace=True)
    except sa.UnsatisfiableError:
        assert not satisfying
        return False
    node = (release.node.get("age", 3), release.node.get("sex", 1))
    assert release.report.suppressed_rows in counts[node]
    rows = session.connection.execute(f"SELECT tag, {', '.join(names)} FROM {target}").fetchall()
    seen.append(Seen({tag: tuple(labels) for tag, *labels in rows}, illnesses))
    joint = joint_classes(seen)
    assert all(rule.is_met(persons, labels, seen) for labels, persons in joint.items() if any(labels))
    return True


@settings(max_examples=examples(32), deadline=None)
@given(
    st.lists(st.tuples(people, ill), min_size=1, max_size=24),
    st.lists(st.sampled_from(QUASI_IDENTIFIERS), min_size=2, max_size=4),
    st.integers(2, 3),
    st.sampled_from([*MODELS]),
)
def test_values_of_joint_classes_meet_the_models(
    session: sa.Session, rows: list[tuple[tuple[int, str], str]], columns: list[list[str]], k: int, name: str
) -> None:
    snapshot, illnesses = dict(enumerate(person for person, _ in rows)), dict(enumerate(each for _, each in rows))
    load_ill(session, "patients", snapshot, illnesses)
    named: list[sa.Earlier] = []
    seen: list[Seen] = []
    for place, names in enumerate(columns):
        wanted, target = diverse(k, name, named, names), f"release_{place}"
        if check_next(session, target, wanted, snapshot, illnesses, seen):
            named.append(sa.Earlier(target))
