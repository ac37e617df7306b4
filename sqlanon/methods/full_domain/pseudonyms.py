"""The published rows of a policy with pseudonyms: each of its own, and refused if pseudonyms link some."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.publishing import Publication, group_rows
from sqlanon.model.pseudonym_key import BLOCK_BYTES, PseudonymKey
from sqlanon.queries.classes.recoding import Recoding
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.verification.labels import pseudonym_problems

NO_KEY = (bytes(BLOCK_BYTES), bytes(BLOCK_BYTES))
"""The blocks of a dry run, which has no row to hash."""


def make_rows(
    engine: Compute, table: EncodedTable, recoding: Recoding, key: PseudonymKey | None, *, masked: bool
) -> Publication:
    """Make the table of the rows that a recoding publishes, see :func:`.publishing.group_rows`.

    Raises:
        PolicyError: a value of a column of pseudonyms is in more than one of these rows.
    """
    columns = table.bound.policy.pseudonyms
    blocks = () if not columns else NO_KEY if key is None else key.blocks
    publication = group_rows(engine, table, recoding, masked=masked, parameters=blocks)
    if problems := list(pseudonym_problems(engine, EQUAL_ROWS.table, columns)):
        raise PolicyError(
            "the release would have several rows with the same pseudonym, so that what is known of each can be put "
            "together; make one row of them with `sqlanon flatten` (Session.flatten), or name the column among the "
            "identifiers:",
            problems,
        )
    return publication
