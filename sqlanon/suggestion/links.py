"""Which tables of a database have rows of the same persons: columns with the keys of other tables, as a tree."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from sqlanon.engines.duckdb import Compute
from sqlanon.model.names import folded
from sqlanon.queries.kit.named import Queries
from sqlanon.suggestion.column_words import plain, word_of
from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.suggest import ExaminedTable

SQL = Queries("links")
MAX_LEFT_OUT = 0.2  # maximum share of rows without a key of the other table
SIEVE = 10_000  # values that are looked up first
MAX_LOOKED_UP = 400  # maximum number of pairs of a column and a key that are looked up
SHARE_OF_USED_KEYS = 0.5  # minimum share of keys that rows must use where no name says what they are

OWN_KEYS = ("", "id", "key", "code", "nr", "no", "number", "num", "uid", "guid", "pk", "rowid", "name", "index")
"""Names of keys that say nothing of their table, and what follows the name of a table in those of its keys."""
PERSONS = ("people", "persons")  # tables of persons; others have a word for the id of a person


@dataclass(frozen=True)
class Link:
    """A column with the keys of another table.

    Attributes:
        exactness: how far its name says so: 2 if it is that of the key, 1 if it ends like it, 0 if not at all.
        rows, null_rows, orphan_rows: its rows, those without a value, and those whose value is not a key.
        used_keys, keys: the keys that it has, of all keys.
    """

    table: str
    key: str
    parent: str
    row_key: str
    exactness: int
    is_declared: bool = False
    rows: int = 0
    null_rows: int = 0
    orphan_rows: int = 0
    used_keys: int = 0
    keys: int = 0

    @property
    def left_out(self) -> int:
        return self.null_rows + self.orphan_rows

    @property
    def is_doubtful(self) -> bool:
        """Whether a person has to decide."""
        return not self.is_declared and (self.left_out > 0 or not self.exactness)

    @property
    def holds(self) -> bool:
        is_included = self.rows > 0 and self.left_out <= MAX_LEFT_OUT * self.rows
        is_meant = self.exactness > 0 or self.used_keys >= SHARE_OF_USED_KEYS * self.keys
        return self.is_declared or (is_included and is_meant)

    @property
    def reason(self) -> str:
        """Why the table hangs from its parent, in words that quote no value."""
        some = f"{self.rows - self.left_out:,} of {self.rows:,}" if self.left_out else f"all {self.rows:,}"
        found = f"{some} rows have a key of {self.parent}, which use {self.used_keys:,} of its {self.keys:,} keys"
        if self.is_declared:
            return f"declared as a foreign key; {found}"
        return found if self.exactness else f"{found}; by values alone, not by name"


def found_links(engine: Compute, tables: Mapping[str, ExaminedTable], declared: Iterable[Sequence[str]]) -> list[Link]:
    """Look up which columns have keys of other tables: those that are declared, then those whose name says so."""
    known = {tuple(map(folded, names)) for names in declared}
    candidates = sorted(_candidates(tables, known), key=lambda link: (not link.is_declared, -link.exactness))
    looked_up = (_looked_up(engine, tables, link) for link in itertools.islice(candidates, MAX_LOOKED_UP))
    return [link for link in looked_up if link.holds]


def _candidates(tables: Mapping[str, ExaminedTable], declared: set[tuple[str, ...]]) -> Iterator[Link]:
    """Pair columns with those of other tables that are never missing, and different in all rows."""
    for (parent, above), (table, below) in itertools.permutations(tables.items(), 2):
        unique = [each for each in above.evidence.values() if each.values == each.rows > 0 and _can_be_key(each)]
        for row_key, found in itertools.product(unique, below.evidence.values()):
            place = table, found.name, parent, row_key.name
            exactness = _exactness(found.name, parent, row_key.name)
            is_declared = tuple(map(folded, place)) in declared
            if is_declared or _may_link(found, row_key, exactness):
                yield Link(*place, exactness, is_declared, keys=above.rows)


def _may_link(found: Evidence, key: Evidence, exactness: int) -> bool:
    """Return whether counts allow a link: serial numbers of two tables, or few codes, are none without a name."""
    if not found.values or not _can_be_key(found) or found.column.traits.is_text != key.column.traits.is_text:
        return False
    repeats = found.values < found.filled
    return exactness > 0 or (repeats and found.values >= SHARE_OF_USED_KEYS * key.values)


def _can_be_key(found: Evidence) -> bool:
    traits = found.column.traits
    is_whole = traits.is_number and not (traits.is_fractional or traits.is_float)
    return traits.is_text or is_whole or (traits.has_one_text and not (traits.is_number or traits.is_date))


def _exactness(key: str, parent: str, row_key: str) -> int:
    """Return how far the name of a column says that it has the keys of a table; see :class:`Link`."""
    own, known = _compact(key), _compact(row_key)
    stems = {_compact(parent.rpartition(".")[2]), _singular(parent)}
    names = {known} - {*OWN_KEYS} | {stem + end for stem in stems for end in (*OWN_KEYS, known)}
    names |= {f"id{stem}" for stem in stems}
    if own in names:
        return 2
    return int(any(own.endswith(name) for name in names if len(name) > max(map(len, OWN_KEYS))))


def _compact(name: str) -> str:
    return re.sub(r"\W|_", "", plain(name).lower())


def _singular(table: str) -> str:
    name = _compact(table.rpartition(".")[2])
    return re.sub("ies$", "y", name) if name.endswith("ies") else re.sub("(?<=[^s])s$", "", name)


def _looked_up(engine: Compute, tables: Mapping[str, ExaminedTable], link: Link) -> Link:
    """Count the rows of a column with a key: of some of its values first, and of all only if most of these are keys."""
    table, parent = tables[link.table], tables[link.parent]
    roles = SQL.given(source=table.relation, above=parent.relation, key=link.key, row_key=link.row_key)
    for parts in dict.fromkeys((max(1, table.evidence[link.key].values // SIEVE), 1)):
        [counts] = engine.fetch(roles.query("linked_rows", parts=parts), f"rows with keys of {link.parent}")
        if counts["orphan_rows"] > 2 * MAX_LEFT_OUT * counts["row_count"]:
            break
    return replace(link, rows=counts.pop("row_count"), **counts)


@dataclass(frozen=True)
class Tree:
    """The table of persons, and the links of the tables that hang from it, parents first."""

    root: str
    says_persons: bool  # by its name, or that of its key
    row_keys: Mapping[str, str]
    links: Mapping[str, Link]
    others: Sequence[Link]  # other columns with keys of these tables, as their names say

    def row_key(self, name: str) -> str | None:
        """Return the key of the table of persons, or of one from which others hang."""
        is_above = name == self.root or any(link.parent == name for link in self.links.values())
        return self.row_keys[name] if is_above else None


def tree_of(tables: Mapping[str, ExaminedTable], links: Sequence[Link]) -> Tree | None:
    """Choose the table of persons: the one whose name says so, or from which most tables hang; None without links."""
    row_keys = _row_keys(links)
    if not row_keys:
        return None
    taken = [link for link in links if link.row_key == row_keys[link.parent]]
    below = {name: _below(name, taken) for name in row_keys}
    persons = {name: _is_of_persons(name, row_key) for name, row_key in row_keys.items()}
    root = max(row_keys, key=lambda name: (persons[name], len(below[name]), tables[name].rows))
    found = {name: below[root][name] for name in sorted(below[root], key=lambda name: len(_path(name, below[root])))}
    chosen = {(name, link.key) for name, link in found.items()}
    others = [link for link in links if link.parent in {root, *found} and (link.table, link.key) not in chosen]
    named = [link for link in others if (link.exactness or link.is_declared) and link.table != root]
    return Tree(root, persons[root] > 0, row_keys, found, named)


def _row_keys(links: Sequence[Link]) -> dict[str, str]:
    """Choose the key of each table that has others: the one that most columns have, those of its name first."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for link in links:
        votes[link.parent][link.row_key] += 1 + 10 * link.exactness + 1_000 * link.is_declared
    return {parent: counts.most_common(1)[0][0] for parent, counts in votes.items()}


def _is_of_persons(name: str, row_key: str) -> int:
    """Return 2 if the name of a table is that of persons, 1 if only that of its key is, and 0 otherwise."""
    stem = _singular(name)
    of_table, of_key = (word is not None and word.kind == "person" for word in map(word_of, (f"{stem}id", row_key)))
    return 2 if stem in PERSONS or of_table else int(of_key)


def _below(root: str, links: Sequence[Link]) -> dict[str, Link]:
    """Return the tables below a table, each with its best link to the deepest parent.

    A diagnosis with keys of its visit and its patient hangs from the visit. Links of one key stay where they are.
    """
    found: dict[str, Link] = {}
    level = {root}
    while level:
        moved: set[str] = set()
        for link in sorted(links, key=attrgetter("is_doubtful", "left_out")):
            if link.parent not in level or link.table in {*moved, *_path(link.parent, found)}:
                continue
            now = found.get(link.table)
            if now is None or (link.key != now.key and link.is_doubtful <= now.is_doubtful):
                found[link.table] = link
                moved.add(link.table)
        level = moved
    return found


def _path(table: str, links: Mapping[str, Link]) -> list[str]:
    """Return the tables from one up to that of persons."""
    path = [table]
    while path[-1] in links:
        path.append(links[path[-1]].parent)
    return path
