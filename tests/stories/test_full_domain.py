"""A release of a node through the public API: its rows, and what its report, guarantee, record and pages say of it."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow.parquet as pq
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy, clinic_values, open_clinic

POLICY = clinic_policy(sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), suppression_limit=0.25)


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation}").fetchall()


def record(session: sa.Session, name: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(session.provenance(name) or "")["sqlanon"]
    return found


class Clinic(NamedTuple):
    session: sa.Session
    release: sa.Release
    file: Path
    events: list[sa.Event]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    file, events = tmp_path_factory.mktemp("clinic") / "published.parquet", []
    with duckdb.connect(config={"threads": 1}) as connection:
        session = open_clinic(connection)
        release = session.anonymize("visits", POLICY, into="published", progress=events.append)
        session.anonymize("visits", POLICY, into=file)
        yield Clinic(session, release, file, events)


class TestRows:
    def test_every_class_has_k_rows_of_l_diagnoses(self, clinic: Clinic) -> None:
        found = rows(clinic.session, "(SELECT age, sex, zip, diagnosis FROM published)")
        classes: dict[tuple[str, ...], list[str]] = {}
        for *labels, diagnosis in found:
            classes.setdefault(tuple(labels), []).append(diagnosis)
        assert min(map(len, classes.values())) >= 2
        assert min(len(set(values)) for values in classes.values()) >= 2
        assert len(found) == clinic.release.report.rows.released >= 9

    def test_identifiers_are_left_out_and_rows_are_in_their_own_order(self, clinic: Clinic) -> None:
        described = clinic.session.connection.execute("DESCRIBE published").fetchall()
        assert [name for name, *_ in described] == ["age", "sex", "zip", "diagnosis"]
        assert rows(clinic.session, "published") == rows(clinic.session, "(FROM published ORDER BY ALL)")

    def test_a_file_has_the_rows_of_the_table_and_lies_alone(self, clinic: Clinic) -> None:
        assert rows(clinic.session, f"'{clinic.file}'") == rows(clinic.session, "published")
        assert [*clinic.file.parent.iterdir()] == [clinic.file]
        assert clinic.release.into == "published"

    def test_nothing_else_is_left_in_the_database(self, clinic: Clinic) -> None:
        made = "SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'anon' AND table_name <> 'published'"
        assert {name for (name,) in clinic.session.connection.execute(made).fetchall()} == {"visits"}

    @pytest.mark.parametrize("beside", [None, "visits"])
    def test_it_is_verified(self, clinic: Clinic, beside: str | None) -> None:
        for name in ("published", clinic.file):
            assert clinic.session.verify(name, POLICY, source=beside).met


class TestGuarantee:
    def test_what_is_claimed(self, clinic: Clinic) -> None:
        k, l = clinic.release.guarantee.claims  # noqa: E741
        assert 'over "age", "sex", "zip" meets k-anonymity (k = 2)' in k
        assert "Samarati 2001" in k
        assert 'distinct l-diversity of "diagnosis" (l = 2)' in l

    def test_on_what_conditions_and_what_is_not(self, clinic: Clinic) -> None:
        guarantee = clinic.release.guarantee
        conditions, uncovered = " ".join(guarantee.conditions), " ".join(guarantee.not_covered)
        assert "no column of the release but the quasi-identifiers" in conditions
        assert "several rows" in conditions
        assert "no other release" in conditions
        assert '"zip"' in conditions  # its taxonomy was observed
        assert '"age"' not in conditions
        assert "not differential privacy" in uncovered
        assert "diagnosis" not in uncovered


class TestReport:
    def test_json(self, clinic: Clinic) -> None:
        report = clinic.release.report
        document = json.loads(report.model_dump_json())
        assert document["node"] == clinic.release.node
        assert document["rows"]["source"] == 12
        assert type(report).model_validate(document) == report
        assert json.loads(clinic.release.model_dump_json())["guarantee"]["claims"]
        assert set(document["seconds"]) >= {"encode", "search", "release", "verify"}

    def test_no_cell_value_is_in_any_document(self, clinic: Clinic) -> None:
        measured = clinic.session.measure("visits", POLICY)
        verified = clinic.session.verify("published", POLICY)
        texts = [clinic.session.provenance("published") or ""]
        for document in (clinic.release, measured, verified):
            texts += [document.model_dump_json(), repr(document), str(document)]
        assert [clinic_values(text) for text in texts] == [[]] * len(texts)

    def test_progress_is_told(self, clinic: Clinic) -> None:
        stages = ["encode", "search", "release", "verify", "publish"]
        assert [(event.stage, event.state) for event in clinic.events if event.state != "progress"] == [
            (stage, state) for stage in stages for state in ("started", "finished")
        ]


class TestMaxLoss:
    def test_what_loses_more_is_not_published(self, clinic: Clinic, tmp_path: Path) -> None:
        session, loss = clinic.session, clinic.release.report.loss
        assert loss is not None
        for target in ("useless", tmp_path / "useless.csv"):
            with pytest.raises(sa.UnsatisfiableError, match=r"would lose .* nothing is published") as caught:
                session.anonymize("visits", POLICY, target, max_loss=loss / 2)
        assert caught.value.explanation is None
        assert [*tmp_path.iterdir()] == []
        assert session.connection.execute("FROM duckdb_tables() WHERE table_name = 'useless'").fetchall() == []
        assert "useless" not in str(session.releases.list())
        kept = session.anonymize("visits", POLICY, into=tmp_path / "kept.parquet", max_loss=loss)
        assert kept.report.loss == loss

    def test_a_release_that_is_there_is_judged_too(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("age\n" + "".join(f"{30 + place % 2}\n" for place in range(9)))
        policy = {"quasi_identifiers": ["age"], "privacy": [{"model": "k-anonymity", "k": 5}]}
        policy["taxonomies"] = {"age": {"kind": "flat"}}
        (tmp_path / "p.json").write_text(json.dumps(policy))
        with sa.connect(threads=1) as session:
            session.anonymize(tmp_path / "t.csv", policy, into=tmp_path / "out.csv")
            with pytest.raises(sa.UnsatisfiableError, match=r"max_loss is 0\.2"):
                session.anonymize(tmp_path / "t.csv", policy, into=tmp_path / "out.csv", max_loss=0.2)
            assert (tmp_path / "out.csv").exists()
            for wrong in (-1, float("nan")):
                with pytest.raises(sa.PolicyError, match="0 or more"):
                    session.anonymize(tmp_path / "t.csv", policy, into=tmp_path / "b.csv", max_loss=wrong)

    def test_a_private_method_measures_none(self, clinic: Clinic) -> None:
        roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["diagnosis"], "rest": "identifier"}
        private = {**roles, "method": {"model": "ipa", "budget": {"epsilon": "1.0", "delta": "0.1"}}}
        with pytest.raises(sa.PolicyError, match="a private method measures none"):
            clinic.session.anonymize("visits", private, into="private", max_loss=0.5)


class TestRecord:
    def test_the_table_and_the_file_say_the_same(self, clinic: Clinic) -> None:
        [(comment,)] = clinic.session.connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name = 'published'"
        ).fetchall()
        footer = pq.read_metadata(clinic.file).metadata[b"sqlanon"].decode()
        assert (comment, footer) == tuple(map(clinic.session.provenance, ("published", clinic.file)))
        own = {"content": None, "record_sha256": None}
        found = [json.loads(text)["sqlanon"] for text in (comment, footer)]
        records = [{**each, **own, "report": {**each["report"], "seconds": None}} for each in found]
        assert records[0] == records[1]

    def test_what_it_says(self, clinic: Clinic) -> None:
        found, report = record(clinic.session, "published"), clinic.release.report
        assert found["policy"] == POLICY.model_dump(mode="json")
        assert found["policy_sha256"] == POLICY.sha256()
        assert set(found["taxonomy_sha256"]) == {"age", "sex", "zip"}
        assert {len(digest) for digest in (*found["taxonomy_sha256"].values(), found["code_sha256"])} == {64}
        assert found["labels"] == {"kind": "node", "levels": clinic.release.node}
        assert found["rows"] == report.rows.model_dump()
        attained = [(model["required"], model["attained"]) for model in found["privacy"]]
        assert attained == [(2, model.attained) for model in report.models]

    def test_tables_of_others_have_none(self, clinic: Clinic, tmp_path: Path) -> None:
        clinic.session.connection.execute(f"COPY visits TO '{tmp_path}/plain.parquet'")
        assert clinic.session.provenance("visits") is clinic.session.provenance(tmp_path / "plain.parquet") is None

    def test_a_changed_taxonomy_has_another_hash_and_hostile_names_survive(self, clinic: Clinic) -> None:
        name = 'it\'s "a" \\ column; --'
        with duckdb.connect(config={"threads": 1}) as connection:
            session = open_clinic(connection)
            session.taxonomies.load("sex", sa.Taxonomy.from_rows([("f", "any"), ("m", "any")]))
            source = "SELECT * RENAME (diagnosis AS {}) FROM visits".format('"' + name.replace('"', '""') + '"')
            policy = clinic_policy(sa.KAnonymity(2), sensitive=[name], suppression_limit=0.25)
            uncovered = session.anonymize(source, policy, into="published").guarantee.not_covered
            found = record(session, "published")
        assert any("it's" in line and "disclosed" in line for line in uncovered), "no model protects its values"
        before = record(clinic.session, "published")["taxonomy_sha256"]
        assert found["policy"]["sensitive"] == [name]
        assert found["taxonomy_sha256"]["sex"] != before["sex"]
        assert found["taxonomy_sha256"]["age"] == before["age"]


@pytest.fixture
def memory() -> Iterator[sa.Session]:
    """A session on an empty database."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield sa.connect(connection)


def single(session: sa.Session, sizes: dict[str, int], sensitive: str = "'x'") -> None:
    """Table ``people``: so many rows of each value of ``city``, with a flat taxonomy."""
    values = ", ".join(f"('{city}', {count})" for city, count in sizes.items())
    session.connection.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT city, {sensitive} AS illness "
        f"FROM (VALUES {values}) AS sizes (city, n), range(n) AS members (i)"
    )
    session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")


def people_policy(k: int = 2, **options: Any) -> sa.Policy:
    models = options.pop("privacy", [sa.KAnonymity(k)])
    return sa.Policy(quasi_identifiers=["city"], sensitive=["illness"], privacy=models, **options)


class TestSuppression:
    def test_a_run_may_use_the_limit_up_but_not_exceed_it(self, memory: sa.Session) -> None:
        policy = people_policy(31, suppression_limit=0.29)  # 28.999999999999996 of 100 rows, if floats are multiplied
        single(memory, {"home": 71, "away": 29})
        release = memory.anonymize("people", policy, into="at_the_limit")
        assert release.node == {"city": 0}
        assert release.report.rows.dropped == 29
        single(memory, {"home": 70, "away": 30})
        assert memory.anonymize("people", policy, into="above_the_limit").node == {"city": 1}

    def test_masked_rows_stay_if_they_are_a_class_of_their_own(self, memory: sa.Session) -> None:
        single(memory, {"home": 5, "a": 1, "b": 1, "c": 1})
        policy = people_policy(3, suppression_limit=0.5, suppression="mask")
        report = memory.anonymize("people", policy, into="published").report
        assert rows(memory, "published") == [("*", "x")] * 3 + [("home", "x")] * 5
        assert report.rows == type(report.rows)(source=8, released=8, masked=3, dropped=0)
        assert (report.suppressed_rows, report.notes) == (3, ())

    def test_masked_rows_are_dropped_with_a_note_if_they_are_too_few(self, memory: sa.Session) -> None:
        single(memory, {"home": 5, "a": 1, "b": 1})
        policy = people_policy(3, suppression_limit=0.5, suppression="mask")
        report = memory.anonymize("people", policy, into="published").report
        assert rows(memory, "published") == [("home", "x")] * 5
        assert (report.rows.masked, report.rows.dropped) == (0, 2)
        [note] = report.notes
        assert "2 suppressed rows were dropped" in note
        assert "k-anonymity" in note

    def test_masked_rows_are_dropped_if_they_are_not_diverse(self, memory: sa.Session) -> None:
        single(memory, {"home": 6, "a": 1, "b": 1, "c": 1}, sensitive="CASE WHEN city = 'home' THEN i % 2 ELSE 7 END")
        models = [sa.KAnonymity(2), sa.DistinctLDiversity("illness", 2)]
        policy = people_policy(privacy=models, suppression_limit=0.5, suppression="mask")
        report = memory.anonymize("people", policy, into="published").report
        assert report.rows.dropped == 3
        assert "distinct l-diversity" in report.notes[0]
        assert "k-anonymity" not in report.notes[0]

    def test_masking_at_the_top_of_every_other_taxonomy(self, memory: sa.Session) -> None:
        """The masked class needs no key where every label is the top one."""
        single(memory, {"a": 3, "b": 3})
        release = memory.anonymize("people", people_policy(6, suppression_limit=1.0, suppression="mask"), into="top")
        assert release.node == {"city": 1}
        assert rows(memory, "top") == [("*", "x")] * 6

    def test_without_any_kept_class_there_is_no_release(self, memory: sa.Session) -> None:
        single(memory, {"a": 2, "b": 2})
        with pytest.raises(sa.UnsatisfiableError) as caught:
            memory.anonymize("people", people_policy(5, suppression_limit=1.0), into="published")
        assert "k-anonymity (k = 5)" in str(caught.value)
        assert "4 of 4 rows" in str(caught.value)
        names = "SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'anon'"
        assert memory.connection.execute(names).fetchall() == [("people",)]

    @pytest.mark.parametrize("row_count", [1, 2])
    def test_all_rows_alike(self, memory: sa.Session, row_count: int) -> None:
        single(memory, {"home": row_count})
        if row_count == 1:
            with pytest.raises(sa.UnsatisfiableError):
                memory.anonymize("people", people_policy(), into="published")
        else:
            release = memory.anonymize("people", people_policy(), into="published")
            assert release.node == {"city": 0}
            assert (release.report.class_count, release.report.loss) == (1, 0)

    def test_a_taxonomy_of_level_0_alone_leaves_null_apart(self, memory: sa.Session) -> None:
        single(memory, {"a": 4})
        memory.connection.execute("UPDATE people SET city = NULL WHERE rowid = 0")
        memory.taxonomies.load("city", sa.Taxonomy.from_rows([["a"]]), source="people")
        with pytest.raises(sa.UnsatisfiableError):
            memory.anonymize("people", people_policy(), into="published")
        report = memory.anonymize("people", people_policy(suppression_limit=0.25), into="published").report
        assert report.rows.dropped == 1


class TestPrivacy:
    def test_several_models_over_several_sensitive_columns(self, memory: sa.Session) -> None:
        memory.connection.execute(
            "CREATE TABLE people AS SELECT 'c' || (i % 8) AS city, i % 3 AS illness, i // 8 % 2 AS drug "
            "FROM range(48) AS r (i)"
        )
        parents = [(f"c{i}", f"d{i // 4}", "*") for i in range(8)]
        memory.taxonomies.load("city", sa.Taxonomy.from_rows(parents), source="people")
        models = [
            sa.KAnonymity(6),
            sa.DistinctLDiversity("illness", 3),
            sa.EntropyLDiversity("illness", 2.9),
            sa.DistinctLDiversity("drug", 2),
            sa.EntropyLDiversity("drug", 2),
        ]
        policy = sa.Policy(quasi_identifiers=["city"], sensitive=["illness", "drug"], privacy=models)
        release = memory.anonymize("people", policy, into="published")
        assert release.node == {"city": 0}
        results = release.report.models
        assert [result.met for result in results] == [True] * 5
        assert [result.attained for result in results] == pytest.approx([6, 3, 3, 2, 2])
        assert [result.column for result in results] == [None, "illness", "illness", "drug", "drug"]

    def test_entropy_l_accepts_exactly_l_equally_frequent_values_and_null_is_one(self, memory: sa.Session) -> None:
        numbers = (2, 7, 49)
        columns = ", ".join(f"CASE WHEN i % {l} > 0 THEN i % {l} END AS s{l}" for l in numbers)  # noqa: E741
        memory.connection.execute(f"CREATE TABLE people AS SELECT 'a' AS city, {columns} FROM range(294) AS r (i)")
        memory.taxonomies.load("city", sa.Taxonomy.flat(), source="people")
        models = [model(f"s{l}", l) for l in numbers for model in (sa.EntropyLDiversity, sa.DistinctLDiversity)]  # noqa: E741
        policy = sa.Policy(quasi_identifiers=["city"], sensitive=[f"s{l}" for l in numbers], privacy=models)  # noqa: E741
        assert memory.anonymize("people", policy, into="published").node == {"city": 0}


class TestPages:
    def test_html_escapes_hostile_names(self, memory: sa.Session) -> None:
        name = "<script>alert('x')</script>&amp;"
        memory.connection.execute(f'CREATE TABLE "{name}" AS SELECT i % 2 AS "{name}" FROM range(8) AS r (i)')
        memory.taxonomies.load(name, sa.Taxonomy.flat(), source=name)
        policy = sa.Policy(quasi_identifiers=[name], privacy=[sa.KAnonymity(2)])
        release = memory.anonymize(name, policy, into="<b>published")
        documents = (release, release.report, memory.measure(name, policy), memory.verify("<b>published", policy))
        for document in documents:
            html = document._repr_html_()
            assert "<script>" not in html
            assert "<b>" not in html
            well_formed(html)

    def test_a_notebook_shows_a_sentence_six_figures_the_node_and_ten_rows(self, memory: sa.Session) -> None:
        memory.connection.execute(
            "CREATE TABLE people AS SELECT 20 + i // 5 AS age, if(i % 2 = 0, '<f>', NULL) AS sex FROM range(100) r (i) "
            "UNION ALL SELECT 80, '<f>'"
        )
        policy = sa.Policy(
            quasi_identifiers=["age", "sex"],
            privacy=[sa.KAnonymity(10)],
            suppression_limit=0.05,
            taxonomies={"age": sa.Taxonomy.intervals([20], minimum=0, maximum=99), "sex": "flat"},
        )
        release = memory.anonymize("people", policy, into="published", node={"age": 1, "sex": 0})
        shown = release._repr_html_()
        well_formed(shown)
        assert "Published published from table &quot;people&quot;: 100 of 101 rows" in shown
        assert "Verified: k-anonymity (k = 10)." in shown
        cells = [tuple(re.findall("<t[dh][^>]*>(.*?)</t[dh]>", line)) for line in re.findall("<tr>(.*?)</tr>", shown)]
        assert cells[1:7] == [
            ("rows in the smallest class (k)", "1", "50"),
            ("rows alone in their class", "1", "0"),
            ("highest risk of re-identification", "100 %", "2 %"),
            ("average risk of re-identification", "40.6 %", "2 %"),
            ("rows left out", "0", "1 (0.99 %)"),
            ("detail lost (lm)", "0", f"{release.report.loss:.3g}"),
        ]
        assert cells[8:10] == [("age", "level 1 of 2", "[20, 40)"), ("sex", "level 0 of 1", "&lt;f&gt;, NULL")]
        assert cells[10] == ("age", "sex")
        assert len(cells[11:]) == 10
        text = repr(release)
        assert "rows alone in their class: 1 -> 0" in text
        assert '"age": level 1 of 2' in text
        assert "40.6 % -> 2 %" in str(release)
        again = type(release).model_validate_json(release.model_dump_json())
        assert "<table>" in again._repr_html_(), "without a session there are no rows to show"


def well_formed(html: str) -> None:
    """Every tag is closed, in order."""
    opened: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in ("br", "img"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Parser().feed(html)
    assert not opened


FILES = [
    ("r.parquet", {}),
    ("folder/", {"rows_per_file": 4}),
    ("folder/", {"partition_by": ["illness"], "rows_per_file": 4}),
]


@pytest.mark.parametrize(("into", "options"), FILES, ids=str)
def test_files_do_not_name_suppressed_values(
    memory: sa.Session, tmp_path: Path, into: str, options: dict[str, Any]
) -> None:
    """DuckDB 1.5 writes all values of an ENUM type that a column has, whether they occur or not."""
    memory.connection.execute(
        "CREATE TABLE people AS SELECT CASE WHEN i < 9 THEN 'common' ELSE 'onlyone' END AS city, "
        "CAST(CASE WHEN i < 9 THEN 'flu' ELSE 'unheardof' END AS ENUM ('flu', 'unheardof')) AS illness, "
        "CAST(illness AS VARCHAR) AS text FROM range(10) AS r (i)"
    )
    policy = people_policy(suppression_limit=0.1, insensitive=["text"], taxonomies={"city": "flat"})
    memory.anonymize("people", policy, into=f"{tmp_path}/{into}", **options)
    files = sorted((tmp_path / into).rglob("*.parquet")) or [tmp_path / into]
    assert len(files) == (3 if "rows_per_file" in options else 1)
    known = {"city": "common", "illness": "flu", "text": "flu"}
    for file in files:
        content = file.read_bytes()
        assert b"unheardof" not in content
        assert b"onlyone" not in content
        for name in known.keys() - set(options.get("partition_by", [])):
            (column,) = pq.ParquetFile(file, read_dictionary=[name]).read([name]).columns
            assert column.chunk(0).dictionary.to_pylist() == [known[name]]
