"""search_cycle: SEARCH and CYCLE of WITH RECURSIVE become columns of both terms.

Before: WITH RECURSIVE r(id, up) AS (SELECT … UNION ALL SELECT t.id, t.up FROM t JOIN r …)
          SEARCH DEPTH FIRST BY id SET o SELECT id FROM r ORDER BY o
After:  WITH RECURSIVE r(id, up, o) AS (SELECT …, ARRAY[…] UNION ALL
          SELECT t.id, t.up, array_cat(r.o, ARRAY[t.id]) FROM t JOIN r …)
          SELECT id FROM r ORDER BY o

BREADTH FIRST counts: 0 in the first term, r.o + 1 in the other; ORDER BY o is ORDER BY o, id.

Before: … CYCLE a, b SET m USING p
After:  … the first term with false AS m, ARRAY[a] AS p, ARRAY[b] AS p_1, the other with
        CASE WHEN (a, b) is in (r.p, r.p_1) THEN true ELSE false END, array_cat(r.p, ARRAY[a]),
        array_cat(r.p_1, ARRAY[b]), and r.m <> true

PostgreSQL's columns are records and arrays of records, which no table can hold. Arrays of one type
are sorted as those are, and a position tells equal rows, NULLs included. Whoever does something
else with such a column is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.facts import Facts
from pgstream.sql.nodes import HOLE, Cycle, Search, Worded
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names
from pgstream.sql.passes.records import Record, columns_of, follow
from pgstream.sql.walk import unwrapped
from pgstream.sql.writer import write


def search_cycle(query: Query, facts: Facts) -> Query:
    tree: Query = query.copy()
    names = Names(tree)
    for cte in list(tree.find_all(exp.CTE)):
        if cte.args.get("search") or cte.args.get("cycle"):
            _Terms(cte, facts, names).rewrite()
    return tree


class _Terms:
    """The two terms of a recursive CTE."""

    def __init__(self, cte: exp.CTE, facts: Facts, names: Names) -> None:
        self.cte, self.facts, self.names = cte, facts, names
        union = unwrapped(cte.this)
        first, other = (unwrapped(union.args[side]) for side in ("this", "expression"))
        assert isinstance(first, exp.Select)  # as PostgreSQL requires
        assert isinstance(other, exp.Select)
        self.first, self.other = first, other
        self.columns = columns_of(cte, self.first)
        tables = self.other.find_all(exp.Table)
        own = next(table for table in tables if not table.db and table.name == cte.alias)
        self.alias = own.alias_or_name

    def rewrite(self) -> None:
        search, cycle = self.cte.args.get("search"), self.cte.args.get("cycle")
        used = [part.args["columns"] for part in (search, cycle) if part is not None]
        types = self.types([name.name for names in used for name in names])
        self.cte.set("search", None)
        self.cte.set("cycle", None)
        if search is not None:
            self.search(search, types)
        if cycle is not None:
            self.cycle(cycle, types)

    def types(self, used: Sequence[str]) -> dict[str, str]:
        """The types of these columns. Arrays, and text of a collation, sort otherwise in an
        array than in a record."""
        items = [exp.column(exp.to_identifier(n, quoted=True)) for n in used]
        asked = exp.Select(expressions=[exp.alias_(c, f"c{i}") for i, c in enumerate(items)])
        asked.set("from_", exp.From(this=exp.to_table(self.cte.alias)))
        asked.set("with_", exp.With(expressions=self.needed(), recursive=True))
        found = self.facts.outputs(write(asked))
        for name, output in zip(used, found, strict=True):
            if output.type.endswith("[]") or output.collation:
                raise _refused(
                    "SEARCH / CYCLE",
                    f"SEARCH and CYCLE by the column {name} are not supported.",
                    "It is an array, or text of a collation of its own.",
                    "Use other columns.",
                )
        return {name: output.type for name, output in zip(used, found, strict=True)}

    def needed(self) -> list[exp.Expr]:
        """The CTE without its clauses, and the others, but for those that read it."""
        plain = self.cte.copy()
        plain.set("search", None)
        plain.set("cycle", None)
        without, kept = {self.cte.alias}, list[exp.Expr]()
        for other in self.cte.parent.expressions if self.cte.parent else ():
            if {table.name for table in other.find_all(exp.Table) if not table.db} & without:
                without.add(other.alias)
            else:
                kept.append(other.copy())
        return [*kept, plain]

    # --- SEARCH -----------------------------------------------------------------------------

    def search(self, clause: Search, types: dict[str, str]) -> None:
        name, by = clause.this.name, [column.name for column in clause.args["columns"]]
        if clause.args["breadth"]:
            counted = exp.Add(this=self.read(name), expression=exp.Literal.number(1))
            first = exp.Cast(this=exp.Literal.number(0), to=exp.DataType.build("bigint"))
            self.add(name, first, exp.Paren(this=counted))
        else:
            if len({types[column] for column in by}) > 1:
                raise _refused(
                    "SEARCH",
                    "SEARCH DEPTH FIRST BY columns of several types is not supported.",
                    "The path is an array, whose values are of one type.",
                    "Search by columns of one type.",
                )
            self.add(name, self.listed(self.first, by), self.longer(name, by))
        more = by if clause.args["breadth"] else []
        follow(self.cte, Record(self.columns, name, more, _only_sorted("SEARCH", name)))

    # --- CYCLE ------------------------------------------------------------------------------

    def cycle(self, clause: Cycle, types: dict[str, str]) -> None:
        mark, path = clause.this.name, clause.args["path"].name
        by = [column.name for column in clause.args["columns"]]
        value, default = clause.args["value"], clause.args["default"]
        paths = [path, *(self.names.new("path") for _ in by[1:])]
        met = exp.Case(
            ifs=[exp.If(this=self.meets(paths, by), true=value.copy())], default=default.copy()
        )
        self.add(mark, default.copy(), met)
        for name, column in zip(paths, by, strict=True):
            self.add(name, self.listed(self.first, [column]), self.longer(name, [column]))
        goes_on = exp.Paren(this=exp.NEQ(this=self.read(mark), expression=value.copy()))
        self.other.where(goes_on, copy=False)
        refusal = _not_read(path) if len(by) > 1 else _only_sorted("CYCLE", path)
        follow(self.cte, Record(self.columns, path, None if len(by) > 1 else [], refusal))

    def meets(self, paths: Sequence[str], by: Sequence[str]) -> exp.Expr:
        """Whether the row is on its path: the values are there, all in one position."""
        pairs = [(self.read(p), self.value(self.other, c)) for p, c in zip(paths, by, strict=True)]
        if len(pairs) == 1:
            found = exp.Anonymous(this="array_position", expressions=list(pairs[0]))
            return exp.Paren(this=exp.Is(this=found, expression=exp.null(), negate=True))
        one = f"SELECT unnest(array_positions({HOLE}, {HOLE}))"
        words = " INTERSECT ".join([one] * len(pairs))
        values = [value for pair in pairs for value in pair]
        return Worded(this="cycle", words=f"EXISTS ({words})", expressions=values)

    # --- columns ----------------------------------------------------------------------------

    def add(self, name: str, first: exp.Expr, other: exp.Expr) -> None:
        """One more column."""
        alias = self.cte.args["alias"]
        if len(alias.args.get("columns") or ()) == len(self.columns):
            alias.append("columns", exp.to_identifier(name, quoted=True))
        self.columns.append(name)
        for term, value in ((self.first, first), (self.other, other)):
            term.append("expressions", exp.alias_(value, name, quoted=True))

    def read(self, name: str) -> exp.Expr:
        """The column of the row from which the other term goes on."""
        return exp.column(exp.to_identifier(name, quoted=True), table=self.alias)

    def value(self, term: exp.Expr, name: str) -> exp.Expr:
        value: exp.Expr = term.expressions[self.columns.index(name)].unalias().copy()
        return value

    def listed(self, term: exp.Expr, by: Sequence[str]) -> exp.Expr:
        return exp.Array(expressions=[self.value(term, name) for name in by])

    def longer(self, path: str, by: Sequence[str]) -> exp.Expr:
        parts = [self.read(path), self.listed(self.other, by)]
        return exp.Anonymous(this="array_cat", expressions=parts)


def _refused(construct: str, message: str, reason: str, way_out: str) -> UnsupportedConstruct:
    return UnsupportedConstruct(message, construct=construct, detail=reason, hint=way_out)


def _only_sorted(construct: str, name: str) -> UnsupportedConstruct:
    return _refused(
        construct,
        f"The column {name} of {construct} can be sorted by, and nothing else.",
        "PostgreSQL's is made of records, which a table cannot hold.",
        "Write the column that you need, such as the path, into both terms.",
    )


def _not_read(name: str) -> UnsupportedConstruct:
    return _refused(
        "CYCLE",
        f"The column {name} of CYCLE cannot be read.",
        "PostgreSQL's is an array of records of several columns, which a table cannot hold.",
        "Write the column that you need, such as the path, into both terms.",
    )
