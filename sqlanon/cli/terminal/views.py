"""Results as tables and texts for people. Names go in as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sqlanon.cli.terminal.findings import findings_view
from sqlanon.cli.terminal.tables import count, figure, percent, plain, sentence_list, table
from sqlanon.model.budget import spelled
from sqlanon.model.fit import Fit, PartitionRelease
from sqlanon.model.policy.searches import INVERSE_OLA
from sqlanon.model.release import (
    Guarantee,
    Measurement,
    ModelResult,
    PrivateReport,
    Release,
    Report,
    Verification,
)

if TYPE_CHECKING:
    from sqlanon.evaluation.audit import Audit

BEST_NODES = 10

VERDICTS = {True: ("yes", "green"), False: ("no", "red"), None: ("no verdict", "yellow")}
"""Whether a model is met, as text and its style."""


def measurement_view(measurement: Measurement) -> list[RenderableType]:
    """What a table gives away, and the privacy models against it."""
    facts = table("what", "value", numbers=(1,), title=measurement.source)
    facts.show_header = False
    for what, value in facts_of(measurement):
        facts.add_row(what, value)
    return [facts, models_table(measurement.models), *notes_view(measurement.notes)]


def verification_view(verification: Verification) -> list[RenderableType]:
    """What was measured on a release, what was not compared, and what no verification sees."""
    notes = (*verification.measurement.notes, *verification.notes)
    parts = (("Notes", notes), ("Not covered", verification.not_covered))
    measured = measurement_view(verification.measurement.model_copy(update={"notes": ()}))
    listed: list[RenderableType] = [sentence_list(heading, sentences) for heading, sentences in parts if sentences]
    if verification.record_sha256 is not None:
        listed.append(plain(f"Record: sha256 {verification.record_sha256}"))
    return [*measured, *listed]


def facts_of(measurement: Measurement) -> list[tuple[str, str]]:
    """The measures in words, with their values."""
    return [
        ("rows", count(measurement.row_count)),
        ("equivalence classes", count(measurement.class_count)),
        ("rows in the smallest class (k)", count(measurement.k)),
        ("rows alone in their class", f"{count(measurement.unique_rows)} ({percent(measurement.unique_share)})"),
        ("highest risk of re-identification", percent(measurement.highest_prosecutor_risk)),
        ("average risk of re-identification", percent(measurement.average_prosecutor_risk)),
    ]


def models_table(models: Iterable[ModelResult]) -> Table:
    """Each privacy model with what it requires and what is attained."""
    made = table("privacy model", "attained", "met", numbers=(1,))
    for result in models:
        made.add_row(plain(result.model), figure(result.attained), plain(*VERDICTS[result.met]))
    return made


def release_view(release: Release) -> list[RenderableType]:
    """A release: rows, node, privacy models and guarantee."""
    report = release.report
    if isinstance(report, PrivateReport):
        return private_view(release, report)
    return [
        Text.assemble(("Published ", "bold"), plain(release.into, "bold"), f": {report.rows_in_words}"),
        Text(search_sentence(report)),
        node_table(release.node, report.heights) if release.node else _generalization_table(report.generalization),
        models_table(report.models),
        *guarantee_view(release.guarantee),
        *notes_view(report.notes),
        *findings_view(report.findings),
    ]


def private_view(release: Release, report: PrivateReport) -> list[RenderableType]:
    """A release of a private method: rows, node, what was spent and guarantee."""
    stamp = [Text(report.stamp, "bold red")] if report.stamp else []
    spent = table("step", "ε", "δ", "shows counts from", numbers=(1, 2, 3))
    for each in report.spent:
        least = report.thresholds.get(each.step)
        budget = each.budget.model_dump(mode="json")
        spent.add_row(each.step, budget["epsilon"], budget["delta"], "" if least is None else count(least))
    return [
        *stamp,
        Text.assemble(("Published ", "bold"), plain(release.into, "bold"), f": {report.rows_in_words}"),
        _generalization_table(report.generalization),
        spent,
        *guarantee_view(release.guarantee),
        *notes_view(report.notes),
    ]


def guarantee_view(guarantee: Guarantee) -> list[RenderableType]:
    """What is promised, on what it rests, and what it leaves out."""
    parts = (
        ("Guarantee", guarantee.claims),
        ("As long as", guarantee.conditions),
        ("Not covered", guarantee.not_covered),
    )
    return [sentence_list(heading, sentences) for heading, sentences in parts if sentences]


def notes_view(notes: Iterable[str]) -> list[RenderableType]:
    """What a reader should know, if there is anything."""
    sentences = list(notes)
    return [sentence_list("Notes", sentences)] if sentences else []


def fit_view(fit: Fit, sidecar: str) -> list[RenderableType]:
    """A node that partitions are to be released at."""
    share = percent(fit.suppressed_rows / fit.rows)
    checked = f"{count(fit.checked_nodes)} of {count(fit.lattice_nodes)} nodes in {sum(fit.seconds.values()):.2f} s"
    return [
        Text.assemble(("Fitted ", "bold"), plain(sidecar, "bold"), "; nothing is published. Keep this file private."),
        Text(
            f"On its source, {count(fit.suppressed_rows)} of {count(fit.rows)} rows would be suppressed ({share}); "
            f"{fit.quality} loss {figure(fit.loss)}, {checked}."
        ),
        node_table(fit.node, fit.heights),
        *notes_view(fit.notes),
        *findings_view(fit.findings),
    ]


def partition_view(release: PartitionRelease) -> list[RenderableType]:
    """A partition that was published: rows, privacy models and guarantee."""
    report = release.report
    rows, union = report.rows, report.union
    unknown = f" and {count(union.unknown)} left out for unknown values" if union.unknown else ""
    return [
        Text.assemble(
            ("Published ", "bold"),
            plain(release.into, "bold"),
            f": {count(rows.released)} of {count(rows.source)} rows.",
        ),
        Text(
            f"Together with what was published before: {count(union.released)} of {count(union.source)} rows in "
            f"{count(report.partitions)} partitions; {count(union.dropped)} suppressed{unknown} "
            f"({percent(1 - union.released / union.source)}; the limit is {100 * report.suppression_limit:g} %)."
        ),
        models_table(report.models),
        *guarantee_view(release.guarantee),
        *notes_view(report.notes),
    ]


def audit_view(audit: Audit) -> list[RenderableType]:
    """What a mechanism was shown to give away, against its claim."""
    facts = table("what", "value", numbers=(1,), title="Privacy loss on the two tables")
    facts.show_header = False
    for what, value in audit_facts(audit):
        facts.add_row(what, plain(value))
    event = [] if audit.event is None else [plain(f"Event: {audit.event}.\n")]
    return [facts, *event, *notes_view(audit.notes)]


def audit_facts(audit: Audit) -> list[tuple[str, str]]:
    """The numbers of an audit in words."""
    facts = [
        ("ε that was found" if audit.exact else "ε is at least", f"{audit.lower_bound:.4g}"),
        ("ε and δ that are claimed", "–" if audit.claimed is None else str(audit.claimed)),
        ("at δ", spelled(audit.delta)),
    ]
    if audit.runs is not None and audit.confidence is not None:
        facts += [("with confidence", f"{audit.confidence:g}"), ("runs on each table", count(audit.runs))]
    if audit.direction is not None and audit.event_runs is not None:
        more, less = (count(runs) for runs in audit.event_runs)
        facts.append(("the event happened", f"{more} against {less} times in {count(audit.bounded_runs)} runs"))
        facts.append(("and is likelier on", audit.direction.partition(" over ")[0]))
    return facts


def search_sentence(report: Report) -> str:
    """How the node was found."""
    ties = f", tied with {report.tie_count - 1} more" if report.tie_count and report.tie_count > 1 else ""
    checked = f"{count(report.checked_nodes)} of {count(report.lattice_nodes)} nodes"
    seconds = f"{sum(report.seconds.values()):.2f} s"
    if not report.lattice_nodes:
        return f"No lattice was searched: {report.quality} loss {figure(report.loss)}, in {seconds}."
    if not report.proven_optimal:
        found = f"{report.quality} loss {figure(report.loss)}{ties}, found by checking {checked} in {seconds}"
        return f"Not proven optimal: {found}{gap_phrase(report)}."
    goal = "Most private within max_loss, with a" if report.search == INVERSE_OLA else "Least"
    return f"{goal} {report.quality} loss ({figure(report.loss)}{ties}), proven by checking {checked} in {seconds}."


def gap_phrase(report: Report) -> str:
    """How far a loss can be from optimal."""
    if report.gap is None:
        return ""
    share = f" ({percent(report.gap / report.loss)} of it)" if report.loss else ""
    return f"; at most {figure(report.gap)}{share} more than the least"


def node_table(node: Mapping[str, int], heights: Mapping[str, int]) -> Table:
    """The level of each quasi-identifier."""
    made = table("quasi-identifier", "level", "of", numbers=(1, 2))
    for name, level in node.items():
        made.add_row(plain(name), str(level), str(heights[name]))
    return made


def _generalization_table(generalization: Mapping[str, str]) -> Table:
    """How general each quasi-identifier is."""
    made = table("quasi-identifier", "generalized to")
    for name, words in generalization.items():
        made.add_row(plain(name), plain(words))
    return made


def lattice_view(document: dict[str, Any]) -> list[RenderableType]:
    """The size of the lattice, and its best nodes or those that come closest."""
    satisfying, quality = document["satisfying_nodes"], document["quality"]
    headings = ("node", quality, "classes", "smallest", "best k", "suppressed")
    title = f"Best by {quality}" if satisfying else "Closest to the policy"
    best = table(*headings, numbers=(1, 2, 3, 4, 5), title=title)
    for row in document["table"][: min(satisfying, BEST_NODES) or BEST_NODES]:
        node = ", ".join(f"{name} {level}" for name, level in row["node"].items())
        counts = (row["class_count"], row["min_class_size"], row["best_k"], row["suppressed_rows"])
        best.add_row(plain(node), figure(row["loss"]), *(count(number) for number in counts))
    return [Text(f"{count(document['nodes'])} nodes, {count(satisfying)} satisfy the policy.\n"), best]


def taxonomy_table(taxonomies: dict[str, dict[str, Any]]) -> Table:
    """The stored taxonomies."""
    made = table("attribute", "top level", "values", "labels by level", "domain", numbers=(1, 2))
    for name, shape in taxonomies.items():
        labels = ", ".join(count(number) for number in shape["labels"])
        made.add_row(plain(name), str(shape["height"]), count(shape["values"]), labels, str(shape["domain"]))
    return made
