"""The guides on the command line: a list, a page, a section, and what becomes of a topic that there is not."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from sqlanon.cli.guide import GENERATED
from tests.commands import on_a_terminal, sqlanon
from tests.conftest import ROOT

FOLDER = ROOT / "sqlanon" / "guides"
GUIDES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md") if path.stem != "README"}
LISTED = re.findall(
    r"^- (?:\[([\w-]+)\]|`sqlanon guide ([\w-]+)`)", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M
)
ORDER = [written or made for written, made in LISTED]


def test_the_list_has_all_pages_in_the_order_of_their_index(tmp_path: Path) -> None:
    done = sqlanon("guide", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [name for name, _ in lines] == ORDER
    assert all(text for _, text in lines)
    assert sorted(ORDER) == sorted([*GUIDES, *GENERATED])
    assert ORDER[0] == "tutorial"
    assert done.stdout.startswith("Begin\n")


def test_the_site_has_the_pages_in_the_same_order() -> None:
    if not (ROOT / ".zensical.toml").exists():
        pytest.skip("an sdist has no site")
    nav = tomllib.loads((ROOT / ".zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    headings = re.findall("^## (.*)$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert nav[0] == "README.md"
    assert [heading for section in nav[1:] for heading in section] == headings
    assert [page.removesuffix(".md") for section in nav[1:] for pages in section.values() for page in pages] == ORDER


def test_pages_are_printed_as_they_are(tmp_path: Path) -> None:
    for name, text in GUIDES.items():
        done = sqlanon("guide", name, folder=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, text, ""), name
    assert sqlanon("guide", "tutorial.md", folder=tmp_path).stdout == GUIDES["tutorial"]


def test_pictures_are_small_and_go_with_the_pages(tmp_path: Path) -> None:
    done = sqlanon("guide", "--into", "pages", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = {name for text in GUIDES.values() for name in re.findall(r"\]\(pictures/([\w.-]+)\)", text)}
    written = {path.name: path.stat().st_size for path in (tmp_path / "pages" / "pictures").iterdir()}
    assert shown == written.keys() and max(written.values()) <= 60_000


def section(heading: str) -> str:
    """The text from a heading to the next of its level, cut by hand out of the one page that has it."""
    [page] = [text for text in GUIDES.values() if f"\n{heading}" in text]
    level = heading.partition(" ")[0]
    return heading + page.partition(f"\n{heading}")[2].split(f"\n{level} ")[0]


@pytest.mark.parametrize(
    ("topic", "heading"),
    [
        (["Impossible", "combinations"], "## Impossible combinations"),
        (["events"], "## Events"),
        (["hipaa"], "## HIPAA"),
        (["publishing.md#pseudonyms"], "## Pseudonyms"),
        (["diffgen-labels-that-predict"], "## DiffGen: labels that predict"),
        (["diffgen"], "## DiffGen: labels that predict"),
        (["budget"], "## The budget"),
    ],
)
def test_a_section_is_found_by_its_heading(topic: list[str], heading: str, tmp_path: Path) -> None:
    done = sqlanon("guide", *topic, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == section(heading).strip()
    assert "sqlanon guide " in done.stderr


@pytest.mark.parametrize(
    ("topic", "page"),
    [(["choose", "k"], "choose-k"), (["Local", "Recoding"], "local-recoding"), (["t-closeness"], "l-diversity")],
)
def test_a_page_is_found_by_its_heading(topic: list[str], page: str, tmp_path: Path) -> None:
    done = sqlanon("guide", *topic, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, GUIDES[page], "")


def test_an_unknown_topic_is_an_error_with_near_names_and_the_list(tmp_path: Path) -> None:
    done = sqlanon("guide", "tutorail", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean tutorial" in done.stderr
    assert ", ".join(ORDER) in done.stderr
    assert "did you mean" not in sqlanon("guide", "xyzzy", folder=tmp_path).stderr


NAMED = {
    topic
    for path in (ROOT / "sqlanon").rglob("*.py")
    for topic in re.findall(
        r'(?:\bguide|GUIDE) = "([^"]+)"|with_guide\("([^"]+)"\)|sqlanon guide ([a-z0-9-]+)',
        path.read_text(encoding="utf-8"),
    )
    for topic in filter(None, topic)
}


def test_topics_that_are_named_are_found_as_they_are(tmp_path: Path) -> None:
    assert {"policy", "taxonomies", "the-budget", "pseudonyms", "partition-after-partition"} <= NAMED
    for topic in NAMED - {"exit"}:  # sqlanon guide exit codes
        done = sqlanon("guide", topic, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        heading = re.sub(r"[^a-z]+", "-", done.stdout.splitlines()[0].lower()).strip("-")
        assert topic == heading or topic in ORDER


K = 'quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = %d }]\n'
ADVICE = {
    "run": (K % 9, 3, "What to do about it: sqlanon guide when-no-node-meets-the-policy"),
    "run with pseudonyms": (f'pseudonyms = ["id"]\n{K % 2}', 2, "What to do about it: sqlanon guide pseudonyms"),
    "verify": (K % 2, 3, "What is compared: sqlanon guide what-verify-compares"),
}


@pytest.mark.parametrize("what", ADVICE)
def test_an_error_names_its_guide(what: str, tmp_path: Path) -> None:
    policy, code, advice = ADVICE[what]
    (tmp_path / "people.csv").write_text("age,id\n1,1\n1,2\n" if "pseudonyms" in what else "age\n1\n2\n")
    (tmp_path / "policy.toml").write_text(f'{policy}[taxonomies]\nage = "flat"\n')
    into = ["--into", "out.csv"] * what.startswith("run")
    done = sqlanon(what.split()[0], "people.csv", "--policy", "policy.toml", *into, folder=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, advice)


def test_a_terminal_shows_a_page_laid_out(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sqlanon", "guide", "limitations"]
    text = on_a_terminal(command, tmp_path, "stdout", COLUMNS="80")
    assert "Limitations" in text
    assert "](" not in text
    assert "differential-privacy.md" in text
    assert "•" in text
