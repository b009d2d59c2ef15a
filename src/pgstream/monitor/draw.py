"""draw: an operator tree as text."""

from __future__ import annotations

from pgstream.algebra.operators.node import Node


def draw(node: Node) -> str:
    """The tree, one operator a line, inputs indented. A part that occurs again is not drawn
    again: it has a number where it stands first."""
    seen: dict[Node, int] = {}
    lines: list[tuple[int, Node, bool]] = []

    def visit(part: Node, depth: int) -> None:
        below = part.parts
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
        text = f"as{mark} above" if again else part.describe() + mark
        texts.append("  " * depth + text)
    return "\n".join(texts)
