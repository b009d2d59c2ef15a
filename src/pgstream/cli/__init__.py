"""The command line: `pgstream COMMAND`. One command per file."""


def main() -> None:
    """The entry point of the script `pgstream`."""
    from pgstream.cli.app import app
    from pgstream.cli.quiet import keep_children_quiet

    keep_children_quiet()
    app()


__all__ = ["main"]
