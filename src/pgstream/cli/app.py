"""The commands, in the order in which `pgstream --help` lists them."""

from __future__ import annotations

import typer

from pgstream.cli.alter import alter
from pgstream.cli.bench import bench
from pgstream.cli.bench_parallel import parallel
from pgstream.cli.bench_plans import plans
from pgstream.cli.bench_tpch import tpch
from pgstream.cli.bench_wake import wake
from pgstream.cli.bench_writes import writes
from pgstream.cli.create import create
from pgstream.cli.demo import demo
from pgstream.cli.drop import drop
from pgstream.cli.errors import Commands
from pgstream.cli.explain import explain
from pgstream.cli.health import health
from pgstream.cli.history import history
from pgstream.cli.init import init
from pgstream.cli.list import list_tables
from pgstream.cli.refresh import refresh
from pgstream.cli.repair import repair
from pgstream.cli.serve import serve
from pgstream.cli.settings import settings
from pgstream.cli.status import status
from pgstream.cli.verify import verify
from pgstream.cli.watch import watch

COMMANDS = (
    ("demo", demo),
    ("init", init),
    ("create", create),
    ("alter", alter),
    ("drop", drop),
    ("refresh", refresh),
    ("list", list_tables),
    ("status", status),
    ("health", health),
    ("history", history),
    ("explain", explain),
    ("verify", verify),
    ("repair", repair),
    ("serve", serve),
    ("watch", watch),
    ("settings", settings),
    ("bench", bench),
)
BENCHES = (
    ("plans", plans),
    ("tpch", tpch),
    ("writes", writes),
    ("wake", wake),
    ("parallel", parallel),
)

app = typer.Typer(
    cls=Commands,
    help="SQL queries as stream tables: PostgreSQL tables that keep themselves fresh.",
    epilog="Start with: pgstream demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in COMMANDS[:-1]:
    app.command(name)(command)
benches = typer.Typer(invoke_without_command=True)
benches.callback()(bench)
for name, measures in BENCHES:
    benches.command(name)(measures)
app.add_typer(benches, name="bench")
