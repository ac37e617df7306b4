"""The blocks and the links of the README and of the guides.

Every block runs, in order, in one folder, as a reader would run it. The README comes first; a table of your own, which
it does not make, is there. A guide needs what the README made, and nothing of another guide: each runs in a copy of
that folder. A block whose first line names a file is that file.
"""

import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from tests import command_client
from tests.commands import environment, python, server
from tests.conftest import ROOT

README = "README.md"
GUIDES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "sqlanon" / "guides").glob("*.md"))
KIT = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").glob("*.md"))  # none in an sdist
MAPS = ["sqlanon/README.md", "sql/README.md", "tests/README.md"]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (README, *GUIDES, *KIT, *MAPS)}


@dataclass(frozen=True)
class Block:
    marker: str
    language: str
    text: str


def blocks(name: str) -> list[Block]:
    found = re.findall(r"(?:<!-- ([a-z ]+) -->\n)?^```(\w+)\n(.*?)^```$", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    return [Block(*match) for match in found]


FEW_RUNS = '[ "$1" != audit-privacy ] || set -- "$@" --runs 10'
"""An audit makes fewer runs than for a reader: the last option counts."""


def prepare(folder: Path, options: str = "") -> Path:
    """Give a folder a ``sqlanon`` command on its path, which is that of the tests of the command line."""
    command = folder / "bin" / "sqlanon"
    command.parent.mkdir()
    client = f'"{sys.executable}" -S "{command_client.__file__}" "{server()}"'
    app = f'[ "$1" != app ] || exec "{sys.executable}" -m tests.answers "$@" --no-browser'
    command.write_text(f'#!/bin/sh\n{options}\n{app}\nexec {client} "$@"\n')
    command.chmod(0o755)
    duckdb.sql(
        """
        COPY (
            SELECT
                'person' || i || '@example.org' AS email,
                18 + i * i * 7919 % 10007 % 63 AS age,
                ['Bonn', 'Bremen', 'Hamburg'][1 + i * i * i * 31 % 10007 % 3] AS city,
                ['flu', 'asthma', 'gout'][1 + i * i * 613 % 10007 % 3] AS diagnosis
            FROM range(400) AS people (i)
        ) TO '$folder/people.csv'
    """.replace("$folder", str(folder))
    )
    return folder


def run_bash(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    settings = environment(PATH=os.pathsep.join(path), DO_NOT_TRACK="1")
    command = ["bash", "-euo", "pipefail", "-c", text]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def run_sql(text: str, folder: Path) -> None:
    """Run statements from a plain connection in the folder; the ones that ask for problems must find none."""
    with contextlib.chdir(folder), duckdb.connect("clinic.duckdb") as connection:
        for statement in duckdb.extract_statements(text):
            rows = connection.execute(statement).fetchall()
            if "malformed_taxonomies" in statement.query:
                assert rows == []
            elif "unmapped_values" in statement.query:
                assert {row[1:] for row in rows} == {(0, 0)}
            elif re.search(r"anon\.k_anonymity\('\w+_(k5|by_decade)'", statement.query):
                assert rows[0][0] >= 5
            elif "anon.verify" in statement.query:
                assert rows[0][0] is True


def run_blocks(name: str, folder: Path) -> None:
    for block in blocks(name):
        if block.marker:
            continue
        if named := re.match(r"# (\S+\.(?:py|toml|yml))\n", block.text):
            file = folder / named[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text)
            continue
        match block.language:
            case "bash" | "python":
                done = run_bash(block.text, folder) if block.language == "bash" else python(block.text, folder)
                assert done.returncode == 0, done.stdout + done.stderr
            case "sql":
                run_sql(block.text, folder)
            case "toml":
                (folder / "policy.toml").write_text(block.text)
            case language:
                pytest.fail(f"a block in {language} that no test runs")


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them: those of a heading that is there again are numbered."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    slugs = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{slug}-{before}" if (before := slugs[:at].count(slug)) else slug for at, slug in enumerate(slugs)}


def broken_links(name: str, text: str) -> list[str]:
    """The links of a text, those of its HTML too, to a file that there is not, or to a heading that a file has not."""
    targets = re.findall(
        r"""\]\(([^)\s]*)\)|(?:href|src)=["']([^"']*)["']""", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    )
    broken = []
    links = [link for link in map("".join, targets) if "://" not in link and (KIT or not link.startswith(".github/"))]
    for link in links:
        file, _, anchor = link.partition("#")
        target = ((ROOT / name).parent / file if file else ROOT / name).resolve()
        leads_on = link and target.is_relative_to(ROOT) and target.exists()
        if not leads_on or (anchor and anchor not in anchors(text if not file else target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken
