"""Pictures of a release: rows by the size of their class, other nodes, and marginals with noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import (
    Bars,
    Points,
    Section,
    Steps,
    Table,
    Text,
    Tone,
    count,
    figure,
    notes,
    percent,
    short_percent,
    side_by_side,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.model.release.release_report import ReleaseReport

FACTORS = (2, 5, 10, 20, 50, 100)  # the upper ends of groups of sizes, in multiples of k

RISKS = ((1, "100 %"), (2, "50 %"), (5, "20 %"), (10, "10 %"), (20, "5 %"), (100, "1 %"), (1000, "0.1 %"))
"""Sizes of classes with their risks, for an axis."""
Sizes = Sequence[tuple[int, int]]  # sizes of classes, each with the number of classes
ASKED = (2, 3, 5, 10, 20, 50, 100)  # the listed k with their least loss

STEPS = 18, 60  # of log k and of the loss: nodes in the same one are one point of a picture
DIGITS = 12  # decimals for comparing losses

SHOWN_MARGINALS = 20  # of several columns, on a page, the least noise first; JSON has all
SHOWN_LABELS = 12  # of a column, on a page, the most rows first
FAR = 3  # labels are marked if their rows differ from the noisy count by more than this many scales of noise

ACCURACY = (
    "counts of columns together that are not in the workload: they follow from others as if nothing else tied them",
    "rare combinations: where few rows are, noise is most of a count",
    "standard errors and tests of analyses that take the rows for those of people: they come out too small",
)
"""Limits of rows that are drawn from marginals."""


class ClassSizes(Result):
    """The shares of all rows that are in classes of some sizes."""

    most: int | None  # the largest of these sizes; None without a limit
    before: float | None  # of the source; None without a comparison, or for fewer than k rows
    after: float  # of the release


def class_sizes(after: Sizes, before: Sizes, k: int) -> Iterator[ClassSizes]:
    """Count rows by the size of their class, in groups of sizes that end below k and at multiples of it.

    The sizes ``before``, of the source, are empty without a comparison.
    """
    k = max(k, 2)
    ends = [1, *([k - 1] if k > 2 else []), *(k * factor - 1 for factor in FACTORS), math.inf]
    start = 0.0
    for end in ends:
        of_source = _rows_between(before, start, end)
        is_shown = bool(before) and not 0 < of_source < k
        yield ClassSizes(
            most=None if end == math.inf else int(end),
            before=of_source / _rows_between(before, 0, math.inf) if is_shown else None,
            after=_rows_between(after, start, end) / max(_rows_between(after, 0, math.inf), 1),
        )
        start = end


def _rows_between(sizes: Sizes, above: float, end: float) -> int:
    return sum(size * classes for size, classes in sizes if above < size <= end)


def size_bars(sizes: Sequence[ClassSizes], k: int | None) -> Bars:
    firsts = _firsts(sizes)
    groups = tuple(_in_words(first, each.most) for first, each in zip(firsts, sizes, strict=True))
    mark = None if k is None else (firsts.index(k) if k in firsts else 0, f"k = {k}")
    axis = "rows that look alike (size of the class)"
    return Bars("rows by the size of their class", axis, groups, tuple(_series(sizes)), mark)


def risk_steps(sizes: Sequence[ClassSizes], k: int | None) -> Steps:
    """Draw the rows with at least a given risk."""
    firsts = _firsts(sizes)
    return Steps(
        "rows by their risk",
        "risk that a row is taken for a person's, or higher (logarithmic)",
        tuple((1 / size, name) for size, name in reversed(RISKS)),
        tuple((name, tuple(_falling(firsts, shares))) for name, shares in _series(sizes)),
        None if k is None else (1 / k, "1 / k"),
    )


def sizes_section(sizes: Sequence[ClassSizes], k: int | None) -> Iterator[Section]:
    if sizes:
        yield Section(
            "How many rows look alike",
            (side_by_side(size_bars(sizes, k), risk_steps(sizes, k)),),
            "Rows with the same labels in all quasi-identifiers make a class; nobody in it can be distinguished.",
        )


def attackers(report: ReleaseReport) -> Iterator[Table]:
    """Show the risk of re-identification by the knowledge of three attackers; nothing without an exposure.

    Source: El Emam and Dankar 2008, Protecting Privacy Using k-Anonymity.
    """
    before, after, models = report.before, report.after, report.verification.measurement.models
    if after is None:
        return
    highest = 1 / (report.individuals or after.k)
    people = [each.attained for each in models if each.measure == "population_size" and each.attained]
    journalist = short_percent(1 / min(people)) if people else f"at most {short_percent(highest)}"
    # Rows of one individual share their risk, which the average over rows does not show.
    average = "–" if report.individuals else short_percent(after.average_risk)
    of_source = (
        ("–", "–") if before is None else (short_percent(before.highest_risk), short_percent(before.average_risk))
    )
    rows = [
        ("Prosecutor", "that a person is in the table; risk of the worst row", of_source[0], short_percent(highest)),
        ("Journalist", "a register of the population; needs that table", "–", journalist),
        ("Marketer", "a register, and is content with many right guesses; mean over rows", of_source[1], average),
    ]
    yield Table(("Attacker", "knows", "before", "after"), rows, numbers=(2, 3))


def _firsts(sizes: Sequence[ClassSizes]) -> list[int]:
    return [1, *(each.most + 1 for each in sizes if each.most is not None)]


def _series(sizes: Sequence[ClassSizes]) -> Iterator[tuple[str, tuple[float, ...]]]:
    if any(each.before is not None for each in sizes):
        yield "before: the source", tuple(each.before or 0.0 for each in sizes)
    yield "after: the release", tuple(each.after for each in sizes)


def _in_words(first: int, most: int | None) -> str:
    if most is None:
        return f"{count(first)}+"
    return count(first) if first == most else f"{count(first)}–{count(most)}"


def _falling(firsts: Sequence[int], shares: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Add up the rows with at least each risk: the rows in classes of at most that size."""
    left = sum(shares)
    for first, share in zip(reversed(firsts), reversed(shares), strict=True):
        yield 1 / first, min(left, 1.0)
        left -= share


class Finer(Result):
    """The node of least loss that meets the policy and keeps a quasi-identifier finer than published."""

    column: str
    node: dict[str, int] | None  # the levels that differ from the published node; None without such a node
    loss: float | None


class Alternatives(Result):
    """The nodes of the lattice on the source, within the suppression limit."""

    node_count: int
    satisfying_count: int  # the nodes that meet the policy
    # Nodes close to each other are one point: k, loss, number of nodes, and whether one meets the policy.
    points: tuple[tuple[int, float, int, bool], ...]
    front: tuple[tuple[int, float], ...]  # k and loss of the Pareto optimal nodes, ascending
    least_losses: dict[int, float]  # by attained k
    published_k: int  # of the published node
    finer: tuple[Finer, ...]  # for each generalized quasi-identifier, the cost of keeping it finer
    node: dict[str, int]  # the published node
    loss: float  # of the published node


def alternatives_section(found: Alternatives | None) -> Iterator[Section]:
    """Show all nodes by k and loss, the least loss at each k, and the cost of keeping a column finer."""
    if found is None:
        return
    chart = Points(
        "the loss of all nodes by the k that they attain",
        "greatest k within the suppression limit (logarithmic)",
        found.points,
        found.front,
        (found.published_k, found.loss, "this release"),
    )

    def beside(loss: float) -> str:
        return f"{100 * (loss - found.loss):+.1f} points"

    rows = [(f"k = {k}", percent(loss), beside(loss)) for k, loss in found.least_losses.items()]
    table = Table(("asked for", "least loss", "beside this release"), rows, numbers=(1, 2))
    kept = [
        (
            each.column,
            "no node meets the policy"
            if each.node is None
            else ", ".join(f"{name} {found.node[name]} → {level}" for name, level in each.node.items()),
            "–" if each.loss is None else beside(each.loss),
        )
        for each in found.finer
    ]
    title = "Should a column keep more? The node of the least loss that does, and what it takes from others"
    finer = (Table(("more of", "levels that change", "loss"), kept, numbers=(2,), title=title),) if kept else ()
    yield Section(
        "What else could have been",
        (side_by_side(chart, table), *finer),
        f"All {count(found.node_count)} nodes of the lattice; {count(found.satisfying_count)} meet the policy, in "
        "colour. On the line nothing loses less at that k.",
    )


def alternatives_of(nodes: pa.Table, published: Mapping[str, int]) -> Alternatives | None:
    """Derive alternatives from a table of :meth:`sqlanon.Session.lattice`; None if it lacks the published node."""
    rows = nodes.select(["node", "satisfies", "loss", "best_k", "pareto"]).to_pylist()
    for row in rows:
        row["node"] = dict(row["node"])
        if row["loss"] is not None:  # a sum, whose last digits depend on the order of threads
            row["loss"] = round(row["loss"], DIGITS)
    rows.sort(key=lambda row: tuple(row["node"].values()))
    this = next((row for row in rows if row["node"] == dict(published)), None)
    attained = [row for row in rows if row["best_k"] and row["loss"] is not None and row["loss"] <= 1]
    if this is None or this not in attained:
        return None
    least = {k: [row["loss"] for row in attained if row["best_k"] >= k] for k in ASKED}
    finer = [_finer(rows, published, name) for name, level in published.items() if level > 0]
    return Alternatives(
        node_count=len(rows),
        satisfying_count=sum(row["satisfies"] for row in rows),
        points=tuple(joined_points((row["best_k"], row["loss"], row["satisfies"]) for row in attained)),
        front=tuple(_front((row["best_k"], row["loss"]) for row in attained if row["pareto"])),
        least_losses={k: min(losses) for k, losses in least.items() if losses},
        published_k=this["best_k"],
        finer=tuple(sorted(finer, key=lambda each: math.inf if each.loss is None else each.loss)),
        node=dict(published),
        loss=this["loss"],
    )


def joined_points(
    nodes: Iterable[tuple[int, float, bool]], steps: tuple[int, int] = STEPS
) -> Iterator[tuple[int, float, int, bool]]:
    """Join nodes close to each other, of a k, a loss and whether they satisfy: the first, their number, whether any."""
    joined: dict[tuple[int, int], list[tuple[int, float, bool]]] = {}
    for k, loss, satisfies in nodes:
        joined.setdefault((round(math.log(k) * steps[0]), round(loss * steps[1])), []).append((k, loss, satisfies))
    for group in joined.values():
        yield group[0][0], group[0][1], len(group), any(satisfies for *_, satisfies in group)


def _front(points: Iterable[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    """Find the Pareto optimal points, ascending."""
    most = 0
    for k, loss in sorted(points, key=lambda point: (point[1], -point[0])):
        if k > most:
            yield k, loss
        most = max(k, most)


def _finer(rows: Sequence[Mapping[str, Any]], published: Mapping[str, int], name: str) -> Finer:
    found = [row for row in rows if row["satisfies"] and row["node"][name] < published[name]]
    if not found:
        return Finer(column=name, node=None, loss=None)
    best = min(found, key=lambda row: row["loss"])
    changed = {column: level for column, level in best["node"].items() if level != published[column]}
    return Finer(column=name, node=changed, loss=best["loss"])


class LabelCounts(Result):
    """The rows with a label or in a bin."""

    label: str | None  # None for NULL
    measured: float  # in the source, with noise
    drawn: int  # in the release


class MeasuredMarginal(PartialResult):
    """A measured marginal."""

    columns: tuple[str, ...]
    times: int  # the number of measurements
    sigma: float  # the scale of the noise of a count, of all measurements together
    # The maximum number of rows that the model misplaces: half the sum of all differences. All bounds of a report hold
    # together with a probability of 95 %.
    error_at_most: float
    labels: tuple[LabelCounts, ...] = ()  # of a single column, in the order of its domain


def marginals_section(marginals: Sequence[MeasuredMarginal]) -> Iterator[Section]:
    """Show each column, measured and drawn, and the marginals of several columns."""
    if not marginals:
        return
    tables = [
        Table((each.columns[0], "measured", "drawn"), list(_label_rows(each)), numbers=(1, 2))
        for each in marginals
        if each.labels
    ]
    yield Section(
        "How near the rows are to the table",
        (side_by_side(*tables), *measured_tables(marginals), *notes("Not promised", ACCURACY)),
        "Measured: the rows of the source, counted with noise within the budget; drawn: those of the release. Marked "
        f"are those that differ by more than {FAR} scales of the noise. Rows in other places than in the source: "
        "bounds of the model, which all hold together with a probability of 95 %.",
    )


def measured_tables(marginals: Sequence[MeasuredMarginal]) -> tuple[Table, ...]:
    """Show the marginals of several columns, the least noise first; nothing without any."""
    several = sorted((each for each in marginals if len(each.columns) > 1), key=lambda each: each.sigma)
    rows = [
        (", ".join(each.columns), count(each.times), figure(each.sigma), count(math.ceil(each.error_at_most)))
        for each in several[:SHOWN_MARGINALS]
    ]
    if left := len(several) - len(rows):
        rows.append((f"and {left:,} others", "", "", ""))
    headings = ("measured together", "times", "scale of noise", "rows in other places, at most")
    return (Table(headings, rows, numbers=(1, 2, 3)),) if rows else ()


def _label_rows(marginal: MeasuredMarginal) -> Iterator[tuple[str | Text, ...]]:
    largest = sorted(marginal.labels, key=lambda each: -each.drawn)[:SHOWN_LABELS]
    for each in marginal.labels:
        if each in largest:
            tone: Tone = "bad" if abs(each.measured - each.drawn) > FAR * marginal.sigma else "plain"
            name = "NULL" if each.label is None else each.label
            yield name, count(round(each.measured)), Text(count(each.drawn), tone)
    if others := [each for each in marginal.labels if each not in largest]:
        measured, drawn = sum(each.measured for each in others), sum(each.drawn for each in others)
        yield f"{len(others):,} others", count(round(measured)), count(drawn)
