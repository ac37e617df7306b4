"""UCI Adult at k = 5 and a suppression limit of 5 %: the release of the spec, its losses, and its rows in a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import sqlanon as sa
from tests.adult import uci_policy
from tests.conftest import UCI_QUASI_IDENTIFIERS, reading

pytestmark = pytest.mark.adult

POLICY = uci_policy(5, 5, sa.Prec())


class Adult(NamedTuple):
    session: sa.Session
    release: sa.Release
    file: Path


@pytest.fixture(scope="module")
def adult(uci_adult: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adult]:
    file = tmp_path_factory.mktemp("adult") / "released.parquet"
    with reading(uci_adult) as session:
        yield Adult(session, session.anonymize("adult", POLICY, into=file), file)


def test_the_node_is_that_of_the_spec(adult: Adult) -> None:
    assert tuple(adult.release.node.values()) == (3, 0, 2, 0, 1, 0, 0, 0, 3)
    report = adult.release.report
    assert (report.suppressed_rows, report.lattice_nodes, report.proven_optimal) == (1355, 10368, True)
    assert report.checked_nodes < report.lattice_nodes / 5


def test_its_loss_is_the_least_of_the_spec(adult: Adult) -> None:
    assert adult.release.report.loss == pytest.approx(0.3889, abs=5e-5)
    assert adult.release.report.tie_count == 1


def test_every_class_of_the_file_has_five_rows(adult: Adult) -> None:
    labels = ", ".join(UCI_QUASI_IDENTIFIERS)
    query = f"SELECT count(*), sum(n), min(n) FROM (SELECT count(*) AS n FROM '{adult.file}' GROUP BY {labels})"
    [(classes, rows, smallest)] = adult.session.connection.execute(query).fetchall()
    report = adult.release.report
    assert (classes, smallest) == (report.class_count, report.min_class_size)
    assert smallest >= 5
    assert rows == report.rows.released == 32_561 - 1355


def test_it_is_verified_beside_its_source(adult: Adult) -> None:
    assert adult.session.verify(adult.file, POLICY, source="adult").met
