"""UCI Adult as experiments take it: from the files of the repository, and hierarchies beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""The columns of ``adult.data``, which has no header."""

TRAINING = "adult.data"


def refuse_folder(folder: Path, hierarchies: Sequence[str]) -> None:
    """Refuse a folder without ``adult.data`` or one of the files ``hierarchies/<column>.csv``.

    Raises:
        PolicyError: listing all that is missing.
    """
    files = [folder / TRAINING, *(_hierarchy(folder, name) for name in hierarchies)]
    missing = [f"there is no file {path}" for path in files if not path.is_file()]
    if missing:
        raise PolicyError(
            f"{folder} lacks the data of UCI Adult, {TRAINING} of the UCI Machine Learning Repository, or the "
            "hierarchies beside it, one ARX hierarchy per column:",
            missing,
        )


def training_rows(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of the 32,561 rows for training; what is unknown is the value ``?``.

    Raises:
        PolicyError: the file is none of Adult.
    """
    try:
        # Without the message of the parser, which may quote a row.
        found = csv.read_csv(folder / TRAINING, read_options=csv.ReadOptions(column_names=list(COLUMNS)))
        if not pa.types.is_integer(found["age"].type):
            raise pa.ArrowInvalid
    except (pa.ArrowInvalid, OSError):
        raise PolicyError(
            f"{folder / TRAINING} cannot be read as UCI Adult: {len(COLUMNS)} columns between commas, an age first"
        ) from None
    return pa.table({name: _trimmed(found[name]) for name in columns})


def taxonomies(folder: Path, hierarchies: Sequence[str]) -> Mapping[str, Taxonomy]:
    """The hierarchies of some columns.

    Raises:
        TaxonomyError: one is malformed.
    """
    return {name: Taxonomy.from_csv(_hierarchy(folder, name)) for name in hierarchies}


def _hierarchy(folder: Path, name: str) -> Path:
    return folder / "hierarchies" / f"{name}.csv"


def _trimmed(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(values) if pa.types.is_string(values.type) else values
