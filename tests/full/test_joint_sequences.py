"""Releases of several methods that follow each other, and values that change, against a naive count."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import oracle
from tests.effort import examples
from tests.property.test_joint_releases import (
    AGES,
    MODELS,
    SEXES,
    Labels,
    Rule,
    Seen,
    Snapshot,
    check_next,
    diverse,
    ill,
    joint_classes,
    load,
    load_ill,
    policy,
    sequences,
    shown,
    suppressed,
)
from tests.property.test_joint_releases import session as session


def forget(session: sa.Session) -> None:
    """Drop what earlier examples have published, which each run would be compared with."""
    for name in session.connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
    ).fetchall():
        session.connection.execute(f"DROP TABLE {name[0]}")


def top_down(k: int, earlier: Sequence[sa.Earlier]) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["tag"],
        identifiers=["id"],
        method=sa.TopDownSpecialization(k=k),
        earlier=earlier,
    )


def local(k: int, highest: int, earlier: Sequence[sa.Earlier]) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        identifiers=["id"],
        insensitive=["tag"],
        privacy=[sa.KAnonymity(k)],
        method=sa.LocalRecoding(suppression_limit=1.0),
        maximum_levels={"age": highest},
        earlier=earlier,
    )


def check_hidden(earlier: Sequence[dict[int, Labels]], snapshot: Snapshot, found: dict[int, Labels], k: int) -> None:
    """Local recoding hides whom it has to hide: all of too few, or some where persons of a joint class have gone."""
    groups: dict[tuple[Labels | None, ...], list[int]] = {}
    for person in {*snapshot, *(person for release in earlier for person in release)}:
        groups.setdefault(tuple(release.get(person) for release in earlier), []).append(person)
    for joint, persons in groups.items():
        present = [person for person in persons if person in snapshot]
        hidden = [person for person in present if person not in found]
        absent = len(persons) - len(present) if any(joint) else 0
        assert hidden == present if len(present) < k else bool(hidden) == (0 < absent < k)


@settings(max_examples=examples(32), deadline=None)
@given(
    sequences(),
    st.integers(2, 3),
    st.integers(1, 3),
    st.booleans(),
    st.lists(st.sampled_from(["node", "cut", "local"]), min_size=4, max_size=4),
)
def test_no_joint_class_of_several_methods_has_fewer_than_k_persons(
    session: sa.Session, sequence: list[Snapshot], k: int, highest: int, has_key: bool, kinds: list[str]
) -> None:
    forget(session)
    named: list[sa.Earlier] = []
    earlier: list[dict[int, Labels]] = []
    snapshots = sequence if has_key else [sequence[0]] * 3
    for place, (snapshot, kind) in enumerate(zip(snapshots, kinds, strict=False)):
        source, target = f"snapshot_{place if has_key else 0}", f"release_{place}"
        load(session, source, snapshot)
        wanted = {"node": policy(k, 0.5, named), "cut": top_down(k, named), "local": local(k, highest, named)}[kind]
        try:
            release = session.anonymize(source, wanted, target, replace=True)
            found = shown(session, target)
        except sa.UnsatisfiableError:
            release, found = None, {}
        if kind == "local" and highest == 3:
            check_hidden(earlier, snapshot, found, k)
        if release is None:
            at_top = [*earlier, dict.fromkeys(snapshot, ("*", "*"))]
            assert kind != "cut" or min(oracle.joint_classes(at_top).values()) < k
            continue
        covering = {person: (AGES[age], SEXES[sex]) for person, (age, sex) in snapshot.items()}
        assert all(age in covering[tag][0] and sex in covering[tag][1] for tag, (age, sex) in found.items())
        assert kind != "cut" or found.keys() == snapshot.keys()
        if kind == "node":
            levels = release.node["age"], release.node["sex"]
            hidden = suppressed(earlier, snapshot, levels, k, is_by_person=has_key)
            assert release.report.suppressed_rows == hidden <= len(snapshot) / 2
        named.append(sa.Earlier(target, source=source, key="id") if has_key else sa.Earlier(target))
        earlier.append(found)
        assert min(oracle.joint_classes(earlier).values()) >= k
        if len(named) > 1:
            assert release.report.joint is not None
            assert release.report.joint.k == min(oracle.joint_classes(earlier).values())
    if len(named) > 1:
        assert session.compare_releases(named, source=source).k == min(oracle.joint_classes(earlier).values())


@st.composite
def ill_sequences(draw: st.DrawFn) -> list[tuple[Snapshot, dict[int, str]]]:
    """Snapshots of persons with illnesses; few persons change theirs from one snapshot to the next."""
    found: list[tuple[Snapshot, dict[int, str]]] = []
    before: dict[int, str] = {}
    for snapshot in draw(sequences()):
        changed = draw(st.dictionaries(st.sampled_from(sorted(snapshot)), ill, max_size=4))
        new = {person: draw(ill) for person in snapshot if person not in before}
        before = {**before, **new, **changed}
        found.append((snapshot, {person: before[person] for person in snapshot}))
    return found


@pytest.mark.deep
@settings(max_examples=examples(32), deadline=None)
@given(ill_sequences(), st.integers(2, 3), st.sampled_from([*MODELS]))
def test_values_that_change_meet_the_models(
    session: sa.Session, sequence: list[tuple[Snapshot, dict[int, str]]], k: int, name: str
) -> None:
    forget(session)
    named: list[sa.Earlier] = []
    seen: list[Seen] = []
    for place, (snapshot, illnesses) in enumerate(sequence):
        for table in ("patients", f"snapshot_{place}"):
            load_ill(session, table, snapshot, illnesses)
        wanted, target = diverse(k, name, named, ["age", "sex"]), f"release_{place}"
        if check_next(session, target, wanted, snapshot, illnesses, seen):
            named.append(sa.Earlier(target, source=f"snapshot_{place}", key="id"))


@settings(max_examples=examples(16), deadline=None)
@given(
    ill_sequences(),
    st.integers(2, 3),
    st.sampled_from([*MODELS]),
    st.booleans(),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_values_in_classes_with_levels_of_their_own_meet_them(
    session: sa.Session,
    sequence: list[tuple[Snapshot, dict[int, str]]],
    k: int,
    name: str,
    has_key: bool,
    are_local: list[bool],
) -> None:
    forget(session)
    rule, named, seen = Rule(k, MODELS[name][1]), list[sa.Earlier](), list[Seen]()
    snapshots = sequence if has_key else [sequence[0]] * 3
    for place, ((snapshot, illnesses), is_local) in enumerate(zip(snapshots, are_local, strict=False)):
        source, target = f"snapshot_{place if has_key else 0}", f"release_{place}"
        load_ill(session, source, snapshot, illnesses)
        models = {"sensitive": ["illness"], "privacy": [sa.KAnonymity(k), MODELS[name][0]]}
        wanted = local(k, 3, named).changed(models) if is_local else diverse(k, name, named, ["age", "sex"])
        try:
            session.anonymize(source, wanted, target, replace=True)
        except sa.UnsatisfiableError:
            continue
        named.append(sa.Earlier(target, source=source, key="id") if has_key else sa.Earlier(target))
        seen.append(Seen(shown(session, target), illnesses))
        joint = joint_classes(seen)
        assert all(rule.is_met(persons, labels, seen) for labels, persons in joint.items() if any(labels))
        last = target, wanted, source
    if len(named) > 1:
        target, wanted, source = last
        assert session.compare_releases(named, source=source).failing_classes == 0
        assert session.verify(target, wanted, source=source).met
