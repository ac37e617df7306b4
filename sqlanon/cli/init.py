"""The command that suggests a policy for a table, or for linked tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from sqlanon.api.session import Session
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, reading
from sqlanon.cli.options import Spelled
from sqlanon.cli.output import progress, say, show, write_json
from sqlanon.model.names import SOURCE_SUFFIXES, counted

if TYPE_CHECKING:
    from sqlanon.suggestion.linked_suggestion import LinkedSuggestion
    from sqlanon.suggestion.suggestion import Suggestion

TIME_LIMIT = 60  # seconds proposed for the search of a large lattice


@command(Session.suggest, k=Spelled("K", min=2))
def init(
    source: opt.Sources = None,
    database: opt.OptionalDatabase = None,
    out: Annotated[Path, Option(metavar="FILE.toml", help="Where the policy is written.")] = Path("policy.toml"),
    clean: Annotated[
        Path | None,
        Option(
            metavar="FILE.sql",
            help="Write a query there that cleans values, if some need it, and suggest a policy for what it returns.",
        ),
    ] = None,
    replace: Annotated[bool, Option("--replace", help="Replace the policy and taxonomies that are there.")] = False,
    as_json: opt.Json = False,
    as_events: opt.Events = False,
    **given: Any,
) -> None:
    """Suggest a policy for a table, or linked tables: roles of columns, taxonomies, and what they give away.

    Every role is a guess with its reason. A column without evidence is dropped until you decide. Taxonomies that hold
    values are files beside the policy, which you alone may read.

    Example: sqlanon init members.csv
    """
    from sqlanon.suggestion.suggest import PROFILES

    if given["profile"] not in PROFILES:
        raise BadParameter(f'"{given["profile"]}" is not one of {", ".join(PROFILES)}', param_hint="--profile")
    if clean is not None and clean.suffix != ".sql":
        raise BadParameter("the name of a query ends in .sql", param_hint="--clean")
    sources: Sequence[str] = source or ()
    tables = _linked_tables(sources, database)
    if tables is not None and (clean is not None or "codebook" in given):
        raise BadParameter(f"--{'codebook' if clean is None else 'clean'} is for one table", param_hint="SOURCE")
    with progress(as_events=as_events, quiet=as_json) as observer, reading(database) as session:
        if tables is not None:
            linked = session.suggest_linked(tables or None, progress=observer, **given)
        else:
            [name] = sources
            found = session.suggest(name, clean=clean is not None, progress=observer, **given)
    where = [*([] if database is None else ["--db", str(database)]), "--policy", str(out)]
    if tables is not None:
        read = [f"{name}={place}" for name, place in tables.items() if place is not None]
        run = ["sqlanon", "run", *read, *where, "--into", f"released_k{linked.k}/"]
        _say(linked, linked.write(out, replace=replace), [run], as_json=as_json)
        return
    queries = {} if clean is None or found.query is None else {clean: found.query}
    files = found.write(out, replace=replace, beside=queries)
    commands = _next_commands(found, name, where, out, read=str(clean) if queries else name)
    _say(found, files, commands, as_json=as_json, remark=_what_is_cleaned(found, name, clean))


def _linked_tables(given: Sequence[str], database: Path | None) -> dict[str, str | None] | None:
    """Return the sources of linked tables by name, none for all tables of the database; None for one source."""
    if not given and database is None:
        raise BadParameter("it is missing: name a source, or with --db several tables or none", param_hint="SOURCE")
    if len(given) == 1:
        return None
    pairs = (text.partition("=") if not Path(text).exists() else (text, "", "") for text in given)
    found = {name: source or None for name, _, source in pairs}
    if len(found) < len(given):
        raise BadParameter("a table is named twice", param_hint="SOURCE")
    return found


def _what_is_cleaned(found: Suggestion, source: str, clean: Path | None) -> str:
    if found.query is not None:
        return f"From now on, use {clean}, which cleans values, in place of {source}."
    if found.cleaning is not None:
        return "Some values should be cleaned: --clean FILE.sql writes the query, and a policy for what it returns."
    return "" if clean is None else "Nothing needs cleaning."


def _next_commands(found: Suggestion, source: str, where: Sequence[str], policy: Path, read: str) -> list[list[str]]:
    from sqlanon.suggestion.suggested_taxonomies import MAX_NODES

    name = Path(source).stem if source.lower().endswith(SOURCE_SUFFIXES) else source
    is_name = re.fullmatch(r"[\w.*/-]+", name)
    stem = (re.sub(r"[^\w-]+", "_", name).strip("_") if is_name else "") or "release"
    suffix = ".csv" if source.lower().endswith(".csv") else ".parquet"
    release = policy.with_name(f"{stem}_k{found.k}{suffix}")
    limit = ["--time-limit", str(TIME_LIMIT)] if found.lattice_nodes > MAX_NODES else []
    run = ["sqlanon", "run", read, *where, "--into", str(release), *limit]
    page = str(release.with_suffix(".html"))
    return [run, ["sqlanon", "report", str(release), *where, "--source", read, "--out", page]]


def _say(
    found: Suggestion | LinkedSuggestion,
    files: Sequence[Path],
    commands: Sequence[Sequence[str]],
    *,
    as_json: bool,
    remark: str = "",
) -> None:
    """Say what is suggested and written, and the commands that follow if a run could succeed."""
    following = [*map(shlex.join, commands)] if found.runs else []
    if as_json:
        write_json({**found.model_dump(mode="json"), "files": [*map(str, files)], "next": following})
        return
    show(found.document())
    beside = f" and {counted(len(files) - 1, 'file')} beside it" if files[1:] else ""
    say(f"Wrote {files[0]}{beside}.")
    if remark:
        say(remark)
    if found.undecided:
        say(f"{len(found.undecided):,} to decide: marked with a ? there; columns are dropped until then.")
    say("Next:" if following else "It cannot run yet: see the notes.")
    for line in following:
        say(f"  {line}")
