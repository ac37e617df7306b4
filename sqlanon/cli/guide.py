"""The command that shows the guides of the installed version."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from sqlanon.cli.output import say, write
from sqlanon.cli.reference import GENERATED, generated

INDEX = "README"
"""The page that lists the others, in the order in which somebody new reads them."""

LINE = re.compile(r"^- (?:\[([\w-]+)\]\(\1\.md\)|`sqlanon guide ([\w-]+)`): (.*(?:\n  .*)*)", re.MULTILINE)
"""A page in the list: a link, or the command that shows what is generated, and what it is about."""


@dataclass(frozen=True)
class Part:
    """A page of the guides, or one of its sections down to the next heading of its level."""

    page: str
    heading: str
    text: str

    @property
    def topic(self) -> str:
        """The heading as GitHub makes an anchor of it."""
        return _anchor(self.heading)

    @property
    def is_section(self) -> bool:
        """Whether it is not a whole page."""
        return not self.text.startswith("# ")


def guide(
    topic: Annotated[
        list[str] | None,
        Argument(metavar="TOPIC", help="The name of a page, words of a heading, or a link in a guide."),
    ] = None,
    into: Annotated[
        Path | None, Option("--into", metavar="DIR", help="Write all pages to a new folder, as Markdown.")
    ] = None,
) -> None:
    """Show a guide, or a section of one, of the installed version; without a topic, list the guides.

    The pages commands, policy, macros and python are made of what is installed.

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
        if found.is_section:
            say(f"This is a section of a page: sqlanon guide {found.page}")


def _anchor(text: str) -> str:
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


@cache
def _page(name: str) -> str:
    if name in GENERATED:
        return generated(name)
    return files("sqlanon").joinpath("guides", f"{name}.md").read_text(encoding="utf-8")


def _lines(index: str) -> list[tuple[str, str]]:
    """The pages that a list of them has, with what each is about."""
    return [(written or made, " ".join(text.split())) for written, made, text in LINE.findall(index)]


def _names() -> list[str]:
    return [name for name, _ in _lines(_page(INDEX))]


def _listed() -> str:
    width = max(map(len, _names()))
    sections = (section.partition("\n") for section in _page(INDEX).split("\n## ")[1:])
    shown = ((heading, [f"  {name:<{width}}  {text}" for name, text in _lines(body)]) for heading, _, body in sections)
    return "\n\n".join("\n".join([heading, *lines]) for heading, lines in shown) + "\n"


def _found(topic: str) -> Part:
    """The page of this name, else the first part whose heading is the topic, begins with it, or contains it.

    Raises:
        BadParameter: if there is none.
    """
    names = _names()
    if topic in names:
        return next(_parts(topic))
    written = [name for name in names if name not in GENERATED]
    for pages in (written, GENERATED):  # what is generated takes longer
        for pattern in (f"{re.escape(topic)}$", f"{re.escape(topic)}-", rf".*\b{re.escape(topic)}\b"):
            for part in _all_parts(pages):
                if re.match(pattern, part.topic):
                    return part
    raise BadParameter(_unknown(topic, names))


def _all_parts(names: Iterable[str]) -> Iterator[Part]:
    return (part for name in names for part in _parts(name))


def _parts(name: str) -> Iterator[Part]:
    """A page and its sections, in order."""
    page = _page(name)
    without_blocks = re.sub(r"^```.*?^```$", lambda block: "." * len(block.group()), page, flags=re.M | re.S)
    headings = list(re.finditer(r"^(#+) (.*)$", without_blocks, flags=re.M))
    for position, heading in enumerate(headings):
        later = headings[position + 1 :]
        end = next((next_.start() for next_ in later if len(next_[1]) <= len(heading[1])), len(page))
        yield Part(name, heading[2], page[heading.start() : end])


def _unknown(topic: str, names: list[str]) -> str:
    from difflib import get_close_matches

    topics = {part.topic for part in _all_parts(names)}
    words = {word for each in topics for word in each.split("-") if len(word) > 3}
    near = get_close_matches(topic, sorted({*names, *topics, *words}), cutoff=0.7)
    asked = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"No guide covers {topic!r}{asked} The pages are {', '.join(names)}."


def _write_all(into: Path, topic: list[str] | None) -> None:
    """Write all pages, those that are generated too, in which a command that shows one of these is a link to it.

    Raises:
        BadParameter: a topic is given, too, or the folder is there.
    """
    if topic:
        raise BadParameter("it writes all pages, so it goes without a topic", param_hint="--into")
    if into.exists():
        raise BadParameter(f"{into} exists; give the name of a new folder", param_hint="--into")
    into.mkdir(parents=True)
    for name in (INDEX, *_names()):
        command = rf"`sqlanon guide ({'|'.join(GENERATED)})`"
        (into / f"{name}.md").write_text(re.sub(command, r"[\1](\1.md)", _page(name)), encoding="utf-8")
    say(f"Wrote the guides to {into}; {INDEX}.md lists them.")


def _show(text: str) -> None:
    """Write Markdown to stdout: laid out on a terminal, as it is elsewhere."""
    if not (sys.stdout and sys.stdout.isatty()):
        write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=min(Console().width, 100))
    with console.capture() as capture:
        console.print(Markdown(text, hyperlinks=False))
    write(capture.get())
