"""The releases on the list of a warehouse, and joint classes of several releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from sqlanon.model.names import enumerated
from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import Part, Table, count, notes, paragraph, percent

State = Literal["there", "replaced", "gone", "unconfirmed", "unseen"]
"""The state of a release: at its target; replaced there by a later one on the list; gone; gone, and not confirmed as
published; or unseen, as the target is out of reach."""


class ListedRelease(PartialResult):
    """A release on the list of a warehouse, without cell values; of a query it only has the data sets it reads.

    Attributes:
        target: the target: a table, with its schema unless that is ``main``; an absolute path; or an address. For a
            fit, the path of its sidecar.
        datasets: its sources, by the names of tables and files in a ledger; empty for a frame.
        method: the name of the method.
        policy_sha256: the hash of the policy that it meets.
        node: the level of each quasi-identifier; None for a method without a node.
        row_count: its rows, for a fit of all partitions; None if the method counts none.
        min_class_size: the rows of its smallest class; None if unknown, as for a private method.
        record_sha256: the hash of its record, for a fit of the last partition; None until the run confirms that it has
            published the release.
        fit_sha256: the hash of the fit that it belongs to, if any.
        made_at: the time of the release in UTC; for a fit, of the last partition.
        forgotten_at, forgotten_reason: when it was forgotten, in UTC, and why; None if it was not.
        perturbed: the columns whose values were changed; None if an earlier version listed it.
        state: ``there`` if the target holds it, ``replaced`` if it holds a later one on the list, ``gone`` if it holds
            neither; ``unconfirmed`` if it is gone and no run has confirmed that it was published: the run continues, or
            was killed, and the budget of a private release may be spent; ``unseen`` if this session can't reach the
            target. Copies elsewhere may exist in any state.
    """

    target: str
    datasets: tuple[str, ...]
    method: str
    policy_sha256: str
    node: dict[str, int] | None = None
    row_count: int | None = None
    min_class_size: int | None = None
    record_sha256: str | None = None
    fit_sha256: str | None = None
    made_at: datetime
    forgotten_at: datetime | None = None
    forgotten_reason: str | None = None
    perturbed: tuple[str, ...] | None = None
    state: State


class ReleaseList(Result):
    """Releases on the list of a warehouse, oldest first.

    Attributes:
        database: the warehouse.
        releases: the releases.
    """

    database: str
    releases: tuple[ListedRelease, ...] = Field(default=())

    @property
    def heading(self) -> str:
        return "Releases"

    def parts(self) -> Iterator[Part]:
        if not self.releases:
            yield paragraph("no release is on the list")
            return
        names = ("UTC", "target", "state", "data sets", "method", "node", "rows", "smallest class")
        rows = [
            (
                each.made_at.isoformat(" ", "seconds"),
                each.target,
                each.state if each.forgotten_at is None else "forgotten",
                ", ".join(each.datasets),
                each.method,
                ", ".join(f"{name} {level}" for name, level in (each.node or {}).items()),
                *("" if number is None else count(number) for number in (each.row_count, each.min_class_size)),
            )
            for each in self.releases
        ]
        forgotten = [
            (each.target, each.forgotten_at.isoformat(" ", "seconds"), each.forgotten_reason or "")
            for each in self.releases
            if each.forgotten_at is not None
        ]
        yield Table(names, rows, numbers=(6, 7))
        if forgotten:
            yield Table(("forgotten", "UTC", "reason"), forgotten)


class JointClass(Result):
    """Persons with equal classes in each of several releases."""

    # By release the labels of their class, by quasi-identifier; None if it doesn't show them. Levels with a single
    # label are left out.
    labels: tuple[dict[str, str | None] | None, ...]
    persons: int


class JointClasses(PartialResult):
    """The joint classes of several releases: persons with equal classes in each of them.

    Attributes:
        releases: their names, in order.
        k: the fewest persons of a joint class; None if no release shows anyone.
        class_count: the number of joint classes.
        person_count: the number of persons whom some release shows.
        unique_persons: the number of persons who are alone in their joint class.
        required_k: the least k of the policies of the releases; None if they weren't compared with it.
        persons_at_risk: the number of persons in joint classes of fewer than ``required_k``.
        smallest: some of these classes, the smallest first.
        failing_classes: the number of joint classes that violate the last policy's models of sensitive values, by the
            values that each release shows; None without such models.
        few_in_common: a sentence on each source with few persons in another one, by their keys.

    Source: spec/earlier.md; composition attacks (Ganta, Kasiviswanathan and Smith 2008).
    """

    releases: tuple[str, ...]
    k: int | None
    class_count: int
    person_count: int
    unique_persons: int
    required_k: int | None = None
    persons_at_risk: int | None = None
    smallest: tuple[JointClass, ...] = ()
    failing_classes: int | None = None
    few_in_common: tuple[str, ...] = ()

    # guarded: tests/unit/test_guarded_releases.py
    @property
    def met(self) -> bool:
        """Whether every joint class has enough persons, and meets the models of sensitive values."""
        has_persons = self.k is None or self.required_k is None or self.k >= self.required_k
        return has_persons and not self.failing_classes

    @property
    def heading(self) -> str:
        return "Joint classes"

    def parts(self) -> Iterator[Part]:
        yield paragraph(
            f"Together, {enumerated(self.releases)} show {count(self.person_count)} persons in "
            f"{count(self.class_count)} joint classes of {count(self.k)} at least; {count(self.unique_persons)} are "
            "alone in theirs."
        )
        if self.persons_at_risk is not None and self.person_count:
            share = percent(self.persons_at_risk / self.person_count)
            fewer = f"joint classes of fewer than {count(self.required_k)}"
            yield paragraph(f"{count(self.persons_at_risk)} persons ({share}) are in {fewer}.")
        if self.failing_classes is not None:
            failing = count(self.failing_classes)
            yield paragraph(f"{failing} joint classes do not meet the privacy models of {self.releases[-1]}.")
        yield from notes("Notes", self.few_in_common)
        if self.smallest:
            rows = [(*map(_in_words, each.labels), count(each.persons)) for each in self.smallest]
            yield Table((*self.releases, "persons"), rows, numbers=(len(self.releases),))


class OtherRelease(Result):
    """Another release of the data set on the list of the warehouse, which the policy doesn't name."""

    release: str  # its target
    joint: JointClasses | None = None  # with the release of the run, if known
    reason: str | None = None  # why they are unknown
    unjudged: tuple[str, ...] = ()  # privacy models of the policy that joint classes weren't checked for
    # A line for the policy, in TOML, to hold both together; None if joint classes are large enough and every model was
    # checked, or if the policy can't have it.
    proposal: str | None = None

    # guarded: tests/unit/test_guarded_releases.py
    @property
    def is_met(self) -> bool:
        """Whether every joint class is known to have enough persons, and to meet all models."""
        return self.joint is not None and self.joint.met and not self.unjudged

    @property
    def sentence(self) -> str:
        """Describe what both reveal together, and what to write in the policy."""
        together, joint = f'together with "{self.release}"', self.joint
        if joint is None:
            return _unknown([self.release], self.reason)
        held = "" if self.proposal is None else f"{self.proposal} holds both together"
        if joint.met:
            enough = f"{together}, joint classes have {count(joint.k)} persons at least"
            if not self.unjudged:
                return enough
            return f"{enough}; whether they meet {enumerated(self.unjudged)} is not known{held and f': {held}'}"
        shortfalls = f"{together}, {enumerated([*_shortfalls(joint)])}"
        return f'{shortfalls}: {held and f"{held}; "}earlier = "none" says that nobody has both'


def sentences_on(others: Sequence[OtherRelease], uncompared: int) -> Iterator[str]:
    """Describe comparisons with other releases, one sentence per reason without one, and the older ones."""
    yield from (each.sentence for each in others if each.joint is not None)
    unknown = [each for each in others if each.joint is None]
    for reason in dict.fromkeys(each.reason for each in unknown):
        yield _unknown([each.release for each in unknown if each.reason == reason], reason)
    if uncompared:
        yield (
            f"{uncompared:,} older releases of the data set are on the list, and were not examined: "
            "sqlanon compare-releases compares the ones that are still there"
        )


def _shortfalls(joint: JointClasses) -> Iterator[str]:
    """Describe joint classes with too few persons, or without the required values."""
    k, at_risk = joint.required_k, joint.persons_at_risk or 0
    if k is not None and joint.k is not None and joint.k < k:
        # Reports don't show smaller counts.
        persons = f"fewer than {count(k)}" if at_risk < k else count(at_risk)
        yield (
            f"{persons} of {count(joint.person_count)} persons stand in joint classes of fewer than {count(k)}, "
            f"the fewest {count(joint.k)}"
        )
    if joint.failing_classes:
        yield f"{count(joint.failing_classes)} joint classes do not meet the privacy models of the release"


def _unknown(releases: Sequence[str], reason: str | None) -> str:
    names = " or ".join(f'"{name}"' for name in releases)
    return f"what the release shows together with {names} is not known: {reason}"


def _in_words(labels: dict[str, str | None] | None) -> str:
    if labels is None:
        return "not shown"
    return ", ".join(f"{name} {'NULL' if label is None else label}" for name, label in labels.items()) or "all"
