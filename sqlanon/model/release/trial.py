"""Trials: a suggested policy on a sample of its source, by full domains and by local recoding."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.names import enumerated
from sqlanon.model.release.measurement import Result

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
        says_nothing = ""
        if self.at_top:
            says_nothing = f", with * in all rows of {enumerated(self.at_top)}"
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
