"""Methods of a session that look at the nodes of a lattice, and publish no release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.api.opened import Part
from sqlanon.engines.locks import exclusive
from sqlanon.methods.stages import Progress, silent, stopping
from sqlanon.model.destination import Replace, destination, replacing

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.engines.relations import Source
    from sqlanon.model.policy.policy import GivenPolicy
    from sqlanon.run.exploration import Exploration
    from sqlanon.run.explorer import Explorer


class Nodes(Part):
    """Methods of a session that look at the nodes of a lattice, and publish no release."""

    @exclusive
    def lattice(
        self,
        source: Source,
        policy: GivenPolicy,
        *,
        into: str | Path | None = None,
        replace: Replace = False,
        progress: Progress = silent,
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> pa.Table:
        """Return every node of the lattice with its measures and what keeps it from satisfying the policy.

        Args:
            source: the table to anonymize.
            policy: the guarantee; its bounds on levels hold.
            into: a target to write the rows to as well. A CSV has a column ``node.<quasi-identifier>`` for each level
                in place of node, and models as JSON.
            replace, progress: as in :meth:`anonymize`, except ``"changed"``.
            time_limit: seconds from the call after which the nodes checked so far are returned, at least one batch.
                The search then finds the node of least loss first, followed by nodes of about the same loss.
            stop: called after each batch of nodes; once it returns true, the nodes checked so far are returned.

        Returns:
            a table with columns

            - node (MAP from quasi-identifier to level), height, class_count, min_class_size (rows), suppressed_rows,
              satisfies;
            - loss (that of the policy's quality model), prec, dm_star, entropy (bits), lm, ncp, dm, aecs;
            - best_k: the largest k that the node attains within the suppression limit while the other models of the
              policy hold, in individuals if the policy names their column; 1 without a larger one, NULL if the
              other models do not hold (Mazzone 2019, section 4.4), or one of them is ``PopulationUniqueness``;
            - blocking_model, blocking_rows: the privacy model with the most rows in classes that violate it, and these
              rows; NULL where the node satisfies the policy;
            - excess_rows: the suppressed rows beyond the limit;
            - models: a LIST of STRUCT(model, measure, required, worst, violating_rows) with every bound of the policy,
              the worst measure over all classes, and the rows of classes that are out of bounds; of a mean, that over
              the published rows, and these rows if it is out of bounds;
            - pareto: whether no other node has at most its loss and at least its best_k (NULL being
              0), one of them strictly. Losses that count suppressed rows (lm, ncp, dm, aecs) count those of the policy.

            If not all nodes were checked, pareto compares the checked ones, and ``schema.metadata[b"sqlanon"]`` is a
            JSON document, as in the record of ``into``: nodes (of the table), satisfying_nodes, lattice_nodes,
            lower_bound (on the loss of every node that satisfies, checked or not) and gap (between lower_bound and the
            least loss in the table); the last two are null if unknown.

        Raises:
            PolicyError, TaxonomyError, EngineError: as :meth:`anonymize`.
        """
        from sqlanon.run.lattice_table import lattice

        may_go, target = replacing(replace, detects_changes=False), None if into is None else destination(into)
        progress = self._opened.callback(progress)
        wanted = self._opened.checked(policy, "lattice")
        stopped = stopping(time_limit, self._opened.callback(stop))
        read = self._opened.resolve(source)
        return lattice(self._engine, read, wanted, progress, target, replace=may_go, stopped=stopped)

    @exclusive
    def explore(
        self,
        source: Source,
        policy: GivenPolicy,
        *,
        progress: Progress = silent,
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Explorer:
        """Return the nodes of the lattice to choose one from; ``to_html()`` makes a self-contained page of them.

        The page is for the custodian. Of a lattice of more than 70,000 nodes it has the Pareto front, the best ones for
        each level of a column and of two columns, and a sample of the others. Example values occur in at least k rows,
        or are declared; counts of rows from 1 to k - 1 are left out.

        Args:
            source, policy: as in :meth:`lattice`.
            progress: as in :meth:`anonymize`.
            time_limit: as in :meth:`lattice`. Without it a lattice that takes longer than some seconds (40 million
                combinations of a cell and a node) is searched, and the page has the best node, those of about the same
                loss, the number of checked nodes, and a bound on the loss of the others.
            stop: as in :meth:`lattice`.

        Raises:
            PolicyError, TaxonomyError, EngineError: as :meth:`anonymize`.
        """
        from sqlanon.run.explorer import explorer

        wanted, progress = self._opened.checked(policy, "explore"), self._opened.callback(progress)
        stopped = stopping(time_limit, self._opened.callback(stop))
        read, in_seconds = self._opened.resolve(source), time_limit is None
        return explorer(self._engine, read, wanted, progress, stopped, in_seconds=in_seconds)

    @exclusive
    def exploration(self, source: Source, policy: GivenPolicy, *, progress: Progress = silent) -> Exploration:
        """Read the source once, and return its nodes to search and to ask about, until they are closed.

        It is a context manager. While it is open, the session takes no other call.

        >>> with session.exploration("visits", policy) as nodes:  # doctest: +SKIP
        ...     nodes.search(time_limit=60)
        ...     print(nodes.best(), nodes.at({"age": 2, "city": 1}), nodes.curve())

        Args:
            source: the table to anonymize.
            policy: the guarantee; its bounds on levels hold, and a node that it names doesn't.
            progress: as in :meth:`anonymize`, while the source is read.

        Raises:
            PolicyError: its method has no nodes, or as :meth:`anonymize`.
            TaxonomyError, UnsatisfiableError, EngineError: as :meth:`anonymize`.
        """
        from sqlanon.run.exploration import Exploration

        wanted, progress = self._opened.checked(policy, "exploration"), self._opened.callback(progress)
        lock, callback = self._opened.lock, self._opened.callback
        found = Exploration(self._engine, self._opened.resolve(source), wanted, progress, lock, callback)
        self._opened.exploration = found
        return found
