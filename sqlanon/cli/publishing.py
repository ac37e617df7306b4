"""Commands that look at a table, publish it or its partitions anonymized, and verify what was published."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, BadParameter, Exit, Option

from sqlanon.cli import options as opt
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import progress, put, say, show, write, write_json
from sqlanon.cli.sessions import loading_options, reading, writing
from sqlanon.errors import VerificationError

if TYPE_CHECKING:
    from sqlanon.mechanisms.source import RandomSource


def measure(
    source: opt.Source, policy: opt.PolicyFile, database: opt.OptionalDatabase = None, as_json: opt.Json = False
) -> None:
    """Measure what a table gives away as it is: exit code 0 if it meets the privacy models, 3 if not.

    Example: sqlanon measure visits --db clinic.duckdb --policy policy.toml
    """
    wanted = opt.read_policy(policy)
    with reading(database) as session:
        measurement = session.measure(source, wanted)
    put(measurement, as_json=as_json, met=measurement.met)
    if not measurement.met:
        say(f"Not met: {measurement.source} falls short of the policy.")
        raise Exit(ExitCode.NOT_MET)


def explain(
    source: opt.Source,
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_json: opt.Json = False,
) -> None:
    """Print the SQL of every step of a run, without running it.

    Example: sqlanon explain visits --db clinic.duckdb --policy policy.toml
    """
    wanted = opt.read_policy(policy)
    read = opt.read_taxonomies(taxonomies, wanted)
    with reading(database) as session:
        session.taxonomies.load_all(read)
        steps = session.explain(source, wanted)
    if as_json:
        write_json({"steps": [{"purpose": step.purpose, "makes": step.makes, "sql": step.sql} for step in steps]})
        return
    for number, step in enumerate(steps, start=1):
        makes = f", as temporary table {step.makes}" if step.makes else ""
        write(f"-- {number}. {step.purpose}{makes}\n{step.sql};\n\n")


def run(
    source: opt.Source,
    policy: opt.PolicyFile,
    into: opt.Target,
    database: opt.TargetDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    k: opt.OtherK = None,
    node: opt.GivenNode = None,
    rows_per_file: opt.RowsPerFile = None,
    partition_by: opt.PartitionBy = None,
    csv_formulas: opt.CsvFormulas = None,
    tables: opt.TablesBeside = None,
    pseudonym_key: opt.PseudonymKeyFile = None,
    keep_taxonomies: opt.KeepTaxonomies = True,
    time_limit: opt.TimeLimit = None,
    max_loss: opt.MaxLoss = None,
    sql: opt.StatementFile = None,
    dataset: opt.Dataset = None,
    public: opt.Public = None,
    ledger: opt.LedgerFile = None,
    ledger_mode: opt.LedgerMode = "open",
    seed: opt.Seed = None,
    replace: opt.Replace = False,
    replace_if_changed: opt.ReplaceIfChanged = False,
    replace_anything: opt.ReplaceAnything = False,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
) -> None:
    """Publish the best generalization of a table that meets the policy, verified; or what its private method draws.

    A file or a folder leaves the warehouse as it is, but for its list of releases; with a table, --taxonomy and the
    taxonomies of the policy are stored in the warehouse. Where the target is the release of the same policy from the
    same files, nothing is done. What a private method spends is written to --ledger, or to the warehouse, before
    anything is drawn.

    Example: sqlanon run visits --db clinic.duckdb --policy policy.toml --into visits_k5
    """
    from sqlanon.model.destination import destination

    wanted, levels = opt.read_policy(policy, k), opt.given_node(node)
    read = opt.read_taxonomies(taxonomies, wanted)
    layout: dict[str, Any] = {"rows_per_file": rows_per_file, "partition_by": partition_by or ()}
    if not wanted.has_private_method and (dataset is not None or public or ledger is not None):
        raise BadParameter("--dataset, --public and --ledger are for policies with a private method")
    if not wanted.method.draws and seed is not None:
        raise BadParameter("--seed is for policies with a method that draws at random")
    if ledger_mode not in ("open", "capped"):
        raise BadParameter(f'it is "open" or "capped", not "{ledger_mode}"', param_hint="--ledger-mode")
    may_go = opt.replacing(replace, replace_if_changed, replace_anything)
    is_charged = wanted.method.claims_privacy and seed is None
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        writing(database, destination(into, **layout), ledger, is_charged=is_charged) as session,
    ):
        session.taxonomies.load_all(read)
        session.ledger.mode = cast("Any", ledger_mode)
        release = session.anonymize(
            source,
            wanted,
            into,
            node=levels,
            replace=may_go,
            progress=observer,
            time_limit=time_limit,
            max_loss=max_loss,
            dataset=dataset,
            public=public or (),
            tables=opt.given_tables(tables),
            pseudonym_key=pseudonym_key,
            random_source=_seeded(seed),
            csv_formulas=cast("Any", csv_formulas),
            keep_taxonomies=keep_taxonomies,
            sql=sql,
            **layout,
        )
    if (account := getattr(release.report, "opened_account", None)) is not None and not as_events:
        say(f'Note: the run opened the account "{account}" in the ledger, without a cap; sqlanon ledger cap sets one.')
    if release.unchanged and not as_events:
        say(f"Unchanged: {into} was made from these files by this policy; --replace makes it anew.")
    put(release, as_json=as_json)
    if not (as_json or as_events):
        say(f"A page on it for whoever has to approve it: {_report_command(into, source, policy, database)}")


def _report_command(into: str, source: str, policy: Path, database: Path | None) -> str:
    """The command that reports on a release."""
    warehouse = [] if database is None else ["--db", str(database)]
    files = ["--policy", str(policy), "--source", source, "--out", "report.html"]
    return shlex.join(["sqlanon", "report", into, *warehouse, *files, *loading_options()])


def compare_releases(
    releases: Annotated[
        list[str], Argument(metavar="RELEASE...", help="Published tables, files or folders, the oldest first.")
    ],
    sources: Annotated[
        list[str],
        Option("--source", metavar="SOURCE", help="What all of them were made from, or once for each, in order."),
    ],
    key: Annotated[
        str | None, Option("--key", metavar="COLUMN", help="The column that identifies a person in all sources.")
    ] = None,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_json: opt.Json = False,
) -> None:
    """Compare releases of the same persons: exit code 0 if they show k together as each does alone, 3 if not.

    Whoever links all rows that belong together is left with the persons of one joint class: those with the same labels
    in every release. Without --key there is one source, and each of its rows is a person.

    Example: sqlanon compare-releases visits_k5 visits_l3 --source visits --db clinic.duckdb
    """
    from sqlanon.model.policy.earlier import Earlier

    if len(sources) not in (1, len(releases)):
        raise BadParameter("give it once for all releases, or once for each", param_hint="--source")
    own: Sequence[str | None] = sources if len(sources) > 1 else [None] * len(releases)
    read = opt.taxonomies_of_files(taxonomies)
    with reading(database) as session:
        session.taxonomies.load_all(read)
        named = [Earlier(name, source=of_it) for name, of_it in zip(releases, own, strict=True)]
        joint = session.compare_releases(named, source=sources[0], key=key)
    if as_json:
        write_json({**joint.model_dump(mode="json"), "met": joint.met})
    else:
        show(joint.document())
    if not joint.met:
        say(f"Not met: joint classes have {joint.k} persons where {joint.required_k} are asked for.")
        raise Exit(ExitCode.NOT_MET)


def verify(
    release: Annotated[
        str,
        Argument(metavar="RELEASE", help="A published table, or the path of a published Parquet file, CSV or folder."),
    ],
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    source: Annotated[
        str | None,
        Option("--source", metavar="SOURCE", help="What it was made from, to compare models and values with."),
    ] = None,
    without_provenance: Annotated[
        bool, Option("--without-provenance", help="Hold it against its policy alone, if it has no provenance.")
    ] = False,
    record_sha256: Annotated[
        str | None, Option("--record-sha256", metavar="HASH", help="The hash of its record, handed over another way.")
    ] = None,
    safe_harbor: Annotated[
        bool, Option("--safe-harbor", help="It must show none of the 18 kinds of identifiers of HIPAA either.")
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Hold a published table against its policy and its provenance: exit code 0 if it meets them, 3 if it falls short.

    A table without a provenance falls short unless --without-provenance is given. The record is not signed: whoever can
    change the release can change it as well, unless --record-sha256 has its hash from elsewhere.

    Its labels are compared with the taxonomies of --db and --taxonomy, if they are those that it was made with.

    Example: sqlanon verify visits_k5 --db clinic.duckdb --policy policy.toml
    """
    wanted = opt.read_policy(policy)
    read = opt.read_taxonomies(taxonomies, wanted)
    with reading(database) as session:
        session.taxonomies.load_all(read)
        verification = session.verify(
            release,
            wanted,
            source=source,
            strict=False,
            without_provenance=without_provenance,
            record_sha256=record_sha256,
            safe_harbor=safe_harbor,
        )
    if as_json:
        write_json({**verification.model_dump(mode="json"), "met": verification.met})
    else:
        show(verification.model_copy(update={"shortfalls": ()}).document())  # these are said below
    if not verification.met:
        say(f"Not met: {verification.source} falls short of its policy:")
        for shortfall in verification.shortfalls:
            say(f"  - {shortfall}")
        say(f"What is compared: sqlanon guide {VerificationError.guide}")
        raise Exit(ExitCode.NOT_MET)
    say(f"Met: {verification.source} meets its policy.")


def _seeded(seed: int | None) -> RandomSource | None:
    """What draws the same again by a seed; None without one, for what no seed repeats."""
    if seed is None:
        return None
    from sqlanon.mechanisms.sources import SeededSource

    return SeededSource(seed)


Sidecar = Annotated[Path, Option("--fit", metavar="FILE", help="The private file of the fit.")]
EveryPartition = Annotated[
    bool, Option("--every-partition", help="Each partition must meet the models on its own, too.")
]
ReplaceFit = Annotated[bool, Option("--replace", help="Replace the fit, if nothing was published with it.")]
AcceptObserved = Annotated[
    bool,
    Option(
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
    if not os.path.exists(sidecar):  # noqa: PTH110 (that of a Path raises where a name is too long)
        raise BadParameter(f"the fit {sidecar} does not exist; make it by `sqlanon fit`")
    with progress(as_events=as_events, quiet=as_json) as observer, writing(database, destination(into)) as session:
        if taxonomies:
            with opened(session._engine, sidecar) as found:
                wanted = found.fit.policy
            session.taxonomies.load_all(opt.read_taxonomies(taxonomies, wanted))
        release = session.partitions.apply(
            source, sidecar, into, replace=may_go, csv_formulas=cast("Any", csv_formulas), progress=observer
        )
    put(release, as_json=as_json)
