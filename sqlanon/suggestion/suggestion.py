"""A suggested policy: roles of columns, measures of the quasi-identifiers, and the policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import PrivateAttr

from sqlanon.model.release.findings import Trial
from sqlanon.model.release.measurement import Result
from sqlanon.model.taxonomy.hierarchies import labels_text
from sqlanon.report.document import Code, Part, Table, Text, count, facts, notes, percent
from sqlanon.suggestion.evidence import Role, SetMeasures
from sqlanon.suggestion.policy_edits import LIST_OF_ROLE
from sqlanon.suggestion.policy_file import PolicyFile, names_of_files
from sqlanon.suggestion.suggested_taxonomies import SuggestedTaxonomy
from sqlanon.suggestion.toml_text import MAX_ALIGNED, toml_comment, toml_key, toml_value

SuggestedMethod: TypeAlias = Literal["full-domain", "local-recoding"]
Profile: TypeAlias = Literal["research", "public", "hipaa-safe-harbor"]

MAX_SHOWN = 60  # maximum number of columns that are shown in a table
TO_DECIDE = (
    "To decide, move the line of a column to the list of its role; a quasi-identifier needs a taxonomy below (sqlanon "
    "guide taxonomies)."
)

ROLES: Sequence[Role] = ("quasi-identifier", "sensitive", "identifier", "insensitive")


@dataclass(frozen=True)
class Draft:
    heading: Sequence[str]  # sentences at its start
    columns: Mapping[str, Mapping[str, str]]  # by list, columns with comments
    settings: Mapping[str, tuple[Any, str]]  # other keys, values with comments
    privacy: Sequence[Mapping[str, Any]]  # models
    taxonomies: Mapping[str, SuggestedTaxonomy]  # by quasi-identifier
    method: SuggestedMethod = "full-domain"
    compared: str = "each class has labels of its own"  # losses of both methods, if known
    csv: Mapping[str, Any] = field(default_factory=dict)  # settings for reading the source

    def with_trial(self, trial: Trial) -> Draft:
        method: SuggestedMethod = "local-recoding" if trial.asks_for_local_recoding else "full-domain"
        return replace(self, method=method, compared=self.compared if trial.local_loss is None else trial.compared)


def file_of(draft: Draft, tables: Mapping[str, Draft], path: Path) -> PolicyFile:
    """Return the draft as a policy file, with drafts of linked tables; names of taxonomy files begin with its stem."""
    labels: dict[str, str] = {}  # by file; names differ in any case
    lines = [*map(toml_comment, draft.heading), "", *([] if tables else _lists(draft)), *_settings(draft)]
    mark = "# " if draft.method == "full-domain" else ""
    lines.append(mark + line_of("method", "local-recoding", draft.compared))
    for model in draft.privacy:
        lines += ["", "[[privacy]]", *(line_of(name, value) for name, value in model.items())]
    lines += ["", "[quality]", line_of("model", "lm")]
    if draft.csv:
        lines += ["", "[csv]", *(line_of(name, value) for name, value in draft.csv.items())]
    lines += _taxonomies(draft, "[taxonomies]", path.stem, labels)
    for table, own in tables.items():
        key = f"tables.{toml_key(table)}"
        lines += ["", f"[{key}]", *_settings(own), *map(toml_comment, own.heading), *_lists(own)]
        lines += _taxonomies(own, f"[{key}.taxonomies]", path.stem, labels, f"{table}.")
    return PolicyFile("\n".join(lines) + "\n", labels, path)


def _settings(draft: Draft) -> Iterator[str]:
    return (line_of(name, value, why) for name, (value, why) in draft.settings.items())


def _lists(draft: Draft) -> Iterator[str]:
    for role in ROLES:
        yield from list_lines(LIST_OF_ROLE[role], draft.columns.get(LIST_OF_ROLE[role], {}))


def _taxonomies(draft: Draft, header: str, stem: str, labels: dict[str, str], prefix: str = "") -> Iterator[str]:
    if draft.taxonomies:
        yield from ("", header)
    for name, taxonomy in draft.taxonomies.items():
        rule: Any = taxonomy.rule
        if taxonomy.labels:
            rule = next(file for file in names_of_files(stem, prefix + name) if file not in labels)
            labels[rule] = labels_text(taxonomy.labels)
        yield line_of(name, rule, taxonomy.hint)


def list_lines(name: str, columns: Mapping[str, str]) -> Iterator[str]:
    if not columns:
        yield f"{name} = []"
        return
    yield f"{name} = ["
    texts = {column: f"    {toml_value(column)}," for column in columns}
    width = max((len(text) for text in texts.values() if len(text) <= MAX_ALIGNED), default=0)
    for column, comment in columns.items():
        yield f"{texts[column]:<{width}}  {toml_comment(comment)}" if comment else texts[column]
    yield "]"


def line_of(name: str, value: Any, comment: str = "") -> str:
    return f"{toml_key(name)} = {toml_value(value)}" + (f"  {toml_comment(comment)}" if comment else "")


class SuggestedColumn(Result):
    """The role of a column, and the reason.

    Attributes:
        name, role: identifiers are dropped.
        is_undecided: whether a person has to decide; it is dropped until then.
        kind: the kind of its values; empty if unknown.
        reason: why it has the role.
        taxonomy: how it is generalized; None for roles other than quasi-identifier.
        values, missing: its distinct values, and rows without one.
    """

    name: str
    role: Role
    is_undecided: bool
    kind: str
    reason: str
    taxonomy: str | None
    values: int
    missing: int


class SuggestedPolicy(Result):
    """A policy that is suggested, with a comment per column, and the files of its taxonomies."""

    _draft: Draft = PrivateAttr()
    _tables: dict[str, Draft] = PrivateAttr(default_factory=dict)  # linked ones

    def write(
        self, path: str | Path, *, replace: bool = False, beside: Mapping[Path, str] | None = None
    ) -> tuple[Path, ...]:
        """Write the policy, with a comment per column, and the files of its taxonomies beside it.

        Taxonomy files hold values of the source: only their owner may read them.

        Args:
            path: the policy file; names of other files begin with its stem.
            replace: whether existing files may be replaced.
            beside: texts to write in the same step, such as ``cleaning``, by file.

        Returns:
            all files that were written, the policy first.

        Raises:
            EngineError: one of them exists, or cannot be written.
        """
        return self._file(path).write(replace=replace, beside=beside)

    def to_toml(self, stem: str = "policy") -> str:
        """Return the policy file as a text; names of taxonomy files begin with ``stem``."""
        return self._file(f"{stem}.toml").text

    def _file(self, path: str | Path) -> PolicyFile:
        return file_of(self._draft, self._tables, Path(path))


class Suggestion(SuggestedPolicy):
    """A suggested policy, decided by rules; only its files hold values of the source.

    Attributes:
        source: in words.
        profile: the audience of the release.
        k: the least rows of a class.
        row_count: rows of the source.
        columns: the roles of its columns.
        quasi_identifiers: measures of all suggested quasi-identifiers together; None if there are none.
        alone: measures of each of them alone.
        without: measures of all but each of them.
        lattice_nodes: nodes of the lattice of the suggested taxonomies.
        in_the_way: columns with a stored taxonomy where the profile needs another one.
        notes: what to know before a run.
        query: the query that the policy is for, in place of the source.
        cleaning: a query over the source that cleans its values; None if none need it.
        method: the method of the policy.
        trial: the result of a run on some rows; None if no run could succeed or be quick.
    """

    source: str
    profile: Profile
    k: int
    row_count: int
    columns: tuple[SuggestedColumn, ...]
    quasi_identifiers: SetMeasures | None
    alone: tuple[SetMeasures, ...]
    without: tuple[SetMeasures, ...]
    lattice_nodes: int
    in_the_way: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    query: str | None = None
    cleaning: str | None = None
    method: SuggestedMethod = "full-domain"
    trial: Trial | None = None

    @property
    def runs(self) -> bool:
        """Whether a run of the policy could succeed."""
        return self.quasi_identifiers is not None and self.row_count >= self.k and not self.in_the_way

    @property
    def undecided(self) -> tuple[str, ...]:
        """Columns that a person has to decide."""
        return tuple(column.name for column in self.columns if column.is_undecided)

    def draft(self, path: str | Path = "policy.toml") -> PolicyFile:
        """Return the policy with a comment per column, and the files of its taxonomies, to be edited or written.

        Args:
            path: the policy file to be written; names of other files begin with its stem.
        """
        return self._file(path)

    @property
    def heading(self) -> str:
        return f"A policy for {self.source}"

    def parts(self) -> Iterator[Part]:
        yield facts(self._figures())
        yield from columns_parts([(column.name, column) for column in self.columns], self.notes)
        if self.cleaning:
            yield Code(self.cleaning, "A query that cleans these values")

    def _figures(self) -> list[tuple[str, str]]:
        found = [("rows", count(self.row_count))]
        if self.quasi_identifiers is not None:
            share = self.quasi_identifiers.unique_rows / self.row_count if self.row_count else None
            found += [
                ("quasi-identifiers", count(len(self.quasi_identifiers.columns))),
                ("rows that are unique by them", f"{count(self.quasi_identifiers.unique_rows)} ({percent(share)})"),
                ("pairs of rows that differ in them", percent(self.quasi_identifiers.separation)),
            ]
        return [*found, ("columns that you must decide", count(len(self.undecided)))]


def columns_parts(columns: Sequence[tuple[str, SuggestedColumn]], known: Sequence[str]) -> Iterator[Part]:
    """Yield the roles of columns, those that a person has to decide first, and notes."""
    shown = sorted(columns, key=lambda item: not item[1].is_undecided)
    rows = [
        (
            name,
            Text("?  dropped until you decide", "doubtful") if column.is_undecided else column.role,
            column.reason,
            column.taxonomy or "",
        )
        for name, column in shown[:MAX_SHOWN]
    ]
    left = [f"{len(shown) - MAX_SHOWN:,} more columns are in the policy"] if len(shown) > MAX_SHOWN else []
    yield Table(("column", "role", "why", "generalized to"), rows)
    yield from notes("Notes", [*known, *left])
