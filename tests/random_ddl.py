"""Random DDL and writes on three tables, as the rules of a state machine.

A model of names only: what the tables hold, PostgreSQL knows. Whoever uses it says how to execute
a statement and who reads the tables, and adds a rule that refreshes one of these.

    pytest … --hypothesis-seed=<printed>   the same steps again
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

SETUP = """
CREATE FUNCTION scaled(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT x * 2';
CREATE TABLE plain (id int, a int, b text);
CREATE TABLE parts (id int, a int, b text) PARTITION BY LIST (id);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
CREATE TABLE tree (id int, a int, b text);
CREATE TABLE tree_0 () INHERITS (tree);
CREATE VIEW seen AS SELECT id, a FROM tree WHERE id > 0;
INSERT INTO plain SELECT i, i % 4, 'x' FROM generate_series(1, 8) i;
INSERT INTO parts SELECT i, i % 3, 'y' FROM generate_series(1, 8) i;
INSERT INTO tree_0 SELECT i, i % 2, 'z' FROM generate_series(1, 8) i
"""
QUERIES = {
    "grouped": "SELECT a, count(*) AS n FROM {plain} plain GROUP BY a",
    "joined": "SELECT p.id, p.a, q.a AS other FROM {parts} p LEFT JOIN {plain} q ON q.id = p.id",
    "called": "SELECT id, public.scaled(a::numeric) AS x FROM {parts} parts",
    "viewed": "SELECT s.id, count(q.id) AS n FROM public.seen s LEFT JOIN {plain} q ON q.id = s.id"
    " GROUP BY s.id",
}
READERS_OF_A = {"plain": ("grouped", "joined"), "parts": ("joined", "called")}
tables = st.sampled_from(("plain", "parts", "tree"))
numbers = st.integers(1, 9)


def play(machine: type[RandomDdl], make: Callable[[], str], examples: int, steps: int) -> int:
    """Each example has up to so many steps, on a database that `make` gives the address of; how
    many it were."""
    steps_done: list[None] = []
    run_state_machine_as_test(
        type("Machine", (machine,), {"make": staticmethod(make), "steps_done": steps_done}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=(Phase.generate,),  # a database for each try: to cut down takes too long
        ),
    )
    return len(steps_done)


class RandomDdl(RuleBasedStateMachine):
    make: Callable[[], str]
    steps_done: list[None]
    readers: Iterable[str]

    def __init__(self) -> None:
        super().__init__()
        self.names = {"plain": "plain", "parts": "parts", "tree": "tree"}
        self.read = {"plain": "a", "parts": "a"}
        self.other = {"plain": "b", "parts": "b", "tree": "b"}
        self.made = 0

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        raise NotImplementedError

    def refresh(self, name: str) -> None:
        """What a reader knows is right afterwards, or the test fails."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @invariant()
    def count(self) -> None:
        self.steps_done.append(None)

    def teardown(self) -> None:
        try:
            self.bring_back()
            for name in self.readers:
                self.refresh(name)
        finally:
            self.close()

    # --- writes ---------------------------------------------------------------------------------

    @rule(table=tables, low=numbers, high=numbers)
    def insert(self, table: str, low: int, high: int) -> None:
        self.execute(
            f"INSERT INTO {self.names[table]} (id, {self.read.get(table, 'a')})"
            f" SELECT i, i % 4 FROM generate_series({low}, {high}) i"
        )

    @rule(table=tables, which=numbers, column=st.sampled_from(("id", "a", "b")))
    def update(self, table: str, which: int, column: str) -> None:
        now = {"id": "id", "a": self.read.get(table, "a"), "b": self.other[table]}[column]
        value = "'w'" if column == "b" else f"{now} + 1"
        self.execute(f"UPDATE {self.names[table]} SET {now} = {value} WHERE id % 4 = {which % 4}")

    @rule(table=tables, which=numbers)
    def delete(self, table: str, which: int) -> None:
        self.execute(f"DELETE FROM {self.names[table]} WHERE id % 9 = {which - 1}")

    @rule(table=tables)
    def truncate(self, table: str) -> None:
        self.execute(f"TRUNCATE {self.names[table]}")

    @rule(which=numbers)
    def write_members(self, which: int) -> None:
        for member in self.members("parts") + self.members("tree"):
            self.execute(f"UPDATE {member} SET id = id WHERE id = {which}")
            self.execute(f"DELETE FROM {member} WHERE id = {which}")

    # --- DDL ------------------------------------------------------------------------------------

    @rule(table=tables)
    def rename_unread(self, table: str) -> None:
        was, self.other[table] = self.other[table], self.fresh("b")
        self.execute(f"ALTER TABLE {self.names[table]} RENAME {was} TO {self.other[table]}")

    @rule(table=tables)
    def replace_unread(self, table: str) -> None:
        name = self.other[table]
        self.execute(f"ALTER TABLE {self.names[table]} DROP {name}, ADD {name} varchar")

    @rule(table=tables)
    def add_column_and_index(self, table: str) -> None:
        self.execute(f"ALTER TABLE {self.names[table]} ADD {self.fresh('c')} int DEFAULT 5")
        self.execute(f"CREATE INDEX ON {self.names[table]} (id)")

    @rule(table=st.sampled_from(("plain", "parts")), type_=st.sampled_from(("bigint", "int")))
    def retype_read(self, table: str, type_: str) -> None:
        self.execute(f"ALTER TABLE {self.names[table]} ALTER {self.read[table]} TYPE {type_}")

    @rule(table=st.sampled_from(("plain", "parts")))
    def rename_read(self, table: str) -> None:
        """There, and back the next time."""
        was = self.read[table]
        self.read[table] = "aa" if was == "a" else "a"
        self.execute(f"ALTER TABLE {self.names[table]} RENAME {was} TO {self.read[table]}")

    @rule(table=tables)
    def rename_table(self, table: str) -> None:
        was, self.names[table] = self.names[table], self.fresh(table)
        self.execute(f"ALTER TABLE {was} RENAME TO {self.names[table]}")

    @rule(factor=numbers)
    def replace_function(self, factor: int) -> None:
        self.execute(
            "CREATE OR REPLACE FUNCTION scaled(x numeric) RETURNS numeric LANGUAGE sql IMMUTABLE"
            f" AS 'SELECT x * {factor}'"
        )

    @rule(low=numbers)
    def replace_view(self, low: int) -> None:
        self.execute(
            f"CREATE OR REPLACE VIEW seen AS SELECT id, a FROM {self.names['tree']}"
            f" WHERE id > {low - 1}"
        )

    @rule(filled=st.booleans())
    def create_members(self, filled: bool) -> None:
        child = self.fresh("tree_")
        self.execute(f"CREATE TABLE {child} () INHERITS ({self.names['tree']})")
        part, value = self.fresh("parts_"), 100 + self.made
        self.execute(
            f"CREATE TABLE {part} PARTITION OF {self.names['parts']} FOR VALUES IN ({value})"
        )
        if filled:
            self.execute(f"INSERT INTO {part} (id) VALUES ({value})")
            self.execute(f"INSERT INTO {child} (id) VALUES ({value})")

    @rule(which=numbers)
    def detach_and_attach(self, which: int) -> None:
        """Nobody sees what is written in between."""
        for part in self.members("parts")[1:]:
            value = 100 + int(part.removeprefix("parts_"))
            self.execute(f"ALTER TABLE {self.names['parts']} DETACH PARTITION {part}")
            if which % 3 == 0:
                continue
            self.execute(f"INSERT INTO {part} (id) SELECT {value} WHERE {which} % 3 = 1")
            self.execute(
                f"ALTER TABLE {self.names['parts']} ATTACH PARTITION {part} FOR VALUES IN ({value})"
            )

    @rule()
    def drop_members(self) -> None:
        for member in self.members("parts")[1:] + self.members("tree")[1:]:
            self.execute(f"DROP TABLE {member}")

    # --- pieces ---------------------------------------------------------------------------------

    def bring_back(self) -> None:
        """The columns that are read, under their names."""
        for table, name in self.read.items():
            if name != "a":
                self.rename_read(table)

    def lacks(self, name: str) -> bool:
        """Whether one of QUERIES reads a column that is gone."""
        return any(now != "a" and name in READERS_OF_A[table] for table, now in self.read.items())

    def assert_same(self, name: str, stored: str) -> None:
        """By one of QUERIES and by what is stored of it."""
        query = QUERIES[name].format(**self.names)
        for first, second in ((query, stored), (stored, query)):
            assert self.execute(f"({first}) EXCEPT ALL ({second})") == [], name

    def members(self, table: str) -> list[str]:
        rows = self.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            f" WHERE inhparent = '{self.names[table]}'::regclass ORDER BY pg_inherits.inhrelid"
        )
        return [row[0] for row in rows]

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem.rstrip('0123456789')}{self.made}"
