"""Findings on the data about what a policy leaves open, and trials of one: for the custodian, and never published."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.names import enumerated
from sqlanon.model.release.joint import OtherRelease, sentences_on
from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Table, notes, percent

MAX_SHOWN_PAIRS = 5  # the most pairs of columns that are put in words
MAX_SHOWN_COLUMNS = 10  # the most columns that are named where they were not looked at


class RepeatedIdentifier(Result):
    """An identifier whose values repeat, so that classes count rows where they should count individuals."""

    column: str
    rows: int  # rows of the source that have a value there
    values: int  # distinct values; estimated from one in several values unless ``is_exact``
    is_exact: bool  # whether ``values`` was counted
    is_person: bool  # whether values can be persons, not groups: there are more of them than rows per value
    # A line for the policy, in TOML; None if values are not persons, some rows have none, or the method of the policy
    # takes no individuals.
    proposal: str | None

    @property
    def sentence(self) -> str:
        about = "" if self.is_exact else "about "
        repeats = f'the identifier "{self.column}" repeats: {self.rows:,} rows have {about}{self.values:,} values'
        if self.proposal is None:
            return f"{repeats}; if each is a person, classes count rows, not persons: flatten the table first"
        return f"{repeats}; if each is a person, add {self.proposal} to the policy, which then counts persons, not rows"


class HomogeneousColumn(Result):
    """A sensitive column that no privacy model looks at."""

    column: str
    homogeneous_rows: int  # released rows in classes with a single value of it
    released_rows: int  # all released rows
    proposal: str | None  # a privacy model for the policy, in TOML; None if the policy cannot take it

    @property
    def sentence(self) -> str:
        exposed = "no released row is in a class with a single value, but nothing prevents it"
        if self.homogeneous_rows:
            exposed = (
                f"{self.homogeneous_rows:,} of {self.released_rows:,} released rows "
                f"({100 * self.homogeneous_rows / self.released_rows:.1f} %) are in classes with a single value, which "
                "their quasi-identifiers give away"
            )
        open_to = f'no privacy model protects the sensitive "{self.column}": {exposed}'
        return open_to if self.proposal is None else f"{open_to}; this model forbids it:\n{self.proposal}"


class RevealingColumn(Result):
    """A column, released as it is, that shows more of a quasi-identifier than its published label does."""

    column: str
    quasi_identifier: str  # of whose labels it shows more
    published_level: int  # their level
    # The finer level whose label it determines; None if it depends on the quasi-identifier, and rows of one label
    # differ in it.
    revealed_level: int | None
    rows: int  # rows of the source with such a label
    source_rows: int  # all rows of the source

    @property
    def sentence(self) -> str:
        published = f'"{self.quasi_identifier}", which is published at level {self.published_level}'
        if self.revealed_level is None:
            shows = f'"{self.column}" depends on {published}, and splits its labels'
        else:
            shows = f'"{self.column}" determines level {self.revealed_level} of {published}'
        return f"{shows} in {self.rows:,} of {self.source_rows:,} rows: make it a quasi-identifier, or drop it"


class IdentifyingPair(Result):
    """Two columns, released as they are, that are nearly unique together and not on their own."""

    columns: tuple[str, str]
    # Released rows with a pair of values that fewer than ``fewer_than`` rows have; estimated from one pair of values in
    # several unless ``is_exact``.
    rare_rows: int
    released_rows: int  # all released rows
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

    label: str | None  # None if it is NULL, or a value that was read off the data and values are not to be shown
    rows: int  # rows of the source
    suppressed_rows: int  # how many of them are suppressed

    @property
    def name(self) -> str:
        """The label, or a dash."""
        return "–" if self.label is None else self.label

    @property
    def share(self) -> float:
        """The share of its rows that is suppressed, in [0, 1]."""
        return self.suppressed_rows / self.rows

    @property
    def cells(self) -> tuple[str, str]:
        """The group and its share, as a table shows them."""
        return self.name, f"{percent(self.share)} of {self.rows:,}"


class Suppression(Result):
    """The uneven suppression of labels of a quasi-identifier."""

    quasi_identifier: str  # its name
    level: int  # the finest level of at most 20 labels, whatever level is published
    groups: int  # labels of it with at least 30 rows
    most: SuppressedGroup  # the label with the largest share of suppressed rows
    least: SuppressedGroup  # the label with the smallest one


class FinerNode(Result):
    """A node that satisfies the policy and keeps a quasi-identifier finer than the one that was published."""

    node: dict[str, int]  # the level of each quasi-identifier
    finer: dict[str, int]  # the levels of quasi-identifiers that are finer than published
    coarser: dict[str, int]  # the levels of quasi-identifiers that are coarser
    loss: float
    loss_difference: float  # how much more that is than the loss of the release
    suppressed_rows: int  # rows that it suppresses

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
    """About what local recoding loses, where full-domain generalization loses much more of the same table."""

    loss: float  # the mean loss by the quality model of the policy, in [0, 1], no row left out
    published_loss: float  # the loss of the node that was published

    @property
    def sentence(self) -> str:
        return (
            f"local recoding would lose about {self.loss:.2g} in place of {self.published_loss:.2g}: with method = "
            '"local-recoding" each class has labels of its own, and rare rows coarsen nobody else'
        )


class Findings(Result):
    """What a policy leaves open. It may show facts of suppressed rows: keep it like the source.

    Attributes:
        repeated_identifiers: identifiers whose values repeat, if the policy has no ``individual``.
        homogeneous_columns: sensitive columns without a diversity model.
        revealing_columns: columns that show more of a quasi-identifier than its published label does.
        identifying_pairs: pairs of columns that are nearly unique together, the rarest values first.
        suppression: how unevenly suppression falls on each quasi-identifier.
        finer_nodes: for each quasi-identifier, of the nodes that were checked, the one of the least loss that satisfies
            the policy and has it finer than published, each node once and the least loss first. They need not be the
            cheapest of all nodes. There is none where no node was searched for, or the most private one was.
        local_recoding: what local recoding would lose; None if that is not much less, or was not estimated.
        unexamined_columns: columns that were not compared with the quasi-identifiers, since there are too many.
        unexamined_pairs: how many pairs of columns have values enough to be nearly unique together, and were not looked
            at, since there are too many.
        unexamined_pairs_listed: the first hundred of them.
        other_releases: what the release shows together with others of the same data set: the latest on the list of the
            warehouse that are still there, and that the policy does not name.
        uncompared_releases: how many targets of older ones are on the list.
        few_in_common: a sentence on each source of the releases that the policy names, or of its own, few of whose
            persons are in another one.
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
        """Show the findings in words, and how suppression falls on labels; nothing where nothing was found."""
        yield from notes("Findings (for you alone: they do not travel with the release)", self.sentences)
        yield from self.uneven_suppression()

    def uneven_suppression(self) -> Iterator[Table]:
        """Show how suppression falls on labels; nothing where no row is suppressed."""
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
                f"{self.unexamined_pairs:,} more pairs of columns have values enough to be nearly unique together, and "
                "were not looked at, since there are too many; the report in JSON lists the first"
            )


LARGEST_USEFUL_LOSS = 0.5
LARGEST_USEFUL_SHARE = 0.5
"""The loss up to which a release by full domains is of use, and the share of its quasi-identifiers that say nothing."""

MUCH_MORE, LITTLE = 2, 0.025
"""How many times as much full domains must lose for local recoding to be mentioned, and which loss is none of them."""


class Trial(Result):
    """A run of full domains on a sample, and the loss of local recoding there."""

    source_rows: int
    rows: int  # rows of the sample
    columns: int  # how many quasi-identifiers there are
    loss: float | None = None  # the mean loss of full domains by the policy, in [0, 1]; None if no run succeeded
    suppressed_rows: int = 0  # how many rows of the sample full domains leave out
    at_top: tuple[str, ...] = ()  # the quasi-identifiers that have the label ``*`` in all rows
    local_loss: float | None = None  # about the loss of local recoding, in [0, 1]; None if that is not known
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
        """The losses of both methods; that of full domains alone where the other is not known."""
        assert self.loss is not None
        local = "" if self.local_loss is None else f"local recoding loses about {self.local_loss:.2g}, "
        return f"{local}full domains lose {self.loss:.2g}"

    @property
    def sentences(self) -> Iterator[str]:
        """Say what came of the trial, and what the policy asks for."""
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
