"""draw: an operator tree as text, and its nodes in words."""

from __future__ import annotations

from collections.abc import Iterator

from pgstream.algebra.expressions import Expression, to_postgres
from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.keys import KeyFilter, Keys, Lookup
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Change, Part, Scan, Stored
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.operators.working import Working


def draw(node: Node) -> str:
    """The tree, one operator a line, inputs indented. A part that occurs again is not drawn
    again: it has a number where it stands first."""
    seen: dict[Node, int] = {}
    lines: list[tuple[int, Node, bool]] = []

    def visit(part: Node, depth: int) -> None:
        below = parts_of(part)
        again = bool(below) and part in seen
        lines.append((depth, part, again))
        if again:
            seen[part] += 1
            return
        seen.setdefault(part, 1)
        for child in below:
            visit(child, depth + 1)

    visit(node, 0)
    repeated = [part for part, count in seen.items() if count > 1]
    numbers = {part: i for i, part in enumerate(repeated, 1)}
    texts = []
    for depth, part, again in lines:
        mark = f" #{numbers[part]}" if part in numbers else ""
        text = f"as{mark} above" if again else describe(part) + mark
        texts.append("  " * depth + text)
    return "\n".join(texts)


def parts_of(node: Node) -> tuple[Node, ...]:
    """The keys by which a node reads, if any, and its inputs."""
    return (node.keys, *node.inputs) if isinstance(node, Lookup | KeyFilter) else node.inputs


def describe(node: Node) -> str:
    match node:
        case Scan(source, fields):
            return f"Scan {source} ({', '.join(f.name for f in fields)})"
        case Stored(scan):
            return f"Stored {scan.source}"
        case Change(scan, part):
            return f"Change {scan.source}" + (" pending" if part is Part.PENDING else "")
        case Lookup(stored, indexes, _):
            return f"Lookup {stored.scan.source} by {named(stored.columns, indexes)}"
        case KeyFilter(inner, indexes, _):
            return f"KeyFilter by {named(inner.columns, indexes)}"
        case Keys(inner, indexes, _):
            return f"Keys {named(inner.columns, indexes)}"
        case Filter(inner, predicate):
            return f"Filter {text(predicate, inner)}"
        case Project(inner, expressions, names):
            items = [
                name if text(e, inner) == name else f"{text(e, inner)} AS {name}"
                for e, name in zip(expressions, names, strict=True)
            ]
            return f"Project {', '.join(items)}"
        case Pairing():
            return describe_join(node)
        case Aggregate(inner, keys, calls):
            listed = [
                f"{c.function}({'*' if c.argument is None else inner.columns[c.argument].name})"
                for c in calls
            ]
            return f"Aggregate {', '.join(listed)} by ({named(inner.columns, keys)})"
        case Accumulate(inner, keys, accumulators):
            listed = [a.name for a in accumulators]
            return f"Accumulate {', '.join(listed)} by ({named(inner.columns, keys)})"
        case Window(inner, keys, calls):
            listed = [f"{c.function} ({c.frame})" for c in calls]
            return f"Window {', '.join(listed)} by ({named(inner.columns, keys)})"
        case ByPostgres(inner, keys=keys, label=label):
            by = "" if keys is None else f" by ({named(inner.columns, keys)})"
            return f"ByPostgres {label}{by}"
        case Shared(_, name):
            return f"Shared {name}"
        case Working(name):
            return f"Working {name}"
        case Weigh(inner, count):
            return f"Weigh {text(count, inner)}"
        case RowId(inner, indexes):
            return f"RowId of ({named(inner.columns, indexes)})"
        case Parameter(name):
            return f"Parameter {name}"
        case _:
            return type(node).__name__


def describe_join(node: Pairing) -> str:
    left, right = node.left.columns, node.right.columns
    equals = "IS NOT DISTINCT FROM" if node.nulls_match else "="
    pairs = [f"{left[a].name} {equals} {right[b].name}" for a, b in node.on]
    if node.condition is not None:
        pairs.append(text(node.condition, node))
    kind = "Join"
    if isinstance(node, OuterJoin):
        kind = "FullJoin" if node.keeps_right else "LeftJoin"
    return f"{kind} on {' AND '.join(pairs)}" if pairs else f"{kind} (no equality)"


def text(expression: Expression, node: Node) -> str:
    columns = node.columns
    return to_postgres(expression, lambda i: columns[i].name)


def named(columns: tuple[Column, ...], indexes: tuple[int, ...]) -> str:
    return ", ".join(columns[i].name for i in indexes)


def all_nodes(node: Node) -> Iterator[Node]:
    """The node and all below it, also what keys are made of, each once."""
    seen: set[Node] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part not in seen:
            seen.add(part)
            yield part
            waiting.extend(reversed(parts_of(part)))
