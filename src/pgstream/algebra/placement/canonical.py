"""canonical: keys of types whose equal values may be written in several ways.

    interval '30 days' = interval '1 mon'      jsonb '1.0' = jsonb '1'

Spark compares texts. So a key of such a type is the *canonical* value of its equality class,
which PostgreSQL computes: `pgstream._canonical(x)`. It has the same type, with an equality by
text. A scan computes it where it can; else PostgreSQL does over rows that Spark hands to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from pgstream.algebra.expressions import (
    Call,
    Expression,
    Native,
    Ref,
    arguments,
    walk,
)
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field
from pgstream.algebra.operators.union_all import in_each_term
from pgstream.algebra.placement.spark_list import same_spelling
from pgstream.algebra.types import Equality, Type
from pgstream.errors import UnsupportedExpression, UnsupportedType
from pgstream.sql.deparsed import write

SCHEMA, NAME, LABEL = "pgstream", "_canonical", "canonical"
COMPARISONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
NO_VALUES = (exp.Tuple, exp.Any, exp.All)

# What is the same for equal values, whatever their spelling.
BLIND = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "in", "is distinct from", "is not distinct from",
     "is null", "is not null")
)  # fmt: skip
# Of a numeric these have an equal value, whatever its trailing zeros. A quotient has not.
ARITHMETIC = frozenset(
    ("+", "-", "*", "%", "negate", "abs", "case", "coalesce", "nullif", "greatest", "least",
     "round", "trunc", "ceil", "ceiling", "floor", "sign", "mod")
)  # fmt: skip


# --- types --------------------------------------------------------------------------------------


def has_spellings(type_: Type) -> bool:
    """Whether a key of the type must be made canonical."""
    return type_.compares is Equality.SPELLINGS


def is_canonical(type_: Type) -> bool:
    return type_.compares is Equality.CANONICAL


def canonical_type(type_: Type) -> Type:
    """Without a modifier: what is stored of a numeric(5,2)[] would be written with zeros."""
    return replace(type_, declared=type_.without_modifier, equality=Equality.CANONICAL)


def common_spelling(types: Sequence[Type]) -> Type:
    """The type of values that come from columns of these types."""
    first = types[0]
    if any(has_spellings(t) for t in types) or not same_spelling(types):
        alike = len({t.declared for t in types}) == 1
        declared = first.declared if alike else first.without_modifier
        return replace(first, declared=declared, equality=Equality.SPELLINGS)
    return first


def require_key(type_: Type, sentence: str) -> None:
    """Raises, with the sentence, if Spark cannot tell values of the type apart."""
    if type_.compares <= Equality.SPELLINGS:
        return
    hint = "Leave the column out, or use an expression of another type, such as a cast to text."
    if type_.is_text:
        detail = "Its collation is not deterministic: equal texts may have different bytes."
        hint = 'Use a deterministic collation, such as x COLLATE "C".'
    elif type_.compares is Equality.NONE:
        detail = "PostgreSQL has no equality for the type."
    else:
        detail = "It is not known which values of the type PostgreSQL takes for equal."
    raise UnsupportedType(sentence, detail=detail, hint=hint)


# --- expressions --------------------------------------------------------------------------------


def canonical_node(node: exp.Expr) -> exp.Expr:
    """pgstream._canonical(node)."""
    call = exp.Anonymous(this=NAME, expressions=[node.copy()])
    return exp.Dot(this=exp.to_identifier(SCHEMA), expression=call)


def canonical_argument(node: exp.Expr) -> exp.Expr | None:
    """The node whose canonical value the node is, if it is one."""
    if not (isinstance(node, exp.Dot) and node.this.name == SCHEMA):
        return None
    call = node.expression
    is_call = isinstance(call, exp.Anonymous) and call.name == NAME
    return call.expressions[0] if is_call else None


def is_canonical_column(node: exp.Expr) -> bool:
    """It is NULL where the column is, so that an outer join may pad it like the column."""
    return isinstance(canonical_argument(node), exp.Column)


def canonical_text(column: str) -> str:
    """The canonical value of a column, as a scan computes it."""
    return write(canonical_node(exp.column(exp.to_identifier(column, quoted=True))))


def canonical_value(value: Expression) -> Native:
    return Native((f"{SCHEMA}.{NAME}(", ")"), (value,), canonical_type(value.type), LABEL)


def as_key(node: exp.Expr, value: Expression) -> exp.Expr:
    """The node to compute in place of this one, so that Spark can tell its values apart."""
    return canonical_node(node) if has_spellings(value.type) else node


def own_spelling(column: str, type_: Type) -> str:
    """What PostgreSQL groups the rows of a domain by: each row keeps its own spelling."""
    return column if type_.compares <= Equality.CANONICAL else f"{column}::text"


def shown_spelling(column: str, type_: Type) -> str:
    """The same, as a value of the type."""
    own = own_spelling(column, type_)
    return column if own == column else f"({own})::{type_.declared}"


def comparisons(node: exp.Expr, type_of: Callable[[exp.Expr], Type]) -> exp.Expr:
    """The condition with canonical values on both sides of comparisons that need them."""

    def change(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, COMPARISONS):
            return part
        sides = [part.this.unnest(), part.args["expression"].unnest()]
        if any(isinstance(side, NO_VALUES) for side in sides):
            return part
        types = [type_of(side) for side in sides]
        if types[0].name != types[1].name or not has_spellings(common_spelling(types)):
            return part
        both = [canonical_node(side) for side in sides]
        return type(part)(this=both[0], expression=both[1])

    return node if node.find(exp.Query) else node.transform(change)


# --- trees --------------------------------------------------------------------------------------


def with_canonical_columns(tree: Node, exact: int = 0) -> Node:
    """The tree with its columns made canonical where they have spellings; the last `exact` ones
    stay as they are."""
    return in_each_term(tree, lambda term: _with_canonical_columns(term, exact))


def _with_canonical_columns(tree: Node, exact: int) -> Node:
    columns = tree.columns
    changed = [i for i in range(len(columns) - exact) if has_spellings(columns[i].type)]
    if not changed:
        return tree
    values: list[Expression] = [Ref(i, column.type) for i, column in enumerate(columns)]
    for i in changed:
        found = tree.with_computed(i, canonical_field)
        if found is None:
            values[i] = canonical_value(values[i])
        else:
            tree, index = found
            values[i] = Ref(index, canonical_type(columns[i].type))
    return Project(tree, tuple(values), tuple(column.name for column in columns))


def with_any_spelling(tree: Project) -> Project:
    """The same rows, of which other spellings may be added."""
    values = [
        replace(e, type=replace(e.type, equality=Equality.SPELLINGS)) if is_canonical(e.type) else e
        for e in tree.expressions
    ]
    return replace(tree, expressions=tuple(values))


def canonical_field(field: Field) -> Field:
    column = field.name if field.sql is None else None
    text = canonical_text(field.name) if column else f"{SCHEMA}.{NAME}({field.sql})"
    return Field(f"({text})", canonical_type(field.type), text, column)


def require_blind(tree: Node) -> None:
    """Of a canonical value only that may be asked which is the same for all equal values."""
    for node in tree.walk():
        for expression in node.held_expressions:
            for part in filter(tells_spelling, walk(expression)):
                label = part.label if isinstance(part, Native) else getattr(part, "function", "")
                for argument in arguments(part):
                    require_own_spelling(argument.type, label)


def require_own_spelling(type_: Type, reader: str) -> None:
    """Raises if values of the type are canonical, and the reader may tell equal ones apart."""
    if is_canonical(type_):
        raise UnsupportedExpression(
            f"The expression {reader} reads a grouped or distinct {type_.name}, of which equal "
            "values may be written differently.",
            construct=reader,
            detail="Which of them PostgreSQL shows for a group is open, and the expression may "
            "differ for them.",
            hint="Compute it before: put the expression itself into GROUP BY, or into the SELECT "
            "DISTINCT or the term of the set operation.",
        )


def tells_spelling(part: Expression) -> bool:
    """Whether the part may differ for equal values of its arguments."""
    name = part.function if isinstance(part, Call) else getattr(part, "label", "")
    if name in BLIND or name == LABEL:
        return False
    hidden = [argument.type for argument in arguments(part) if is_canonical(argument.type)]
    if name == "cast" and not part.type.is_text:
        hidden = [type_ for type_ in hidden if type_.name != "numeric"]
    return any(type_.name != "numeric" or name not in ARITHMETIC for type_ in hidden)
