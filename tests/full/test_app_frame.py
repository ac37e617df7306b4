"""The frame of the app, columns and taxonomies: what pages show and hide, and what forms refuse."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from markupsafe import escape

import sqlanon as sa
from sqlanon.app.desk import Place
from sqlanon.app.jobs import Job
from sqlanon.app.office import Office
from sqlanon.methods.stages import Event
from sqlanon.suggestion.toml_text import toml_value
from tests.app import CANARIES, HOSTILE, POLICY, SCRIPT, Browser, alert, app, write_messy


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    write_messy(tmp_path / "messy.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    with app(str(tmp_path / "messy.csv"), tmp_path) as browser:
        yield browser


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """An app that refuses everything."""
    folder = tmp_path_factory.mktemp("refused")
    write_messy(folder / "messy.csv")
    (folder / "policy.toml").write_text(POLICY)
    with app(str(folder / "messy.csv"), folder) as browser:
        yield browser


def counted(browser: Browser) -> str:
    """Return the columns when all of them are counted, as the script of the page asks for them."""
    for _ in range(20):
        if "data-again" not in (page := browser.get("columns")):
            return page
    raise AssertionError("columns stay uncounted")


def test_columns_show_what_is_read_and_hide_who_it_is(tmp_path: Path) -> None:
    write_messy(tmp_path / "messy.csv")
    with app(str(tmp_path / "messy.csv"), tmp_path) as browser:  # without a policy: one is suggested
        _columns_show_and_hide(browser)
        policy = browser.desk.versions.file.policy
    assert {"Geb.-Datum", "Größe (cm)"} <= {*policy.quasi_identifiers} and policy.csv is not None


def _columns_show_and_hide(browser: Browser) -> None:
    page = counted(browser)
    assert "date · " in page and "decimal(18,1) · " in page  # as [csv] of the suggested policy reads them
    assert escape(HOSTILE) in page and escape(SCRIPT) in page and SCRIPT not in page
    assert not [each for each in CANARIES if each in page] and "Name1 " not in page
    shown = browser.post("show_values", column=HOSTILE)
    assert "q1" in shown and "Name1 " not in shown
    assert "q1" not in browser.post("show_values", column=HOSTILE)
    assert "of the rows are alone in the table by the" in page


def test_roles_are_saved_and_undone(browser: Browser) -> None:
    before = browser.desk.versions.file
    browser.post("role", column="Diagnose", role="insensitive")
    saved = sa.PolicyFile.read(browser.desk.place.policy_file)
    assert saved.roles["Diagnose"].role == "insensitive" and saved.policy.insensitive == ("Gewicht, kg", "Diagnose")
    page = browser.post("role", column=HOSTILE, role="quasi-identifier")
    assert f"<mark>    {escape(toml_value(HOSTILE))}," in page
    assert browser.desk.versions.file.policy.quasi_identifiers[-1] == HOSTILE
    for _ in range(2):
        assert browser.desk.versions.earlier is not None
        browser.post("undo", to=browser.desk.versions.earlier.number, page="columns")
    assert browser.desk.versions.file.text == before.text == browser.desk.place.policy_file.read_text()


@pytest.mark.parametrize(
    ("action", "fields", "status"),
    [
        ("role", {"column": "Diagnose"}, 400),
        ("role", {"column": "Diagnose", "role": "king"}, 400),
        ("role", {"column": "nobody", "role": "sensitive"}, 400),
        ("role", {"column": "Diagnose", "role": "sensitive", "version": "x"}, 422),
        ("role", {"column": "Diagnose", "role": "insensitive", "version": "99"}, 409),
        ("undo", {"to": "77"}, 422),
        ("undo", {"to": ""}, 422),
        ("ask", {"job": "1", "how": "explode"}, 400),
        ("save_taxonomy", {"column": "Stadt", "kind": "magic"}, 422),
        ("save_taxonomy", {"column": "Größe (cm)", "kind": "intervals", "levels": "many"}, 422),
        ("save_taxonomy", {"column": "Größe (cm)", "kind": "intervals", "levels": "20, 10"}, 422),
        ("save_taxonomy", {"column": "Stadt", "kind": "file", "levels": "../../etc/passwd"}, 422),
        ("merge", {"column": "Stadt", "label": ""}, 422),
        ("rename", {"column": "Stadt", "level": "9", "old": "x", "label": "y"}, 422),
    ],
)
def test_forms_are_refused_in_words(unchanged: Browser, action: str, fields: dict[str, str], status: int) -> None:
    page = unchanged.post(action, status, **fields)
    assert alert(page) and "Traceback" not in page and unchanged.desk.place.policy_file.read_text() == POLICY
    assert not [each for each in CANARIES if each in page]


def test_other_addresses_are_refused(unchanged: Browser) -> None:
    for page in ("nothing", "static/../serving.py", "static/door.py", "report/7", "tables"):
        unchanged.get(page, 422 if page == "report/7" else 404)
    unchanged.post("nothing", 404)
    assert "only quasi-identifiers" in alert(unchanged.get("taxonomies?column=Diagnose", 422))


def test_taxonomies_are_previewed_and_saved(browser: Browser) -> None:
    column = "Größe (cm)"
    page = browser.post(
        "save_taxonomy", column=column, kind="intervals", was="intervals", levels="10, 20", only="preview"
    )
    assert "not saved yet" in page and "[160, 170)" in page and len(browser.desk.versions.list) == 1
    browser.post("save_taxonomy", column=column, kind="intervals", was="intervals", levels="10, 20")
    assert browser.desk.versions.file.values["taxonomies"][column] == {"kind": "intervals", "widths": [10, 20]}
    page = browser.post("save_taxonomy", column=column, kind="flat", was="intervals", levels="10, 20")
    assert "not saved yet" in page  # another kind is shown before it is kept


def test_values_are_merged_into_groups(browser: Browser) -> None:
    browser.post("save_taxonomy", column="Stadt", kind="labels", was="labels")
    page = browser.get("taxonomies?column=Stadt")
    assert CANARIES[1] not in page and "Show 1 rare values" in page
    assert CANARIES[1] in browser.get("taxonomies?column=Stadt&rare=1")
    browser.post("merge", column="Stadt", value=["Köln", "Koeln", SCRIPT], label="Köln & so")
    browser.post("rename", column="Stadt", level="1", old="Köln & so", label="Köln")
    browser.post("level", column="Stadt")
    browser.post("take_out", column="Stadt", value=["Koeln"])
    labels = {row[0]: row[1:] for row in browser.desk.versions.file.labels("Stadt") or ()}
    assert labels["Köln"] == ("Köln", "Köln", "*") and labels["Koeln"] == ("Koeln", "Köln", "*")
    assert labels[SCRIPT] == ("Köln", "Köln", "*") and labels["Bonn"] == ("Bonn", "Bonn", "*")
    [file] = browser.desk.place.policy_file.parent.glob("policy_stadt.csv")
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_job_at_a_time_and_cancelled(browser: Browser) -> None:
    go_on = threading.Event()

    def work(job: Job) -> None:
        go_on.wait(20)
        job.progress(Event("search", "progress", 0.0))

    browser.desk.start("A wait", "columns", work)
    with pytest.raises(Exception, match="one thing at a time"):
        browser.desk.start("Another", "columns", work)
    page = browser.get("columns")
    assert 'data-state="running"' in page and "Cancel" in page
    assert browser.desk.job is not None
    browser.post("ask", job=browser.desk.job.number, how="cancel", page="columns")
    go_on.set()
    browser.desk.job.wait(20)
    assert browser.desk.job.state == "cancelled" and "nothing was changed" in browser.get("columns")


def test_start_page_lists_tables(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "w.duckdb") as session:
        session.connection.execute("CREATE TABLE visits AS SELECT i % 7 AS age, i % 3 AS sex FROM range(90) AS r (i)")
        session.connection.execute('CREATE TABLE "a""b; drop table x --" AS SELECT 1 AS a')
    with app("", tmp_path, tmp_path / "w.duckdb") as browser:
        page = browser._client.get("/x/").text
        assert escape(HOSTILE) in page and "visits" in page
        assert browser._client.post("/x/choose", data={"table": "visits"}).status_code == 200
        browser.wait()
        assert "age" in counted(browser)
        browser.desk.forget()  # as it is after two idle seconds: others may write
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.execute("CREATE TABLE other (a INTEGER)")
        assert "other" in browser.get("tables")


def test_form_of_another_table_changes_nothing(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "w.duckdb") as session:
        for name in ("aa", "bb"):
            session.connection.execute(
                f"CREATE TABLE {name} AS SELECT i % 7 AS age, i % 3 AS sex FROM range(90) AS r (i)"
            )
    with app("aa", tmp_path, tmp_path / "w.duckdb") as browser:
        old = f"{browser.desk.number}-{browser.desk.versions.number}"
        for query in ("SELECT * FROM read_text('/etc/hostname')", str(tmp_path / "w.duckdb"), "nobody"):
            assert browser._client.post("/x/choose", data={"table": query}).status_code == 422
        (tmp_path / "policy.toml").unlink()  # one policy for both
        browser._client.post("/x/choose", data={"table": "bb"})
        before = browser.desk.versions.number
        for action, fields in {"role": {"column": "age", "role": "sensitive"}, "start_publish": {"after": 1}}.items():
            answer = browser._client.post(f"/x/{action}", data={"version": old, "into": "aa.csv"} | fields)
            assert answer.status_code == 409 and "of another table" in answer.text
        assert browser.desk.versions.number == before and not [*tmp_path.glob("aa*")]


@pytest.mark.parametrize("role", ["individual", "pseudonym", "weight"])
def test_values_of_persons_are_hidden(browser: Browser, role: str) -> None:
    browser.post("role", column="Diagnose", role=role)
    assert "J45" not in counted(browser)
    assert "J45" in browser.post("show_values", column="Diagnose")


def test_suggestion_overwrites_no_other_program(browser: Browser) -> None:
    policy = browser.desk.place.policy_file
    policy.write_text(POLICY + "# theirs\n")
    browser.post("recipient", profile="public")
    assert browser.desk.job is not None
    browser.desk.job.wait(60)
    assert browser.desk.job.state == "failed" and "another program" in browser.desk.job.sentence
    assert policy.read_text().endswith("# theirs\n")
    policy.write_bytes(b"\xff\xfe\x00")
    assert "Another program has changed" in browser.get("columns")
    browser.post("outside", whose="mine", page="columns")
    assert policy.read_text() == POLICY


def test_column_whose_name_no_page_can_show_gets_a_role(tmp_path: Path) -> None:
    name = "a\tb\u200b"
    (tmp_path / "t.csv").write_text(f'"{name}",n\n' + "x,1\ny,2\n" * 20)
    with app(str(tmp_path / "t.csv"), tmp_path) as browser:
        assert (sent := f'name="column" value="{escape(name)}"') in browser.get("columns"), sent
        browser.post("role", column=name, role="sensitive")
        assert browser.desk.versions.file.roles[name].role == "sensitive"
    assert not browser.office.private.path.exists()


@pytest.fixture
def rows_of_persons(tmp_path: Path) -> Iterator[Browser]:
    """An app on 60 rows: eight of them are one person's, one value is missing, and a column is undecided."""
    rows = [f"0,village,{f'f{row % 2}' if row else ''},x" for row in range(8)]
    rows += [f"{row},town,f{row % 2},x" for row in range(1, 53)]
    (tmp_path / "visits.csv").write_text("\n".join(["person,place,sex,odd", *rows, ""]))
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = [\n    "place",\n    "sex",\n    "odd",  # ? undecided\n]\nindividual = "person"\n'
        'insensitive = ["person"]\nprivacy = [{ model = "k-anonymity", k = 6 }]\n'
        '[taxonomies]\nplace = { kind = "flat" }\nsex = { kind = "flat" }\nodd = { kind = "flat" }\n'
    )
    with app(str(tmp_path / "visits.csv"), tmp_path) as browser:
        yield browser


def test_values_that_many_rows_of_one_person_have_are_hidden(rows_of_persons: Browser) -> None:
    browser = rows_of_persons
    place = "taxonomies?column=place"
    for page in (counted(browser), browser.get(place)):
        assert "village" not in page and "rows are not persons" in page
    browser.post("save_taxonomy", column="place", kind="labels", was="labels")
    page = browser.get(place)
    assert "village" not in page and "town" not in page and "Show 2 values" in page
    assert "village" in browser.get(f"{place}&rare=1")
    page = browser.post("show_values", column="place")
    assert "village" in page and "under 6 missing" in page and "f1" not in page
    assert "village" in browser.get(place) and "f1" not in browser.get("taxonomies?column=sex")


def test_values_of_an_undecided_column_are_hidden_on_both_screens(rows_of_persons: Browser) -> None:
    browser = rows_of_persons
    page = browser.get("taxonomies?column=odd&rare=1")
    assert "decide on the column" in alert(page) and "Smallest" not in page
    browser.post("show_values", column="odd")
    assert "Smallest" in browser.get("taxonomies?column=odd")


def test_small_counts_have_the_k_of_an_invalid_policy(browser: Browser) -> None:
    desk = browser.desk

    def invalid(file: sa.PolicyFile) -> sa.PolicyFile:
        return file.with_models([{"model": "k-anonymity", "k": 120}]).with_setting("suppression_limit", 7)

    desk.versions.add("invalid", invalid, desk.versions.number)
    page = counted(browser)
    assert "at least 120 rows" in page and "<span>Köln</span>" not in page and "A run would refuse" in page


def test_hierarchy_file_is_read_from_the_folder_and_named_from_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pol").mkdir()
    (tmp_path / "rel").mkdir()
    write_messy(tmp_path / "messy.csv")
    (tmp_path / "pol" / "policy.toml").write_text(POLICY)
    cities = ("Köln", "Koeln", "Bonn", SCRIPT, CANARIES[1])
    (tmp_path / "rel" / "cities.csv").write_text("\n".join(f"{city};NRW;*" for city in cities))
    with Office(Place("messy.csv", None, Path("pol/policy.toml"), (Path("rel"),))) as office:
        browser = Browser(office)
        browser.post("save_taxonomy", column="Stadt", kind="file", was="file", levels="cities.csv")
        assert browser.desk.versions.file.values["taxonomies"]["Stadt"]["file"] == "../rel/cities.csv"
        assert "NRW" in browser.get("taxonomies?column=Stadt")
    with sa.connect() as session:
        assert session.anonymize("messy.csv", "pol/policy.toml", "k5.parquet").report.domains["Stadt"]
