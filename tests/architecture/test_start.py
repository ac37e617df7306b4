"""What is imported: nothing that the command, the session or the verb doesn't use."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMAND = """
sys.argv = ["sqlanon", *"{}".split()]
try:
    sqlanon.cli.main()
except SystemExit as ended:
    assert not ended.code
"""
TAXONOMIES = """
session = sqlanon.connect()
session.taxonomies.load_all({
    "age": sqlanon.Taxonomy.intervals([5], minimum=0, maximum=9),
    "sex": sqlanon.Taxonomy.from_rows([("f", "*"), ("m", "*")]),
})
"""
RUN = """
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
FILES = f"""
from pathlib import Path
Path("people.csv").write_text("age\\n1\\n1\\n2\\n2\\n")
Path("age.csv").write_text("1;*\\n2;*\\n")
Path("policy.toml").write_text({POLICY!r})
"""
COMMAND_RUN = "run people.csv --policy policy.toml --taxonomy age=age.csv --into out.parquet --json"
NOISE = """
import sqlanon
from sqlanon.chance.accountant import Charge

charge = Charge("counts", sqlanon.Budget("1"), None)
source = sqlanon.OpenDPSource()
source.discrete_laplace(3, charge)
"""

FRAMES = {"pandas", "polars", "pyarrow"}
TERMINAL = {"rich", "typer", "click"}

SHOWN = """
print("IMPORTED", json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
CHAINS = {
    "commands": [
        (
            "import sqlanon.cli" + COMMAND.format("--version"),
            {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL},
        ),
        (COMMAND.format("guide exit codes"), {"duckdb", "sqlglot", "numpy", "rich.markdown", *FRAMES}),
        (FILES + COMMAND.format(COMMAND_RUN), {*FRAMES, "sqlanon.methods.noisy_node.shared", "sqlanon.evaluation"}),
    ],
    "help": [("import sqlanon.cli" + COMMAND.format("--help"), {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES})],
    "sessions": [
        ("import sqlanon\n", {"duckdb", "sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL}),
        ("sqlanon.connect().close()\n", {"sqlglot", "pydantic", "numpy", *FRAMES, *TERMINAL}),
        ("for _ in range(2): sqlanon.connect('w.duckdb').close()\n", {"pydantic", "numpy", *FRAMES, *TERMINAL}),
        (TAXONOMIES, {"numpy", "sqlanon.methods.base", "sqlanon.search", *FRAMES, *TERMINAL}),
        (
            RUN,
            {
                *FRAMES,
                *TERMINAL,
                "sqlglot.optimizer.annotate_types",
                "sqlanon.evaluation",
                "sqlanon.partitions",
                "sqlanon.ledger",
                "sqlanon.methods.noisy_node.shared",
                "sqlanon.methods.private",
                "sqlanon.methods.full_domain.relaxation",
                "sqlanon.run.explain",
                "sqlanon.run.lattice_table",
            },
        ),
    ],
    "noise": [(NOISE, {"sklearn", "scipy", "duckdb", "sqlglot", *FRAMES, *TERMINAL})],
}
"""What one process does, one thing after the other, and what it has not imported after each."""

BINDS_BY_PANDAS = version("duckdb").startswith("1.")
"""DuckDB 1.5 imports pandas, and that numpy and pyarrow, when it is given the first value to bind."""
BINDING = [TAXONOMIES, RUN, CHAINS["commands"][-1][0]]


@pytest.mark.parametrize("chain", CHAINS)
def test_nothing_is_imported_that_is_not_used(chain: str, tmp_path: Path) -> None:
    program = "".join(["import json, sys\n", *(text + SHOWN for text, _ in CHAINS[chain])])
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    shown = [line.removeprefix("IMPORTED") for line in ran.stderr.splitlines() if line.startswith("IMPORTED")]
    for (text, unused), names in zip(CHAINS[chain], shown, strict=True):
        allowed = {*FRAMES, "numpy"} if BINDS_BY_PANDAS and text in BINDING else set()
        assert set(json.loads(names)) & unused <= allowed, text
