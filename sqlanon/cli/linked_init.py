"""``sqlanon init`` for linked tables: which tables it is given, and what it writes and says."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from sqlanon.cli.command import reading
from sqlanon.cli.output import progress, say, show, write_json
from sqlanon.model.names import counted

if TYPE_CHECKING:
    from sqlanon.suggestion.linked_suggestion import LinkedSuggestion
    from sqlanon.suggestion.suggestion import Suggestion


def linked_sources(given: Sequence[str] | None, database: Path | None) -> dict[str, str | None] | None:
    """Return the sources of linked tables by name, none for all tables of the database; None for one source."""
    if not given:
        if database is None:
            raise BadParameter("it is missing: name a source, or with --db several tables or none", param_hint="SOURCE")
        return {}
    if len(given) == 1:
        return None
    pairs = (text.partition("=") if not Path(text).exists() else (text, "", "") for text in given)
    found = {name: source or None for name, _, source in pairs}
    if len(found) < len(given):
        raise BadParameter("a table is named twice", param_hint="SOURCE")
    return found


def init_linked(
    sources: Mapping[str, str | None],
    database: Path | None,
    out: Path,
    given: Mapping[str, Any],
    how: tuple[bool, bool, bool],
) -> None:
    """Suggest and write a policy; ``how`` is whether to replace it, to print JSON, and to print events."""
    replace, as_json, as_events = how
    if beside := {"clean", "codebook"} & {name for name, value in given.items() if value is not None}:
        raise BadParameter(f"--{min(beside)} is for one table", param_hint="SOURCE")
    options = {name: value for name, value in given.items() if name in ("k", "profile")}
    with progress(as_events=as_events, quiet=as_json) as observer, reading(database) as session:
        found = session.suggest_linked(sources or None, progress=observer, **options)
    named = [name if source is None else f"{name}={source}" for name, source in sources.items() if source is not None]
    where = [] if database is None else ["--db", str(database)]
    run = ["sqlanon", "run", *named, *where, "--policy", str(out), "--into", f"released_k{found.k}/"]
    say_suggested(found, found.write(out, replace=replace), [shlex.join(run)] if found.runs else [], as_json=as_json)


def say_suggested(
    found: Suggestion | LinkedSuggestion,
    files: Sequence[Path],
    commands: Sequence[str],
    *,
    as_json: bool,
    remark: str = "",
) -> None:
    """Say what is suggested and written, and the commands that follow."""
    if as_json:
        write_json({**found.model_dump(mode="json"), "files": [str(file) for file in files], "next": commands})
        return
    show(found.document())
    beside = f" and {counted(len(files) - 1, 'file')} beside it" if files[1:] else ""
    say(f"Wrote {files[0]}{beside}.")
    if remark:
        say(remark)
    if found.undecided:
        say(f"{len(found.undecided):,} to decide: marked with a ? there; columns are dropped until then.")
    say("Next:" if commands else "It cannot run yet: see the notes.")
    for line in commands:
        say(f"  {line}")
