"""Making the file of a fit, anew or in place of one that nothing was published with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import EngineError
from sqlanon.model.fit import Fit
from sqlanon.model.names import possible
from sqlanon.partitions.sidecar import FORMAT, RELEASE, TAXONOMY, TAXONOMY_DOMAIN, attached, opened, table_of
from sqlanon.publish.files import staged_file
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import aliased, cast, column, count_rows, number, select, string, subquery
from sqlanon.queries.tables.taxonomies import domains_of

REPLACED = "anon_replaced_fit"
"""The name under which a file that is replaced is attached."""

OWNER_ONLY = 0o600


@contextmanager
def created(engine: Engine, path: Path, *, replace: bool = False) -> Iterator[None]:
    """A new sidecar, attached and empty; it appears under its name when the block ends, not at all when it fails.

    Args:
        engine: the database.
        path: its file.
        replace: whether it may take the place of a sidecar that nothing was published with.

    Raises:
        EngineError: there is a file of that name that may not be replaced, or none can be written.
    """
    possible(path, "sidecar")
    is_there = os.path.lexists(path) and not path.is_dir()
    if is_there and not replace:
        raise EngineError(
            f"the file {path} exists; give another name, or replace=True for a fit that nothing was published with",
            step="sidecar",
        )
    with ExitStack() as stack:
        if is_there:
            stack.enter_context(_unused(engine, path))
        staged = stack.enter_context(staged_file(path, replace=is_there))
        stack.enter_context(attached(engine, staged, new=True))
        staged.chmod(OWNER_ONLY)
        yield


@contextmanager
def _unused(engine: Engine, path: Path) -> Iterator[None]:
    """A sidecar that is to be replaced, locked within the block.

    Raises:
        EngineError: it is not a sidecar, is in use, or something was published with it.
    """
    with opened(engine, path) as replaced:  # which settles what a dead run has left
        _refuse_published(path, len(replaced.entries))
    with attached(engine, path, REPLACED):
        count = select([aliased(count_rows(), "entries")], table_of("releases", REPLACED))
        _refuse_published(path, int(engine.fetch(count, "the entries of the sidecar")[0]["entries"]))
        yield


def _refuse_published(path: Path, entries: int) -> None:
    if entries:
        raise EngineError(
            f"{path} holds the counts of {entries:,} published partitions, without which no other can be proved with "
            "them: give another name for the new fit",
            step="sidecar",
        )


def write_fit(engine: Engine, fit: Fit, counts: exp.Query, reference: exp.Query) -> None:
    """Fill a new sidecar, within the transaction of the run.

    Args:
        engine: the database.
        fit: the fit.
        counts: a query of no rows with the counted columns as they are published.
        reference: the counts of the values that classes are compared with.
    """
    releases = {
        "number": "INTEGER",
        "release": "VARCHAR",
        "pending": "BOOLEAN",
        "place": "VARCHAR",
        "replaces": "INTEGER",
        "rows": "BIGINT",
        "released": "BIGINT",
        "unknown": "BIGINT",
        "fingerprint": "VARCHAR",
    }
    empty = exp.Select(expressions=[aliased(cast(exp.null(), kind), name) for name, kind in releases.items()])
    extra = [aliased(cast(number(0), "INTEGER"), RELEASE), exp.Star(), aliased(cast(number(0), "BIGINT"), ROW_COUNT)]
    kept = string(fit.model_dump_json(exclude={"findings"}))
    document = exp.Select(expressions=[aliased(number(FORMAT), "format"), aliased(kept, "document")])
    queries = {
        "fit": document,
        "releases": empty.limit(0),
        "counts": select(extra, subquery(counts, "anon_shape")).limit(0),
        "reference": reference,
        TAXONOMY: _of_fit(engine.taxonomy, fit),
        TAXONOMY_DOMAIN: _of_fit(domains_of(engine.taxonomy), fit),
    }
    for name, query in queries.items():
        engine.execute(exp.Create(this=table_of(name), kind="TABLE", expression=query), "the sidecar")


def _of_fit(table: exp.Table, fit: Fit) -> exp.Select:
    """The rows of the taxonomies that a fit uses."""
    used = exp.In(this=column("attribute"), expressions=[string(name) for name in fit.taxonomy_sha256])
    return select([exp.Star()], table.copy()).where(used, copy=False)
