"""The screen of the promise: forms become policies, and policies forms."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

from sqlanon.app.desk import Place
from sqlanon.app.office import Office
from sqlanon.app.serving import Pages
from sqlanon.model.policy_value import KINDS

ILLNESS = 'a"b; drop table x --'
ROWS = f"""SELECT 'P' || i // 2 AS who, 20 + i % 60 AS age, i % 2 AS sex,
['<script>', 'flu', 'none'][1 + i % 3] AS "{ILLNESS.replace('"', '""')}" FROM range(300) AS t(i)"""
POLICY = f"""
quasi_identifiers = ["age", "sex"]
sensitive = ['{ILLNESS}']
identifiers = ["who"]  # mine
taxonomies = {{ age = {{ kind = "intervals", widths = [10, 20] }}, sex = "flat" }}
privacy = [{{ model = "k-anonymity", k = 5 }}, {{ model = "entropy-l-diversity", column = '{ILLNESS}', l = 1.5 }}]
"""


class Screen:
    def __init__(self, policy: str = POLICY) -> None:
        with duckdb.connect("clinic.duckdb") as clinic:
            clinic.execute(f"CREATE TABLE visits AS {ROWS}")
        self.file = Path("p.toml")
        self.file.write_text(policy)
        self.office = Office(Place("visits", Path("clinic.duckdb"), self.file, (Path(),)))
        self.browser = TestClient(Pages(self.office).program)

    def page(self, status: int = 200) -> str:
        answer = self.browser.get("/s/promise")
        assert answer.status_code == status
        return answer.text

    def send(self, status: int = 303, action: str = "promise", **fields: str) -> str:
        assert self.office.desk is not None
        known = {"version": f"{self.office.desk.number}-{self.office.desk.versions.number}"}
        answer = self.browser.post(f"/s/{action}", data=known | fields, follow_redirects=False)
        assert answer.status_code == status
        return answer.text

    @property
    def policy(self) -> dict[str, Any]:
        return tomllib.loads(self.file.read_text())


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    monkeypatch.chdir(tmp_path)
    with (made := Screen()).office:
        yield made


def test_form_becomes_the_policy(screen: Screen) -> None:
    shown = {"k": "7", "l0": "3", "t0": "0.4", "limit": "2.5", "loss": "prec"}
    screen.send(**shown | {"t0": "0,4"})
    screen.send(w1="2")
    column = {"column": ILLNESS}
    assert screen.policy["privacy"] == [
        {"model": "k-anonymity", "k": 7},
        {"model": "entropy-l-diversity", **column, "l": 1.5},
        {"model": "distinct-l-diversity", **column, "l": 3},
        {"model": "t-closeness", **column, "t": 0.4},
    ]
    assert screen.policy["quality"] == {"model": "prec", "weights": {"sex": 2}}
    assert screen.policy["suppression_limit"] == 0.025
    before, page = screen.file.read_text(), screen.page()
    assert '["who"]  # mine' in before and "14.3 %" in page and "entropy l-diversity of" in page and ILLNESS not in page
    screen.send(**shown, w0="1", w1="2", method="full-domain")
    assert screen.file.read_text() == before
    screen.send(l0="1", t0="", w1="1")
    assert len(screen.policy["privacy"]) == 2 and screen.policy["quality"] == "prec"


@pytest.mark.parametrize("field", ["k=1", "k=2.5", "k=x", "t0=2", "limit=101", "w0=-1", "method=<script>"])
def test_values_out_of_bounds(screen: Screen, field: str) -> None:
    name, text = field.split("=")
    answer = screen.send(422, **{name: text})
    assert 'role="alert"' in answer and "privacy[" not in answer and screen.file.read_text() == POLICY
    assert f'id="{name}" value="{text}"' in answer or text not in answer
    assert "one of the recipients" in screen.send(400, "recipient", profile=text)
    screen.send(409, version="1-99", k="9")


@pytest.mark.parametrize("method", sorted({*KINDS["method"]} - {"full-domain"}))
def test_methods_keep_what_they_can_promise(screen: Screen, method: str) -> None:
    has = KINDS["method"][method].model_fields
    is_private = "accept_observed_domain" in has
    screen.send(k="7", method=method)
    given = screen.policy["method"] if isinstance(screen.policy["method"], dict) else {}
    assert (given.get("k") == 7) == ("k" in has) and ("budget" in given) == ("budget" in has)
    assert bool(screen.policy.get("privacy")) == (not is_private and "k" not in has)
    assert ("There is no preview" in screen.page()) == is_private
    screen.send(method="full-domain")
    assert screen.policy["privacy"][0] == {"model": "k-anonymity", "k": 5 if is_private and "k" not in has else 7}


def test_budgets_are_exact(screen: Screen) -> None:
    screen.send(method="ipa")
    screen.send(epsilon="0,1", accept_observed_domain="yes")
    assert screen.policy["method"]["budget"] == {"epsilon": "0.1", "delta": "1e-06"}
    page = screen.page()
    assert (
        "1.11 = e<sup>" in page
        and "Spent so far: (ε = 0, δ = 0)" in page
        and '<span class="mark">ε = 0.1<' in page
        and "has no cap" in page
    )
    assert "must be" in screen.send(422, epsilon="much")


def test_persons_and_recipients(screen: Screen) -> None:
    assert "150 values in 300 rows" in screen.page() and "P1" not in screen.page()
    screen.send(action="role", column="who", role="individual")
    assert "persons (by who)" in screen.page() and "These are rows" not in screen.page()
    screen.send(action="recipient", profile="public")
    assert screen.office.desk is not None and screen.office.desk.job is not None
    screen.office.desk.job.wait()
    assert 'value="public" checked' in screen.page() and screen.policy["privacy"][0]["k"] == 10


@pytest.mark.parametrize("odd", ['privacy = "x"', "privacy = [5]", "method = 5", 'quality = { weights = "x" }'])
def test_files_that_no_form_can_show(tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (made := Screen(odd)).office:
        made.page(422)
