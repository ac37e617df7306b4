"""Policy files as values: read, checked, edited with their comments, and written with the taxonomies they name."""

from __future__ import annotations

import hashlib
import itertools
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from sqlanon.errors import PolicyError, Relaxation, TaxonomyError
from sqlanon.model.names import spelled_like
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_files import fields_of, read_policy_text
from sqlanon.model.policy_value import KINDS, SETTINGS
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.taxonomy.hierarchies import (
    Domain,
    Hierarchy,
    hierarchy_of,
    labels_text,
    note_path,
    note_text,
    noted_domain,
)
from sqlanon.model.taxonomy.rules import placed, rule_of
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.model.whole_files import read_whole
from sqlanon.publish.files import cannot_be_written, staged_file
from sqlanon.suggestion.policy_edits import ColumnRole, PolicyRole, give_role, relax, roles_of, set_models, set_node
from sqlanon.suggestion.toml_text import TomlText

MAX_CARRIED_MB = 10  # of a taxonomy file that is read with its policy

GivenTaxonomy: TypeAlias = Mapping[str, Any] | str | Taxonomy | Sequence[Sequence[str | None]]


@dataclass(frozen=True)
class PolicyFile:
    """A policy file, and files of taxonomies beside it: edits return a new one, and ``write`` puts it on the disk.

    Edits keep all comments, the order, and the spelling of everything they don't change. They may leave a policy that
    a run would refuse: ``problems`` lists why.

    Args:
        text: TOML.
        taxonomies: labels of taxonomies by file name, as in an ARX hierarchy: a line per value, the value first.
        path: where it was read from, or will be written; other files that it names are relative to its folder, by
            default the working folder.
        domains: the origin of the values of taxonomies, by file name; ``"observed"``, in rows of the source, by
            default.
    """

    text: str
    taxonomies: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    domains: Mapping[str, Domain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None:
            object.__setattr__(self, "path", Path(self.path))
        if misfits := [name for name in self.taxonomies if Path(name).name != name]:
            raise PolicyError(f"files of taxonomies lie beside their policy: {', '.join(misfits)} cannot")

    @classmethod
    def read(cls, path: str | Path) -> PolicyFile:
        """Read a policy file, with the taxonomy files that it names in its own folder, of at most 10 MB each.

        Raises:
            PolicyError: it cannot be read, or is not UTF-8; one that is not TOML is read, and has problems.
        """
        path = Path(path)
        file = cls(read_policy_text(path), path=path)
        taxonomies: dict[str, str] = {}
        domains: dict[str, Domain] = {}
        for rule in file._file_rules.values():
            name = rule["file"]
            if Path(name).name != name:
                continue  # in another folder
            place = path.with_name(name)
            try:
                content = read_whole(place, MAX_CARRIED_MB)
                taxonomies[name] = content.decode()
            except (OSError, ValueError):
                continue  # missing, large or no text: the file stays as it is
            domains[name] = noted_domain(place, hashlib.sha256(content).hexdigest())
        return replace(file, taxonomies=taxonomies, domains=domains)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The keys and tables of the text.

        Raises:
            PolicyError: it is not TOML.
        """
        return fields_of(self.text, self.path or "policy.toml")

    @cached_property
    def policy(self) -> Policy:
        """The policy, checked as in a run, which also reads files of taxonomies.

        A taxonomy that its file on the disk lacks, or has with other labels, is a list of rows.

        Raises:
            PolicyError: lists every problem at once.
        """
        fields = {**self.values}
        if isinstance(rules := fields.get("taxonomies"), Mapping):
            files = {column: self._rows_or_file(rule) for column, rule in self._file_rules.items()}
            fields["taxonomies"] = {**rules, **files}
        try:
            return Policy(**fields)
        except PolicyError as error:
            raise PolicyError(f"the policy file {self.path or 'policy.toml'} is not valid:", error.problems) from None

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """Why a run on any source would refuse the policy, or files of its taxonomies, a sentence each."""
        try:
            _ = self.policy
            found: list[str] = []
        except PolicyError as error:
            found = [*(error.problems or [str(error)])]
        for column, rule in self._file_rules.items():
            try:
                if rule["file"] in self.taxonomies:
                    self._rows(rule)
                elif not Path(rule["folder"], rule["file"]).exists():
                    found.append(f'taxonomies."{column}": the file {rule["file"]} does not exist')
            except TaxonomyError as error:
                found += [f'taxonomies."{column}": {problem}' for problem in error.problems or [str(error)]]
        return tuple(found)

    @cached_property
    def roles(self) -> Mapping[str, ColumnRole]:
        """The columns by name, in the order of the lists.

        Raises:
            PolicyError: the text is not TOML.
        """
        return roles_of(TomlText(self.text))

    @cached_property
    def rules(self) -> Mapping[str, Mapping[str, Any]]:
        """The rules of taxonomies by column, those of files with their folder; none if the text is not TOML."""
        try:
            rules = placed(self.values.get("taxonomies"), self._folder)
        except PolicyError:
            return {}
        named = rules.items() if isinstance(rules, Mapping) else ()
        return {column: rule for column, rule in named if isinstance(rule, Mapping)}

    def columns_of(self, role: PolicyRole) -> list[str]:
        """Return the columns of a role, in the order of the lists."""
        return [name for name, each in self.roles.items() if each.role == role]

    def labels(self, column: str) -> list[tuple[str | None, ...]] | None:
        """Return the rows of a column's taxonomy file, the value first; None if no such file is held here.

        Raises:
            PolicyError: the text is not TOML.
            TaxonomyError: the file is not a hierarchy.
        """
        rules = self._file_rules
        rule = rules.get(spelled_like(column, [*rules]))
        return None if rule is None or rule["file"] not in self.taxonomies else [*self._rows(rule)]

    def with_role(self, column: str, role: PolicyRole, reason: str | None = None) -> PolicyFile:
        """Give a column a role: its line moves to the list of the role with its comment, and is decided.

        A column that leaves the quasi-identifiers takes its taxonomy, bounds on levels, level in ``node`` and weight
        along. A column that leaves the sensitive ones takes the privacy models that name it along, and a column that is
        not published any more, its bounds on values. An ``"individual"`` or a ``"weight"`` stays among the insensitive
        columns if it is there, and else becomes an identifier.

        Args:
            column: a column of the policy, in any case, or another one.
            role: the role.
            reason: replaces the comment; empty for none.

        Raises:
            PolicyError: the role is unknown, or the text cannot be edited.
        """
        text = TomlText(self.text)
        give_role(text, column, role, reason)
        return self._edited(text)

    def with_taxonomy(self, column: str, taxonomy: GivenTaxonomy | None) -> PolicyFile:
        """Give a column a taxonomy of this policy, in place of its present one; None removes it.

        Args:
            column: a column of the policy.
            taxonomy: a rule as in a policy (a mapping, a kind, or the path of a file), a :class:`Taxonomy`, or labels:
                rows with a value and its label at each level. Labels are held as a file beside the policy.

        Raises:
            PolicyError: the text cannot be edited.
            TaxonomyError: a :class:`Taxonomy` that no policy can hold, such as a query.
        """
        text, files = TomlText(self.text), self._file_rules
        rules = text.values.get("taxonomies")
        column = spelled_like(column, [*rules] if isinstance(rules, Mapping) else ())
        domain: Domain = "observed"
        if isinstance(taxonomy, Taxonomy):
            domain = taxonomy.domain
            taxonomy = [*taxonomy.rows] if taxonomy.rows is not None else rule_of(taxonomy)
        if taxonomy is None:
            text.remove(("taxonomies", column))
        elif isinstance(taxonomy, Mapping | str):
            text.set(("taxonomies", column), taxonomy)
        else:
            others = {rule["file"] for name, rule in files.items() if name != column}
            old = files[column]["file"] if column in files else None
            is_ours = old in self.taxonomies and old not in others
            name = old if old is not None and is_ours else self._new_name(column, {*others, *self.taxonomies})
            text.set(("taxonomies", column), name)
            taxonomies = {**self.taxonomies, name: labels_text(taxonomy)}
            return replace(self, taxonomies=taxonomies, domains={**self.domains, name: domain})._edited(text)
        return self._edited(text)

    def with_models(self, models: Sequence[PrivacyModel | Mapping[str, Any]]) -> PolicyFile:
        """Replace the privacy models; those of a kind and a column that stays are changed in place.

        Raises:
            PolicyError: the text cannot be edited.
        """
        text = TomlText(self.text)
        set_models(text, models)
        return self._edited(text)

    def with_setting(self, name: str, value: Any, reason: str | None = None) -> PolicyFile:
        """Set a key of the top level, such as ``suppression_limit`` or ``node``; None removes it.

        Args:
            name: the key.
            value: a text, a number, a boolean, a list or a mapping.
            reason: replaces the comment on its line; empty for none.

        Raises:
            PolicyError: the text cannot be edited.
        """
        text = TomlText(self.text)
        if value is None:
            text.remove((name,))
        else:
            text.set((name,), value, reason)
        return self._edited(text)

    def with_method(self, model: str, /, **settings: Any) -> PolicyFile:
        """Set the method; settings beside it that the method lacks, or that are given here, go.

        Args:
            model: the name of the method, such as ``"local-recoding"``.
            settings: its settings; others have their defaults.

        Raises:
            PolicyError: the text cannot be edited.
        """
        text = TomlText(self.text)
        taken = KINDS["method"][model].model_fields if model in KINDS["method"] else SETTINGS
        for name in SETTINGS:
            if name in settings or name not in taken:
                text.remove((name,))
        text.set(("method",), {"model": model, **settings} if settings else model)
        return self._edited(text)

    def with_quality(self, model: str, /, **settings: Any) -> PolicyFile:
        """Set the loss to minimize, such as ``"lm"`` with ``weights={"age": 2}``.

        Raises:
            PolicyError: the text cannot be edited.
        """
        text = TomlText(self.text)
        text.set(("quality",), {"model": model, **settings} if settings else model)
        return self._edited(text)

    def with_node(self, node: Mapping[str, int] | None) -> PolicyFile:
        """Let the policy name a node, in place of the settings that search for one; None lets a run search.

        Raises:
            PolicyError: the text cannot be edited.
        """
        text = TomlText(self.text)
        set_node(text, node)
        return self._edited(text)

    def relaxed(self, relaxation: Relaxation) -> PolicyFile:
        """Change the policy as an :class:`sqlanon.UnsatisfiableError` proposes.

        Raises:
            PolicyError: the policy is not valid, or the change does not fit it.
        """
        text = TomlText(self.text)
        relax(text, relaxation, self.policy)
        return self._edited(text)

    def write(
        self, path: str | Path | None = None, *, replace: bool = False, beside: Mapping[Path, str] | None = None
    ) -> tuple[Path, ...]:
        """Write the policy, and the files of its taxonomies beside it with notes on the origin of their values.

        All files are staged and then swapped, the policy last. Taxonomy files hold values of the source: only their
        owner may read them. One that has the same labels and origin already stays as it is.

        Args:
            path: the policy file; by default the one that it was read from.
            replace: whether existing files may be replaced.
            beside: texts to write in the same step, by file.

        Returns:
            all these files, the policy first.

        Raises:
            EngineError: one of them exists, or cannot be written.
            PolicyError: no path is known.
        """
        if path is None and self.path is None:
            raise PolicyError("a policy that was not read from a file needs a path to be written to")
        path = Path(path or self.path or "")
        written = [path]
        with ExitStack() as files:

            def stage(target: Path, text: str, *, is_private: bool = False) -> None:
                staged = files.enter_context(staged_file(target, replace=replace))
                with cannot_be_written(target, "policy"):
                    mode = 0o600 if is_private else stat.S_IMODE(target.stat().st_mode) if target.exists() else None
                    if mode is not None:
                        staged.touch(mode)
                        staged.chmod(mode)
                    staged.write_text(text, encoding="utf-8", newline="")

            # The file opened first is published last.
            stage(path, self.text)
            for target, text in (beside or {}).items():
                stage(target, text)
                written.append(target)
            for name, labels in self.taxonomies.items():
                target, domain = path.with_name(name), self.domains.get(name, "observed")
                sha256 = hashlib.sha256(labels.encode()).hexdigest()
                if not (replace and _has(target, labels) and noted_domain(target, sha256) == domain):
                    stage(target, labels, is_private=True)
                    stage(note_path(target), note_text(domain, sha256), is_private=True)
                written += [target, note_path(target)]
        return tuple(written)

    @property
    def _folder(self) -> Path:
        return self.path.parent if self.path is not None else Path()

    @property
    def _file_rules(self) -> dict[str, Mapping[str, Any]]:
        named = self.rules.items()
        return {name: rule for name, rule in named if rule.get("kind") == "file" and isinstance(rule.get("file"), str)}

    def _rows(self, rule: Mapping[str, Any]) -> Hierarchy:
        return hierarchy_of(self.taxonomies[rule["file"]].encode(), rule.get("delimiter"), Path(rule["file"]))

    def _rows_or_file(self, rule: Mapping[str, Any]) -> Taxonomy | Mapping[str, Any]:
        labels = self.taxonomies.get(rule["file"])
        if labels is None or _has(self._folder / rule["file"], labels):
            return rule
        try:
            return Taxonomy.from_rows(self._rows(rule))
        except TaxonomyError:
            return rule  # among the problems of files

    def _new_name(self, column: str, taken: Collection[str]) -> str:
        """Name a file of labels, unlike others in any case, and unlike files on the disk that have no note of ours."""
        others = {*map(str.lower, taken)}
        stem = self.path.stem if self.path is not None else "policy"

        def is_free(name: str) -> bool:
            place = self._folder / name
            return name.lower() not in others and (note_path(place).exists() or not place.exists())

        return next(filter(is_free, names_of_files(stem, column)))

    def _edited(self, text: TomlText) -> PolicyFile:
        edited = replace(self, text=text.checked())
        named = {rule["file"] for rule in edited._file_rules.values()}
        return replace(edited, taxonomies={file: labels for file, labels in self.taxonomies.items() if file in named})


def names_of_files(stem: str, column: str) -> Iterator[str]:
    """Yield names for the taxonomy file of a column, the best first."""
    slug = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:40] or "column"
    return (f"{stem}_{slug}{number or ''}.csv" for number in itertools.count())


def _has(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except (OSError, ValueError):
        return False
