"""The tests of rows on a server, against Apache Spark: ``python -m tests.spark``. It needs Java 17 or newer.

A server of the version of the client is installed in a virtual environment of its own, since the two do not go
together, or ``SPARK_HOME`` names one that is there. Workers are killed in a cluster of processes of this machine.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from tests.conftest import ROOT
from tests.sail import free_port, is_listening

TESTS = ("tests/full/test_spark_rows.py", "tests/deep/test_spark_workers.py")
SETTINGS = ("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4")
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
WORKERS = 2
MEMORY = "1g"
"""That of each worker."""

PATIENCE = 120
"""Seconds until a server has to listen."""


def main() -> int:
    """Run the tests against a new server, and end as they do."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(os.environ.get("SPARK_HOME") or _installed(Path(folder)))
        with connected(home, "local[2]") as server:
            settings = {**os.environ, "SQLANON_SPARK": server.url, "SPARK_HOME": str(home)}
            command = [sys.executable, "-m", "pytest", *TESTS, *sys.argv[1:]]
            return subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode


def _installed(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", f"pyspark=={version('pyspark-client')}"], check=True)
    return next(folder.glob("lib/python*/site-packages/pyspark"))


@dataclass(frozen=True)
class Program:
    """A part of Spark, with all that it has started.

    Attributes:
        port: where it listens.
        folder: what it writes; removed at its end.
    """

    process: subprocess.Popen[bytes]
    port: int
    folder: str

    @property
    def url(self) -> str:
        return f"sc://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """End it by SIGKILL, as a machine does that loses its power."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def connected(home: Path, master: str, *options: str) -> Iterator[Program]:
    port = free_port()
    options = ("--class", CONNECT, "--master", master, *SETTINGS, *options)
    listens = ("--conf", f"spark.connect.grpc.binding.port={port}", "spark-internal")
    with _started(home, "spark-submit", [*options, *listens], port) as program:
        yield program


@dataclass
class Cluster:
    """A master and its workers on this machine.

    Attributes:
        home: where Spark is.
        master: its address.
        workers: those that run, the oldest first.
    """

    home: Path
    master: str
    workers: list[Program] = field(default_factory=list)

    def start_worker(self) -> None:
        """Have one more worker."""
        port = free_port()
        options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0", "--cores", "1", "--memory", MEMORY]
        command = ["org.apache.spark.deploy.worker.Worker", *options, self.master]
        self.workers.append(_start(self.home, "spark-class", command, port))

    def kill_worker(self) -> None:
        """Kill the oldest worker with its executor, and start another one in its place."""
        self.workers.pop(0).kill()
        self.start_worker()


@contextmanager
def cluster(home: Path) -> Iterator[Cluster]:
    """A cluster with two workers, which are gone at the end."""
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    with _started(home, "spark-class", ["org.apache.spark.deploy.master.Master", *options], port):
        found = Cluster(home, f"spark://127.0.0.1:{port}")
        try:
            for _ in range(WORKERS):
                found.start_worker()
            yield found
        finally:
            for worker in found.workers:
                worker.kill()


@contextmanager
def _started(home: Path, command: str, arguments: Sequence[str], port: int) -> Iterator[Program]:
    program = _start(home, command, arguments, port)
    try:
        yield program
    finally:
        program.kill()


def _start(home: Path, command: str, arguments: Sequence[str], port: int) -> Program:
    folder = tempfile.mkdtemp()
    settings = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    process = subprocess.Popen(
        [home / "bin" / command, *arguments],
        env=settings,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    program = Program(process, port, folder)
    _wait_for(program)
    return program


def _wait_for(program: Program) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and program.process.poll() is None:
        if is_listening(program.port):
            return
        time.sleep(0.5)
    program.kill()
    raise SystemExit(f"Apache Spark does not listen after {PATIENCE} seconds: see that java --version is 17 or newer")


if __name__ == "__main__":
    sys.exit(main())
