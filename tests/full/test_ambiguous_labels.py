"""Labels that are also other raw values of their attribute: they are accepted, and every report says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

HOSTILE = 'a""b"; drop table x --'
AMBIGUOUS = [("a", "b", "*"), ("b", "c", "*")]
FINE = [("a", "b", "*"), ("b", "b", "*"), ("c", "*", "*"), ("*", "d", "*"), (None, "e", "*")]
"""A value that is its own group, and a raw value that is the label of the top."""


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as found:
        found.connection.execute(
            "CREATE TABLE people AS SELECT chr(CAST(97 + i % 2 AS INTEGER)) AS x, i % 3 AS y FROM range(60) AS r (i)"
        )
        yield found


def note(name: str) -> str:
    return (
        f'1 label of the taxonomy of "{name}" is also a value that has another label at the same level: a reader may '
        "take the one for the other; rename the label"
    )


def policy(name: str, **changes: object) -> sa.Policy:
    return sa.Policy(
        **{"quasi_identifiers": [name], "insensitive": ["y"], "privacy": [sa.KAnonymity(2)], **changes}  # type: ignore[arg-type]
    )


def test_the_report_names_the_attribute_and_counts_the_labels(session: sa.Session) -> None:
    name = HOSTILE
    quoted = name.replace('"', '""')
    session.connection.execute(f'CREATE TABLE named AS SELECT x AS "{quoted}", y FROM people')
    session.taxonomies.load(name, sa.Taxonomy.from_rows(AMBIGUOUS))
    assert session.anonymize("named", policy(name), into="k2").report.notes == (note(name),)
    assert session.taxonomies.list()[name]["ambiguous_labels"] == 1


def test_taxonomies_of_the_policy_and_changed_ones_are_looked_at(session: sa.Session) -> None:
    own = policy("x", taxonomies={"x": {"kind": "rows", "rows": AMBIGUOUS}})
    assert session.anonymize("people", own, into="own").report.notes == (note("x"),)
    session.taxonomies.load("x", sa.Taxonomy.from_rows(FINE))
    assert session.anonymize("people", policy("x"), into="fine").report.notes == ()
    session.connection.execute("UPDATE anon.taxonomy SET label = 'z' WHERE value = 'b' AND level = 1")
    assert session.anonymize("people", policy("x"), into="changed").report.notes == (note("x"),)


def test_a_fit_has_the_note(session: sa.Session, tmp_path: Path) -> None:
    session.taxonomies.load("x", sa.Taxonomy.from_rows(AMBIGUOUS))
    fitted = session.partitions.fit(
        "people", policy("x", identifiers=["y"], insensitive=[]), tmp_path / "fit.duckdb", accept_observed_domain=True
    )
    assert note("x") in fitted.notes


def test_loading_by_command_says_it(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a;b;*\nb;c;*\n")
    loaded = sqlanon("taxonomy", "load", "x", "x.csv", "--db", "w.duckdb", folder=tmp_path)
    assert loaded.returncode == 0
    assert note("x") in " ".join(loaded.stderr.split()) + " ".join(loaded.stdout.split())
    assert (
        document(sqlanon("taxonomy", "load", "x", "x.csv", "--db", "w.duckdb", "--json", folder=tmp_path))[
            "ambiguous_labels"
        ]
        == 1
    )
    (tmp_path / "x.csv").write_text("a;b;*\nb;b;*\n")
    loaded = sqlanon("taxonomy", "load", "x", "x.csv", "--db", "w.duckdb", folder=tmp_path)
    assert (loaded.returncode, "label" in loaded.stderr + loaded.stdout) == (0, False)
