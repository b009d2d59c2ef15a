"""Expressions: a function per type of PostgreSQL's nodes, in EXPRESSIONS.

An operation is written in parentheses wherever it stands, as PostgreSQL prints it: so no rewrite
that puts it elsewhere changes what binds to what.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import Tree, enum_name, expression_text, kind_of, unwrapped
from pgstream.sql.nodes import Operation, Prefix, Unread, Worded
from pgstream.sql.read.calls import function, json_aggregate
from pgstream.sql.read.names import identifier, placed, strings
from pgstream.sql.read.types import data_type
from pgstream.sql.read.worded import worded

BINARY: dict[str, type[exp.Binary]] = {
    "+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div, "%": exp.Mod, "||": exp.DPipe,
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
DISTINCT: dict[str, type[exp.Binary]] = {
    "AEXPR_DISTINCT": exp.NullSafeNEQ,
    "AEXPR_NOT_DISTINCT": exp.NullSafeEQ,
}
QUANTIFIED: dict[str, type[exp.Expr]] = {
    "AEXPR_OP_ANY": exp.Any, "AEXPR_OP_ALL": exp.All,
    "ANY_SUBLINK": exp.Any, "ALL_SUBLINK": exp.All,
}  # fmt: skip
EXTREMES: dict[str, type[exp.Expr]] = {"IS_GREATEST": exp.Greatest, "IS_LEAST": exp.Least}


def read(node: Tree) -> exp.Expr:
    """The expression."""
    kind = kind_of(node)
    reader = EXPRESSIONS.get(kind or "")
    if reader is None:
        name = (kind or "nothing").replace("_", " ")
        raise UnsupportedConstruct(
            f"An expression of the kind {name} is not supported in a stream table's query.",
            construct=name,
        )
    return placed(reader(node), getattr(unwrapped(node), "location", 0))


def all_of(nodes: Tree) -> list[exp.Expr]:
    return [read(node) for node in nodes]


# --- names and constants --------------------------------------------------------------------------


def column(node: Tree) -> exp.Expr:
    fields = list(node.column_ref.fields)
    last = fields[-1]
    is_star = kind_of(last) == "a_star"
    if is_star and len(fields) == 1:
        return exp.Star()
    names = [identifier(name) for name in strings(fields[:-1] if is_star else fields)]
    this = exp.Star() if is_star else names.pop()
    made = exp.Column(this=this)
    for part, name in zip(("table", "db", "catalog"), reversed(names), strict=False):
        made.set(part, name)
    return made


def constant(node: Tree) -> exp.Expr:
    value = node.a_const
    if value.isnull:
        return exp.null()
    match value.WhichOneof("val"):
        case "boolval":
            return exp.Boolean(this=value.boolval.boolval)
        case "sval":
            return exp.Literal.string(value.sval.sval)
        case "bsval":
            return worded("bit string", node, read)
        case "fval":
            return number(value.fval.fval)
        case _:
            return number(str(value.ival.ival))


def number(text: str) -> exp.Expr:
    """The grammar takes the sign into a constant."""
    if text.startswith("-"):
        return exp.Neg(this=exp.Literal.number(text[1:]))
    return exp.Literal.number(text)


def parameter(node: Tree) -> exp.Expr:
    return exp.Parameter(this=exp.Literal.number(node.param_ref.number))


# --- operations -----------------------------------------------------------------------------------


def operation(node: Tree) -> exp.Expr:
    tree = node.a_expr
    kind = enum_name(tree, "kind")
    if kind == "AEXPR_NULLIF":
        return exp.Nullif(this=read(tree.lexpr), expression=read(tree.rexpr))
    if kind in DISTINCT:
        return exp.Paren(this=DISTINCT[kind](this=read(tree.lexpr), expression=read(tree.rexpr)))
    if kind in QUANTIFIED:
        right = QUANTIFIED[kind](this=read(tree.rexpr))
        return exp.Paren(this=binary(strings(tree.name), read(tree.lexpr), right))
    if kind != "AEXPR_OP":  # LIKE, BETWEEN, IN a list: PostgreSQL prints what they mean
        return exp.Paren(this=worded(kind.removeprefix("AEXPR_").lower(), node, read))
    if not tree.HasField("lexpr"):
        return exp.Paren(this=unary(strings(tree.name), read(tree.rexpr)))
    return exp.Paren(this=binary(strings(tree.name), read(tree.lexpr), read(tree.rexpr)))


def unary(names: list[str], value: exp.Expr) -> exp.Expr:
    if names == ["-"]:
        return exp.Neg(this=value)
    return Prefix(this=value, operator=sign(names))


def binary(names: list[str], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    kind = BINARY.get(names[0]) if len(names) == 1 else None
    if kind is None:
        return Operation(this=left, operator=sign(names), expression=right)
    if kind is exp.Div:  # as PostgreSQL divides; sqlglot's default is another
        return exp.Div(this=left, expression=right, typed=True, safe=False)
    return kind(this=left, expression=right)


def sign(names: list[str]) -> str:
    """An operator as it is written: a user's has its schema."""
    if len(names) == 1:
        return names[0]
    schema = ".".join(identifier(name).sql(dialect="postgres") for name in names[:-1])
    return f"OPERATOR({schema}.{names[-1]})"


def logic(node: Tree) -> exp.Expr:
    tree = node.bool_expr
    values = all_of(tree.args)
    kind = enum_name(tree, "boolop")
    if kind == "NOT_EXPR":
        return exp.Paren(this=exp.Not(this=values[0]))
    connector = exp.And if kind == "AND_EXPR" else exp.Or
    return exp.Paren(this=reduce(lambda a, b: connector(this=a, expression=b), values))


def null_test(node: Tree) -> exp.Expr:
    tree = node.null_test
    made = exp.Is(this=read(tree.arg), expression=exp.null())
    if enum_name(tree, "nulltesttype") == "IS_NOT_NULL":
        made.set("negate", True)
    return exp.Paren(this=made)


def boolean_test(node: Tree) -> exp.Expr:
    tree = node.boolean_test
    words = enum_name(tree, "booltesttype").split("_")
    is_unknown = words[-1] == "UNKNOWN"
    value = exp.Var(this="UNKNOWN") if is_unknown else exp.Boolean(this=words[-1] == "TRUE")
    made = exp.Is(this=read(tree.arg), expression=value)
    if "NOT" in words:
        made.set("negate", True)
    return exp.Paren(this=made)


# --- other expressions ----------------------------------------------------------------------------


def cast(node: Tree) -> exp.Expr:
    return exp.Cast(this=read(node.type_cast.arg), to=data_type(node.type_cast.type_name))


def collate(node: Tree) -> exp.Expr:
    tree = node.collate_clause
    names = [identifier(name) for name in strings(tree.collname)]
    name = names[0] if len(names) == 1 else exp.Dot.build(names)
    return exp.Paren(this=exp.Collate(this=read(tree.arg), expression=name))


def case(node: Tree) -> exp.Expr:
    tree = node.case_expr
    whens = [unwrapped(when) for when in tree.args]
    made = exp.Case(ifs=[exp.If(this=read(w.expr), true=read(w.result)) for w in whens])
    if tree.HasField("arg"):
        made.set("this", read(tree.arg))
    if tree.HasField("defresult"):
        made.set("default", read(tree.defresult))
    return made


def coalesce(node: Tree) -> exp.Expr:
    first, *rest = all_of(node.coalesce_expr.args)
    return exp.Coalesce(this=first, expressions=rest)


def extreme(node: Tree) -> exp.Expr:
    tree = node.min_max_expr
    first, *rest = all_of(tree.args)
    return EXTREMES[enum_name(tree, "op")](this=first, expressions=rest, ignore_nulls=True)


def row(node: Tree) -> exp.Expr:
    tree = node.row_expr
    values = all_of(tree.args)
    if enum_name(tree, "row_format") == "COERCE_EXPLICIT_CALL":
        return exp.Anonymous(this="ROW", expressions=values)
    return exp.Tuple(expressions=values)


def array(node: Tree) -> exp.Expr:
    return exp.Array(expressions=all_of(node.a_array_expr.elements))


def indirection(node: Tree) -> exp.Expr:
    """(r).a is a field; a subscript is left to PostgreSQL's words."""
    tree = node.a_indirection
    (*_, last) = tree.indirection
    if len(tree.indirection) == 1 and kind_of(last) in ("string", "a_star"):
        field = exp.Star() if kind_of(last) == "a_star" else identifier(last.string.sval)
        inner = read(tree.arg)
        inner = inner if isinstance(inner, exp.Paren) else exp.Paren(this=inner)
        return exp.Dot(this=inner, expression=field)
    if kind_of(tree.arg) not in ("column_ref", "a_indirection"):
        return exp.Paren(this=worded("subscript", node, wrapped))
    return worded("subscript", node, read)


def wrapped(node: Tree) -> exp.Expr:
    made = read(node)
    return made if isinstance(made, exp.Paren | exp.Column) else exp.Paren(this=made)


def grouping(node: Tree) -> exp.Expr:
    return exp.Anonymous(this="GROUPING", expressions=all_of(node.grouping_func.args))


def named_argument(node: Tree) -> exp.Expr:
    tree = node.named_arg_expr
    return exp.Kwarg(this=exp.Var(this=tree.name), expression=read(tree.arg))


# --- subqueries -----------------------------------------------------------------------------------


def subquery(node: Tree) -> exp.Expr:
    tree = node.sub_link
    rows = Unread(tree=unwrapped(tree.subselect))
    match kind := enum_name(tree, "sub_link_type"):
        case "EXISTS_SUBLINK":
            return exp.Paren(this=exp.Exists(this=rows))
        case "EXPR_SUBLINK":
            return exp.Subquery(this=rows)
        case "ARRAY_SUBLINK":
            return exp.Anonymous(this="ARRAY", expressions=[rows])
    value = read(tree.testexpr)
    if not tree.oper_name:
        return exp.Paren(this=exp.In(this=value, query=exp.Subquery(this=rows)))
    right = QUANTIFIED[kind](this=exp.Subquery(this=rows))
    return exp.Paren(this=binary(strings(tree.oper_name), value, right))


def _worded(name: str, is_operation: bool = False) -> Callable[[Tree], exp.Expr]:
    def made(node: Tree) -> exp.Expr:
        found = worded(name, node, read)
        return exp.Paren(this=found) if is_operation else found

    return made


def sql_value(node: Tree) -> exp.Expr:
    """CURRENT_DATE and similar."""
    name = enum_name(node.sqlvalue_function, "op").removeprefix("SVFOP_").removesuffix("_N")
    return worded(name.lower(), node, read)


def xml(node: Tree) -> exp.Expr:
    name = enum_name(node.xml_expr, "op").removeprefix("IS_").lower()
    made = worded(name, node, read)
    return exp.Paren(this=made) if name == "document" else made


def json_array_of_query(node: Tree) -> exp.Expr:
    """JSON_ARRAY(SELECT …), only in a user's text: PostgreSQL prints a subquery that aggregates."""
    return Worded(this="json_array", words=expression_text(node))


def json_query(node: Tree) -> exp.Expr:
    name = enum_name(node.json_func_expr, "op").removeprefix("JSON_").removesuffix("_OP")
    return worded(f"json_{name.lower()}", node, read)


EXPRESSIONS: dict[str, Callable[[Tree], exp.Expr]] = {
    "a_array_expr": array,
    "a_const": constant,
    "a_expr": operation,
    "a_indirection": indirection,
    "bool_expr": logic,
    "boolean_test": boolean_test,
    "case_expr": case,
    "coalesce_expr": coalesce,
    "collate_clause": collate,
    "column_ref": column,
    "func_call": lambda node: function(node, read),
    "grouping_func": grouping,
    "json_array_agg": lambda node: json_aggregate(node, "json_array_agg", read),
    "json_array_constructor": _worded("json_array"),
    "json_array_query_constructor": json_array_of_query,
    "json_func_expr": json_query,
    "json_is_predicate": _worded("is json", is_operation=True),
    "json_object_agg": lambda node: json_aggregate(node, "json_object_agg", read),
    "json_object_constructor": _worded("json_object"),
    "json_parse_expr": _worded("json"),
    "json_scalar_expr": _worded("json_scalar"),
    "json_serialize_expr": _worded("json_serialize"),
    "min_max_expr": extreme,
    "named_arg_expr": named_argument,
    "null_test": null_test,
    "param_ref": parameter,
    "row_expr": row,
    "sqlvalue_function": sql_value,
    "sub_link": subquery,
    "type_cast": cast,
    "xml_expr": xml,
    "xml_serialize": _worded("xmlserialize"),
}
