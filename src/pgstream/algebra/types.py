"""PostgreSQL's types, as the operator tree knows them."""

from __future__ import annotations

from dataclasses import dataclass

INTEGERS = ("smallint", "integer", "bigint")
FLOATS = ("real", "double precision")
TEXTS = ("text", "character varying")
NO_EQUALITY = ("json", "xml", "jsonpath", "point", "polygon", "box", "path", "line", "circle",
               "lseg")  # fmt: skip
TIMES = ("date", "timestamp without time zone", "timestamp with time zone")


@dataclass(frozen=True, slots=True)
class Type:
    """A type that PostgreSQL gave a column or an expression.

    `name` is the base type without modifier, `declared` what a user would write
    (`numeric(10,2)`, a domain's name, an enum's name). `collation` is empty where
    text orders byte by byte; otherwise it names the collation.
    """

    name: str
    declared: str
    category: str = "U"
    collation: str = ""

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    @property
    def is_numeric(self) -> bool:
        return self.name == "numeric"

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
        return self.name not in NO_EQUALITY

    @property
    def digits(self) -> tuple[int, int] | None:
        """Precision and scale of a constrained numeric, else None."""
        if not self.is_numeric or "(" not in self.declared:
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
