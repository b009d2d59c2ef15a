"""docs/design/calculus.md says of every operator what it does with keys."""

from __future__ import annotations

import re

from documents import ROOT
from pgstream.algebra.operators.table import OPERATORS

# A scan and the rows of a recursion become other leaves before; keys are not restricted by keys.
NEVER_RESTRICTED = {"Scan", "Working", "Keys"}
WRITTEN = {"OuterJoin": "LEFT and FULL Join"}


def test_every_operator_is_in_the_table_of_restriction() -> None:
    text = (ROOT / "docs/design/calculus.md").read_text()
    table = text.split("| node | the keys go |")[1].split("\n\n")[0]
    nodes = " ".join(re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE))
    for operator in {o.__name__ for o in OPERATORS} - NEVER_RESTRICTED:
        assert WRITTEN.get(operator, operator) in nodes, operator
