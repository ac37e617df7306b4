"""Local recoding: releases held against their sources in pandas, and what is seen of those that are changed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlanon as sa

LOCAL = sa.LocalRecoding()

PEOPLE = """
CREATE TABLE people AS
SELECT
    i AS row_id,
    i % 97 AS person,
    CASE WHEN i % 50 = 7 THEN NULL ELSE 20 + (i * 37) % 60 END AS age,
    ['f', 'm'][1 + (i * 7) % 2] AS sex,
    CAST(10000 + (i * 7919) % 40 * 10 + i % 3 AS VARCHAR) AS zip,
    ['flu', 'asthma', 'gout', 'burn', 'none'][1 + (i * i) % 5] AS illness,
    1 + i % 4 AS weight
FROM range(1, 601) AS _ (i)
"""
COLUMNS = ["age", "sex", "zip"]
TAXONOMIES = {
    "age": sa.Taxonomy.intervals([5, 10, 20], minimum=20, maximum=79),
    "sex": sa.Taxonomy.flat(),
    "zip": sa.Taxonomy.prefixes([4, 3, 2]),
}


@pytest.fixture(scope="module")
def warehouse() -> Iterator[sa.Session]:
    with sa.connect(":memory:", threads=1) as session:
        session.connection.execute(PEOPLE)
        session.taxonomies.load_all(TAXONOMIES, source="people")
        yield session


@pytest.fixture
def session(warehouse: sa.Session) -> Iterator[sa.Session]:
    """The same, without what a test publishes as table ``released``."""
    yield warehouse
    warehouse.connection.execute("DROP TABLE IF EXISTS released")


def policy_of(*privacy: Any, method: Any = LOCAL, **options: Any) -> sa.Policy:
    roles: dict[str, Any] = {
        "sensitive": ["illness"],
        "insensitive": ["row_id"],
        "rest": "identifier",
        "earlier": "none",
        **options,
    }
    return sa.Policy(quasi_identifiers=COLUMNS, privacy=privacy, method=method, **roles)


@pytest.fixture(scope="module")
def release(warehouse: sa.Session) -> Any:
    """The release of 4-anonymity, as table ``anonymous``."""
    return warehouse.anonymize("people", policy_of(sa.KAnonymity(4)), "anonymous")


MODELS = {
    "counts": [sa.KAnonymity(5), sa.DistinctLDiversity("illness", 3), sa.AlphaKAnonymity("illness", 0.5, 4)],
    "entropy": [sa.EntropyLDiversity("illness", 2.5)],
    "shares": [sa.RecursiveCLDiversity("illness", 2, 2), sa.BetaLikeness("illness", 1)],
    "equal": [sa.KAnonymity(4), sa.TCloseness("illness", 0.3), sa.DeltaDisclosure("illness", 1.5)],
    "ordered": [sa.KAnonymity(4), sa.TCloseness("illness", 0.2, "ordered")],
}


class TestModels:
    @pytest.mark.parametrize("kind", MODELS)
    def test_every_class_meets_them(self, session: sa.Session, kind: str) -> None:
        """k, distinct values and shares as pandas counts them."""
        release = session.anonymize("people", policy_of(*MODELS[kind]), "released")
        assert release.report.rows is not None
        assert release.report.rows.released == 600
        assert all(each.met for each in release.report.models)
        assert session.verify("released", policy_of(*MODELS[kind]), source="people").met
        if kind == "counts":
            classes = release.df().groupby(COLUMNS, dropna=False)["illness"]
            assert classes.size().min() >= 5
            assert classes.nunique().min() >= 3
            assert classes.agg(lambda values: values.value_counts(normalize=True).max()).max() <= 0.5

    @pytest.mark.usefixtures("release")
    def test_labels_are_above_the_values_of_their_rows(self, session: sa.Session) -> None:
        rows = session.connection.execute(
            "SELECT r.age, p.age, r.zip, p.zip, r.sex, p.sex FROM anonymous AS r JOIN people AS p USING (row_id)"
        ).fetchall()
        assert len(rows) == 600
        for age, raw_age, area, raw_area, sex, raw_sex in rows:
            assert sex in ("*", raw_sex)
            assert area == "*" or re.fullmatch(area.replace("*", "."), raw_area)
            assert is_under(raw_age, age)


def is_under(value: int | None, label: str | None) -> bool:
    """Whether a value is under a label of the taxonomy of ages."""
    if label in (None, "*") or value is None:
        return label == "*" or value is None
    low, _, high = label.strip("[)").partition(", ")
    return int(low) <= value < int(high or int(low) + 1)


def test_classes_count_individuals(session: sa.Session) -> None:
    rows = session.anonymize("people", policy_of(sa.KAnonymity(5), individual="person"), "released").df()
    owners = session.connection.execute("SELECT row_id, person FROM people").df()
    assert rows.merge(owners, on="row_id").groupby(COLUMNS, dropna=False)["person"].nunique().min() >= 5


class TestSuppression:
    @pytest.mark.parametrize("suppression", ["drop", "mask"])
    def test_rows_that_no_class_can_take(self, session: sa.Session, suppression: str) -> None:
        """They are left out, or are a class of their own."""
        models = [sa.KAnonymity(4), sa.TCloseness("illness", 0.05)]
        policy = policy_of(*models, suppression_limit=0.5, suppression=suppression)
        release = session.anonymize("people", policy, "released")
        rows = release.report.rows
        assert (rows.dropped, rows.masked)[suppression == "mask"] == release.report.suppressed_rows
        assert rows.released + rows.dropped == 600
        assert len(release.df()) == rows.released
        assert session.verify("released", policy, source="people").met

    def test_what_no_class_can_meet_is_refused(self, session: sa.Session) -> None:
        with pytest.raises(sa.UnsatisfiableError, match="600 of 600 rows do not meet them even all together"):
            session.anonymize("people", policy_of(sa.DistinctLDiversity("illness", 6)), "released")
        assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'released'").fetchall()


class TestFollowing:
    def test_a_stopped_run_is_whole_and_its_events_count_nodes_and_rows(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.methods.stages.PERIOD", 0)
        policy = policy_of(sa.TCloseness("illness", 0.25))
        for stops in (False, True):
            found: list[sa.Event] = []
            report = session.anonymize(
                "people", policy, "released", progress=found.append, stop=lambda stops=stops: stops, replace=True
            ).report
            searched = [event for event in found if event.stage == "search" and event.left_rows is not None]
            nodes, rows = ([getattr(event, name) for event in searched] for name in ("checked_nodes", "left_rows"))
            assert nodes == sorted(nodes)
            assert rows == sorted(rows, reverse=True)
            assert (nodes[0], nodes[-1], rows[-1]) == (1, report.checked_nodes, 0)
            assert len(set(rows)) > 2
            assert any("stopped" in note for note in report.notes) is stops
        assert session.verify("released", policy).met

    def test_an_error_of_who_follows_ends_the_run(self, session: sa.Session) -> None:
        def stop() -> bool:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            session.anonymize("people", policy_of(sa.KAnonymity(4)), "released", stop=stop)
        assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'released'").fetchall()


class TestRecords:
    def test_lists_the_classes(self, session: sa.Session, release: Any) -> None:
        assert release.report.before is not None
        assert release.report.before.row_count == 600
        labels = json.loads(session.provenance("anonymous") or "")["sqlanon"]["labels"]
        assert labels["kind"] == "classes"
        assert len(labels["classes"]) == release.report.class_count
        assert sum(rows for rows, *_ in labels["classes"]) == 600

    @pytest.mark.usefixtures("release")
    def test_changes_are_seen(self, session: sa.Session) -> None:
        """Of a class that is merged, a label that is refined, and a row that is moved."""
        labels = "SELECT (age, sex, zip) FROM anonymous"
        changes = (
            f"age = '*', sex = '*', zip = '*' WHERE (age, sex, zip) IN ({labels} WHERE zip <> '*' LIMIT 1)",
            "zip = left(zip, 4) || '1' WHERE zip LIKE '%*'",
            "(age, sex, zip) = (SELECT (age, sex, zip) FROM anonymous ORDER BY age, sex, zip LIMIT 1) "
            "WHERE row_id = (SELECT max(row_id) FROM anonymous)",
        )
        policy, connection = policy_of(sa.KAnonymity(4)), session.connection
        assert session.verify("anonymous", policy).met
        connection.execute("CREATE OR REPLACE TABLE released AS FROM anonymous")
        for change in changes:
            connection.execute(f"UPDATE anonymous SET {change}")
            found = session.verify("anonymous", policy, strict=False)
            connection.execute("DELETE FROM anonymous; INSERT INTO anonymous FROM released")
            assert any("combinations of labels" in each or "different number" in each for each in found.shortfalls)


class TestImportance:
    def test_a_column_of_importance_stays_finer(self, session: sa.Session) -> None:
        shares = []
        for importance in ({}, {"age": 20}):
            policy = policy_of(sa.KAnonymity(25), method=sa.LocalRecoding(importance=importance))
            report = session.anonymize("people", policy, "released", replace=True).report
            shares.append(report.level_shares["age"])
        assert shares[1][-1] < shares[0][-1]
        assert shares[1][1] > shares[0][1]

    def test_names_a_quasi_identifier(self) -> None:
        with pytest.raises(sa.PolicyError, match='"ages" is not a quasi-identifier; did you mean "age"'):
            policy_of(sa.KAnonymity(5), method=sa.LocalRecoding(importance={"ages": 2}))


def test_a_policy_with_one_changed_line(session: sa.Session, tmp_path: Path) -> None:
    text = """
        quasi_identifiers = ["age", "sex", "zip"]
        sensitive = ["illness"]
        rest = "identifier"
        suppression_limit = 0.05
        {}
        [[privacy]]
        model = "k-anonymity"
        k = 5
    """
    losses = []
    for line in ("", 'method = "local-recoding"'):
        (tmp_path / "policy.toml").write_text(text.format(line))
        losses.append(session.anonymize("people", tmp_path / "policy.toml", "released", replace=True).report.loss)
    assert losses[1] < losses[0] / 2


def test_aggregates_are_those_of_the_classes(session: sa.Session) -> None:
    numbers = "SELECT * REPLACE (age::DECIMAL(5, 2) AS age, zip::INTEGER AS zip) FROM people"
    for kind, of_zip in (("mean", "range"), ("range", "median")):
        method = sa.LocalRecoding(aggregate={"age": kind, "zip": of_zip})
        asked = policy_of(sa.KAnonymity(4), method=method)
        release = session.anonymize(numbers, asked, "released", replace=True)
        shown = session.connection.execute("SELECT * FROM released").df()
        assert [*shown.columns][1:3] == {"range": ["age", "age_min"]}.get(kind, ["age", f"age_{kind}"])
        rows = shown.merge(session.connection.execute(numbers).df(), on="row_id", suffixes=("", "_of_row"))
        by_class = rows.groupby(COLUMNS, dropna=False)
        for name, of_name in (("age", kind), ("zip", of_zip)):
            for part in ("min", "max") if of_name == "range" else (of_name,):
                values = rows[f"{name}_of_row"].astype(float)
                expected = values.groupby(by_class.ngroup()).transform(part)
                pd.testing.assert_series_equal(
                    rows[f"{name}_{part}"].astype(float), expected, check_names=False, rtol=1e-12
                )
        ranged = "age" if kind == "range" else "zip"
        assert any(f'"{ranged}" of each class' in line for line in release.guarantee.not_covered)
        assert session.verify("released", asked, strict=False).met


def test_it_is_explained(session: sa.Session) -> None:
    for models, options in (
        (
            [sa.TCloseness("illness", 0.3), sa.DistinctLDiversity("illness", 2)],
            {"suppression_limit": 0.1, "suppression": "mask", "row_weight": "weight"},
        ),
        (
            [sa.RecursiveCLDiversity("illness", 2, 2)],
            {
                "individual": "person",
                "insensitive": ["person"],
                "method": sa.LocalRecoding(lower_bound=True, aggregate={"age": "median"}),
            },
        ),
    ):
        steps = session.explain("people", policy_of(sa.KAnonymity(4), *models, **options))
        assert any(step.purpose == "labels of classes" for step in steps)
