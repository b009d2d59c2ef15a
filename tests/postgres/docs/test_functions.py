"""docs/reference/functions.md is what its generator gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pgstream.database.connection import connect_as_user as connect
from pgstream.database.embedded import EmbeddedServer

DOCS = Path(__file__).parents[3] / "docs"


def test_the_file_is_generated(server: EmbeddedServer, make_database) -> None:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate_functions.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    with connect(server.dsn_for(make_database())) as connection:
        wanted = generate.document(connection)
    written = generate.FILE.read_text(encoding="utf-8")
    assert written == wanted, "Run: python docs/generate_functions.py"
