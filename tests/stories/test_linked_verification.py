"""A release of several tables is verified as it is found: every kind of change is named."""

from collections.abc import Iterator, Mapping

import pytest

import sqlanon as sa
from sqlanon.binding.linked import bound_linked
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.known_rows import KnownRows
from sqlanon.model.labels import NodeRecord, RungsRecord
from sqlanon.model.policy.linked_policy import LinkedPolicy, TableRoles
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.record import LinkedRecord, LinkedTableRecord, Record, RowsRecord
from sqlanon.model.release.linked import LinkedVerification
from sqlanon.model.taxonomy.rules import Groups, Intervals
from sqlanon.publish.provenance import record_by
from sqlanon.verification.found_linked import FoundLinked
from sqlanon.verification.verify_linked import verify_linked
from tests.engines import engine_of

POLICY = LinkedPolicy(
    tables={
        "patients": TableRoles(
            row_key="id",
            quasi_identifiers=("born",),
            identifiers=("name",),
            insensitive=("note",),
            taxonomies={"born": Intervals(widths=(10,))},
        ),
        "visits": TableRoles(
            parent="patients",
            key="patient",
            quasi_identifiers=("ward",),
            sensitive=("diagnosis",),
            taxonomies={"ward": Groups(groups={"inner": ("heart", "lung"), "outer": ("skin",)})},
        ),
    },
    privacy=(KnownRows(2, m=1),),
    maximum_levels={"visits.ward": 1},
)

SOURCES = {
    "patients": "SELECT 100 + range AS id, 1950 + range % 20 AS born, 'n' || range AS name, "
    "'b' || range % 3 AS note FROM range(60)",
    "visits": (
        "SELECT 100 + range % 50 AS patient, ['heart', 'lung', 'skin'][1 + range % 3] AS ward, "
        "'d' || range % 4 AS diagnosis FROM range(150)"
    ),
}
RELEASED = {
    "patients": (
        "SELECT 1 + (range * 7) % 60 AS id, CASE WHEN range % 20 < 10 THEN '[1950, 1960)' ELSE '[1960, 1970)' END "
        "AS born, 'b' || range % 3 AS note FROM range(60)"
    ),
    "visits": (
        "SELECT 1 + (range % 50 * 7) % 60 AS patient, CASE WHEN range % 3 < 2 THEN 'inner' ELSE 'outer' END AS ward, "
        "'d' || range % 4 AS diagnosis FROM range(150)"
    ),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with sa.connect() as session:
        yield engine_of(session)


@pytest.fixture(scope="module")
def sources(engine: Engine) -> Mapping[str, ResolvedSource]:
    return {name: engine.resolve(query) for name, query in SOURCES.items()}


@pytest.fixture(scope="module")
def record(engine: Engine, sources: Mapping[str, ResolvedSource]) -> Record:
    with bound_linked(engine, sources, POLICY) as bound:
        hashes = {name: found for table in bound.tables.values() for name, found in table.path.taxonomy_hashes.items()}
    tables = {
        name: LinkedTableRecord(rows=RowsRecord(source=count, released=count))
        for name, count in {"patients": 60, "visits": 150}.items()
    }
    labels = NodeRecord(levels={"patients.born": 1, "visits.ward": 1})
    return record_by(POLICY, taxonomy_sha256=hashes, linked=LinkedRecord(tables=tables), labels=labels)


def verified(
    engine: Engine, record: Record, sources: Mapping[str, ResolvedSource] | None, **changed: str
) -> LinkedVerification:
    """Verify the release with other tables in place of some; without those that are empty."""
    queries = {name: query for name, query in {**RELEASED, **changed}.items() if query}
    return verify_linked(
        engine, FoundLinked({name: engine.resolve(query) for name, query in queries.items()}, record), POLICY, sources
    )


def test_a_release_meets_its_policy(engine: Engine, record: Record, sources: Mapping[str, ResolvedSource]) -> None:
    found = verified(engine, record, sources)
    assert (found.shortfalls, found.notes) == ((), ())
    assert found.measurement is not None
    assert found.measurement.known[1].k >= 2
    assert verified(engine, record, None).met


PATIENTS, VISITS = "FROM (" + RELEASED["patients"] + ")", "FROM (" + RELEASED["visits"] + ")"
CHANGES: dict[str, tuple[dict[str, str], list[str]]] = {
    "no visits": ({"visits": ""}, ['it lacks the table "visits"']),
    "another table": ({"bills": VISITS}, ['it has the table "bills", which the policy lacks']),
    "a name": (
        {"patients": f"SELECT *, 'n' AS name {PATIENTS}"},
        ['of the table "patients": it has the identifier "patients.name"'],
    ),
    "another column": (
        {"visits": f"SELECT *, 1 AS x {VISITS}"},
        ['of the table "visits": it has the column "visits.x", to which the policy gives no role'],
    ),
    "no ward": (
        {"visits": f"SELECT * EXCLUDE (ward) {VISITS}"},
        ['of the table "visits": it lacks the column "visits.ward", which the policy releases'],
    ),
    "an orphan": (
        {"visits": f"SELECT * REPLACE (CASE WHEN patient = 8 THEN NULL ELSE patient END AS patient) {VISITS}"},
        ['of the table "visits": 3 rows belong to no row of its parent'],
    ),
    "a repeated key": (
        {"patients": f"SELECT * REPLACE (CASE WHEN id = 8 THEN 9 ELSE id END AS id) {PATIENTS}"},
        [
            'of the table "patients": 1 rows have the key of another row',
            'of the table "visits": 3 rows belong to no row of its parent',
            "what somebody knows of persons cannot be counted: rows lack keys of their own",
            'the keys of "patients" are not the numbers 1 to 60, each in one row',
        ],
    ),
    "keys from 0": (
        {
            "patients": f"SELECT * REPLACE (id - 1 AS id) {PATIENTS}",
            "visits": f"SELECT * REPLACE (patient - 1 AS patient) {VISITS}",
        },
        ['the keys of "patients" are not the numbers 1 to 60, each in one row'],
    ),
    "fewer rows": (
        {"visits": f"{VISITS} WHERE patient <> 8"},
        ['"visits" has 147 rows where 150 were released'],
    ),
    "a finer label": (
        {"visits": f"SELECT * REPLACE (CASE WHEN ward = 'outer' THEN 'skin' ELSE ward END AS ward) {VISITS}"},
        [
            'of the table "visits": column "visits.ward" has 1 labels, in 50 rows, that its taxonomy does not have at '
            "level 1, that of the release"
        ],
    ),
    "a diagnosis that nobody has": (
        {"visits": f"SELECT * REPLACE ('d9' AS diagnosis) {VISITS}"},
        [
            'of the table "visits": 150 rows have sensitive and insensitive values that its source lacks, or has less '
            "often"
        ],
    ),
    "one known row": (
        {"visits": f"SELECT * REPLACE (CASE WHEN patient = 8 THEN '*' ELSE ward END AS ward) {VISITS}"},
        [
            "who knows the person and one row is left with at least 1 person, not 2; fewer than 2 are left for 1 "
            "person",
            'of the table "visits": column "visits.ward" has 1 labels, in 3 rows, that its taxonomy does not have at '
            "level 1, that of the release",
        ],
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_named(engine: Engine, record: Record, sources: Mapping[str, ResolvedSource], kind: str) -> None:
    changed, shortfalls = CHANGES[kind]
    assert [*verified(engine, record, sources, **changed).shortfalls] == shortfalls


def test_keys_of_the_source_are_found(engine: Engine, record: Record) -> None:
    """Keys 1 to n are keys of the source by chance; those of rows that look alike are not."""
    kept = {name: query.replace("100 + range", "1 + range") for name, query in SOURCES.items()}
    sources = {name: engine.resolve(query) for name, query in kept.items()}
    old = {name: query.replace("* 7) % 60", ") % 60") for name, query in RELEASED.items()}
    found = verified(engine, record, sources, **old)
    assert [*found.shortfalls] == [
        'of the table "patients": its keys are not drawn anew: 60 are "patients.id" of a row of the source that '
        "looks alike, where 10 would be by chance"
    ]
    reversed_keys = {
        "patients": RELEASED["patients"].replace("range * 7", "59 - range"),
        "visits": RELEASED["visits"].replace("range % 50 * 7", "59 - range % 50"),
    }
    assert verified(engine, record, sources, **reversed_keys).met


def test_a_tree_of_one_person_falls_short_of_whole_trees(engine: Engine) -> None:
    policy = POLICY.changed({"privacy": (KAnonymity(2),)})
    changed, _ = CHANGES["one known row"]
    for tables, shortfalls in (
        (RELEASED, []),
        (
            {**RELEASED, **changed},
            [
                "who knows all rows of a person is left with at least 1 person, not 2; fewer than 2 are left for 1 "
                "person"
            ],
        ),
    ):
        found = FoundLinked({name: engine.resolve(query) for name, query in tables.items()})
        assert [*verify_linked(engine, found, policy).shortfalls] == shortfalls


@pytest.mark.parametrize("table", POLICY.tables)
def test_a_table_that_is_not_there_is_named_without_sources(engine: Engine, record: Record, table: str) -> None:
    assert verified(engine, record, None, **{table: ""}).shortfalls == (f'it lacks the table "{table}"',)


def test_another_policy_is_noted(engine: Engine, record: Record, sources: Mapping[str, ResolvedSource]) -> None:
    found = verified(engine, record.model_copy(update={"policy_sha256": "0"}), sources)
    assert found.met and len(found.notes) == 1


def test_labels_without_their_taxonomies_are_noted(engine: Engine, record: Record) -> None:
    found = verified(engine, record.model_copy(update={"taxonomy_sha256": {}}), None)
    assert found.notes == (
        'the labels of "patients.born", "visits.ward" are not compared with their taxonomies: those of the release '
        "are not loaded here",
    )


def test_labels_of_mixed_levels_are_those_of_some_rung(engine: Engine, record: Record) -> None:
    """Wards are at levels 0 and 2, and their groups, at level 1, are not of the release."""
    rungs = RungsRecord(levels={"patients.born": (1,), "visits.ward": (0, 2)})
    mixed = record.model_copy(update={"labels": rungs})
    policy = POLICY.changed({"maximum_levels": {}})
    others = [
        'of the table "visits": column "visits.ward" has 2 labels, in 150 rows, that its taxonomy does not have at '
        "levels 0 and 2, those of the release"
    ]
    for ward, shortfalls in (("ward", others), ("CASE ward WHEN 'inner' THEN 'heart' ELSE '*' END", [])):
        visits = f"SELECT * REPLACE ({ward} AS ward) {VISITS}"
        found = FoundLinked({"patients": engine.resolve(RELEASED["patients"]), "visits": engine.resolve(visits)}, mixed)
        assert [*verify_linked(engine, found, policy).shortfalls] == shortfalls
