"""The first commands: the demo on invented data, and the guides of the installed version with its reference pages."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from typer import Argument, BadParameter, Option

from sqlanon.cli.interrupt import interruptible
from sqlanon.cli.options import MACHINE, Json
from sqlanon.cli.output import ExitCode, progress, say, show, write, write_json

MAX_ROWS = 10_000_000


def demo(
    database: Annotated[
        Path | None, Option("--db", metavar="DB", help="The DuckDB file, a new one; without it nothing is kept.")
    ] = None,
    rows: Annotated[int, Option(metavar="N", min=50, max=MAX_ROWS, help="How many visits to invent.")] = 5000,
    seed: Annotated[int, Option(metavar="N", min=0, help="The same seed invents the same visits.")] = 1,
    as_json: Json = False,
) -> None:
    """Invent a hospital, anonymize its visits, and show them before and after. Needs no input.

    With --db the warehouse is kept, and its policy beside it; and so are two linked tables, patients and treatments,
    with a policy to release them together.

    Example: sqlanon demo --db hospital.duckdb
    """
    from sqlanon.api.connection import open_database
    from sqlanon.run.demo import LINKED_POLICY_TOML, POLICY_TOML
    from sqlanon.run.demo import demo as demonstrate

    with _new_files(database) as (warehouse, policy_file, linked_file):
        with (
            closing(open_database(warehouse)) as opened,
            progress(as_events=False, quiet=as_json) as observer,
            interruptible(opened.connection.interrupt),
        ):
            result = demonstrate(opened.engine(), rows=rows, seed=seed, progress=observer)
        policy_file.write_text(POLICY_TOML, encoding="utf-8")
        linked_file.write_text(LINKED_POLICY_TOML, encoding="utf-8")
    if as_json:
        write_json(
            {
                "database": database,
                "policy_file": None if database is None else policy_file,
                "linked_policy_file": None if database is None else linked_file,
                "before": result.before.model_dump(mode="json"),
                "release": result.release.model_dump(mode="json"),
                "after": {**result.after.model_dump(mode="json"), "met": result.after.met},
            }
        )
    else:
        show(result.document())
        # Not with rich, which would wrap the commands to copy.
        write(_next_steps(database))


@contextmanager
def _new_files(database: Path | None) -> Iterator[tuple[Path, ...]]:
    """Yield free paths of a warehouse and two policies: temporary without a database, else removed on failure."""
    from sqlanon.engines.paths import log_of

    if database is None:
        with TemporaryDirectory(prefix="sqlanon-") as folder:
            yield tuple(Path(folder, f"hospital.{ending}") for ending in ("duckdb", "policy.toml", "linked.toml"))
        return
    paths = database, _policy_path(database), _policy_path(database, "linked")
    for path in paths:
        if path.exists():
            raise BadParameter(f"{path} exists; give the path of a new file", param_hint="--db")
    if not database.parent.is_dir():
        raise BadParameter(f"the folder {database.parent} does not exist", param_hint="--db")
    try:
        yield paths
    except BaseException:
        for path in (*paths, log_of(database)):
            with suppress(OSError):
                path.unlink()
        raise


def _policy_path(database: Path, kind: str = "policy") -> Path:
    return database.with_name(f"{database.stem}.{kind}.toml")


def _next_steps(database: Path | None) -> str:
    """List commands that work as printed, in the shell that ran this one."""
    steps = []
    activate, found = Path(sys.prefix, "bin", "activate"), shutil.which("sqlanon")
    if activate.exists() and (found is None or Path(found).parent != activate.parent):  # another one is on the PATH
        here = Path.cwd()
        shown = activate.relative_to(here) if activate.is_relative_to(here) else activate
        steps.append(f"source {shlex.quote(str(shown))}")
    if database is None:
        steps.append("sqlanon demo --db hospital.duckdb    # keeps the warehouse to play with")
    else:
        page = database.with_name(f"{database.stem}.report.html")
        linked, released = _policy_path(database, "linked"), f"{database.with_name(database.stem)}_released/"
        named = (database, _policy_path(database), page, linked, released)
        file, policy, report, linked_policy, into = (shlex.quote(str(path)) for path in named)
        if shutil.which("duckdb") is None:
            steps.append("pip install duckdb-cli    # the command line of DuckDB, which is not installed here")
        steps += [
            f'duckdb {file} "FROM visits_k5 LIMIT 20"',
            f"duckdb {file} \"FROM anon.k_anonymity('visits_k5', ['age', 'sex', 'zip', 'admission'])\"",
            f"sqlanon lattice visits --db {file} --policy {policy}",
            f"sqlanon verify visits_k5 --db {file} --policy {policy}",
            f"sqlanon report visits_k5 --db {file} --policy {policy} --source visits --out {report}",
            f"sqlanon run --db {file} --policy {linked_policy} --into {into}    # patients and treatments, linked",
        ]
    return "".join(f"  {step}\n" for step in steps)


GENERATED = ("commands", "policy", "macros", "python")  # pages made from the installed version
INDEX = "README"  # lists the other pages, in reading order

# An entry of the list: a link, or the command that shows a generated page, and a description.
LINE = re.compile(r"^- (?:\[([\w-]+)\]\(\1\.md\)|`sqlanon guide ([\w-]+)`): (.*(?:\n  .*)*)", re.MULTILINE)


class Part(NamedTuple):
    """A page of the guides, or one of its sections down to the next heading of its level."""

    page: str
    topic: str  # the heading as an anchor of GitHub
    text: str


def guide(
    topic: Annotated[
        list[str] | None,
        Argument(metavar="TOPIC", help="The name of a page, words of a heading, or a link in a guide."),
    ] = None,
    into: Annotated[Path | None, Option(metavar="DIR", help="Write all pages to a new folder, as Markdown.")] = None,
) -> None:
    """Show a guide, or a section of one, of the installed version; without a topic, list the guides.

    The pages commands, policy, macros and python are generated from the installed version.

    Example: sqlanon guide h-ceiling
    """
    if into is not None:
        _write_all(into, topic)
    elif not topic:
        write(_listed())
        say("sqlanon guide NAME shows one, sqlanon guide exit codes the section with this heading.")
    else:
        found = _found(_anchor("-".join(topic).rpartition("#")[2].removesuffix(".md")))
        _show(found.text)
        if not found.text.startswith("# "):
            say(f"This is a section of a page: sqlanon guide {found.page}")


def _anchor(text: str) -> str:
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


@cache
def _page(name: str) -> str:
    if name in GENERATED:
        return generated(name)
    return files("sqlanon").joinpath("guides", f"{name}.md").read_text(encoding="utf-8")


def _lines(index: str) -> list[tuple[str, str]]:
    return [(written or made, " ".join(text.split())) for written, made, text in LINE.findall(index)]


def _names() -> list[str]:
    return [name for name, _ in _lines(_page(INDEX))]


def _listed() -> str:
    width = max(map(len, _names()))
    sections = (section.partition("\n") for section in _page(INDEX).split("\n## ")[1:])
    shown = ((heading, [f"  {name:<{width}}  {text}" for name, text in _lines(body)]) for heading, _, body in sections)
    return "\n\n".join("\n".join([heading, *lines]) for heading, lines in shown) + "\n"


def _found(topic: str) -> Part:
    """Find the page of this name, else the first section whose heading equals, begins with, or contains the topic."""
    names = _names()
    if topic in names:
        return next(_parts(topic))
    written = [name for name in names if name not in GENERATED]
    for pages in (written, GENERATED):  # generated pages take longer
        for pattern in (f"{re.escape(topic)}$", f"{re.escape(topic)}-", rf".*\b{re.escape(topic)}\b"):
            for part in _parts(*pages):
                if re.match(pattern, part.topic):
                    return part
    raise BadParameter(_unknown(topic, names))


def _parts(*names: str) -> Iterator[Part]:
    for name in names:
        page = _page(name)
        without_blocks = re.sub(r"^```.*?^```$", lambda block: "." * len(block.group()), page, flags=re.M | re.S)
        headings = list(re.finditer(r"^(#+) (.*)$", without_blocks, flags=re.M))
        for position, heading in enumerate(headings):
            later = headings[position + 1 :]
            end = next((next_.start() for next_ in later if len(next_[1]) <= len(heading[1])), len(page))
            yield Part(name, _anchor(heading[2]), page[heading.start() : end])


def _unknown(topic: str, names: list[str]) -> str:
    from difflib import get_close_matches

    topics = {part.topic for part in _parts(*names)}
    words = {word for each in topics for word in each.split("-") if len(word) > 3}
    near = get_close_matches(topic, sorted({*names, *topics, *words}), cutoff=0.7)
    asked = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"No guide covers {topic!r}{asked} The pages are {', '.join(names)}."


def _write_all(into: Path, topic: list[str] | None) -> None:
    if topic:
        raise BadParameter("it writes all pages, so it goes without a topic", param_hint="--into")
    if into.exists():
        raise BadParameter(f"{into} exists; give the name of a new folder", param_hint="--into")
    into.mkdir(parents=True)
    for name in (INDEX, *_names()):
        command = rf"`sqlanon guide ({'|'.join(GENERATED)})`"
        (into / f"{name}.md").write_text(re.sub(command, r"[\1](\1.md)", _page(name)), encoding="utf-8")
    (into / "pictures").mkdir()
    for picture in files("sqlanon").joinpath("guides", "pictures").iterdir():
        (into / "pictures" / picture.name).write_bytes(picture.read_bytes())
    say(f"Wrote the guides to {into}; {INDEX}.md lists them.")


def _show(text: str) -> None:
    if not (sys.stdout and sys.stdout.isatty()):
        write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(Console().width, 100))
    with console.capture() as capture:
        console.print(Markdown(text, hyperlinks=False))
    write(capture.get())


def generated(name: str) -> str:
    if name == "commands":
        return _commands_page()
    from sqlanon.cli.pages import macros_page, policy_page, python_page

    return {"policy": policy_page, "macros": macros_page, "python": python_page}[name]()


COMMANDS_HEAD = """# Commands

Every command with its arguments and options, and the exit codes.
`sqlanon COMMAND --help` shows the same of one command. Data goes to stdout, messages go to stderr.

"""
MACHINE_HEADING = "Options for the machine"


def _commands_page() -> str:
    from sqlanon.cli.app import command_line

    whole = command_line()
    of_machine = next(found for command in whole.commands.values() if (found := _machine_options(command)))
    codes = "\n".join(f"- `{code}`: {code.meaning}." for code in ExitCode)
    ends = [f"## {MACHINE_HEADING}\n\n{_options(of_machine)}\n\n", f"## Exit codes\n\n{codes}\n"]
    return "".join([COMMANDS_HEAD, *_commands("sqlanon", whole, "##"), *ends])


def _commands(path: str, group: Any, level: str) -> Iterator[str]:
    for name, command in group.commands.items():
        below = f"{path} {name}"
        is_group = hasattr(command, "commands")
        if is_group and not command.invoke_without_command:
            yield f"{level} {name}\n\n{command.help}\n\n"
        else:
            yield f"{level} {below.removeprefix('sqlanon ')}\n\n"
            yield from (f"{part}\n\n" for part in _command(below, command))
        if is_group:
            yield from _commands(below, command, f"{level}#")


def _command(path: str, command: Any) -> Iterator[str]:
    words, _, example = command.help.partition("Example: ")
    arguments = [_spelled(each) for each in command.params if each.param_type_name == "argument"]
    of_machine = _machine_options(command)
    own = [each for each in command.params if each not in of_machine]
    yield words.strip()
    yield f"```text\n{' '.join([path, *arguments, *['[OPTIONS]'] * (len(own) > len(arguments))])}\n```"
    if example:
        yield f"Example: `{' '.join(example.split())}`"
    if own:
        yield _options(own)
    if of_machine:
        yield f"And the [{MACHINE_HEADING.lower()}](#{MACHINE_HEADING.lower().replace(' ', '-')})."


def _machine_options(command: Any) -> list[Any]:
    named = {each.name: each for each in command.params}
    return [named[name] for name in MACHINE] if MACHINE.keys() <= named.keys() else []


def _options(parameters: list[Any]) -> str:
    """Write a line per option: its spelling, its help, whether it is required, and its default."""
    lines = []
    for each in parameters:
        is_said = each.default not in (None, False, (), []) and not callable(each.default)
        remarks = [" Required."] * each.required + [f" Default: `{each.default}`."] * is_said
        lines.append(f"- `{_spelled(each)}`: {each.help}{''.join(remarks)}")
    return "\n".join(lines)


def _spelled(parameter: Any) -> str:
    name = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        return name or str(parameter.name).upper()
    return " ".join(filter(None, [*parameter.opts, *parameter.secondary_opts, name]))
