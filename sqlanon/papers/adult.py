"""UCI Adult as experiments take it: from the files of the repository, and hierarchies beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sqlanon.errors import PolicyError
from sqlanon.model.taxonomy.taxonomy import Taxonomy

COLUMNS = (
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
"""The columns of both files, which have no header."""

TARGET = "income"
TRAINING = "adult.data"
TEST = "adult.test"
UNKNOWN = "?"


def refuse_folder(folder: Path, hierarchies: Sequence[str], files: Sequence[str] = (TRAINING,)) -> None:
    """Refuse a folder without some files of Adult, or without one of the files ``hierarchies/<column>.csv``.

    Raises:
        PolicyError: listing all that is missing.
    """
    needed = [*(folder / name for name in files), *(_hierarchy(folder, name) for name in hierarchies)]
    missing = [f"there is no file {path}" for path in needed if not path.is_file()]
    if missing:
        beside = ", or the hierarchies beside it, one ARX hierarchy per column" if hierarchies else ""
        raise PolicyError(
            f"{folder} lacks the data of UCI Adult, {' and '.join(files)} of the UCI Machine Learning "
            f"Repository{beside}:",
            missing,
        )


def training_rows(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of the 32,561 rows for training; what is unknown is the value ``?``.

    Raises:
        PolicyError: the file is none of Adult.
    """
    return _rows(folder / TRAINING).select(columns)


def test_rows(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of the 16,281 rows for tests, with incomes spelled as in training: without the dot at the end.

    Raises:
        PolicyError: the file is none of Adult.
    """
    rows = _rows(folder / TEST)
    incomes = pc.utf8_rtrim(rows[TARGET], characters=".")
    return rows.set_column(rows.schema.get_field_index(TARGET), TARGET, incomes).select(columns)


def known_rows(folder: Path, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Some columns of the rows for training and for tests in which no column is ``?``: 30,162 and 15,060 rows.

    Raises:
        PolicyError: a file is none of Adult.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "Adult".
    """
    training, test = training_rows(folder, COLUMNS), test_rows(folder, COLUMNS)
    return _without_unknown(training).select(columns), _without_unknown(test).select(columns)


def taxonomies(folder: Path, hierarchies: Sequence[str]) -> Mapping[str, Taxonomy]:
    """The hierarchies of some columns.

    Raises:
        TaxonomyError: one is malformed.
    """
    return {name: Taxonomy.from_csv(_hierarchy(folder, name)) for name in hierarchies}


def _hierarchy(folder: Path, name: str) -> Path:
    return folder / "hierarchies" / f"{name}.csv"


def _rows(path: Path) -> pa.Table:
    """All columns of a file of Adult.

    Raises:
        PolicyError: it is none.
    """
    try:
        # Without the message of the parser, which may quote a row.
        found = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=list(COLUMNS)),
            parse_options=csv.ParseOptions(invalid_row_handler=_without_title),
        )
        if not pa.types.is_integer(found["age"].type):
            raise pa.ArrowInvalid
    except (pa.ArrowInvalid, OSError):
        raise PolicyError(
            f"{path} cannot be read as UCI Adult: {len(COLUMNS)} columns between commas, an age first"
        ) from None
    return pa.table({name: _trimmed(found[name]) for name in COLUMNS})


def _without_title(row: csv.InvalidRow) -> str:
    """The repository's ``adult.test`` begins with a line ``|1x3 Cross validator``."""
    return "skip" if row.text.startswith("|") else "error"


def _without_unknown(rows: pa.Table) -> pa.Table:
    texts = [rows[name] for name in rows.column_names if pa.types.is_string(rows[name].type)]
    return rows.filter(reduce(pc.and_, (pc.not_equal(values, UNKNOWN) for values in texts)))


def _trimmed(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(values) if pa.types.is_string(values.type) else values
