"""Types: those that lowering knows by their nodes, every other one by its text."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp
from sqlglot.expressions import DType

from pgstream.sql.grammar import Tree, statements, type_text, unwrapped
from pgstream.sql.read.names import strings

SYSTEM = "pg_catalog"
KNOWN: dict[tuple[str, ...], DType] = {
    ("text",): DType.TEXT,
    (SYSTEM, "bool"): DType.BOOLEAN,
    (SYSTEM, "int2"): DType.SMALLINT,
    (SYSTEM, "int4"): DType.INT,
    (SYSTEM, "int8"): DType.BIGINT,
    (SYSTEM, "varchar"): DType.VARCHAR,
}


def data_type(type_name: Tree) -> exp.DataType:
    known = KNOWN.get(tuple(strings(type_name.names)))
    made = exp.DataType(this=DType.USERDEFINED, kind=_element_text(type_name))
    if known is not None and (known is DType.VARCHAR or not type_name.typmods):
        made = exp.DataType(this=known, expressions=list(map(_parameter, type_name.typmods)))
    for _ in type_name.array_bounds:
        made = exp.DataType(this=DType.ARRAY, expressions=[made], nested=True)
    return made


def _parameter(node: Tree) -> exp.DataTypeParam:
    return exp.DataTypeParam(this=exp.Literal.number(unwrapped(node).ival.ival))


def _element_text(type_name: Tree) -> str:
    element = type(type_name)()
    element.CopyFrom(type_name)
    element.ClearField("array_bounds")
    return type_text(element)


@lru_cache(maxsize=1024)
def named_type(text: str) -> exp.DataType:
    """The type that PostgreSQL writes so."""
    (statement,) = statements(f"SELECT CAST(NULL AS {text})")
    (target,) = statement.tree.target_list
    return data_type(unwrapped(unwrapped(target).val).type_name)
