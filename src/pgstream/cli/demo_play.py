"""Plays the steps of the demo: shows each statement, runs it, shows what came of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from pgstream.cli.demo_steps import STREAM_TABLES, Step
from pgstream.cli.output import console, table_of

if TYPE_CHECKING:
    from pgstream.client import PgStream

_HISTORY = """
SELECT t.pgs_name AS layer, h.action, h.changes_read, h.rows_read,
       h.rows_inserted, h.rows_deleted, h.spark_actions,
       round(h.compute_ms + h.apply_ms)::bigint AS ms
FROM pgstream.pgs_refresh_history h JOIN pgstream.pgs_stream_tables t USING (pgs_id)
WHERE h.refresh_id > %s AND h.status = 'COMPLETED'
ORDER BY h.refresh_id
"""
_CURRENT = """
SELECT count(*) FROM pgstream.pgs_refresh_history h
JOIN pgstream.pgs_stream_tables t USING (pgs_id)
WHERE h.refresh_id > %s AND h.status = 'COMPLETED' AND t.pgs_name = 'department_report'
  AND h.action <> 'NO_DATA'
"""
_HEADS = {
    "changes_read": "changes",
    "rows_read": "read",
    "rows_inserted": "+rows",
    "rows_deleted": "−rows",
    "spark_actions": "Spark",
}
"""Short: a table fits a terminal of 80 columns."""
_PATIENCE = 30.0


class Player:
    def __init__(self, as_json: bool) -> None:
        self.quiet = as_json
        self.record: list[dict[str, Any]] = []
        self.screen: Console = console(width_of_a_pipe=100)

    def play(self, stream: PgStream, step: Step) -> None:
        self._title(step)
        mark = self._mark(stream)
        for number, statement in enumerate(step.statements):
            rows = self.run(stream, statement)
            if number == step.awaited:
                self._await_worker(stream, mark)
                self._show_work(stream, mark)
            elif "refresh_stream_table" in statement or "wait_for" in statement:
                self._show_work(stream, mark)
                mark = self._mark(stream)
            elif rows is not None and "pgstream." not in statement:
                self._show(None, rows)

    def run(self, stream: PgStream, statement: str) -> list[dict[str, Any]] | None:
        """Shows and runs a statement; its rows, if it has any."""
        self._print(Padding(_highlighted(statement), (1, 2, 0, 2), expand=False))
        cursor = stream.connection.execute(statement.encode())
        rows = _dicts(cursor) if cursor.description else None
        is_call = "SELECT pgstream." in statement
        self._note({"statement": statement, **({} if is_call or rows is None else {"rows": rows})})
        return rows

    def verify(self, stream: PgStream) -> list[dict[str, Any]]:
        self._print(Text())
        self._print(Rule("[bold]7. Is it right?", align="left"))
        self.say("Each stream table against PostgreSQL's own answer to its query:")
        found = []
        for name in reversed(STREAM_TABLES):
            answer = stream.verify(name)
            result = "exact" if answer.exact else "DIFFERS"
            row = {"name": answer.name, "result": result}
            found.append({**row, "missing": answer.missing, "extra": answer.extra})
        self._show(None, found)
        return found

    def farewell(self, ways: dict[str, Any], seconds: float) -> None:
        self._print(Text())
        self._print(Rule("[bold]Go on", align="left"))
        self.say(
            f"That took {seconds:.0f} s. PostgreSQL stops now; the data stays. Start it again,"
            " with a worker:"
        )
        self._command(ways["serve"])
        self.say("and in another terminal:")
        for name in ("psql", "list", "explain"):
            self._command(ways[name])

    def say(self, words: str) -> None:
        self._print(Text(words))

    # --- pieces -----------------------------------------------------------------------------

    def _title(self, step: Step) -> None:
        self.record.append({"title": step.title, "statements": []})
        self._print(Text())
        self._print(Rule(f"[bold]{step.title}", align="left"))
        self.say(step.words)

    def _mark(self, stream: PgStream) -> int:
        rows = stream.execute(
            "SELECT coalesce(max(refresh_id), 0) FROM pgstream.pgs_refresh_history"
        )
        return int(rows[0][0])

    def _await_worker(self, stream: PgStream, mark: int) -> None:
        end = time.monotonic() + _PATIENCE
        while not stream.execute(_CURRENT, (mark,))[0][0] and time.monotonic() < end:
            time.sleep(0.1)

    def _show_work(self, stream: PgStream, mark: int) -> None:
        rows = _dicts(stream.own.execute(_HISTORY, (mark,)))
        self._note({"refreshed": rows})
        short = [{_HEADS.get(name, name): value for name, value in row.items()} for row in rows]
        self._show("What was refreshed", short)

    def _show(self, title: str | None, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._print(table_of(title, rows, tuple(rows[0])))
        else:
            self._print(Padding(Text("(no rows)", style="dim"), (0, 2)))

    def _command(self, command: str) -> None:
        self._print(Text(f"  {command}", style="bold green"))

    def _note(self, what: dict[str, Any]) -> None:
        if self.record:
            self.record[-1]["statements"].append(what)

    def _print(self, what: Any) -> None:
        if not self.quiet:
            self.screen.print(what)


def _dicts(cursor: Any) -> list[dict[str, Any]]:
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _highlighted(statement: str) -> Text:
    text = Syntax("", "postgresql", theme="ansi_dark").highlight(statement)
    text.rstrip()
    return text
