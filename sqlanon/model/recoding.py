"""What is published in place of a value: a label of its taxonomy, for every value of every quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sqlanon.model.lattice import Levels


@dataclass(frozen=True)
class AtLevel:
    """Every value becomes its label at one level."""

    level: int


@dataclass(frozen=True)
class AtCut:
    """Every value becomes the one label of a cut that it is under; NULL stays NULL where it is under none.

    Attributes:
        labels: levels and labels; every value of the taxonomy has just one.
    """

    labels: tuple[tuple[int, str], ...]


Part: TypeAlias = AtLevel | AtCut


@dataclass(frozen=True)
class Recoding:
    """The labels of all quasi-identifiers.

    Attributes:
        parts: by quasi-identifier, which labels its values become.
    """

    parts: tuple[Part, ...]

    @property
    def node(self) -> Levels | None:
        """The node of the lattice that it is; None if a quasi-identifier is not at one level."""
        levels = tuple(part.level for part in self.parts if isinstance(part, AtLevel))
        return levels if len(levels) == len(self.parts) else None


def at_node(levels: Levels) -> Recoding:
    """The recoding of a node of the lattice."""
    return Recoding(tuple(map(AtLevel, levels)))
