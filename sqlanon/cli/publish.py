"""Commands that publish tables or partitions, list releases, and prepare tables."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, BadParameter, Context, Option, Typer

from sqlanon.api.partitions import Partitions
from sqlanon.api.session import Session
from sqlanon.api.session_releases import ReleaseRegister
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, existing, existing_or_new, loading_options, reading, writing
from sqlanon.cli.options import RELEASE, SPELLED, Spelled
from sqlanon.cli.output import progress, put, say, write, write_json
from sqlanon.model.destination import destination

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import Policy

releases_app = Typer()

LedgerFile = Annotated[
    Path | None,
    Option(
        "--ledger",
        metavar="FILE",
        help="The DuckDB file whose ledger is charged; else that of --db.",
        rich_help_panel=opt.PRIVATE,
    ),
]
LedgerMode = Annotated[
    str,
    Option(
        "--ledger-mode",
        metavar="open|capped",
        help="Whether a data set without a cap may be charged (open, the default), or is refused (capped).",
        rich_help_panel=opt.PRIVATE,
    ),
]


FOR_LINKED = ("source", "into", "time_limit", "max_loss", "sql")  # the options for linked tables


@command(Session.anonymize)
def run(
    policy: opt.PolicyFile,
    source: opt.Sources = None,
    database: opt.TargetDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    k: opt.OtherK = None,
    ledger: LedgerFile = None,
    ledger_mode: LedgerMode = "open",
    replace: opt.Replace = False,
    replace_if_changed: opt.ReplaceIfChanged = False,
    replace_anything: opt.ReplaceAnything = False,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Publish the best generalization of a table that meets the policy, verified; or the draw of a private method.

    With a file or a folder as target, only the warehouse's list of releases changes; with a table, the warehouse also
    stores the taxonomies of --taxonomy and the policy. If the target holds the release of the same policy from the same
    files, nothing is done. What a private method spends is charged to --ledger, or to the warehouse, before any draw.

    Example: sqlanon run visits --db clinic.duckdb --policy policy.toml --into visits_k5
    """
    from sqlanon.model.policy.linked_policy import LinkedPolicy

    wanted = opt.read_any_policy(policy, k)
    read = opt.read_taxonomies(taxonomies, wanted)
    may_go = opt.replacing(replace, replace_if_changed, replace_anything)
    given["source"] = opt.sources_for(wanted, source)
    _refuse_options(wanted, given, ledger, ledger_mode)
    layout = {name: given[name] for name in ("rows_per_file", "partition_by") if name in given}
    into, is_charged = given["into"], "random_source" not in given
    if isinstance(wanted, LinkedPolicy):
        from sqlanon.publish.linked_targets import linked_destination

        target, is_charged, sources = linked_destination(into), False, [f"{t}={s}" for t, s in given["source"].items()]
    else:
        target, sources = destination(into, **layout), ["--source", given["source"]]
        is_charged = is_charged and wanted.method.claims_privacy
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        writing(database, target, ledger, is_charged=is_charged, taxonomies=read) as session,
    ):
        session.ledger.mode = cast("Any", ledger_mode)
        release = session.anonymize(policy=wanted, replace=may_go, progress=observer, **given)
    if (account := getattr(release.report, "opened_account", None)) is not None and not as_events:
        say(f'Note: the run opened the account "{account}" in the ledger, without a cap; sqlanon ledger cap sets one.')
    if getattr(release, "unchanged", False) and not as_events:
        say(f"Unchanged: {into} was made from these files by this policy; --replace makes it anew.")
    put(release, as_json=as_json)
    if not (as_json or as_events):
        warehouse = [] if database is None else ["--db", str(database)]
        files = ["--policy", str(policy), *sources, "--out", "report.html"]
        proposed = shlex.join(["sqlanon", "report", into, *warehouse, *files, *loading_options()])
        say(f"A page for whoever has to approve it: {proposed}")


def _refuse_options(policy: Policy | LinkedPolicy, given: Mapping[str, Any], ledger: Path | None, mode: str) -> None:
    """Refuse options that say nothing of a policy."""
    from sqlanon.model.policy.linked_policy import LinkedPolicy

    if isinstance(policy, LinkedPolicy):
        for name in (name for name, value in given.items() if value not in (None, True) and name not in FOR_LINKED):
            flag = SPELLED[name].flag if name in SPELLED else ""
            raise BadParameter("it is not for several tables yet", param_hint=flag or f"--{name.replace('_', '-')}")
    is_private = not isinstance(policy, LinkedPolicy) and policy.has_private_method
    if not is_private and (given.keys() & {"dataset", "public"} or ledger is not None):
        raise BadParameter("--dataset, --public and --ledger are for policies with a private method")
    if not isinstance(policy, LinkedPolicy) and not policy.method.draws and "random_source" in given:
        raise BadParameter("--seed is for policies with a method that draws at random")
    if mode not in ("open", "capped"):
        raise BadParameter(f'it is "open" or "capped", not "{mode}"', param_hint="--ledger-mode")


@command(Partitions.fit, replace=Spelled())
def fit(
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Find the node at which to release partitions, and keep it in a private file; nothing is published.

    Example: sqlanon fit visits --db clinic.duckdb --policy policy.toml --fit clinic.fit
    """
    read = opt.read_taxonomies(taxonomies, given["policy"])
    with progress(as_events=as_events, quiet=as_json) as observer, reading(database, read) as session:
        fitted = session.partitions.fit(progress=observer, **given)
    if not as_json:
        write(f"Fitted {given['sidecar']}; nothing is published. Keep this file private.\n")
    put(fitted, as_json=as_json)


@command(Partitions.apply)
def apply(
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    replace: opt.Replace = False,
    replace_if_changed: opt.ReplaceIfChanged = False,
    replace_anything: opt.ReplaceAnything = False,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Publish a partition at the node of a fit, so that all partitions together meet its policy, verified.

    If the same rows are at the same place already, they are measured, and nothing is written.

    Example: sqlanon apply 'november/*.parquet' --fit clinic.fit --into parts/2026_11.parquet
    """
    from sqlanon.partitions.sidecar import opened

    sidecar, may_go = given["sidecar"], opt.replacing(replace, replace_if_changed, replace_anything)
    if not os.path.exists(sidecar):  # noqa: PTH110 (Path.exists raises if a name is too long)
        raise BadParameter(f"the fit {sidecar} does not exist; make it by `sqlanon fit`")
    target = destination(given["into"])
    with progress(as_events=as_events, quiet=as_json) as observer, writing(database, target) as session:
        if taxonomies:
            with opened(session._engine, sidecar) as found:
                wanted = found.fit.policy
            session.taxonomies.load_all(opt.read_taxonomies(taxonomies, wanted))
        release = session.partitions.apply(replace=may_go, progress=observer, **given)
    put(release, as_json=as_json)


@releases_app.callback(invoke_without_command=True)
@command(ReleaseRegister.list, dataset=Spelled("SOURCE"))
def releases(
    context: Context,
    database: Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file with the list.")] = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Show every release that was made from a warehouse, and whether it is still there.

    Example: sqlanon releases --db clinic.duckdb
    """
    if context.invoked_subcommand is not None:
        return
    if database is None:
        raise BadParameter("give --db, the file with the list")
    with existing(database) as session:
        found = session.releases.list(**given)
    put(found, as_json=as_json)


@releases_app.command()
@command(ReleaseRegister.forget)
def forget(
    name: Annotated[str, Argument(metavar="RELEASE", help="The table, path or address, as the list has it.")],
    database: opt.Database,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Mark a release as forgotten, such as one that nobody was given: it stays on the list, with the reason.

    Example: sqlanon releases forget visits_k5 --db clinic.duckdb --reason "it was a rehearsal"
    """
    with existing(database, read_only=False) as session:
        found = session.releases.forget(name, **given)
    put(found, as_json=as_json)
    say(f'Forgotten: {len(found.releases):,} of "{name}"; sqlanon releases --all shows them.')


@command(Session.flatten)
def flatten(
    database: opt.OptionalDatabase = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Turn a table of events into one with a row per individual, whose first events are columns.

    The result is as sensitive as the source: nothing is anonymized yet.

    Example: sqlanon flatten visits --db clinic.duckdb --into patients --individual patient_id --event diagnosis
    --order admission --first 3
    """
    into, may_go = given["into"], opt.replacing(replace, anything=replace_anything)
    with writing(database, destination(into)) as session:
        done = session.flatten(replace=may_go, **given)
    if as_json:
        write_json(done.model_dump(mode="json"))
    say(
        f"Wrote {done.individuals:,} individuals to {into}; {done.cut_events:,} of {done.events:,} events are beyond "
        f"the first {given['first']:,} of {done.cut_individuals:,} individuals and were left out."
    )
    for note in done.notes:
        say(f"Note: {note}.")


@command(Session.generalize, release=Spelled("RELEASE", "--like", help=RELEASE))
def generalize(
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Give new rows the labels of a release of diffgen or of local recoding: a test part, for instance.

    The result is as sensitive as the source: nothing is anonymized.

    Example: sqlanon generalize test --like released --db clinic.duckdb --into test_like_released
    """
    into, may_go = given["into"], opt.replacing(replace, anything=replace_anything)
    read = opt.read_taxonomies(taxonomies)
    with writing(database, destination(into), taxonomies=read) as session:
        done = session.generalize(replace=may_go, **given)
    if as_json:
        write_json(done.model_dump(mode="json"))
    unknown = f" {done.unknown_rows:,} were left out for unknown values." if done.unknown_rows else ""
    unknown += f" {done.uncovered_rows:,} were left out: no class covers them." if done.uncovered_rows else ""
    labelled = f"{len(done.generalized)} of whose {len(done.columns)} columns are generalized"
    say(f"Wrote {done.rows:,} rows to {into}, {labelled}.{unknown}")
    for note in done.notes:
        say(f"Note: {note}.")


@command()
def install(database: opt.NewDatabase, as_json: opt.Json = False) -> None:
    """Create schema anon with all macros in a DuckDB file, for any DuckDB client to call.

    Example: sqlanon install --db clinic.duckdb
    """
    from sqlanon.queries.kit.macros import macros

    with existing_or_new(database) as session:
        session.install()
    if as_json:
        write_json({"database": str(database), "macros": list(macros())})
    say(f"Installed {len(macros())} macros in schema anon of {database}.")


def sql() -> None:
    """Print the SQL that creates schema anon with all macros.

    DuckDB's shell runs it by .read sqlanon.sql.

    Example: sqlanon sql > sqlanon.sql
    """
    from sqlanon.queries.kit.macros import install_script

    write(install_script())


def schema(
    linked: Annotated[bool, Option("--linked", help="That of a policy of several linked tables.")] = False,
) -> None:
    """Print the JSON Schema of a policy, with which editors complete and check policy files.

    Example: sqlanon schema > policy.schema.json
    """
    from sqlanon.model.policy.linked_policy import LinkedPolicy
    from sqlanon.model.policy.policy import Policy
    from sqlanon.satellites import all_offered

    all_offered("methods")  # they register themselves
    write_json((LinkedPolicy if linked else Policy).model_json_schema())
