"""Local recoding: hints at it, tight bounds, releases that stay as they are, and tables too large or too small."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.run import pipeline
from tests.stories import test_local_recoding
from tests.stories.test_local_recoding import policy_of

warehouse, session = test_local_recoding.warehouse, test_local_recoding.session


def test_a_release_of_the_same_files_and_policy_is_left(session: sa.Session, tmp_path: Path) -> None:
    """One of another policy is replaced."""
    source, target = tmp_path / "people.parquet", tmp_path / "released.parquet"
    session.connection.execute(f"COPY people TO '{source}'")
    policy = policy_of(sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2), suppression_limit=0.01)
    first = session.anonymize(source, policy, target, replace="changed")
    before = target.stat().st_mtime_ns
    again = session.anonymize(source, policy, target, replace="changed")
    assert (first.unchanged, again.unchanged, target.stat().st_mtime_ns) == (False, True, before)
    assert type(again.report) is type(first.report)
    own = {"findings", "before", "after", "minimality_rows", "minimality_cell_rows"}
    assert again.report.model_dump(exclude=own) == first.report.model_dump(exclude=own)
    assert again.guarantee.claims == first.guarantee.claims
    assert {*again.guarantee.not_covered} <= {*first.guarantee.not_covered}
    release = session.anonymize(source, policy_of(sa.KAnonymity(5)), target, replace="changed")
    assert (release.unchanged, release.report.min_class_size >= 5) == (False, True)
    with pytest.raises(sa.TargetError, match="made by another policy"):
        session.anonymize(source, policy_of(sa.KAnonymity(6)), target)


def test_a_lower_bound_is_asked_for_or_quick(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is above 0, and no more than what is lost."""
    quick = session.anonymize("people", policy_of(sa.KAnonymity(25)), "released").report
    assert 0 < quick.lower_bound < quick.loss
    assert "more than the least" in quick.search_in_words
    monkeypatch.setattr("sqlanon.methods.local.local_run.BOUNDED_WORK", 1)
    slow = session.anonymize("people", policy_of(sa.KAnonymity(25)), "released", replace=True).report
    assert slow.lower_bound is None
    method = sa.LocalRecoding(lower_bound=True)
    asked = session.anonymize("people", policy_of(sa.KAnonymity(25), method=method), "released", replace=True).report
    assert asked.lower_bound == quick.lower_bound


def test_tables_of_hardly_any_rows(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError, match="has no rows"):
        session.anonymize("FROM people LIMIT 0", policy_of(sa.KAnonymity(2)), "released")
    with pytest.raises(sa.UnsatisfiableError, match="1 of 1 rows do not meet them even all together"):
        session.anonymize("FROM people LIMIT 1", policy_of(sa.KAnonymity(2)), "released")


def test_lattices_of_very_many_nodes_are_refused(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlanon.methods.local.local_run.MAX_NODES", 39)
    with pytest.raises(sa.PolicyError, match='the lattice has 50 nodes, more than the 39 that method "local-recoding"'):
        session.anonymize("people", policy_of(sa.KAnonymity(4)), "released")


def test_masked_rows_have_the_aggregates_of_their_class(session: sa.Session) -> None:
    method = sa.LocalRecoding(aggregate={"zip": "mean"}, suppression_limit=1, suppression="mask")
    asked = policy_of(sa.KAnonymity(4), method=method, maximum_levels={"age": 0, "sex": 0, "zip": 1})
    session.anonymize("SELECT * REPLACE (zip::INTEGER AS zip) FROM people", asked, "released")
    query = """
        SELECT count(*), any_value(zip_mean), avg(people.zip::INTEGER) FROM released JOIN people USING (row_id)
        WHERE released.age = '*' AND released.sex = '*'
    """
    rows, shown, expected = session.connection.execute(query).fetchone() or ()
    assert rows >= 4
    assert shown == pytest.approx(expected, rel=1e-12)


def test_aggregates_that_cannot_be_are_refused_at_once(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError) as refused:
        policy_of(
            sa.KAnonymity(4),
            method=sa.LocalRecoding(aggregate={"illness": "mean", "age": "mean"}),
            minimum_levels={"age": 1},
        )
    assert [problem.partition('"')[2].partition('"')[0] for problem in refused.value.problems] == ["illness", "age"]
    asked = policy_of(sa.KAnonymity(4), method=sa.LocalRecoding(aggregate={"age": "mean", "sex": "median"}))
    with pytest.raises(sa.PolicyError) as refused:
        session.anonymize("SELECT *, 1 AS AGE_MEAN FROM people", asked, "released")
    assert len(refused.value.problems) == 2


class TestHints:
    def hint(self, session: sa.Session, source: str = "people", k: int = 4, **options: Any) -> Any:
        """What the findings of a release by full domains say of local recoding."""
        policy = policy_of(sa.KAnonymity(k), **{"method": sa.FullDomain(), **options})
        findings = session.anonymize(source, policy, "released", replace=True).report.findings
        assert any('method = "local-recoding"' in line for line in findings.sentences) == bool(findings.local_recoding)
        return findings.local_recoding

    def test_full_domain_names_local_recoding_where_it_loses_much_less(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And not for large tables."""
        local_loss, of_large_tables = pipeline.local_loss, []

        def limited(engine: Any, publication: Any) -> float | None:
            for most in ("MAX_CELLS", "MAX_NODES"):
                with monkeypatch.context() as patch:
                    patch.setattr(f"sqlanon.methods.local.least_loss.{most}", 10)
                    of_large_tables.append(local_loss(engine, publication))
            return local_loss(engine, publication)

        monkeypatch.setattr(pipeline, "local_loss", limited)
        estimated = self.hint(session).loss
        assert of_large_tables == [None, None]
        monkeypatch.undo()
        loss = session.anonymize("people", policy_of(sa.KAnonymity(4)), "released", replace=True).report.loss
        assert loss <= estimated <= 2 * loss

    def test_there_is_none(self, session: sa.Session) -> None:
        """By other losses, and where little is lost."""
        for quality in (sa.Prec(), sa.LM(aggregate="geometric")):
            assert self.hint(session, quality=quality) is None
        few = "SELECT 1 AS row_id, 20 AS age, 'f' AS sex, '10000' AS zip, 'flu' AS illness FROM range(10)"
        assert self.hint(session, few, 2, method=sa.FullDomain(suppression_limit=0.5), quality=sa.NCP()) is None
