"""ps.execute: the rows of a statement of the user's."""

from __future__ import annotations

from pgstream.client import connect


def test_rows_without_columns_are_rows(database):
    with connect(database.dsn) as stream:
        assert stream.execute("SELECT FROM generate_series(1, 3)") == [(), (), ()]
        assert stream.execute("SELECT 1 WHERE false") == []
        assert stream.execute("SET work_mem = '4MB'") == []
