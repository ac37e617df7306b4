"""The file of a suggested policy: TOML with a comment a column, and files of taxonomies beside it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlanon.model.taxonomy.hierarchies import note_path, note_text
from sqlanon.publish.files import cannot_be_written, staged_file
from sqlanon.report.document import printable
from sqlanon.suggestion.evidence import Role
from sqlanon.suggestion.taxonomies import SuggestedTaxonomy

OWNER_ALONE = 0o600

MAX_ALIGNED = 40
"""Characters of a line beside which comments are aligned."""

LIST_OF_ROLE: Mapping[Role, str] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "insensitive": "insensitive",
}
"""The list of a policy that has the columns of a role."""


@dataclass(frozen=True)
class Draft:
    """What a policy file says.

    Attributes:
        heading: sentences at its beginning.
        columns: by list, each column with a comment.
        settings: other keys with a comment each.
        privacy: models.
        taxonomies: by quasi-identifier.
    """

    heading: Sequence[str]
    columns: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, tuple[Any, str]]
    privacy: Sequence[Mapping[str, Any]]
    taxonomies: Mapping[str, SuggestedTaxonomy]


def text_of(draft: Draft, stem: str) -> str:
    """The text of a policy file."""
    files = _files(draft, stem)
    lines = [*(_comment(sentence) for sentence in draft.heading), ""]
    for name in LIST_OF_ROLE.values():
        lines += _list(name, draft.columns.get(name, {}))
    lines += (f"{name} = {_value(value)}  {_comment(why)}" for name, (value, why) in draft.settings.items())
    for model in draft.privacy:
        lines += ["", "[[privacy]]", *(f"{name} = {_value(value)}" for name, value in model.items())]
    lines += ["", "[quality]", 'model = "lm"']
    if draft.taxonomies:
        lines += ["", "[taxonomies]"]
    for name, taxonomy in draft.taxonomies.items():
        rule = _value(files.get(name, taxonomy.rule))
        comment = f"  {_comment(taxonomy.hint)}" if taxonomy.hint else ""
        lines.append(f"{_key(name)} = {rule}{comment}")
    return "\n".join(lines) + "\n"


def write(draft: Draft, path: Path, *, replace: bool) -> tuple[Path, ...]:
    """Write the policy and its files, the policy last; see :meth:`sqlanon.Suggestion.write`."""
    written = [path]
    with ExitStack() as files:
        # What is opened first is published last.
        _stage(files, path, text_of(draft, path.stem), replace=replace)
        for name, file in _files(draft, path.stem).items():
            target, text = path.with_name(file), _hierarchy(draft.taxonomies[name])
            note = note_text("observed", hashlib.sha256(text.encode()).hexdigest())
            for each, content in ((target, text), (note_path(target), note)):
                _stage(files, each, content, replace=replace, mode=OWNER_ALONE)
                written.append(each)
    return tuple(written)


def _stage(files: ExitStack, target: Path, text: str, *, replace: bool, mode: int | None = None) -> None:
    staged = files.enter_context(staged_file(target, replace=replace))
    with cannot_be_written(target, "policy"):
        if mode is not None:
            staged.touch(mode)
            staged.chmod(mode)
        staged.write_text(text, encoding="utf-8", newline="")


def _files(draft: Draft, stem: str) -> dict[str, str]:
    """The names of the files of taxonomies, by quasi-identifier; no two are the same in whatever case."""
    found: dict[str, str] = {}
    for name, taxonomy in draft.taxonomies.items():
        if taxonomy.labels:
            slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:40] or "column"
            taken = {*found.values()}
            numbered = (f"{stem}_{slug}{number or ''}.csv" for number in range(len(draft.taxonomies)))
            found[name] = next(file for file in numbered if file not in taken)
    return found


def _hierarchy(taxonomy: SuggestedTaxonomy) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(taxonomy.labels)
    return text.getvalue()


def _list(name: str, columns: Mapping[str, str]) -> Iterator[str]:
    if not columns:
        yield f"{name} = []"
        return
    yield f"{name} = ["
    texts = {column: f"    {_value(column)}," for column in columns}
    width = max((len(text) for text in texts.values() if len(text) <= MAX_ALIGNED), default=0)
    for column, comment in columns.items():
        yield f"{texts[column]:<{width}}  {_comment(comment)}"
    yield "]"


def _comment(text: str) -> str:
    return f"# {printable(text)}".replace("\n", " ")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: Any) -> str:
    """A value of TOML, whose texts are those of JSON but for one control character."""
    match value:
        case Mapping():
            return f"{{ {', '.join(f'{_key(name)} = {_value(item)}' for name, item in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
