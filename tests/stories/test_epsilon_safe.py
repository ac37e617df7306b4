"""ε-safe releases from end to end: what is refused, charged, promised and written."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.audits import exact_audit as exact
from sqlanon.cli.app import app
from tests.fixed_noise import FixedNoise

HOSTILE = '"a""b"; drop table x --'
METHOD = sa.EpsilonSafe(k=10, beta="1/2", epsilon_sampling=1)
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "identifiers": ["person"]}
POLICY = sa.Policy(**ROLES, method=METHOD)
DELTA = "0.01929"
TOML = """
quasi_identifiers = ["age", "sex"]
identifiers = ["person"]
method = { model = "epsilon-safe", k = 10, beta = 0.5, epsilon_sampling = 1 }
"""


UNNOTED = {"source", "into", "opened_account", "seconds", "diagnostics"}
"""The fields of a report that the note of its release does not have."""


def numbers(document: Any) -> set[float]:
    """The numbers of a document."""
    if isinstance(document, dict):
        return numbers(list(document.values()))
    if isinstance(document, list):
        return set().union(*map(numbers, document))
    return {document} if isinstance(document, int | float) and not isinstance(document, bool) else set()


def fill(session: sa.Session, rows: int = 400, name: str = "age") -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    session.connection.execute(
        f"""
        CREATE TABLE people AS
        SELECT i AS person, nullif(20 + i % 7, 26) AS {quoted}, ['f', 'm'][1 + i % 2] AS sex
        FROM range({rows}) AS numbers (i)
        """
    )
    session.taxonomies.load(name, sa.Taxonomy.intervals([5], minimum=20, maximum=29))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))


def make_warehouse(path: Path) -> sa.Session:
    session = sa.connect(path)
    fill(session)
    return session


class TestSettings:
    def test_what_is_refused(self) -> None:
        of_k = {"k": 10, "beta": "1/2"}
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "give k or beta or delta: of k, beta and delta two are given"),
            ({"k": 10}, "give beta or delta"),
            ({"k": 1, "beta": "1/2"}, "k: input should be greater than or equal to 2"),
            ({"k": 10, "beta": 0}, "beta must be above 0 and below 1"),
            ({"k": 10, "beta": 1}, "beta must be above 0 and below 1"),
            ({"k": 10, "delta": 0}, "delta must be above 0 and below 1"),
            ({"k": 10, "beta": 0.75}, r"epsilon_sampling must be at least -ln\(1 - beta\), 1.38629"),
            ({**of_k, "delta": "1e-6"}, "δ is 0.01929, more than the delta of 1e-06"),
            ({"beta": "1/2", "delta": "1e-6", "epsilon_sampling": "0.69314718055"}, "at least -ln"),
            ({"k": 2, "delta": "1e-12"}, "no beta of 1/1000 or more costs so little δ"),
            ({**of_k, "epsilon_node": 0}, "epsilon_node must be positive for a node that is drawn"),
            ({**of_k, "epsilon_node": 1, "node": {"age": 0}}, "a public node costs nothing"),
            ({**of_k, "suppressed_weight": 0}, "suppressed_weight"),
            ({**of_k, "rows_per_individual": 2}, "rows_per_individual must be 1"),
            ({**of_k, "select_on": "sample"}, 'select_on "sample" needs delta'),
            ({"select_on": "sample", "tight": True, "node": {"age": 0}}, "a public node is not drawn"),
            ({**of_k, "kk": 3}, "unknown key"),
        ]
        for options, problem in cases:
            with pytest.raises(sa.PolicyError, match=problem):
                sa.EpsilonSafe(**options)

    def test_all_problems_are_told_at_once(self) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            sa.EpsilonSafe(beta=0, epsilon_node=0, rows_per_individual=3)
        assert len(refused.value.problems) == 4

    def test_the_third_of_k_beta_and_delta_follows(self) -> None:
        assert float(METHOD.sampling.delta) == pytest.approx(sa.delta(10, 0.5, 1.0), rel=1e-3)
        assert METHOD.sampling.delta >= sa.delta(10, 0.5, 1.0)
        least = sa.EpsilonSafe(beta=0.5, delta="1e-6").sampling
        assert least.k == sa.minimum_k(0.5, 1.0, 1e-6) == 46
        assert least.delta <= 1e-6
        largest = sa.EpsilonSafe(k=50, delta="1e-6").sampling
        assert sa.delta(50, float(largest.beta), 1.0) <= 1e-6
        assert largest.beta == sa.maximum_beta(50, 1.0, 1e-6)

    def test_delta_is_claimed_rounded_up(self) -> None:
        """Spec: D(50, 0.75, 2) = 7.6453423618e-06."""
        method = sa.EpsilonSafe(k=50, beta=0.75, epsilon_node="0.1", epsilon_sampling=2)
        assert method.budget == sa.Budget("2.1", "7.646e-6")
        assert sa.EpsilonSafe(k=50, beta=0.75, epsilon_sampling=2, tight=True).budget.delta < method.budget.delta / 2

    def test_it_is_a_value(self) -> None:
        stored = POLICY.model_dump_json()
        assert sa.Policy.model_validate_json(stored) == POLICY
        assert json.loads(stored)["method"]["beta"] == "0.5"


def test_policies_that_do_not_fit() -> None:
    of_other_columns = sa.EpsilonSafe(k=10, beta="1/2", node={"age": 1})
    cases: list[tuple[dict[str, Any], str]] = [
        ({"sensitive": ["illness"]}, 'generalizes all columns that it publishes: make "illness" a quasi-identifier'),
        ({"insensitive": ["note"]}, 'make "note" a quasi-identifier with a taxonomy, or an identifier'),
        ({"privacy": [sa.KAnonymity(5)]}, "takes no privacy model"),
        ({"suppression_limit": 0.1}, "takes no suppression_limit"),
        ({"row_weight": "weight"}, "counts rows, not the weights"),
        ({"method": of_other_columns}, "must give every quasi-identifier its level"),
    ]
    for roles, problem in cases:
        with pytest.raises(sa.PolicyError, match=problem):
            sa.Policy(**{**ROLES, "method": METHOD, **roles})


class TestReleases:
    def test_what_is_promised_was_paid_and_nothing_is_told_of_what_is_not_shown(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        release = session.anonymize("people", POLICY, tmp_path / "r.parquet")
        assert release.guarantee.budget == session.ledger.spent("people") == sa.Budget("1.1", DELTA)
        assert "permute-and-flip" in release.guarantee.theorem
        assert "on the whole table" in release.guarantee.theorem
        assert release.guarantee.neighbours == "the presence of one row"
        assert [step.step for step in release.report.spent] == ["node", "sample"]
        assert release.report.thresholds == {"sample": 10}
        note = json.loads(session.provenance(tmp_path / "r.parquet") or "")["sqlanon"]
        assert note["report"].keys() == release.report.model_dump().keys() - UNNOTED
        released = release.report.released_rows
        for document in (note, release.model_dump(mode="json")):
            assert 400 not in numbers(document)
            # One draw in 25 publishes just half of the rows: then both numbers are the same.
            assert 400 - released not in numbers(document) - {released}
        rows = session.connection.execute("FROM read_parquet(?)", [str(tmp_path / "r.parquet")])
        assert [name for name, *_ in rows.description] == ["age", "sex"]
        counts = session.connection.execute(
            "SELECT count(*) FROM read_parquet(?) GROUP BY ALL", [str(tmp_path / "r.parquet")]
        ).fetchall()
        assert counts
        assert min(count for (count,) in counts) >= 10

    def test_a_public_node_costs_the_sample_alone(self, session: sa.Session) -> None:
        policy = sa.Policy(**ROLES, method=sa.EpsilonSafe(k=10, beta="1/2", node={"age": 1, "sex": 0}))
        release = session.anonymize("people", policy, "released")
        assert session.ledger.spent("people") == sa.Budget(1, DELTA)
        assert release.report.node == {"age": 1, "sex": 0}
        assert release.report.node_is_public

    def test_a_node_of_the_sample(self, session: sa.Session) -> None:
        method = sa.EpsilonSafe(k=30, beta="1/10", delta="0.01", select_on="sample")
        release = session.anonymize("people", sa.Policy(**ROLES, method=method), "released")
        assert session.ledger.spent("people") == sa.Budget("1.1", "0.01")
        assert "δ is a sum over all nodes" in release.guarantee.theorem

    def test_a_row_of_each_individual(self, session: sa.Session) -> None:
        """All rows are of one of two people: no class has ten."""
        session.connection.execute("UPDATE people SET person = person % 2")
        policy = sa.Policy(**ROLES, individual="person", method=METHOD)
        release = session.anonymize("people", policy, "released")
        assert release.report.released_rows == 0
        assert release.guarantee.neighbours == 'the rows of one value of "person"; at most 1 of them are counted'

    @pytest.mark.parametrize(("rows", "select_on"), [(0, "table"), (1, "sample")])
    def test_a_table_of_hardly_any_rows_is_released(self, rows: int, select_on: str) -> None:
        method = METHOD if select_on == "table" else sa.EpsilonSafe(k=40, beta="1/10", delta="0.1", select_on="sample")
        with sa.connect() as session:
            fill(session, rows)
            release = session.anonymize(
                "people", sa.Policy(**ROLES, method=method), "released", random_source=FixedNoise(0)
            )
            assert session.connection.execute("SELECT count(*) FROM released").fetchall() == [(0,)]
            assert release.report.released_rows == 0
            assert any("no rows" in note for note in release.report.notes)

    def test_a_class_is_shown_from_k_sampled_rows_on(self, session: sa.Session) -> None:
        """Three quarters are sampled: 10 of 13 rows, and 9 of 12."""
        session.connection.execute("DELETE FROM people WHERE person >= 25")
        session.connection.execute("UPDATE people SET age = 20 + person % 2")
        policy = sa.Policy(**ROLES, method=sa.EpsilonSafe(k=10, beta="1/2", node={"age": 0, "sex": 1}))
        session.anonymize("people", policy, "released", random_source=FixedNoise(0))
        assert session.connection.execute("SELECT age, count(*) FROM released GROUP BY age").fetchall() == [("20", 10)]

    def test_null_is_a_value(self, session: sa.Session) -> None:
        method = sa.EpsilonSafe(k=5, beta="1/2", node={"age": 0, "sex": 1})
        session.anonymize("people", sa.Policy(**ROLES, method=method), "released")
        assert session.connection.execute("SELECT count(*) > 4 FROM released WHERE age IS NULL").fetchall() == [(True,)]

    def test_hostile_names(self) -> None:
        with sa.connect() as session:
            fill(session, 400, HOSTILE)
            policy = sa.Policy(quasi_identifiers=[HOSTILE, "sex"], identifiers=["person"], method=METHOD)
            session.anonymize("people", policy, HOSTILE, random_source=sa.SeededSource(1))
            (name, *_), *_ = session.connection.execute(
                f'DESCRIBE "{HOSTILE.replace(chr(34), chr(34) * 2)}"'
            ).fetchall()
            assert name == HOSTILE

    def test_the_order_of_rows_tells_nothing(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE backwards AS FROM people ORDER BY person DESC")
        for source, into in (("people", "one"), ("backwards", "two")):
            release = session.anonymize(source, POLICY, into, random_source=sa.SeededSource(3))
            assert (release.report.stamp, release.guarantee.claims) == ("NOT PRIVATE", ())
        assert session.ledger.spent("people") == sa.Budget(0)
        one, two = (session.connection.execute(f"FROM {name}").fetchall() for name in ("one", "two"))
        assert one == two
        assert len(one) > 100

    def test_a_run_from_the_command_line(self, warehouse: Path, tmp_path: Path) -> None:
        policy = tmp_path / "policy.toml"
        policy.write_text(TOML)
        command = ["run", "people", "--db", str(warehouse), "--policy", str(policy), "--into", "released", "--json"]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["guarantee"]["budget"] == {"epsilon": "1.1", "delta": DELTA}
        explained = CliRunner().invoke(app, ["explain", "people", "--db", str(warehouse), "--policy", str(policy)])
        assert explained.exit_code == 0, explained.output
        assert "unsure_rows" in explained.output


class TestProbabilities:
    """Of nodes, of tables that are public."""

    def test_those_of_ipa(self, session: sa.Session) -> None:
        policy = sa.Policy(quasi_identifiers=["age"], sensitive=["sex"], identifiers=["person"], method=sa.IPA())
        found = sa.evaluation.node_probabilities(session, "people", policy, is_public=True)
        assert [each.node.keys() for each in found] == [{"age"}] * 3
        assert found[0].score == max(each.score for each in found) <= 0

    def test_what_is_refused(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        for method, is_public, problem in (
            (METHOD, False, "say is_public=True if everybody may know all of them"),
            (sa.EpsilonSafe(k=10, beta="1/2", node={"age": 0, "sex": 0}), True, "draws no node by its score"),
            (sa.EpsilonSafe(k=10, beta="1/2", delta="1/2", select_on="sample"), True, "is drawn on a sample"),
        ):
            policy = sa.Policy(**ROLES, method=method)
            with pytest.raises(sa.PolicyError, match=problem):
                sa.evaluation.node_probabilities(session, "people", policy, is_public=is_public)
        monkeypatch.setattr(exact, "MAX_NODES", 5)
        with pytest.raises(sa.PolicyError, match="6 nodes, but at most 5 can be shown"):
            sa.evaluation.node_probabilities(session, "people", POLICY, is_public=True)
