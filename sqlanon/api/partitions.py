"""The Python interface to tables that are published part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive
from sqlanon.methods.stages import Progress, never, silent, stopping
from sqlanon.model.destination import CsvFormulas, Replace, destination, replacing, with_csv_formulas

if TYPE_CHECKING:
    from sqlanon.engines.relations import Source
    from sqlanon.model.fitted import Fit, PartitionRelease
    from sqlanon.model.policy.policy import GivenPolicy


class Partitions(Part):
    """Tables that are published part by part, at a node that is fitted once: ``session.partitions``."""

    @exclusive
    def fit(
        self,
        source: Source,
        policy: GivenPolicy,
        sidecar: str | Path,
        *,
        node: Mapping[str, int] | None = None,
        every_partition: bool = False,
        accept_observed_domain: bool = False,
        replace: bool = False,
        progress: Progress = silent,
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Fit:
        """Find the node at which :meth:`apply` releases partitions, and store it; nothing is published.

        It is the node at which :meth:`Session.anonymize` would publish the source. For a policy of
        :class:`LocalRecoding`, it is a list of classes. The sidecar has it with the policy and the taxonomies, and
        later the counts of everything published with it, by partition, class and values of the protected columns. The
        sidecar is private, and only its owner can read it.

        Args:
            source: the rows to fit, such as the first partition or a sample of later ones.
            policy: the guarantee of the partitions. Models that compare classes with the source always compare them
                with this one.
            sidecar: the path of the file.
            node: the level of every quasi-identifier, if the node is known; it must meet the policy on the source.
            every_partition: have each partition also meet the privacy models on its own, so that it does no harm to
                know a row's partition.
            accept_observed_domain: accept taxonomies whose values were read off the data: a partition with any other
                value is refused.
            replace: replace another fit, if nothing was published with it.
            progress, time_limit, stop: as in :meth:`Session.anonymize`.

        Raises:
            PolicyError: the policy or the given node does not fit the source, or the policy cannot be applied to
                partitions: it counts individuals, masks, compares with a population, or takes ordered distances.
            TaxonomyError: as :meth:`Session.anonymize`; or taxonomies have observed values, which was not accepted: it
                names what to declare.
            UnsatisfiableError: no node meets the policy, or the given one does not.
            EngineError: the sidecar exists, something was published with it, or the database or the file system refused
                a step.
        """
        from sqlanon.partitions.fit import fit

        wanted, stopped = (
            self._opened.checked(policy, "fit"),
            stopping(time_limit, self._opened.callback(stop)) or never,
        )
        return fit(
            self._engine,
            self._opened.resolve(source),
            wanted,
            Path(sidecar),
            node=node,
            every_partition=every_partition,
            accept_observed_domain=accept_observed_domain,
            replace=replace,
            progress=self._opened.callback(progress),
            stopped=stopped,
        )

    @exclusive
    def apply(
        self,
        source: Source,
        sidecar: str | Path,
        into: str | Path,
        *,
        replace: Replace = False,
        csv_formulas: CsvFormulas | None = None,
        progress: Progress = silent,
    ) -> PartitionRelease:
        """Publish a new partition at the node of a fit, so that all partitions together meet its policy.

        With local recoding, each row goes to the listed class that covers all its values with the least loss; a row
        that no class covers is suppressed.

        New rows of a class are published if the class, together with its published rows, meets every privacy model;
        other rows are suppressed for good. The suppression limit holds for the rows of all partitions. The written rows
        are read back and measured together with those published before.

        The same rows at the same place are not written again, only measured. After a killed run, the next one counts
        the partition if it was published, and else forgets it.

        Args:
            source: the partition: rows that were not published before.
            sidecar: the file that :meth:`fit` made; it is locked meanwhile.
            into: the name of a new table, or the path of a new file that ends in ``.parquet`` or ``.csv``.
            replace: as in :meth:`Session.anonymize`. The rows of a partition that this fit published there no longer
                count; ``"changed"`` keeps a partition with the same rows.
            csv_formulas: as in :meth:`Session.anonymize`.
            progress: called with the stage, the amount done, and the total.

        Raises:
            PolicyError: the columns do not fit (identifiers may be missing), the partition has no rows, or these
                rows were published already under another name.
            TaxonomyError: a taxonomy of the session is not the one of the fit, or it does not cover the partition.
            UnsatisfiableError: too many rows would be suppressed, none would be published, or the other partitions
                would fall short without the replaced rows. Nothing is published or counted.
            VerificationError: the written release fell short and was withdrawn.
            EngineError: the sidecar is in use or invalid, the target is taken, or the database or the file system
                refused a step.
        """
        from sqlanon.partitions.apply import apply

        may_go = replacing(replace)
        target = with_csv_formulas(destination(into), csv_formulas)
        progress = self._opened.callback(progress)
        find = partial(self._opened.resolve, source)
        release = apply(self._engine, find, Path(sidecar), target, replace=may_go, progress=progress)
        return self._opened.with_rows(release, target)
