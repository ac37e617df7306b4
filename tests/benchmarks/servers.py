"""Rows on a server: what a run takes beside the statements that a release needs, sent by hand over the same client.

    python -m tests.benchmarks.servers [--rows 2000000 20000000] [--columns 5] [--repeats 3] [--max-cells N]

Makes lakes of invented people as :mod:`tests.benchmarks.lakes` does, and has Sail read them. Prints for each the
seconds of a run, as ratios of those of the cells, the written rows and the measures alone, and of all statements that
the run has sent; how many rows came to the client, and how much memory it had; and the same by DuckDB alone, whose
release has to have the same rows. With fewer ``--max-cells`` than a lake has, its cells stay on the server. Ratios of
CPU, of the server and the client together, say more than those of seconds on a machine that others use.
"""

import argparse
import os
import resource
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa

import sqlanon as sa
from sqlanon.spark import spark_rows
from sqlanon.spark.spark_rows import MAX_CELLS, SparkRows
from sqlanon.spark.spark_values import sendable
from tests.benchmarks.lakes import COLUMNS, blow_up, load_taxonomies
from tests.benchmarks.processes import in_own_process, peak_bytes, say, seconds
from tests.engines import server_of
from tests.sail import sail

NEAR, FAR = "released_here", "released_there"
"""The folders of the releases."""

NEEDED = ("source", "cells", "kept classes", "equal rows", "write the release", "measure")
"""What the purposes of the statements begin with that a release needs."""


@dataclass
class Sent:
    """A statement of a run, with the small relations that it reads.

    Attributes:
        view: what its rows are called there, if they stay.
        received: how many rows of it came to the client.
    """

    purpose: str
    text: str
    small: Mapping[str, pa.Table]
    view: str = ""
    received: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 20_000_000])
    parser.add_argument("--columns", type=int, default=5, help="how many quasi-identifiers there are")
    parser.add_argument("--insensitive", type=int, default=0, help="how many columns are released as they are besides")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--max-cells", type=int, default=MAX_CELLS, help="how many rows of a count come near at most")
    parser.add_argument("--folder", help="where the data is made and kept")
    asked = parser.parse_args()
    say(
        "| rows | run | of what is needed | in CPU | of all that is sent | statements | rows received "
        f"| cells, classes | client: memory, CPU | DuckDB alone |\n|{' --- |' * 10}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        for rows in asked.rows:
            say(measured(argparse.Namespace(**{**vars(asked), "folder": asked.folder or temporary, "rows": rows})))


def measured(asked: argparse.Namespace) -> str:
    """A row of the table, for one size, on a new server and by new clients."""
    if not source_of(asked).exists():
        blow_up(source_of(asked), asked.rows, columns_of(asked), adult=False)
    found = in_own_process(on_duckdb, vars(asked))
    with sail() as server:
        found |= in_own_process(on_server, vars(asked), server.url, server.process.pid)
    if not same_rows(asked):
        raise SystemExit(f"the releases of {asked.rows:,} rows differ")
    needed, needed_cpu, sent = found["needed"], found["needed_cpu"], found["sent"]
    return (
        f"| {asked.rows:,} | {found['run']:.1f} s | {found['run'] / needed:.2f} x {needed:.1f} s "
        f"| {found['run_cpu'] / needed_cpu:.2f} x {needed_cpu:.1f} s | {found['run'] / sent:.2f} x {sent:.1f} s "
        f"| {found['statements']} | {found['received']:,} | {found['cells']:,}, {found['classes']:,} "
        f"| {found['peak_bytes'] / 2**20:,.0f} MiB, {found['client_cpu']:.1f} s "
        f"| {found['duckdb']:.1f} s, CPU {found['duckdb_cpu']:.1f} s |"
    )


def same_rows(asked: argparse.Namespace) -> bool:
    """Whether the server has released the rows that DuckDB has, each as often."""
    names = [f"{name}::VARCHAR" for name in columns_of(asked)]
    near, far = (
        duckdb.read_parquet(f"{asked.folder}/{home}/*.parquet").aggregate(", ".join([*names, "count(*)"]))
        for home in (NEAR, FAR)
    )
    return not near.except_(far).limit(1).fetchall() and not far.except_(near).limit(1).fetchall()


def columns_of(asked: argparse.Namespace) -> list[str]:
    return COLUMNS[: asked.columns + asked.insensitive]


def source_of(asked: argparse.Namespace) -> Path:
    return Path(asked.folder, f"people_{len(columns_of(asked))}_{asked.rows}.parquet")


# The runs


def on_duckdb(options: dict[str, Any]) -> dict[str, Any]:
    asked = argparse.Namespace(**options)
    with sa.connect() as session:
        load_taxonomies(session, COLUMNS[: asked.columns], adult=False)
        before = cpu_here()
        took = seconds(lambda: release(asked, session, NEAR))
        return {"duckdb": took, "duckdb_cpu": cpu_here() - before}


def on_server(options: dict[str, Any], url: str, pid: int) -> dict[str, Any]:
    """Runs on the server, and by hand what they have sent, in turn: medians of seconds, and what came to the client."""
    asked = argparse.Namespace(**options)
    runs, needed, everything, clients, peak = [], [], [], [], 0
    for _ in range(asked.repeats):
        with sa.connect(rows=url, max_cells=asked.max_cells) as session, recording() as sent:
            load_taxonomies(session, COLUMNS[: asked.columns], adult=False)
            server_of(session).spark.sql("SELECT 1").toArrow()
            before = cpu_here()
            runs.append(taken(pid, lambda session=session: release(asked, session, FAR)))
            clients.append(cpu_here() - before)
            peak = peak or peak_bytes()
        wanted = [each for each in sent if each.purpose.startswith(NEEDED)]
        needed.append(by_hand(asked, url, pid, wanted))
        everything.append(by_hand(asked, url, pid, sent))
    (run, run_cpu), (needs, needed_cpu), (whole, _) = (
        [statistics.median(each) for each in zip(*found, strict=True)] for found in (runs, needed, everything)
    )
    return {
        "run": run,
        "needed": needs,
        "sent": whole,
        "run_cpu": run_cpu,
        "needed_cpu": needed_cpu,
        "client_cpu": statistics.median(clients),
        "peak_bytes": peak,
        "statements": len(sent) - 1,
        "received": sum(each.received for each in sent),
        "cells": max(each.received for each in sent if each.purpose == "cells"),
        "classes": next(each.received for each in sent if each.purpose == "measure the risks"),
    }


def release(asked: argparse.Namespace, session: sa.Session, home: str) -> None:
    policy = sa.Policy(
        quasi_identifiers=COLUMNS[: asked.columns],
        insensitive=columns_of(asked)[asked.columns :],
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=0.05,
    )
    session.anonymize(source_of(asked), policy, f"{asked.folder}/{home}/", replace=True)


@contextmanager
def recording() -> Iterator[list[Sent]]:
    found: list[Sent] = []
    scan, count, make, write = SparkRows.scan, SparkRows.count, SparkRows.make, SparkRows.write

    def noted(rows: SparkRows, query: Any, small: Any, purpose: str) -> Sent:
        found.append(Sent(purpose, spark_rows.sent(query, rows.views, small).text, small))
        return found[-1]

    def scanned(rows: SparkRows, source: str) -> Any:
        resolved = scan(rows, source)
        if resolved is not None:
            view = rows.views[resolved.relation.catalog, resolved.relation.name].name
            found.append(Sent("source", source, {}, view))
        return resolved

    def counted(rows: SparkRows, query: Any, small: Any, purpose: str) -> pa.Table | None:
        sent = noted(rows, query, small, purpose)
        table = count(rows, query, small, purpose)
        sent.received = 0 if table is None else table.num_rows
        return table

    def made(rows: SparkRows, relation: Any, query: Any, small: Any, purpose: str) -> None:
        sent = noted(rows, query, small, purpose)
        make(rows, relation, query, small, purpose)
        sent.view = rows.views[relation.table.catalog, relation.name].name

    def written(rows: SparkRows, query: Any, small: Any, staged: Any) -> Any:
        sent = noted(rows, query, small, "write the release")
        relation = write(rows, query, small, staged)
        sent.view = rows.views[relation.catalog, relation.name].name
        return relation

    with mock.patch.multiple(SparkRows, scan=scanned, count=counted, make=made, write=written):
        yield found


def by_hand(asked: argparse.Namespace, url: str, pid: int, statements: Sequence[Sent]) -> tuple[float, float]:
    """What statements take that are sent by nothing but the client of Spark Connect."""
    from pyspark.sql.connect.session import SparkSession

    target = f"{asked.folder}/by_hand"
    spark: Any = SparkSession.builder.remote(url).create()
    spark.sql("SELECT 1").toArrow()

    def ask(statement: Sent) -> None:
        for name, table in statement.small.items():
            spark.createDataFrame(sendable(table)).createOrReplaceTempView(name)
        is_source = statement.purpose == "source"
        frame = spark.read.parquet(statement.text) if is_source else spark.sql(statement.text)
        if statement.purpose == "write the release":
            frame.sort(*frame.columns).write.option("compression", "zstd").parquet(target)
            frame = spark.read.parquet(target)
        if statement.view:
            frame.createOrReplaceTempView(statement.view)
        else:
            frame.toArrow()

    try:
        return taken(pid, lambda: [ask(statement) for statement in statements])
    finally:
        spark.stop()
        shutil.rmtree(target, ignore_errors=True)


def taken(pid: int, work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall time, and of CPU of this process and another one."""
    before = cpu_here() + cpu_of(pid)
    return seconds(work), cpu_here() + cpu_of(pid) - before


def cpu_here() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
