"""Pseudonyms against Python's own HMAC, for any text and any key, as SQL users and as the engine make them."""

import hmac

import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.model.pseudonym_key import PseudonymKey
from sqlanon.queries.kit.nodes import DIALECT, column
from sqlanon.queries.published_rows import pseudonym
from tests.sql.test_oracle import EXAMPLES, connection

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
KEYS = st.binary(min_size=32, max_size=200).filter(lambda key: len({*key}) > 7 and not key.endswith((b"\r", b"\n")))


def answer(sql: str, *parameters: object) -> object:
    [(found,)] = connection().execute(sql, list(parameters)).fetchall()
    return found


@EXAMPLES
@given(TEXTS, KEYS)
def test_pseudonyms_of_texts(value: str, key: bytes) -> None:
    expected = hmac.new(key, value.encode(), "sha256").hexdigest()
    assert answer("SELECT anon.pseudonym($2, CAST($1 AS BLOB))", key, value) == expected
    query = sqlglot.parse_one("FROM (SELECT $3 AS patient)", read=DIALECT)
    query.set("expressions", [pseudonym(column("patient"))])
    assert answer(query.sql(DIALECT), *PseudonymKey(key).blocks, value) == expected


@EXAMPLES
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes(message: bytes, key: bytes) -> None:
    expected = hmac.new(key, message, "sha256").hexdigest()
    assert answer("SELECT anon_helpers.hmac_sha256(CAST($1 AS BLOB), CAST($2 AS BLOB))", key, message) == expected


@EXAMPLES
@given(KEYS)
def test_blocks_of_the_engine_are_those_of_the_macro(key: bytes) -> None:
    for pad, block in zip((b"\x36", b"\x5c"), PseudonymKey(key).blocks, strict=True):
        assert answer("SELECT anon_helpers.hmac_block(CAST($1 AS BLOB), CAST($2 AS BLOB))", key, pad) == block
