"""A release at a cut, which is no node of the lattice: published, verified, and held against the oracle."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.model.release import RowCounts
from tests import oracle
from tests.case_tables import fill, make_schema
from tests.conftest import clinic_policy
from tests.effort import examples
from tests.exercises import public_cut
from tests.exercises.public_cut import CutReport, Labels, PublicCut
from tests.oracle import Row, Rows, Taxonomy, Value
from tests.strategies import Case, cases

CUT: dict[str, Labels] = {
    "age": ((1, "[20, 30)"), (1, "[30, 40)"), (2, "[40, 60)"), (2, "[60, 80)")),
    "sex": ((0, "f"), (0, "m")),
    "zip": ((2, "1****"),),
}
"""Ages by ten years below 40, and by twenty above."""


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """As long as these tests run: others look at what is in the package."""
    sa.register(**public_cut.REGISTRATION)
    yield
    sa.unregister(**public_cut.REGISTRATION)


def cut_policy(*models: object, cut: Mapping[str, Labels] | None = None, **options: object) -> sa.Policy:
    return clinic_policy(
        *(models or [sa.KAnonymity(2)]), method=PublicCut(cut=cut or CUT), **{"suppression_limit": 0.5, **options}
    )


def rows_of(session: sa.Session, table: str) -> list[dict[str, object]]:
    relation = session.connection.table(table)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


class TestTheClinic:
    def test_its_classes(self, clinic: sa.Session) -> None:
        release = clinic.anonymize("visits", cut_policy(), "released")
        rows = Counter((row["age"], row["sex"], row["zip"]) for row in rows_of(clinic, "released"))
        assert rows == {("[30, 40)", "f", "1****"): 2, ("[40, 60)", "f", "1****"): 4, ("[40, 60)", "m", "1****"): 3}
        assert isinstance(release.report, CutReport)
        assert (release.node, release.report.cut) == ({}, CUT)
        assert release.report.rows == RowCounts(source=12, released=9, masked=0, dropped=3)
        assert (release.report.class_count, release.report.min_class_size) == (3, 2)

    def test_it_is_verified_by_the_labels_that_it_tells(self, clinic: sa.Session, tmp_path: Path) -> None:
        file = tmp_path / "released.parquet"
        clinic.anonymize("visits", cut_policy(), file)
        found = clinic.verify(file, cut_policy())
        assert (found.met, found.notes) == (True, ())

    def test_a_label_that_is_none_of_the_cut_is_found(self, clinic: sa.Session) -> None:
        clinic.anonymize("visits", cut_policy(), "released")
        clinic.connection.execute("UPDATE released SET age = '[40, 50)' WHERE sex = 'm'")
        with pytest.raises(sa.VerificationError, match="does not have in the cut of the release"):
            clinic.verify("released", cut_policy())

    def test_levels_that_the_policy_does_not_allow_are_found(self, clinic: sa.Session) -> None:
        clinic.anonymize("visits", cut_policy(), "released")
        with pytest.raises(sa.VerificationError, match='"age" is at level 1, where the policy asks for at least 2'):
            clinic.verify("released", cut_policy(minimum_levels={"age": 2}))

    def test_every_model_is_met(self, clinic: sa.Session) -> None:
        models = sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), sa.TCloseness("diagnosis", 0.5)
        release = clinic.anonymize("visits", cut_policy(*models), "released")
        assert all(each.met for each in release.report.models)
        classes: dict[tuple[object, ...], set[object]] = {}
        for row in rows_of(clinic, "released"):
            classes.setdefault((row["age"], row["sex"], row["zip"]), set()).add(row["diagnosis"])
        assert classes.keys() == {("[40, 60)", "f", "1****"), ("[40, 60)", "m", "1****")}
        assert all(len(values) >= 2 for values in classes.values())

    @pytest.mark.parametrize(
        ("labels", "problem"),
        [
            (CUT["age"][1:], "10 values have none of the labels"),
            ((*CUT["age"], (2, "[20, 40)")), "20 values have more than one"),
        ],
        ids=["gap", "overlap"],
    )
    def test_what_is_no_cut_is_refused(self, clinic: sa.Session, labels: Labels, problem: str) -> None:
        with pytest.raises(sa.PolicyError, match=problem):
            clinic.anonymize("visits", cut_policy(cut={**CUT, "age": labels}), "released")
        assert "released" not in [name for (name,) in clinic.connection.execute("SHOW TABLES").fetchall()]

    def test_what_does_not_meet_the_policy_is_refused(self, clinic: sa.Session) -> None:
        with pytest.raises(sa.UnsatisfiableError, match="3 of 12 rows"):
            clinic.anonymize("visits", cut_policy(suppression_limit=0.2), "released")

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        purposes = [step.purpose for step in clinic.explain("visits", cut_policy())]
        assert 'labels of "age" at a cut' in purposes
        assert "the release" in purposes


def test_labels_of_several_levels_that_read_the_same_are_one(clinic: sa.Session) -> None:
    clinic.connection.execute("CREATE TABLE given AS SELECT range AS a FROM range(4)")
    clinic.taxonomies.load("a", sa.Taxonomy.from_rows([[str(a), str(a // 2), "*"] for a in range(4)]))
    cut: dict[str, Labels] = {"a": ((0, "0"), (0, "1"), (1, "1"))}
    policy = sa.Policy(
        quasi_identifiers=["a"], privacy=[sa.KAnonymity(3)], suppression_limit=0.5, method=PublicCut(cut=cut)
    )
    clinic.anonymize("given", policy, "released")
    assert rows_of(clinic, "released") == [{"a": "1"}] * 3


@dataclass(frozen=True)
class Task:
    """A table, a cut of each of its taxonomies, and how many rows a class must have."""

    case: Case
    cut: dict[str, list[tuple[int, str]]]
    k: int

    @property
    def expected(self) -> Counter[tuple[Value, ...]]:
        """The rows that are published, in the order of their columns."""
        case = self.case
        names = case.quasi_identifiers
        labelled = [
            {**row, **{name: label_of(case.taxonomies[name], self.cut[name], row[name]) for name in names}}
            for row in case.rows
        ]
        sizes = oracle.counts(labelled, names)
        kept = [row for row in labelled if sizes[tuple(row[name] for name in names)] >= self.k]
        return as_counts(kept, list(case.columns))


def as_counts(rows: Rows, columns: Sequence[str]) -> Counter[tuple[Value, ...]]:
    return Counter(tuple(row[name] for name in columns) for row in rows)


def label_of(taxonomy: Taxonomy, cut: Sequence[tuple[int, str]], value: Value) -> str | None:
    """The label of the cut that a value is under; NULL is its own label if it is under none."""
    found = [label for level, label in cut if oracle.label_of(taxonomy, level, value) == label]
    assert len(found) == 1 or (value is None and not found)
    return found[0] if found else None


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    case = draw(cases(min_rows=1, max_quasi_identifiers=3))

    def split(taxonomy: Taxonomy, level: int, label: str) -> Iterator[tuple[int, str]]:
        if level == 0 or not draw(st.booleans()):
            yield level, label
            return
        for below in dict.fromkeys(row[level - 1] for row in taxonomy if row[level] == label):
            if below is not None:
                yield from split(taxonomy, level - 1, below)

    taxonomies = case.taxonomies
    cut = {name: list(split(taxonomies[name], oracle.height(taxonomies[name]), "*")) for name in case.quasi_identifiers}
    return Task(case, cut, draw(st.integers(2, 4)))


@cache
def session() -> sa.Session:
    """One session for all examples, each of which replaces its table and its taxonomies."""
    connection = duckdb.connect(config={"threads": 1})
    make_schema(connection)
    return sa.connect(connection)


@settings(max_examples=examples(40), deadline=None)
@given(tasks())
def test_against_the_oracle(task: Task) -> None:
    case, connection = task.case, session().connection
    fill(connection, case)
    others = [name for name in case.columns if name not in case.quasi_identifiers]
    policy = sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        insensitive=others,
        privacy=[sa.KAnonymity(task.k)],
        suppression_limit=1.0,
        method=PublicCut(cut=task.cut),
    )
    connection.execute("DROP TABLE IF EXISTS released")
    if not task.expected:
        with pytest.raises(sa.UnsatisfiableError):
            session().anonymize("given", policy, "released")
        return
    release = session().anonymize("given", policy, "released")
    rows: list[Row] = rows_of(session(), "released")  # type: ignore[assignment]
    assert as_counts(rows, list(case.columns)) == task.expected
    assert release.report.min_class_size == min(oracle.class_sizes(rows, case.quasi_identifiers)) >= task.k
    assert session().verify("released", policy).met
    (comment,) = connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'released'").fetchall()
    assert json.loads(comment[0])["sqlanon"]["labels"]["labels"] == {
        name: [list(each) for each in cut] for name, cut in task.cut.items()
    }
