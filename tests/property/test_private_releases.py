"""What a private method counts, scores and shows, against the oracle; the noise is fixed and known."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import oracle
from tests.case_tables import quoted, session_of
from tests.effort import examples
from tests.fixed_noise import FixedNoise
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SMALL = sa.Budget(2, "0.4")
"""With so much δ, combinations of two or three rows are shown."""


@contextmanager
def table_of(case: Case, method: type[sa.IPA] = sa.IPA, **options: object) -> Iterator[tuple[sa.Session, sa.Policy]]:
    with session_of(case) as session:
        others = [name for name in case.columns if name not in (*case.quasi_identifiers, case.sensitive)]
        policy = sa.Policy(
            quasi_identifiers=case.quasi_identifiers,
            sensitive=[case.sensitive],
            identifiers=others,
            method=method(budget=SMALL, **options),
        )
        yield session, policy


class TestReleases:
    @EXAMPLES
    @given(cases(max_rows=14, max_quasi_identifiers=3), st.integers(-1, 2))
    def test_they_show_what_the_oracle_shows(self, case: Case, noise: int) -> None:
        with table_of(case, node=case.node) as (session, policy):
            release = session.anonymize("given", policy, "released", random_source=FixedNoise(noise))
            least = release.report.thresholds
            expected = oracle.private_release(
                case.rows, case.taxonomies, case.node, case.sensitive, noise, least["cells"], least["rolled-up"]
            )
            names = [*case.quasi_identifiers, case.sensitive]
            shown = ", ".join(map(quoted, names))
            assert Counter(session.connection.execute(f"SELECT {shown} FROM released").fetchall()) == expected
            in_order = session.connection.execute("SELECT * FROM released").fetchall()
            assert len(in_order) == release.report.released_rows
            assert session.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [
                (0,)
            ]

    @settings(EXAMPLES, max_examples=examples(15))
    @given(cases(max_rows=14, max_quasi_identifiers=2), st.randoms(use_true_random=False))
    def test_the_order_of_rows_does_not_matter(self, case: Case, random: object) -> None:
        shuffled = list(case.rows)
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        found = []
        for rows in (case.rows, shuffled):
            given_case = Case(rows, case.columns, case.taxonomies, case.sensitive, case.node)
            with table_of(given_case) as (session, policy):
                session.anonymize("given", policy, "released", random_source=FixedNoise(1))
                found.append(session.connection.execute("SELECT * FROM released").fetchall())
        assert found[0] == found[1]


def test_an_empty_table_is_released_as_any_other() -> None:
    case = Case([], {"a": "INTEGER", "s": "VARCHAR"}, {"a": [["1", "*"], ["2", "*"]]}, "s", {"a": 0})
    with table_of(case) as (session, policy):
        for noise in (0, 3):
            source = FixedNoise(noise)
            release = session.anonymize("given", policy, "released", replace=True, random_source=source)
            assert release.report.released_rows == 0
            assert session.connection.execute("SELECT count(*) FROM released").fetchall() == [(0,)]
