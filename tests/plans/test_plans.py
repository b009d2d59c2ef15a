"""Each plan is the one in its file, and joins by equality where its SQL does.

To write the files anew: make test ARGS="tests/plans --rewrite-plans"
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path

import pytest

from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Scan, Source
from pgstream.algebra.optimize.keys import is_one_row
from pgstream.algebra.optimize.optimize import optimize
from pgstream.algebra.plan import Plan
from pgstream.client import PgStream, PgStreamWarning
from pgstream.compile.passes import PASSES, Draft
from pgstream.compile.prepare import prepare
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.postgres.describe import PostgresCatalog

sys.path.insert(0, str(Path(__file__).parent))
from as_sql import as_sql
from corpus import HERE, Case, cases
from drawn import drawn

CASES = {case.name: case for case in cases()}
# What the SQL itself joins without an equality.
WITHOUT_EQUALITY: dict[str, str] = {
    "book_self_compare": "on a column and an expression over groups: it names no two columns",
    "book_above_all_limits": "> ALL: each amount meets each threshold",
    "book_no_limit_reached": ">= ANY: each amount meets each threshold",
}
StreamOf = Callable[..., PgStream]


@pytest.fixture(scope="module")
def stream_of(server: EmbeddedServer, make_database: Callable[[], str]) -> Iterator[StreamOf]:
    """Gives the stream that has a case's stream table, over tables with rows or without. Nothing
    is computed, so no Spark starts."""
    with ExitStack() as stack:
        streams: dict[tuple[str, bool], PgStream] = {}

        def opened(case: Case, filled: bool) -> PgStream:
            if (case.tables, filled) not in streams:
                stream = stack.enter_context(PgStream(server.dsn_for(make_database())))
                (case.fill if filled else case.create)(stream)
                create_all(stream, case.tables)
                streams[case.tables, filled] = stream
            return streams[case.tables, filled]

        yield opened


def create_all(stream: PgStream, tables: str) -> None:
    """The stream tables over these tables: some read others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PgStreamWarning)  # date_trunc is only STABLE
        for case in CASES.values():
            if case.tables == tables:
                stream.create_stream_table(case.stream, case.query, initialize=False)


@pytest.mark.parametrize("name", CASES)
def test_the_plan_is_as_expected(
    name: str, stream_of: StreamOf, request: pytest.FixtureRequest
) -> None:
    case = CASES[name]
    stream = stream_of(case, filled=False)
    plan = prepare(stream.own, stream.table(case.stream)).plan
    text = drawn(plan, stream.own)
    if request.config.getoption("--rewrite-plans"):
        case.expected.write_text(text, encoding="utf-8")
    assert text == case.expected.read_text(encoding="utf-8")
    found = [node.describe() for node in unequal_joins(plan)]
    assert bool(found) == (name in WITHOUT_EQUALITY), found


@pytest.mark.parametrize("name", CASES)
def test_the_cheaper_tree_has_the_same_rows(name: str, stream_of: StreamOf) -> None:
    """As PostgreSQL itself computes both trees. A recursive CTE is a table that is not there."""
    stream = stream_of(CASES[name], filled=True)
    lowered, cheaper = trees_of(stream, CASES[name])
    assert cheaper.columns == lowered.columns
    if any(source.relid < 0 for source in sources(lowered)):
        return
    before, after = (f"SELECT r::text FROM ({as_sql(tree)}) r" for tree in (lowered, cheaper))
    for one, other in ((before, after), (after, before)):
        assert stream.execute(f"({one}) EXCEPT ALL ({other})") == []


def trees_of(stream: PgStream, case: Case) -> tuple[Node, Node]:
    """The tree of the query before and after it is optimized."""
    table = stream.table(case.stream)
    used = {d.relid: d.columns for d in table.dependencies}
    streams = frozenset(d.relid for d in table.dependencies if d.is_stream)
    draft = Draft(table, stream.own, PostgresCatalog(stream.own, used, streams))
    for each in takewhile(lambda each: each.name != "optimize", PASSES):
        draft = each.run(draft)
    assert draft.tree is not None
    return draft.tree, optimize(draft.tree, draft.catalog)[0]


def sources(tree: Node) -> Iterator[Source]:
    return (node.source for node in tree.walk() if isinstance(node, Scan))


def unequal_joins(plan: Plan) -> Iterator[Pairing]:
    """Joins without an equality, unless one of their sides is a single row."""
    single: set[Source] = set()

    def is_single(node: Node) -> bool:
        if isinstance(node, Project | Filter):
            return is_single(node.input)
        return is_one_row(node) or (isinstance(node, Scan) and node.source in single)

    for hidden in plan.hidden:
        if not hidden.aggregate.keys or is_single(hidden.aggregate.input):
            single.add(hidden.source)
    trees = (*plan.trees, *(hidden.aggregate for hidden in plan.hidden))
    for node in (node for tree in trees for node in tree.walk()):
        if isinstance(node, Pairing) and not node.on and not any(map(is_single, node.inputs)):
            yield node


def test_every_file_has_its_case() -> None:
    assert {path.stem for path in (HERE / "expected").iterdir()} == set(CASES)
    assert set(WITHOUT_EQUALITY) <= set(CASES)
