"""The taxonomies of a fit: those that it has kept, and that they are still the ones that it was made with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlanon.binding import taxonomies
from sqlanon.binding.carried_taxonomies import reading_taxonomies
from sqlanon.engines.base import Engine
from sqlanon.errors import TaxonomyError
from sqlanon.model.fit import Fit
from sqlanon.partitions.sidecar import Sidecar


@contextmanager
def taxonomies_of_fit(engine: Engine, sidecar: Sidecar) -> Iterator[None]:
    """The taxonomies that the fit has kept hold within the block.

    Raises:
        TaxonomyError: the session has another one than the fit was made with: nobody knows which one is meant.
    """
    wanted = [name for name in sidecar.fit.taxonomy_sha256 if name not in sidecar.fit.policy.taxonomies]
    found = {name: shape.sha256 for name, shape in taxonomies.shapes(engine, wanted).items()}
    refuse_other_taxonomies(sidecar.fit, found)
    with reading_taxonomies(engine, sidecar.taxonomies):
        yield


def refuse_other_taxonomies(fit: Fit, found: Mapping[str, str]) -> None:
    """Refuse taxonomies of other hashes than a fit was made with.

    Raises:
        TaxonomyError: names all of them.
    """
    changed = [f'"{name}"' for name, known in fit.taxonomy_sha256.items() if found.get(name, known) != known]
    if changed:
        raise TaxonomyError("taxonomies have changed since the fit; load those that it was made with:", changed)
