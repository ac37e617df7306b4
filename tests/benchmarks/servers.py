"""Rows on a server: what a run takes beside the statements that a release needs, sent by hand over the same client.

    python -m tests.benchmarks.servers [--rows 2000000 20000000] [--columns 5] [--repeats 3] [--max-cells N]

Makes lakes of invented people as :mod:`tests.benchmarks.lakes` does, and has Sail read them. Prints for each the
seconds of a run, as ratios of those of the cells, the written rows and the measures alone, and of all statements that
the run has sent; how many rows came to the client, and how much memory it had; and the same by DuckDB alone, whose
release has to have the same rows. With fewer ``--max-cells`` than a lake has, its cells stay on the server. Ratios of
CPU, of the server and the client together, say more than those of seconds on a machine that others use.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
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
from tests.benchmarks.processes import peak_bytes, seconds
from tests.engines import server_of
from tests.sail import sail

REPEATS = 3
NEAR, FAR = "released_here", "released_there"
"""The folders of the releases."""

NEEDED = ("source", "cells", "kept classes", "equal rows", "write the release", "measure")
"""What the purposes of the statements begin with that a release needs."""


@dataclass(frozen=True)
class Figures:
    """What was measured of one lake; seconds of wall time unless they are of CPU, medians of some runs.

    Attributes:
        run: a run in a session that is open.
        needed, sent: the statements that a release needs, and all that the run has sent, by hand.
        run_cpu, needed_cpu: seconds of CPU of server and client together.
        statements: how many it has sent.
        received: how many rows came to the client.
        cells, classes: how many there are in the source, and in the release.
        peak_bytes: the most memory of the client.
        client_cpu: seconds of CPU of the client alone, in a run.
        duckdb, duckdb_cpu: of a run of DuckDB alone.
    """

    rows: int
    run: float
    needed: float
    sent: float
    run_cpu: float
    needed_cpu: float
    statements: int
    received: int
    cells: int
    classes: int
    peak_bytes: int
    client_cpu: float
    duckdb: float
    duckdb_cpu: float


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
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--max-cells", type=int, default=MAX_CELLS, help="how many rows of a count come near at most")
    parser.add_argument("--folder", type=Path, help="where the data is made and kept")
    parser.add_argument("--child", nargs=2, metavar=("URL", "PID"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        sys.stdout.write(json.dumps(on_server(arguments) if arguments.child[0] else on_duckdb(arguments)) + "\n")
        return
    with tempfile.TemporaryDirectory() as temporary:
        arguments.folder = arguments.folder or Path(temporary)
        show([measured(arguments, rows) for rows in arguments.rows])


def measured(arguments: argparse.Namespace, rows: int) -> Figures:
    """The figures of one size, on a new server and by new clients."""
    source = source_of(arguments, rows)
    if not source.exists():
        blow_up(source, rows, columns_of(arguments), adult=False)
    found = in_own_process(arguments, rows, "", "0")
    with sail() as server:
        found |= in_own_process(arguments, rows, server.url, str(server.process.pid))
    if not same_rows(arguments):
        raise SystemExit(f"the releases of {rows:,} rows differ")
    return Figures(rows=rows, **found)


def same_rows(arguments: argparse.Namespace) -> bool:
    """Whether the server has released the rows that DuckDB has, each as often."""
    names = [f"{name}::VARCHAR" for name in columns_of(arguments)]
    near, far = (
        duckdb.read_parquet(f"{arguments.folder}/{home}/*.parquet").aggregate(", ".join([*names, "count(*)"]))
        for home in (NEAR, FAR)
    )
    return not near.except_(far).limit(1).fetchall() and not far.except_(near).limit(1).fetchall()


def in_own_process(arguments: argparse.Namespace, rows: int, *child: str) -> dict[str, Any]:
    """What a client measures whose memory is its own."""
    options = ["--rows", str(rows), "--columns", str(arguments.columns), "--repeats", str(arguments.repeats)]
    options += ["--insensitive", str(arguments.insensitive), "--max-cells", str(arguments.max_cells)]
    options += ["--folder", str(arguments.folder), "--child", *child]
    command = [sys.executable, "-m", "tests.benchmarks.servers", *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def columns_of(arguments: argparse.Namespace) -> list[str]:
    return COLUMNS[: arguments.columns + arguments.insensitive]


def source_of(arguments: argparse.Namespace, rows: int) -> Path:
    found: Path = arguments.folder / f"people_{len(columns_of(arguments))}_{rows}.parquet"
    return found


# The runs


def on_duckdb(arguments: argparse.Namespace) -> dict[str, Any]:
    with sa.connect() as session:
        load_taxonomies(session, COLUMNS[: arguments.columns], adult=False)
        before = cpu_here()
        took = seconds(lambda: release(arguments, session, NEAR))
        return {"duckdb": took, "duckdb_cpu": cpu_here() - before}


def on_server(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs on the server, and by hand what they have sent, in turn."""
    url, pid = arguments.child[0], int(arguments.child[1])
    runs, needed, everything, clients, peak = [], [], [], [], 0
    for _ in range(arguments.repeats):
        with sa.connect(rows=url, max_cells=arguments.max_cells) as session, recording() as sent:
            load_taxonomies(session, COLUMNS[: arguments.columns], adult=False)
            server_of(session).spark.sql("SELECT 1").toArrow()
            before = cpu_here()
            runs.append(taken(pid, lambda session=session: release(arguments, session, FAR)))
            clients.append(cpu_here() - before)
            peak = peak or peak_bytes()
        wanted = [each for each in sent if each.purpose.startswith(NEEDED)]
        needed.append(by_hand(arguments, url, pid, wanted))
        everything.append(by_hand(arguments, url, pid, sent))
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


def release(arguments: argparse.Namespace, session: sa.Session, home: str) -> None:
    policy = sa.Policy(
        quasi_identifiers=COLUMNS[: arguments.columns],
        insensitive=columns_of(arguments)[arguments.columns :],
        privacy=[sa.KAnonymity(5)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=0.05,
    )
    source = source_of(arguments, arguments.rows[0])
    session.anonymize(str(source), policy, f"{arguments.folder}/{home}/", replace=True)


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


def by_hand(arguments: argparse.Namespace, url: str, pid: int, statements: Sequence[Sent]) -> tuple[float, float]:
    """What statements take that are sent by nothing but the client of Spark Connect."""
    from pyspark.sql.connect.session import SparkSession

    target = f"{arguments.folder}/by_hand"
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


# The table


def show(found: Sequence[Figures]) -> None:
    sys.stdout.write(
        "| rows | run | of what is needed | in CPU | of all that is sent | statements | rows received "
        "| cells, classes | client: memory, CPU | DuckDB alone |\n"
        f"|{' --- |' * 10}\n"
    )
    for each in found:
        sys.stdout.write(
            f"| {each.rows:,} | {each.run:.1f} s | {each.run / each.needed:.2f} x {each.needed:.1f} s "
            f"| {each.run_cpu / each.needed_cpu:.2f} x {each.needed_cpu:.1f} s "
            f"| {each.run / each.sent:.2f} x {each.sent:.1f} s | {each.statements} | {each.received:,} "
            f"| {each.cells:,}, {each.classes:,} | {each.peak_bytes / 2**20:,.0f} MiB, {each.client_cpu:.1f} s "
            f"| {each.duckdb:.1f} s, CPU {each.duckdb_cpu:.1f} s |\n"
        )


if __name__ == "__main__":
    main()
