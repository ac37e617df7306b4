"""Commands that examine a table, and measure, compare and describe releases."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Exit, Option

from sqlanon.api.session import Session
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, loading_options, reading, writing
from sqlanon.cli.interrupt import keeping
from sqlanon.cli.options import Spelled
from sqlanon.cli.output import ExitCode, progress, put, say, show, write, write_event, write_file, write_json
from sqlanon.cli.verdicts import POLICY
from sqlanon.methods.stages import never
from sqlanon.model.destination import destination

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.model.policy.policy import Policy
    from sqlanon.report.document import Document

BEST_NODES = 10  # nodes of a lattice that are shown


@command(Session.explain, policy=POLICY)
def explain(
    source: opt.Sources = None,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Print the SQL of every step of a run, without running it.

    Example: sqlanon explain visits --db clinic.duckdb --policy policy.toml
    """
    read, wanted = opt.read_taxonomies(taxonomies, given["policy"]), opt.sources_for(given["policy"], source)
    with reading(database, read) as session:
        steps = session.explain(wanted, **given)
    if as_json:
        write_json({"steps": [{"purpose": step.purpose, "makes": step.makes, "sql": step.sql} for step in steps]})
        return
    for number, step in enumerate(steps, start=1):
        makes = f", as temporary table {step.makes}" if step.makes else ""
        write(f"-- {number}. {step.purpose}{makes}\n{step.sql};\n\n")


@command(Session.compare_releases)
def compare_releases(
    releases: Annotated[
        list[str], Argument(metavar="RELEASE...", help="Published tables, files or folders, the oldest first.")
    ],
    source: Annotated[
        list[str], Option(metavar="SOURCE", help="The source of all of them, or one per release, in order.")
    ],
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Compare releases of the same persons: exit code 0 if they show k together as each does alone, 3 if not.

    Whoever links all rows that belong together is left with the persons of one joint class: those with the same labels
    in every release. Without --key there is one source, and each of its rows is a person.

    Example: sqlanon compare-releases visits_k5 visits_l3 --source visits --db clinic.duckdb
    """
    from sqlanon.model.policy.policy_parts import Earlier

    if len(source) not in (1, len(releases)):
        raise BadParameter("give it once for all releases, or once for each", param_hint="--source")
    own: Sequence[str | None] = source if len(source) > 1 else [None] * len(releases)
    read = opt.read_taxonomies(taxonomies)
    with reading(database, read) as session:
        named = [Earlier(name, source=of_it) for name, of_it in zip(releases, own, strict=True)]
        joint = session.compare_releases(named, source=source[0], **given)
    put(joint, as_json=as_json, met=joint.met)
    if not joint.met:
        say(f"Not met: joint classes have {joint.k} persons where {joint.required_k} are asked for.")
        raise Exit(ExitCode.NOT_MET)


@command(Session.contract)
def contract(
    database: opt.OptionalDatabase = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write it to a file, such as release.odcs.yaml.")] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Describe a published table as a data contract: columns, promises, and the queries that check them.

    It is one of the Open Data Contract Standard, which data catalogs and contract testers read. --json prints the same
    fields as JSON.

    Example: sqlanon contract visits_k5 --db clinic.duckdb --out visits_k5.odcs.yaml
    """
    with reading(database) as session:
        found = session.contract(**given)
    if out is not None:
        write_file(out, found.to_yaml(), "contract", replace=replace)
    if as_json:
        write_json(found.to_odcs())
    elif out is None:
        write(found.to_yaml())


@command(Session.lattice, into=Spelled("TARGET"))
def lattice(
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    k: opt.OtherK = None,
    out: Annotated[
        Path | None, Option(metavar="FILE.html", help="Write a page to choose a node on, and print no table.")
    ] = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Check every node of the lattice, and show the best ones that satisfy the policy.

    The search finds the best node first, then nodes of about the same loss. Ctrl-C shows and writes the results so far,
    with exit code 130; pressed twice, or with --replace, it leaves everything as it was. The page that --out writes has
    a command for each node. It needs no other file, and loads nothing.

    Example: sqlanon lattice visits --db clinic.duckdb --policy policy.toml --out lattice.html
    """
    into = given.get("into")
    if out is not None and into is not None:
        raise BadParameter("give one of --out and --into")
    wanted = opt.read_policy(policy, k)
    may_go = opt.replacing(replace, anything=replace_anything)
    read = opt.read_taxonomies(taxonomies, wanted)
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        reading(database, read) if into is None else writing(database, destination(into), taxonomies=read) as session,
        nullcontext(never) if may_go else keeping() as stop,
    ):
        given |= {"policy": wanted, "progress": observer, "stop": stop}
        if out is not None:
            explored = session.explore(**given)
        else:
            found = session.lattice(replace=may_go, **given)
    if out is None:
        checked = _show_table(found, wanted, into, as_events=as_events, as_json=as_json)
    else:
        # The page's commands need the options of this one.
        warehouse = [] if database is None else ["--db", str(database)]
        files = [word for each in taxonomies or () for word in ("--taxonomy", each)]
        run = [given["source"], "--policy", str(policy), *warehouse, *files, *loading_options()]
        page = explored.to_html(run, opt.read_policy(policy).criteria.k)
        write_file(out, page, "page", replace=bool(may_go))
        checked = (explored.checked_nodes, explored.node_count, explored.gap)
        if as_json:
            write_json(explored.model_dump(mode="json"))
    is_limited = given.get("time_limit") is not None
    _end(*checked, is_interrupted=stop(), is_limited=is_limited, as_events=as_events)


def _show_table(
    found: pa.Table, policy: Policy, into: str | None, *, as_events: bool, as_json: bool
) -> tuple[Any, ...]:
    """Show the best nodes, or all as JSON; return the checked nodes, all nodes, and the gap."""
    from sqlanon.run.lattice_table import record_of

    if into is not None and as_events:
        write_event({"event": "written", "into": into, "lattice_nodes": found.num_rows})
    elif into is not None:
        say(f"Wrote {found.num_rows:,} nodes to {into}.")
    rows = sorted(({**row, "node": dict(row["node"])} for row in found.to_pylist()), key=_rank)
    document = {**record_of(found).model_dump(mode="json"), "quality": policy.quality.measure, "table": rows}
    if as_json:
        write_json(document)
    else:
        show(_best_nodes(document))
    return found.num_rows, document.get("lattice_nodes", found.num_rows), document.get("gap")


def _end(
    nodes: int, lattice_nodes: int, gap: float | None, *, is_interrupted: bool, is_limited: bool, as_events: bool
) -> None:
    """Report an incomplete check, and exit as an interrupted command if it was interrupted."""
    if nodes == lattice_nodes:
        return
    if as_events:
        known = {} if gap is None else {"gap": gap}
        write_event({"event": "stopped", "checked_nodes": nodes, "lattice_nodes": lattice_nodes, **known})
    else:
        how = "Stopped by the time limit" if is_limited else "A large lattice"
        how = "Interrupted" if is_interrupted else how
        proven = ""
        if gap == 0:
            proven = " No other node that satisfies the policy loses less than the best of them."
        elif gap is not None:
            by = f"by at most {gap:.6g}"
            proven = f" Another node that satisfies the policy can lose less than the best of them {by}."
        more = "" if is_interrupted or is_limited else " With --time-limit more are checked."
        say(f"{how}: {nodes:,} of {lattice_nodes:,} nodes were checked.{proven}{more}")
    if is_interrupted:
        raise Exit(ExitCode.INTERRUPTED)


def _rank(row: dict[str, Any]) -> tuple[bool, float, float, int, int, tuple[int, ...]]:
    """Order nodes by a run's preference; nodes that do not satisfy the policy by their distance from it."""
    satisfies = bool(row["satisfies"])
    # Round, because a sum of floats depends on its order.
    loss, entropy = (float(f"{row[name]:.11g}") if satisfies else 0.0 for name in ("loss", "entropy"))
    return not satisfies, loss, entropy, row["suppressed_rows"], row["height"], tuple(row["node"].values())


def _best_nodes(document: dict[str, Any]) -> Document:
    from sqlanon.report.document import Document, Table, count, figure, paragraph

    satisfying, quality = document["satisfying_nodes"], document["quality"]
    rows = [
        (
            ", ".join(f"{name} {level}" for name, level in row["node"].items()),
            figure(row["loss"]),
            *(count(row[name]) for name in ("class_count", "min_class_size", "best_k", "suppressed_rows")),
        )
        for row in document["table"][: min(satisfying, BEST_NODES) or BEST_NODES]
    ]
    best = Table(
        ("node", quality, "classes", "smallest", "best k", "suppressed"),
        rows,
        numbers=(1, 2, 3, 4, 5),
        title=f"Best by {quality}" if satisfying else "Closest to the policy",
    )
    whole = f" of {count(document['lattice_nodes'])} nodes checked" if "lattice_nodes" in document else " nodes"
    size = f"{count(document['nodes'])}{whole}, {count(satisfying)} satisfy the policy.\n"
    return Document("Lattice", (paragraph(size), best))
