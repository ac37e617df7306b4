"""Tables of lakes: files of Parquet, and a log that lists those of each version."""

from __future__ import annotations

from sqlanon.engines.lakes.base import LakeTable
from sqlanon.engines.lakes.delta import DeltaLakeTable
from sqlanon.engines.lakes.iceberg import IcebergLakeTable
from sqlanon.model.destination import DELTA, ICEBERG


def lake_table(name: str) -> LakeTable:
    """The table of a name, which need not be there.

    Raises:
        EngineError: the package that reads it is not installed, or no table can have the name.
    """
    if name.startswith(ICEBERG):
        return IcebergLakeTable(name.removeprefix(ICEBERG))
    return DeltaLakeTable(name.removeprefix(DELTA))
