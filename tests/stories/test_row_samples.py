"""Rows of a source beside the labels that a release shows for them: an insensitive key says which row is which."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from tests.strategies import HOSTILE_NAMES

AGES = {"kind": "intervals", "widths": [5, 10], "minimum": 0, "maximum": 59}
CITIES = {"kind": "groups", "groups": {"North": ["Kiel", "Bremen"], "South": ["Ulm", "Hof"]}}
ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 59), st.none() | st.sampled_from(["Kiel", "Bremen", "Ulm", "Hof"])),
    min_size=6,
    max_size=25,
)
METHODS: dict[str, dict[str, Any]] = {
    "drop": {"method": "full-domain"},
    "mask": {"method": "full-domain", "suppression": "mask"},
    "local": {"method": "local-recoding"},
    "masked local": {"method": sa.LocalRecoding(suppression="mask")},
    "mondrian": {"method": sa.Mondrian(ordered=()), "suppression_limit": None},
    "top-down": {
        "method": sa.TopDownSpecialization(2),
        "sensitive": ["key"],
        "insensitive": [],
        "suppression_limit": None,
        "privacy": None,
    },
}


def policy(**settings: Any) -> sa.Policy:
    given: dict[str, Any] = {
        "quasi_identifiers": ["age", "city"],
        "insensitive": ["key"],
        "privacy": [sa.KAnonymity(2)],
        "taxonomies": {"age": AGES, "city": CITIES},
        "suppression_limit": 0.4,
    }
    return sa.Policy(**{name: value for name, value in (given | settings).items() if value is not None})


@pytest.fixture(scope="module")
def memory() -> Iterator[sa.Session]:
    with sa.connect() as session:
        yield session


def table(session: sa.Session, rows: list[tuple[Any, ...]], age: str = "INTEGER", city: str = "city") -> None:
    quoted = '"' + city.replace('"', '""') + '"'
    session.connection.execute(f"CREATE OR REPLACE TABLE people (key INTEGER, Age {age}, {quoted} VARCHAR)")
    session.connection.executemany(
        "INSERT INTO people VALUES ($1, $2, $3)", [(key, *row) for key, row in enumerate(rows)]
    )


def truth(session: sa.Session, city: str = "city") -> dict[int, tuple[str | None, ...]]:
    quoted = '"' + city.replace('"', '""') + '"'
    found = session.connection.execute(f"SELECT key, age::VARCHAR, {quoted} FROM released").fetchall()
    return {key: (age, place) for key, age, place in found}


@given(ROWS, st.sampled_from([*METHODS]), st.sampled_from(["INTEGER", "DOUBLE", "VARCHAR"]))
def test_rows_stand_beside_their_labels(
    memory: sa.Session, rows: list[tuple[Any, ...]], method: str, kind: str
) -> None:
    if method == "top-down":  # which takes no missing values
        rows = [(age or 0, city or "Ulm") for age, city in rows]
    table(memory, rows, kind)
    try:
        memory.anonymize("people", policy(**METHODS[method]), into="released", replace="anything")
    except sa.UnsatisfiableError:
        return
    found, released = memory.sample_rows("people", "released", 1_000), truth(memory)
    texts = memory.connection.execute("SELECT age::VARCHAR, city FROM people ORDER BY key").fetchall()
    assert [row.before for row in found.rows] == texts
    for key, row in enumerate(found.rows):
        if "local" in method:
            assert row.after == released.get(key) or row.others
        else:
            assert (row.after, row.others) == (released.get(key), 0)


def test_rows_are_chosen_by_the_seed(memory: sa.Session) -> None:
    table(memory, [(age, "Ulm") for age in range(50)])
    memory.anonymize("people", policy(), into="released", replace="anything")
    samples = [memory.sample_rows("people", "released", 5, seed=seed) for seed in (0, 0, 1)]
    assert samples[0] == samples[1] and samples[0].rows != samples[2].rows
    assert [len(each.rows) for each in samples] == [5, 5, 5]
    assert "→" in samples[0].to_html()


def test_unknown_values(memory: sa.Session) -> None:
    table(memory, [*[(age, "Ulm") for age in (1, 1, 2, 2)], (1, "Rome"), (99, "Ulm")])
    wanted = policy(unknown={"city": "top", "age": "suppress"}, suppression_limit=0.5)
    memory.anonymize("people", wanted, into="released", replace="anything")
    released = truth(memory)
    found = memory.sample_rows("people", "released", 10).rows
    assert [row.after for row in found] == [released.get(key) for key in range(6)]
    assert found[-1].after is None


def test_taxonomies_of_files_and_of_the_warehouse(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("Kiel;North;*\nUlm;South;*\n", encoding="utf-8")
    rules = {"age": {"kind": "cuts", "breaks": [[3]]}}
    wanted = policy(taxonomies=rules | {"city": str(tmp_path / "city.csv")})
    release = str(tmp_path / "released.parquet")
    with sa.connect() as session:
        table(session, [(1, "Ulm"), (2, "Ulm"), (3, "Kiel"), (4, "Kiel")])
        session.anonymize("people", wanted, into=release)
        labels = {row.after for row in session.sample_rows("people", release, policy=wanted).rows}
        assert labels == {("< 3", "Ulm"), (">= 3", "Kiel")}
        with pytest.raises(sa.TaxonomyError, match='the taxonomy "city" is missing'):
            session.sample_rows("people", release)
        session.taxonomies.load("city", sa.Taxonomy.flat(["Ulm", "Kiel"]))
        with pytest.raises(sa.TaxonomyError, match='the taxonomy "city" is not that of the release'):
            session.sample_rows("people", release)
        session.taxonomies.load("city", tmp_path / "city.csv")
        assert {row.after for row in session.sample_rows("people", release).rows} == labels


@pytest.mark.parametrize("name", HOSTILE_NAMES[:4])
def test_hostile_names(memory: sa.Session, name: str) -> None:
    table(memory, [(1, "Ulm"), (2, "Ulm"), (50, "Ulm")], city=name)
    wanted = policy(quasi_identifiers=["age", name], taxonomies={"age": AGES, name: CITIES})
    memory.anonymize("people", wanted, into="released", replace="anything")
    rows = memory.sample_rows("people", "released").rows
    assert {key: row.after for key, row in enumerate(rows) if row.after} == truth(memory, name)


def test_refusals(memory: sa.Session) -> None:
    table(memory, [(age, "Ulm") for age in range(20)])
    invents = sa.Policy(quasi_identifiers=["age"], sensitive=["city"], identifiers=["key"], method=sa.HCeiling(2, h=1))
    invents = invents.changed({"taxonomies": {"age": AGES}})
    memory.anonymize("people", invents, into="released", replace="anything")
    with pytest.raises(sa.PolicyError, match=r"no counterpart.*h-ceiling.*invented"):
        memory.sample_rows("people", "released")
    memory.anonymize(
        "people", policy(**METHODS["mondrian"] | {"method": "mondrian"}), into="released", replace="anything"
    )
    with pytest.raises(sa.PolicyError, match=r'(?s)in no taxonomy.*"age"'):
        memory.sample_rows("people", "released")
    memory.anonymize("people", policy(), into="released", replace="anything")
    with pytest.raises(sa.PolicyError, match=r'(?s)not the source.*column "city" is not there'):
        memory.sample_rows("SELECT key, age FROM people", "released")
    with pytest.raises(sa.PolicyError, match="from 1 to 1,000, not 0"):
        memory.sample_rows("people", "released", 0)
    with pytest.raises(sa.EngineError, match="no provenance"):
        memory.sample_rows("people", "people")
