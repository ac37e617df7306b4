"""The page of a lattice: it has what the table has, its choice is that of SQL, and its commands run as they are."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.run import explorer as running
from tests.browser import Page, address, browser
from tests.case_tables import session_of
from tests.effort import examples
from tests.strategies import HOSTILE_NAMES, Case, cases

CANARY = "CANARY"
"""Begins the values that no page may show."""

PEOPLE = f"""
CREATE TABLE people AS
SELECT
    '{CANARY}' || i AS name,
    20 + (i * 37) % 60 AS age,
    CASE WHEN i % 4 = 1 THEN '{CANARY}ville' || i ELSE ['Bonn', 'Ulm', 'Jena'][1 + i % 3] END AS town,
    ['burn', 'flu', 'gout'][1 + i % 3] AS illness
FROM range(4000) AS _ (i)
"""
TAXONOMIES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [2, 4, 12, 24], "minimum": 20, "maximum": 79},
    "town": {"kind": "flat"},
    "illness": {"kind": "flat", "values": ["burn", "flu", "gout"]},
}
POLICY = """
quasi_identifiers = ["age", "town", "illness"]
identifiers = ["name"]
suppression_limit = 0.3
quality = "entropy"
privacy = [{ model = "k-anonymity", k = 4 }]

[taxonomies]
age = { kind = "intervals", widths = [2, 4, 12, 24], minimum = 20, maximum = 79 }
town = { kind = "flat" }
illness = { kind = "flat", values = ["burn", "flu", "gout"] }
"""


def policy(**more: Any) -> sa.Policy:
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "town", "illness"],
        "identifiers": ["name"],
        "privacy": [sa.KAnonymity(4)],
        "suppression_limit": 0.3,
        "taxonomies": TAXONOMIES,
    }
    return sa.Policy(**{**roles, **more})


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        opened.connection.execute(PEOPLE)
        yield opened


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


def content(html: str) -> dict[str, Any]:
    """What a page has as JSON, its losses added up."""
    found: dict[str, Any] = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    for each in (found["nodes"], *found["others"]):
        each["losses"] = list(itertools.accumulate(each["losses"]))
    return found


def nodes_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a page with the names of the lattice table."""
    columns = found["columns"]
    lattice = list(itertools.product(*(range(each["least"], each["most"] + 1) for each in columns)))
    names = [each["name"] for each in columns]
    of_nodes = found["nodes"]
    return [
        {
            "node": dict(zip(names, lattice[place], strict=True)),
            "loss": of_nodes["losses"][index] * found["loss_unit"],
            "best_k": of_nodes["best_k"][index],
            "suppressed_rows": of_nodes["suppressed_rows"][index],
            "class_count": of_nodes["class_counts"][index],
        }
        for index, place in enumerate(of_nodes["places"])
    ]


def table_of(session: sa.Session, source: str, wanted: sa.Policy) -> list[dict[str, Any]]:
    return [{**row, "node": dict(row["node"])} for row in session.lattice(source, wanted).to_pylist()]


@settings(max_examples=examples(25))
@given(
    cases(min_rows=1, max_rows=14, max_quasi_identifiers=3),
    st.integers(2, 4),
    st.sampled_from([sa.LM(), sa.Entropy(), sa.DM(), sa.AECS(), sa.NCP(), sa.LM(aggregate="geometric")]),
)
def test_a_page_has_what_the_table_has(case: Case, k: int, quality: Any) -> None:
    wanted = policy_of(case, k, quality)
    with session_of(case) as session:
        table = {json.dumps(row["node"]): row for row in table_of(session, "given", wanted)}
        found = content(session.explore("given", wanted).to_html())
        counts = {name: values_of(session, name) for name in case.quasi_identifiers}
        others = {other["k"]: table_of(session, "given", wanted.with_k(other["k"])) for other in found["others"]}
    nodes = nodes_of(found)
    assert len(nodes) == len(table) == found["node_count"]
    ranks = [(float(f"{table[json.dumps(node['node'])]['loss']:.11g}")) for node in nodes]
    assert ranks == sorted(ranks)
    for node in nodes:
        row = table[json.dumps(node["node"])]
        assert node["loss"] == pytest.approx(row["loss"], abs=found["loss_unit"])
        assert node["best_k"] == (row["best_k"] or 0)
        assert (node["best_k"] >= k) is row["satisfies"]
        assert node["class_count"] == row["class_count"]
        assert node["suppressed_rows"] == (None if 0 < row["suppressed_rows"] < k else row["suppressed_rows"])
    for other in found["others"]:
        rows = {json.dumps(row["node"]): row for row in others[other["k"]] if row["satisfies"]}
        assert {json.dumps(nodes[position]["node"]) for position in other["order"]} == rows.keys()
        losses = [rows[json.dumps(nodes[position]["node"])]["loss"] for position in other["order"]]
        assert losses == sorted(losses, key=lambda loss: float(f"{loss:.11g}"))
        assert other["losses"] == pytest.approx([loss / found["loss_unit"] for loss in losses], abs=1)
        for position, suppressed in zip(other["order"], other["suppressed_rows"], strict=True):
            at_k = rows[json.dumps(nodes[position]["node"])]["suppressed_rows"]
            assert suppressed == (None if 0 < at_k < k else at_k)
    for column in found["columns"]:
        value, *_ = column["example"]
        most = max((rows for each, rows in counts[column["name"]].items() if each is not None), default=0)
        assert counts[column["name"]].get(value, 0) >= k or most < k


def policy_of(case: Case, k: int, quality: Any) -> sa.Policy:
    others = [name for name in case.columns if name not in case.quasi_identifiers]
    return sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        insensitive=others,
        privacy=[sa.KAnonymity(k)],
        quality=quality,
        suppression_limit=0.3,
    )


def values_of(session: sa.Session, name: str) -> dict[str | None, int]:
    column = '"' + name.replace('"', '""') + '"'
    query = f"SELECT CAST({column} AS VARCHAR), count(*) FROM given GROUP BY ALL"
    return dict(session.connection.execute(query).fetchall())


def test_examples_are_values_of_enough_rows_or_declared(session: sa.Session) -> None:
    session.connection.execute(f"UPDATE people SET town = '{CANARY}' || rowid, illness = 'flu' WHERE rowid >= 0")
    age, town, illness = session.explore("people", policy()).columns
    assert age.example[0] is not None
    assert town.example == ()
    assert illness.example == ("flu", "*")
    alone = "SELECT * REPLACE (CAST(20 + row_number() OVER () % 60 AS INTEGER) AS age) FROM people LIMIT 60"
    assert session.explore(alone, policy()).columns[0].example[0] == "20"  # the least of those that are declared


def test_an_example_is_not_of_rows_of_few_persons(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE visits AS SELECT 'p' || rowid // 2000 AS person, * FROM people")
    asked = policy(identifiers=["name", "person"], individual="person", privacy=[sa.KAnonymity(2)])
    age, town, _ = session.explore("visits", asked).columns
    assert (age.example[0], town.example) == ("20", ())


def test_no_rare_value_is_shown(session: sa.Session) -> None:
    html = session.explore("people", policy()).to_html()
    assert CANARY not in html
    assert re.search("Bonn|Ulm|Jena", html)


def test_numbers_of_few_rows_are_not_shown(session: sa.Session) -> None:
    session.connection.execute(f"CREATE TABLE few AS FROM people WHERE town NOT LIKE '{CANARY}%' OR rowid = 1")
    table = {json.dumps(row["node"]): row["suppressed_rows"] for row in table_of(session, "few", policy())}
    assert 1 in table.values()
    found = session.explore("few", policy())
    for node in nodes_of(found.model_dump()):
        assert node["suppressed_rows"] == {1: None}.get(rows := table[json.dumps(node["node"])], rows)


def test_a_page_loads_nothing(session: sa.Session) -> None:
    html = session.explore("people", policy()).to_html()
    assert "default-src 'none'; style-src 'sha256-" in html
    assert "unsafe" not in html
    assert not re.search(r"<(link|img|iframe|object)|@import|url\(|https?:|\bfetch\(|XMLHttpRequest", html)


def test_a_large_lattice_is_shown_in_part(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ASKED", (8,))
    whole = session.explore("people", policy())
    monkeypatch.setattr(running, "MAX_NODES", 5)
    monkeypatch.setattr(running, "SAMPLED_NODES", 1)
    part = session.explore("people", policy())
    assert part.node_count == whole.node_count == 24
    shown = [row["node"] for row in nodes_of(part.model_dump())]
    assert 3 <= len(shown) < 24
    table = table_of(session, "people", policy())
    assert all(row["node"] in shown for row in table if row["pareto"])
    everything = nodes_of(whole.model_dump())
    for k in part.asked:
        for one, other in itertools.combinations_with_replacement(TAXONOMIES, 2):
            for levels in {(row["node"][one], row["node"][other]) for row in everything}:
                fitting = [
                    row["node"]
                    for row in everything
                    if row["best_k"] >= k and (row["node"][one], row["node"][other]) == levels
                ]
                assert not fitting or fitting[0] in shown


def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, monkeypatch)
    command = ["lattice", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--out", "lattice.html"]
    assert CliRunner().invoke(app, command).exit_code == 0
    written = Path("lattice.html").read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert content(written)["command"] == ["people", "--policy", "policy.toml", "--db", "w.duckdb"]
    assert CliRunner().invoke(app, command).exit_code != 0
    assert CliRunner().invoke(app, [*command, "--into", "nodes"]).exit_code != 0
    shown = CliRunner().invoke(app, [*command, "--replace", "--json"])
    assert json.loads(shown.stdout)["node_count"] == 24
    assert Path("lattice.html").read_text(encoding="utf-8") == written


def prepare(
    folder: Path, monkeypatch: pytest.MonkeyPatch, warehouse: str = "w.duckdb", file: str = "policy.toml"
) -> None:
    monkeypatch.chdir(folder)
    Path(file).write_text(POLICY)
    with sa.connect(warehouse) as opened:
        opened.connection.execute(PEOPLE)


def test_another_k_takes_the_place_of_that_of_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, monkeypatch)
    command = ["run", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--k", "30", "--into", "released"]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert smallest_class("w.duckdb") >= 30


def smallest_class(warehouse: str) -> int:
    with duckdb.connect(warehouse) as connection:
        query = "SELECT min(rows) FROM (SELECT count(*) AS rows FROM released GROUP BY age, town, illness)"
        return int(connection.execute(query).fetchall()[0][0])


# In a browser


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
    prepare(tmp_path, monkeypatch, "it's a warehouse.duckdb", "my policy.toml")
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
    assert smallest_class("it's a warehouse.duckdb") >= 31
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


@pytest.mark.parametrize("names", [("k", "node"), *zip(HOSTILE_NAMES[:14:2], HOSTILE_NAMES[1:14:2], strict=True)])
def test_hostile_names_break_nothing(names: tuple[str, str], page: Page, tmp_path: Path) -> None:
    one, other = (f"</script><b onload={name}>" if name == "node" else name for name in names)
    with sa.connect() as opened_session:
        columns = ", ".join('i % 3 AS "' + name.replace('"', '""') + '"' for name in (one, other))
        opened_session.connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(90) AS _ (i)")
        taxonomies = {name: {"kind": "flat", "values": ["0", "1", "2"]} for name in (one, other)}
        asked = sa.Policy(quasi_identifiers=[one, other], privacy=[sa.KAnonymity(5)], taxonomies=taxonomies)
        opened(page, tmp_path, opened_session.explore("people", asked))
    page.value("rows[0].buttons[0].click()")
    assert page.value("[...document.querySelectorAll('#columns th')].map((each) => each.textContent)") == [one, other]
    words = shlex.split(page.text("command"))
    assert words[words.index("--node") + 1] == f"{one}=0,{other}=0"
    link = page.value("fragment()")
    with_cap = page.value("state.caps")
    page.open(address(tmp_path / "page.html", link))
    assert page.value("state.caps") == with_cap == [0, 1]
    assert (page.problems, page.requests) == ([], [])


@pytest.mark.adult
def test_adult_with_fine_education(
    uci_adult: Path, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("adult.duckdb").write_bytes(uci_adult.read_bytes())
    Path("policy.toml").write_text(
        """
        quasi_identifiers = ["age", "education", "race", "sex", "native_country"]
        rest = "identifier"
        suppression_limit = 0.05
        privacy = [{ model = "k-anonymity", k = 5 }]
        """
    )
    source = ["adult", "--db", "adult.duckdb", "--policy", "policy.toml"]
    assert CliRunner().invoke(app, ["lattice", *source, "--out", "lattice.html"]).exit_code == 0
    page.open(address(Path("lattice.html"), "#k=10&education=1"))
    ran = CliRunner().invoke(app, [*shlex.split(page.text("command"))[1:], "--json"])
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)["report"]
    assert report["node"]["education"] <= 1
    assert list(report["node"].values()) == page.value("levelsOf(chosen)")
    assert report["loss"] == pytest.approx(page.value("now.losses[chosen] * data.loss_unit"), abs=1e-6)
    assert page.text("left") == f"{100 * (1 - report['rows']['released'] / 32561):.1f} %"
    assert (page.problems, page.requests) == ([], [])
