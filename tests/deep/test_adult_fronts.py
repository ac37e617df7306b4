"""Adult through the fronts: findings, notes, the page of a lattice, and a suggested policy."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from tests.adult import uci_policy
from tests.browser import Page, address, browser
from tests.commands import document, sqlanon
from tests.conftest import data_folder

pytestmark = pytest.mark.adult


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


def test_the_numbers_of_educations_give_them_away(uci_adult: Path, tmp_path: Path) -> None:
    with sa.connect(uci_adult, read_only=True) as session:
        report = session.anonymize("adult", uci_policy(5, 5), into=tmp_path / "adult.parquet").report
    assert isinstance(report, sa.Report)
    assert report.findings is not None
    assert "education_num" in {each.column for each in report.findings.revealing_columns}


def test_the_weights_of_adult_are_nearly_unique(uci_adult: Path, tmp_path: Path) -> None:
    with sa.connect(uci_adult, read_only=True) as session:
        found = session.anonymize("adult", uci_policy(5, 5), into=tmp_path / "adult.parquet").report.notes
    assert [note.split('"')[1] for note in found if "nearly unique" in note] == ["fnlwgt"]
    assert "90.6 % of the released rows have a value there that fewer than 5 rows have" in " ".join(found)


@pytest.mark.parametrize("as_table", [True, False])
def test_adult_runs_as_it_is(as_table: bool, tmp_path: Path) -> None:
    adult = data_folder("adult_arx") / "adult.csv"
    source: tuple[str, ...] = (str(adult),)
    if as_table:
        with duckdb.connect(tmp_path / "a.duckdb") as connection:
            connection.execute(f"CREATE TABLE adult AS FROM read_csv('{adult}')")
        source = ("adult", "--db", "a.duckdb")
    found = document(sqlanon("init", *source, "--json", folder=tmp_path))
    assert [each["name"] for each in found["columns"] if each["is_undecided"]] == []
    assert found["quasi_identifiers"]["unique_rows"] > 0
    ran = sqlanon(*shlex.split(found["next"][0])[1:], folder=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_adult_with_fine_education(
    uci_adult: Path, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("adult.duckdb").write_bytes(uci_adult.read_bytes())
    Path("policy.toml").write_text(
        """
        quasi_identifiers = ["age", "education", "race", "sex", "native_country"]
        rest = "identifier"
        suppression_limit = 0.05
        privacy = [{ model = "k-anonymity", k = 5 }]
        """
    )
    source = ["adult", "--db", "adult.duckdb", "--policy", "policy.toml"]
    assert CliRunner().invoke(app, ["lattice", *source, "--out", "lattice.html"]).exit_code == 0
    page.open(address(Path("lattice.html"), "#k=10&education=1"))
    ran = CliRunner().invoke(app, [*shlex.split(page.text("command"))[1:], "--json"])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)["report"]
    assert report["node"]["education"] <= 1
    assert list(report["node"].values()) == page.value("levelsOf(chosen)")
    assert report["loss"] == pytest.approx(page.value("now.losses[chosen] * data.loss_unit"), abs=1e-6)
    assert page.text("left") == f"{100 * (1 - report['rows']['released'] / 32561):.1f} %"
    assert (page.problems, page.requests) == ([], [])
