"""The command that looks at the whole lattice: as a table, or as a page to choose a node on."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Exit, Option

from sqlanon.api.session import Session
from sqlanon.cli import options as opt
from sqlanon.cli.command import command
from sqlanon.cli.interrupt import keeping
from sqlanon.cli.options import Spelled
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import progress, say, show, write_event, write_file, write_json
from sqlanon.cli.sessions import loading_options, reading, writing
from sqlanon.methods.progress import never
from sqlanon.model.destination import destination

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.model.policy.policy import Policy
    from sqlanon.report.document import Document

BEST_NODES = 10

_Checked = tuple[int, int, float | None]
"""How many nodes were checked, of how many, and how much less than the best of them another one can lose at most."""


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

    The best node is looked for first, then come those that lose about as much. Ctrl-C shows and writes what was found
    so far, with exit code 130; pressed twice, or with --replace, it leaves everything as it was. The page that --out
    writes has a command for each node. It needs no other file, and loads nothing.

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
        # The page has a command for each node, which reads the same source and taxonomies.
        warehouse = [] if database is None else ["--db", str(database)]
        files = [word for each in taxonomies or () for word in ("--taxonomy", each)]
        run = [given["source"], "--policy", str(policy), *warehouse, *files, *loading_options()]
        page = explored.to_html(run, opt.read_policy(policy).criteria.k)
        write_file(out, page, "page", replace=bool(may_go))
        checked = explored.checked_nodes, explored.node_count, explored.gap
        if as_json:
            write_json(explored.model_dump(mode="json"))
    _end(checked, is_interrupted=stop(), as_events=as_events)


def _show_table(found: pa.Table, policy: Policy, into: str | None, *, as_events: bool, as_json: bool) -> _Checked:
    """Show the best nodes, or all of them as JSON."""
    from sqlanon.run.lattice import record_of

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


def _end(checked: _Checked, *, is_interrupted: bool, as_events: bool) -> None:
    """Say so if not all nodes were checked, and end as an interrupted command if that is the reason."""
    nodes, lattice_nodes, gap = checked
    if nodes == lattice_nodes:
        return
    if as_events:
        known = {} if gap is None else {"gap": gap}
        write_event({"event": "stopped", "checked_nodes": nodes, "lattice_nodes": lattice_nodes, **known})
    else:
        how = "Interrupted" if is_interrupted else "Stopped by the time limit"
        proven = ""
        if gap == 0:
            proven = " No other node that satisfies the policy loses less than the best of them."
        elif gap is not None:
            by = f"by at most {gap:.6g}"
            proven = f" Another node that satisfies the policy can lose less than the best of them {by}."
        say(f"{how}: {nodes:,} of {lattice_nodes:,} nodes were checked.{proven}")
    if is_interrupted:
        raise Exit(ExitCode.INTERRUPTED)


def _rank(row: dict[str, Any]) -> tuple[bool, float, float, int, int, tuple[int, ...]]:
    """The order in which a run prefers nodes; nodes that do not satisfy the policy by how far they are from it."""
    satisfies = bool(row["satisfies"])
    # The same sum of floats in another order is the same loss.
    loss, entropy = (float(f"{row[name]:.11g}") if satisfies else 0.0 for name in ("loss", "entropy"))
    return not satisfies, loss, entropy, row["suppressed_rows"], row["height"], tuple(row["node"].values())


def _best_nodes(document: dict[str, Any]) -> Document:
    """The size of the lattice, and its best nodes or those that come closest to the policy."""
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
