"""A fit on taxonomies whose values were read off the source, which later parts need not keep to."""

from pathlib import Path
from shutil import copytree

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

TOWNS = "Bonn;Rhineland;*\nKiel;Coast;*\n"
POLICY = """
quasi_identifiers = ["joined", "age", "zip", "town", "share"]
[[privacy]]
model = "k-anonymity"
k = 2
[taxonomies]
joined = { kind = "dates", units = ["month"] }
age = { kind = "intervals", widths = [10] }
zip = "zip"
town = "town.csv"
"""
ROWS = """
    SELECT DATE '2026-01-01' + CAST(i % 5 AS INTEGER) AS joined, CAST(i % 3 AS INTEGER) AS age,
        ['10115', '20095'][1 + i % 2] AS zip, ['Bonn', 'Kiel'][1 + i % 2] AS town, i % 2 / 4 AS share
    FROM range(60) AS rows (i)
"""


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("club")
    (folder / "town.csv").write_text(TOWNS)
    (folder / "policy.toml").write_text(POLICY)
    duckdb.connect().execute(f"COPY ({ROWS}) TO '{folder}/january.parquet'")
    with sa.connect(folder / "club.duckdb") as session:
        session.taxonomies.make("share", "intervals", widths=[1], source=str(folder / "january.parquet"))
    return folder


@pytest.fixture
def folder(club: Path, tmp_path: Path) -> Path:
    return Path(copytree(club, tmp_path, dirs_exist_ok=True))


REFUSED = (
    '"joined": declare `first` and `last`',
    '"age": declare `minimum` and `maximum`',
    '"zip": declare its `values`, or name a file of values and labels',
    '"share": declare `minimum` and `maximum`',
)


COMMAND = ("fit", "january.parquet", "--policy", "policy.toml", "--fit", "club.fit", "--db", "club.duckdb")


def test_columns_whose_texts_depend_on_the_time_zone_are_refused(folder: Path) -> None:
    rows = f"SELECT CAST(joined AS TIMESTAMPTZ) AS joined, town FROM ({ROWS})"
    policy = sa.Policy(
        quasi_identifiers=["joined", "town"],
        privacy=[sa.KAnonymity(2)],
        taxonomies={"joined": {"kind": "flat"}, "town": str(folder / "town.csv")},
    )
    with sa.connect() as session:
        for source in (rows, f"SELECT * REPLACE ([joined] AS joined) FROM ({rows})"):
            with pytest.raises(sa.PolicyError, match=r'in a view, .*\n.*"joined" \(TIMESTAMP WITH TIME ZONE'):
                session.partitions.fit(source, policy, folder / "club.fit", accept_observed_domain=True)
        in_utc = f"SELECT * REPLACE (CAST(timezone('UTC', joined) AS DATE) AS joined) FROM ({rows})"
        session.partitions.fit(in_utc, policy, folder / "club.fit", accept_observed_domain=True)


def test_all_observed_domains_are_refused_or_accepted_by_an_option(folder: Path) -> None:
    refused = sqlanon(*COMMAND, folder=folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--accept-observed-domain" in refused.stderr
    assert [problem for problem in REFUSED if problem not in refused.stderr] == []
    assert '"town"' not in refused.stderr
    assert not (folder / "club.fit").exists()
    accepted = (*COMMAND, "--accept-observed-domain")
    fitted = document(sqlanon(*accepted, "--json", folder=folder))
    assert fitted["domains"] == dict.fromkeys(("joined", "age", "zip", "share"), "observed") | {"town": "stated"}
    again = sqlanon(*accepted, folder=folder)
    assert (again.returncode, "give another name, or --replace" in again.stderr) == (2, True)


def test_declared_domains_need_no_option(folder: Path) -> None:
    policy = sa.Policy.from_toml(folder / "policy.toml")
    declared = policy.taxonomies | {
        "joined": {"kind": "dates", "units": ["month"], "first": "2026-01-01", "last": "2026-12-31"},
        "age": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 99},
        "zip": {"kind": "zip", "values": ["10115", "20095"]},
    }
    policy = sa.Policy(**{**dict(policy), "taxonomies": declared})
    source = str(folder / "january.parquet")
    with sa.connect(folder / "club.duckdb") as session:
        with pytest.raises(sa.TaxonomyError) as refused:
            session.partitions.fit(source, policy, folder / "club.fit")
        assert refused.value.problems == REFUSED[3:]
        session.taxonomies.load("share", sa.Taxonomy.flat(["0.0", "0.25"]), source=source)
        assert "observed" not in session.partitions.fit(source, policy, folder / "club.fit").domains.values()


def test_a_sensitive_column_that_is_compared_by_its_taxonomy_is_named(folder: Path) -> None:
    policy = sa.Policy(
        quasi_identifiers=["town"],
        sensitive=["zip"],
        rest="identifier",
        privacy=[sa.TCloseness("zip", 0.9, "hierarchical")],
        taxonomies={"town": str(folder / "town.csv"), "zip": "zip"},
    )
    with sa.connect() as session, pytest.raises(sa.TaxonomyError) as refused:
        session.partitions.fit(str(folder / "january.parquet"), policy, folder / "club.fit")
    assert refused.value.problems == REFUSED[2:3]
