"""Releases of linked tables with labels of mixed levels: what they lose, what decides on them, and what is refused."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.linked import rungs
from sqlanon.methods.stages import silent
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_report import LinkedRelease
from sqlanon.run.linked import anonymize_linked
from tests.engines import engine_of
from tests.linked_hospital import hospital_policy, make_hospital

MIXED = {"method": "local-recoding"}


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        make_hospital(opened.connection, 1_000)
        yield opened


def released(
    session: sa.Session, into: Path, fields: Mapping[str, Any], sources: Mapping[str, str] | None = None
) -> LinkedRelease:
    engine = engine_of(session)
    found = {"patients": "patients", "visits": "visits", **(sources or {})}
    resolved = {name: engine.resolve(source) for name, source in found.items()}
    policy = LinkedPolicy.model_validate(fields)
    return anonymize_linked(engine, resolved, policy, f"{into}/", replace=True, progress=silent)


def test_they_lose_less_than_one_node(session: sa.Session, tmp_path: Path) -> None:
    at_node = released(session, tmp_path / "node", hospital_policy())
    mixed = released(session, tmp_path / "mixed", hospital_policy() | MIXED).report
    assert mixed.loss < 0.9 * at_node.report.loss  # 0.72 for 100,000 patients
    assert mixed.measured.known[0].k >= 5 and mixed.measured.known[1].k >= 5
    assert (mixed.proven_optimal, mixed.lower_bound) == (False, None)
    rungs = [tuple(rung.values()) for rung in mixed.rungs["visits"]]
    assert all(all(map(int.__le__, *pair)) for pair in itertools.pairwise(rungs))
    assert len({*rungs}) == len(rungs) > 5


def test_the_order_of_rows_decides_nothing(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rungs, "SAMPLED_ROWS", 500)
    one = released(session, tmp_path / "one", hospital_policy() | MIXED)
    for name in ("patients", "visits"):
        session.connection.execute(f"CREATE OR REPLACE TABLE turned_{name} AS FROM {name} ORDER BY hash({name}) DESC")
    turned = {name: f"turned_{name}" for name in ("patients", "visits")}
    other = released(session, tmp_path / "other", hospital_policy() | MIXED, turned)
    assert (one.report.node, one.report.rungs) == (other.report.node, other.report.rungs)
    count = "SELECT {0}, count(*) FROM '{1}' GROUP BY ALL ORDER BY ALL"
    for name, labels in (("patients", "born, sex, zip, insurance"), ("visits", "day, department, kind, stay, site")):
        counts = [
            session.connection.execute(count.format(labels, each.tables[name])).fetchall() for each in (one, other)
        ]
        assert counts[0] == counts[1]


def test_a_table_without_quasi_identifiers_has_one_rung(session: sa.Session, tmp_path: Path) -> None:
    fields = hospital_policy() | MIXED
    columns: dict[str, Any] = {"quasi_identifiers": [], "taxonomies": {}, "insensitive": []}
    visits = {name: found for name, found in fields["tables"]["visits"].items() if name not in columns} | columns
    session.connection.execute("CREATE OR REPLACE VIEW bare AS SELECT patient_id, diagnosis FROM visits")
    fields["tables"] = fields["tables"] | {"visits": visits}
    report = released(session, tmp_path / "bare", fields, {"visits": "bare"}).report
    assert report.rungs == {"visits": ({},)}
    assert report.loss == pytest.approx(report.losses["patients"])


@pytest.mark.parametrize(
    "privacy", [[{"model": "known-rows", "k": 5, "m": 2}], [{"model": "k-anonymity", "k": 5}]], ids=["m2", "trees"]
)
def test_other_models_are_refused(session: sa.Session, tmp_path: Path, privacy: list[dict[str, Any]]) -> None:
    with pytest.raises(sa.PolicyError, match="known-rows, m = 1"):
        released(session, tmp_path / "refused", hospital_policy(privacy=privacy) | MIXED)
    assert not [*tmp_path.iterdir()]


def test_limits_that_no_levels_meet(session: sa.Session, tmp_path: Path) -> None:
    """Of five patients with one visit each, one department is left out at every level that the policy allows."""
    session.connection.execute("CREATE OR REPLACE TABLE few AS FROM patients ORDER BY patient_id LIMIT 5")
    session.connection.execute(
        "CREATE OR REPLACE TABLE few_visits AS "
        "SELECT * REPLACE (if(patient_id = 0, 'surgery', 'oncology') AS department) FROM visits "
        "SEMI JOIN few USING (patient_id) QUALIFY row_number() OVER (PARTITION BY patient_id) = 1"
    )
    fields = hospital_policy() | MIXED | {"maximum_levels": {"visits.department": 0}}
    with pytest.raises(sa.UnsatisfiableError, match="no levels that were looked at meet") as refused:
        released(session, tmp_path / "refused", fields, {"patients": "few", "visits": "few_visits"})
    assert '"visits": ' in str(refused.value) and "what can help" in str(refused.value)
    assert not [*tmp_path.iterdir()]
