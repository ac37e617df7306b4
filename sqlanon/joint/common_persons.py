"""The persons that sources of releases have in common: keys that are written otherwise in one of them match nobody.

Persons who are in no other source make joint classes of their own, which would be as large as the classes of each
release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.model.names import enumerated
from sqlanon.queries.release import earlier as queries

COMMON_SHARE = 0.5
"""A source has few persons in common with another one if both have less than this share of those of the smaller one."""


# guarded: tests/unit/test_guarded_releases.py
def refuse_strangers(engine: Compute, sources: Sequence[tuple[BoundPolicy, str]], *, as_text: bool) -> None:
    """Refuse sources without a person in common, and make the table that :func:`few_in_common` reads.

    Args:
        engine: the database.
        sources: the sources of releases, and the column of each that identifies a person.
        as_text: whether keys are compared as text.

    Raises:
        PolicyError: no chain of sources with persons in common connects all of them.
    """
    if not sources:
        return
    read = [(bound.source, key) for bound, key in sources]
    engine.run(queries.persons_by_sources(read, as_text=as_text))
    common = _common(engine, len(sources))
    there = [place for place in range(len(sources)) if common[place][place]]
    connected = {*there[:1]}
    for _ in there:
        connected |= {place for place in there if any(common[place][other] for other in connected)}
    if strangers := [sources[place][0].description for place in there if place not in connected]:
        others = enumerated(dict.fromkeys(sources[place][0].description for place in sorted(connected)))
        raise PolicyError(
            f'no key "{sources[0][1]}" of {enumerated(dict.fromkeys(strangers))} is in {others}, so that joint classes '
            "would not count who is in several of them:",
            [
                *_types(sources),
                "write keys in one way in all sources; releases of other persons need not be held together",
            ],
        )


# guarded: tests/unit/test_guarded_releases.py
def few_in_common(engine: Compute, sources: Sequence[tuple[BoundPolicy, str]]) -> tuple[str, ...]:
    """A sentence on each source that has few persons in common with any other one, after :func:`refuse_strangers`."""
    if not sources:
        return ()
    common, written = _common(engine, len(sources)), "; ".join(_types(sources))
    there = [place for place in range(len(sources)) if common[place][place]]

    def share(one: int, other: int) -> float:
        return common[one][other] / min(common[one][one], common[other][other])

    return tuple(
        f"fewer than half of the persons of {sources[one][0].description} are found in another source by their keys: "
        f"keys that are written otherwise match nobody, and joint classes seem larger than they are ({written})"
        for one in there
        if max((share(one, other) for other in there if other != one), default=COMMON_SHARE) < COMMON_SHARE
    )


def _common(engine: Compute, count: int) -> list[list[int]]:
    """How many persons each of some sources has in common with each."""
    found = engine.fetch(queries.common_persons(), "persons in common", "node")
    groups = [(row["anon_are_in"], row["anon_persons"]) for row in found]
    return [
        [sum(persons for are_in, persons in groups if are_in[one] and are_in[other]) for other in range(count)]
        for one in range(count)
    ]


def _types(sources: Sequence[tuple[BoundPolicy, str]]) -> Iterator[str]:
    """The types of the keys of some sources."""
    for bound, key in sources:
        [kind] = [column.type for column in bound.columns if column.name == key]
        yield f'"{key}" is {kind} in {bound.description}'
