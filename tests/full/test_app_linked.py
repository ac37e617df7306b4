"""The app on linked tables: the policy as a page and as a text, and a release as the command makes it."""

import html
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from markupsafe import escape

import sqlanon as sa
from sqlanon.app.desk import Place
from sqlanon.app.jobs import Job
from sqlanon.app.office import Office
from sqlanon.methods.stages import Event
from tests.app import HOSTILE, SCRIPT, Browser, alert

POLICY = f"""\
privacy = [{{ model = "known-rows", k = 5, m = 1 }}]
suppression_limit = 0.2

[tables.patients]
row_key = "patient_id"  # persons
quasi_identifiers = [
    "born",  # known
]
identifiers = [
    "name",
    'note{SCRIPT}',  # ? {SCRIPT}
]

[tables.patients.taxonomies]
born = {{ kind = "intervals", widths = [20, 40], minimum = 1900, maximum = 2020 }}

[tables.visits]
parent = "patients"
key = "patient_id"
suppression_limit = 0.5
quasi_identifiers = ['{HOSTILE}']
sensitive = ["diagnosis"]
orphans = "drop"  # ? nobody's

[tables.visits.taxonomies]
'{HOSTILE}' = "flat"
"""
ROWS = f"""
CREATE TABLE patients AS
SELECT i AS patient_id, 'canary ' || i AS name, 1930 + i * 7 % 71 AS born, 'canary' AS "note{SCRIPT}"
FROM range(300) AS t (i);
CREATE TABLE visits AS SELECT i % 250 AS patient_id, '{SCRIPT}' || i % 3 AS "a""b; drop table x --",
    IF(i = 1, 'canary of one', ['flu', 'asthma'][1 + i % 2]) AS diagnosis
FROM range(500) AS t (i);
CREATE TABLE wards AS SELECT i AS ward FROM range(3) AS t (i);
"""


class Linked(Browser):
    """A browser at the office of linked tables, which checks that nothing is shown that must not be."""

    def get(self, page: str, status: int = 200) -> str:
        return checked(super().get(page, status))

    def post(self, action: str, status: int = 200, **fields: object) -> str:
        return checked(super().post(action, status, **fields))

    def publish(self, into: str, status: int = 200, **fields: object) -> str:
        last = 0 if self.desk.job is None else self.desk.job.number
        page = self.post("start_publish", status, **{"after": last, "into": into, **fields})
        if status == 200:
            self.wait()
            return self.get("publish")
        return page


def checked(page: str) -> str:
    assert "canary" not in page and SCRIPT not in page and "Traceback" not in page
    return page


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The warehouse, a policy of its tables, and a folder for releases."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(ROWS)
    Path("linked.toml").write_text(POLICY)
    Path("out").mkdir()
    return Place("", Path("clinic.duckdb"), Path("linked.toml"), (Path("out"),))


@pytest.fixture
def browser(place: Place) -> Iterator[Linked]:
    with Office(place) as office:
        yield Linked(office)


def test_page_shows_tables_roles_promise_and_what_is_to_decide(browser: Linked) -> None:
    page = browser.get("linked")
    for part in ("2 to decide", "300", "500", escape(f"visits.{HOSTILE}"), "intervals of 20, 40", "the value, or *"):
        assert str(part) in page
    assert "is left with at least 5 persons" in page and "that a person has no other row" in page
    assert f"{escape(f'note{SCRIPT}')}" in page and "orphans = &#34;drop&#34;  # ? nobody" in page
    assert "sqlanon run --db clinic.duckdb --policy linked.toml --into out/clinic_k5/" in page
    assert escape("session.anonymize({}, 'linked.toml', 'out/clinic_k5/')") in page
    assert "rows of &#34;visits&#34;" in browser.get("sql")
    for other in ("columns", "taxonomies", "explore", "compare", "report/7"):
        browser.get(other, 422 if other == "report/7" else 404)
    for form in ("role", "save_taxonomy", "promise", "start_explore", "start_preview", "sample"):
        browser.post(form, 404, column="born")
    browser.desk.forget()
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("DROP TABLE visits")
    assert "not there" in browser.get("linked")


def test_text_is_edited_as_versions(browser: Linked) -> None:
    versions, policy = browser.desk.versions, browser.desk.place.policy_file
    page = browser.post("rewrite", text=POLICY.replace("k = 5", "k = 6").replace("\n", "\r\n"))
    assert policy.read_text() == POLICY.replace("k = 5", "k = 6") and "<mark>privacy" in page and "clinic_k6/" in page
    for text, words in (("Canary = \n", "not valid TOML"), ("k = 5\n", "[tables.NAME]"), ("", "[tables.NAME]")):
        page = browser.post("rewrite", 422, text=text)
        assert words in html.unescape(alert(page)) and f">\n{text}</textarea>" in page
    browser.post("rewrite", 409, text=POLICY, version=1)
    browser.post("rewrite", 400)
    assert versions.number == 2
    page = browser.post("rewrite", text=POLICY.replace('parent = "patients"', 'parent = "patient"'))
    assert "A run would refuse" in page and "is not among the tables" in page
    assert 'id="publish" disabled' in browser.get("publish")
    assert "is not among the tables" in html.unescape(alert(browser.publish("k5/", 422)))
    for _ in range(2):
        assert versions.earlier is not None
        browser.post("undo", to=versions.earlier.number, page="linked")
    assert policy.read_text() == POLICY
    policy.write_text(POLICY + "# theirs\n")
    assert "another program" in alert(browser.post("rewrite", 409, text=POLICY))
    assert policy.read_text().endswith("# theirs\n")
    assert "# theirs" in browser.post("outside", whose="theirs", page="linked")


@pytest.mark.parametrize(("into", "again"), [("k5/", "out/again/"), ("k5", "again")])
def test_release_is_that_of_the_command(browser: Linked, into: str, again: str) -> None:
    page = browser.publish(into)
    assert "✓ verified" in page and "What somebody may know" in page and "Public edition" not in page
    [made] = browser.desk.memory["made"]
    assert made.command in html.unescape(page)
    words = shlex.split(made.command)
    browser.desk.forget()  # a warehouse that is open here cannot be written there
    subprocess.run([sys.executable, "-m", *words[:-1], again], check=True, capture_output=True)
    with sa.connect("clinic.duckdb", read_only=True) as session:
        counts = [session.report(each, "linked.toml").report.tables for each in (made.into, again)]
    assert counts[0] == counts[1] and counts[0]["visits"].released > 200
    browser.post("verify", number=made.number)
    browser.wait()
    answer = browser._client.get(f"/x/report/{made.number}")
    assert answer.status_code == 200 and "Verification" in checked(answer.text)
    assert "style-src 'sha256-" in answer.headers["content-security-policy"]
    for edition in ("public", "contract"):
        browser.get(f"report/{made.number}?edition={edition}", 422)
    assert "exists" in _failed(browser, into)
    browser.publish(into, replace="on")


def test_release_that_was_changed_falls_short(browser: Linked) -> None:
    browser.publish("k5/")
    with duckdb.connect() as connection:
        connection.execute("COPY (FROM 'out/k5/visits.parquet' LIMIT 10) TO 'out/k5/visits.parquet'")
    browser.post("verify", number=browser.desk.memory["made"][0].number)
    browser.wait()
    assert "✗ it falls short" in browser.get("publish")


def test_cancelled_run_leaves_nothing(browser: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Job.progress

    def cancelled(job: Job, event: Event) -> None:
        if event.stage == "verify":
            browser.post("ask", job=job.number, how="cancel", page="publish")
        whole(job, event)

    monkeypatch.setattr(Job, "progress", cancelled)
    for into in ("k5/", "k5"):
        last = 0 if browser.desk.job is None else browser.desk.job.number
        browser.post("start_publish", after=last, into=into)
        assert browser.desk.job is not None
        browser.desk.job.wait(60)
        assert browser.desk.job.sentence.startswith(f"The release {into} was cancelled; nothing was changed")
    assert [*Path("out").iterdir()] == []
    with sa.connect("clinic.duckdb", read_only=True) as session:
        assert {each.name for each in session.overview().tables} == {"patients", "visits", "wards"}


def test_targets_that_are_refused(browser: Linked) -> None:
    for into in ("../k5/", "/etc/k5/", "s3://b/k5/", "k5.csv", "k5.parquet", "delta:k5", "", "."):
        assert alert(browser.publish(into, 422)), into
    for into in ("temp", "Temp.main", '"temp".main'):
        assert "end with the run" in alert(browser.publish(into, 422)), into
    assert browser.desk.job is None and [*Path("out").iterdir()] == []


def _failed(browser: Linked, into: str) -> str:
    assert browser.desk.job is not None
    browser.post("start_publish", after=browser.desk.job.number, into=into)
    browser.desk.job.wait(60)
    assert browser.desk.job.state == "failed"
    return browser.desk.job.problem


def test_tables_are_chosen_together_or_alone(place: Place) -> None:
    """A policy of the other kind is left where somebody chooses, and refused where the command names a table, too."""
    with pytest.raises(sa.PolicyError, match="of several tables: name no table beside --db"):
        Office(replace(place, source="visits"))
    with Office(replace(place, policy=None)) as office:
        browser = Linked(office)
        assert "Release several tables together" in browser.get("tables")
        for wrong in ({"table": "", "together": ["visits", "nobody"]}, {"table": "nobody"}, {}):
            assert browser._client.post("/x/choose", data=wrong).status_code in (400, 422)
        answer = browser._client.post("/x/choose", data={"table": "", "together": ["patients", "visits"]})
        assert answer.url.path == "/x/linked" and "appears here when" in answer.text
        browser.wait()
        with sa.connect("clinic.duckdb", read_only=True) as session:
            wanted = session.suggest_linked(["patients", "visits"]).to_toml("clinic.linked")
        assert browser.desk.place.policy_file.read_text() == wanted and "clinic.linked.toml" in browser.get("linked")
        assert browser._client.post("/x/choose", data={"table": "wards"}).url.path == "/x/columns"
        assert browser.desk.place.policy_file == Path("wards.policy.toml")
        browser.wait()
    with Office(place) as office:
        browser = Linked(office)
        browser._client.post("/x/choose", data={"table": "wards"})
        assert browser.desk.place.policy_file == Path("wards.policy.toml")
        assert browser._client.post("/x/choose", data={"table": ""}).url.path == "/x/linked"
        assert browser.desk.place.policy_file == Path("linked.toml")
    with Office(replace(place, source="wards", policy=Path("wards.policy.toml"))) as office:
        assert Linked(office)._client.post("/x/choose", data={"table": ""}).url.path == "/x/linked"
    with Office(replace(place, policy=Path("new.toml"))) as office:
        browser = Linked(office)
        browser._client.post("/x/choose", data={"table": "", "together": ["visits", "wards"]})
        assert browser.desk.job is not None
        browser.desk.job.wait(60)
        assert "has a column with the keys of another one" in browser.desk.job.problem
        assert "appears here when" in browser.get("linked") and not Path("new.toml").exists()
