"""Pseudonyms that repeat, and those that were altered."""

from __future__ import annotations

import pytest

import sqlanon as sa
from tests.stories import test_pseudonyms
from tests.stories.test_pseudonyms import KEY, names_of, policy, published, refused

session, shared = test_pseudonyms.session, test_pseudonyms.shared


class TestRepetition:
    def test_rows_of_one_person(self, session: sa.Session) -> None:
        message = refused(session, "FROM visits UNION ALL (FROM visits LIMIT 30)", policy())
        assert '"patient": 30 values repeat, in 60 rows, which their pseudonyms link' in message
        assert "`sqlanon flatten`" in message

    def test_what_is_there_stays(self, session: sa.Session) -> None:
        twice = "FROM visits UNION ALL FROM visits"
        with pytest.raises(sa.PolicyError, match="values repeat"):
            session.anonymize(twice, policy(), "released", pseudonym_key=KEY, replace=True)
        assert len(published(session, "released")) == 200

    def test_a_value_in_two_columns(self, session: sa.Session) -> None:
        """Neither column repeats a value, but the pseudonym of a partner links the rows of a couple."""
        source = "SELECT *, 'P' || xor(CAST(patient[2:] AS INTEGER), 1) AS partner FROM visits"
        message = refused(session, source, policy(pseudonyms=["patient", "partner"]))
        assert '"patient": 200 values repeat, in 200 rows' in message
        assert '"partner": 200 values repeat, in 200 rows' in message

    def test_rows_that_are_not_published_do_not_count(self, session: sa.Session) -> None:
        session.connection.execute("INSERT INTO visits SELECT patient, 95, diagnosis FROM visits LIMIT 4")
        wanted = policy(maximum_levels={"age": 0})
        assert session.anonymize("visits", wanted, "again", pseudonym_key=KEY).report.rows.dropped == 4
        assert len({*published(session, "again")}) == 200

    def test_flattened_rows(self, session: sa.Session) -> None:
        events = (
            "SELECT 'P' || i // 2 AS patient, i AS day, 30 + i // 2 % 3 AS age, 'flu' AS diagnosis "
            "FROM range(60) AS events (i)"
        )
        wanted = policy(sensitive=["diagnosis_1", "diagnosis_2"])
        assert "values repeat" in refused(session, f"SELECT * EXCLUDE (day) FROM ({events})", policy())
        session.flatten(events, "patients", individual="patient", event="diagnosis", order="day", first=2, keep="age")
        session.anonymize("patients", wanted, "again", pseudonym_key=KEY)
        assert {*published(session, "again")} == names_of(range(30))


class TestVerification:
    def test_pseudonyms_that_were_altered(self, session: sa.Session) -> None:
        for change, shortfall in (
            (
                "SET patient = (SELECT max(patient) FROM released) WHERE diagnosis = 'flu'",
                "1 values repeat, in 67 rows",
            ),
            ("SET patient = upper(patient)", "200 rows have a value that is not a pseudonym (64 hex digits)"),
            ("SET patient = 'P7' WHERE patient IN (SELECT min(patient) FROM released)", "1 rows have a value"),
        ):
            session.connection.execute(f"UPDATE released {change}")
            _, found = session.verify("released", policy(), strict=False).shortfalls
            assert found.startswith('"patient": ')
            assert shortfall in found
            session.connection.execute("TRUNCATE released; INSERT INTO released FROM unaltered")

    def test_a_column_that_is_missing_or_was_not_replaced(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE without AS SELECT * EXCLUDE (patient) FROM released")
        found = session.verify("without", policy(), strict=False).shortfalls
        assert 'it lacks the column "patient", which the policy releases' in found
        found = session.verify("visits", policy(privacy=[sa.KAnonymity(2)]), strict=False).shortfalls
        assert any("200 rows have a value that is not a pseudonym" in each for each in found)
