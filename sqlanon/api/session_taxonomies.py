"""The Python interface to the taxonomies that are stored in a warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive

if TYPE_CHECKING:
    from sqlanon.engines.relations import Source
    from sqlanon.model.release.profiles import TaxonomyPreview
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

Shapes = dict[str, dict[str, object]]
Problems = dict[str, list[str]]


class Taxonomies(Part):
    """The taxonomies that a warehouse stores in ``anon.taxonomy`` for all policies: ``session.taxonomies``.

    Each attribute has one, without regard to the case of its name. In a read-only session, they live in the session.
    """

    @exclusive
    def load(
        self,
        attribute: str,
        taxonomy: Taxonomy | str | Path,
        *,
        source: Source | None = None,
        column: str | None = None,
    ) -> None:
        """Store the taxonomy of an attribute, replacing an earlier one.

        Args:
            attribute: the quasi-identifier that the taxonomy is for.
            taxonomy: a :class:`Taxonomy`, or the path of an ARX hierarchy CSV.
            source: if given, the taxonomy must cover its column, and a rule without a declared domain takes its values
                from there.
            column: the column of the source, if it is not named like the attribute.

        Raises:
            TaxonomyError: malformed or not covering the source; an earlier taxonomy stays.
        """
        self._load({attribute: taxonomy}, source, column)

    @exclusive
    def load_all(self, taxonomies: Mapping[str, Taxonomy | str | Path], *, source: Source | None = None) -> None:
        """Store the taxonomies of several attributes, all or none, much faster than one after the other.

        Args:
            taxonomies: a :class:`Taxonomy`, or the path of an ARX hierarchy CSV, by attribute.
            source: as in :meth:`load`; it has a column named like each attribute.

        Raises:
            TaxonomyError: names all that are malformed, or do not cover the source; earlier ones stay.
        """
        self._load(taxonomies, source)

    def make(
        self, attribute: str, kind: str, *, source: Source | None = None, column: str | None = None, **settings: Any
    ) -> None:
        """Make the taxonomy of an attribute by a rule and store it, replacing an earlier one.

        The rule is spelled as in the ``taxonomies`` of a policy:
        ``make("age", "intervals", widths=[10, 20], minimum=0, maximum=99)``.

        Args:
            attribute: the quasi-identifier that the taxonomy is for.
            kind: intervals, cuts, dates, prefixes, zip, icd9, icd10, ipv4, flat, groups, columns or rows.
            source, column: as in :meth:`load`.
            settings: the arguments of the method of :class:`Taxonomy` that is named like the kind (``zip_codes`` for
                ``zip``, ``from_rows`` for ``rows``).

        Raises:
            TaxonomyError: there is no such kind, the settings are not those of the kind, or as :meth:`load`.
        """
        from sqlanon.model.taxonomy.rules import made

        self.load(attribute, made(kind, settings), source=source, column=column)

    # More than six parameters: options, which are keywords.
    @exclusive
    def preview(
        self,
        taxonomy: Taxonomy | Mapping[str, Any] | str | Path,
        source: Source,
        column: str,
        *,
        least: int = 5,
        labels: int = 80,
        values: int = 0,
        rare: bool = False,
    ) -> TaxonomyPreview:
        """Return what a taxonomy would make of a column: the labels of each level with their rows. Nothing is stored.

        Args:
            taxonomy: as in the ``taxonomies`` of a policy: a rule as a mapping with its ``kind``, a kind alone, or the
                path of an ARX hierarchy; a :class:`Taxonomy`; or ``"stored"`` for the one in the warehouse.
            source: the table.
            column: its column; of sets, the items are counted.
            least: labels of fewer rows are rare.
            labels: levels with at most as many labels list them.
            values: how many values to list with all their labels.
            rare: name rare labels and values as well.

        Raises:
            TaxonomyError: as a run refuses it: malformed, or values of the column have no label; or the column or the
                stored taxonomy is missing.
            PolicyError: a limit is negative.
        """
        from sqlanon.binding.previews import Shown, preview
        from sqlanon.model.taxonomy.rules import taxonomy_of

        given = None if taxonomy == "stored" else taxonomy_of(taxonomy)
        return preview(self._engine, given, self._opened.resolve(source), column, Shown(least, labels, values, rare))

    @exclusive
    def check(self) -> Problems:
        """Return the problems of stored taxonomies by attribute; empty if there are none."""
        from sqlanon.binding.stored_taxonomies import malformed

        return malformed(self._engine)

    @exclusive
    def export(self, attribute: str, path: str | Path, *, replace: bool = False) -> None:
        """Write a stored taxonomy as an ARX hierarchy CSV, ``;``-separated.

        Beside it goes ``<path>.sqlanon.json``, which records the origin of its values for the next load.

        Args:
            attribute: the quasi-identifier that the taxonomy is for.
            path: the file.
            replace: whether it may replace a file.

        Raises:
            TaxonomyError: there is no such taxonomy.
            EngineError: the file exists and may not be replaced, or cannot be written.
        """
        from sqlanon.binding.stored_taxonomies import export

        export(self._engine, attribute, Path(path), replace=replace)

    @exclusive
    def list(self) -> Shapes:
        """Return the stored taxonomies by attribute: height, values, labels per level, ambiguous labels, and domain.

        Ambiguous labels are also values with another label at the same level, as ``anon.ambiguous_labels`` counts. The
        domain is ``declared``, ``stated`` by a file, or ``observed``: read off the data, or changed in SQL since it was
        loaded.
        """
        from sqlanon.binding.stored_taxonomies import ambiguous_labels, shapes

        found = shapes(self._engine)
        ambiguous = ambiguous_labels(self._engine, found)
        return {
            name: {
                "height": shape.height,
                "values": shape.domain_size,
                "labels": [*shape.label_counts],
                "ambiguous_labels": ambiguous[name],
                "domain": shape.domain,
            }
            for name, shape in found.items()
        }

    def _load(
        self, given: Mapping[str, Taxonomy | str | Path], source: Source | None, column: str | None = None
    ) -> None:
        from sqlanon.binding.loading import TaxonomyLoad, load
        from sqlanon.model.taxonomy.taxonomy import Taxonomy

        made = {
            attribute: taxonomy if isinstance(taxonomy, Taxonomy) else Taxonomy.from_csv(taxonomy)
            for attribute, taxonomy in given.items()
        }
        resolved = None if source is None else self._opened.resolve(source)
        wanted = [TaxonomyLoad(name, taxonomy, resolved, column or name) for name, taxonomy in made.items()]
        if not self._opened.wait_to_store(wanted):
            load(self._engine, wanted)
