"""The Python interface to tables that were published: the verbs that read one, and the list that a warehouse has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive
from sqlanon.errors import VerificationError
from sqlanon.model.destination import destination

if TYPE_CHECKING:
    from sqlanon.engines.relations import Source
    from sqlanon.model.policy.policy import GivenPolicy, Policy
    from sqlanon.model.policy.policy_parts import Earlier
    from sqlanon.model.release import Verification
    from sqlanon.model.release.joint import JointClasses, ReleaseList
    from sqlanon.model.release.pictures import ClassSizes
    from sqlanon.model.release.release_report import Edition, ReleaseReport
    from sqlanon.run.contract import Contract


class Releases(Part):
    """The verbs of a session that read a release, and write nothing."""

    @exclusive
    def compare_releases(
        self, releases: Sequence[Earlier | str], *, source: Source, key: str | None = None
    ) -> JointClasses:
        """What releases of the same persons show together, whoever links all their rows: joint classes, and their k.

        Args:
            releases: two or more, in the order in which they were made, by their names or as :class:`Earlier` with
                sources of their own. Each needs the provenance that it was published with.
            source: what those were made from that have no source of their own, unchanged.
            key: the column that identifies a person in all sources; left out if all releases are of ``source``, each of
                whose rows is then its own person.

        Returns:
            the fewest persons of a joint class, the persons in joint classes that are smaller than a policy allows, and
            the labels of the smallest ones, which are those of the releases.

        Raises:
            PolicyError: there are fewer than two, or lists why they cannot be compared: a source is not what a release
                was made from, a key has several rows, or the taxonomies have changed.
            EngineError: a release cannot be found, or lacks its provenance.
        """
        from sqlanon.model.policy.policy_parts import Earlier
        from sqlanon.run.earlier import compare_releases, read_as_released

        given = [each if isinstance(each, Earlier) else Earlier(each) for each in releases]
        named = [each.model_copy(update={"key": each.key or key}) for each in given]
        for each in named[:1]:
            read_as_released(self._engine, each.release)
        return compare_releases(self._engine, self._opened.resolve(source), named)

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
    ) -> Verification:
        """Measure a published table again, and hold it against its policy and its provenance.

        It falls short if it does not meet the privacy models, has other columns than the policy releases, has no
        provenance, or is not what its provenance describes: by the hashes of its content and of the record itself, the
        number of its rows, its classes, its node, the labels of its taxonomies if those are loaded, and the tables
        beside it; of a private release, by all but what its mechanism promises. What could not be compared is in the
        ``notes`` of the result, what was not looked at in ``not_covered``.

        Args:
            release: the published table, file or folder, or several partitions by a glob.
            policy: its policy.
            source: the table that it was made from, which has its sensitive and insensitive values as often at least;
                without it, t-closeness, β-likeness and δ-disclosure get a note in place of a verdict, and what is
                shown together with earlier releases is not looked at.
            without_provenance: accept a release without a provenance, and hold it against its policy alone.
            record_sha256: the hash of its record, as it was handed over another way (``record_sha256`` of an earlier
                result): a release that was changed together with its record falls short.
            safe_harbor: refuse values, and leaves under a label, that show one of the 18 kinds of identifiers that
                45 CFR 164.514(b)(2) removes, too; a note names the columns that are called like one.
            strict: False if what it falls short of is to be in the ``shortfalls`` of the result, and not an error.

        Raises:
            VerificationError: it falls short, or there is nothing in it, and that is to be an error.
            PolicyError: it lacks a column that is to be measured, or, for models of a population, its provenance.
            EngineError: it is not there, or cannot be read.
        """
        from sqlanon.verification.verify import verify_release

        wanted = self._opened.checked(policy)
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
        if strict and not verification.met:
            raise VerificationError(f"{verification.source} does not meet its policy:", verification.shortfalls)
        return verification

    @exclusive
    def report(
        self,
        release: Source,
        policy: GivenPolicy | None = None,
        *,
        source: Source | None = None,
        edition: Edition = "custodian",
        alternatives: bool = False,
    ) -> ReleaseReport:
        """Report on a release: what is promised and was measured, what became of each column, and who is left out.

        It has no label that the release does not show, but for those of k or more rows of the source that are all left
        out or masked.
        Rows by label and by the size of their class are none of 1 to k - 1, and no two counts of a label differ by as
        few; totals are stated as they are. ``to_html()`` makes a page of it that needs no other file,
        ``model_dump_json()`` what the page is made from, without its rows of the source.

        Args:
            release: the published table, file or folder.
            policy: its policy, for the files of its taxonomies: the one that its provenance records, which is reported
                on, names them without their places.
            source: the table that it was made from, to be compared with. The report then has all findings of a run,
                labels without a row, and what the release shows together with others of that table that the warehouse
                lists, and with earlier ones of its policy; the page also has five rows of the source.
            edition: ``"custodian"``, or ``"public"`` for what follows from the release and its provenance alone.
            alternatives: look at all nodes of the lattice, for what else could have been published.

        Raises:
            EngineError: it is not there, cannot be read, or has no provenance of a release.
            PolicyError, TaxonomyError: the policy does not fit it, or its taxonomies cannot be made here.
        """
        from sqlanon.run.release_reports import release_report

        given = None if policy is None else self._opened.checked(policy)
        return release_report(
            self._engine,
            release,
            self._opened.resolve,
            given,
            made_from=source,
            edition=edition,
            wants_alternatives=alternatives,
        )

    @exclusive
    def contract(self, release: Source) -> Contract:
        """Describe a release as a data contract, from its provenance: columns, promises, and queries that check them.

        ``to_yaml()`` makes a file of the Open Data Contract Standard 3.1. The queries need no macros. Privacy models
        that compare with the source, and those of a population or of individuals, have none.

        Args:
            release: the published table, file or folder.

        Raises:
            EngineError: it is not there, cannot be read, or has no provenance of a release.
        """
        from sqlanon.run.contract import contract

        return contract(self._engine, release, self._opened.resolve)

    @exclusive
    def provenance(self, release: str | Path) -> str | None:
        """The provenance that travels with a published table, file or folder, as JSON; None without one.

        That of a CSV is in the note beside it; it is of no other content than was written.
        """
        from sqlanon.verification.found_release import provenance_at

        return provenance_at(self._engine, self._opened.resolve(release), destination(release))

    @exclusive
    def _released_sizes(self, release: Source, policy: Policy) -> Sequence[ClassSizes]:
        from sqlanon.run.reported_release import released_sizes

        return released_sizes(self._engine, self._opened.resolve(release), policy)


class ReleaseRegister(Part):
    """The releases that sessions on a warehouse have made: ``session.releases``.

    They are the rows of the table ``anon.releases`` of the warehouse, made with its first release: where each was
    published, its data sets, policy, method and node, the number of its rows, and the size of its smallest class. They
    have neither cell values nor the texts of queries. Dry runs and runs that fail add none; runs that leave their
    target as it is add its row if that is missing.

    The rows of a session that is read-only wait in a hidden folder beside the warehouse, and are on the list. If
    sqlanon has no tables in the warehouse, or its file cannot be written, none is listed, and the report says so. The
    list of a session in memory ends with it.
    """

    @exclusive
    def list(self, dataset: Source | None = None, *, forgotten: bool = False) -> ReleaseList:
        """The releases, in the order in which they were made, each with what is at its target now.

        A release that was replaced, removed or changed stays on the list: whoever has a copy keeps it.

        Args:
            dataset: list the releases that read a table or a file of this source; the name of one that is not here any
                more will do. Without it, all releases are listed.
            forgotten: list those that were forgotten as well.

        Raises:
            EngineError: there is another table of the name of the list, or a row that waits cannot be read.
        """
        from sqlanon.releases.listing import listed
        from sqlanon.releases.target_names import datasets_called

        datasets = None if dataset is None else datasets_called(self._engine, dataset, self._opened.resolve)
        return listed(self._engine, datasets, forgotten=forgotten)

    @exclusive
    def forget(self, name: str, *, reason: str) -> ReleaseList:
        """Mark the releases of a target as forgotten, as one that nobody was given; their rows stay, with the reason.

        Args:
            name: the target, however it is spelled: a table, a path or an address, or the path of the file of a fit.
            reason: why, for whoever audits the list.

        Returns:
            the releases that it has marked.

        Raises:
            PolicyError: the reason is blank, the list lacks the release, or somebody has marked it before.
            EngineError: the warehouse is read-only.
        """
        from sqlanon.releases.listing import forget

        return forget(self._engine, name, reason)

    @exclusive
    def _take_up(self) -> None:
        """Write the rows of releases that were published while the warehouse was open read-only."""
        from sqlanon.releases.release_table import take_up

        take_up(self._engine)
