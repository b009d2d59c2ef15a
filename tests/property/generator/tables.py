"""Base tables and their changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from generator.pieces import Dice, Expr, Relation

COLUMNS = {
    "a": "int", "b": "bigint", "n": "numeric(8,2)", "s": "text", "f": "boolean", "d": "date",
}  # fmt: skip
KINDS = {
    "int": "int", "bigint": "bigint", "numeric(8,2)": "numeric", "text": "text",
    "boolean": "bool", "date": "date",
}  # fmt: skip


@dataclass
class Table:
    """A base table: k, and some of the other columns; maybe with a primary key."""

    name: str
    columns: dict[str, str]
    keyed: bool
    dice: Dice
    rows: int
    ids: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**6)))

    def create(self) -> str:
        key = "id int PRIMARY KEY, " if self.keyed else ""
        listed = ", ".join(f"{name} {type_}" for name, type_ in self.columns.items())
        return f"CREATE TABLE {self.name} ({key}{listed})"

    def relation(self) -> Relation:
        columns = [
            Expr(name, KINDS[type_], 9, 2 if type_.startswith("numeric") else 0)
            for name, type_ in self.columns.items()
        ]
        if self.keyed:
            columns.append(Expr("id", "int", 1000))
        return Relation(self.name, tuple(columns), self.rows * 3)

    def value(self, type_: str) -> str:
        if self.dice.maybe(0.12):
            return "NULL"
        if type_ in ("int", "bigint"):
            return str(self.dice.choice((-1, 0, 1, 1, 2, 2, 3, 4)))
        if type_.startswith("numeric"):
            return self.dice.choice(("0", "1.5", "2.25", "-1.10", "1", "2", "3"))
        if type_ == "text":
            return self.dice.choice(("'x'", "'y'", "''", "'xy'", "'Ä\\'"))
        if type_ == "boolean":
            return self.dice.choice(("true", "false"))
        return f"'2024-01-0{self.dice.randint(1, 4)}'"

    def row(self) -> str:
        values = [str(next(self.ids))] if self.keyed else []
        values += [self.value(type_) for type_ in self.columns.values()]
        return f"({', '.join(values)})"

    def insert(self, count: int) -> str:
        listed = [self.row() for _ in range(count)]
        if not self.keyed and self.dice.maybe(0.4):
            listed += listed[:2]
        return f"INSERT INTO {self.name} VALUES {', '.join(listed)}"

    def condition(self) -> str:
        name, type_ = self.dice.choice(list(self.columns.items()))
        form = self.dice.random()
        if form < 0.15:
            return f"{name} IS NULL"
        if form < 0.25:
            return f"ctid = (SELECT min(ctid) FROM {self.name})"
        return f"{name} = {self.value(type_)}"

    def change(self) -> str:
        form = self.dice.random()
        if form < 0.4:
            return self.insert(self.dice.randint(1, 4))
        if form < 0.75:
            chosen = self.dice.sample(list(self.columns.items()), self.dice.randint(1, 2))
            sets = ", ".join(f"{name} = {self.value(type_)}" for name, type_ in chosen)
            if self.keyed and self.dice.maybe(0.2):
                one = f"id = (SELECT min(id) FROM {self.name})"
                return f"UPDATE {self.name} SET id = {next(self.ids)}, {sets} WHERE {one}"
            where = f" WHERE {self.condition()}" if self.dice.maybe(0.9) else ""
            return f"UPDATE {self.name} SET {sets}{where}"
        if form < 0.95:
            return f"DELETE FROM {self.name} WHERE {self.condition()}"
        if form < 0.98:
            return f"DELETE FROM {self.name}"
        return f"TRUNCATE {self.name}"


def table(dice: Dice, name: str, rows: int) -> Table:
    chosen = sorted(dice.sample(list(COLUMNS), dice.randint(2, 4)))
    columns = {"k": "int", **{column: COLUMNS[column] for column in chosen}}
    return Table(name, columns, dice.maybe(0.5), dice, rows)
