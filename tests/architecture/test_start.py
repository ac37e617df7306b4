"""What is imported: nothing that the command, the session or the verb doesn't use."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMAND = """
import sys, sqlanon.cli
sys.argv = ["sqlanon", *"{}".split()]
try:
    sqlanon.cli.main()
except SystemExit:
    pass
"""
SESSION = """
import sqlanon
session = sqlanon.connect({})
"""
TAXONOMIES = f"""
{SESSION.format("")}
session.taxonomies.load_all({{
    "age": sqlanon.Taxonomy.intervals([5], minimum=0, maximum=9),
    "sex": sqlanon.Taxonomy.from_rows([("f", "*"), ("m", "*")]),
}})
"""
RUN = f"""
{TAXONOMIES}
people = "SELECT range % 10 AS age, CASE WHEN range % 2 = 0 THEN 'f' ELSE 'm' END AS sex FROM range(200)"
policy = sqlanon.Policy(quasi_identifiers=["age", "sex"], privacy=[sqlanon.KAnonymity(30)])
session.anonymize(people, policy, "release.parquet")
"""
POLICY = """
quasi_identifiers = ["age"]
[[privacy]]
model = "k-anonymity"
k = 2
"""
COMMAND_RUN = f"""
import sys, sqlanon.cli
from pathlib import Path
Path("people.csv").write_text("age\\n1\\n1\\n2\\n2\\n")
Path("age.csv").write_text("1;*\\n2;*\\n")
Path("policy.toml").write_text({POLICY!r})
sys.argv = "sqlanon run people.csv --policy policy.toml --taxonomy age=age.csv --into out.parquet --json".split()
try:
    sqlanon.cli.main()
except SystemExit as ended:
    assert not ended.code
assert Path("out.parquet").exists()
"""
NOISE = """
import sqlanon
from sqlanon.mechanisms.accountant import Charge

charge = Charge("counts", sqlanon.Budget("1"), None)
source = sqlanon.OpenDPSource()
source.discrete_laplace(3, charge)
"""

FRAMES = {"pandas", "polars", "pyarrow"}
TERMINAL = {"rich", "typer", "click"}

STARTS = {
    "version": (COMMAND.format("--version"), {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL}),
    "help": (COMMAND.format("--help"), {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES}),
    "guide": (COMMAND.format("guide exit codes"), {"duckdb", "sqlglot", "numpy", "rich.markdown", *FRAMES}),
    "import": ("import sqlanon\n", {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL}),
    "connect": (SESSION.format(""), {"sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL}),
    "connect to a file": (
        SESSION.format("'w.duckdb'") + "session.close()\n" + SESSION.format("'w.duckdb'"),
        {"pydantic", "numpy", *FRAMES, *TERMINAL},
    ),
    "noise": (NOISE, {"sklearn", "scipy", "duckdb", "sqlglot", *FRAMES, *TERMINAL}),
    "taxonomies": (TAXONOMIES, {"numpy", "sqlanon.methods.base", "sqlanon.search", *FRAMES, *TERMINAL}),
    "command run": (COMMAND_RUN, {*FRAMES, "sqlanon.methods.noisy_node", "sqlanon.evaluation"}),
    "run": (
        RUN,
        {
            *FRAMES,
            *TERMINAL,
            "sqlglot.optimizer.annotate_types",
            "sqlanon.evaluation",
            "sqlanon.partitions",
            "sqlanon.ledger",
            "sqlanon.methods.noisy_node",
            "sqlanon.methods.shared.private",
            "sqlanon.methods.full_domain.relaxation",
            "sqlanon.run.explain",
            "sqlanon.run.lattice",
        },
    ),
}

BINDS_BY_PANDAS = version("duckdb").startswith("1.")
"""DuckDB 1.5 imports pandas, and that numpy and pyarrow, when it is given the first value to bind."""


@pytest.mark.parametrize("what", STARTS)
def test_nothing_is_imported_that_is_not_used(what: str, tmp_path: Path) -> None:
    program, unused = STARTS[what]
    if BINDS_BY_PANDAS and what in ("taxonomies", "run", "command run"):
        unused = unused - FRAMES - {"numpy"}
    names = "import json, sys\nprint(json.dumps(sorted(sys.modules)))\n"
    ran = subprocess.run([sys.executable, "-c", program + names], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert set(json.loads(ran.stdout.splitlines()[-1])) & unused == set()
