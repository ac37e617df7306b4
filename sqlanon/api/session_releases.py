"""The Python interface to published tables: methods that read one, and the list of a warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

from sqlanon.api.linked_calls import linked_provenance, refuse_options, report_on_linked_tables, verify_linked_tables
from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive
from sqlanon.errors import VerificationError
from sqlanon.methods.stages import Progress, Stages, silent
from sqlanon.model.destination import destination

if TYPE_CHECKING:
    from sqlanon.api.linked_calls import Tables
    from sqlanon.engines.relations import Source
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import GivenPolicy, Policy
    from sqlanon.model.policy.policy_parts import Earlier
    from sqlanon.model.release import Verification
    from sqlanon.model.release.joint import JointClasses, ReleaseList
    from sqlanon.model.release.linked import LinkedVerification
    from sqlanon.model.release.linked_report import LinkedReleaseReport
    from sqlanon.model.release.pictures import ClassSizes
    from sqlanon.model.release.profiles import SampledRows
    from sqlanon.model.release.release_report import Edition, ReleaseReport
    from sqlanon.run.contract import Contract

Verified = TypeVar("Verified", "Verification", "LinkedVerification")


class Releases(Part):
    """Methods of a session that read a release, and write nothing."""

    @exclusive
    def compare_releases(
        self, releases: Sequence[Earlier | str], *, source: Source, key: str | None = None
    ) -> JointClasses:
        """Compute what releases of the same persons show to whoever links all their rows: joint classes, and their k.

        Args:
            releases: two or more, oldest first, by name or as :class:`Earlier` with sources. Each needs the provenance
                that it was published with.
            source: the unchanged source of releases that name none.
            key: the column that identifies a person in all sources; left out if all releases are of ``source`` and each
                row is one person.

        Returns:
            the fewest persons of a joint class, the persons in joint classes smaller than a policy allows, and the
            labels that the releases have for the smallest ones.

        Raises:
            PolicyError: there are fewer than two, or lists why they cannot be compared: a source does not match its
                release, a key has several rows, or taxonomies have changed.
            EngineError: a release cannot be found, or lacks its provenance.
        """
        from sqlanon.model.policy.policy_parts import Earlier
        from sqlanon.run.earlier import compare_releases, read_as_released

        given = [each if isinstance(each, Earlier) else Earlier(each) for each in releases]
        named = [each.model_copy(update={"key": each.key or key}) for each in given]
        for each in named[:1]:
            read_as_released(self._engine, each.release)
        return compare_releases(self._engine, self._opened.resolve(source), named)

    @overload
    @exclusive
    def verify(
        self,
        release: str | Path,
        policy: LinkedPolicy,
        *,
        source: Tables = None,
        strict: bool = True,
        record_sha256: str | None = None,
        progress: Progress = silent,
    ) -> LinkedVerification: ...

    @overload
    @exclusive
    def verify(
        self,
        release: Source,
        policy: GivenPolicy,
        *,
        source: Source | None = None,
        strict: bool = True,
        without_provenance: bool = False,
        record_sha256: str | None = None,
        safe_harbor: bool = False,
        progress: Progress = silent,
    ) -> Verification: ...

    @exclusive
    def verify(
        self,
        release: Source,
        policy: GivenPolicy | LinkedPolicy,
        *,
        source: Source | Tables = None,
        strict: bool = True,
        without_provenance: bool = False,
        record_sha256: str | None = None,
        safe_harbor: bool = False,
        progress: Progress = silent,
    ) -> Verification | LinkedVerification:
        """Measure a published table again, and verify it against its policy and its provenance.

        It falls short if it does not meet the privacy models, has other columns than the policy releases, has no
        provenance, or differs from its provenance: by the hashes of its content and of the record itself, the number of
        its rows, its classes, its node, the labels of its taxonomies if they are loaded, and the tables beside it. The
        promise of a private release's mechanism cannot be verified. ``notes`` of the result list what could not be
        compared, ``not_covered`` what was not examined.

        Linked tables are joined by their keys, and measured by what somebody knows. With sources, they fall short as
        well if keys are those of the source.

        Args:
            release: the published table, file or folder, or several partitions by a glob; the folder or the schema of
                linked tables.
            policy: its policy.
            source: the table that it was made from, in which its sensitive and insensitive values must be at least as
                frequent; without it, t-closeness, β-likeness and δ-disclosure get a note in place of a verdict, and
                earlier releases are not compared. Of linked tables a mapping as in :meth:`anonymize`; ``{}`` if all are
                in the warehouse.
            without_provenance: accept a release without a provenance, and verify it only against its policy.
            record_sha256: the hash of its record, received another way (``record_sha256`` of an earlier result): a
                release that was changed together with its record falls short.
            safe_harbor: also refuse values, and leaves under a label, that show one of the 18 kinds of identifiers that
                45 CFR 164.514(b)(2) removes; a note lists columns named like one.
            strict: whether a shortfall is an error; if False, the ``shortfalls`` of the result list it.
            progress: called with an :class:`sqlanon.Event` as in :meth:`anonymize`, in the stage ``verify``. An
                exception in it ends the call.

        Raises:
            VerificationError: it falls short or is empty, and ``strict`` is True.
            PolicyError: it lacks a column to measure, or, for models of a population, its provenance.
            EngineError: it does not exist, or cannot be read.
        """
        from sqlanon.model.policy.linked_policy import LinkedPolicy
        from sqlanon.verification.verify import verify_release

        wanted = self._opened.given(policy)
        stages = Stages(self._opened.callback(progress))
        if isinstance(wanted, LinkedPolicy):
            refuse_options(without_provenance=without_provenance, safe_harbor=safe_harbor)
            with stages.watching(self._engine), stages.stage("verify"):
                linked = verify_linked_tables(self._opened, release, wanted, source, record_sha256)
            return _met(linked) if strict else linked
        with stages.watching(self._engine), stages.stage("verify"):
            verification = verify_release(
                self._engine,
                release,
                wanted,
                self._opened.resolve,
                source=source,
                without_provenance=without_provenance,
                record_sha256=record_sha256,
            )
            if safe_harbor:
                from sqlanon.suggestion.safe_harbor import with_safe_harbor

                verification = with_safe_harbor(self._engine, verification, self._opened.resolve(release), wanted)
            if wanted.held_with and isinstance(release, str | Path):
                from sqlanon.run.earlier import with_joint_classes

                origin = None if source is None else self._opened.resolve(source)
                verification = with_joint_classes(self._engine, verification, str(release), wanted, origin)
        return _met(verification) if strict else verification

    @overload
    @exclusive
    def report(
        self, release: str | Path, policy: LinkedPolicy, *, source: Tables = None, progress: Progress = silent
    ) -> LinkedReleaseReport: ...

    @overload
    @exclusive
    def report(
        self,
        release: Source,
        policy: GivenPolicy | None = None,
        *,
        source: Source | None = None,
        edition: Edition = "custodian",
        alternatives: bool = False,
        progress: Progress = silent,
    ) -> ReleaseReport: ...

    @exclusive
    def report(
        self,
        release: Source,
        policy: GivenPolicy | LinkedPolicy | None = None,
        *,
        source: Source | Tables = None,
        edition: Edition = "custodian",
        alternatives: bool = False,
        progress: Progress = silent,
    ) -> ReleaseReport | LinkedReleaseReport:
        """Report on a release: its promises and measures, the generalization of each column, and who is left out.

        It shows only labels of the release, and labels of at least k rows of the source that are all left out or
        masked. Counts of rows by label and by class size are never from 1 to k - 1, and no two counts of a label differ
        by as few; totals are exact. ``to_html()`` makes a self-contained page, ``model_dump_json()`` the data of the
        page without rows of the source. Of linked tables, a report has the promise, what somebody may know, and counts.

        Args:
            release: the published table, file or folder.
            policy: its policy, for the paths of its taxonomy files, which the policy in its provenance lacks; the
                report is on the latter.
            source: the table that it was made from, to compare with. The report then has all findings of a run, labels
                without a row, and what the release shows together with listed releases of that table and with earlier
                ones of its policy; the page also has five rows of the source. If the policy has ``row_weight``, both
                are measured as samples of a population, as in :meth:`risk`.
            edition: ``"custodian"``, or ``"public"`` for what follows from the release and its provenance alone.
            alternatives: check all nodes of the lattice, for alternatives to the published one.
            progress: called with an :class:`sqlanon.Event` as in :meth:`anonymize`, in the stages ``read``, ``verify``
                and ``report``. An exception in it ends the call.

        Raises:
            EngineError: it does not exist, cannot be read, or has no provenance of a release.
            PolicyError, TaxonomyError: the policy does not fit it, or its taxonomies cannot be made here.
        """
        from sqlanon.model.policy.policy import Policy
        from sqlanon.run.release_reports import release_report

        given = None if policy is None else self._opened.given(policy)
        stages = Stages(self._opened.callback(progress))
        if not isinstance(given, Policy):
            with stages.watching(self._engine):
                linked = report_on_linked_tables(self._opened, release, given, source, stages)
            if linked is not None:
                refuse_options(alternatives=alternatives)
                return linked
            given = None
        with stages.watching(self._engine):
            return release_report(
                self._engine,
                release,
                self._opened.resolve,
                given,
                made_from=source,
                edition=edition,
                wants_alternatives=alternatives,
                stages=stages,
            )

    @exclusive
    def sample_rows(
        self, source: Source, release: str | Path, n: int = 12, *, policy: GivenPolicy | None = None, seed: int = 0
    ) -> SampledRows:
        """Return some rows of the source, each beside the labels that a release shows for it, or left out.

        They show the quasi-identifiers of persons: keep them like the source. Rows are chosen by hashes of their places
        in the source. In a release of local recoding, several classes may cover a row: the one of least loss is
        shown, which is nearly always its own, and ``others`` counts the rest.

        Args:
            source: the table that the release was made from.
            release: the published table, file or folder.
            n: how many rows, from 1 to 1,000; all if there are fewer.
            policy: the policy of the release, for its taxonomy files, which the policy in its provenance lacks.
            seed: chooses other rows; a seed chooses the same ones each time.

        Raises:
            PolicyError: the release has no labels of rows of the source, as that of a private method, may leave out
                persons for earlier releases, or has intervals that no taxonomy has; the source lacks a column; or there
                are too many rows.
            TaxonomyError: a taxonomy of the release is not here.
            EngineError: the release does not exist, cannot be read, or has no provenance of a release; or the rows are
                on a server. Whether it is as it was written, :meth:`verify` says.
        """
        from sqlanon.run.row_samples import sample_rows

        given = None if policy is None else self._opened.checked(policy, "sample_rows")
        return sample_rows(self._engine, source, release, self._opened.resolve, given, most=n, seed=seed)

    @exclusive
    def contract(self, release: Source) -> Contract:
        """Describe a release as a data contract, from its provenance: columns, promises, and queries that check them.

        ``to_yaml()`` makes a file of the Open Data Contract Standard 3.1. The queries need no macros. Privacy models
        that compare with the source, and models of a population or of individuals, have no query.

        Args:
            release: the published table, file or folder.

        Raises:
            EngineError: it does not exist, cannot be read, or has no provenance of a release.
        """
        from sqlanon.run.contract import contract

        return contract(self._engine, release, self._opened.resolve)

    @exclusive
    def provenance(self, release: str | Path) -> str | None:
        """Return the provenance that travels with a published table, file or folder, as JSON; None without one.

        A CSV's provenance is in the note beside it, and None if the file was changed.
        """
        from sqlanon.verification.found_release import provenance_at

        if (linked := linked_provenance(self._opened, release)) is not None:
            return linked
        return provenance_at(self._engine, self._opened.resolve(release), destination(release))

    @exclusive
    def _released_sizes(self, release: Source, policy: Policy) -> Sequence[ClassSizes]:
        from sqlanon.run.reported_release import released_sizes

        return released_sizes(self._engine, self._opened.resolve(release), policy)


def _met(verification: Verified) -> Verified:
    if not verification.met:
        raise VerificationError(f"{verification.source} does not meet its policy:", verification.shortfalls)
    return verification


class ReleaseRegister(Part):
    """The releases that sessions on a warehouse have made: ``session.releases``.

    They are the rows of the warehouse's table ``anon.releases``, created with its first release: the place of each
    release, its data sets, policy, method and node, the number of its rows, and the size of its smallest class. They
    have neither cell values nor the texts of queries. Dry runs and failed runs add no row; runs that leave their target
    unchanged add its row if it is missing.

    The rows of a read-only session wait in a hidden folder beside the warehouse, and are on the list. If sqlanon has no
    tables in the warehouse, or its file cannot be written, no release is listed, as the report notes. The list of a
    session in memory ends with it.
    """

    @exclusive
    def list(self, dataset: Source | None = None, *, forgotten: bool = False) -> ReleaseList:
        """Return the releases, oldest first, each with the state of its target.

        A release that was replaced, removed or changed stays on the list: whoever has a copy keeps it.

        Args:
            dataset: list the releases that read a table or a file of this source, which need not exist any more.
                Without it, all releases are listed.
            forgotten: list forgotten releases as well.

        Raises:
            EngineError: another table has the name of the list, or a waiting row cannot be read.
        """
        from sqlanon.releases.listing import listed
        from sqlanon.releases.release_table import datasets_called

        datasets = None if dataset is None else datasets_called(self._engine, dataset, self._opened.resolve)
        return listed(self._engine, datasets, forgotten=forgotten)

    @exclusive
    def forget(self, name: str, *, reason: str) -> ReleaseList:
        """Mark the releases of a target as forgotten, such as one that nobody received; their rows stay.

        Args:
            name: the target, however it is spelled: a table, a path or an address, or the path of a fit's file.
            reason: why, for whoever audits the list.

        Returns:
            the marked releases.

        Raises:
            PolicyError: the reason is blank, the list lacks the release, or it is forgotten already.
            EngineError: the warehouse is read-only.
        """
        from sqlanon.releases.listing import forget

        return forget(self._engine, name, reason)

    @exclusive
    def _take_up(self) -> None:
        """Write the rows that wait beside the warehouse since it was open read-only."""
        from sqlanon.releases.release_table import take_up

        take_up(self._engine)
