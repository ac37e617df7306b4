"""A policy file as somebody edits it: each change is a version, and the file on the disk is the one that counts.

``.sqlanon/<policy>.history`` beside the policy has a JSON document a line: a version, with the taxonomies that differ
from the one before it, or a move to another version. It holds labels as the files of taxonomies do, and only its owner
may read it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlanon.engines.locks import Held, acquire_stale
from sqlanon.errors import PolicyError
from sqlanon.suggestion.policy_file import PolicyFile

FOLDER = ".sqlanon"
SETTING = re.compile(r"^(privacy|quality|method)[\w.\[\]\"]*: ")  # in a problem; the words of the edit name it


class OutdatedPolicyError(PolicyError):
    """An edit of a version that is not the present one; nothing was changed."""


@dataclass(frozen=True)
class PolicyVersion:
    """A policy file at one time.

    Attributes:
        number: from 1; a number is never used again.
        what: the change that made it, such as "age: intervals of 5, 10".
        when: local time, in ISO 8601.
        file: the policy with its taxonomies.
    """

    number: int
    what: str
    when: str
    file: PolicyFile


class PolicyVersions(AbstractContextManager["PolicyVersions"]):
    """The versions of one policy file, which this process holds until it closes them.

    Every edit writes the file, and all versions survive the process. Use it as a context manager, or close it.

    Args:
        path: the policy file, which may not exist yet.
        kind: of one table, or of linked ones.

    Raises:
        PolicyError: another process holds the versions of this file, the history beside it cannot be kept, or the file
            is not TOML.
    """

    def __init__(self, path: Path, kind: type[PolicyFile] = PolicyFile) -> None:
        self.path = path
        self._kind = kind
        self.list: list[PolicyVersion] = []
        self._place = -1
        folder = path.parent / FOLDER
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            held = acquire_stale(folder / path.name)
        except OSError as error:
            raise PolicyError(f"the history of {path.name} cannot be kept in {folder}: {error.strerror}") from None
        if held is None:
            raise PolicyError(f"{path.name} is open in another sqlanon app: close that one, or give another --policy")
        self._held: Held = held
        self._history = folder / f"{path.name}.history"
        try:
            if self._history.exists():
                self._replay()
            if path.exists() and self.is_changed_outside:
                self.take_in()
        except BaseException:
            self.close()
            raise

    @property
    def current(self) -> PolicyVersion | None:
        """The present version; None before the first one."""
        return self.list[self._place] if self.list else None

    @property
    def file(self) -> PolicyFile:
        """The policy as it is.

        Raises:
            OutdatedPolicyError: there is none yet.
        """
        if self.current is None:
            raise OutdatedPolicyError(
                f"the policy {self.path.name} has no version yet: wait until one has been suggested"
            )
        return self.current.file

    @property
    def number(self) -> int:
        """The number of the present version, or 0."""
        return 0 if self.current is None else self.current.number

    @property
    def earlier(self) -> PolicyVersion | None:
        """The version before the present one, to undo to; None if there is none."""
        return self.list[self._place - 1] if self._place > 0 else None

    @property
    def later(self) -> PolicyVersion | None:
        """The version after the present one, to redo; None if there is none."""
        return self.list[self._place + 1] if self._place + 1 < len(self.list) else None

    @property
    def is_changed_outside(self) -> bool:
        """Whether the file differs from what was written last."""
        try:
            return self.current is None or not self.path.exists() or not _is_same(self._read(), self.current.file)
        except PolicyError:  # it cannot be read any more
            return True

    def add(
        self, what: str, edit: Callable[[PolicyFile], PolicyFile], number: int, *, stays_valid: bool = False
    ) -> None:
        """Make a version of an edit of version ``number``, and write it; an edit that changes nothing makes none.

        Args:
            what: the edit in words.
            edit: returns the edited file.
            number: the version that it was made for.
            stays_valid: refuse an edit that makes a valid policy invalid.

        Raises:
            OutdatedPolicyError: that is not the present version, or another program has changed the file.
            PolicyError, EngineError: the edit is not possible, or the file cannot be written; nothing changes.
        """
        self.check(number)
        edited = edit(self.file)
        if stays_valid and edited.problems and not self.file.problems:
            raise PolicyError("\n".join(f"{what}: {SETTING.sub('', each)}" for each in edited.problems))
        if not _is_same(edited, self.file):
            self._append(what, edited)

    def check(self, number: int) -> None:
        """Refuse a version that is not the present one, and a file that another program has changed.

        Raises:
            OutdatedPolicyError: says which of both.
        """
        if number != self.number:
            raise OutdatedPolicyError(
                "this was made for an older version of the policy, and nothing was changed: look at the present one"
            )
        if self.current is not None and self.is_changed_outside:
            raise OutdatedPolicyError(
                f"another program has changed {self.path.name} since it was written here: take its text in, or keep "
                "yours"
            )

    def begin(self, what: str, file: PolicyFile, number: int) -> None:
        """Make a version that depends on no earlier one, where ``number`` is the present one, or 0 for none.

        Raises:
            OutdatedPolicyError: there is another version, or another program has written the file.
            EngineError: the file cannot be written.
        """
        self.check(number)
        if self.current is None and self.path.exists():
            raise OutdatedPolicyError(f"another program has written {self.path.name} meanwhile: open it again")
        self._append(what, file)

    def move(self, number: int) -> None:
        """Go to another version, which becomes the file; a change then drops what lies ahead.

        Raises:
            OutdatedPolicyError: another program has changed the file.
            PolicyError, EngineError: the history lacks the version, or the file cannot be written.
        """
        self.check(self.number)
        places = [place for place, version in enumerate(self.list) if version.number == number]
        if not places:
            raise PolicyError(f"the history of {self.path.name} has no version of this number")
        self.list[places[0]].file.write(self.path, replace=True)
        self._note({"at": number})
        self._place = places[0]

    def take_in(self) -> None:
        """Make a version of the file as it is on the disk.

        Raises:
            PolicyError: it is not TOML.
        """
        file = self._read()
        _ = file.values
        self._append("opened" if self.current is None else "changed by another program", file, write=False)

    def keep(self) -> None:
        """Write the present version over what another program wrote."""
        self.file.write(self.path, replace=True)

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Return the lines of the policy file, and whether the last change made them."""
        now = self.file.text.splitlines()
        before = now if self.earlier is None else self.earlier.file.text.splitlines()
        for change, _, _, first, last in difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
            for line in now[first:last]:
                yield line, change != "equal"

    def close(self) -> None:
        """Release the file for others."""
        self._held.release()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, what: str, file: PolicyFile, *, write: bool = True) -> None:
        kept = self.list[: self._place + 1]
        known: Mapping[str, str] = kept[-1].file.taxonomies if kept else {}
        version = PolicyVersion(max((each.number for each in self.list), default=0) + 1, what, _now(), file)
        if write:
            file.write(self.path, replace=True)
        labels = {name: text for name, text in file.taxonomies.items() if known.get(name) != text}
        self._note(
            {
                "version": version.number,
                "what": what,
                "when": version.when,
                "text": file.text,
                "taxonomies": [*file.taxonomies],
                "labels": labels,
                "domains": dict(file.domains),
            }
        )
        self.list, self._place = [*kept, version], len(kept)

    def _note(self, line: Mapping[str, Any]) -> None:
        try:
            descriptor = os.open(self._history, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as history:
                history.write("\n" + json.dumps(line))  # first the end of a line that a killed process left
        except OSError as error:
            raise PolicyError(f"the history of {self.path.name} cannot be written: {error.strerror}") from None

    def _read(self) -> PolicyFile:
        return self._kind.read(self.path)

    def _replay(self) -> None:
        for text in self._history.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue  # the process ended while it wrote the line
            if "at" in line:
                self._place = next(place for place, each in enumerate(self.list) if each.number == line["at"])
                continue
            kept = self.list[: self._place + 1]
            known = (dict(kept[-1].file.taxonomies) if kept else {}) | line["labels"]
            file = self._kind(
                line["text"], {name: known[name] for name in line["taxonomies"]}, self.path, line["domains"]
            )
            self.list = [*kept, PolicyVersion(line["version"], line["what"], line["when"], file)]
            self._place = len(kept)


def _is_same(one: PolicyFile, other: PolicyFile) -> bool:
    return (one.text, one.taxonomies) == (other.text, other.taxonomies)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
