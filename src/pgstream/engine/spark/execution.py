"""Execution: evaluates a tree on Spark.

The leaves are bound first. Keys are taken from Arrow columns where the tree leads them
there unchanged; only keys that Spark must compute cost an action. Then the whole tree is
one SQL statement and one action. If every leaf is small it runs as a single task and the
result comes back as Arrow; else it runs in parallel and its result is staged in parallel.
Keys that executors find come to the driver if they are few; else the executors keep them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import SparkSession

from pgstream.algebra.calculus.narrow import Narrowed, narrow
from pgstream.algebra.calculus.trace import computed, gathered, trace
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.key_filter import KeyFilter, key_filtered
from pgstream.algebra.operators.negate import Negate
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.partners import Partners
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.scan import Change, Lookup, Stored
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.engine import zsets
from pgstream.engine.carriers import Carrier, staged_type
from pgstream.engine.postgres.handover import Handover
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.postgres.staging import Staging
from pgstream.engine.rows import Bound, Kept, Rows, no_rows
from pgstream.engine.spark.inline import inline
from pgstream.engine.spark.interruption import Interruption
from pgstream.engine.spark.relation import Relation
from pgstream.engine.spark.render import Leaf, render
from pgstream.engine.spark.render.key_filter import keys as keys_of
from pgstream.engine.spark.session import Sessions
from pgstream.engine.spark.times import Times
from pgstream.engine.spark.views import Views
from pgstream.engine.spark.write_staged import write_staged


@dataclass
class Execution:
    """Used as a context: what Spark holds for it ends with it."""

    sessions: Sessions
    leaves: Leaves
    views: Views
    handover: Handover
    interruption: Interruption = field(default_factory=Interruption)
    spark_actions: int = 0
    times: Times = field(default_factory=Times)
    _given: dict[Node, Bound] = field(default_factory=dict)
    _keys: dict[Keys, Rows | Kept | None] = field(default_factory=dict)
    _looked_up: dict[Lookup, Bound] = field(default_factory=dict)
    _partners: dict[Partners, Rows | None] = field(default_factory=dict)
    _arranged: dict[Node, Rows | None] = field(default_factory=dict)
    _apart: dict[Node, Bound | None] = field(default_factory=dict)
    _narrowed: dict[tuple[Node, object], Rows] = field(default_factory=dict)
    _empty: dict[Node, bool] = field(default_factory=dict)
    _large: dict[Node, bool] = field(default_factory=dict)
    _results: dict[str, pa.Table] = field(default_factory=dict)
    _kept: dict[str, Rows | Kept] = field(default_factory=dict)

    def __enter__(self) -> Execution:
        return self

    def __exit__(self, *_: object) -> None:
        self.views.drop()

    def give(self, node: Node, rows: Bound) -> None:
        """From now on the leaf stands for these rows."""
        self._given[node] = rows
        self._large.clear()
        self._arranged.clear()
        self._narrowed.clear()

    def is_large(self, node: Node) -> bool:
        """Whether executors read a part of it. Asked once for each node: trees share parts."""
        if node not in self._large:
            self._large[node] = self._find_large(node)
        return self._large[node]

    def read(self, node: Stored | Lookup) -> Rows:
        """The rows of a leaf in the driver; what is too large to be read there, by Spark."""
        found = self._bind(node)
        return found if isinstance(found, Rows) else self.collect(node)

    def collect(self, node: Node) -> Rows:
        """The result in the driver: one action, or none where nothing can come out, or where this
        refresh has run the same statement before."""
        if self.is_empty(node):
            return no_rows(c.type for c in node.columns)
        with self.rendered(node) as (session, relation):
            if relation.sql not in self._results:
                self.spark_actions += 1
                rows = self.times.collected(session, relation.sql)
                self._results[relation.sql] = rows
                self.leaves.ways.hold(rows)
            return Rows(self._results[relation.sql], relation.carriers)

    def stage(self, node: Node, staging: Staging) -> tuple[Carrier, ...]:
        """The result written by the executors to a table, decimals as text: one action."""
        with self.rendered(node) as (session, relation):
            staging.create([staged_type(carrier) for carrier in relation.carriers])
            items = [
                f"CAST(c{i} AS STRING) AS c{i}" if c.scale is not None else f"c{i}"
                for i, c in enumerate(relation.carriers)
            ]
            self.spark_actions += 1
            frame = self.times.analysed(session, relation.sql).selectExpr(*items, "w")
            with self.times.taken("running"):
                write_staged(frame, self.views.dsn, staging)
            return relation.carriers

    @contextmanager
    def rendered(self, node: Node) -> Iterator[tuple[SparkSession, Relation]]:
        large = self.is_large(node)
        self.interruption.check()
        session = self.sessions.for_jobs(self.interruption.tag, large)
        found: dict[Node, Relation] = {}

        def leaf(part: Node) -> Relation | None:
            if part not in found:
                relation = self._leaf_relation(part, session, leaf)
                if relation is None:
                    return None
                found[part] = relation
            return found[part]

        with self.sessions.guarded():
            relation = render(node, leaf, self.is_empty, single_task=not large)
            self.sessions.for_jobs(self.interruption.tag, large)  # leaves may have been jobs apart
            yield session, relation

    # --- leaves -----------------------------------------------------------------------------

    def is_empty(self, node: Node) -> bool:
        """Whether the rows at hand already say that the node gives none."""
        if node not in self._empty:
            self._empty[node] = self._find_empty(node)
        return self._empty[node]

    def _find_empty(self, node: Node) -> bool:
        bound = self._bind(node)
        if bound is None and isinstance(node, Keys):
            self.key_values(node)
            bound = self._keys[node]
        if bound is not None:
            return isinstance(bound, Rows) and not bound.table.num_rows
        return node.gives_nothing(self.is_empty)

    def _find_large(self, node: Node) -> bool:
        """By the leaves below; a lookup that has no small keys counts as its table."""
        bound = self._bind(node)
        if bound is not None:
            return not isinstance(bound, Rows)
        below = list(node.inputs)
        if isinstance(node, Lookup):
            below = [node.stored, *filter(None, (node.keys.equalities,))]
        elif isinstance(node, KeyFilter) and self.key_values(node.keys) is None:
            below.append(node.keys)
        return any(self.is_large(part) for part in below)

    def _bind(self, node: Node) -> Bound | None:
        """The rows that a node stands for, if they are at hand before Spark runs."""
        if node in self._given:
            return self._given[node]
        if isinstance(node, ByPostgres | Shared) and node not in self._apart:
            self._apart[node] = self._computed_apart(node)
        if node in self._apart:
            return self._apart[node]
        if isinstance(node, Lookup):
            return self._look_up(node)
        if isinstance(node, Partners):
            return self._united(node)
        if isinstance(node, UnionAll | KeyFilter):
            return self._put_together(node)
        return self.leaves.stored(node) if isinstance(node, Stored) else None

    def _put_together(self, node: UnionAll | KeyFilter) -> Rows | None:
        """A sum or a part of rows that the driver has, such as a table by key before its change: a
        statement names one relation instead of three. None if Spark computes a part of it."""
        if node not in self._arranged:
            self._arranged[node] = self._arrange(node) if is_arrangement(node) else None
        return self._arranged[node]

    def _arrange(self, node: Node) -> Rows | None:
        if isinstance(node, UnionAll):
            parts = [self._arrange(term) for term in node.terms]
            known = [part for part in parts if part is not None]
            return zsets.total(known) if len(known) == len(parts) else None
        if isinstance(node, Negate):
            rows = self._arrange(node.input)
            return None if rows is None else zsets.negated(rows)
        if isinstance(node, KeyFilter):
            rows, keys = self._arrange(node.input), self.key_values(node.keys)
            return None if rows is None or keys is None else _picked(rows, node.indexes, keys)
        bound = self._bind(node)
        return bound if isinstance(bound, Rows) else None

    def _look_up(self, node: Lookup) -> Bound | None:
        """None if the keys are too many, or the table is one that this refresh has computed."""
        if node.stored in self._given:
            return None
        found = self._looked_up.get(node)
        if found is None:
            keys = self.key_values(node.keys)
            found = None if keys is None else self._found(node, keys)
            if found is not None:
                self._looked_up[node] = found
        return found

    def _found(self, node: Lookup, keys: pa.Table) -> Bound | None:
        """By key; where reading the whole table costs less, the driver picks from its rows."""
        found = self.leaves.lookup(node, keys)
        if found is not None or node.placed or isinstance(node.keys, Ranges | FirstKeys):
            return found
        whole = self.leaves.stored(node.stored)
        return _picked(whole, node.indexes, keys) if isinstance(whole, Rows) else None

    def _united(self, node: Partners) -> Rows | None:
        """None if executors find some of the rows."""
        if node not in self._partners:
            found = [self._bind(lookup) for lookup in node.lookups]
            rows = [each for each in found if isinstance(each, Rows)]
            self._partners[node] = self._each_once(rows) if len(rows) == len(found) else None
        return self._partners[node]

    def _each_once(self, parts: list[Rows]) -> Rows:
        rows = zsets.each_once(parts)
        if all(rows is not part for part in parts):
            self.leaves.ways.hold(rows.table)
        return rows

    def _computed_apart(self, node: ByPostgres | Shared) -> Bound | None:
        """Costs an action of its own."""
        if node.gives_nothing(self.is_empty):
            return no_rows(c.type for c in node.columns)
        if not self.is_large(node.input):
            rows = self.collect(node.input)
            return rows if isinstance(node, Shared) else self.handover.small(node, rows)
        if isinstance(node, Shared):
            with self.rendered(node.input) as (session, relation):
                return self._keep(relation, session)
        staging = self.handover.staging()
        return self.handover.large(node, staging, self.stage(node.input, staging))

    def _leaf_relation(self, node: Node, session: SparkSession, leaf: Leaf) -> Relation | None:
        if self.is_empty(node):
            return inline(no_rows(c.type for c in node.columns))
        bound = self._keys_found(node) if isinstance(node, Keys) else self._bind(node)
        if bound is not None:
            return self.views.relation(bound, session)
        if isinstance(node, Lookup):  # of too many keys: read all, then filter
            return render(key_filtered(node.stored, node.indexes, node.keys), leaf, self.is_empty)
        if isinstance(node, Partners):
            is_small = session is self.sessions.small
            return render(node.apart, leaf, self.is_empty, single_task=is_small)
        return None

    # --- keys -------------------------------------------------------------------------------

    def key_values(self, keys: Keys) -> pa.Table | None:
        """The distinct keys as an Arrow table without weight; None if they are too many."""
        found = self._keys_found(keys)
        return found.table.drop_columns(["w"]) if isinstance(found, Rows) else None

    def _keys_found(self, keys: Keys) -> Rows | Kept | None:
        """None if they are computed where they are needed."""
        if keys not in self._keys:
            self._keys[keys] = self._find_keys(keys)
        return self._keys[keys]

    def _find_keys(self, keys: Keys) -> Rows | Kept | None:
        is_more = isinstance(keys, Ranges | FirstKeys)  # than keys: only the driver finds it out
        found = trace(keys.input, keys.read)
        if found is None:
            if self.is_large(keys.input):
                return None if is_more else self._keys_on_spark(keys)
            found = computed(keys.input, keys.read)
            for node, _ in found:
                self._compute_apart(node)
        if not all(isinstance(self._bind(node), Rows) for node, _ in found):
            if is_more:
                return None
            shown = gathered(found, keys)
            return self._keys_on_spark(shown) if self.is_large(shown.input) else None
        if is_more:
            return keys_with_more(keys, [self._shown(Narrowed(*each)) for each in found])
        leaves = narrow(keys.input, keys.read) or [Narrowed(*each) for each in found]
        return distinct_keys(keys, list(map(self._shown, leaves)))

    def _shown(self, leaf: Narrowed) -> Rows:
        """The columns of the rows that have partners, as far as that is known in the driver."""
        rows = self._bind(leaf.node)
        assert isinstance(rows, Rows)
        for number, (columns, keys) in enumerate(leaf.by, 1):
            done = leaf.node, leaf.by[:number]
            if done not in self._narrowed:
                known = self._known(keys)
                fewer = None if known is None else _picked(rows, columns, known)
                self._narrowed[done] = fewer or rows
            rows = self._narrowed[done]
        return zsets.picked(rows, leaf.columns)

    def _known(self, keys: Keys) -> pa.Table | None:
        """The keys, if the driver has all rows that show them."""
        found = trace(keys.input, keys.read)
        if found is None or not all(isinstance(self._bind(node), Rows) for node, _ in found):
            return None
        return self.key_values(keys)

    def _keys_on_spark(self, keys: Keys) -> Rows | Kept:
        """Few keys come to the driver, so that rows are looked up by them; many are kept."""
        with self.rendered(keys.input) as (session, relation):
            wanted = keys_of(keys, relation)
            if wanted.sql not in self._kept:
                most = self.leaves.ways.most_keys
                self.spark_actions += 1
                first = f"SELECT * FROM ({wanted.sql}) t LIMIT {most + 1}"
                some = self.times.collected(session, first)
                are_few = some.num_rows <= most
                self._kept[wanted.sql] = (
                    distinct_keys(keys, [Rows(some, wanted.carriers)])
                    if are_few
                    else self._keep(wanted, session)
                )
            return self._kept[wanted.sql]

    def _keep(self, relation: Relation, session: SparkSession) -> Kept:
        self.spark_actions += 1
        return self.views.keep(relation, session, self.times)

    def _compute_apart(self, node: Node) -> None:
        """Keys that Spark must compute cost an action; the rows that show them are remembered."""
        if self._bind(node) is None:
            self._apart[node] = self.collect(node)


def is_arrangement(node: Node) -> bool:
    """Whether its rows are those of changes and of lookups, put together."""
    if isinstance(node, KeyFilter) and not node.indexes:
        return False
    if isinstance(node, UnionAll | Negate | KeyFilter):
        return all(map(is_arrangement, node.inputs))
    return isinstance(node, Change | Lookup | Partners | Stored)


def keys_with_more(keys: Keys, parts: list[Rows]) -> Rows:
    """The keys, each with the range of its thresholds, or with the number of its changed rows."""
    if isinstance(keys, Ranges):
        return zsets.moved_over(zsets.one_spelled(zsets.total(parts), len(keys.indexes)))
    return zsets.counted(zsets.one_spelled(zsets.concatenated(parts), len(keys.indexes)))


def _picked(rows: Rows, indexes: Sequence[int], keys: pa.Table) -> Rows | None:
    """The rows with these keys; None if Spark must compare them."""
    can_pick = zsets.can_pick(rows, indexes, keys)
    return zsets.by_keys(rows, indexes, keys) if can_pick else None


def distinct_keys(keys: Keys, parts: list[Rows]) -> Rows:
    """The different keys of the parts, without those that hold a NULL where none may be. In order:
    what is asked for the same keys is the same statement."""
    rows = zsets.concatenated(parts)
    return zsets.ordered(zsets.distinct(rows if keys.nulls else zsets.without_nulls(rows)))
