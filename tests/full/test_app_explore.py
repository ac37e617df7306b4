"""The screen of the nodes: its states, its sliders, and what goes into the policy."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

import sqlanon as sa
from sqlanon.app import explore_screen
from sqlanon.app.explore_screen import Explored, Job
from tests.app import CANARIES, HOSTILE, POLICY, Browser, alert, app, write_messy

K = '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
LIMIT = "suppression_limit = 0.05"
METHODS = [
    POLICY.replace(LIMIT, 'method = "local-recoding"'),
    POLICY.replace(LIMIT, 'method = "mondrian"'),
    POLICY.replace(LIMIT, 'method = { model = "relocation", k = 5, limit = 0.1 }').replace(K, ""),
]


@pytest.fixture
def browser(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Browser]:
    write_messy(tmp_path / "messy.csv")
    (tmp_path / "policy.toml").write_text(getattr(request, "param", POLICY))
    with app(str(tmp_path / "messy.csv"), tmp_path) as browser:
        yield browser


def searched(browser: Browser) -> Explored:
    browser.post("start_explore")
    browser.wait()
    found: Explored = browser.desk.memory["explored"]
    return found


def sliders(page: str) -> str:
    return ",".join(re.findall(r'name="level\d+"[^>]* value="(\d+)"', page))


def levels(node: Mapping[str, int]) -> str:
    return ",".join(map(str, node.values()))


def test_nodes_are_shown_and_put_into_the_policy(browser: Browser) -> None:
    assert "It reads the rows once" in browser.get("explore")
    browser.post("role", column=HOSTILE, role="quasi-identifier")
    nodes = searched(browser).nodes
    best, page = nodes.best(), browser.get("explore")
    assert best is not None and sliders(page) == levels(best.node) and escape(HOSTILE) in page
    assert f"<b >{100 * best.loss:.1f} %</b>" in page and "it is proven" in page and 'class="chosen"' in page
    coarsest = {f"level{place}": each.most for place, each in enumerate(nodes.columns)}
    page = browser.post("node", **coarsest)
    assert sliders(page) == sliders(browser.get("explore")) == levels(coarsest)
    assert "100.0 %" in page and "Keep one column finer" in page
    finest = browser.post("node", levels="0,0,0,0")
    assert "does not keep the promise: classes of" in finest and re.search('id="put"[^>]*disabled', finest)
    page = browser.post("put_node", levels=levels(best.node))
    assert sa.PolicyFile.read(browser.desk.place.policy_file).policy.method.node == best.node  # type: ignore[attr-defined]
    assert "The policy names this node" in page and "has changed since" not in page
    assert "The policy names" not in browser.post("free_node") and "node" not in browser.desk.versions.file.values
    assert not [each for each in CANARIES if each in page + finest]


def test_forms_are_refused_in_words(browser: Browser) -> None:
    assert alert(browser.post("node", 409, levels="1,1,1")) == explore_screen.STALE
    searched(browser)
    wrong = {"": 400, "1,x,0": 422, "1": 400, "99,0,0": 422}
    forms = [("node", {"levels": text} if text else {}, status) for text, status in wrong.items()]
    forms += [("put_node", {"levels": "0,0,0"}, 422), ("put_node", {"levels": "2,1,4", "version": "9"}, 409)]
    for action, fields, status in [*forms, ("relax", {"relaxation": "0"}, 409), ("relax", {}, 400)]:
        page = browser.post(action, status, **fields)
        assert alert(page) and "Traceback" not in page and browser.desk.place.policy_file.read_text() == POLICY


def test_what_was_found_outlives_a_change_and_five_idle_minutes(browser: Browser, monkeypatch: Any) -> None:
    explored = searched(browser)
    browser.post("save_taxonomy", column="Größe (cm)", kind="flat", was="flat")
    page = browser.get("explore")
    assert "has changed since this search" in page and "What each k costs" in page and not sliders(page)
    assert alert(browser.post("put_node", 409, levels="1,1,1")) == explore_screen.STALE
    monkeypatch.setattr(explore_screen, "PERIOD", 0.01)
    monkeypatch.setattr(explore_screen, "IDLE", 0.0)
    calls = itertools.count()
    monkeypatch.setattr(Job, "is_enough", lambda _: next(calls) > 0)
    again = searched(browser)
    assert explored.ended.is_set() and again.ended.wait(20)
    page = browser.get("explore")
    assert "were put away" in page and sliders(browser.post("node", levels=sliders(page))) == sliders(page)
    assert alert(browser.post("node", 409, levels="0,0,0")) == explore_screen.CLOSED


@pytest.mark.parametrize("browser", [POLICY.replace("k = 5", "k = 500  # too many")], indirect=True)
def test_a_relaxation_is_one_click(browser: Browser) -> None:
    searched(browser)
    page = browser.get("explore")
    [place] = re.findall(r'value="(\d)"[^>]*>Change</button> k = 400 is the largest', page)
    browser.post("relax", 400, relaxation="7")
    browser.post("relax", relaxation=place)
    browser.wait()
    assert "No node keeps the promise" in page and "No node keeps" not in browser.get("explore")
    assert "k = 400  # too many" in browser.desk.versions.file.text


@pytest.mark.parametrize(("how", "state"), [("enough", "done"), ("cancel", "cancelled")])
def test_a_search_is_stopped_and_goes_on(browser: Browser, monkeypatch: Any, how: str, state: str) -> None:
    searching, go_on, is_enough = threading.Event(), threading.Event(), Job.is_enough

    def waiting(job: Job) -> bool:
        searching.set()
        return go_on.wait(20) and is_enough(job)

    monkeypatch.setattr(Job, "is_enough", waiting)
    browser.post("start_explore")
    assert searching.wait(60) and browser.desk.job is not None and "data-fills" in browser.get("explore")
    browser.post("ask", job=browser.desk.job.number, how=how, page="explore")
    go_on.set()
    browser.desk.job.wait(60)
    assert browser.desk.job.state == state and "Search on" in browser.get("explore")
    explored = browser.desk.memory["explored"]
    assert searched(browser) is explored and explored.nodes.is_finished


@pytest.mark.parametrize("browser", METHODS, indirect=True, ids=["local", "mondrian", "relocation"])
def test_other_methods_show_what_full_domains_would_lose(browser: Browser) -> None:
    searched(browser)
    page = browser.get("explore")
    assert "has no nodes to choose" in page and "What each k costs" in page and "Put this" not in page + sliders(page)
