"""Counting from rolled-up cells and rebuilding releases from counts change nothing but the time that it takes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from sqlglot import parse_one

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.model.lattice import Asked, Levels, NodeSummary
from sqlanon.model.quality import LOG_SHARE
from sqlanon.nodes import counting as node_counter
from sqlanon.nodes import roll_up
from sqlanon.nodes.roll_up import RolledUp, RollUps
from sqlanon.nodes.table import encode_table
from sqlanon.queries import coded_labels as encode
from sqlanon.queries import encoding as keys
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.grouping import rolled_up
from sqlanon.queries.kit.nodes import Relation, Step
from sqlanon.release import publishing
from sqlanon.search.problem import batches
from tests.engines import engine_of
from tests.property.test_releases import FEWER, Run, fetch, load, runs, session

LABEL_LOSSES = ("lm", "ncp", "combined_loss")
"""What queries leave out that are prepared for any node."""

ROLLED_UP = Relation("anon_rolled_up", "cell")


def approximately(summary: NodeSummary) -> NodeSummary:
    """The summary with its losses to twelve digits: sums of floats come in any order."""
    losses = {name: getattr(summary, name) for name in ("lm", "ncp", "combined_loss", "attainable")}
    rounded = {name: None if loss is None else float(f"{loss:.12g}") for name, loss in losses.items()}
    of_classes = {name: float(f"{loss:.12g}") for name, loss in summary.class_losses.items()}
    return replace(summary, class_losses=of_classes, **rounded)


def losses_of(run: Run) -> tuple[str, ...]:
    """Losses of labels that nodes are counted with; the payout of a class needs those by logarithms."""
    return ("lm", "ncp", *({*run.policy.quality.label_losses} & {LOG_SHARE}))


def prepared_questions(encoding: Encoding) -> tuple[Asked, ...]:
    """What a query that is prepared for any node can be asked: nothing that looks at labels."""
    if encoding.of_labels:
        return ()
    return ("counts",) if LOG_SHARE in encoding.label_losses else ("everything", "counts")


@FEWER
@given(run=runs(), data=st.data())
def test_a_node_is_the_same_from_all_cells_and_from_those_of_any_node_below(run: Run, data: st.DataObject) -> None:
    load(run)
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=losses_of(run))
        nodes = list(table.context.lattice.nodes())
        low = data.draw(st.sampled_from(nodes))
        middle = data.draw(st.sampled_from([node for node in nodes if is_below(low, node)]))
        engine.run(Step(ROLLED_UP, rolled_up(table.encoding, low, table.encoding.cells), "cells rolled up"))
        twice = Relation("anon_rolled_up_twice", "cell")
        engine.run(Step(twice, rolled_up(table.encoding, middle, ROLLED_UP), "cells rolled up"))
        for cells, floor in ((ROLLED_UP, low), (twice, middle)):
            above = [node for node in nodes if is_below(floor, node)]
            found = node_counter.node_summaries(engine, table, above, cells)
            expected = [approximately(summary) for summary in node_counter.node_summaries(engine, table, above)]
            assert list(map(approximately, found)) == expected
            source = RolledUp(floor, cells, row_count=0)
            for asked in prepared_questions(table.encoding):
                counter = node_counter.NodeCounter(engine, table)
                few = batches(above, node_counter.PREPARED_NODES)
                found = [summary for nodes in few for summary in counter.prepared_summaries(source, nodes, asked)]
                wanted = [replace(summary, **dict.fromkeys(LABEL_LOSSES)) for summary in expected]
                if asked == "counts":
                    wanted = [replace(summary, min_class_size=None, class_losses={}) for summary in wanted]
                assert list(map(approximately, found)) == wanted
            engine.drop(cells)


@FEWER
@given(run=runs(), word_bits=st.sampled_from([3, 4, 7]), most_steps=st.integers(0, 2))
def test_a_run_is_the_same_in_whatever_words_keys_stand_and_losses_are_told(
    run: Run, word_bits: int, most_steps: int
) -> None:
    load(run)
    plain = lattice_of(run), published(run)
    with mock.patch.object(keys, "WORD_BITS", word_bits), mock.patch.object(encode, "MAX_STEPS", most_steps):
        assert (lattice_of(run), published(run)) == plain


def lattice_of(run: Run) -> list[NodeSummary]:
    engine = engine_of(session())
    bound = prepare(engine, engine.resolve("raw_data"), run.policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=losses_of(run))
        event(f"{min(table.encoding.keys.word_count, 3)} words")
        nodes = node_counter.node_summaries(engine, table, list(table.context.lattice.nodes()))
    return list(map(approximately, nodes))


def is_below(lower: Levels, upper: Levels) -> bool:
    return all(low <= high for low, high in zip(lower, upper, strict=True))


@contextmanager
def eager() -> Iterator[list[Levels]]:
    """Everything that saves a row is rolled up, as long as there is a row left to make."""
    made: list[Levels] = []
    make = RollUps.make

    def noted(self: RollUps, levels: Levels) -> None:
        made.append(levels)
        make(self, levels)

    settings = {
        "STEP_ROWS": 0.5, "MAKING": 0, "CLASS_ROWS": 0, "BUDGET": 1, "STATEMENT_ROWS": 20, "RECENT_NODES": 4,
        "LOOK_ROWS": 0, "BIG": 0,
    }  # fmt: skip
    with mock.patch.multiple(roll_up, **settings), mock.patch.object(RollUps, "make", noted):
        yield made


@FEWER
@given(run=runs(), most_groups=st.sampled_from([0.0, np.inf]))
def test_a_run_publishes_the_same_whatever_is_rolled_up_rebuilt_or_reordered(run: Run, most_groups: float) -> None:
    load(run)
    without_cells = mock.patch.object(Encoding, "holds_release", False)
    with without_cells, mock.patch.object(publishing, "GROUPED", most_groups):
        plain = published(run)
    session().connection.execute("CREATE OR REPLACE TABLE raw_data AS FROM raw_data ORDER BY rowid DESC")
    with eager() as made:
        rolled = published(run)
    event(f"{min(len(made), 3)} relations made")
    assert rolled == plain


def published(run: Run) -> object:
    try:
        release = session().anonymize("raw_data", run.policy, into="published", replace=True)
    except sa.UnsatisfiableError as error:
        return str(error)
    return release.node, report_of(release), fetch("SELECT to_json(published) FROM published")


def report_of(release: sa.Release) -> dict[str, object]:
    """All but names, times, and losses, whose last digits differ."""
    others = {"source", "into", "seconds", "loss", "losses", "lower_bound", "gap"}
    return {name: rounded(value) for name, value in release.report.model_dump(exclude=others).items()}


def rounded(value: Any) -> Any:
    """A value whose floats have twelve digits: findings compare losses, which are sums in any order."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return tuple(map(rounded, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("locked", [False, True])
def test_rows_that_are_rebuilt_are_in_their_own_order_and_settings_come_back(tmp_path: Path, locked: bool) -> None:
    """Whatever writes them: with a locked configuration several threads do."""
    asked = "SELECT current_setting('threads'), current_setting('preserve_insertion_order')"
    path = tmp_path / "release.parquet"
    with duckdb.connect(config={"threads": 2}) as connection:
        session = sa.connect(connection)
        session.taxonomies.load("i", sa.Taxonomy.from_rows([[str(i), str(i // 50), "*"] for i in range(1000)]))
        connection.execute("CREATE TABLE numbers AS SELECT hash(i) % 1000 AS i FROM range(20_000) AS r (i)")
        connection.execute(f"SET lock_configuration = {locked}")
        policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(15)], suppression_limit=1)
        session.anonymize("numbers", policy, into=path)
        rows = [row[0] for row in connection.execute(f"SELECT i FROM '{path}'").fetchall()]
        assert rows == sorted(rows)
        assert len(rows) > len(set(rows)) > 1
        with pytest.raises(sa.EngineError):
            session.anonymize("numbers", policy, into=tmp_path / "nowhere" / "release.parquet")
        assert connection.execute(asked).fetchall() == [(2, True)]


def test_settings_that_another_session_has_changed_are_left_to_it() -> None:
    with duckdb.connect(config={"threads": 2}) as connection, ExitStack() as first, ExitStack() as second:
        for stack, own in ((first, connection), (second, connection.cursor())):
            stack.enter_context(engine_of(sa.connect(own)).with_settings(threads=1))
        asked = "SELECT current_setting('threads')"
        assert connection.execute(asked).fetchall() == [(1,)]
        for stack in (first, second):
            stack.close()
            assert connection.execute(asked).fetchall() == [(2,)]


def test_rows_of_a_failed_write_leave_settings_as_they_were(tmp_path: Path) -> None:
    asked = "SELECT current_setting('threads'), current_setting('preserve_insertion_order')"
    with duckdb.connect(config={"threads": 2}) as connection:
        session = sa.connect(connection)
        engine = engine_of(session)
        with pytest.raises(sa.EngineError), engine.transaction():
            failing = parse_one("SELECT CAST('x' AS INTEGER) AS i")
            engine.write_parquet(tmp_path / "x.parquet", failing, [], streamed=True)
        assert connection.execute(asked).fetchall() == [(2, True)]
