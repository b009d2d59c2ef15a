"""whole_rows: a whole row is written by its columns.

Before: SELECT row_to_json(t.*) AS j FROM public.t
After:  SELECT row_to_json(ROW(t.a, t.b)::public.t) AS j FROM public.t

A row that is missing is NULL, and not a row of NULLs. So the nullable side of a join has its rows:

Before: SELECT count(t.*) AS n FROM u LEFT JOIN public.t ON …
After:  SELECT count(t.row) AS n
          FROM u LEFT JOIN (SELECT x.a, x.b, ROW(x.a, x.b)::public.t AS row FROM public.t x) t ON …

Of anything but a table, a row has no type of its own. PostgreSQL makes it, with the names of its
columns, where it is used; no column can hold it:

Before: SELECT to_jsonb(s.*) AS j FROM u LEFT JOIN (SELECT …) s ON …
After:  SELECT to_jsonb((SELECT w FROM (SELECT s.a AS a, s.b AS b) w WHERE s.there)) AS j
          FROM u LEFT JOIN (SELECT q.a, q.b, true AS there FROM (SELECT …) q) s ON …
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.facts import Facts
from pgstream.sql.nodes import HOLE, Worded
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, as_item, derived
from pgstream.sql.passes.nullable import items_of, nullable
from pgstream.sql.passes.quantified import compares_with_rows
from pgstream.sql.passes.records import columns_of, renamed
from pgstream.sql.read.names import identifier
from pgstream.sql.read.types import named_type
from pgstream.sql.scope import aliases
from pgstream.sql.walk import is_function, is_join
from pgstream.sql.writer import write

ROW_ID = "__pgs_row_id"
MADE = "__pgs_w"


def whole_rows(query: Query, facts: Facts) -> Query:
    tree: Query = query.copy()
    stars = [column for column in tree.find_all(exp.Column) if isinstance(column.this, exp.Star)]
    owners = {id(star): _owner(star) for star in stars}
    rows: dict[tuple[int, str], _Row] = {}
    names = Names(tree)
    for star in stars:
        owner = owners[id(star)]
        key = (id(owner), star.table)
        if key not in rows:
            alike = (other for other in stars if (id(owners[id(other)]), other.table) == key)
            is_kept = star.table in nullable(owner) or any(map(_is_compared_with_rows, alike))
            rows[key] = _Row(owner, star.table, facts, names, is_kept)
        rows[key].write(star)
    return tree


def _owner(star: exp.Column) -> exp.Select:
    """The SELECT whose FROM has the relation."""
    select = star.find_ancestor(exp.Select)
    while select is not None and star.table not in aliases(select):
        select = select.find_ancestor(exp.Select)
    if select is None:
        raise _refused(star.table)
    return select


def _is_compared_with_rows(star: exp.Column) -> bool:
    """ROW(…)::t IN (SELECT …) would compare columns with columns."""
    parent = star.parent
    while isinstance(parent, exp.Paren | exp.Cast):
        parent = parent.parent
    return parent is not None and compares_with_rows(parent)


class _Row:
    """The whole rows of one item of FROM."""

    def __init__(
        self, owner: exp.Select, alias: str, facts: Facts, names: Names, is_kept: bool
    ) -> None:
        self.owner, self.alias, self.facts, self.names = owner, alias, facts, names
        self.item = items_of(owner).get(alias)
        if self.item is None:
            raise _refused(alias)
        self.columns = self.columns_of(self.item)
        self.type = _table_name(self.item)
        self.column: exp.Expr | None = None
        """What is the row, or tells that it is there; None where neither is needed."""
        if is_kept:
            self.column = self.kept() if self.type else self.marked()

    def columns_of(self, item: exp.Expr) -> list[str]:
        if is_join(item) or (is_function(item) and not renamed(item, [])):
            raise _refused(self.alias)
        if isinstance(item, exp.Values):
            width = len(item.expressions[0].expressions)
            return renamed(item, [f"column{i + 1}" for i in range(width)])
        if is_function(item):
            return renamed(item, [])
        if isinstance(item, exp.Lateral | exp.Subquery):
            return columns_of(item, item.this)
        if (table := _table_name(item)) is not None:
            found = [output.name for output in self.facts.outputs(f"SELECT * FROM {table}")]
            if ROW_ID in found:
                raise _refused(self.alias)
            return renamed(item, found)
        cte = _cte(item)
        if cte is None or cte.args.get("search") or cte.args.get("cycle"):
            raise _refused(self.alias)
        return renamed(item, columns_of(cte, cte.this))

    # --- where it is read ---------------------------------------------------------------------

    def write(self, star: exp.Column) -> None:
        if self.type is not None and self.column is None and _is_tested(star):
            star.replace(_row(self.read(star)))
        elif self.type is not None:
            made = self.column.copy() if self.column else self.typed(self.read(star))
            outer = star.parent
            says_type = isinstance(outer, exp.Cast) and outer.to == named_type(self.type)
            (outer if outer is not None and says_type else star).replace(made)
        elif isinstance(star.parent, exp.Count):
            star.replace(self.column.copy() if self.column else exp.true())
        else:
            star.replace(self.record([_column(name, self.alias) for name in self.columns]))

    def read(self, star: exp.Column) -> list[exp.Expr]:
        """The columns, qualified as those around them are."""
        own = star.find_ancestor(exp.Select) is self.owner
        others = [item.unalias() for item in self.owner.expressions]
        group = self.owner.args.get("group")
        others += group.expressions if group else []
        bare = own and any(isinstance(o, exp.Column) and not o.table for o in others)
        return [_column(name, None if bare else self.alias) for name in self.columns]

    def typed(self, values: Sequence[exp.Expr]) -> exp.Cast:
        return exp.Cast(this=_row(values), to=named_type(self.type or "").copy())

    def record(self, values: Sequence[exp.Expr]) -> exp.Expr:
        items = ", ".join(f"{HOLE} AS {write(identifier(name))}" for name in self.columns)
        words = f"SELECT {MADE} FROM (SELECT {items}) {MADE}"
        holes = list(values)
        if self.column is not None:
            words += f" WHERE {HOLE}"
            holes.append(self.column.copy())
        return Worded(this="row", words=f"({words})", expressions=holes)

    # --- rows that may be missing -------------------------------------------------------------

    def kept(self) -> exp.Expr:
        """The table with its rows as a column more."""
        assert self.item is not None
        inner, row = self.names.new("t"), self.names.new("row")
        table = exp.Table(this=self.item.this.copy(), db=self.item.args["db"].copy())
        given = [identifier(name) for name in self.columns]
        table.set("alias", exp.TableAlias(this=exp.to_identifier(inner), columns=given))
        values = [_column(name, inner) for name in self.columns]
        items = [*values, as_item(self.typed(values), row)]
        self.put(exp.Select(expressions=items, from_=exp.From(this=table)))
        return exp.column(row, table=self.alias)

    def marked(self) -> exp.Expr:
        """The rows with a column that is there where they are."""
        item = self.item
        assert item is not None
        inner, there = self.names.new("t"), self.names.new("there")
        if isinstance(item, exp.Lateral | exp.Subquery):
            rows = item.this.this if isinstance(item.this, exp.Subquery) else item.this
            source = derived(rows.copy(), inner, self.columns)
        elif isinstance(item, exp.Table) and not is_function(item):
            given = [identifier(name) for name in self.columns]
            alias = exp.TableAlias(this=exp.to_identifier(inner), columns=given)
            source = exp.From(this=exp.Table(this=item.this.copy(), alias=alias))
        else:
            raise _refused(self.alias)
        values: list[exp.Expr] = [_column(name, inner) for name in self.columns]
        self.put(exp.Select(expressions=[*values, as_item(exp.true(), there)], from_=source))
        return exp.column(there, table=self.alias)

    def put(self, rows: exp.Select) -> None:
        """In the place of the item."""
        item = self.item
        assert item is not None
        if isinstance(item, exp.Lateral):
            item.set("this", exp.Subquery(this=rows))
            item.args["alias"].set("columns", None)
            return
        alias = exp.TableAlias(this=identifier(self.alias))
        item.replace(exp.Subquery(this=rows, alias=alias, joins=item.args.get("joins")))


def _table_name(item: exp.Expr) -> str | None:
    """The name of a table, which is also that of its rows' type."""
    if not isinstance(item, exp.Table) or is_function(item) or not item.args.get("db"):
        return None
    return f"{write(item.args['db'])}.{write(item.this)}"


def _cte(table: exp.Expr) -> exp.CTE | None:
    node: exp.Expr | None = table
    while node is not None:
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            if cte.alias == table.name:
                found: exp.CTE = cte
                return found
        node = node.parent
    return None


def _row(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="ROW", expressions=list(values))


def _is_tested(star: exp.Column) -> bool:
    """t IS NULL. Of ROW(…)::t PostgreSQL tests dropped columns, too."""
    test = star.parent
    return isinstance(test, exp.Is) and isinstance(test.args["expression"], exp.Null)


def _column(name: str, table: str | None) -> exp.Expr:
    made = exp.Column(this=identifier(name))
    if table is not None:
        made.set("table", identifier(table))
    return made


def _refused(alias: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(
        f"A whole row of {alias} is not supported.",
        construct=alias,
        detail="Whole rows are those of tables and of subqueries, and not of stream tables, of "
        "joins with an alias, or of functions in an outer join.",
        hint="Name the columns, or select them in a subquery in FROM.",
    )
