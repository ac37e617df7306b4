"""A source as cells: the only read of its rows, with which every method begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import unknown_in, unknown_values
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import EngineError, PolicyError, UnsatisfiableError
from sqlanon.model.lattice import LevelLosses, LossContext
from sqlanon.model.mean_risks import PopulationUniqueness
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import PrivacyModel
from sqlanon.model.quality import LOG_SHARE
from sqlanon.queries import summaries as evaluate
from sqlanon.queries import taxonomies
from sqlanon.queries.coded_labels import (
    CODED_LABELS,
    INFORMATION,
    LABEL_LOSSES,
    encode_information,
    encode_labels,
    key_labels,
    last_children,
    loss_steps,
    root_rows,
    value_types,
    with_information,
)
from sqlanon.queries.encoded_rows import (
    PIECES,
    cell_counts,
    cells_of_keyed,
    cells_of_piece,
    compared,
    encode_rows,
    unmapped_people,
)
from sqlanon.queries.encoding import CellSpec, Encoding, LossStep, encoding_for, key_layout
from sqlanon.queries.kit.nodes import Step, counted_rows
from sqlanon.queries.sample_risks import light_cells
from sqlanon.queries.source_rows import (
    UNKNOWN,
    absent_persons,
    number_of_key,
    unknown_counts,
    unknown_rows,
    without_unknown,
)

NO_ROWS = dict.fromkeys(
    ("entropy", *LABEL_LOSSES, *map("largest_{}".format, LABEL_LOSSES), "least_information", "distinct_labels"), 0
)
"""The losses of levels in a table without rows."""


@dataclass(frozen=True)
class UnknownRows:
    """The number of rows with values that taxonomies lack, in columns where the policy doesn't refuse them."""

    suppressed: int = 0
    by_column: Mapping[str, int] = field(default_factory=dict)  # suppressed or not


@dataclass(frozen=True)
class EncodedTable:
    """A source as cells, with the context of losses."""

    bound: BoundPolicy
    encoding: Encoding
    context: LossContext
    cell_count: int
    unknown: UnknownRows

    def under(self, policy: Policy) -> EncodedTable:
        """Return the cells under another policy of the same columns."""
        bound = replace(self.bound, policy=policy)
        context = replace(
            self.context,
            lattice=bound.lattice,
            allowed_rows=policy.allowed_rows(self.context.row_count, self.unknown.suppressed),
            k=policy.criteria.k,
        )
        return replace(self, bound=bound, encoding=replace(self.encoding, criteria=policy.criteria), context=context)

    def alone(self) -> EncodedTable:
        """Return the cells for a search that ignores earlier releases."""
        encoding = self.encoding
        spec, keys = replace(encoding.spec, earlier=None, shown_values=()), replace(encoding.keys, always=None)
        return replace(self, encoding=replace(encoding, spec=spec, keys=keys))

    def without_values(self) -> EncodedTable:
        """Return the cells for a search whose classes don't distinguish values."""
        spec = replace(self.encoding.spec, protected=(), protected_shapes={})
        return replace(self, encoding=replace(self.encoding, spec=spec))


# More than six parameters: where cells are made, how, and under which names.
def encode_table(
    engine: Compute,
    bound: BoundPolicy,
    spec: CellSpec | None = None,
    *,
    label_losses: tuple[str, ...],
    may_stay: bool = False,
    row_by_row: bool = False,
    prefix: str = "anon",
) -> EncodedTable:
    """Read the rows once, and make the cells of the policy, or of a ``spec``.

    Args:
        label_losses: the losses of labels that the measures of every node need.
        may_stay: whether cells may stay on the server of the rows, if too many to be fetched.
        row_by_row: whether few rows are alike, so that labels are looked up before rows are grouped.
        prefix: the beginning of the names of its tables.

    Raises:
        PolicyError: rows have invalid weights, or belong to no individual.
        TaxonomyError: the source has values that a taxonomy lacks.
        EngineError: the source changed while it was read in pieces, or its cells are too many to be fetched.
    """
    spec = bound.cells if spec is None else spec
    unknown = find_unknown_rows(engine, spec)
    encoding = encoding_for(spec, bound.policy.criteria, label_losses=label_losses, prefix=prefix)
    encoding = replace(
        encoding,
        has_label_texts=engine.is_far(spec.source),
        reads_dictionaries=spec.earlier is None and engine.has_dictionaries(_all_rows(spec)),
    )
    encoding = encode_taxonomies(engine, encoding)
    # Estimates are made here.
    has_estimates = any(each.measure.of_all or each.measure.view == "sample" for each in encoding.criteria.bounds)
    in_pieces = make_cells(engine, encoding, may_stay=may_stay and not has_estimates, row_by_row=row_by_row)
    if spec.earlier is not None:
        codes = {name: encoding.sensitive(name) for name in spec.coded}
        engine.run(absent_persons(encoding.cells, number_of_key(encoding), codes))
    counts = engine.fetch(cell_counts(encoding), "cells")[0]
    if in_pieces and engine.fetch(counted_rows(spec.source), "rows")[0]["rows"] != counts["rows"]:
        changed = f"{bound.description} was changed while it was read, piece by piece; try again"
        raise EngineError(changed, step="cells")
    if counts["unmapped"] > 0:
        columns = dict.fromkeys((*spec.quasi_identifiers, *spec.labelled), spec.source)
        raise unknown_values(engine, bound.description, columns, spec.taxonomy, bound.known, counts["unmapped"])
    if any(measure.view == "sample" for measure in encoding.measures):
        counts |= engine.fetch(light_cells(encoding), "weights of cells")[0]
    _refuse_uncountable(spec, bound.description, counts, bound.policy.privacy)
    if spec.population is not None:
        _refuse_unmapped_people(engine, encoding, bound)
    row_count = int(counts["rows"])
    losses = level_losses(engine, encoding)
    if INFORMATION in label_losses:  # known only from the cells, and kept beside the codes of labels
        informed = with_information(encoding)
        engine.run(encode_information(encoding, informed.labels))
        engine.drop(encoding.labels)
        encoding = _with_loss_steps(engine, informed, [INFORMATION])
    context = LossContext(
        lattice=bound.lattice,
        losses=losses,
        row_count=row_count,
        allowed_rows=bound.policy.allowed_rows(row_count, unknown.suppressed),
        k=bound.policy.criteria.k,
    )
    return EncodedTable(bound, encoding, context, int(counts["cells"]), unknown)


def make_cells(engine: Compute, encoding: Encoding, *, may_stay: bool = False, row_by_row: bool = False) -> bool:
    """Make cells and reference values; return whether in pieces, between which the source may have changed."""
    spec = encoding.spec
    pieces: list[exp.Expr] = [spec.source]
    if spec.earlier is None:
        pieces = engine.pieces(_all_rows(spec), len(spec.quasi_identifiers) + len(spec.protected))
        if spec.unknown is not None and spec.unknown.suppressed:
            # Rows with unknown values are left out of each piece.
            pieces = [without_unknown(piece, spec.unknown.suppressed, spec.taxonomy) for piece in pieces]
    if len(pieces) == 1:
        for step in encode_rows(encoding, row_by_row=row_by_row):
            engine.run(replace(step, is_near=not may_stay))
        return False
    for number, piece in enumerate(pieces):
        step = cells_of_piece(encoding, piece)
        with engine.part(number, len(pieces)):
            if number == 0:
                engine.run(step)
            else:
                engine.execute(exp.Insert(this=step.makes.table, expression=step.query), step.purpose)
    for step in [cells_of_keyed(encoding, PIECES.table), *compared(encoding)]:
        engine.run(step)
    engine.drop(PIECES)
    return True


def _all_rows(spec: CellSpec) -> exp.Table | exp.Subquery:
    """Return the source including rows that are left out for unknown values."""
    return spec.source if spec.unknown is None else spec.unknown.source


def encode_taxonomies(engine: Compute, encoding: Encoding) -> Encoding:
    """Make the codes of all labels; return the encoding with the layout of keys and the loss of labels."""
    for step in encode_labels(encoding):
        engine.run(step)
    last = {
        (row["position"], row["depth"]): int(row["last_child"])
        for row in engine.fetch(last_children(), "labels", "node")
        if row["depth"] in encoding.depths(row["position"])
    }
    encoding = replace(encoding, keys=key_layout(last))
    engine.run(key_labels(encoding))
    if encoding.spec.earlier is not None:
        encoding = replace(encoding, keys=encoding.keys.with_number(encoding.spec.earlier.count))
    engine.drop(CODED_LABELS)
    for statement in value_types(encoding):
        engine.execute(statement, "types of values")
    looked_at = dict.fromkeys((*encoding.label_losses, *([LOG_SHARE] if encoding.of_labels else [])))
    return _with_loss_steps(engine, encoding, [name for name in looked_at if name in LABEL_LOSSES])


def _with_loss_steps(engine: Compute, encoding: Encoding, measures: Sequence[str]) -> Encoding:
    rows = engine.fetch(loss_steps(encoding, measures), "losses of labels", "node") if measures else []
    steps: dict[tuple[str, int, int], list[LossStep]] = {}
    for row in sorted(rows, key=lambda row: tuple(row["last_bits"])):
        place = (row["position"], row["depth"])
        last_bits = tuple(row["last_bits"][word] for word in encoding.keys.label_masks(*place))
        for measure in measures:
            steps.setdefault((measure, *place), []).append((last_bits, row[measure]))
    return replace(
        encoding, loss_steps={**encoding.loss_steps, **{place: tuple(found) for place, found in steps.items()}}
    )


def level_losses(engine: Compute, encoding: Encoding) -> LevelLosses:
    """Measure the losses of levels over the cells of an encoding."""
    rows = engine.fetch(evaluate.level_losses(encoding), "losses of levels", "node")
    found = {(row["position"], row["depth"]): row for row in rows}
    shapes = encoding.spec.shapes
    width = len(shapes)
    unweighted = encoding.spec.row_weight is None

    def table(measure: str, scale: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(float(found.get((position, depth), NO_ROWS)[measure]) / scale for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        )

    prec = tuple(tuple(depth / max(shape.height, 1) / width for depth in range(shape.height + 1)) for shape in shapes)
    losses = LevelLosses(
        prec=prec,
        entropy=table("entropy", 1),
        lm=table("lm", width),
        ncp=table("ncp", width),
        distinct_labels=tuple(
            tuple(int(found.get((position, depth), NO_ROWS)["distinct_labels"]) for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        ),
        largest_lm=table("largest_lm", 1) if unweighted else (),
        largest_ncp=table("largest_ncp", 1) if unweighted else (),
        rce=table("rce", width),
        largest_rce=table("largest_rce", 1) if unweighted else (),
        log_share=table("log_share", width),
        largest_log_share=table("largest_log_share", 1) if unweighted else (),
        least_information=table("least_information", 1) if unweighted else (),
    )
    return with_root_losses(engine, encoding, losses) if encoding.spec.roots else losses


def _refuse_uncountable(
    spec: CellSpec, description: str, counts: dict[str, int], models: Sequence[PrivacyModel]
) -> None:
    """Refuse invalid weights, rows without an individual, and more rows than people."""
    problems = []
    if counts.get("unweighted"):
        rows = counts["unweighted"]
        problems.append(f'"{spec.row_weight}": NULL, not positive or infinite in the cells of {rows:,} rows')
    elif counts.get("class_count"):
        found = f"{counts['class_count']:,} combinations of quasi-identifiers"
        problems.append(f'"{spec.row_weight}": {found} stand for fewer people than they have rows: weights below 1')
    if counts.get("anonymous"):
        problems.append(f'"{spec.individual}": NULL in {counts["anonymous"]:,} rows, which belong to no individual')
    for model in (each for each in models if isinstance(each, PopulationUniqueness)):
        problems += model.misfit(counts["rows"])
    if problems:
        raise PolicyError(f"the policy does not fit {description}:", problems)


def _refuse_unmapped_people(engine: Compute, encoding: Encoding, bound: BoundPolicy) -> None:
    spec = encoding.spec
    people = engine.fetch(unmapped_people(encoding), "the population")[0]["unmapped"]
    if people > 0:
        assert spec.population is not None
        columns = dict.fromkeys(spec.quasi_identifiers, spec.population)
        description = f'the population "{bound.policy.population}"'
        raise unknown_values(engine, description, columns, spec.taxonomy, bound.known, people)


# Rows with values that taxonomies lack


def find_unknown_rows(engine: Compute, spec: CellSpec) -> UnknownRows:
    """Count rows with unknown values, and keep these values for the labels of the run, in one read."""
    unknown = spec.unknown
    if unknown is None:
        return UnknownRows()
    engine.run(Step(UNKNOWN, unknown_rows(unknown, spec.taxonomy), "values without a label"))
    counts = engine.fetch(unknown_counts(unknown), "rows of values without a label")[0]
    by_column = {name: int(counts[f"rows_{place}"]) for place, name in enumerate(unknown.columns)}
    return UnknownRows(int(counts["suppressed"]), {name: rows for name, rows in by_column.items() if rows})


def unknown_notes(policy: Policy, unknown: UnknownRows) -> tuple[str, ...]:
    """Describe the treatment of rows with unknown values, a sentence per column."""
    left_out = policy.columns_with("suppress")
    return tuple(
        f'{rows:,} rows have a value of "{name}" that its taxonomy does not have: '
        + ("they are left out" if name in left_out else "they have the label of its top level")
        for name, rows in unknown.by_column.items()
    )


def refuse_empty(engine: Compute, table: EncodedTable) -> None:
    """Refuse a table without rows, or one whose rows are all left out for unknown values."""
    if table.context.row_count == 0:
        refuse_too_many(engine, table)
        raise PolicyError(f"{table.bound.description} has no rows: there is nothing to anonymize")


def refuse_too_many(engine: Compute, table: EncodedTable) -> None:
    """Refuse to leave out more rows than the policy allows to be suppressed, or all rows."""
    bound, unknown, known = table.bound, table.unknown, table.context.row_count
    policy, rows = bound.policy, known + unknown.suppressed
    allowed = policy.allowed_rows(known, unknown.suppressed)
    if allowed < 0 or (unknown.suppressed and not known):
        limit = f" ({allowed + unknown.suppressed:,} may be, suppression_limit {policy.suppression_limit:g})"
        labelled = {name: taxonomies.values_of(bound.taxonomy, name) for name in policy.columns_with("suppress")}
        listed = (
            unknown_in(engine, bound.whole, name, values, bound.known.get(name)) for name, values in labelled.items()
        )
        raise UnsatisfiableError(
            f"{unknown.suppressed:,} of {rows:,} rows of {bound.description} have values that their taxonomy does not "
            f"have, and would be left out{limit if allowed < 0 else ''}:",
            [*filter(None, listed), "what can help: taxonomies with these values, or a larger suppression_limit"],
        )


def with_root_losses(engine: Compute, encoding: Encoding, losses: LevelLosses) -> LevelLosses:
    """Return the losses of levels where unknown values lose as much as the top, at every level."""
    prec, entropy = [[*map(list, table)] for table in (losses.prec, losses.entropy)]
    least = [*map(list, losses.least_information)]
    width = len(prec)
    for row in engine.fetch(root_rows(encoding), "rows of unknown values", "node"):
        position, depth, rows, whole = row["position"], row["depth"], float(row["rows"]), float(row["whole"])
        if rows > 0:
            share = rows / whole
            prec[position][depth] += share * (1 / width - prec[position][depth])
            entropy[position][depth] += rows * math.log2(whole / rows)
            if least:
                least[position][depth] = 0.0
    return replace(losses, prec=_table(prec), entropy=_table(entropy), least_information=_table(least))


def _table(rows: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, rows))
