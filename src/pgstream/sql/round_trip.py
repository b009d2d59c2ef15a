"""round_trip: what is written of a query is what was read of it.

    statements(write(read(tree))) = tree

for the tree of PostgreSQL's grammar, without positions in the text. So nothing is read otherwise
than PostgreSQL reads it: what would be is refused. These differences say nothing:

- `ASC`, `NULLS LAST` after ASC and `NULLS FIRST` after DESC, which are the default;
- `ROWS 1 PRECEDING` for `ROWS BETWEEN 1 PRECEDING AND CURRENT ROW`;
- `OVER (w)` for `OVER w`, if w has no frame, as PostgreSQL requires of the former;
- LATERAL before a function in FROM.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import (
    GrammarError,
    Tree,
    enum_name,
    first_difference,
    forget_position,
    parts,
    set_enum,
    statements,
)
from pgstream.sql.writer import write

FRAME, BETWEEN = 0x1, 0x10  # of frame_options
FUNCTIONS = ("RangeFunction", "JsonTable", "RangeTableFunc")


def require_round_trip(tree: Tree, made: exp.Expr) -> None:
    """Raises if the text of the made query has another tree."""
    text = write(made)
    try:
        (again,) = statements(text)
    except (GrammarError, ValueError):
        raise _misread("query", text) from None
    found = first_difference(_plain(tree), _plain(again.tree))
    if found is not None:
        raise _misread(found, text)


def _plain(tree: Tree) -> Tree:
    """The tree without positions, and without what says nothing."""
    copy = type(tree)()
    copy.CopyFrom(tree)
    for part in parts(copy):
        forget_position(part)
        name = part.DESCRIPTOR.name
        if name == "SortBy":
            _plain_order(part)
        elif name == "WindowDef":
            _plain_window(part)
        elif name in FUNCTIONS:
            part.ClearField("lateral")
    return copy


def _plain_order(part: Tree) -> None:
    direction, nulls = enum_name(part, "sortby_dir"), enum_name(part, "sortby_nulls")
    if direction == "SORTBY_ASC":
        set_enum(part, "sortby_dir", "SORTBY_DEFAULT")
    usual = "SORTBY_NULLS_FIRST" if direction == "SORTBY_DESC" else "SORTBY_NULLS_LAST"
    if nulls == usual:
        set_enum(part, "sortby_nulls", "SORTBY_NULLS_DEFAULT")


def _plain_window(part: Tree) -> None:
    part.frame_options &= ~BETWEEN
    is_more = part.name or part.partition_clause or part.order_clause or part.frame_options & FRAME
    if part.refname and not is_more:
        part.name, part.refname = part.refname, ""


def _misread(construct: str, text: str) -> UnsupportedConstruct:
    name = construct.replace("_", " ")
    return UnsupportedConstruct(
        f"The query has a construct that pgstream does not write as it reads it: {name}.",
        construct=name,
        detail=f"It writes {text}",
        hint="Move that part into a function's body, or leave it out. Please report it.",
    )
