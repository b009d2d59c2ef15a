"""Window functions. Where a function depends on the order of peers, the order is total.

Copies of a row are peers even then. Functions that tell copies apart (by number, by distance, by
ROWS) all stand over one partition and order: over two, SQL leaves open which copy is which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from generator.pieces import NUMBERS, ORDERED, Expr

if TYPE_CHECKING:
    from generator.queries import Queries

STARTS = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING")
ENDS = ("1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING")
PLAIN_RANGES = (
    ("UNBOUNDED PRECEDING", "CURRENT ROW"),
    ("CURRENT ROW", "UNBOUNDED FOLLOWING"),
    ("CURRENT ROW", "CURRENT ROW"),
    ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
)
RANKS = ("row_number", "rank", "dense_rank", "ntile", "cume_dist")
OFFSETS = ("lag", "lead", "first_value", "last_value", "nth_value")
AGGREGATES = ("sum", "sum", "count", "avg", "min", "max", "count(*)")


class Windows:
    """The windows of one SELECT over these columns; `total` orders its rows, up to equals."""

    def __init__(self, queries: Queries, columns: tuple[Expr, ...], rows: float,
                 total: tuple[Expr, ...] | None = None) -> None:  # fmt: skip
        self.queries, self.dice = queries, queries.dice
        self.columns, self.rows = columns, rows
        self.total = [c.sql for c in (total or columns)]
        self.grouped = total is not None
        self.named: dict[str, str] = {}
        self.apart = ""

    def clause(self) -> str:
        listed = ", ".join(f"{name} AS ({text})" for name, text in self.named.items())
        return f" WINDOW {listed}" if listed else ""

    def item(self) -> Expr:
        """A call, alone or in an expression."""
        call = self.call()
        self.queries.used["window " + call.sql.partition("(")[0]] += 1
        if self.dice.maybe(0.7):
            return call
        self.queries.used["window in expression"] += 1
        if call.type not in NUMBERS or not call.fits:
            return Expr(f"({call.sql} IS NULL)", "bool")
        numbers = [c for c in self.columns if c.type == call.type and c.fits]
        if numbers and self.dice.maybe(0.5):
            other = self.dice.choice(numbers)
            return Expr(f"({other.sql} - {call.sql})", call.type, call.bound + other.bound,
                        max(call.scale, other.scale))  # fmt: skip
        if self.dice.maybe(0.5):
            return Expr(f"COALESCE({call.sql}, 0)", call.type, call.bound, call.scale)
        return Expr(f"CASE WHEN {call.sql} > 1 THEN 'more' ELSE 'one' END", "text", 4)

    def call(self) -> Expr:
        form = self.dice.choice(("rank", "rank", "offset", "offset", "aggregate", "aggregate"))
        if form == "rank":
            return self.rank()
        if form == "offset":
            return self.offset()
        return self.aggregate()

    # --- functions --------------------------------------------------------------------------

    def rank(self) -> Expr:
        function = self.dice.choice(RANKS)
        over = self.over_apart() if function in ("row_number", "ntile") else self.over(total=False)
        if function == "ntile":
            return Expr(f"ntile({self.dice.randint(2, 3)}) {over}", "int", 3)
        if function == "cume_dist":
            return Expr(f"round((cume_dist() {over})::numeric, 4)", "numeric", 1, 4)
        return Expr(f"{function}() {over}", "bigint", self.rows)

    def offset(self) -> Expr:
        function = self.dice.choice(OFFSETS)
        column = self.dice.choice(self.columns)
        more = ""
        if function in ("lag", "lead") and self.dice.maybe(0.5):
            more = f", {self.dice.randint(1, 2)}"
            if column.type in NUMBERS and column.fits and self.dice.maybe(0.5):
                more += f", {column.sql}"
        if function == "nth_value":
            more = ", 2"
        over = self.over(True, framed=True) if function.endswith("value") else self.over_apart()
        return Expr(f"{function}({column.sql}{more}) {over}", column.type, column.bound,
                    column.scale)  # fmt: skip

    def aggregate(self) -> Expr:
        function = self.dice.choice(AGGREGATES)
        numbers = [c for c in self.columns if c.type in NUMBERS and c.fits]
        ordered = [c for c in self.columns if c.type in (*ORDERED, "text")]
        filtered = ""
        if not self.grouped and self.dice.maybe(0.15):
            test = self.queries.expressions(self.columns).of("bool", 1)
            filtered = f" FILTER (WHERE {test.sql})"
        tail = f"{filtered} {self.over(total=False, framed=True)}"
        if function in ("sum", "avg") and numbers:
            inner = self.dice.choice(numbers)
            if function == "avg":
                return Expr(f"avg({inner.sql}){tail}", "numeric", inner.bound, 20)
            type_ = "bigint" if inner.type == "int" else "numeric"
            return Expr(f"sum({inner.sql}){tail}", type_, inner.bound * self.rows, inner.scale)
        if function in ("min", "max") and ordered:
            inner = self.dice.choice(ordered)
            return Expr(f"{function}({inner.sql}){tail}", inner.type, inner.bound, inner.scale)
        if function == "count":
            return Expr(f"count({self.dice.choice(self.columns).sql}){tail}", "bigint", self.rows)
        return Expr(f"count(*){tail}", "bigint", self.rows)

    # --- OVER -------------------------------------------------------------------------------

    def over(self, total: bool, framed: bool = False) -> str:
        if self.dice.maybe(0.25) and not framed:
            return self.over_name(total)
        order, frame = self.frame(total) if framed else (self.order(total), "")
        if frame.startswith("ROWS"):
            return self.over_apart(frame)
        return f"OVER ({' '.join(part for part in (self.partition(), order, frame) if part)})"

    def over_apart(self, frame: str = "") -> str:
        """The window of the functions that tell copies of a row apart."""
        if not self.apart or self.grouped:
            self.apart = f"{self.partition()} {self.order(total=True)}".strip()
        return f"OVER ({self.apart} {frame})".replace(" )", ")")

    def over_name(self, total: bool) -> str:
        """A window with a name; a second use of it shares it."""
        self.queries.used["named window"] += 1
        full = [name for name in self.named if name.startswith("w_all")]
        if full and self.dice.maybe(0.5):
            return f"OVER {full[0]}"
        if self.dice.maybe(0.6):
            name = f"w_all{len(self.named)}"
            self.named[name] = f"{self.partition()} {self.order(total=True)}".strip()
            return f"OVER {name}"
        name = f"w_part{len(self.named)}"
        self.named[name] = self.partition() or f"PARTITION BY {self.columns[0].sql}"
        return f"OVER ({name} {self.order(total)})"

    def partition(self) -> str:
        if self.dice.maybe(0.25):
            return ""
        chosen = self.dice.sample(self.columns, min(len(self.columns), self.dice.choice((1, 1, 2))))
        return f"PARTITION BY {', '.join(c.sql for c in chosen)}"

    def order(self, total: bool) -> str:
        columns = [c.sql for c in self.columns]
        chosen = self.dice.sample(columns, min(len(columns), self.dice.choice((1, 1, 2))))
        if total:
            chosen += [column for column in self.total if column not in chosen]
        return f"ORDER BY {self.queries.ordering(chosen)}"

    def frame(self, total: bool) -> tuple[str, str]:
        """ORDER BY and a frame that goes with it."""
        form = self.dice.choice(("none", "whole", "ROWS", "ROWS", "GROUPS", "RANGE", "offset"))
        if form == "whole" and not total:
            return "", ""
        if form in ("none", "whole"):
            return self.order(total), ""
        self.queries.used[f"{'RANGE' if form == 'offset' else form} frame"] += 1
        if form == "offset" and not total:
            return self.range_offset()
        if form in ("RANGE", "offset"):
            start, end = self.dice.choice(PLAIN_RANGES)
            return self.order(total), f"RANGE BETWEEN {start} AND {end}{self.exclude()}"
        start, end = self.bounds()
        return self.order(total), f"{form} BETWEEN {start} AND {end}{self.exclude()}"

    def bounds(self) -> tuple[str, str]:
        start = self.dice.choice(STARTS)
        first = {"CURRENT ROW": 1, "1 FOLLOWING": 2}.get(start, 0)
        return start, self.dice.choice(ENDS[first:])

    def range_offset(self) -> tuple[str, str]:
        """RANGE by distance: one ordering column, a number or a date."""
        fitting = [c for c in self.columns if c.type in ORDERED and c.fits]
        if not fitting:
            return self.order(False), ""
        column = self.dice.choice(fitting)
        before, after = (
            f"INTERVAL '{self.dice.randint(1, 2)} days'" if column.type == "date"
            else str(self.dice.randint(0, 2)) for _ in range(2)
        )  # fmt: skip
        order = f"ORDER BY {self.queries.ordering([column.sql])}"
        frame = f"RANGE BETWEEN {before} PRECEDING AND {after} FOLLOWING"
        return order, frame + self.exclude()

    def exclude(self) -> str:
        if self.dice.maybe(0.7):
            return ""
        self.queries.used["EXCLUDE"] += 1
        return f" EXCLUDE {self.dice.choice(('CURRENT ROW', 'GROUP', 'TIES', 'NO OTHERS'))}"
