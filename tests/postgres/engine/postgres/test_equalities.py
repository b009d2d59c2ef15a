"""A type that an operator class of the user's compares is no key: Spark would compare its text."""

from __future__ import annotations

from typing import Any

from pgstream.algebra.types import Equality
from pgstream.engine.postgres.equalities import equality_of

# Words that differ in their capitals only are equal.
TYPES = """
CREATE TYPE plain AS (v text, n int);
CREATE TYPE word AS (v text);
CREATE TYPE held AS (w word, n int);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN some_word AS word;
CREATE FUNCTION word_cmp(word, word) RETURNS int LANGUAGE sql IMMUTABLE AS
    'SELECT btcmp FROM (SELECT bttextcmp(lower($1.v), lower($2.v)) AS btcmp) s';
CREATE FUNCTION word_lt(word, word) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT lower($1.v) < lower($2.v)';
CREATE FUNCTION word_le(word, word) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT lower($1.v) <= lower($2.v)';
CREATE FUNCTION word_eq(word, word) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT lower($1.v) = lower($2.v)';
CREATE OPERATOR < (LEFTARG = word, RIGHTARG = word, FUNCTION = word_lt, COMMUTATOR = >);
CREATE OPERATOR <= (LEFTARG = word, RIGHTARG = word, FUNCTION = word_le, COMMUTATOR = >=);
CREATE OPERATOR = (LEFTARG = word, RIGHTARG = word, FUNCTION = word_eq, MERGES);
CREATE FUNCTION word_ge(word, word) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT lower($1.v) >= lower($2.v)';
CREATE FUNCTION word_gt(word, word) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT lower($1.v) > lower($2.v)';
CREATE OPERATOR >= (LEFTARG = word, RIGHTARG = word, FUNCTION = word_ge);
CREATE OPERATOR > (LEFTARG = word, RIGHTARG = word, FUNCTION = word_gt);
CREATE OPERATOR CLASS word_ops DEFAULT FOR TYPE word USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 word_cmp(word, word);
CREATE TYPE words AS RANGE (subtype = word);
"""
EQUALITIES = {
    "plain": Equality.TEXT,
    "plain[]": Equality.TEXT,
    "mood": None,
    "int4range": Equality.TEXT,
    "int4range[]": Equality.TEXT,
    "word": Equality.UNKNOWN,
    "word[]": Equality.UNKNOWN,
    "held": Equality.UNKNOWN,
    "some_word": Equality.UNKNOWN,
    "words": Equality.UNKNOWN,
    "words[]": Equality.UNKNOWN,
}


def test_an_own_operator_class_makes_equality_unknown(database: Any) -> None:
    connection = database.connect()
    connection.execute(TYPES)
    for name, wanted in EQUALITIES.items():
        (oid,) = connection.execute("SELECT %s::regtype::oid", (name,)).fetchone() or (0,)
        assert equality_of(connection, oid, -1) is wanted, name
