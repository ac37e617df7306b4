"""What a promise rests on about the tables and files that a query reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.model.datasets import KnownSource

MAX_NAMED = 5
"""How many tables and files a condition names; of more it gives the number."""


def about_sources(bound: BoundPolicy, chance: Chance) -> Iterator[str]:
    """What has to hold of the rows that are charged, and of those that are not, a sentence each."""
    dataset, individual = chance.dataset, bound.policy.individual
    called = f'the data set "{KnownSource(dataset.name).short}"' if dataset.name else "the data set"
    if chance.is_query:
        read = f" ({_named(dataset.sources)})" if dataset.sources else ""
        each = (
            f"one row of {called}{read}, and no two from the same row"
            if individual is None
            else f'rows of one "{individual}" of {called}{read}'
        )
        yield f"{bound.description} makes each of its rows from {each}, whatever other rows there are"
    if dataset.has_frames:
        yield f"the frames that are read hold rows of {called} and no others, which nobody has checked"
    if dataset.public:
        verb = "was" if len(dataset.public) == 1 else "were"
        yield f"everybody may know all of {_named(dataset.public)}, which {verb} declared public"
    if individual is not None:
        yield f'"{individual}" identifies the same individuals in all tables and files of {called}'


def _named(sources: Sequence[KnownSource]) -> str:
    names = [str(source) for source in sources]
    if len(names) > MAX_NAMED:
        return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED:,} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
