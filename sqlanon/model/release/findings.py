"""Findings on risks that a policy leaves open, and trials of a policy: only for the custodian, never published."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.names import enumerated
from sqlanon.model.release.joint import OtherRelease, sentences_on
from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Table, notes, percent

MAX_SHOWN_PAIRS = 5  # pairs of columns in sentences
MAX_SHOWN_COLUMNS = 10  # unexamined columns in a sentence


class RepeatedIdentifier(Result):
    """An identifier with repeated values, so that classes count rows instead of individuals."""

    column: str
    rows: int  # rows of the source with a value
    values: int  # distinct values; estimated from a sample of values unless ``is_exact``
    is_exact: bool  # whether ``values`` was counted
    is_person: bool  # whether values can be persons, not groups: there are more values than rows per value
    # A line for the policy, in TOML; None if values aren't persons, some rows have none, or the method accepts no
    # individuals.
    proposal: str | None

    @property
    def sentence(self) -> str:
        about = "" if self.is_exact else "about "
        repeats = f'the identifier "{self.column}" repeats: {self.rows:,} rows have {about}{self.values:,} values'
        if self.proposal is None:
            return f"{repeats}; if each is a person, classes count rows, not persons: flatten the table first"
        return f"{repeats}; if each is a person, add {self.proposal} to the policy, which then counts persons, not rows"


class HomogeneousColumn(Result):
    """A sensitive column that no privacy model protects."""

    column: str
    homogeneous_rows: int  # released rows in classes with a single value of it
    released_rows: int
    proposal: str | None  # a privacy model for the policy, in TOML; None if the policy can't have it
    is_perturbed: bool = False  # then the values of a class may be others than it shows

    @property
    def sentence(self) -> str:
        classes = "that show a single value" if self.is_perturbed else "with a single value"
        exposed = f"no released row is in classes {classes}, but nothing prevents it"
        if self.homogeneous_rows:
            known = "is perturbed and need not be theirs" if self.is_perturbed else "their quasi-identifiers give away"
            exposed = (
                f"{self.homogeneous_rows:,} of {self.released_rows:,} released rows "
                f"({100 * self.homogeneous_rows / self.released_rows:.1f} %) are in classes {classes}, which {known}"
            )
        open_to = f'no privacy model protects the sensitive "{self.column}": {exposed}'
        return open_to if self.proposal is None else f"{open_to}; this model forbids it:\n{self.proposal}"


class RevealingColumn(Result):
    """A column, released unchanged, that reveals more of a quasi-identifier than its published label."""

    column: str
    quasi_identifier: str
    published_level: int
    # The finer level whose label it determines; None if the quasi-identifier determines it, and rows of one label
    # differ in it.
    revealed_level: int | None
    rows: int  # rows of the source with such a label
    source_rows: int

    @property
    def sentence(self) -> str:
        published = f'"{self.quasi_identifier}", which is published at level {self.published_level}'
        if self.revealed_level is None:
            shows = f'"{self.column}" depends on {published}, and splits its labels'
        else:
            shows = f'"{self.column}" determines level {self.revealed_level} of {published}'
        return f"{shows} in {self.rows:,} of {self.source_rows:,} rows: make it a quasi-identifier, or drop it"


class IdentifyingPair(Result):
    """Two columns, released unchanged, that are nearly unique together but not on their own."""

    columns: tuple[str, str]
    # Released rows with a pair of values that fewer than ``fewer_than`` rows have; estimated from a sample of pairs
    # unless ``is_exact``.
    rare_rows: int
    released_rows: int
    fewer_than: int  # k of the policy, at least 2 and at most 10
    is_exact: bool  # whether ``rare_rows`` was counted

    @property
    def sentence(self) -> str:
        one, other = self.columns
        about = "" if self.is_exact else "about "
        few = "no other row has" if self.fewer_than == 2 else f"fewer than {self.fewer_than:,} rows have"
        return (
            f'"{one}" and "{other}" are nearly unique together: {about}{self.rare_rows:,} of {self.released_rows:,} '
            f"released rows have a pair of values that {few}; drop one, or make both quasi-identifiers"
        )


class SuppressedGroup(Result):
    """The rows of a label of a quasi-identifier."""

    label: str | None  # None if it is NULL, or a value observed in the data that must not be shown
    rows: int  # of the source
    suppressed_rows: int

    @property
    def name(self) -> str:
        """The label, or a dash."""
        return "–" if self.label is None else self.label

    @property
    def share(self) -> float:
        """The share of suppressed rows, in [0, 1]."""
        return self.suppressed_rows / self.rows

    @property
    def cells(self) -> tuple[str, str]:
        """The group and its share for a table."""
        return self.name, f"{percent(self.share)} of {self.rows:,}"


class Suppression(Result):
    """The uneven suppression of labels of a quasi-identifier."""

    quasi_identifier: str
    level: int  # the finest level of at most 20 labels, published or not
    groups: int  # labels with at least 30 rows
    most: SuppressedGroup  # the label with the largest share of suppressed rows
    least: SuppressedGroup  # the label with the smallest share


class FinerNode(Result):
    """A node that satisfies the policy and keeps a quasi-identifier finer than the published node."""

    node: dict[str, int]  # the level of each quasi-identifier
    finer: dict[str, int]  # levels that are finer than published
    coarser: dict[str, int]  # levels that are coarser than published
    loss: float
    loss_difference: float  # from the loss of the release
    suppressed_rows: int

    @property
    def sentence(self) -> str:
        finer, coarser = (
            [f'"{name}" at level {level}' for name, level in levels.items()] for levels in (self.finer, self.coarser)
        )
        instead = f", and instead {enumerated(coarser)}" if coarser else ""
        levels = f"{enumerated(finer)}{instead}"
        return (
            f"of the nodes that were checked, the cheapest with a finer column has {levels}: its loss is "
            f"{self.loss:.4g} ({self.loss_difference:+.3g}), with {self.suppressed_rows:,} rows suppressed"
        )


class LocalEstimate(Result):
    """The estimated loss of local recoding, if full-domain generalization loses much more."""

    loss: float  # the mean loss by the quality model of the policy, in [0, 1], without suppression
    published_loss: float  # of the published node

    @property
    def sentence(self) -> str:
        return (
            f"local recoding would lose about {self.loss:.2g} in place of {self.published_loss:.2g}: with method = "
            '"local-recoding" each class has labels of its own, and rare rows coarsen nobody else'
        )


class Findings(Result):
    """Risks that a policy leaves open. They may reveal facts about suppressed rows: protect them like the source.

    Attributes:
        repeated_identifiers: identifiers with repeated values, if the policy has no ``individual``.
        homogeneous_columns: sensitive columns without a diversity model.
        revealing_columns: columns that reveal more of a quasi-identifier than its published label.
        identifying_pairs: pairs of columns that are nearly unique together, the rarest values first.
        suppression: the uneven suppression of labels by quasi-identifier.
        finer_nodes: for each quasi-identifier, the checked node of least loss that satisfies the policy and keeps it
            finer than published, each node once, and the least loss first. Other nodes may be cheaper. Empty without a
            search, and after a search for the most private node.
        local_recoding: the loss of local recoding; None if it isn't much less, or wasn't estimated.
        unexamined_columns: columns that were not compared with the quasi-identifiers, since there are too many.
        unexamined_pairs: the number of pairs of columns with enough values to be nearly unique together that were not
            examined, since there are too many.
        unexamined_pairs_listed: the first hundred of them.
        other_releases: comparisons with other releases of the same data set: the latest on the list of the warehouse
            that still exist, and that the policy doesn't name.
        uncompared_releases: the number of targets of older releases on the list.
        few_in_common: a sentence on each source of the policy or its earlier releases with few persons in another one.
    """

    repeated_identifiers: tuple[RepeatedIdentifier, ...] = ()
    homogeneous_columns: tuple[HomogeneousColumn, ...] = ()
    revealing_columns: tuple[RevealingColumn, ...] = ()
    identifying_pairs: tuple[IdentifyingPair, ...] = ()
    suppression: tuple[Suppression, ...] = ()
    finer_nodes: tuple[FinerNode, ...] = ()
    local_recoding: LocalEstimate | None = None
    unexamined_columns: tuple[str, ...] = ()
    unexamined_pairs: int = 0
    unexamined_pairs_listed: tuple[tuple[str, str], ...] = ()
    other_releases: tuple[OtherRelease, ...] = ()
    uncompared_releases: int = 0
    few_in_common: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        return tuple(self._sentences())

    def parts(self) -> Iterator[Part]:
        """Show the findings in words, and the suppression of labels; nothing without findings."""
        yield from notes("Findings (for you alone: they do not travel with the release)", self.sentences)
        yield from self.uneven_suppression()

    def uneven_suppression(self) -> Iterator[Table]:
        """Show the suppression of labels; nothing if no row is suppressed."""
        rows = [
            (each.quasi_identifier, str(each.level), *each.most.cells, *each.least.cells) for each in self.suppression
        ]
        headings = ("quasi-identifier", "level", "most suppressed", "", "least suppressed", "")
        if rows:
            yield Table(headings, rows, numbers=(1, 3, 5), title="How suppression falls (for you alone)")

    def _sentences(self) -> Iterator[str]:
        yield from self.few_in_common
        yield from sentences_on(self.other_releases, self.uncompared_releases)
        yield from (found.sentence for found in self.repeated_identifiers if found.is_person)
        yield from (found.sentence for found in self.homogeneous_columns)
        yield from (found.sentence for found in self.revealing_columns)
        yield from (found.sentence for found in self.identifying_pairs[:MAX_SHOWN_PAIRS])
        if (more := len(self.identifying_pairs) - MAX_SHOWN_PAIRS) > 0:
            yield f"{more:,} more pairs of columns are nearly unique together; the report in JSON lists them"
        yield from (found.sentence for found in self.finer_nodes[:1])
        if self.local_recoding is not None:
            yield self.local_recoding.sentence
        if self.unexamined_columns:
            names = ", ".join(f'"{name}"' for name in self.unexamined_columns[:MAX_SHOWN_COLUMNS])
            count = len(self.unexamined_columns)
            yield f"{count:,} columns were not compared with the quasi-identifiers, since there are too many: {names}"
        if self.unexamined_pairs:
            yield (
                f"{self.unexamined_pairs:,} more pairs of columns have enough values to be nearly unique together, and "
                "were not examined, since there are too many; the report in JSON lists the first"
            )


LARGEST_USEFUL_LOSS = 0.5
LARGEST_USEFUL_SHARE = 0.5
"""A release by full domains is useful up to this loss, and this share of quasi-identifiers at the top level."""
MUCH_MORE, LITTLE = 2, 0.025
"""Local recoding is mentioned if full domains lose this many times its loss, or ``LITTLE`` if that is larger."""


class Trial(Result):
    """A run of full domains on a sample, and the loss of local recoding there."""

    source_rows: int
    rows: int  # of the sample
    columns: int  # the number of quasi-identifiers
    loss: float | None = None  # the mean loss of full domains by the policy, in [0, 1]; None if no run succeeded
    suppressed_rows: int = 0  # of the sample, by full domains
    at_top: tuple[str, ...] = ()  # quasi-identifiers with the label ``*`` in all rows
    local_loss: float | None = None  # the estimated loss of local recoding, in [0, 1], if known
    reason: str | None = None  # why no run succeeded

    @property
    def asks_for_local_recoding(self) -> bool:
        """Whether full domains are of little use, and local recoding loses less."""
        if self.loss is None or self.local_loss is None:
            return False
        says_little = len(self.at_top) > LARGEST_USEFUL_SHARE * self.columns or self.loss > LARGEST_USEFUL_LOSS
        return says_little and self.local_loss < self.loss

    @property
    def compared(self) -> str:
        """The losses of both methods, or of full domains if the other is unknown."""
        assert self.loss is not None
        local = "" if self.local_loss is None else f"local recoding loses about {self.local_loss:.2g}, "
        return f"{local}full domains lose {self.loss:.2g}"

    @property
    def sentences(self) -> Iterator[str]:
        """Describe the result of the trial, and the consequence for the policy."""
        some = f"{self.rows:,} of {self.source_rows:,}" if self.rows < self.source_rows else f"all {self.rows:,}"
        if self.loss is None:
            yield f"a trial on {some} rows made no release: {self.reason}"
            return
        says_nothing = f", with * in all rows of {enumerated(self.at_top)}" if self.at_top else ""
        left_out = f", and leave {self.suppressed_rows:,} out" if self.suppressed_rows else ""
        yield f"in a trial on {some} rows, full domains lose {self.loss:.2g} of 1{says_nothing}{left_out}"
        if self.local_loss is None:
            return
        if self.asks_for_local_recoding:
            yield f"local recoding loses about {self.local_loss:.2g} there, so the policy asks for it"
            if self.local_loss > LARGEST_USEFUL_LOSS:
                yield "either release is coarse: fewer quasi-identifiers, or a smaller k, lose less"
        elif self.loss >= MUCH_MORE * max(self.local_loss, LITTLE):
            yield f"local recoding loses about {self.local_loss:.2g} there: the policy has a line for it"
