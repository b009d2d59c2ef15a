"""PostgreSQL's types, as the operator tree knows them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

INTEGERS = ("smallint", "integer", "bigint")
FLOATS = ("real", "double precision")
TEXTS = ("text", "character varying")
NO_EQUALITY = ("json", "xml", "jsonpath", "point", "polygon", "box", "path", "line", "circle",
               "lseg")  # fmt: skip
TIMES = ("date", "timestamp without time zone", "timestamp with time zone")
FAITHFUL = (
    "uuid", "bytea", "character", "time without time zone", "time with time zone", "inet", "cidr",
    "macaddr", "macaddr8", "oid", "xid", "xid8", "cid", "tid", "name", '"char"', "bit",
    "bit varying", "money", "pg_lsn", "tsvector", "int2vector", "oidvector",
)  # fmt: skip
# `character` and `bit` without a length mean a single one.
ANY_LENGTH = {"character": "bpchar", "bit": '"bit"', "character[]": "bpchar[]", "bit[]": '"bit"[]'}
SEVERAL_SPELLINGS = ("interval", "jsonb")


class Equality(IntEnum):
    """How values of a type are told apart, from the easiest to the hardest."""

    TEXT = 0
    """Values are equal exactly where their texts are, or where Spark says so."""
    CANONICAL = 1
    """The same, because `pgstream._canonical` has given them their spelling."""
    SPELLINGS = 2
    """Equal values may have several texts."""
    UNKNOWN = 3
    """PostgreSQL compares them, in a way that is not known here."""
    NONE = 4
    """PostgreSQL does not compare them."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type that PostgreSQL gave a column or an expression.

    `name` is the base type without modifier, `declared` what a user would write
    (`numeric(10,2)`, a domain's name, an enum's name). `collation` is empty where
    text orders byte by byte; otherwise it names the collation. `equality` is set where the
    name alone does not tell it: for containers, and for values that are canonical already.
    """

    name: str
    declared: str
    category: str = "U"
    collation: str = ""
    equality: Equality | None = None
    collate: str = ""
    """The collation as COLLATE takes it, where it is not the database's own."""
    as_text: bool = False
    """Of a numeric: Spark does not compute on it. It travels as PostgreSQL writes it."""

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    @property
    def is_numeric(self) -> bool:
        """Whether it is a numeric that Spark computes on."""
        return self.name == "numeric" and not self.as_text

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_float or self.is_numeric

    @property
    def is_text(self) -> bool:
        return self.name in TEXTS

    @property
    def is_time(self) -> bool:
        return self.name in TIMES

    @property
    def is_boolean(self) -> bool:
        return self.name == "boolean"

    @property
    def has_equality(self) -> bool:
        """Whether PostgreSQL compares the type; where not, its text is compared."""
        return self.compares is not Equality.NONE

    @property
    def without_modifier(self) -> str:
        """The base type as SQL, for values of any length."""
        return ANY_LENGTH.get(self.name, self.name)

    @property
    def compares(self) -> Equality:
        if self.equality is not None:
            return self.equality
        if self.as_text:  # 1.5 is 1.50
            return Equality.TEXT if self.digits else Equality.SPELLINGS
        native = self.is_number or self.is_text or self.is_time or self.is_boolean
        if native or self.category == "E" or self.name in FAITHFUL:
            return Equality.TEXT
        if self.name in SEVERAL_SPELLINGS:
            return Equality.SPELLINGS
        return Equality.NONE if self.name in NO_EQUALITY else Equality.UNKNOWN

    @property
    def digits(self) -> tuple[int, int] | None:
        """Precision and scale of a constrained numeric, else None."""
        if self.name != "numeric" or "(" not in self.declared:
            return None
        precision, _, scale = self.declared[self.declared.index("(") + 1 : -1].partition(",")
        return int(precision), int(scale or 0)

    def __str__(self) -> str:
        return self.declared


def named(name: str, category: str = "U") -> Type:
    """A type without modifier, known by its name."""
    return Type(name, name, category)


BOOLEAN = named("boolean", "B")
INTEGER = named("integer", "N")
BIGINT = named("bigint", "N")
NUMERIC = named("numeric", "N")
DOUBLE = named("double precision", "N")
TEXT = named("text", "S")
TIMESTAMP = named("timestamp without time zone", "D")
TIMESTAMPTZ = named("timestamp with time zone", "D")
