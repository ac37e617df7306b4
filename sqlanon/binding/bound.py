"""Bind a policy to a source and its taxonomies: resolve all names, and refuse all gaps before a row is read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.model.methods.cut_methods import DiffGen
from sqlanon.model.methods.full_domain import HOLD_EVERY_NODE
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.policy_parts import as_number
from sqlanon.model.taxonomy.hierarchies import ambiguous_note, uneven_note
from sqlanon.model.taxonomy.rules import RULES
from sqlanon.queries.encoding import CellSpec, UnknownValues
from sqlanon.queries.source import SourceColumn, Taxonomies, TaxonomyShape, Traits
from sqlanon.queries.source_rows import known_rows

MAX_NODES = 4_000_000  # of lattices that are held as a whole, by some searches and by a lattice table


@dataclass(frozen=True)
class BoundPolicy:
    policy: Policy
    source: exp.Table | exp.Subquery  # for FROM, without rows that are left out for unknown values
    whole: exp.Table | exp.Subquery  # the source with all rows
    description: str  # of the source, for messages
    columns: tuple[SourceColumn, ...]  # of the source, in order
    shapes: tuple[TaxonomyShape, ...]  # by quasi-identifier with a taxonomy, in the policy's order
    sensitive_shapes: Mapping[str, TaxonomyShape]  # by sensitive column whose taxonomy a privacy model needs
    taxonomy: Taxonomies  # the table that holds the taxonomies
    population: exp.Expr | None = None  # as a relation, if a privacy model compares with it
    known: Mapping[str, exp.Query | None] = field(default_factory=dict)  # by taxonomy, a public query of its values
    roots: Mapping[str, str] = field(default_factory=dict)  # the top label, by column whose unknown values get it
    leaves: exp.Table | None = None  # the label counts of ranges that are not listed, if any
    ambiguous: Mapping[str, int] = field(default_factory=dict)  # labels that are also values with another label
    uneven: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # digits of values by prefix, where they differ

    @property
    def lattice(self) -> Lattice:
        """The lattice of the quasi-identifiers within the policy's bounds on levels."""
        names, bounds = self.policy.taxonomy_columns, self.policy.maximum_levels
        minimum = tuple(self.policy.minimum_levels.get(name, 0) for name in names)
        maximum = tuple(bounds.get(name, height) for name, height in zip(names, self.heights, strict=True))
        return Lattice(names, self.heights, minimum, maximum)

    @property
    def cells(self) -> CellSpec:
        policy = self.policy
        compared = (model.columns for model in policy.privacy if model.compares_with_source)
        return CellSpec(
            source=self.source,
            columns=self.columns,
            quasi_identifiers=policy.quasi_identifiers,
            shapes=tuple(
                with_root(shape) if name in self.roots else shape
                for name, shape in zip(policy.taxonomy_columns, self.shapes, strict=True)
            ),
            taxonomy=self.taxonomy,
            protected=policy.counted_columns,
            protected_shapes=self.sensitive_shapes,
            compared=tuple(dict.fromkeys(itertools.chain.from_iterable(compared))),
            individual=policy.individual,
            row_weight=policy.row_weight,
            population=self.population,
            released=policy.released_columns,
            pseudonyms=policy.pseudonyms,
            unknown=self.unknown,
            leaves=self.leaves,
            in_key_order=not policy.has_private_method,  # which sorts by keys of its own
        )

    @property
    def unknown(self) -> UnknownValues | None:
        """How values without a label are handled; None if they are refused."""
        suppressed = self.policy.columns_with("suppress")
        return UnknownValues(self.whole, suppressed, self.roots) if suppressed or self.roots else None

    @property
    def heights(self) -> Levels:
        return tuple(shape.height for shape in self.shapes)

    @property
    def all_shapes(self) -> dict[str, TaxonomyShape]:
        named = zip(self.policy.taxonomy_columns, self.shapes, strict=True)
        return {**dict(named), **self.sensitive_shapes}

    @property
    def traits(self) -> dict[str, Traits]:
        return {found.name: found.traits for found in self.columns}

    @property
    def published_columns(self) -> list[SourceColumn]:
        released = self.policy.released_columns
        return [found for found in self.columns if found.name in released]

    @property
    def domains(self) -> dict[str, str]:
        return {name: shape.domain for name, shape in self.all_shapes.items()}

    @property
    def label_notes(self) -> tuple[str, ...]:
        return tuple(ambiguous_note(name, labels) for name, labels in self.ambiguous.items() if labels)

    @property
    def value_notes(self) -> tuple[str, ...]:
        """A note on each taxonomy whose values may have lost zeros; for the custodian, as it depends on values."""
        return tuple(uneven_note(name, *digits) for name, digits in self.uneven.items())

    @property
    def taxonomy_hashes(self) -> dict[str, str]:
        return {name: shape.sha256 for name, shape in self.all_shapes.items()}


# More than six parameters: the facts on a source before a row is read.
def bind(
    policy: Policy,
    source: exp.Table | exp.Subquery,
    description: str,
    columns: Sequence[SourceColumn],
    shapes: Mapping[str, TaxonomyShape],
    taxonomy: Taxonomies,
    population: exp.Expr | None = None,
    roots: Mapping[str, str] | None = None,
) -> BoundPolicy:
    """Bind a policy to a source with matching columns (:meth:`Policy.check_columns`); refuse what does not fit."""
    _refuse_misfits(policy, shapes)
    _refuse_pseudonyms_of_nested_instants(policy, columns)
    _refuse_other_weights(policy, columns)
    bound = BoundPolicy(
        policy=policy,
        source=known_rows(source, policy.columns_with("suppress"), taxonomy),
        whole=source,
        description=description,
        columns=tuple(columns),
        shapes=tuple(shapes[name] for name in policy.taxonomy_columns),
        sensitive_shapes={name: shapes[name] for name in policy.sensitive_taxonomies},
        taxonomy=taxonomy,
        population=population,
        roots=roots or {},
    )
    if is_too_wide(policy, bound.lattice):
        is_inverse = policy.objective == "privacy"
        what = 'the objective "privacy"' if is_inverse else f'the search "{policy.search}"'
        refuse_wide(bound.lattice, what, "" if is_inverse else 'take the search "optimal", which can; or ')
    return bound


def _refuse_other_weights(policy: Policy, columns: Sequence[SourceColumn]) -> None:
    for found in (each for each in columns if each.name == policy.row_weight and not each.traits.is_number):
        raise PolicyError(
            f'row_weight "{found.name}" has type {found.type}, which is not numeric: {as_number(found.name)}'
        )


def _refuse_pseudonyms_of_nested_instants(policy: Policy, columns: Sequence[SourceColumn]) -> None:
    """Refuse pseudonyms that depend on the session's time zone; plain instants are hashed in UTC."""
    problems = [
        f'"{found.name}" ({found.type})'
        for found in columns
        if found.name in policy.pseudonyms and found.traits.depends_on_time_zone and not found.traits.is_instant
    ]
    if problems:
        raise PolicyError(
            "pseudonyms of these columns would depend on the time zone of the session; take a column of type TIMESTAMP "
            "WITH TIME ZONE itself, which is hashed in UTC, or cast them to VARCHAR in a view:",
            problems,
        )


def with_root(shape: TaxonomyShape) -> TaxonomyShape:
    *below, top = shape.label_counts
    return replace(shape, label_counts=(*(count + 1 for count in below), top))


def is_too_wide(policy: Policy, lattice: Lattice) -> bool:
    return lattice.size > MAX_NODES and policy.algorithm in HOLD_EVERY_NODE


def refuse_wide(lattice: Lattice, holder: str, instead: str = "", most: int = MAX_NODES) -> None:
    if lattice.size > most:
        raise PolicyError(
            f"the lattice has {lattice.size:,} nodes, more than the {most:,} that {holder} can hold: {instead}"
            "use fewer quasi-identifiers, taxonomies with fewer levels, or bounds on levels"
        )


def refuse_inexact(bound: BoundPolicy) -> None:
    kept = bound.policy.released_columns - {*bound.policy.quasi_identifiers}
    problems = [
        f'"{found.name}" is {found.type}, whose equal values can look different: cast it to DECIMAL or VARCHAR in a '
        "view or a query, or make it an identifier, which is dropped"
        for found in bound.columns
        if found.name in kept and not found.traits.can_be_rebuilt
    ]
    if problems:
        raise PolicyError(f"{bound.policy.method} makes the rows of {bound.description} anew:", problems)


def _refuse_misfits(policy: Policy, shapes: Mapping[str, TaxonomyShape]) -> None:
    """Refuse missing taxonomies, and levels and distances that taxonomies lack, all at once."""
    needed = dict.fromkeys([*policy.taxonomy_columns, *policy.sensitive_taxonomies])
    absent = [name for name in needed if name not in shapes]
    missing = [f'"{name}" has no taxonomy' for name in absent]
    flat = [
        f'"{name}" needs a taxonomy with a level above the values for hierarchical distances'
        for name in policy.sensitive_taxonomies
        if name in shapes and shapes[name].height == 0
    ]
    levels = [
        f'{field}: "{name}" has levels 0 to {shapes[name].height}, so not {level}'
        for field in ("minimum_levels", "maximum_levels")
        for name, level in getattr(policy, field).items()
        if name in shapes and level > shapes[name].height
    ]
    problems = [*missing, *flat, *levels]
    if missing:
        raise TaxonomyError(
            "columns are without a taxonomy; give each a file, or a kind of labels, in [taxonomies] of the policy "
            f'({", ".join(RULES)}), such as "{absent[0]}" = {{ kind = "flat" }}, or store one with '
            "session.taxonomies.load or `sqlanon taxonomy`:",
            problems,
        )
    if problems:
        raise (TaxonomyError if flat else PolicyError)("the policy does not fit the taxonomies:", problems)


def refuse_far(engine: Engine, bound: BoundPolicy) -> None:
    """Refuse a policy that rows elsewhere (:class:`sqlanon.engines.cutting.Rows`) cannot support."""
    if engine.far is None or not engine.is_far(bound.source):
        return
    policy, method = bound.policy, bound.policy.method
    problems = [
        f'"{name}" cannot have pseudonyms: their key would be in a statement that the server may log; make it an '
        "identifier, which is dropped, or copy the rows to DuckDB"
        for name in policy.pseudonyms
    ]
    problems += [
        f'"{name}" cannot be perturbed where the rows are: draws stay here; copy the rows to DuckDB'
        for name in policy.perturbation
    ]
    # The columns whose values are counted or released; of sets only items are counted.
    sets = method.sets if isinstance(method, DiffGen) else ()
    names = policy.released_columns | {policy.individual, policy.row_weight}
    problems += engine.far.misfits([each for each in bound.columns if each.name in names and each.name not in sets])
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}, whose rows stay there:", problems)
