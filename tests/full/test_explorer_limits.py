"""The page of a lattice by the command line, of a large lattice, and for another k."""

import itertools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.run import explorer as running
from tests.stories import test_explorer
from tests.stories.test_explorer import PEOPLE, TAXONOMIES, content, nodes_of, policy, table_of

shared = test_explorer.shared


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


def test_a_large_lattice_is_shown_in_part(shared: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ASKED", (8,))
    whole = shared.explore("people", policy())
    monkeypatch.setattr(running, "MAX_NODES", 5)
    monkeypatch.setattr(running, "SAMPLED_NODES", 1)
    part = shared.explore("people", policy())
    assert part.node_count == whole.node_count == 24
    shown = [row["node"] for row in nodes_of(part.model_dump())]
    assert 3 <= len(shown) < 24
    table = table_of(shared, "people", policy())
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
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)
    with sa.connect("w.duckdb") as opened:
        opened.connection.execute(PEOPLE)
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
