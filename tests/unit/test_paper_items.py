"""The items of the papers: what they name exists, and ``sqlanon reproduce --list`` and the guide have their rows.

``python -m tests.unit.test_paper_items`` writes the guide's tables anew.
"""

import json
import re
from dataclasses import asdict
from pkgutil import resolve_name

import pytest

from sqlanon import papers
from sqlanon.papers import paper_items as listed
from sqlanon.papers.paper_items import Item, by_paper, markdown_table, paper_items
from sqlanon.queries.kit.macros import macros
from tests.blocks import anchors
from tests.conftest import ROOT
from tests.full.test_guides import FOLDER, GUIDES
from tests.reproductions import run

GUIDE = FOLDER / "papers.md"
TABLE = re.compile(r"^\| item \|.*?\n(?!\|)", re.MULTILINE | re.DOTALL)
MACROS = {macro.qualified for macro in macros().values()}
TESTS = {path.name for path in (ROOT / "tests").rglob("test_*.py")} | {
    path.name for path in (ROOT / "tests").rglob("*.test")
}


def exists(name: str) -> bool:
    """Whether a guide with an anchor, a file of tests, a macro, or a name of Python is there."""
    page, is_guide, anchor = name.partition(".md")
    if is_guide:
        return page in GUIDES and (not anchor or anchor.removeprefix("#") in anchors(GUIDES[page]))
    if name.endswith((".py", ".test")):
        return name in TESTS
    if name.startswith(("anon.", "anon_helpers.")):
        return name in MACROS
    try:
        resolve_name(re.sub(r"^sa\b", "sqlanon", name))
    except AttributeError:
        return False
    return True


def test_what_is_named_exists() -> None:
    missing = [f"{each.item}: {name}" for each in paper_items() for name in each.names if not exists(name)]
    assert missing == []


@pytest.mark.parametrize(
    "name", ["h-ceiling.md#nowhere", "nothing.md", "test_nothing.py", "anon.nothing", "sa.HCeiling.nothing"]
)
def test_a_name_of_nothing_is_found_missing(name: str) -> None:
    assert not exists(name)


def test_each_row_is_whole() -> None:
    for each in paper_items():
        is_picture = re.search(r"Table|Figure", each.item) is not None
        assert each.verdict in listed.MEANINGS or (not each.verdict and not is_picture), each
        assert each.names or each.note or each.verdict == listed.NO_DATA, each
        assert each.note or each.verdict not in (listed.NOT_FOUND, listed.NOT_REPRODUCED), each
        assert bool(each.experiment) <= (each.verdict in (listed.FOUND, listed.IN_SHAPE, listed.NOT_FOUND)), each
    items = [(each.paper, each.item) for each in paper_items()]
    assert len(items) == len(set(items))


NUMBERED = {  # how many of a kind each paper numbers
    "Lee, Kim, Kim and Chung 2017": {"Definition": 3, "Lemma": 1, "Algorithm": 2, "Table": 9, "Figure": 11},
    "Lee and Chung 2020": {"Definition": 3, "Theorem": 9, "Algorithm": 2, "Table": 12, "Figure": 10},
    "Mohammed, Jiang, Chen, Fung and Ohno-Machado 2013": {"Algorithm": 1, "Table": 5, "Figure": 5},
}
THESIS = [
    *("Table 3.1", *(f"Table 6.{number}" for number in range(1, 10))),
    *("Figure 2.1", "Figure 4.1", "Figure 4.2", "Figure 4.3"),
    *(f"Figure 6.{number}" for number in range(1, 5)),
    *("Figure C.1", "Figure C.2"),
]


KIND = r"(Definition|Theorem|Lemma|Algorithm|Table|Figure)s?"
NUMBER = r"C?[\d.]+"


def spelled_out(items: list[Item]) -> set[str]:
    """Items one by one: ``Tables 9 and 10`` are two, ``Figures 1 to 4`` are four, and figures 4A and 4B are one."""
    found = set()
    for each in items:
        for kind, words in re.findall(rf"{KIND} ({NUMBER}(?:(?: and | to ){NUMBER})*)", each.item):
            numbers = re.findall(NUMBER, words)
            if " to " in words:
                numbers = [*map(str, range(int(numbers[0]), int(numbers[1]) + 1))]
            found |= {f"{kind} {number}" for number in numbers}
    return found


def test_nothing_that_a_paper_numbers_is_left_out() -> None:
    found = {paper: spelled_out(items) for paper, items in by_paper()}
    for paper, kinds in NUMBERED.items():
        wanted = {f"{kind} {number}" for kind, count in kinds.items() for number in range(1, count + 1)}
        assert wanted <= found[paper]
    assert {*THESIS} <= found["Mazzone 2019"]
    assert [*found] == [*NUMBERED, "Mazzone 2019"]


def test_experiments_are_those_of_their_papers() -> None:
    assert {each.experiment for each in paper_items()} == {"", *papers.NAMES}
    sources = {name: papers.reproduction(name).source for name in papers.NAMES}
    assert {(each.experiment, each.paper) for each in paper_items() if each.experiment} == {*sources.items()}


def test_the_list_is_printed() -> None:
    shown, document = run("--list"), json.loads(run("--list", "--json").stdout)
    assert shown.exit_code == 0, shown.output
    words = " ".join(re.sub(r"[│┃|]", " ", shown.stdout).split())
    assert all(each.item.split()[0] in words and each.paper in words for each in paper_items())
    assert document["items"] == [{**asdict(each), "names": [*each.names]} for each in paper_items()]
    [ola] = [each for each in document["experiments"] if each["name"] == "ola"]
    assert (ola["paper"], ola["minutes"]) == ("Mazzone 2019", 2)
    assert "Table 6.9" in ola["items"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ola", "--list"], "leave out NAME"),
        (["--list", "--out", "results"], "leave out NAME"),
        (["--list", "--seed", "0"], "leave out NAME"),
        (["ola"], "--out DIR"),
        (["--out", "results"], "NAME"),
        ([], "--list lists the experiments"),
    ],
)
def test_a_list_runs_nothing_and_a_run_has_a_name_and_a_folder(arguments: list[str], words: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert words in " ".join(re.sub(r"[│╭╰─╮╯]", " ", refused.output).split())


def test_the_guide_has_the_same_rows() -> None:
    tables = TABLE.findall(GUIDES["papers"])
    assert tables == [markdown_table(paper) for paper, _ in by_paper()], "python -m tests.unit.test_paper_items"
    assert all(f"| {verdict} | {meaning} |" in GUIDES["papers"] for verdict, meaning in listed.MEANINGS.items())


if __name__ == "__main__":
    tables = iter([markdown_table(paper) for paper, _ in by_paper()])
    GUIDE.write_text(TABLE.sub(lambda _: next(tables), GUIDES["papers"]), encoding="utf-8")
