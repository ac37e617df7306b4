"""Commands that find a node once, and release one partition after another at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sqlanon.cli.options import (
    CsvFormulas,
    Events,
    GivenNode,
    Json,
    OptionalDatabase,
    PolicyFile,
    Replace,
    ReplaceAnything,
    ReplaceIfChanged,
    Source,
    Target,
    TaxonomyFiles,
    TimeLimit,
    given_node,
    load_taxonomies,
    read_policy,
    read_taxonomies,
    replacing,
)
from sqlanon.cli.sessions import reading, writing
from sqlanon.cli.terminal.output import show, write, write_json
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
    source: Source,
    policy: PolicyFile,
    sidecar: Sidecar,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    node: GivenNode = None,
    every_partition: EveryPartition = False,
    accept_observed_domain: AcceptObserved = False,
    replace: ReplaceFit = False,
    time_limit: TimeLimit = None,
    as_events: Events = False,
    as_json: Json = False,
) -> None:
    """Find the node at which partitions are to be released, and keep it in a private file; nothing is published.

    Example: sqlanon fit visits --db clinic.duckdb --policy policy.toml --fit clinic.fit
    """
    wanted, levels = read_policy(policy), given_node(node)
    read = read_taxonomies(taxonomies, wanted)
    with progress(as_events=as_events, quiet=as_json) as observer, reading(database) as session:
        load_taxonomies(session, read)
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
    if as_json:
        write_json(fitted.model_dump(mode="json"))
    else:
        write(f"Fitted {sidecar}; nothing is published. Keep this file private.\n")
        show(fitted.document())


def apply(
    source: Source,
    sidecar: Sidecar,
    into: Target,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    replace: Replace = False,
    replace_if_changed: ReplaceIfChanged = False,
    replace_anything: ReplaceAnything = False,
    csv_formulas: CsvFormulas = None,
    as_events: Events = False,
    as_json: Json = False,
) -> None:
    """Publish a partition at the node of a fit, so that all partitions together meet its policy, verified.

    The same rows again at the same place are measured, and nothing is written.

    Example: sqlanon apply 'november/*.parquet' --fit clinic.fit --into parts/2026_11.parquet
    """
    from sqlanon.model.destination import destination
    from sqlanon.partitions.sidecar import opened

    may_go = replacing(replace, replace_if_changed, replace_anything)
    with progress(as_events=as_events, quiet=as_json) as observer, writing(database, destination(into)) as session:
        if taxonomies:
            with opened(session._engine, sidecar) as found:
                wanted = found.fit.policy
            load_taxonomies(session, read_taxonomies(taxonomies, wanted))
        release = session.partitions.apply(
            source, sidecar, into, replace=may_go, csv_formulas=cast("Any", csv_formulas), progress=observer
        )
    if as_json:
        write_json(release.model_dump(mode="json"))
    else:
        show(release.document())
