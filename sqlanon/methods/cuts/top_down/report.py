"""What a run of top-down specialization reports and promises: which labels there are, and classes of k rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlanon.methods.cuts.top_down.encode import Points
from sqlanon.methods.cuts.top_down.specialize import Chosen
from sqlanon.methods.shared.guarantee import guarantee as of_full_domain
from sqlanon.methods.shared.reports import report_of_classes
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.model.methods.cuts import TopDownSpecialization
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee, Measurement, Report, RowCounts

RowsOfPieces = Mapping[tuple[int, int], int]
"""How many rows each piece of a cut has, by its position and where it begins; of those that have any."""

STOPPED = "the search was stopped: more labels could have given way to their children"


# More than six parameters: what was read, what was chosen, what was measured of that.
def report(
    points: Points,
    chosen: Chosen,
    rows_of_pieces: RowsOfPieces,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
) -> Report:
    """The numbers of a run.

    ``loss`` is LM, the mean over rows and predictors of (values under the label - 1) / (values - 1), where the values
    of a number are the steps of its range. It says how general labels are, not how well they predict the target.
    """
    bound = points.bound
    names = [axis.name for axis in points.axes]
    loss = _lm(points, chosen, rows_of_pieces)
    return report_of_classes(
        Report,
        bound,
        measured,
        into,
        seconds,
        heights=bound.lattice.named(bound.heights),
        quality="lm",
        loss=loss,
        losses={"lm": loss},
        rows=RowCounts(
            source=points.rows + points.unknown.suppressed,
            released=measured.row_count,
            masked=0,
            dropped=0,
            unknown=points.unknown.suppressed,
        ),
        suppressed_rows=0,
        unknown_rows=dict(points.unknown.by_column),
        search=points.settings.name,
        notes=(*(() if chosen.is_final else (STOPPED,)), *unknown_notes(bound.policy, points.unknown)),
        labels=dict(zip(names, chosen.cut.widths, strict=True)),
        specialized=tuple(names[each.piece.position] for each in chosen.specializations),
    )


def _lm(points: Points, chosen: Chosen, rows_of_pieces: RowsOfPieces) -> float:
    losses = [
        sum(
            rows_of_pieces.get((axis.position, piece.first), 0) * (piece.size - 1) / (axis.size - 1)
            for piece in chosen.cut.pieces[axis.position]
            if piece.size > 1
        )
        for axis in points.axes
    ]
    return sum(losses) / len(losses) / max(points.rows, 1)


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a release."""
    (target,) = policy.sensitive
    plain = of_full_domain(policy, report)
    return Guarantee(
        claims=(
            *plain.claims,
            f'every row of the source stands for one row of the release, whose labels and "{target}" are true of it',
        ),
        conditions=plain.conditions,
        not_covered=tuple(_not_covered(policy, target)),
    )


def _not_covered(policy: Policy, target: str) -> Iterator[str]:
    settings = policy.method
    assert isinstance(settings, TopDownSpecialization)
    if settings.numeric:
        columns = ", ".join(f'"{name}"' for name in settings.numeric)
        yield (
            f"bounds of the intervals of {columns} come from the data: each that is not an end of the range is a value "
            "that some row has"
        )
    yield (
        f'labels were chosen because they predict "{target}", so that rows of a class have much the same value; values '
        "that all rows of a class share are disclosed"
    )
    yield "which labels there are depends on the data, and says something about it beyond the rows"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
