"""What else could have been published: all nodes of the lattice, by how much they lose and the k that they attain."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Points, Section, Table, count, percent, side_by_side

ASKED = (2, 3, 5, 10, 20, 50, 100)
"""The k for which the least loss is listed."""


class Finer(Result):
    """The node of the least loss that meets the policy and has a quasi-identifier finer than published.

    Attributes:
        column: the quasi-identifier.
        node: the levels of the node that differ from the published one; None if there is none.
        loss: what it loses.
    """

    column: str
    node: dict[str, int] | None
    loss: float | None


class Alternatives(Result):
    """The nodes of the lattice on the source, within the suppression limit.

    Attributes:
        node_count, satisfying_count: the nodes, and those that meet the policy.
        points: nodes close to each other as one: their k, their loss, how many they are, and whether one of them meets
            the policy.
        front: k and loss of the nodes to which no other is better in both, ascending.
        least_losses: by k, the least loss at which that is attained; k that no node attains are left out.
        published_k: what the published node attains.
        finer: for each quasi-identifier that is generalized, what it would cost to keep more of it.
        node: the published node.
        loss: what it loses.
    """

    node_count: int
    satisfying_count: int
    points: tuple[tuple[int, float, int, bool], ...]
    front: tuple[tuple[int, float], ...]
    least_losses: dict[int, float]
    published_k: int
    finer: tuple[Finer, ...]
    node: dict[str, int]
    loss: float

    @property
    def section(self) -> Section:
        """All of it under a heading."""
        return Section(
            "What else could have been",
            tuple(self._parts()),
            f"All {count(self.node_count)} nodes of the lattice; {count(self.satisfying_count)} meet the policy, in "
            "colour. On the line nothing loses less at that k.",
        )

    def _parts(self) -> Iterator[Part]:
        chart = Points(
            "the loss of all nodes by the k that they attain",
            "greatest k within the suppression limit (logarithmic)",
            self.points,
            self.front,
            (self.published_k, self.loss, "this release"),
        )
        rows = [(f"k = {k}", percent(loss), _points(loss - self.loss)) for k, loss in self.least_losses.items()]
        table = Table(("asked for", "least loss", "beside this release"), rows, numbers=(1, 2))
        yield side_by_side(chart, table)
        if self.finer:
            kept = [(each.column, self._changes(each), self._cost(each)) for each in self.finer]
            title = "Should a column keep more? The node of the least loss that does, and what it takes from others"
            yield Table(("more of", "levels that change", "loss"), kept, numbers=(2,), title=title)

    def _changes(self, finer: Finer) -> str:
        if finer.node is None:
            return "no node meets the policy"
        return ", ".join(f"{name} {self.node[name]} → {level}" for name, level in finer.node.items())

    def _cost(self, finer: Finer) -> str:
        return "–" if finer.loss is None else _points(finer.loss - self.loss)


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f} points"
