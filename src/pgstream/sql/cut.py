"""LIMIT in a subquery, written as a condition on row numbers."""

from __future__ import annotations

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.limits import counted, cuts, is_with_ties
from pgstream.sql.walk import bare, is_aggregate, parts

NUMBER, RANK = "__pgs_number", "__pgs_rank"
FUNCTIONS = {NUMBER: "row_number", RANK: "rank"}
TABLE = "__pgs_cut"


def is_cut(query: exp.Expr) -> bool:
    """Whether LIMIT, OFFSET or FETCH leaves rows of the query out."""
    return cuts(query.args.get("limit")) or cuts(query.args.get("offset"))


def numbered(query: exp.Expr) -> exp.Select:
    """SELECT a FROM … ORDER BY b LIMIT n OFFSET m as
    SELECT a FROM (SELECT a, row_number() OVER (ORDER BY b) AS number FROM …) q
    WHERE number > m AND number <= m + n.

    FETCH FIRST n ROWS WITH TIES compares rank() with m + n."""
    query = query.copy()
    query.set("with_", None)  # its names are known where the result is lowered
    order = query.args.get("order")
    if order is None:
        raise UnsupportedConstruct(
            "LIMIT or OFFSET without ORDER BY is not supported: which rows stay would be "
            "arbitrary.",
            construct="LIMIT",
            hint="Add ORDER BY.",
        )
    limit, offset = (
        clause if cuts(clause := query.args.get(part)) else None for part in ("limit", "offset")
    )
    for part in ("order", "limit", "offset"):
        query.set(part, None)
    if not isinstance(query, exp.Select) or query.args.get("distinct") or is_grouped(query):
        query = _wrapped(query, order)
    names = [item.alias_or_name for item in query.expressions]
    conditions = _conditions(limit, offset)
    for name, function in FUNCTIONS.items():
        if any(name == column.name for one in conditions for column in one.find_all(exp.Column)):
            window = exp.Window(this=exp.Anonymous(this=function), order=order.copy(), over="OVER")
            query.append("expressions", exp.alias_(window, name))
    alias = exp.TableAlias(this=exp.to_identifier(TABLE))
    outer = exp.select(*(exp.column(exp.to_identifier(n, quoted=True), table=TABLE) for n in names))
    outer = outer.from_(exp.Subquery(this=query, alias=alias))
    return outer.where(*conditions, dialect="postgres", copy=False)


def _conditions(limit: exp.Expr | None, offset: exp.Expr | None) -> list[exp.Expr]:
    """Rows that tie with the last one have its rank. Of no rows there is no last one."""
    skipped = counted(offset).copy() if offset is not None else exp.Literal.number(0)
    after = exp.GT(this=exp.column(NUMBER, table=TABLE), expression=skipped)
    if limit is None:
        return [after]
    count, ties = counted(limit).copy(), is_with_ties(limit)
    last = exp.Add(this=exp.Paren(this=skipped.copy()), expression=exp.Paren(this=count))
    column = exp.column(RANK if ties else NUMBER, table=TABLE)
    upto = exp.LTE(this=column, expression=exp.Paren(this=last))
    if not ties:
        return [after, upto]
    some = exp.GT(this=exp.Paren(this=count.copy()), expression=exp.Literal.number(0))
    return [after, upto, some] if offset is not None else [upto]


def _wrapped(query: exp.Expr, order: exp.Order) -> exp.Select:
    """The query as a subquery in FROM; its ORDER BY names output columns."""
    first = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    items = first.expressions
    names = [item.alias_or_name for item in items]
    table = f"{TABLE}_in"
    for ordered in order.expressions:
        index = output_index(ordered.this, items)
        if index is None:
            raise UnsupportedConstruct(
                "ORDER BY with LIMIT in this subquery must name an output column.",
                construct="ORDER BY",
                hint="Put the expression into the SELECT list.",
            )
        name = exp.to_identifier(names[index], quoted=True)
        ordered.set("this", exp.column(name, table=table))
    alias = exp.TableAlias(this=exp.to_identifier(table))
    columns = [exp.column(exp.to_identifier(name, quoted=True), table=table) for name in names]
    return exp.select(*columns).from_(exp.Subquery(this=query, alias=alias))


def output_index(key: exp.Expr, items: list[exp.Expr]) -> int | None:
    """The output column that a key of ORDER BY is: by its number, its expression or its name."""
    key = bare(key)
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.name) - 1
    for i, item in enumerate(items):
        if bare(item.unalias()) == key:
            return i
        if isinstance(key, exp.Column) and not key.table and key.name == item.alias_or_name:
            return i
    return None


def is_grouped(query: exp.Select) -> bool:
    if query.args.get("group") or query.args.get("having"):
        return True
    return any(is_aggregate(part) for item in query.expressions for part in parts(item))
