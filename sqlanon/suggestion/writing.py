"""The file of a suggested policy: TOML with a comment a column, and files of taxonomies beside it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sqlanon.model.policy.policy import Policy
from sqlanon.model.release.trial import Trial
from sqlanon.model.taxonomy.hierarchies import note_path, note_text
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.publish.files import cannot_be_written, staged_file
from sqlanon.report.document import printable
from sqlanon.suggestion.evidence import Role
from sqlanon.suggestion.taxonomies import SuggestedTaxonomy

SuggestedMethod: TypeAlias = Literal["full-domain", "local-recoding"]

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
        method: by which it anonymizes.
        compared: what this method and the other one lose, as far as it is known.
        csv: how the source is read.
    """

    heading: Sequence[str]
    columns: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, tuple[Any, str]]
    privacy: Sequence[Mapping[str, Any]]
    taxonomies: Mapping[str, SuggestedTaxonomy]
    method: SuggestedMethod = "full-domain"
    compared: str = "each class has labels of its own"
    csv: Mapping[str, Any] = field(default_factory=dict)

    def with_trial(self, trial: Trial) -> Draft:
        """The same, by the method that a trial asks for."""
        method: SuggestedMethod = "local-recoding" if trial.asks_for_local_recoding else "full-domain"
        return replace(self, method=method, compared=self.compared if trial.local_loss is None else trial.compared)


def policy_of(draft: Draft) -> Policy:
    """The policy that the file of a draft has, for full domains.

    Raises:
        PolicyError: the draft makes no policy.
    """
    rules = {
        name: Taxonomy.from_rows(taxonomy.labels) if taxonomy.labels else taxonomy.rule
        for name, taxonomy in draft.taxonomies.items()
    }
    fields: dict[str, Any] = {name: value for name, (value, _) in draft.settings.items()}
    fields |= {name: tuple(columns) for name, columns in draft.columns.items()}
    return Policy(**(fields | {"privacy": draft.privacy, "taxonomies": rules}))


def text_of(draft: Draft, stem: str) -> str:
    """The text of a policy file."""
    files = _files(draft, stem)
    lines = [*(_comment(sentence) for sentence in draft.heading), ""]
    for name in LIST_OF_ROLE.values():
        lines += _list(name, draft.columns.get(name, {}))
    lines += (f"{name} = {toml_value(value)}  {_comment(why)}" for name, (value, why) in draft.settings.items())
    mark = "# " if draft.method == "full-domain" else ""
    lines.append(f'{mark}method = "local-recoding"  {_comment(draft.compared)}')
    for model in draft.privacy:
        lines += ["", "[[privacy]]", *(f"{name} = {toml_value(value)}" for name, value in model.items())]
    lines += ["", "[quality]", 'model = "lm"']
    if draft.csv:
        lines += ["", "[csv]", *(f"{name} = {toml_value(value)}" for name, value in draft.csv.items())]
    if draft.taxonomies:
        lines += ["", "[taxonomies]"]
    for name, taxonomy in draft.taxonomies.items():
        rule = toml_value(files.get(name, taxonomy.rule))
        comment = f"  {_comment(taxonomy.hint)}" if taxonomy.hint else ""
        lines.append(f"{_key(name)} = {rule}{comment}")
    return "\n".join(lines) + "\n"


def write(draft: Draft, path: Path, *, replace: bool, beside: Mapping[Path, str] | None = None) -> tuple[Path, ...]:
    """Write the policy and its files, and texts beside it, the policy last; see :meth:`sqlanon.Suggestion.write`."""
    written = [path]
    with ExitStack() as files:
        # What is opened first is published last.
        _stage(files, path, text_of(draft, path.stem), replace=replace)
        for target, text in (beside or {}).items():
            _stage(files, target, text, replace=replace)
            written.append(target)
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
    texts = {column: f"    {toml_value(column)}," for column in columns}
    width = max((len(text) for text in texts.values() if len(text) <= MAX_ALIGNED), default=0)
    for column, comment in columns.items():
        yield f"{texts[column]:<{width}}  {_comment(comment)}"
    yield "]"


def _comment(text: str) -> str:
    return f"# {printable(text)}".replace("\n", " ")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: Any) -> str:
    """A value of TOML, whose texts are those of JSON but for one control character."""
    match value:
        case Mapping():
            return f"{{ {', '.join(f'{_key(name)} = {toml_value(item)}' for name, item in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
