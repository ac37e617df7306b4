"""Findings of methods other than full domains."""

from typing import Any

import pytest

import sqlanon as sa
from sqlanon.papers import IPAAsPublished
from sqlanon.run import pipeline
from tests.stories import test_findings
from tests.stories.test_findings import found_by, homogeneous, policy

made, session, stays = test_findings.made, test_findings.session, test_findings.stays


PRIVATE = {
    "histogram": sa.Histogram(accept_observed_domain=True),
    "ipa": sa.IPA(budget=sa.Budget(2, "0.001"), accept_observed_domain=True),
    "ipa as published": IPAAsPublished(),
    "diffgen": sa.DiffGen(budget=sa.Budget(2, 0), target="diagnosis", specializations=1, accept_observed_domain=True),
    "epsilon-safe": sa.EpsilonSafe(k=10, beta="1/2", epsilon_sampling=1, accept_observed_domain=True),
}


@pytest.mark.parametrize("method", PRIVATE.values(), ids=PRIVATE)
def test_private_methods_count_nothing_for_the_custodian(
    session: sa.Session, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "examine", lambda *_: pytest.fail("rows were counted outside the budget"))
    session.taxonomies.load("diagnosis", sa.Taxonomy.flat(), source="stays")
    columns = {"quasi_identifiers": ["age", "sex", "diagnosis"], "sensitive": []}
    wanted = policy(privacy=[], method=method, **(columns if method.model == "epsilon-safe" else {}))
    released = session.anonymize("stays", wanted, into="private", random_source=sa.SeededSource(1))
    assert {"findings", "before", "after"}.isdisjoint(released.report.model_dump())
    assert not any("unique" in note for note in released.report.notes)
    explained = " ".join(step.sql for step in session.explain("stays", wanted))
    assert not any(f'"{name}"' in explained for name in ("patient", "is_vip", "ward"))


def test_h_ceiling_examines_the_release_with_its_counterfeits(stays: sa.Session) -> None:
    source = "SELECT * FROM stays WHERE age <> 21 OR stay <= 100"
    wanted = policy(privacy=[], method=sa.HCeiling(12, h=0))
    release = stays.anonymize(source, wanted, into="released", random_source=sa.SeededSource(1), replace=True)
    found, counted = release.report.findings, release.report.model_dump()["counterfeits"]
    assert found is not None
    assert counted > 0
    (patient,) = (each for each in found.repeated_identifiers if each.is_person)
    by_hand = stays.connection.sql(f"SELECT count(*), count(DISTINCT patient) FROM ({source})").fetchall()
    assert [(patient.rows, patient.values)] == by_hand
    (column,) = found.homogeneous_columns
    assert [(column.homogeneous_rows, column.released_rows)] == homogeneous(stays)
    assert column.released_rows == by_hand[0][0] + counted
    assert '"findings"' not in (stays.provenance("released") or "")


def test_top_down_specialization_has_findings(stays: sa.Session) -> None:
    source = "SELECT * REPLACE (CASE WHEN sex = 'f' OR age < 30 THEN 'a' ELSE 'b' END AS diagnosis) FROM stays"
    wanted = policy(privacy=[], method=sa.TopDownSpecialization(5, target="diagnosis"))
    found = found_by(stays, wanted, source)
    assert [each.column for each in found.repeated_identifiers] == ["patient", "is_vip", "ward"]
    (column,) = found.homogeneous_columns
    assert [(column.homogeneous_rows, column.released_rows)] == homogeneous(stays)
    assert column.homogeneous_rows > 0
