"""The engine of an open session, shared by all parts of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from sqlanon.api.linked_calls import FORMS, NOT_YET
from sqlanon.engines.frames import is_frame
from sqlanon.errors import EngineError, PolicyError
from sqlanon.methods.stages import silent

if TYPE_CHECKING:
    from sqlanon.binding.loading import TaxonomyLoad
    from sqlanon.engines.duckdb import Connection, Engine, OpenedDatabase
    from sqlanon.engines.locks import CallLock
    from sqlanon.engines.relations import ResolvedSource, Source
    from sqlanon.model.destination import Destination
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import GivenPolicy, Policy
    from sqlanon.model.release import Published


Written = TypeVar("Written", bound="Published")
Callback = TypeVar("Callback", bound="Callable[..., Any] | None")


class OpenedEngine:
    """The engine of a session, requested on each use, so that a closed session is refused from any part."""

    def __init__(self, opened: OpenedDatabase) -> None:
        self._opened = opened
        self._made: Engine | None = None
        self._waiting: list[TaxonomyLoad] = []
        self._is_closed = False
        self.exploration: AbstractContextManager[object] | None = None  # which takes all calls while it is open

    @property
    def engine(self) -> Engine:
        """The engine, after waiting taxonomies are stored."""
        engine = self._open_engine()
        if self._waiting:
            from sqlanon.binding.loading import load

            with self._opened.lock.held():
                load(engine, self._waiting)
                self._waiting = []
        return engine

    def wait_to_store(self, taxonomies: Sequence[TaxonomyLoad]) -> bool:
        """Keep taxonomies until one is needed, if nobody else sees the database, and then store all at once.

        Return whether they wait. Any that may be malformed do not, so that their error comes at once.
        """
        is_waiting = self._opened.is_hidden and all(each.is_ready() for each in taxonomies)
        if is_waiting:
            self._waiting += taxonomies
        return is_waiting

    @property
    def connection(self) -> Connection:
        """The connection, through which others may look at the database from now on."""
        self._opened.is_hidden = False
        return self.engine.connection

    def _open_engine(self) -> Engine:
        if self._is_closed:
            raise EngineError("the session is closed; open another one with connect()", step="session")
        if self._made is None:
            self._made = self._opened.engine()
        return self._made

    def resolve(self, source: Source, *, here: bool = False) -> ResolvedSource:
        """Resolve a source; ``here`` has the database read it even if rows are on a server."""
        engine = self.engine
        if isinstance(source, Mapping):
            raise PolicyError(FORMS)
        if not is_frame(source):
            from sqlanon.publish.files import bring_back

            bring_back(str(source))
        return engine.resolve(source, here=here)

    def with_rows(self, release: Written, target: Destination) -> Written:
        """Let a release return its rows, as they are in its target by then."""
        source = target.name if target.kind in ("table", "lake", "store") else str(target.path)

        def rows(form: str, limit: int | None = None) -> Any:
            from sqlglot import exp

            from sqlanon.queries.kit.nodes import select, subquery

            with self.call():
                found = self.resolve(source, here=True).relation
                if limit is not None:
                    found = subquery(select([exp.Star()], found.copy()).limit(limit), "anon_rows")
                return self.engine.hand_out(found, form)

        release._rows = OfSession(rows)
        return release

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make a call: other threads wait for its end, and its frames are forgotten then.

        A closed session, and a callback of a call, are refused.
        """
        engine = self._open_engine()
        with self._opened.lock.held(), engine.reading_frames():
            with suppress(EngineError):  # settings may be locked; a policy with a time zone fails later
                engine.read_as(None, "UTC")
            yield

    def checked(self, given: GivenPolicy | LinkedPolicy, what: str) -> Policy:
        """Validate a policy of one table as :meth:`given` does, for ``what`` is not for several tables."""
        from sqlanon.model.policy.linked_policy import LinkedPolicy

        policy = self.given(given)
        if isinstance(policy, LinkedPolicy):
            raise PolicyError(f"{what} {NOT_YET}")
        return policy

    def given(self, given: GivenPolicy | LinkedPolicy) -> Policy | LinkedPolicy:
        """Validate a policy, and read CSV files and times by its settings during this call."""
        from sqlanon.model.policy.linked_policy import given_policy

        policy, csv = given_policy(given), self._opened.csv
        if csv is not None:
            policy = policy.changed({"csv": csv if policy.csv is None else policy.csv.with_changes(csv)})
        self.engine.read_as(policy.csv, policy.timezone)
        return policy

    def callback(self, given: Callback) -> Callback:
        """Wrap a function of the user, if any, so that it cannot call the session."""
        if given is None or given is silent:
            return given
        if not callable(given):
            raise PolicyError(f"progress and stop must be functions, not a {type(given).__name__}")
        return cast("Callback", self._opened.lock.calling_back(given))

    @property
    def lock(self) -> CallLock:
        return self._opened.lock

    def close(self) -> None:
        """Close the connection, unless it was lent, after other threads' calls."""
        if self.exploration is not None:
            self.exploration.__exit__(None, None, None)
        with self._opened.lock.held(always=True):
            self._is_closed = True
            self._opened.close()


class Part:
    """A part of a session, which is refused once the session is closed."""

    def __init__(self, opened: OpenedEngine) -> None:
        self._opened = opened

    @property
    def _engine(self) -> Engine:
        return self._opened.engine


class OfSession:
    """A function of the session that returned a value; a copy of the value in another process lacks it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()
