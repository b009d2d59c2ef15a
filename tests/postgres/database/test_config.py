"""dump_config and restore_config."""

from __future__ import annotations

import json

import psycopg
import pytest

SOURCES = """
CREATE SCHEMA shop;
CREATE TABLE shop."Order" (id int PRIMARY KEY, region text, amount numeric);
CREATE VIEW shop.large AS SELECT * FROM shop."Order" WHERE amount > 10;
SET pg_stream.min_schedule_seconds = '1';
"""
STREAM_TABLES = """
SET search_path = shop, public;
SELECT pgstream.create_stream_table('z_first', 'SELECT id, region -- ours
    FROM "Order"', schedule => '5s');
SELECT pgstream.create_stream_table('shop."A b"', 'SELECT region, count(*) AS n FROM public.z_first
    JOIN large USING (id, region) GROUP BY region', schedule => '@hourly');
SELECT pgstream.create_stream_table('asleep', 'SELECT n FROM shop."A b"', 'CALCULATED', 'FULL');
SELECT pgstream.create_stream_table('empty', 'SELECT ''x''''y'' AS t FROM large',
    initialize => false);
SELECT pgstream.alter_stream_table('asleep', status => 'SUSPENDED');
RESET search_path;
"""
SHOWN = """
SELECT pgs_schema, pgs_name, defining_query, original_query, query_with_views, owner_role, schedule,
       refresh_mode, status, functions_used
  FROM pgstream.pgs_stream_tables ORDER BY pgs_schema, pgs_name
"""


def dump(connection) -> str:
    return str(connection.execute("SELECT pgstream.dump_config()").fetchone()[0])


def restore(connection, config: str) -> int:
    return int(connection.execute("SELECT pgstream.restore_config(%s)", (config,)).fetchone()[0])


def test_what_was_dumped_is_made_again_exactly(
    database, owner, create_database, installed_template
):
    owner.execute(SOURCES)
    owner.execute(STREAM_TABLES)
    config = dump(owner)
    other = psycopg.connect(
        create_database(installed_template), user="pgs_test_owner", autocommit=True
    )
    database.connections.callback(other.close)
    other.execute(SOURCES)
    assert restore(other, config) == 4
    assert dump(other) == config
    assert other.execute(SHOWN).fetchall() == owner.execute(SHOWN).fetchall()
    depend = "SELECT count(*), count(DISTINCT pgs_id) FROM pgstream.pgs_dependencies"
    assert other.execute(depend).fetchone() == owner.execute(depend).fetchone()


def test_those_that_others_read_come_first(owner):
    owner.execute(SOURCES)
    owner.execute(STREAM_TABLES)
    tables = json.loads(dump(owner))["stream_tables"]
    names = [table["name"] for table in tables]
    assert names == ["public.empty", "public.z_first", 'shop."A b"', "public.asleep"]


def test_all_or_none(owner):
    owner.execute(SOURCES)
    owner.execute(STREAM_TABLES)
    config = json.loads(dump(owner))
    owner.execute("SELECT pgstream.drop_stream_table('asleep')")
    owner.execute("SELECT pgstream.drop_stream_table('shop.\"A b\"')")
    before = dump(owner)
    config["stream_tables"].reverse()
    with pytest.raises(psycopg.Error):
        restore(owner, json.dumps(config))
    assert dump(owner) == before


def test_nothing_to_dump(owner):
    assert json.loads(dump(owner)) == {"version": 1, "stream_tables": []}
    assert restore(owner, dump(owner)) == 0


@pytest.mark.parametrize(
    "config", ["", "{", "[]", "{}", '{"version": 2, "stream_tables": []}', None]
)
def test_what_is_no_configuration_is_refused(owner, config):
    with pytest.raises(psycopg.Error) as caught:
        owner.execute("SELECT pgstream.restore_config(%s)", (config,))
    assert caught.value.sqlstate == "PS032"


@pytest.mark.parametrize("table", [{}, 1, None, {"name": "x"}])
def test_a_table_without_a_definition_is_refused(owner, table):
    with pytest.raises(psycopg.Error):
        restore(owner, json.dumps({"version": 1, "stream_tables": [table]}))
