"""Views: the rows of a refresh as relations that Spark's statements can name, each made once.

few rows     written into the statement
more         a view over an Arrow table
large        a view that executors read from PostgreSQL in slices
kept         a view over what the executors have computed before
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from pgstream.engine.carriers import BIGINT, TEXT
from pgstream.engine.rows import Bound, Kept, Large, Rows
from pgstream.engine.spark.expressions import Rendered
from pgstream.engine.spark.inline import inline
from pgstream.engine.spark.relation import Relation, Select
from pgstream.engine.spark.remote import is_remote
from pgstream.engine.spark.session import Sessions
from pgstream.engine.spark.slices import sliced
from pgstream.engine.spark.times import Times
from pgstream.engine.ways import Ways

_numbers = itertools.count()


@dataclass
class Views:
    """The views of one refresh; `drop` ends them."""

    sessions: Sessions
    ways: Ways
    dsn: str
    snapshot: str
    _made: dict[tuple[SparkSession, int], tuple[Bound, Relation]] = field(default_factory=dict)
    _names: list[tuple[SparkSession, str]] = field(default_factory=list)

    def relation(self, bound: Bound, session: SparkSession) -> Relation:
        made = self._made.get((session, id(bound)))
        if made is None:
            made = (bound, self._make(bound, session))  # with the rows, whose id is thus its own
            self._made[session, id(bound)] = made
        return made[1]

    def keep(self, relation: Relation, session: SparkSession, times: Times) -> Kept:
        """What the relation gives, computed now and kept by the executors. Statements that read
        it do not grow by what it is made of."""
        frame = times.analysed(session, relation.sql)
        with times.taken("running"):
            # Through Connect a checkpoint belongs to the thread's active session, whichever made
            # it.
            frame = frame.persist() if is_remote(session) else frame.localCheckpoint()
        return Kept(self._name(frame, session), relation.carriers)

    def drop(self) -> None:
        for session, name in self._names:
            self.sessions.drop_view(session, name)
        self._names.clear()
        self._made.clear()

    def _make(self, bound: Bound, session: SparkSession) -> Relation:
        if isinstance(bound, Rows) and self.ways.in_statement(bound.table):
            return inline(bound)
        if isinstance(bound, Rows):
            name = self._name(session.createDataFrame(bound.table).coalesce(1), session)
        elif isinstance(bound, Large):
            name = self._name(self._sliced(bound, session), session)
        else:
            name = bound.view
        items = tuple(Rendered(f"c{i}", c) for i, c in enumerate(bound.carriers))
        # Without an alias Spark reads WHERE (c3) as one: a table WHERE with a column c3.
        return Select(items, "w", f"{name} AS v").relation()

    def _name(self, frame: DataFrame, session: SparkSession) -> str:
        name = f"__pgs_{next(_numbers)}"
        frame.createOrReplaceTempView(name)
        self._names.append((session, name))
        return name

    def _sliced(self, bound: Large, session: SparkSession) -> DataFrame:
        """Numerics are read as text, which ADBC makes of them, and cast."""
        read_as = [c if c.scale is None else TEXT for c in bound.carriers]
        columns = [(f"c{i}", c.spark, c.arrow) for i, c in enumerate(read_as)]
        weight = f"c{len(columns)}"
        columns.append((weight, BIGINT.spark, BIGINT.arrow))
        snapshot = "" if bound.computed else self.snapshot
        items = [
            f"CAST(c{i} AS {c.spark}) AS c{i}" if c.scale is not None else f"c{i}"
            for i, c in enumerate(bound.carriers)
        ]
        frame = sliced(session, self.dsn, snapshot, bound.queries, columns)
        return frame.selectExpr(*items, f"{weight} AS w")
