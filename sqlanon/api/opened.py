"""The engine of a session while the session is open, which all parts of it share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from sqlanon.engines.frames import is_frame
from sqlanon.errors import EngineError, PolicyError
from sqlanon.methods.progress import silent

if TYPE_CHECKING:
    from sqlanon.binding.loading import TaxonomyLoad
    from sqlanon.engines.duckdb import Connection, Engine, OpenedDatabase
    from sqlanon.engines.relations import ResolvedSource, Source
    from sqlanon.model.destination import Destination
    from sqlanon.model.policy.policy import GivenPolicy, Policy
    from sqlanon.model.release import Published


Written = TypeVar("Written", bound="Published")
Callback = TypeVar("Callback", bound="Callable[..., Any] | None")


class OpenedEngine:
    """An engine that is asked for whenever it is used, so that a closed session is refused however it is reached."""

    def __init__(self, opened: OpenedDatabase) -> None:
        self._opened = opened
        self._made: Engine | None = None
        self._waiting: list[TaxonomyLoad] = []
        self._is_closed = False

    @property
    def engine(self) -> Engine:
        """The engine, once the taxonomies that wait are stored."""
        engine = self._open_engine()
        if self._waiting:
            from sqlanon.binding.loading import load

            with self._opened.lock.held():
                load(engine, self._waiting)
                self._waiting = []
        return engine

    def wait_to_store(self, taxonomies: Sequence[TaxonomyLoad]) -> bool:
        """Keep taxonomies until somebody needs one, where nobody else can look for them: together they take less time.

        Return whether they wait. Those that may be malformed do not, so that their error comes at once.
        """
        is_waiting = self._opened.is_hidden and all(each.is_ready() for each in taxonomies)
        if is_waiting:
            self._waiting += taxonomies
        return is_waiting

    @property
    def connection(self) -> Connection:
        """The connection, through which anybody may look at the database from now on."""
        self._opened.is_hidden = False
        return self.engine.connection

    def _open_engine(self) -> Engine:
        if self._is_closed:
            raise EngineError("the session is closed; open another one with connect()", step="session")
        if self._made is None:
            self._made = self._opened.engine()
        return self._made

    def resolve(self, source: Source, *, here: bool = False) -> ResolvedSource:
        """Find what a source names; ``here`` has the database read it, wherever rows are."""
        engine = self.engine
        if not is_frame(source):
            from sqlanon.publish.files import bring_back

            bring_back(str(source))
        return engine.resolve(source, here=here)

    def with_rows(self, release: Written, target: Destination) -> Written:
        """Let a release be asked for its rows, as they are in its target then."""
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
        """Make a call: those of other threads wait until it ends, and the frames that it was given are forgotten then.

        A call to a closed session, or from a callback, is refused.
        """
        engine = self._open_engine()
        with self._opened.lock.held(), engine.reading_frames():
            with suppress(EngineError):  # whose settings are locked, which matters where a policy has a zone
                engine.read_as(None, "UTC")
            yield

    def checked(self, given: GivenPolicy) -> Policy:
        """Check the policy that a verb is given; what the call reads from now on is read as it says."""
        from sqlanon.model.policy.policy import policy_of

        policy, csv = policy_of(given), self._opened.csv
        if csv is not None:
            policy = policy.changed({"csv": csv if policy.csv is None else policy.csv.with_changes(csv)})
        self.engine.read_as(policy.csv, policy.timezone)
        return policy

    def callback(self, given: Callback) -> Callback:
        """Wrap a function of the user, if any, that a call is to call, so that it cannot call the session."""
        if given is None or given is silent:
            return given
        if not callable(given):
            raise PolicyError(f"progress and stop are functions that a run calls, not a {type(given).__name__}")
        return cast("Callback", self._opened.lock.calling_back(given))

    def close(self) -> None:
        """Close the connection, unless it was lent, after the calls of other threads; the engine is gone then."""
        with self._opened.lock.held():
            self._is_closed = True
            self._opened.close()


class Part:
    """A part of a session, which is refused with it once it is closed."""

    def __init__(self, opened: OpenedEngine) -> None:
        self._opened = opened

    @property
    def _engine(self) -> Engine:
        return self._opened.engine


class OfSession:
    """The link of a value to the session that has handed it out; a copy in another process has none."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()
