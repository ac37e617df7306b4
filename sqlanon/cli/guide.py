"""The command that shows the guides of the installed version."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated

from typer import Argument, BadParameter

from sqlanon.cli.output import say, write


@dataclass(frozen=True)
class Part:
    """A page of the guides, or one of its sections down to the next heading of its level."""

    page: str
    heading: str
    text: str

    @property
    def topic(self) -> str:
        """The heading as GitHub makes an anchor of it."""
        return re.sub(r"[^\w -]", "", self.heading.lower()).replace(" ", "-")

    @property
    def summary(self) -> str:
        """The first sentence below the heading."""
        below = self.text.partition("\n\n")[2].partition("\n\n")[0]
        return re.split(r"(?<=\.) ", " ".join(below.split()))[0]


def guide(
    topic: Annotated[
        list[str] | None,
        Argument(metavar="TOPIC", help="The name of a page, words of a heading, or a link in a guide."),
    ] = None,
) -> None:
    """Show a guide, or a section of one, of the installed version; without a topic, list the guides.

    Example: sqlanon guide h-ceiling
    """
    pages = _pages()
    if not topic:
        width = max(map(len, pages))
        write("".join(f"{name:<{width}}  {page.heading}. {page.summary}\n" for name, page in pages.items()))
        say("sqlanon guide NAME shows one, sqlanon guide exit codes the section with this heading.")
        return
    found = _found("-".join(topic).lower().rpartition("#")[2].removesuffix(".md"), pages)
    _show(found.text)
    if found.text != pages[found.page].text:
        say(f"This is a section of a page: sqlanon guide {found.page}")


def _pages() -> dict[str, Part]:
    """The pages by name."""
    folder = files("sqlanon").joinpath("guides")
    texts = {file.name[:-3]: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".md")}
    return {name: Part(name, text.partition("\n")[0].lstrip("# "), text) for name, text in sorted(texts.items())}


def _found(topic: str, pages: dict[str, Part]) -> Part:
    """The page of this name, else the first part whose heading is the topic, begins with it, or contains it.

    Raises:
        BadParameter: if there is none.
    """
    if topic in pages:
        return pages[topic]
    parts = [part for page in pages.values() for part in _parts(page)]
    for pattern in (f"{re.escape(topic)}$", f"{re.escape(topic)}-", rf".*\b{re.escape(topic)}\b"):
        for part in parts:
            if re.match(pattern, part.topic):
                return part
    raise BadParameter(_unknown(topic, pages, parts))


def _parts(page: Part) -> Iterator[Part]:
    """The page and its sections, in order."""
    without_blocks = re.sub(r"^```.*?^```$", lambda block: "." * len(block.group()), page.text, flags=re.M | re.S)
    headings = list(re.finditer(r"^(#+) (.*)$", without_blocks, flags=re.M))
    for position, heading in enumerate(headings):
        later = headings[position + 1 :]
        end = next((next_.start() for next_ in later if len(next_[1]) <= len(heading[1])), len(page.text))
        yield Part(page.page, heading[2], page.text[heading.start() : end])


def _unknown(topic: str, pages: dict[str, Part], parts: list[Part]) -> str:
    from difflib import get_close_matches

    words = {word for part in parts for word in part.topic.split("-") if len(word) > 3}
    near = get_close_matches(topic, sorted({*pages, *(part.topic for part in parts), *words}), cutoff=0.7)
    asked = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"No guide covers {topic!r}{asked} The pages are {', '.join(pages)}."


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
