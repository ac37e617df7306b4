"""The desk: one source or several linked tables, the policy and the results, as the screens see them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from sqlanon.api.connection import connect
from sqlanon.app.jobs import Job, Work
from sqlanon.app.requests import Refused
from sqlanon.engines.locks import IN_USE, retry_while_locked
from sqlanon.errors import SqlanonError
from sqlanon.model.names import SOURCE_SUFFIXES
from sqlanon.suggestion.linked_policy_file import LinkedPolicyFile
from sqlanon.suggestion.policy_file import PolicyFile
from sqlanon.suggestion.policy_versions import PolicyVersions

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.policy.policy import Policy
    from sqlanon.suggestion.linked_suggestion import LinkedSuggestion
    from sqlanon.suggestion.suggestion import Suggestion

PATIENCE = 2.0  # seconds to wait for a job that was cancelled: the command line ends a process after five
IDLE = 2.0  # seconds after which a warehouse that nobody asks anything is closed, so that others can write it


@dataclass(frozen=True)
class Place:
    """What the command names: a source, its warehouse, the policy, and where releases may go.

    Without a source it is of linked tables of the warehouse.
    """

    source: str
    database: Path | None
    policy: Path | None  # by default beside the working folder's files, named like the source or the warehouse
    folders: tuple[Path, ...]
    ledger: Path | None = None  # that private releases are charged to; by default the warehouse

    @property
    def is_linked(self) -> bool:
        return not self.source

    @property
    def given(self) -> Any:
        """The source as calls of a session take it: none are given for linked tables, which the warehouse has."""
        return self.source or {}

    @property
    def name(self) -> str:
        """The source without the folders it is in; linked tables have the name of their warehouse."""
        if self.is_linked and self.database is not None:
            return self.database.name
        is_path = self.source.lower().endswith((*SOURCE_SUFFIXES, "/")) and not self.source.lower().startswith("select")
        return Path(self.source).name if is_path else self.source

    @property
    def stem(self) -> str:
        """The source in names of files: letters, digits, underscores and hyphens."""
        is_path = self.is_linked or self.source.lower().endswith(SOURCE_SUFFIXES)
        stem = Path(self.name).stem if is_path else self.source
        return re.sub(r"[^\w-]+", "_", stem).strip("_")[:60] or "table"

    @property
    def policy_file(self) -> Path:
        return self.policy or Path(f"{self.stem}.{'linked' if self.is_linked else 'policy'}.toml")


class Desk:
    """One source, or linked tables, and what was made of it; ``memory`` is what screens keep between two requests."""

    def __init__(self, place: Place, private: Path, number: int = 1) -> None:
        self.place, self.number = place, number  # of the desks of an office
        self.private = private  # the folder for previews
        self.lock = threading.RLock()  # one request after the other; a job takes it only to leave its result
        self.versions = PolicyVersions(place.policy_file, LinkedPolicyFile if place.is_linked else PolicyFile)
        self.suggestion: Suggestion | LinkedSuggestion | None = None
        self.shown: set[str] = set()  # columns whose values somebody asked for, until the app ends
        self.memory: dict[str, Any] = {}
        self.job: Job | None = None
        self._jobs = 0
        self._session: Session | None = None
        self._csv: dict[str, Any] = {}
        self._used = time.monotonic()
        self._is_writing = self._is_closed = False
        self._endings: list[Callable[[], None]] = []
        self._opened: WeakSet[Session] = WeakSet()  # sessions of jobs
        if place.database is not None:
            threading.Thread(target=self._close_when_idle, daemon=True).start()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A read-only session for a page; a warehouse is closed again when nobody asks for a while."""
        with self.lock:
            if self._is_writing:
                raise Refused(409, "the warehouse is being written: this page has rows again when that is done")
            if self._session is not None and self._csv != self.csv:
                # The policy reads the file in another way: nothing that was counted holds.
                self.forget()
                self.memory = {name: each for name, each in self.memory.items() if name in ("preview", "made")}
            if self._session is None:
                self._session, self._csv = self.open(), self.csv
            self._used = time.monotonic()
            try:
                yield self._session
            finally:
                self._used = time.monotonic()

    def open(self, *, read_only: bool = True) -> Session:
        """Open a session of its own, as a job needs one; the caller closes it."""
        options: dict[str, Any] = {"csv": self.csv, "ledger": self.place.ledger}
        database = self.place.database
        if database is None:
            session = connect(**options)
        else:
            session = retry_while_locked(lambda: connect(database, read_only=read_only, **options), IN_USE)
        self._opened.add(session)
        return session

    def is_charged(self, policy: Policy) -> bool:
        """Return whether a release of the policy is charged to the ledger in the warehouse."""
        return policy.has_private_method and self.place.database is not None and self.place.ledger is None

    @property
    def linked_file(self) -> LinkedPolicyFile | None:
        """The policy file of linked tables; None before it is there, and at a desk of one table."""
        file = None if self.versions.current is None else self.versions.file
        return file if isinstance(file, LinkedPolicyFile) else None

    @property
    def csv(self) -> dict[str, Any]:
        """How the policy reads CSV files; nothing special if it is not TOML."""
        with suppress(SqlanonError):
            if self.versions.current is not None and isinstance(found := self.versions.file.values.get("csv"), dict):
                return found
        return {}

    def types(self) -> dict[str, str]:
        """Return the types of the columns of the source."""
        with self.session() as session:
            if "types" not in self.memory:
                self.memory["types"] = session.columns(self.place.source)
        found: dict[str, str] = self.memory["types"]
        return found

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that may write the warehouse; all others on it are closed before, and pages wait."""
        try:
            with self.lock:
                self._is_writing = True
                self.forget()
            with self.open(read_only=False) as session:
                yield session
        finally:
            self._is_writing = False

    def start(self, what: str, then: str, work: Work) -> None:
        """Start a job, unless one is running."""
        if self.is_busy:
            raise Refused(409, "one thing at a time: wait for what is running, or cancel it")
        self._jobs += 1
        self.job = Job(self._jobs, what, then, work)
        self.job.start()

    @property
    def is_busy(self) -> bool:
        return self.job is not None and self.job.state == "running"

    def at_end(self, ending: Callable[[], None]) -> None:
        """Have something called before the warehouse is written or closed, such as the end of an exploration."""
        self._endings.append(ending)

    def forget(self) -> None:
        """Close what is open on the source."""
        with self.lock:
            endings, self._endings = self._endings, []
            for ending in endings:
                ending()
            if self._session is not None:
                self._session.close()
                self._session = None

    def target(self, text: str) -> Path:
        """Return the place of a file or folder that somebody typed, below one of the folders.

        Raises:
            Refused: it lies elsewhere.
        """
        for folder in self.place.folders:
            place = folder / text
            is_name = "://" not in text and "\0" not in text and ".." not in Path(text).parts
            if is_name and place.resolve().is_relative_to(folder.resolve()):
                return place
        names = ", ".join(folder.resolve().name for folder in self.place.folders)
        raise Refused(422, f"a release goes below the folder {names}: type a name without .. and without an address")

    def close(self) -> None:
        """Cancel the job, and close everything; a statement that is running is interrupted."""
        if self._is_closed:
            return
        self._is_closed = True
        if self.is_busy and self.job is not None:
            self.job.ask("cancel")
            for session in [*self._opened]:
                with suppress(Exception):  # it is closed already
                    session.connection.interrupt()
            self.job.wait(PATIENCE)
        with suppress(Exception):
            self.forget()
        self.versions.close()

    def _close_when_idle(self) -> None:
        while not self._is_closed:
            time.sleep(IDLE / 4)
            with self.lock:
                if self._session is not None and time.monotonic() - self._used > IDLE:
                    self._session.close()
                    self._session = None
