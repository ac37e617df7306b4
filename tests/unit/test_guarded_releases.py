"""What decides whether releases may be shown: limits on suppression, joint classes, and counts in a report."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.joint.beside import few_in_common, refuse_strangers
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.release.joint import JointClasses, OtherRelease
from sqlanon.queries.source import ColumnOrigin
from sqlanon.run.recorded import ShownColumn, of_several_roles
from sqlanon.run.reported_release import unless_few
from sqlanon.search.problem import SearchProblem


def joint(k: int | None, required: int | None = 5, failing: int | None = None) -> JointClasses:
    return JointClasses(
        releases=("a", "b"),
        k=k,
        required_k=required,
        class_count=2,
        person_count=9,
        unique_persons=0,
        persons_at_risk=0,
        failing_classes=failing,
    )


@pytest.mark.parametrize(
    ("found", "is_met"),
    [
        (joint(5), True),
        (joint(4), False),
        (joint(None), True),
        (joint(1, None), True),
        (joint(5, failing=0), True),
        (joint(5, failing=1), False),
    ],
)
def test_joint_classes_that_are_large_enough(found: JointClasses, is_met: bool) -> None:
    assert found.met == is_met
    assert OtherRelease(release="a", joint=found).is_met == is_met
    assert not OtherRelease(release="a", joint=found, unjudged=("t-closeness",)).is_met
    assert not OtherRelease(release="a", reason="it is gone").is_met


def shown(name: str, role: str | None, origin: str | None = None, *tables: str) -> ShownColumn:
    return ShownColumn(name, role, None if origin is None else ColumnOrigin(origin, frozenset(tables)))


CODE = ("code", "places")


@pytest.mark.parametrize(
    ("kept", "origin", "words"),
    [
        (shown("ZIP", "sensitive in"), CODE, "sensitive in s: "),
        (shown("zip", None), CODE, None),
        (shown("tag", "insensitive in"), CODE, None),
        (shown("plz", "insensitive in"), CODE, None),
        (shown("plz", "insensitive in", "zip"), CODE, None),
        (shown("plz", "insensitive in", "Code", "places"), CODE, 'insensitive in s as "plz": '),
        (shown("plz", "insensitive in", "code"), CODE, 'insensitive in s as "plz": '),
        (shown("plz", "insensitive in", "code", "others"), CODE, None),
        (shown("plz", "insensitive in", "town", "places"), CODE, None),
        (shown("plz", "insensitive in", "code", "others"), ["code"], 'insensitive in s as "plz": '),
        (shown("plz", "insensitive in", "code", "places"), [None], None),
    ],
)
def test_columns_that_are_generalized_and_kept(kept: ShownColumn, origin: list[str], words: str | None) -> None:
    """By their names, or by the column of the same table, or of a source without a name, that they are."""
    known = shown("zip", None, *origin)
    found = [*of_several_roles(("r", [known, shown("tag", "insensitive in")]), ("s", [kept]))]
    assert len(found) == (words is not None)
    assert all(line.startswith(f'"zip" is a quasi-identifier of r and {words}') for line in found)
    assert not [*of_several_roles(("r", [known, kept]))]


@pytest.mark.parametrize(
    ("persons", "strangers", "few"),
    [
        ({"ab": 5, "bc": 5}, "", ""),
        ({"ab": 5, "c": 1}, "c", ""),
        ({"ab": 1, "cd": 1}, "c and d", ""),
        ({"b": 4, "a": 4}, "b", ""),
        ({"ab": 1, "a": 9, "b": 1}, "", ""),
        ({"ab": 1, "a": 9, "b": 2}, "", "ab"),
        ({"ab": 2, "bc": 1, "c": 2}, "", "c"),
        ({"a": 3}, "", ""),
        ({}, "", ""),
    ],
)
def test_persons_in_common(persons: dict[str, int], strangers: str, few: str) -> None:
    """Chains of sources have persons in common; few of one are fewer than half of those of the smaller source."""
    rows = [{"anon_are_in": [name in names for name in "abcd"], "anon_persons": n} for names, n in persons.items()]
    made: list[object] = []
    engine = cast(Any, SimpleNamespace(run=made.append, fetch=lambda *_: rows if made else []))
    key = SimpleNamespace(name="id", type="INTEGER")
    sources = [
        (cast(Any, SimpleNamespace(source=exp.to_table(name), description=name, columns=[key])), "id")
        for name in "abcd"
    ]
    if strangers:
        with pytest.raises(sa.PolicyError, match=f'^no key "id" of {strangers} is in '):
            refuse_strangers(engine, sources, as_text=False)
        return
    refuse_strangers(engine, sources, as_text=False)
    found = few_in_common(engine, sources)
    assert [line.removeprefix("fewer than half of the persons of ")[0] for line in found] == [*few]


def test_no_keys() -> None:
    refuse_strangers(cast(Any, None), [], as_text=False)
    assert few_in_common(cast(Any, None), []) == ()


def test_counts_that_differ_by_few_are_not_shown() -> None:
    cases = {(None, 5): None, (5, 5): 5, (8, 5): 8, (7, 5): None, (6, 5): None, (2, 5): 2, (3, 5): None, (4, 5): None}
    assert {(before, after): unless_few(before, after, 3) for before, after in cases} == cases


@pytest.mark.parametrize(
    ("suppressed", "kept", "rejected", "satisfies"),
    [(3, 1, False, True), (4, 1, False, False), (0, 0, False, False), (3, 1, True, False)],
)
def test_nodes_within_the_limit(suppressed: int, kept: int, rejected: bool, satisfies: bool) -> None:
    summary = NodeSummary(
        (0,), class_count=5, kept_class_count=kept, suppressed_rows=suppressed, certain_suppressed_rows=0
    )
    summary = replace(summary, rejected=rejected)
    problem = cast(Any, SimpleNamespace(context=SimpleNamespace(allowed_rows=3)))
    assert SearchProblem.satisfies(problem, summary) == satisfies


def test_rows_that_may_be_suppressed() -> None:
    """A tenth of all rows, those that were left out before among them."""
    policy = sa.Policy(quasi_identifiers=["a"], privacy=[sa.KAnonymity(2)], suppression_limit=0.1)
    assert [policy.allowed_rows(29), policy.allowed_rows(30), policy.allowed_rows(28, 2)] == [2, 3, 1]
    assert policy.allowed_rows(8, 2) == -1
    local = sa.Policy(quasi_identifiers=["a"], sensitive=["s"], method=sa.Relocation(k=2))
    assert local.allowed_rows(30, 2) == local.allowed_rows(30) == 1
