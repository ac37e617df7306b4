"""Rows outside the database, and splitting queries between them and it.

The part of a query that reads rows is counted at their home; the database computes the rest from the results. The
innermost SELECT with GROUP BY, DISTINCT or an aggregate over rows is sent, and its result takes its place. An aggregate
of only such groups, if nothing else reads these, is sent with them, so that less comes back. Equal aggregates are sent
once. Without an aggregate over rows, the query itself is of rows, and is not fetched. An aggregate with too large a
result counts as rows, and its own aggregates are sent instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from sqlglot import exp

from sqlanon.engines.relations import ResolvedSource
from sqlanon.queries.kit.nodes import Relation, identifier, select
from sqlanon.queries.kit.steps import GIVEN, in_steps
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa

    Small = Mapping[str, pa.Table]


class Staged(Protocol):
    """A place for the files of a release, which the home of the rows writes."""

    @property
    def place(self) -> str:
        """The path or address of a folder that does not exist yet."""

    def collected(self) -> Sequence[str]:
        """Return the written files, spelled for the home of the rows; refuse an empty folder."""


class Rows(Protocol):
    """A home of rows outside the database, where they are counted and released.

    The database asks for aggregates with small results (:mod:`sqlanon.engines.cutting`), and passes the small relations
    that they read, by name (``small``). Relations of the size of the source are made there and never transferred.

    Attributes:
        max_cells: the most rows of a count's result that may be transferred.
    """

    max_cells: int

    def owns(self, relation: exp.Table) -> bool:
        """Return whether a relation is there: a table, or one made for the run."""

    def scan(self, source: str) -> ResolvedSource | None:
        """Resolve a name to a source in a state that is fixed for the run; None if there is none."""

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        """Describe the columns of a relation there, in DuckDB's types."""

    def misfits(self, columns: Sequence[SourceColumn]) -> Iterable[str]:
        """Yield a sentence for each column that cannot be counted or released there."""
        return ()

    def count(self, query: exp.Query, small: Small, purpose: str) -> pa.Table | None:
        """Return the result of an aggregate; None if it has too many rows to transfer."""

    def make(self, relation: Relation, query: exp.Query, small: Small, purpose: str) -> None:
        """Make a relation of rows for the run, in the order of the query."""

    def drop(self, relation: exp.Table) -> None:
        """Drop a relation that was made for the run."""

    def write(self, query: exp.Query, small: Small, staged: Staged) -> exp.Table:
        """Write the rows of a query as Parquet files to a shared place, and return them as a relation."""

    def files(self, relation: exp.Table) -> tuple[str, ...]:
        """Return the files of a relation, as this machine would see them on a shared file system."""
        return ()

    def spelled(self, query: exp.Query) -> str:
        """Spell a query over a source for users of that home."""

    def refuse_changed(self, relation: exp.Table) -> None:
        """Refuse to continue if a source has changed since a relation was made of it."""

    def close(self) -> None:
        """Close the connection."""


COUNTED = "anon_counted"  # prefix of the names of results
FILES = "anon_files"  # the name for files that are read by a function

OTHER_AGGREGATES = frozenset({"bit_or", "fsum", "histogram", "list", "product"})
"""Aggregates of our queries and macros without a class in sqlglot."""

Owns = Callable[[exp.Table], bool]  # whether a relation is at the home of rows

Side = Literal["near", "rows", "groups"]
"""Where a query can be answered: near, from rows, or from rows by an aggregate that is not sent yet."""


@dataclass(frozen=True)
class Sent:
    query: exp.Query  # with names of ``small`` in place of the database's relations
    small: Mapping[str, exp.Query]  # those relations; they may read earlier results


@dataclass(frozen=True)
class Cut:
    counted: Mapping[str, Sent]  # the aggregates to send, in order, by result name
    rest: exp.Query | Sent  # over the results; to be sent as well if it is of rows


def cut(query: exp.Query, owns: Owns, large: Collection[Sent] = ()) -> Cut:
    """Split a query without changing its tree; aggregates in ``large`` have too large a result."""
    if not any(owns(table) for table in query.find_all(exp.Table)):
        return Cut({}, query)
    steps = in_steps(query)
    assert isinstance(steps, exp.Query)
    return _Cutting(steps.copy(), owns, large).cut()


def whole(query: exp.Query, owns: Owns) -> Sent:
    return _Cutting(query.copy(), owns).whole()


class _Cutting:
    """A query in steps, whose tree is rewritten from the inside out."""

    def __init__(self, query: exp.Query, owns: Owns, large: Collection[Sent] = ()) -> None:
        self._query = _in_one_with(query)
        self._large = large
        self._owns = owns
        self._readers = Counter(_read(table) for table in query.find_all(exp.Table) if not table.db)
        self._steps: dict[str, exp.CTE] = {}
        self._sides: dict[str, Side] = {}
        self._sent: dict[str, Sent] = {}

    def cut(self) -> Cut:
        side = self._side(self._query)
        if side == "groups":
            self._query = self._counted(self._query)
        if side == "rows":
            return Cut(self._sent, self._far(self._query))
        near = [step for step in self._query.ctes if self._sides[step.alias] == "near"]
        return Cut(self._sent, _with_steps(self._query, near))  # without the steps that were sent as part of others

    def whole(self) -> Sent:
        return self._far(self._query)

    def _side(self, query: exp.Query) -> Side:
        """Return the side of a query, and send everything inside it that can be sent."""
        if query is not self._query and (query.ctes or (query.parent and query.parent.meta_get(GIVEN))):
            # It stays in one piece.
            return (
                "near" if all(self._side_of_table(table) == "near" for table in query.find_all(exp.Table)) else "rows"
            )
        for step in query.ctes:
            self._steps[step.alias], self._sides[step.alias] = step, self._side(step.this)
        parts = list(_parts(query))
        inner = [part for part in parts if isinstance(part, exp.Query)]
        sides: dict[int, Side] = {id(part): self._side(part) for part in inner}
        sides |= {id(part): self._side_of_table(part) for part in parts if isinstance(part, exp.Table)}
        groups = [part for part in parts if sides[id(part)] == "groups"]
        if groups and len(groups) == len(parts) and self._goes_with(groups, query):
            return "groups"
        for part in groups:
            self._send(part)
        if all(side != "rows" for side in sides.values()):
            return "near"
        is_large = bool(self._large) and self._far(query) in self._large
        return "groups" if _is_aggregate(query) and not is_large else "rows"

    def _side_of_table(self, table: exp.Table) -> Side:
        if self._owns(table):
            return "rows"
        return "near" if table.db else self._sides.get(_read(table), "near")

    def _goes_with(self, groups: list[exp.Query | exp.Table], query: exp.Query) -> bool:
        """Return whether a query aggregates one relation of groups with no other reader, or unions single rows."""
        if any(self._readers[_read(part)] > 1 for part in groups if isinstance(part, exp.Table)):
            return False
        if isinstance(query, exp.SetOperation):
            made = (part if isinstance(part, exp.Query) else self._steps[_read(part)].this for part in groups)
            return not query.args.get("distinct") and all(map(_is_of_one_row, made))
        return len(groups) == 1 and _is_aggregate(query)

    def _send(self, part: exp.Query | exp.Table) -> None:
        if isinstance(part, exp.Query):
            part.replace(self._counted(part))
        elif self._sides[_read(part)] == "groups":
            step = self._steps[_read(part)]
            step.set("this", self._counted(step.this))
            self._sides[step.alias] = "near"

    def _counted(self, query: exp.Query) -> exp.Select:
        sent = self._far(query)
        name = next((name for name, other in self._sent.items() if other == sent), f"{COUNTED}_{len(self._sent)}")
        self._sent[name] = sent
        return select([exp.Star()], exp.Table(this=identifier(name)))

    def _far(self, query: exp.Query) -> Sent:
        """Make a self-contained query with its steps, over relations of rows and small ones."""
        query = _with_steps(query.copy(), self._needed(query, near=False))
        own = {step.alias for step in query.find_all(exp.CTE)}
        small: dict[str, exp.Query] = {}
        for table in list(query.find_all(exp.Table)):
            if self._owns(table) or (not table.db and _read(table) in own):
                continue
            alias = table.args.get("alias") or exp.TableAlias(this=identifier(_read(table) or FILES))
            bare = table.copy()
            bare.set("alias", None)
            read: exp.Query = select([exp.Star()], bare)
            read = _with_steps(read, self._needed(read, near=True))
            name = _free_name(alias.name, read, small, own)
            small[name] = read
            table.replace(exp.Table(this=identifier(name), alias=alias.copy()))
        return Sent(query, small)

    def _needed(self, query: exp.Query, *, near: bool) -> list[exp.CTE]:
        """Return the steps on one side that a query reads, directly or not, each after those that it reads."""
        found: dict[str, exp.CTE] = {}

        def collect(node: exp.Expr) -> None:
            for table in node.find_all(exp.Table):
                name = _read(table)
                is_wanted = not table.db and (self._sides.get(name) == "near") is near
                if is_wanted and name in self._steps and name not in found:
                    collect(self._steps[name].this)
                    found[name] = self._steps[name]

        collect(query)
        return [*found.values()]


def _in_one_with(query: exp.Query) -> exp.Query:
    """Move the steps of inner queries to the query's own, unless names collide."""
    names = Counter(step.alias for step in query.find_all(exp.CTE))
    for inner in [*query.find_all(exp.With)]:
        around = inner.parent
        assert isinstance(around, exp.Query)
        above: exp.Expr | None = inner
        while above is not None and not above.meta_get(GIVEN):
            above = above.parent
        stays = around is query or inner.recursive or above is not None  # in the user's query
        if stays or any(names[step.alias] > 1 for step in inner.expressions):
            continue
        steps = query.ctes
        place = next((place for place, step in enumerate(steps) if inner.find_ancestor(exp.CTE) is step), len(steps))
        around.set("with_", None)
        query = _with_steps(query, [*steps[:place], *inner.expressions, *steps[place:]])
    return query


def _with_steps(query: exp.Query, steps: list[exp.CTE]) -> exp.Query:
    query.set("with_", exp.With(expressions=[step.copy() for step in steps]) if steps else None)
    return query


def _read(table: exp.Table) -> str:
    """Return the name of a table's relation; macros pass it to ``query_table`` as a text."""
    if isinstance(table.this, exp.Anonymous) and table.this.name.lower() == "query_table":
        return next((text.name for text in table.find_all(exp.Literal) if text.is_string), "")
    return table.name


def _parts(query: exp.Expr) -> Iterator[exp.Query | exp.Table]:
    """Yield the relations and queries directly below a query, without its steps."""
    for name, value in query.args.items():
        for child in value if isinstance(value, list) else [value]:
            if name == "with_" or not isinstance(child, exp.Expr):
                continue
            if isinstance(child, exp.Select | exp.SetOperation | exp.Table):
                yield child
            if not isinstance(child, exp.Select | exp.SetOperation):
                yield from _parts(child)


def _is_aggregate(query: exp.Query) -> bool:
    if isinstance(query, exp.SetOperation):
        return bool(query.args.get("distinct"))
    return bool(query.args.get("group") or query.args.get("distinct")) or any(map(_aggregates, query.selects))


def _is_of_one_row(query: exp.Query) -> bool:
    if isinstance(query, exp.SetOperation):
        return not query.args.get("distinct")
    return not query.args.get("group") and not query.args.get("distinct") and any(map(_aggregates, query.selects))


def _aggregates(node: exp.Expr) -> bool:
    """Return whether an expression aggregates rows outside of windows and subqueries."""
    if isinstance(node, exp.Window | exp.Select | exp.SetOperation):
        return False
    is_other = isinstance(node, exp.Anonymous) and node.name.lower() in OTHER_AGGREGATES
    return is_other or isinstance(node, exp.AggFunc) or any(map(_aggregates, node.iter_expressions()))


def _free_name(wanted: str, query: exp.Query, others: Mapping[str, exp.Query], taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken or others.get(name, query) != query:
        name, number = f"{wanted}_{number}", number + 1
    return name
