"""pgstream settings"""

from __future__ import annotations

import json

from typer.testing import CliRunner

from pgstream.cli.app import app

OWNER = "pgs_test_owner"


def test_settings_of_the_environment_the_database_and_by_default(database, monkeypatch):
    admin = database.connect()
    name = admin.info.dbname
    admin.execute(f"ALTER DATABASE {name} SET pg_stream.max_concurrent_refreshes = '2'")
    admin.execute(f"ALTER DATABASE {name} SET pg_stream.merge_strategy = 'merge'")
    monkeypatch.setenv("PGSTREAM_CRON_TIMEZONE", "Europe/Berlin")
    done = CliRunner().invoke(app, ["settings", "--json", "--dsn", database.dsn_as(OWNER)])
    assert done.exit_code == 0
    rows = {row["setting"]: row for row in json.loads(done.stdout)}

    def shown(setting: str) -> tuple[object, ...]:
        return tuple(rows[setting][key] for key in ("value", "source", "has_effect"))

    assert shown("max_concurrent_refreshes") == (2, "server", True)
    assert shown("cron_timezone") == ("Europe/Berlin", "environment", True)
    assert shown("scheduler_interval_ms") == (1000, "default", True)
    assert shown("merge_strategy") == ("merge", "server", False)


def test_settings_for_people(database):
    done = CliRunner().invoke(app, ["settings", "--dsn", database.dsn_as(OWNER)])
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["enabled", "on", "default", "on", "on", "or", "off"] in lines
