"""Errors: one root, all problems in the message, and no data outside ``original``."""

import duckdb
import pytest

import sqlanon as sa
from sqlanon.cli.output import EXIT_CODES
from sqlanon.engines.duckdb.refusals import refused

KINDS = [sa.PolicyError, sa.TaxonomyError, sa.UnsatisfiableError, sa.BudgetError, sa.VerificationError]


@pytest.mark.parametrize("kind", KINDS)
def test_problems_are_listed(kind: type[sa.PolicyError]) -> None:
    error = kind("it is wrong:", ["one", "two"])
    assert str(error) == "it is wrong:\n  - one\n  - two"
    assert error.problems == ("one", "two")
    assert str(kind("it is wrong")) == "it is wrong"
    assert issubclass(kind, sa.SqlanonError)


def test_each_has_an_exit_code_of_its_own_meaning() -> None:
    assert set(EXIT_CODES) == {*KINDS, sa.EngineError, sa.TargetError}
    assert EXIT_CODES[sa.BudgetError] == 4


def test_a_missing_extension_says_how_to_install_it() -> None:
    said = (
        "An error occurred while trying to automatically install the required extension 'excel:\n"
        'Failed to download extension "excel" at URL "http://extensions.duckdb.org/x"'
    )
    with pytest.raises(sa.EngineError, match=r"run INSTALL excel in DuckDB once.* or save the data as CSV"):
        raise refused(duckdb.Error(said), "the columns of the source", None)


def test_what_the_database_said_is_kept_apart() -> None:
    error = sa.EngineError("it stopped", step="cells", sql="SELECT 1", original=ValueError("alice-1970"))
    assert str(error) == "it stopped"
    assert "alice" not in repr(error) + repr(error.args)
    assert (error.step, error.sql) == ("cells", "SELECT 1")
