"""Experiments in parts: finished parts are kept in a file, so that a run that was stopped goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from statistics import fmean, mode, stdev
from typing import TYPE_CHECKING, Any

from pyarrow import csv

from sqlanon.chance.random_source import SeededSource
from sqlanon.errors import PolicyError
from sqlanon.evaluation.results import Reproduced, Row, rounded
from sqlanon.model.names import counted
from sqlanon.papers.charts import with_printed
from sqlanon.publish.files import cannot_be_written, staged_file
from sqlanon.publish.provenance import code_sha256

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.release import Release


def table_rows(name: str) -> list[dict[str, Any]]:
    """Read ``tables/<name>.csv``; missing numbers are None."""
    with files("sqlanon.papers").joinpath("tables", f"{name}.csv").open("rb") as file:
        rows: list[dict[str, Any]] = csv.read_csv(file).to_pylist()
    return rows


@dataclass(frozen=True)
class Part:
    """What an experiment releases and measures in one step."""

    name: str  # in words, unique in the experiment
    measure: Callable[[Session], Iterable[Row]]  # rows that JSON can hold


Watch = Callable[[Sequence[Part], int], Generator[Part]]  # yields the parts that are left, of a number in all


def unwatched(left: Sequence[Part], _count: int) -> Generator[Part]:
    yield from left


@dataclass(frozen=True)
class Reproduction:
    """An experiment of a paper: a module that defines the fields below, constants in capitals."""

    name: str
    source: str  # the paper
    title: str  # of its results
    seeds: range  # by default; figures are means over seeds
    prepare: Callable[[Session, Path], None]  # makes the tables, from the data of a folder
    parts: Callable[[Sequence[int]], Iterable[Part]]  # by seeds
    shown: Mapping[str, str]  # columns of the summary, with headings
    findings: Callable[[Sequence[Row]], Iterable[str]]
    notes: Callable[[int], Sequence[str]]  # how to read the rows, by the number of seeds
    rows: Callable[[Sequence[Row]], Iterable[Row]] = iter  # of the results, from those of all parts in order
    chart: Callable[[Sequence[Row]], Any] = lambda _: None
    printed: Callable[[Sequence[Row]], Iterable[Row]] = lambda _: ()  # numbers of the paper and here
    tables_by: str | None = None  # the column that separates several tables of the summary
    files: Sequence[str] = ()  # of a folder of data; empty if the experiment invents its table
    draws: bool = True  # whether its numbers depend on the seeds

    def folder(self, data: Path | None) -> Path:
        """Return the checked folder of its data, or the working folder if it needs none."""
        if data is None:
            if self.files:
                raise PolicyError(f"{self.name} reads data: give its folder, --data")
            return Path()
        if not self.files:
            raise PolicyError(f"{self.name} invents its table: leave out --data")
        missing = [f"the file {data / name} does not exist" for name in self.files if not (data / name).is_file()]
        if missing:
            raise PolicyError(
                f"{data} lacks the data of UCI Adult: files of the UCI Machine Learning Repository, or the hierarchies "
                "beside them, one ARX hierarchy per column:",
                missing,
            )
        return data

    def seeds_from(self, first: int | None, count: int | None) -> range:
        """Return ``count`` seeds from ``first`` on, each by default its own."""
        if not self.draws and count not in (None, 1):
            raise PolicyError(f"{self.name} draws nothing, and has the same table for each seed: leave out --seeds")
        start = self.seeds.start if first is None else first
        return range(start, start + (len(self.seeds) if count is None else count))

    def facts(self, folder: Path, seeds: Sequence[int]) -> dict[str, Any]:
        """Return all that its numbers depend on."""
        return {
            "experiment": self.name,
            "seeds": [*seeds],
            "parts": [part.name for part in self.parts(seeds)],
            "data": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in self.files},
            "code": code_sha256(),
            "duckdb": version("duckdb"),
        }

    def run(
        self,
        session: Session,
        folder: Path,
        seeds: Sequence[int],
        kept: KeptParts | None = None,
        watch: Watch = unwatched,
    ) -> Reproduced:
        """Measure the parts that are not kept yet, and return the results of all."""
        parts = [*self.parts(seeds)]
        kept = KeptParts() if kept is None else kept
        left = [part for part in parts if part.name not in kept.found]
        try:
            if left:
                self.prepare(session, folder)
            with closing(watch(left, len(parts))) as watched:
                for part in watched:
                    kept.keep(part.name, part.measure(session))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(kept.interrupted(len(parts))) from None
        return self.results([row for part in parts for row in kept.found[part.name]], len(seeds))

    def results(self, measures: Sequence[Row], seeds: int) -> Reproduced:
        """Return the results of the rows of all parts, each with all columns."""
        found = [*self.rows(measures)]
        columns = dict.fromkeys((*(name for row in found for name in row), *self.shown))
        rows = [rounded({**columns, **row}) for row in found]
        printed = [*self.printed(rows), *printed_numbers(self.name, rows)]
        return Reproduced(
            title=self.title,
            rows=rows,
            shown=self.shown,
            findings=[*self.findings(rows)],
            notes=self.notes(seeds),
            chart=with_printed(self.chart(rows), printed),
            parts=self.tables_by,
            printed=printed,
        )


def of_module(module: str, name: str, source: str, title: str, first_seed: str, seeds: str, **_: str) -> Reproduction:
    """Make an experiment of what its module defines, and of what ``tables`` and ``notes.md`` have on it."""
    home, first = vars(import_module(f"sqlanon.papers.{module}")), int(first_seed)
    functions = {each: home[each] for each in ("rows", "chart", "printed") if each in home}
    constants = {each.lower(): home[each] for each in ("FILES", "TABLES_BY", "DRAWS") if each in home}
    return Reproduction(
        name,
        source,
        title,
        seeds=range(first, first + int(seeds)),
        prepare=home["prepare"],
        parts=home["parts"],
        shown={row["column"]: row["heading"] for row in table_rows("columns") if row["experiment"] == name},
        findings=home["findings"],
        notes=partial(notes_on, name),
        **functions,
        **constants,
    )


def notes_on(experiment: str, seeds: int) -> list[str]:
    """Read the notes below a heading of ``notes.md``, in which ``{count}`` is the number of seeds."""
    text = files("sqlanon.papers").joinpath("notes.md").read_text(encoding="utf-8")
    _, _, below = text.partition(f"# {experiment}\n")
    nouns = {f"{noun}s": counted(seeds, noun) for noun in ("seed", "release", "sample", "draw")}
    lines = below.partition("\n# ")[0].splitlines()
    return [line.removeprefix("- ").format(count=seeds, **nouns) for line in lines if line]


FIGURES: Mapping[str, Callable[[Sequence[Any]], Any]] = {"": itemgetter(0), "least": min, "largest": max}


def printed_numbers(experiment: str, rows: Sequence[Row]) -> Iterator[Row]:
    """Pair the numbers of ``tables/printed_numbers.csv`` with figures of the rows that have the settings there."""
    for number in table_rows("printed_numbers"):
        if number.pop("experiment") != experiment:
            continue
        item, what, paper, figure, of = (number.pop(name) for name in ("item", "what", "paper", "figure", "of"))
        settings = {name: value for name, value in number.items() if value not in (None, "")}
        if found := [row[figure] for row in rows if settings.items() <= row.items()]:
            here = FIGURES[of](found)
            yield {"item": item, "what": what, "paper": int(paper) if isinstance(here, int) else paper, "here": here}


class KeptParts:
    """The rows of finished parts, in a file if a path is given."""

    def __init__(self, path: Path | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.facts = facts
        self.found: dict[str, list[Row]] = {}

    def resume(self, *, replace: bool) -> None:
        """Read the file if there is one; refuse parts of another run, or leave them to be replaced."""
        assert self.path is not None
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            facts, found = document["facts"], document["found"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, LookupError, TypeError):
            facts = found = {}
        differing = [name for name, fact in (self.facts or {}).items() if facts.get(name) != fact]
        if not differing:
            self.found = found
        elif not replace:
            raise PolicyError(
                f"{self.path} has parts of another run: give what it was given, another folder, or --replace to start "
                "anew:",
                [f"{name}: differs" for name in differing],
            )

    def keep(self, name: str, rows: Iterable[Row]) -> None:
        """Add the rows of a part, and write the file in one step."""
        self.found[name] = json.loads(json.dumps([*rows]))  # the same rows whether they are kept or read
        if self.path is None:
            return
        with cannot_be_written(self.path, "target"):
            self.path.parent.mkdir(exist_ok=True)
        with staged_file(self.path, replace=True) as staged, cannot_be_written(self.path, "target"):
            staged.write_text(json.dumps({"facts": self.facts, "found": self.found}), encoding="utf-8")

    def drop(self) -> None:
        """Remove the file, whose rows are in the results."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def interrupted(self, count: int) -> str:
        if self.path is None or not self.found:
            return "interrupted; no part was finished"
        return (
            f"interrupted; {len(self.found)} of {count} parts are finished, and kept in {self.path}: the same command "
            "goes on from there"
        )


RELEASED = "released"


@dataclass(frozen=True)
class Contender:
    """A release to make, or one per seed if its method draws."""

    name: str  # in words, unique in the experiment
    policy: Policy
    setting: Row  # columns of its rows, which say what it is

    def release(self, session: Session, source: str, seed: int, **more: Any) -> Release:
        """Release a table as :data:`RELEASED`, in place of the release before."""
        drawing = SeededSource(seed) if self.policy.method.draws else None
        return session.anonymize(source, self.policy, RELEASED, replace=True, random_source=drawing, **more)


def spelled_node(node: Mapping[str, int]) -> str:
    return " ".join(map(str, node.values()))


def parts_of(
    contenders: Iterable[Contender],
    measured: Callable[[Session, Contender, Sequence[int]], Iterable[Row]],
    seeds: Sequence[int],
) -> Iterator[Part]:
    """Yield a part per contender and seed, but one part for all seeds if its method draws nothing."""
    for contender in contenders:
        if contender.policy.method.draws:
            for seed in seeds:
                yield Part(f"{contender.name}, seed {seed}", _measuring(measured, contender, [seed]))
        else:
            yield Part(contender.name, _measuring(measured, contender, seeds))


def _measuring(
    measured: Callable[[Session, Contender, Sequence[int]], Iterable[Row]],
    contender: Contender,
    seeds: Sequence[int],
) -> Callable[[Session], Iterable[Row]]:
    return lambda session: measured(session, contender, seeds)


def of_parts(rows: Iterable[Row], *parts: str) -> list[Row]:
    return [row for row in rows if row["part"] in parts]


def printed_beside(rows: Iterable[Row], item: str, paper: str, here: str, what: Callable[[Row], str]) -> Iterator[Row]:
    """Pair the numbers of two columns, those of a paper and those here, of the rows that have the former."""
    for row in rows:
        if row[paper] is not None:
            yield {"item": item, "what": what(row), "paper": row[paper], "here": row[here]}


def averaged(rows: Iterable[Row], by: Collection[str], spread: Collection[str] = ()) -> list[Row]:
    """Average figures over rows of equal settings, in the order of the first of these rows.

    Whole numbers become the nearest one to their mean, texts the most frequent one, and a missing figure is left out.
    For a figure of ``spread``, a column ``_sd`` has the sample's standard deviation, None of a single row.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in by), []).append(row)
    found = []
    for group in groups.values():
        mean: dict[str, Any] = {}
        for name, first in group[0].items():
            known = [row[name] for row in group if row[name] is not None]
            mean[name] = first if name in by else _middle(known)
            if name in spread:
                mean[f"{name}_sd"] = stdev(known) if len(known) > 1 else None
        found.append(rounded(mean))
    return found


def _middle(known: Sequence[Any]) -> Any:
    if not known:
        return None
    if isinstance(known[0], str):
        return mode(known)
    return round(fmean(known)) if all(isinstance(each, int) for each in known) else fmean(known)
