"""explain: the trees and the stages that run, and what they read."""

from __future__ import annotations

from pgstream.algebra.plan import Plan
from pgstream.database.connection import Connection
from pgstream.monitor import explain as monitor
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.stages_of import stages_of


def explain(plan: Plan, connection: Connection) -> monitor.Rows:
    """Properties of the plan, in order, as explain_st shows them."""
    stages = [
        (f"{title} Stages", told(stages_of(plan, whole)))
        for title, whole in (("Differential", False), ("Full", True))
    ]
    return [*monitor.explain(plan, connection), *stages]


def told(stages: tuple[Stage, ...]) -> str:
    """One line a stage: its name, and what it does for this table."""
    width = max(len(stage.name) for stage in stages)
    return "\n".join(f"{stage.name.ljust(width)}  {stage.does}" for stage in stages)
