"""Commands that look at a table, publish its anonymization, and verify what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sqlanon.cli.options import (
    CsvFormulas,
    Dataset,
    Events,
    GivenNode,
    Json,
    LatticeTarget,
    LedgerFile,
    LedgerMode,
    OptionalDatabase,
    PartitionBy,
    PolicyFile,
    PseudonymKeyFile,
    Public,
    Replace,
    ReplaceAnything,
    ReplaceIfChanged,
    RowsPerFile,
    Seed,
    Source,
    TablesBeside,
    Target,
    TaxonomyFiles,
    TimeLimit,
    given_node,
    given_tables,
    load_taxonomies,
    read_policy,
    read_taxonomies,
    replacing,
)
from sqlanon.cli.sessions import reading, writing
from sqlanon.cli.terminal.outcome import NOT_MET
from sqlanon.cli.terminal.output import say, show, write, write_event, write_json
from sqlanon.cli.terminal.progress import progress

if TYPE_CHECKING:
    from sqlanon.mechanisms.source import RandomSource


def measure(source: Source, policy: PolicyFile, database: OptionalDatabase = None, as_json: Json = False) -> None:
    """Measure what a table gives away as it is: exit code 0 if it meets the privacy models, 3 if not.

    Example: sqlanon measure visits --db clinic.duckdb --policy policy.toml
    """
    wanted = read_policy(policy)
    with reading(database) as session:
        measurement = session.measure(source, wanted)
    if as_json:
        write_json({**measurement.model_dump(mode="json"), "met": measurement.met})
    else:
        show(measurement.document())
    if not measurement.met:
        say(f"Not met: {measurement.source} falls short of the policy.")
        raise typer.Exit(NOT_MET)


def lattice(
    source: Source,
    policy: PolicyFile,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    into: LatticeTarget = None,
    replace: Replace = False,
    replace_anything: ReplaceAnything = False,
    as_events: Events = False,
    as_json: Json = False,
) -> None:
    """Check every node of the lattice, and show the best ones that satisfy the policy.

    Example: sqlanon lattice visits --db clinic.duckdb --policy policy.toml --into lattice
    """
    from sqlanon.cli import nodes
    from sqlanon.model.destination import destination

    wanted = read_policy(policy)
    may_go = replacing(replace, anything=replace_anything)
    read = read_taxonomies(taxonomies, wanted)
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        reading(database) if into is None else writing(database, destination(into)) as session,
    ):
        load_taxonomies(session, read)
        found = session.lattice(source, wanted, into=into, replace=may_go, progress=observer)
    if into is not None and as_events:
        write_event({"event": "written", "into": into, "lattice_nodes": found.num_rows})
    elif into is not None:
        say(f"Wrote {found.num_rows:,} nodes to {into}.")
    if as_json:
        write_json(nodes.document(found, wanted))
    else:
        show(nodes.shown(nodes.document(found, wanted)))


def explain(
    source: Source,
    policy: PolicyFile,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    as_json: Json = False,
) -> None:
    """Print the SQL of every step of a run, without running it.

    Example: sqlanon explain visits --db clinic.duckdb --policy policy.toml
    """
    wanted = read_policy(policy)
    read = read_taxonomies(taxonomies, wanted)
    with reading(database) as session:
        load_taxonomies(session, read)
        steps = session.explain(source, wanted)
    if as_json:
        write_json({"steps": [{"purpose": step.purpose, "makes": step.makes, "sql": step.sql} for step in steps]})
        return
    for number, step in enumerate(steps, start=1):
        makes = f", as temporary table {step.makes}" if step.makes else ""
        write(f"-- {number}. {step.purpose}{makes}\n{step.sql};\n\n")


def run(
    source: Source,
    policy: PolicyFile,
    into: Target,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    node: GivenNode = None,
    rows_per_file: RowsPerFile = None,
    partition_by: PartitionBy = None,
    csv_formulas: CsvFormulas = None,
    tables: TablesBeside = None,
    pseudonym_key: PseudonymKeyFile = None,
    time_limit: TimeLimit = None,
    dataset: Dataset = None,
    public: Public = None,
    ledger: LedgerFile = None,
    ledger_mode: LedgerMode = "open",
    seed: Seed = None,
    replace: Replace = False,
    replace_if_changed: ReplaceIfChanged = False,
    replace_anything: ReplaceAnything = False,
    as_events: Events = False,
    as_json: Json = False,
) -> None:
    """Publish the best generalization of a table that meets the policy, verified; or what its private method draws.

    A file or a folder leaves the warehouse as it is; with a table, --taxonomy is stored in the warehouse. Where the
    target is the release of the same policy from the same files, nothing is done. What a private method spends
    is written to --ledger, or to the warehouse, before anything is drawn.

    Example: sqlanon run visits --db clinic.duckdb --policy policy.toml --into visits_k5
    """
    from sqlanon.model.destination import destination

    wanted, levels = read_policy(policy), given_node(node)
    read = read_taxonomies(taxonomies, wanted)
    layout: dict[str, Any] = {"rows_per_file": rows_per_file, "partition_by": partition_by or ()}
    if not wanted.has_private_method and (dataset is not None or public or ledger is not None):
        raise typer.BadParameter("--dataset, --public and --ledger are for policies with a private method")
    if not wanted.method.draws and seed is not None:
        raise typer.BadParameter("--seed is for policies with a method that draws at random")
    if ledger_mode not in ("open", "capped"):
        raise typer.BadParameter(f'it is "open" or "capped", not "{ledger_mode}"', param_hint="--ledger-mode")
    may_go = replacing(replace, replace_if_changed, replace_anything)
    is_charged = wanted.method.claims_privacy and seed is None
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        writing(database, destination(into, **layout), ledger, is_charged=is_charged) as session,
    ):
        load_taxonomies(session, read)
        session.ledger.mode = cast("Any", ledger_mode)
        release = session.anonymize(
            source,
            wanted,
            into,
            node=levels,
            replace=may_go,
            progress=observer,
            time_limit=time_limit,
            dataset=dataset,
            public=public or (),
            tables=given_tables(tables),
            pseudonym_key=pseudonym_key,
            random_source=_seeded(seed),
            csv_formulas=cast("Any", csv_formulas),
            **layout,
        )
    if (account := getattr(release.report, "opened_account", None)) is not None and not as_events:
        say(f'Note: the run opened the account "{account}" in the ledger, without a cap; sqlanon ledger cap sets one.')
    if release.unchanged and not as_events:
        say(f"Unchanged: {into} was made from these files by this policy; --replace makes it anew.")
    if as_json:
        write_json(release.model_dump(mode="json"))
    else:
        show(release.document())


def verify(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="A published table, or the path of a published Parquet file, CSV or folder."
        ),
    ],
    policy: PolicyFile,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="SOURCE", help="What it was made from, to compare models and values with."),
    ] = None,
    without_provenance: Annotated[
        bool,
        typer.Option("--without-provenance", help="Hold it against its policy alone, if it has no provenance."),
    ] = False,
    record_sha256: Annotated[
        str | None,
        typer.Option("--record-sha256", metavar="HASH", help="The hash of its record, handed over another way."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold a published table against its policy and its provenance: exit code 0 if it meets them, 3 if it falls short.

    A table without a provenance falls short unless --without-provenance is given. The record is not signed: whoever can
    change the release can change it as well, unless --record-sha256 has its hash from elsewhere.

    Its labels are compared with the taxonomies of --db and --taxonomy, if they are those that it was made with.

    Example: sqlanon verify visits_k5 --db clinic.duckdb --policy policy.toml
    """
    wanted = read_policy(policy)
    read = read_taxonomies(taxonomies, wanted)
    with reading(database) as session:
        load_taxonomies(session, read)
        verification = session.verify(
            release,
            wanted,
            source=source,
            strict=False,
            without_provenance=without_provenance,
            record_sha256=record_sha256,
        )
    if as_json:
        write_json({**verification.model_dump(mode="json"), "met": verification.met})
    else:
        show(verification.model_copy(update={"shortfalls": ()}).document())  # these are said below
    if not verification.met:
        say(f"Not met: {verification.source} falls short of its policy:")
        for shortfall in verification.shortfalls:
            say(f"  - {shortfall}")
        raise typer.Exit(NOT_MET)
    say(f"Met: {verification.source} meets its policy.")


def _seeded(seed: int | None) -> RandomSource | None:
    """What draws the same again by a seed; None without one, for what no seed repeats."""
    if seed is None:
        return None
    from sqlanon.mechanisms.seeded import SeededSource

    return SeededSource(seed)
