"""UCI Adult, from the files of its repository, with hierarchies beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from sqlglot import exp

from sqlanon.errors import PolicyError
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.papers.experiments import table_rows
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import DIALECT, column, identifier, select, subquery
from sqlanon.queries.measures import level_map

COLUMNS = (  # of both files, which have no header
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)

TARGET = "income"
TRAINING = "adult.data"
TEST = "adult.test"
BOTH = (TRAINING, TEST)
UNKNOWN = "?"


def needed(hierarchies: Sequence[str], files: Sequence[str] = (TRAINING,)) -> tuple[str, ...]:
    """Name files of Adult, and ``hierarchies/<column>.csv`` of some columns."""
    return (*files, *(f"hierarchies/{name}.csv" for name in hierarchies))


def training_rows(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of the 32,561 training rows; unknown values are ``?``."""
    return _rows(folder / TRAINING).select(columns)


def test_rows(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of the 16,281 test rows, with incomes spelled as in training, without a dot at the end."""
    rows = _rows(folder / TEST)
    incomes = pc.utf8_rtrim(rows[TARGET], characters=".")
    return rows.set_column(rows.schema.get_field_index(TARGET), TARGET, incomes).select(columns)


def known_rows(folder: Path, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Read columns of the training and test rows in which no column is ``?``: 30,162 and 15,060 rows.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "Adult".
    """
    training, test = training_rows(folder, COLUMNS), test_rows(folder, COLUMNS)
    return _without_unknown(training).select(columns), _without_unknown(test).select(columns)


def taxonomies(folder: Path, hierarchies: Sequence[str]) -> Mapping[str, Taxonomy]:
    return {name: Taxonomy.from_csv(folder / "hierarchies" / f"{name}.csv") for name in hierarchies}


def _rows(path: Path) -> pa.Table:
    try:
        # The parser's message may quote a row.
        found = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=list(COLUMNS)),
            # The repository's ``adult.test`` begins with a line ``|1x3 Cross validator``.
            parse_options=csv.ParseOptions(
                invalid_row_handler=lambda row: "skip" if row.text.startswith("|") else "error"
            ),
        )
        if not pa.types.is_integer(found["age"].type):
            raise pa.ArrowInvalid
    except (pa.ArrowInvalid, OSError):
        raise PolicyError(
            f"{path} cannot be read as UCI Adult: {len(COLUMNS)} columns between commas, an age first"
        ) from None
    columns = {name: found[name] for name in COLUMNS}
    texts = {name: pc.utf8_trim_whitespace(each) for name, each in columns.items() if pa.types.is_string(each.type)}
    return pa.table({**columns, **texts})


def _without_unknown(rows: pa.Table) -> pa.Table:
    texts = [rows[name] for name in rows.column_names if pa.types.is_string(rows[name].type)]
    return rows.filter(reduce(pc.and_, (pc.not_equal(values, UNKNOWN) for values in texts)))


Bounds = tuple[int, int]  # the least number, and the first one above all

# Ranges fixed by the program of Mohammed et al. (DiffGen).
BOUNDS: Mapping[str, Bounds] = {
    "age": (15, 95),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 20),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 100),
}

WITH_UNKNOWN = ("workclass", "occupation", "native_country")  # columns of Adult with unknown values


def predictors(*, unknown: bool = False) -> dict[str, Bounds | Taxonomy]:
    """Return the bounds or the taxonomy of each of the 14 predictors, in column order.

    If ``unknown``, ``?`` is a value right under the top, in columns where it occurs.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "Adult", for the choice of predictors.
    """
    # Values with their labels, without the top; "South" is assumed to be South Korea, and "Hong" to be Hong Kong.
    trees: dict[str, list[tuple[str, ...]]] = {}
    for row in table_rows("adult_trees"):
        trees.setdefault(row.pop("column"), []).append(tuple(filter(None, row.values())))
    for name in WITH_UNKNOWN if unknown else ():
        trees[name].append((UNKNOWN,) * len(trees[name][0]))
    taxonomies = {name: Taxonomy.from_rows([(*labels, TOP) for labels in tree]) for name, tree in trees.items()}
    return {name: BOUNDS.get(name) or taxonomies[name] for name in COLUMNS if name != TARGET}


def categories() -> dict[str, Taxonomy]:
    """Return the taxonomies of categorical predictors, which know no unknown values."""
    return {name: each for name, each in predictors().items() if isinstance(each, Taxonomy)}


MODELS = ("tree", "logistic")

RAW_TRAINING = "training"
RAW_TEST = "test"

BASELINE = "rows as they are (BA)"
LOWER_BOUND = "more frequent class (LA)"


def as_they_are(table: str, columns: Sequence[str]) -> str:
    """Return the query for columns of a table and the income."""
    return _chosen(table, columns).sql(DIALECT)


def at_node(columns: Sequence[str], node: Mapping[str, int]) -> str:
    """Return the query that generalizes the test rows at a node; columns without a level stay unchanged."""
    rows = subquery(_chosen(RAW_TEST, columns), "anon_rows")
    return table_call("generalize", rows, level_map(node)).sql(DIALECT)


def _chosen(table: str, columns: Sequence[str]) -> exp.Select:
    return select([column(name) for name in (*columns, TARGET)], exp.Table(this=identifier(table)))
