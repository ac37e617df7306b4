"""The page of a lattice in a browser: its choice is that of SQL, and its commands run as they are."""

import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.nodes import counting
from tests.browser import Page, address, browser
from tests.full.test_explorer_limits import POLICY
from tests.stories.test_explorer import PEOPLE, TAXONOMIES, nodes_of, people, policy, table_of
from tests.strategies import HOSTILE_NAMES


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with people() as opened:
        yield opened


def opened(page: Page, folder: Path, explored: Any, fragment: str = "") -> None:
    file = folder / "page.html"
    file.write_text(explored.to_html(["people", "--policy", "policy.toml", "--db", "w.duckdb"]), encoding="utf-8")
    page.open(address(file, fragment))


def test_without_a_command_a_page_has_a_call(session: sa.Session, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(session.explore("people", policy()).to_html(), encoding="utf-8")
    page.open(address(file, "#k=31&illness=0"))
    names = {"session": session, "source": "people", "policy": policy()}
    release = eval(page.text("command"), names)  # noqa: S307
    assert list(release.node.values()) == page.value("levelsOf(chosen)")
    assert release.report.min_class_size >= 31


def test_a_page_says_how_many_nodes_were_checked(
    session: sa.Session, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(page, tmp_path, session.explore("people", policy()))
    assert page.text("part") == ""
    monkeypatch.setattr(counting, "NODES_AT_ONCE", 6)
    events: list[sa.Event] = []
    stopped = {"progress": events.append, "stop": lambda: events[-1].stage == "count"}
    explored = session.explore("people", policy(), **stopped)
    opened(page, tmp_path, explored)
    assert "6 of 24 nodes were checked" in page.text("part")
    assert page.text("part").endswith("None of the others that keeps k = 4 loses less than the best one here.")
    assert page.text("count").startswith(f"{sum(k >= 4 for k in explored.nodes.best_k)} of 6 shown nodes")
    chosen = dict(zip(TAXONOMIES, page.value("levelsOf(chosen)"), strict=True))
    table = [row for row in table_of(session, "people", policy()) if row["satisfies"]]
    assert chosen == min(table, key=lambda row: float(row["loss"]))["node"]
    opened(page, tmp_path, session.explore("people", policy(), stop=lambda: True))
    assert "lose less than the best one here by at most " in page.text("part")
    assert page.problems == []


@pytest.mark.parametrize("quality", [sa.Entropy(), sa.LM()])
def test_a_page_chooses_as_sql_does(quality: Any, session: sa.Session, page: Page, tmp_path: Path) -> None:
    asked = policy(quality=quality)
    explored = session.explore("people", asked)
    for k in (4, 30, 500):
        session.lattice("people", asked.with_k(k), into="nodes", replace=True)
        for age, town in itertools.product((0, 1, 3), (0, 1)):
            opened(page, tmp_path, explored, f"#k={k}&age={age}&town={town}")
            fits = f"satisfies AND node['age'] <= {age} AND node['town'] <= {town}"
            query = f"SELECT min(loss), count(*), min_by(suppressed_rows, loss) FROM nodes WHERE {fits}"
            loss, count, left_out = session.connection.execute(query).fetchall()[0]
            assert page.text("count").startswith(f"{count} of 24 nodes")
            chosen = page.value("chosen < 0 ? null : now.losses[chosen] * data.loss_unit")
            assert chosen == (None if loss is None else pytest.approx(loss, abs=explored.loss_unit))
            shown = "under 4 rows" if 0 < (left_out or 0) < 4 else f"{(left_out or 0) / 40:.1f} %"
            assert page.text("left") == ("–" if loss is None else shown)
            assert page.text("known") == page.text("exact") == ""
    assert (page.problems, page.requests) == ([], [])


@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_rows_left_out_at_another_k_are_in_the_range_that_is_shown(
    limit: float, session: sa.Session, page: Page, tmp_path: Path
) -> None:
    asked = policy(privacy=[sa.KAnonymity(10)], suppression_limit=limit)
    explored = session.explore("people", asked)
    opened(page, tmp_path, explored)
    names = [json.dumps(row["node"]) for row in nodes_of(explored.model_dump())]
    for k in (5, 7, 10, 30, 31, 250):
        other = policy(privacy=[sa.KAnonymity(k)], suppression_limit=limit)
        table = {json.dumps(row["node"]): row["suppressed_rows"] for row in table_of(session, "people", other)}
        page.value(f"state.k = {k}; show()")
        for name, shown in zip(names, page.value("[...nodes.places.keys()].map(leftOut)"), strict=True):
            share = table[name] / 4000
            least, most = range_of(shown)
            assert least - 0.0005 <= share <= most + 0.0005, (k, name, shown)


def range_of(shown: str) -> tuple[float, float]:
    """The least and the greatest share that the words of a page allow."""
    shares = [float(each) / 100 for each in re.findall(r"([\d.]+) %", shown)]
    if under := re.fullmatch(r"under (\d+) rows(?: to .*)?", shown):
        return 0.0, shares[0] if shares else int(under[1]) / 4000
    match shown.split()[0]:
        case "over":
            return shares[0], 1.0
        case "up":
            return 0.0, shares[0]
        case _:
            return shares[0], shares[-1]


def test_what_a_command_takes_is_published(tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my policy.toml").write_text(POLICY)
    with sa.connect("it's a warehouse.duckdb") as warehouse:
        warehouse.connection.execute(PEOPLE)
    source = ["people", "--db", "it's a warehouse.duckdb", "--policy", "my policy.toml"]
    assert CliRunner().invoke(app, ["lattice", *source, "--out", "lattice.html"]).exit_code == 0
    page.open(address(Path("lattice.html"), "#k=31&town=0"))
    words = shlex.split(page.text("command"))
    assert words[:2] == ["sqlanon", "run"]
    assert words[words.index("--k") + 1] == "31"
    words[words.index("--into") + 1] = "released"
    ran = CliRunner().invoke(app, [*words[1:], "--json"])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)["report"]
    assert report["node"]["town"] == 0
    assert report["loss"] == pytest.approx(page.value("now.losses[chosen] * data.loss_unit"), abs=1)
    with sa.connect("it's a warehouse.duckdb") as warehouse:
        sizes = "SELECT count(*) AS rows FROM released GROUP BY age, town, illness"
        assert warehouse.connection.sql(f"SELECT min(rows) >= 31 FROM ({sizes})").fetchall() == [(True,)]
    again = shlex.split(page.text("exact").partition(": ")[2])
    assert CliRunner().invoke(app, again[1:]).exit_code == 0
    page.open(address(Path("lattice_k31.html"), "#k=31&town=0"))
    assert page.text("exact") == ""
    assert page.text("left") == f"{100 * (1 - report['rows']['released'] / 4000):.1f} %"
    assert "--k 31" in page.text("command")


def test_buttons_keys_and_points_choose(session: sa.Session, page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, session.explore("people", policy()))
    first = page.value("chosen")
    page.value("rows[1].buttons[0].click()")
    assert page.value("level(chosen, 1)") == 0
    assert page.value("rows[1].buttons[0].getAttribute('aria-pressed')") == "true"
    page.value("rows[1].buttons[0].click()")
    assert page.value("chosen") == first
    page.value("canvas.focus()")
    page.press("ArrowRight")
    taken = page.value("chosen")
    assert page.value(f"across[{taken}] > across[{first}]")
    assert page.text("chosen").startswith("Chosen: age ")
    link = page.value("fragment()")
    page.press("Home")
    assert page.value("chosen") == first
    opened(page, tmp_path, session.explore("people", policy()), link)
    assert page.value("chosen") == taken
    for node in (0, 5):
        place = f"(({{left, top}}) => ({{clientX: left + across[{node}], clientY: top + down[{node}]}}))"
        page.value(f"canvas.dispatchEvent(new MouseEvent('click', {place}(canvas.getBoundingClientRect())))")
        same = "across[chosen] === across[{0}] && down[chosen] === down[{0}]"
        assert page.value(same.format(node))
    page.value("at('copy').click()")
    assert page.text("copied")
    assert (page.problems, page.requests) == ([], [])


def test_a_page_works_in_the_frame_of_a_notebook(session: sa.Session, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(session.explore("people", policy()).to_html(), encoding="utf-8")
    # Without a sandbox the test can look into the frame, whose address is the same.
    (tmp_path / "frame.html").write_text("<!DOCTYPE html><iframe></iframe>")
    page.open(address(tmp_path / "frame.html"))
    text = json.dumps(file.read_text(encoding="utf-8"))
    frame = "document.querySelector('iframe')"
    page.value(f"new Promise((done) => {{ {frame}.onload = done; {frame}.srcdoc = {text}; }})")
    page.value("new Promise((done) => setTimeout(done, 400))")  # when a page at an address changes its link
    assert page.value(f"{frame}.contentDocument.getElementById('command').textContent").startswith("session.anonymize(")
    assert page.problems == []


@pytest.mark.parametrize("names", [("k", "node", *HOSTILE_NAMES[:6]), HOSTILE_NAMES[6:14]])
def test_hostile_names_break_nothing(names: tuple[str, ...], page: Page, tmp_path: Path) -> None:
    names = tuple(f"</script><b onload={name}>" if name == "node" else name for name in names)
    with sa.connect() as opened_session:
        columns = ", ".join('i % 3 AS "' + name.replace('"', '""') + '"' for name in names)
        opened_session.connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(90) AS _ (i)")
        taxonomies = {name: {"kind": "flat", "values": ["0", "1", "2"]} for name in names}
        asked = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(5)], taxonomies=taxonomies)
        opened(page, tmp_path, opened_session.explore("people", asked))
    page.value("rows[0].buttons[0].click()")
    headings = page.value("[...document.querySelectorAll('#columns th')].map((each) => each.textContent)")
    assert headings == [*names]
    words = shlex.split(page.text("command"))
    assert words[words.index("--node") + 1] == ",".join(f"{name}=0" for name in names)
    link = page.value("fragment()")
    with_cap = page.value("state.caps")
    page.open(address(tmp_path / "page.html", link))
    assert page.value("state.caps") == with_cap == [0, *[1] * 7]
    assert (page.problems, page.requests) == ([], [])
