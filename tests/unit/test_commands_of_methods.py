"""Commands made of methods: what is typed arrives as arguments, and help has the sentences of the docstring."""

from __future__ import annotations  # as the modules of the methods that become commands

from collections.abc import Sequence
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sqlanon.cli.command import command
from sqlanon.cli.options import Json, Spelled


class Desk:
    """Something that sorts."""

    def sort(
        self,
        source: str,
        shelf: str,
        *,
        column: str | Sequence[str] = (),
        limit: int | None = None,
        descending: bool = False,
        stable: bool = True,
        progress: object = None,
        **settings: Any,
    ) -> None:
        """Sort a table.

        Args:
            source: the table.
            shelf: where it goes. It may be new.
            column: the column to sort by, such as ``"age"``.
            limit: how many rows are kept; all of them if it is not given.
            descending: put the largest first.
            stable: leave equal rows in their order.
            progress: called now and then.
            settings: what the shelf needs.
        """


@pytest.fixture
def app() -> tuple[typer.Typer, dict[str, Any]]:
    arrived: dict[str, Any] = {}
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @command(
        Desk.sort,
        shelf=Spelled("NAME", "--into", read=str.upper),
        limit=Spelled("N"),
        descending=Spelled(),
        stable=Spelled(),
        width=Spelled("CM", kind=float, help="How wide the shelf is."),
    )
    def sort(as_json: Json = False, **given: Any) -> None:
        arrived.update(given, as_json=as_json)

    return app, arrived


def test_what_is_left_out_is_not_handed_on(app: tuple[typer.Typer, dict[str, Any]]) -> None:
    command, arrived = app
    done = CliRunner().invoke(command, ["visits", "--into", "best"])
    assert done.exit_code == 0, done.output
    assert arrived == {"source": "visits", "shelf": "BEST", "descending": False, "stable": True, "as_json": False}


def test_what_is_typed_has_the_types_of_the_method(app: tuple[typer.Typer, dict[str, Any]]) -> None:
    command, arrived = app
    typed = "visits --into best --column age --column sex --limit 3 --descending --no-stable --width 2.5 --json"
    done = CliRunner().invoke(command, [*typed.split(), "--threads", "2"])
    assert done.exit_code == 0, done.output
    assert arrived == {
        "source": "visits",
        "shelf": "BEST",
        "column": ["age", "sex"],
        "limit": 3,
        "descending": True,
        "stable": False,
        "width": 2.5,
        "as_json": True,
    }
    for wrong in (["visits"], ["--into", "best"], [*typed.split(), "--limit", "few"], [*typed.split(), "--progress"]):
        assert CliRunner().invoke(command, wrong).exit_code == 2, wrong


def test_help_has_the_first_sentence_on_each_argument(app: tuple[typer.Typer, dict[str, Any]]) -> None:
    shown = {each.name: getattr(each, "help", None) for each in typer.main.get_command(app[0]).params}
    assert shown["column"] == "The column to sort by, such as age; repeat it."
    assert shown["shelf"] == "Where it goes."
    assert shown["limit"] == "How many rows are kept; all of them if it is not given."
    assert shown["width"] == "How wide the shelf is."
    assert shown["threads"] == "How many threads DuckDB uses; by default one per core."
    assert "progress" not in shown
