"""A standalone cluster and a Connect server, started here: exact, also after they were lost."""

from __future__ import annotations

from apart import run_apart


def test_a_master_with_two_workers(database: str) -> None:
    run_apart("cluster.py", database)


def test_a_connect_server(database: str) -> None:
    run_apart("connect.py", database)
