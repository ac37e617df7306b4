"""The reference pages of the installed version: all is there and described, from docstrings that are taken apart."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import sqlanon as sa
from sqlanon.api.partitions import Partitions
from sqlanon.api.session_ledger import Ledger
from sqlanon.api.session_taxonomies import Taxonomies
from sqlanon.cli.app import app
from sqlanon.cli.guide import GENERATED, generated
from sqlanon.cli.output import ExitCode
from sqlanon.model.docstrings import docstring_of
from sqlanon.model.policy_value import KINDS, PolicyValue
from sqlanon.model.taxonomy.rules import MAKERS, RULES
from sqlanon.queries.kit.macros import macros
from tests.blocks import anchors
from tests.commands import sqlanon
from tests.full.test_guides import GUIDES, ORDER

PAGES = {name: generated(name) for name in GENERATED}


def sections(page: str) -> dict[str, str]:
    """The text below each heading, to the next heading of any level."""
    parts = re.split(r"^#+ (.*)\n", PAGES[page], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def bullets(text: str) -> dict[str, str]:
    """What is said of each name in a list: of all that share a line, the same."""
    found = {}
    for names, said in re.findall(r"^- ((?:`[^`]+`(?:, )?)+)(?: \(.*?\))?: ?(.*)$", text, flags=re.MULTILINE):
        found |= dict.fromkeys(re.findall(r"`([^`]+)`", names), said)
    return found


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_described(command: str) -> None:
    shown = sections("commands")
    described = bullets(shown[command]) | bullets(shown["Options for the machine"])
    for parameter in COMMANDS[command].params:
        spelled = (
            parameter.opts if parameter.param_type_name == "option" else [parameter.metavar or parameter.name.upper()]
        )
        said = [text for names, text in described.items() if set(spelled) <= set(names.split())]
        assert said, parameter.name
        assert parameter.help.strip() and all(parameter.help in text for text in said[:1]), parameter.name
    assert f"sqlanon {command}" in shown[command]


def test_every_exit_code_is_described() -> None:
    assert bullets(sections("commands")["Exit codes"]) == {str(int(code)): f"{code.meaning}." for code in ExitCode}


def test_every_key_of_a_policy_is_described() -> None:
    shown = sections("policy")
    assert set(bullets(shown["Keys"])) == set(sa.Policy.arguments())
    for kind in (kind for kinds in KINDS.values() for kind in kinds.values()):
        assert set(bullets(shown[kind.__name__])) == set(kind.arguments()), kind
        assert f'`model = "{kind.model_fields["model"].default}"`' in shown[kind.__name__]
    for kind, rule in RULES.items():
        assert set(bullets(shown[kind])) == set(rule.model_fields) - {"kind"}, kind
    assert set(MAKERS) == {*RULES, "file"}


def test_every_macro_is_described_with_its_example() -> None:
    shown = sections("macros")
    for macro in macros().values():
        text = shown[macro.name]
        assert f"{macro.qualified}({', '.join(macro.parameters)})" in text
        assert re.sub(r"\s+", " ", macro.example) in re.sub(r"\s+", " ", text), macro.name
        assert re.search(r"```\n\n\S.*\n", text), macro.name


SESSION = {
    "session": sa.Session,
    "session.taxonomies": Taxonomies,
    "session.partitions": Partitions,
    "session.ledger": Ledger,
    "Taxonomy": sa.Taxonomy,
}


def methods(part: type) -> Iterator[tuple[str, Any]]:
    for name, member in inspect.getmembers_static(part):
        is_one = inspect.isfunction(member) or isinstance(member, classmethod | property)
        if is_one and not name.startswith("_"):
            yield name, member


def test_every_public_name_of_python_is_described() -> None:
    shown = sections("python")
    values = {
        name for name in sa.__all__ if isinstance(kind := getattr(sa, name), type) and issubclass(kind, PolicyValue)
    }
    for name in {*sa.__all__, *sa.evaluation.__all__} - {"evaluation"}:
        if name in values - {"Policy"}:
            assert f"`sa.{name}`" in shown["Values of policies"]
            assert name in sections("policy"), name
        else:
            assert shown[name].strip(), name
    for owner, part in SESSION.items():
        for name, member in methods(part):
            text = shown[f"{owner}.{name}"]
            taken = {} if isinstance(member, property) else inspect.signature(getattr(part, name)).parameters
            assert set(taken) - {"self"} <= set(re.findall(r"\w+", text)), name


@pytest.mark.parametrize("page", PAGES)
def test_nothing_on_a_page_lacks_its_text(page: str) -> None:
    text = PAGES[page]
    assert text.startswith("# ")
    assert [names for names, said in bullets(text).items() if len(said) < 3] == []
    headings = re.findall(r"^(#+) (.*)\n\n(?=(#*)(?: |\Z))", text, flags=re.MULTILINE)  # those followed by a heading
    assert [name for level, name, following in headings if len(following) <= len(level)] == []
    for trace in ("``", ":class:", ":meth:", "<function", "Ellipsis", "spec/", "\n\n\n"):
        assert trace not in text.replace("```", "~~~"), trace


@pytest.mark.parametrize(
    ("topic", "page", "beginning"),
    [
        ("exit codes", "commands", "## Exit codes"),
        ("k_map", "macros", "### k_map"),
        ("KMap", "policy", "### KMap"),
        ("audit-privacy", "commands", "## audit-privacy"),
        ("session.lattice", "python", "#### session.lattice"),
    ],
)
def test_a_section_of_a_page_is_found(topic: str, page: str, beginning: str, tmp_path: Path) -> None:
    done = sqlanon("guide", *topic.split(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{beginning}\n")
    assert done.stderr.endswith(f"sqlanon guide {page}\n")


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_to_headings(page: str) -> None:
    links = re.findall(r"\]\(#([^)]*)\)", PAGES[page])
    assert set(links) <= anchors(PAGES[page])
    assert not re.search(r"\]\([^#]", PAGES[page])


def test_all_pages_can_be_written(tmp_path: Path) -> None:
    done = sqlanon("guide", "--into", "pages", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    written = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "pages").glob("*.md")}
    assert set(written) == {"README", *ORDER}
    pictures = {path.name for path in (tmp_path / "pages" / "pictures").iterdir()}
    assert pictures == {*re.findall(r"\(pictures/([\w.]+)\)", "".join(written.values()))} != set()
    assert written["tutorial"] == GUIDES["tutorial"]
    assert all(f"- [{name}]({name}.md): " in written["README"] for name in ORDER)
    assert sqlanon("guide", "--into", "pages", folder=tmp_path).returncode == 2
    assert sqlanon("guide", "tutorial", "--into", "other", folder=tmp_path).returncode == 2
    assert not (tmp_path / "other").exists()


class Documented:
    """The size of a :class:`~package.Class`,
    with ``code``. It is short.

    A second paragraph.

    Args:
        first: the first,
            on two lines, as in :meth:`Class.method`.
        second, third: with an example: ``{"a": 1}``.

            And a second paragraph.

    Text after the arguments.

    Returns:
        a table with columns

        - one (a number);
        - two.

    Raises:
        ValueError, KeyError: it is
            wrong.
    """


def test_a_docstring_in_parts() -> None:
    found = docstring_of(Documented)
    assert found.summary == "The size of a `package.Class`, with `code`. It is short."
    assert found.text.split("\n\n")[1:] == ["A second paragraph.", "Text after the arguments."]
    assert found.members == {
        "first": "the first, on two lines, as in `Class.method`.",
        "second": 'with an example: `{"a": 1}`. And a second paragraph.',
        "third": 'with an example: `{"a": 1}`. And a second paragraph.',
    }
    assert found.returns == "a table with columns\n\n- one (a number);\n- two."
    assert found.errors == dict.fromkeys(["ValueError", "KeyError"], "it is wrong.")


def test_nothing_is_said_of_what_has_no_docstring() -> None:
    found = docstring_of(lambda: None)
    assert (found.text, found.summary, found.members, found.returns, found.errors) == ("", "", {}, "", {})
