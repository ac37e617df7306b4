"""The tests of rows on a server, against Apache Spark: ``python -m tests.spark``. It needs Java 17 or newer.

A server of the version of the client is installed in a virtual environment of its own: the two do not go together.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import venv
from importlib.metadata import version
from pathlib import Path

from tests.conftest import ROOT

TESTS = "tests/integration/test_spark_rows.py"
SERVER = (
    *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"),
    *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4"),
)
"""What is started, on two threads of this machine."""

PATIENCE = 120
"""Seconds until the server has to listen."""


def main() -> int:
    """Run the tests against a new server, and end as they do."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", f"pyspark=={version('pyspark-client')}"], check=True)
        home = next(Path(folder).glob("lib/python*/site-packages/pyspark"))
        port = _free_port()
        server = subprocess.Popen(
            [home / "bin/spark-submit", *SERVER, "--conf", f"spark.connect.grpc.binding.port={port}", "spark-internal"],
            env={**os.environ, "SPARK_HOME": str(home)},
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port)
            settings = {**os.environ, "SQLANON_SPARK": f"sc://127.0.0.1:{port}"}
            command = [sys.executable, "-m", "pytest", TESTS, *sys.argv[1:]]
            return subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode
        finally:
            server.terminate()
            server.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(1)
    raise SystemExit(f"Apache Spark does not listen after {PATIENCE} seconds: see that java --version is 17 or newer")


if __name__ == "__main__":
    sys.exit(main())
