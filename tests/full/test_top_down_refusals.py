"""What top-down specialization refuses, and numbers with steps by the command line."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods import points
from tests.commands import sqlanon
from tests.stories import test_top_down
from tests.stories.test_top_down import policy_of

made, session = test_top_down.made, test_top_down.session

POLICIES: list[tuple[dict[str, Any], str]] = [
    ({"sensitive": []}, "its target, not 0"),
    ({"sensitive": ["target", "w"], "identifiers": []}, "its target, not 2"),
    ({"sensitive": ["w"], "identifiers": ["target"]}, 'the target "target" must be the one sensitive column'),
    ({"insensitive": ["w"], "identifiers": []}, 'cannot publish the insensitive "w"'),
    ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity with its own k"),
    ({"suppression_limit": 0.1}, "takes no suppression_limit"),
    ({"quality": sa.Prec()}, "takes no quality model"),
    ({"maximum_levels": {"sex": 0}}, "takes no minimum_levels or maximum_levels"),
    ({"row_weight": "w"}, "counts rows, not the weights"),
    ({"individual": "w"}, "counts rows, not the individuals"),
    ({"quasi_identifiers": ["education", "sex"]}, 'method.numeric: "hours" is not a quasi-identifier'),
]
SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({}, "k: field required"),
    ({"k": 1}, "k: "),
    ({"k": 3, "numeric": {"hours": (5, 5)}}, "the end must be above the least value"),
    ({"k": 3, "h": 0.1}, "h: "),
]
REPLACED = "SELECT * REPLACE ({}) FROM applicants"
SOURCES = [
    ("SELECT * FROM applicants WHERE false", ("has no rows",)),
    ("SELECT * FROM applicants LIMIT 3", ("there are 3 rows", "k = 3 is the largest that would do")),
    (
        REPLACED.format("CASE WHEN sex = 'M' THEN hours END AS hours, nullif(target, 'no') AS target"),
        ('"hours" is NULL in 18 rows', '"target" is NULL in 13 rows'),
    ),
    (REPLACED.format("hours + 60 AS hours"), ('"hours": 18 rows',)),
    (REPLACED.format("'nan'::DOUBLE AS hours"), ('"hours": 34 rows',)),
    (REPLACED.format("'x' AS hours"), ("not a number",)),
    (REPLACED.format("[sex] AS sex"), ("a set of items has no one label",)),
    (REPLACED.format("1.5::DOUBLE AS target"), ("equal values can look different",)),
    (
        REPLACED.format("CASE education WHEN '12th' THEN reverse('terces') ELSE education END AS education"),
        ('"education": 1 distinct value in 4 rows',),
    ),
]


def test_policies_and_settings_that_do_not_fit() -> None:
    for options, words in POLICIES:
        with pytest.raises(sa.PolicyError, match=words):
            policy_of(**{"identifiers": ["w"], **options})
    for settings, words in SETTINGS:
        with pytest.raises(sa.PolicyError, match=words):
            sa.TopDownSpecialization(**settings)


def test_requests_that_it_does_not_take(session: sa.Session, tmp_path: Any) -> None:
    for asked, words in (
        ({"node": {"education": 0, "sex": 0}}, "takes no node"),
        ({"dataset": "x"}, "dataset, public and random_source"),
        ({"random_source": sa.SeededSource(1)}, "dataset, public and random_source"),
    ):
        with pytest.raises(sa.PolicyError, match=words):
            session.anonymize("applicants", policy_of(), "other", **asked)
    with pytest.raises(sa.PolicyError, match='makes the labels of "hours" itself'):
        session.lattice("applicants", policy_of())
    with pytest.raises(sa.PolicyError, match="partitions need full domains"):
        session.partitions.fit("applicants", policy_of(), tmp_path / "fit.json")


def test_sources_that_do_not_fit(session: sa.Session) -> None:
    for source, problems in SOURCES:
        with pytest.raises((sa.PolicyError, sa.UnsatisfiableError, sa.TaxonomyError)) as refused:
            session.anonymize(source, policy_of(), "other")
        for problem in problems:
            assert problem in str(refused.value)
        assert "secret" not in str(refused.value)


def test_a_release_that_is_not_as_it_should_be(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    right = points.rows_at_cut
    monkeypatch.setattr(points, "rows_at_cut", lambda *given: right(*given).limit(33))
    with pytest.raises(sa.VerificationError, match="33 rows where 34 were to be released"):
        session.anonymize("applicants", policy_of(), "other")


def test_numbers_with_steps_and_no_taxonomy_at_all(tmp_path: Path) -> None:
    """By the command line, from a policy in a file."""
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("CREATE TABLE given AS SELECT i / 8 AS dose, i >= 20 AS cured FROM range(40) AS numbers (i)")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["dose"]\nsensitive = ["cured"]\n[method]\nmodel = "top-down-specialization"\n'
        'k = 10\nnumeric = { dose = [0, "5.25", "0.25"] }\n'
    )
    method = sa.TopDownSpecialization(10, numeric={"dose": (0, "5.25", "0.25")})
    policy = sa.Policy(quasi_identifiers=["dose"], sensitive=["cured"], method=method)
    assert sa.Policy.from_toml(tmp_path / "policy.toml") == sa.Policy(**policy.model_dump(mode="json")) == policy
    options = ("--db", "w.duckdb", "--policy", "policy.toml", "--into", "released")
    done = sqlanon("run", "given", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in ("40 of 40 rows", "No lattice was searched: lm loss", "dose 2 labels"):
        assert words in said
    with sa.connect(tmp_path / "w.duckdb") as session:
        assert session.verify("released", policy).met
        query = "SELECT dose, cured, count(*) FROM released GROUP BY ALL ORDER BY ALL"
        found = session.connection.execute(query).fetchall()
    assert found == [("[0, 2.5)", False, 20), ("[2.5, 5.25)", True, 20)]
