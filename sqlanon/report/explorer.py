"""A lattice as one page to choose a node on: a template, a style and a script that are files, and the nodes as JSON."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from sqlanon.report.document import printable
from sqlanon.report.html import escaped, style


def page(title: str, content: Mapping[str, Any], command: Sequence[str] = ()) -> str:
    """The page, in UTF-8.

    Args:
        title: its heading.
        content: an explorer as JSON.
        command: the words of ``sqlanon run`` that are the same for all nodes; without them a call of Python is shown.
    """
    styles, script = style() + _text("explorer.css"), _text("explorer.js")
    return Template(_text("explorer.html")).substitute(
        title=escaped(title),
        policy=f"default-src 'none'; style-src {_hash(styles)}; script-src {_hash(script)}",
        style=styles,
        script=script,
        data=_data(content, command),
    )


def _data(content: Mapping[str, Any], command: Sequence[str]) -> str:
    """The content as it stands in the page: losses as differences, which are short, and names and labels as shown."""
    nodes, *others = [
        {**each, "losses": [after - before for before, after in itertools.pairwise((0, *each["losses"]))]}
        for each in (content["nodes"], *content["others"])
    ]
    columns = [
        {
            **each,
            "shown": printable(each["name"]),
            "example": [None if label is None else printable(label) for label in each["example"]],
        }
        for each in content["columns"]
    ]
    data = {**content, "columns": columns, "nodes": nodes, "others": others, "command": [*command]}
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    """What allows this text in a page, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _text(file: str) -> str:
    return files("sqlanon.report").joinpath(file).read_text(encoding="utf-8")
