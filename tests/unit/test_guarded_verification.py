"""What a verification finds by what is recorded, and whether a release that falls short is refused."""

from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.labels import ClassesRecord, NodeRecord
from sqlanon.model.record import Record, ReportRecord, RowsRecord
from sqlanon.model.release import Measurement, Verification
from sqlanon.verification.verify import misfits, other_counts, other_levels, shortfalls_of, unlisted_classes
from tests.engines import engine_of

POLICY = sa.Policy(
    quasi_identifiers=["age", "zip"],
    sensitive=["illness"],
    identifiers=["name"],
    privacy=[sa.KAnonymity(2)],
    minimum_levels={"age": 1},
    maximum_levels={"zip": 2},
)
COUNTED = sa.Policy(
    quasi_identifiers=["age"], sensitive=["illness"], method=sa.DiffGen(budget=sa.Budget(1), target="illness")
)


def measured(row_count: int = 12, class_count: int = 3, k: int | None = 4) -> Measurement:
    return Measurement(source="t", row_count=row_count, class_count=class_count, k=k)


def record(labels: Any = None, rows: Any = None, **report: int) -> Record:
    return Record(format=1, version="", code_sha256="", labels=labels, rows=rows, report=ReportRecord(**report))


NODE = NodeRecord(levels={"age": 1, "zip": 2})


class TestColumns:
    def test_those_of_the_policy_fit(self) -> None:
        assert [*misfits(POLICY, ("AGE", "zip", "illness"))] == []

    def test_others_and_those_that_lack(self) -> None:
        assert [*misfits(POLICY, ("age", "NAME", "illness", "more"))] == [
            'it has the identifier "name"',
            'it has the column "more", to which the policy gives no role',
            'it lacks the column "zip", which the policy releases',
        ]


class TestCounts:
    def test_those_of_the_record_fit(self) -> None:
        rows = RowsRecord(released=12)
        assert [*other_counts(record(NODE, rows, class_count=3, min_class_size=4), POLICY, measured())] == []
        assert [*other_counts(record(NODE), POLICY, measured())] == []
        assert [*other_counts(record(NODE, min_class_size=0), POLICY, measured(k=None))] == []
        assert [*other_counts(Record(format=1, version="", code_sha256="", labels=NODE), POLICY, measured())] == []

    def test_others(self) -> None:
        rows = RowsRecord(released=13)
        found = other_counts(record(NODE, rows, class_count=4, min_class_size=3), POLICY, measured())
        assert [*found] == [
            "it has 12 rows where 13 were released",
            "it has 3 equivalence classes where 4 were released",
            "its smallest class has 4 rows where that of the release had 3",
        ]
        [problem] = other_counts(record(NODE, min_class_size=3), POLICY, measured(k=None))
        assert "has 0 rows" in problem

    def test_classes_of_other_columns_are_not_compared(self) -> None:
        for labels in (None, NodeRecord(levels={"age": 1})):
            assert [*other_counts(record(labels, class_count=4, min_class_size=3), POLICY, measured())] == []

    def test_rows_that_were_drawn(self) -> None:
        assert [*other_counts(record(released_rows=12, released_groups=99), POLICY, measured())] == []
        assert [*other_counts(record(released_rows=99, released_groups=12), COUNTED, measured())] == []
        [problem] = other_counts(record(released_rows=13), POLICY, measured())
        assert problem == "it has 12 rows where 13 were released"


class TestLevels:
    @pytest.mark.parametrize(
        ("age", "zip_", "problems"), [(1, 2, []), (0, 0, ["asks for at least 1"]), (4, 3, ["allows at most 2"])]
    )
    def test_of_the_policy(self, age: int, zip_: int, problems: list[str]) -> None:
        found = [*other_levels(record(NodeRecord(levels={"age": age, "zip": zip_})), POLICY)]
        assert [problem.rpartition("policy ")[2] for problem in found] == problems
        assert [*other_levels(record(), POLICY)] == []


class TestShortfalls:
    def test_of_the_release_its_size_and_its_method_are_listed(self) -> None:
        def found(*shortfalls: str) -> Verification:
            return Verification(source="t", measurement=measured(), shortfalls=shortfalls)

        assert shortfalls_of(found(), 12) == ()
        assert shortfalls_of(found("it has no rows"), 12) == ("it has no rows",)
        assert shortfalls_of(found(), 13) == ("it has 12 rows where 13 were to be released",)
        assert shortfalls_of(found(), 12, ["a count is off"]) == ("a count is off",)


def test_listed_classes_have_their_rows() -> None:
    """A row that moved from class to class leaves the numbers of rows and of classes as they were."""
    labels = {"age": ((0, "a"), (0, "b")), "zip": ((1, "1*"), (None, None))}
    recorded = ClassesRecord(labels=labels, classes=((3, 0, 0), (2, 1, 0), (2, 1, 1)))
    written = {"a1": 3, "b1": 2, "b": 2}
    changes: dict[str, tuple[dict[str, int], list[str]]] = {
        "none": ({}, []),
        "moved": ({"a1": 2, "b": 3}, ["2 classes have a different number of rows than was released"]),
        "one more": ({"b1": 3}, ["1 classes have a different number of rows than was released"]),
        "gone": ({"b": 0}, ["1 classes have a different number of rows than was released"]),
        "new": ({"a": 2, "c1": 1}, ["2 combinations of labels, in 3 rows, are not among the classes of the release"]),
    }
    with sa.connect() as session:
        for change, (other, found) in changes.items():
            rows = [key for key, count in (written | other).items() for _ in range(count)]
            session.connection.execute("CREATE OR REPLACE TABLE written (age VARCHAR, zip VARCHAR)")
            session.connection.executemany(
                "INSERT INTO written VALUES (?, ?)", [(row[0], f"{row[1]}*" if row[1:] else None) for row in rows]
            )
            engine = engine_of(session)
            assert [*unlisted_classes(engine, engine.resolve("written").relation, recorded)] == found, change
        of_none = recorded.model_copy(update={"classes": ()})
        assert [*unlisted_classes(engine, engine.resolve("FROM written WHERE FALSE").relation, of_none)] == []
