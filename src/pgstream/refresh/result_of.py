"""result_of: what a refresh of a table did, and why."""

from __future__ import annotations

from pgstream.catalog.records import Action, RefreshResult
from pgstream.refresh.decide import Decision
from pgstream.refresh.stages.work import Work


def result_of(work: Work, decision: Decision) -> RefreshResult:
    tools, applied = work.tools, work.applied
    action, reason = decision.action, decision.reason
    if work.is_without_effect:
        asks = any(scan.where for scan in tools.prepared.plan.sources.values())
        does = "do not reach the result" if asks or work.nested else "cancel out"
        action, reason = Action.NO_DATA, f"{tools.changes.total} changes {does}"
    elif work.note:
        reason = f"{reason}; {work.note}"
    return RefreshResult(
        tools.prepared.table.full_name,
        action,
        reason,
        changes_read=0 if decision.is_whole else tools.changes.total,
        rows_read=tools.execution.leaves.rows_read,
        rows_inserted=applied.rows_inserted,
        rows_deleted=applied.rows_deleted,
        spark_actions=tools.execution.spark_actions,
        analysis_ms=tools.execution.times.analysis,
        planning_ms=tools.execution.times.planning,
        running_ms=tools.execution.times.running,
        expected_rows=decision.expected.rows if decision.expected else None,
        expected_ms=decision.expected.ms if decision.expected else None,
        stages=work.ran,
    )
