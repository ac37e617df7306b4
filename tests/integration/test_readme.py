"""Every block of the README and of the guides runs, in order, in one folder, as a reader would run them.

The README comes first; a table of your own, which it does not make, is there. A guide needs what the README made, and
nothing of another guide: each runs in a copy of that folder. A block whose first line names
a file is that file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from sqlanon.model.taxonomy.rules import RULES
from tests import command_client
from tests.commands import DBT, environment, python, server
from tests.conftest import ROOT

README = "README.md"
GUIDES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "sqlanon" / "guides").glob("*.md"))
KIT = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").glob("*.md"))  # none in an sdist
MAPS = ["sqlanon/README.md", "sql/README.md", "tests/README.md"]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (README, *GUIDES, *KIT, *MAPS)}
REFERENCE = TEXTS["sqlanon/guides/reference.md"]


@dataclass(frozen=True)
class Block:
    """A fenced block: the comment above it, its language and its text."""

    marker: str
    language: str
    text: str


def blocks(name: str) -> list[Block]:
    found = re.findall(r"(?:<!-- ([a-z ]+) -->\n)?^```(\w+)\n(.*?)^```$", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    return [Block(*match) for match in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ``sqlanon`` command on its path, which is that of the tests of the command line."""
    folder = tmp_path_factory.mktemp("readme")
    command = folder / "bin" / "sqlanon"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{command_client.__file__}" "{server()}" "$@"\n')
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
    """Run statements from a plain connection; the ones that ask for problems must find none."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for statement in duckdb.extract_statements(text):
            rows = connection.execute(statement).fetchall()
            if "malformed_taxonomies" in statement.query:
                assert rows == []
            elif "unmapped_values" in statement.query:
                assert {row[1:] for row in rows} == {(0, 0)}
            elif "k_anonymity('visits_by_decade'" in statement.query:
                assert rows[0][0] >= 5


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


@pytest.fixture(scope="module")
def after_the_readme(folder: Path) -> Path:
    """The folder with what the README makes."""
    run_blocks(README, folder)
    return folder


def test_the_blocks_of_the_readme_run(after_the_readme: Path) -> None:
    assert (after_the_readme / "visits_k5.parquet").exists()


@pytest.mark.one_line
@pytest.mark.parametrize("guide", GUIDES)
def test_the_blocks_of_a_guide_run(guide: str, after_the_readme: Path, tmp_path: Path) -> None:
    if guide == "sqlanon/guides/dbt.md" and not DBT.exists():
        pytest.skip("dbt is not installed here: pip install -e '.[dbt]'")
    if guide == "sqlanon/guides/spark.md":
        pytest.importorskip("pysail")
    copy = shutil.copytree(after_the_readme, tmp_path / "folder")
    run_blocks(guide, copy)


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


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_headings(name: str) -> None:
    assert broken_links(name, TEXTS[name]) == []


@pytest.mark.parametrize(
    "link",
    [
        "[x](nowhere.md)",
        "[x](#nowhere)",
        "[x](sqlanon/guides/reference.md#nowhere)",
        "[x](#a-heading-2)",
        "[x]()",
        '<img src="x.png">',
        "[x](/etc/hosts)",
    ],
)
def test_a_broken_link_is_found(link: str) -> None:
    headings = (
        "# A heading\n\n# A heading\n\n[x](#a-heading) [x](#a-heading-1) [x](sqlanon/guides/reference.md#policies)"
    )
    assert broken_links(README, headings) == []
    assert len(broken_links(README, f"{headings}\n{link}")) == 1


def test_the_readme_leads_with_the_two_commands() -> None:
    assert [block.marker for block in blocks(README)[:2]] == ["demo command", "test command"]


@pytest.mark.deep
def test_the_demo_command_works_from_a_fresh_copy(tmp_path: Path) -> None:
    """Installs the built wheel into a fresh virtual environment: what a new user gets. Needs the package index."""
    if os.environ.get("SQLANON_OFFLINE"):
        pytest.skip("SQLANON_OFFLINE is set")
    copy = tmp_path / "sqlanon"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "sqlanon", "sql"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(copy)], check=True)
    command = next(block.text for block in blocks(README) if block.marker == "demo command")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "visits_k5" in done.stdout


def test_the_reference_names_every_kind_of_taxonomy_and_its_settings() -> None:
    table = REFERENCE.partition("### Taxonomies")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    for kind, rule in RULES.items():
        [line] = [line for line in lines if f"`{kind}`" in line.split("|")[1]]
        assert [name for name in rule.model_fields if name != "kind" and name not in line] == [], kind
