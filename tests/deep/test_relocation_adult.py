"""Relocation on UCI Adult, beside suppression at the same node."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.methods.relocation.relocation_run import RelocationReport
from tests.adult import SEVEN
from tests.conftest import reading


@pytest.fixture(scope="module")
def adult(uci_adult: Path) -> Iterator[sa.Session]:
    """UCI Adult; its releases go elsewhere."""
    with reading(uci_adult) as session:
        yield session


def adult_policy(**settings: Any) -> sa.Policy:
    return sa.Policy(quasi_identifiers=SEVEN, sensitive=["occupation"], rest="identifier", **settings)


@pytest.mark.adult
class TestAdult:
    @pytest.mark.parametrize("quality", [sa.LM(), sa.LM(aggregate="geometric"), sa.Prec(), sa.DMStar()])
    def test_it_takes_the_node_of_suppression_and_leaves_nothing_out(
        self, adult: sa.Session, tmp_path: Path, quality: Any
    ) -> None:
        release = adult.anonymize(
            "adult", adult_policy(method=sa.Relocation(5, limit=0.05), quality=quality), tmp_path / "moved.parquet"
        )
        suppressing = adult_policy(privacy=[sa.KAnonymity(5)], suppression_limit=0.05, quality=quality)
        other = adult.anonymize("adult", suppressing, tmp_path / "suppressed.parquet")
        report, plain = release.report, other.report
        assert isinstance(report, RelocationReport)
        assert isinstance(plain, sa.Report)
        assert (release.node, report.loss) == (other.node, pytest.approx(plain.loss))
        assert report.relocated_rows == plain.suppressed_rows <= report.untruthful_share * 32561 + 1e-6
        assert 0 < report.relocated_rows <= 0.05 * 32561
        assert (report.rows.released, report.rows.dropped, report.suppressed_rows) == (32561, 0, 0)
        assert report.class_count == plain.class_count
        assert report.min_class_size >= 5
        # Rows that stay are where suppression has them; those that were moved are besides.
        stay = Counter(duckdb.read_parquet(str(tmp_path / "suppressed.parquet")).fetchall())
        assert not stay - Counter(duckdb.read_parquet(str(tmp_path / "moved.parquet")).fetchall())

    def test_its_values_are_those_of_the_source(self, adult: sa.Session, tmp_path: Path) -> None:
        policy = adult_policy(method=sa.Relocation(10, limit=1.0), insensitive=["income"])
        adult.anonymize("adult", policy, tmp_path / "moved.parquet")
        columns = "occupation, income"
        given = adult.connection.sql(f"SELECT {columns} FROM adult").fetchall()
        assert Counter(duckdb.sql(f"SELECT {columns} FROM '{tmp_path}/moved.parquet'").fetchall()) == Counter(given)

    def test_none_found_is_not_none_there(self, adult: sa.Session, tmp_path: Path) -> None:
        policy = adult_policy(method=sa.Relocation(5, limit=0), search="exhaustive")
        with pytest.raises(sa.UnsatisfiableError, match="was found yet") as stopped:
            adult.anonymize("adult", policy, tmp_path / "nothing.parquet", stop=lambda: True)
        assert "of 1,728 nodes were checked" in stopped.value.problems[0]
