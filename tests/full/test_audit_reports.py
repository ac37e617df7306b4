"""Reports of an audit, its command, and leaks that it finds in larger outputs."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.evaluation import Audit, audit_privacy
from tests.conftest import ROOT, open_clinic
from tests.unit.test_audit import ONE, Vectorised, geometric


class TestReports:
    def test_no_value_is_told_unless_it_is_asked_for(self) -> None:
        def published(table: list[str]) -> list[str]:
            return table

        arguments = (published, ["alice-1970", "bob"], ["bob"], 1_000)
        audit = audit_privacy(*arguments, claimed=ONE)
        assert audit.event == "the output is one value"
        page = audit._repr_html_()
        assert "<svg" in page
        for text in (audit.model_dump_json(), page, repr(audit)):
            assert "alice" not in text
        shown = audit_privacy(*arguments, claimed=ONE, show_event=True)
        assert shown.event is not None
        assert "alice-1970" in shown.event

    def test_it_reads_back_from_json(self) -> None:
        audit = audit_privacy(Vectorised(geometric), 0, 1, 2_000, claimed=sa.Budget("0.5", "1e-6"))
        assert Audit.model_validate_json(audit.model_dump_json()) == audit
        assert json.loads(audit.model_dump_json())["claimed"] == {"epsilon": "0.5", "delta": "0.000001"}

    def test_the_chart_shows_claim_and_finding(self, tmp_path: Path) -> None:
        audit = audit_privacy(Vectorised(geometric), 0, 1, 2_000, claimed=sa.Budget("0.2"))
        for ending, content in (("json", "claimed"), ("svg", "<svg"), ("html", "<html")):
            audit.chart(tmp_path / f"chart.{ending}")
            assert content in (tmp_path / f"chart.{ending}").read_text().lower()
        chart = json.loads((tmp_path / "chart.json").read_text())
        ((row,),) = chart["datasets"].values()
        assert (row["claimed"], row["found"]) == (0.2, audit.lower_bound)
        assert row["verdict"] == "found, above the claim"
        with pytest.raises(sa.EngineError, match="exists"):
            audit.chart(tmp_path / "chart.svg")
        with pytest.raises(sa.PolicyError, match="must end in one of"):
            audit.chart(tmp_path / "chart.gif")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["chart.html", "chart.json", "chart.svg"]

    def test_without_the_extras_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        audit = audit_privacy(Vectorised(geometric), 0, 1, 2_000)
        monkeypatch.setitem(sys.modules, "altair", None)
        with pytest.raises(sa.EngineError, match=re.escape("pip install '.[report]'")):
            audit.chart(tmp_path / "chart.svg")
        assert "<table>" in audit._repr_html_()
        monkeypatch.setitem(sys.modules, "scipy.stats", None)
        with pytest.raises(sa.EngineError, match=re.escape("pip install '.[eval]'")):
            audit_privacy(Vectorised(geometric), 0, 1, 2_000)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """``audit-privacy`` on a warehouse, for policies whose releases are noisy counts of rows."""
    import duckdb

    from sqlanon.audits.audit_command import audit_privacy as audit_command

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        open_clinic(connection)
        connection.execute("CREATE TABLE fewer_visits AS FROM visits LIMIT 11")

    class Counted(Vectorised):
        claimed = ONE

        def __init__(self, session: sa.Session) -> None:
            super().__init__(geometric)
            self.session = session

        def outcomes(self, table: Any, runs: int) -> Mapping[Any, int]:
            ((count,),) = self.session.connection.table(table).count("*").fetchall()  # type: ignore[misc]
            return super().outcomes(count, runs)

    monkeypatch.setattr("sqlanon.audits.audit.repeatable", lambda session, _: Counted(session))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text((ROOT / "README.md").read_text().split("```toml\n")[1].split("```")[0])
    app = typer.Typer()
    app.command()(audit_command)

    def invoke(*options: str) -> Any:
        arguments = ["visits", "fewer_visits", "--db", "clinic.duckdb", "--policy", "policy.toml", "--runs", "20000"]
        return CliRunner().invoke(app, [*arguments, *options])

    return invoke


class TestCommand:
    def test_what_keeps_its_claim_ends_well(self, command: Callable[..., Any], tmp_path: Path) -> None:
        result = command("--json", "--chart", "chart.svg")
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        assert 0.8 < document["lower_bound"] <= 1
        assert document["violates"] is False
        assert (tmp_path / "chart.svg").exists()

    def test_a_violation_is_exit_code_3(self, command: Callable[..., Any]) -> None:
        result = command("--epsilon", "0.5")
        assert result.exit_code == 3
        assert "ε is at least" in result.output
        assert "(ε = 0.5, δ = 0)" in result.output

    def test_bad_options_are_refused_before_any_run(self, command: Callable[..., Any]) -> None:
        assert command("--delta", "0.1").exit_code == 2
        assert isinstance(command("--chart", "chart.gif").exception, sa.PolicyError)
        assert isinstance(command("--confidence", "2").exception, sa.PolicyError)


class TestPower:
    def test_noise_of_one_sign_is_found_by_the_size_of_the_output(self) -> None:
        """Rows are only ever added: 6 rows come from 6, never from 7 (E2). Each release differs from all others."""
        generator = np.random.default_rng(2)

        def published(table: int) -> list[float]:
            added = max(0, round(generator.laplace(scale=1 / 0.3)))
            return generator.normal(size=table + added).tolist()

        audit = audit_privacy(published, 7, 6, runs=4_000, claimed=ONE)
        assert audit.violates
        assert audit.direction == "neighbour over table"
        assert audit.event == "its size is below 7 or absent"

    def test_a_tail_is_found_where_no_output_comes_twice(self) -> None:
        def draw(generator: np.random.Generator, table: int, runs: int) -> Any:
            return table + generator.laplace(size=runs)

        audit = audit_privacy(Vectorised(draw), 0, 1, runs=20_000)
        assert 0.85 < audit.lower_bound <= 1
        assert audit.event is not None
        assert re.search(r"threshold", audit.event)

    def test_the_presence_of_one_item_among_many_is_found(self) -> None:
        generator = np.random.default_rng(3)

        def published(table: frozenset[str]) -> frozenset[str]:
            noise = {f"item {number}" for number in generator.integers(0, 40, 12)}
            return frozenset(noise | (table if generator.random() < 0.3 else set()))

        audit = audit_privacy(published, frozenset({"rare"}), frozenset(), runs=4_000, claimed=ONE, show_event=True)
        assert audit.violates
        assert audit.event == "how often an item is in it, for 'rare', is at least 1"
