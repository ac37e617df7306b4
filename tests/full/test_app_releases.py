"""The screens of the app that compare and publish: a preview on no list, and the release that the command makes."""

import html
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.app.desk import Place
from sqlanon.app.office import Office
from sqlanon.methods.stages import Event
from tests import app
from tests.app import HOSTILE, alert

POLICY = f"""
quasi_identifiers = ["age", '{HOSTILE}']
sensitive = ["diagnosis"]
identifiers = ["id"]
insensitive = ["stay"]
suppression_limit = 0.2

[[privacy]]
model = "k-anonymity"
k = 5

[taxonomies]
age = {{ kind = "intervals", widths = [10, 30] }}
'{HOSTILE}' = {{ kind = "flat" }}
"""
ROWS = """
CREATE TABLE visits AS SELECT 'canary' || i AS id, 20 + i * 7 % 71 AS age,
    IF(i % 2 = 0, '<script>', 'b') AS "a""b; drop table x --",
    IF(i = 1, 'canary of one', ['flu', 'asthma', 'angina'][1 + i % 3]) AS diagnosis,
    CASE WHEN i = 2 THEN 987 WHEN i % 2 = 1 THEN i % 9 END AS stay
FROM range(300) AS rows (i)
"""
"""Identifiers and a diagnosis of one row must be on no page; of the rows with <script>, one has a stay."""


class Browser(app.Browser):
    """A browser at the office of the visits, which checks that nothing is shown that must not be."""

    def seen(self, page: str, status: int = 200) -> str:
        text = self.get(page, status)
        assert "canary" not in text and "<script>" not in text
        return text

    def sent(self, action: str, status: int = 200, **fields: object) -> str:
        """Send a form, wait for its job, and return the page of the answer."""
        text = self.post(action, status, **fields)
        assert "canary" not in text and "<script>" not in text and "Traceback" not in text
        if status == 200 and self.desk.job is not None:
            self.wait()
        return text

    def publish(self, into: str, status: int = 200, **fields: object) -> str:
        last = 0 if self.desk.job is None else self.desk.job.number
        page = self.sent("start_publish", status, **{"after": last, "into": into, **fields})
        return self.seen("publish") if status == 200 else page


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(ROWS)
        connection.execute("COPY visits TO 'visits.csv'")
    Path("policy.toml").write_text(POLICY)
    Path("out").mkdir()
    with Office(Place("visits", Path("clinic.duckdb"), Path("policy.toml"), (Path("out"),))) as office:
        yield Browser(office)


def test_preview_is_a_verified_release_on_no_list(browser: Browser) -> None:
    assert "Make a preview" in browser.seen("compare")
    assert "make one first" in browser.sent("query", 409, column="age")
    browser.sent("start_preview")
    page = browser.seen("compare")
    for heading in ("verified: every", "How many rows look alike", "Prosecutor", "Who is left out", "What is promised"):
        assert heading in page
    with sa.connect("clinic.duckdb", read_only=True) as session:
        assert session.releases.list().releases == ()
    assert [each.name for each in Path().iterdir() if "releases" in each.name] == []
    desk = browser.desk
    desk.versions.add("k = 6", lambda file: file.with_models([{"model": "k-anonymity", "k": 6}]), desk.versions.number)
    assert "older policy" in browser.seen("compare")
    first = desk.memory["preview"].place
    rows = browser.sent("sample")
    assert rows.count(" → <b>") + rows.count('→ <span class="doubtful">left out') == 2 * 12
    assert "→" not in browser.seen("compare")
    browser.sent("start_preview")
    assert "older policy" not in browser.seen("compare")
    assert not first.exists()
    assert desk.memory["preview"].place.parent.stat().st_mode & 0o077 == 0


def test_queries_of_both_show_no_rare_group(browser: Browser) -> None:
    browser.sent("start_preview")
    browser.sent("query", column="age", width="10")
    page = browser.sent("query", column="diagnosis", average="stay")
    assert "count of age by 10: wrong by" in page and "average stay of diagnosis: wrong by" in page
    assert "1 groups are not shown" in page
    page = browser.sent("query", column=HOSTILE)
    assert "&lt;script&gt;" in page and "count of age" not in page, "the last two stay"
    page = browser.sent("query", column=HOSTILE, average="stay")
    assert "<td>b</td>" in page and "987" not in page, "one row of the other group has a value"
    for status, fields in (
        (400, {}),
        (422, {"column": "id"}),
        (422, {"column": "nobody"}),
        (422, {"column": "age", "width": "-1"}),
        (422, {"column": HOSTILE, "width": "1"}),
        (422, {"column": "age", "average": "diagnosis"}),
    ):
        assert alert(browser.sent("query", status, **fields))


@pytest.mark.parametrize(("into", "again"), [("k5.parquet", "out/b.parquet"), ("k5.csv", "out/b.csv"), ("k5", "b")])
def test_release_equals_that_of_the_command(browser: Browser, into: str, again: str) -> None:
    page = browser.publish(into)
    assert "✓ verified" in page and "Nobody has looked at a preview" in page
    [made] = browser.desk.memory["made"]
    assert made.command in html.unescape(page)
    assert "for your officer, with 5 rows of the source: personal data" in page
    words = shlex.split(made.command)
    assert words[-1] == made.into
    browser.desk.forget()  # a warehouse that is open here cannot be written there
    subprocess.run([sys.executable, "-m", *words[:-1], again], check=True, capture_output=True)
    with sa.connect("clinic.duckdb", read_only=True) as session:
        rows = [
            session.connection.execute(exp.select("*").from_(exp.table_(name, quoted=True)).sql("duckdb")).fetchall()
            for name in (made.into, again)
        ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == made.report.released_rows > 250
    browser.sent("verify", number=made.number)
    for edition, part in (("", "Approval"), ("public", "Release report"), ("contract", "apiVersion")):
        answer = browser._client.get(f"/x/report/{made.number}?edition={edition}")
        assert answer.status_code == 200 and part in answer.text
        assert "style-src 'sha256-" in answer.headers["content-security-policy"]


def test_targets_and_forms_that_are_refused(browser: Browser) -> None:
    desk = browser.desk
    for into in ("../k5.csv", "/etc/k5.csv", "s3://b/k5/", "delta:k5", "", " ", ".", "temp.k5", "temp.main.k5 €"):
        assert alert(browser.publish(into, 422)), into
    browser.publish("k5.csv", 409, version=7)
    browser.publish("k5.csv", 409, after=7)
    browser.publish("k5.csv", 400, formulas="delete")
    browser.sent("start_publish", 400)
    browser.sent("verify", 422, number=1)
    assert desk.job is None and [*Path("out").iterdir()] == []
    Path("policy.toml").write_text(POLICY + "# by another program\n")
    assert "another program" in browser.publish("k5.csv", 409)


def test_private_method_has_no_preview_and_one_charge_per_form(browser: Browser) -> None:
    desk = browser.desk

    def private(file: sa.PolicyFile) -> sa.PolicyFile:
        file = file.with_models([]).with_role("stay", "identifier").with_taxonomy("diagnosis", {"kind": "flat"})
        return file.with_setting("suppression_limit", None).with_method("histogram", accept_observed_domain=True)

    desk.versions.add("noise", private, desk.versions.number)
    assert "no preview" in browser.seen("compare")
    browser.sent("start_preview", 422)
    page = browser.seen("publish")
    assert "Publish: spends (ε = 1, δ = 0)" in page
    browser.publish("noisy.parquet", after=0)
    assert "sent already" in browser.publish("noisy.parquet", 409, after=0)
    with sa.connect("clinic.duckdb", read_only=True) as session:
        assert session.ledger.spent("visits").epsilon == 1


def test_catalog_is_a_table_beside_the_rows(browser: Browser) -> None:
    desk = browser.desk

    def ceiling(file: sa.PolicyFile) -> sa.PolicyFile:
        file = file.with_models([]).with_role("stay", "identifier").with_setting("suppression_limit", None)
        return file.with_method("h-ceiling", k=5, h=0.9, catalog="counts")

    desk.versions.add("counterfeits", ceiling, desk.versions.number)
    assert "a preview has one table" in alert(browser.sent("start_preview", 422))
    browser.publish("k5")
    assert browser.desk.memory["made"][0].command.endswith("--into k5 --table catalog=k5_catalog")
    assert "k5_catalog" in browser.get("tables")


def test_matrix_is_a_table_beside_the_rows(browser: Browser) -> None:
    matrix = f"""[perturbation.'{HOSTILE}']\nkind = "pram"\nform = "plain"\nmatrix = "publish"\n"""
    text = POLICY.replace(f""", '{HOSTILE}']""", "]").replace('["stay"]', f"""["stay", '{HOSTILE}']""")
    text = text.replace(f"""'{HOSTILE}' = {{ kind = "flat" }}\n""", matrix)
    browser.desk.versions.add("matrix", lambda _: sa.PolicyFile(text), browser.desk.versions.number)
    page = html.unescape(browser.seen("publish"))
    assert "beside the rows: name a table of the warehouse" in page and 'value="visits_k5"' in page
    assert "a preview has one table" in alert(browser.sent("start_preview", 422))
    assert "give the names of tables" in alert(browser.publish("k5.parquet", 422))
    browser.publish("k5")
    [made] = browser.desk.memory["made"]
    assert shlex.split(made.command)[-4:] == ["--into", "k5", "--table", f"pram_{HOSTILE}=k5_pram_a_b_drop_table_x_"]
    assert "k5_pram_a_b_drop_table_x_" in browser.get("tables") and "--into visits_k5 --table" in page


def test_cancel_after_publishing_keeps_the_release(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is still being made then."""

    def cancelled(_session: sa.Session, *_given: object, progress: Callable[[Event], None], **_named: object) -> None:
        assert browser.desk.job is not None
        browser.desk.job.ask("cancel")
        progress(Event("report", "started", 0.0))
        raise sa.PolicyError("no report")

    monkeypatch.setattr(sa.Session, "report", cancelled)
    browser.post("start_publish", after=0, into="k5.parquet")
    assert browser.desk.job is not None
    browser.desk.job.wait(60)
    assert browser.desk.job.sentence.startswith("The release k5.parquet failed: no report")
    assert "its report is not there yet" in browser.seen("publish") and Path("out/k5.parquet").exists()


def test_queries_show_no_group_where_rows_are_not_persons(browser: Browser) -> None:
    desk = browser.desk
    desk.versions.add("persons", lambda file: file.with_role("id", "individual"), desk.versions.number)
    browser.sent("start_preview")
    page = browser.sent("query", column="diagnosis")
    assert "count of diagnosis: wrong by" in page and "Rows are not persons" in page and "asthma" not in page
