"""PostgreSQL's own grammar: text to parse tree, and parse tree to text.

The one module that knows libpg_query's binding. A tree is its protobuf message: each node is a
`Node` with one field set, whose name is the node's type, such as `select_stmt` or `a_expr`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import postgast
from postgast import pg_query_pb2 as messages

Tree = Any
"""A message of the parse tree. The binding's types end here."""

NODE_TYPES = frozenset(field.name for field in messages.Node.DESCRIPTOR.fields)
PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_$]*")
FREE_KEYWORDS = ("NO_KEYWORD", "UNRESERVED_KEYWORD")
PLACES = frozenset(("location", "name_location", "stmt_location", "stmt_len", "list_start",
                    "list_end", "rexpr_list_start", "rexpr_list_end"))  # fmt: skip


class GrammarError(Exception):
    """What PostgreSQL's parser says of a text, and the offset at which it stands, if known."""

    def __init__(self, message: str, offset: int | None) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


class Statement(NamedTuple):
    kind: str
    tree: Tree


def statements(text: str) -> list[Statement]:
    """The statements of the text, each with its type: `select_stmt`, `insert_stmt` …"""
    try:
        parsed = postgast.parse(text)
    except postgast.PgQueryError as error:
        offset = error.cursorpos - 1  # in characters, where nodes count bytes
        raise GrammarError(error.message, offset if offset >= 0 else None) from None
    found = (raw.stmt for raw in parsed.stmts)
    return [Statement(kind, getattr(node, kind)) for node in found if (kind := kind_of(node))]


def character(text: str, byte: int) -> int:
    """The offset of what stands at an offset in bytes, as nodes have it."""
    return byte if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))


def kind_of(node: Tree) -> str | None:
    """The type of a node; None for an empty one."""
    kind: str | None = node.WhichOneof("node")
    return kind


def unwrapped(node: Tree) -> Tree:
    """What a node holds."""
    return getattr(node, node.WhichOneof("node"))


def named(kind: str, tree: Tree) -> Tree:
    """The message as a node of its type."""
    node = messages.Node()
    getattr(node, kind).CopyFrom(tree)
    return node


def column_ref(name: str) -> Tree:
    node = messages.Node()
    node.column_ref.fields.add().string.sval = name
    return node


def sort_by(name: str) -> Tree:
    node = messages.Node()
    node.sort_by.node.CopyFrom(column_ref(name))
    set_enum(node.sort_by, "sortby_dir", "SORTBY_DEFAULT")
    set_enum(node.sort_by, "sortby_nulls", "SORTBY_NULLS_DEFAULT")
    return node


def enum_name(tree: Tree, field: str) -> str:
    """The name of an enumerated field's value: JOIN_LEFT."""
    kind = tree.DESCRIPTOR.fields_by_name[field].enum_type
    name: str = kind.values_by_number[getattr(tree, field)].name
    return name


def set_enum(tree: Tree, field: str, name: str) -> None:
    kind = tree.DESCRIPTOR.fields_by_name[field].enum_type
    setattr(tree, field, kind.values_by_name[name].number)


# --- tree to text ---------------------------------------------------------------------------------


def expression_text(node: Tree) -> str:
    """An expression as PostgreSQL reads it."""
    select = messages.SelectStmt()
    select.target_list.add().res_target.val.CopyFrom(node)
    return _query_text(select).removeprefix("SELECT ").strip()


def relation_text(node: Tree) -> str:
    """An item of FROM as PostgreSQL reads it."""
    select = messages.SelectStmt()
    select.from_clause.add().CopyFrom(node)
    return _query_text(select).removeprefix("SELECT FROM ").strip()


def type_text(type_name: Tree) -> str:
    plain = messages.TypeName()
    plain.CopyFrom(type_name)
    forget_positions(plain)
    return _type_text(plain.SerializeToString(deterministic=True))


@lru_cache(maxsize=1024)
def _type_text(serialized: bytes) -> str:
    node = messages.Node()
    node.type_cast.arg.a_const.isnull = True
    node.type_cast.type_name.ParseFromString(serialized)
    return expression_text(node).removeprefix("NULL::")


def _query_text(select: Tree) -> str:
    select.limit_option = messages.LIMIT_OPTION_COUNT
    select.op = messages.SETOP_NONE
    result = messages.ParseResult(version=180000)
    result.stmts.add().stmt.select_stmt.CopyFrom(select)
    return str(postgast.deparse(result))


@lru_cache(maxsize=4096)
def needs_quotes(name: str) -> bool:
    """As PostgreSQL's quote_identifier: also a keyword that is not free as a name."""
    if not PLAIN_NAME.fullmatch(name):
        return True
    tokens = postgast.scan(name).tokens
    words = [messages.KeywordKind.Name(token.keyword_kind) for token in tokens]
    return len(words) != 1 or words[0] not in FREE_KEYWORDS


# --- walking and comparing ------------------------------------------------------------------------


def children(tree: Tree) -> Iterator[Tree]:
    """The messages that stand directly in the message, in order."""
    for field, value in tree.ListFields():
        if field.message_type is not None:
            yield from value if field.is_repeated else (value,)


def parts(tree: Tree) -> Iterator[Tree]:
    """The message and all messages in it."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(children(part))


def each(tree: Tree, visit: Callable[[Tree], bool]) -> None:
    """Visits the nodes in the message, in order; what `visit` answers with True is not entered."""
    for part in children(tree):
        if not (part.DESCRIPTOR.name == "Node" and visit(part)):
            each(part, visit)


def forget_positions(tree: Tree) -> None:
    for part in parts(tree):
        forget_position(part)


def forget_position(part: Tree) -> None:
    for name in _positions(part.DESCRIPTOR):
        part.ClearField(name)


@lru_cache(maxsize=1024)
def _positions(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in kind.fields if field.name in PLACES)


def first_difference(left: Tree, right: Tree, around: str = "query") -> str | None:
    """The type of the smallest node in which two trees without positions differ; None if equal."""
    if left == right:
        return None
    if left.DESCRIPTOR is not right.DESCRIPTOR:
        return around
    if left.DESCRIPTOR.name == "Node":
        kinds = kind_of(left), kind_of(right)
        if kinds[0] != kinds[1] or kinds[0] is None:
            return kinds[0] or kinds[1] or around
        return first_difference(unwrapped(left), unwrapped(right), kinds[0])
    for field in left.DESCRIPTOR.fields:
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        if field.message_type is None or ours == theirs:
            continue
        if not field.is_repeated:
            return first_difference(ours, theirs, around)
        for one, other in zip(ours, theirs, strict=False):
            if one != other:
                return first_difference(one, other, around)
    return around
