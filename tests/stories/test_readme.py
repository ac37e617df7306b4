"""The README: its blocks run, its links lead somewhere, and the reference has what it names."""

from pathlib import Path

import pytest

from sqlanon.model.taxonomy.rules import RULES
from tests.blocks import README, TEXTS, blocks, broken_links, prepare, run_blocks

REFERENCE = TEXTS["sqlanon/guides/reference.md"]


def test_its_blocks_run(tmp_path: Path) -> None:
    run_blocks(README, prepare(tmp_path))
    assert (tmp_path / "visits_k5.parquet").exists()


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


def test_the_reference_names_every_kind_of_taxonomy_and_its_settings() -> None:
    table = REFERENCE.partition("### Taxonomies")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    for kind, rule in RULES.items():
        [line] = [line for line in lines if f"`{kind}`" in line.split("|")[1]]
        assert [name for name in rule.model_fields if name != "kind" and name not in line] == [], kind
