"""Commands that find a node once, and release one partition after another at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sqlanon.cli import options as opt
from sqlanon.cli.sessions import reading, writing
from sqlanon.cli.terminal.output import put, write
from sqlanon.cli.terminal.progress import progress

Sidecar = Annotated[Path, typer.Option("--fit", metavar="FILE", help="The private file of the fit.")]
EveryPartition = Annotated[
    bool, typer.Option("--every-partition", help="Each partition is to meet the privacy models on its own, too.")
]
ReplaceFit = Annotated[
    bool, typer.Option("--replace", help="Replace the fit that is there, if nothing was published with it.")
]
AcceptObserved = Annotated[
    bool,
    typer.Option(
        "--accept-observed-domain",
        help="Take taxonomies whose values were read off the data; a partition with any other value is refused.",
    ),
]


def fit(
    source: opt.Source,
    policy: opt.PolicyFile,
    sidecar: Sidecar,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    node: opt.GivenNode = None,
    every_partition: EveryPartition = False,
    accept_observed_domain: AcceptObserved = False,
    replace: ReplaceFit = False,
    time_limit: opt.TimeLimit = None,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
) -> None:
    """Find the node at which partitions are to be released, and keep it in a private file; nothing is published.

    Example: sqlanon fit visits --db clinic.duckdb --policy policy.toml --fit clinic.fit
    """
    wanted, levels = opt.read_policy(policy), opt.given_node(node)
    read = opt.read_taxonomies(taxonomies, wanted)
    with progress(as_events=as_events, quiet=as_json) as observer, reading(database) as session:
        session.taxonomies.load_all(read)
        fitted = session.partitions.fit(
            source,
            wanted,
            sidecar,
            node=levels,
            every_partition=every_partition,
            accept_observed_domain=accept_observed_domain,
            replace=replace,
            progress=observer,
            time_limit=time_limit,
        )
    if not as_json:
        write(f"Fitted {sidecar}; nothing is published. Keep this file private.\n")
    put(fitted, as_json=as_json)


def apply(
    source: opt.Source,
    sidecar: Sidecar,
    into: opt.Target,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    replace: opt.Replace = False,
    replace_if_changed: opt.ReplaceIfChanged = False,
    replace_anything: opt.ReplaceAnything = False,
    csv_formulas: opt.CsvFormulas = None,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
) -> None:
    """Publish a partition at the node of a fit, so that all partitions together meet its policy, verified.

    The same rows again at the same place are measured, and nothing is written.

    Example: sqlanon apply 'november/*.parquet' --fit clinic.fit --into parts/2026_11.parquet
    """
    from sqlanon.model.destination import destination
    from sqlanon.partitions.sidecar import opened

    may_go = opt.replacing(replace, replace_if_changed, replace_anything)
    with progress(as_events=as_events, quiet=as_json) as observer, writing(database, destination(into)) as session:
        if taxonomies:
            with opened(session._engine, sidecar) as found:
                wanted = found.fit.policy
            session.taxonomies.load_all(opt.read_taxonomies(taxonomies, wanted))
        release = session.partitions.apply(
            source, sidecar, into, replace=may_go, csv_formulas=cast("Any", csv_formulas), progress=observer
        )
    put(release, as_json=as_json)
