"""The command that looks at the whole lattice: as a table, or as a page to choose a node on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from sqlanon.cli import options as opt
from sqlanon.cli.output import progress, say, show, write_event, write_file, write_json
from sqlanon.cli.sessions import loading_options, reading, writing

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.model.policy.policy import Policy
    from sqlanon.report.document import Document

BEST_NODES = 10


def lattice(
    source: opt.Source,
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    k: opt.OtherK = None,
    into: opt.LatticeTarget = None,
    out: Annotated[
        Path | None, Option("--out", metavar="FILE.html", help="Write a page to choose a node on, and print no table.")
    ] = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_events: opt.Events = False,
    as_json: opt.Json = False,
) -> None:
    """Check every node of the lattice, and show the best ones that satisfy the policy.

    The page that --out writes has a command for each node. It needs no other file, and loads nothing.

    Example: sqlanon lattice visits --db clinic.duckdb --policy policy.toml --out lattice.html
    """
    from sqlanon.model.destination import destination

    if out is not None and into is not None:
        raise BadParameter("give one of --out and --into")
    wanted = opt.read_policy(policy, k)
    may_go = opt.replacing(replace, anything=replace_anything)
    read = opt.read_taxonomies(taxonomies, wanted)
    with (
        progress(as_events=as_events, quiet=as_json) as observer,
        reading(database) if into is None else writing(database, destination(into)) as session,
    ):
        session.taxonomies.load_all(read)
        if out is not None:
            explored = session.explore(source, wanted, progress=observer)
        else:
            found = session.lattice(source, wanted, into=into, replace=may_go, progress=observer)
    if out is not None:
        command = [source, "--policy", str(policy), *_others(database, taxonomies)]
        written_k = opt.read_policy(policy).criteria.k
        write_file(out, explored.to_html(command, written_k), "page", replace=bool(may_go))
        if as_json:
            write_json(explored.model_dump(mode="json"))
        return
    if into is not None and as_events:
        write_event({"event": "written", "into": into, "lattice_nodes": found.num_rows})
    elif into is not None:
        say(f"Wrote {found.num_rows:,} nodes to {into}.")
    if as_json:
        write_json(_nodes(found, wanted))
    else:
        show(_best_nodes(_nodes(found, wanted)))


def _others(database: Path | None, taxonomies: list[str] | None) -> list[str]:
    """The options that say where the source and its taxonomies are."""
    warehouse = [] if database is None else ["--db", str(database)]
    files = [word for each in taxonomies or () for word in ("--taxonomy", each)]
    return [*warehouse, *files, *loading_options()]


def _nodes(nodes: pa.Table, policy: Policy) -> dict[str, Any]:
    rows = [{**row, "node": dict(row["node"])} for row in nodes.to_pylist()]
    return {
        "nodes": len(rows),
        "satisfying_nodes": sum(row["satisfies"] for row in rows),
        "quality": policy.quality.measure,
        "table": sorted(rows, key=_rank),
    }


def _rank(row: dict[str, Any]) -> tuple[bool, float, float, int, int, tuple[int, ...]]:
    """The order in which a run prefers nodes; nodes that do not satisfy the policy by how far they are from it."""
    satisfies = bool(row["satisfies"])
    loss = row["loss"] if satisfies else 0.0
    levels = tuple(row["node"].values())
    entropy = row["entropy"] if satisfies else 0.0
    return not satisfies, _rounded(loss), _rounded(entropy), row["suppressed_rows"], row["height"], levels


def _rounded(loss: float) -> float:
    """The same sum of floats in another order is the same loss."""
    return float(f"{loss:.11g}")


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
    size = f"{count(document['nodes'])} nodes, {count(satisfying)} satisfy the policy.\n"
    return Document("Lattice", (paragraph(size), best))
