"""stages_of: what a refresh does, stage by stage. The same value is run and explained."""

from __future__ import annotations

from pgstream.algebra.plan import Accumulated, Plan
from pgstream.algebra.top import Top
from pgstream.refresh.stages.apply_delta import ApplyDelta
from pgstream.refresh.stages.choose_first_rows import ChooseFirstRows
from pgstream.refresh.stages.compute_delta import ComputeDelta
from pgstream.refresh.stages.compute_result import ComputeResult
from pgstream.refresh.stages.finish_groups import FinishGroups
from pgstream.refresh.stages.follow_nested_state import FollowNestedState, group_stages
from pgstream.refresh.stages.follow_recursion import FollowRecursion
from pgstream.refresh.stages.pass_on_delta import PassOnDelta
from pgstream.refresh.stages.read_changes import ReadChanges
from pgstream.refresh.stages.read_input_again import ReadInputAgain
from pgstream.refresh.stages.show_first_rows import ShowFirstRows
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.store_first_rows import StoreFirstRows
from pgstream.refresh.stages.store_groups import StoreGroups
from pgstream.refresh.stages.store_nested_state import StoreNestedState
from pgstream.refresh.stages.store_recursion import StoreRecursion

Stages = tuple[Stage, ...]


def stages_of(plan: Plan, whole: bool) -> Stages:
    """`whole`: from whole tables, else from changes. All that writes comes last."""
    follows, stores = _tables_of_our_own(plan, whole)
    if plan.accumulated is not None:
        computes, keeps = _groups(plan, plan.accumulated, whole)
    elif plan.top is not None:
        computes, keeps = _first_rows(plan, plan.top, whole)
    else:
        computes, keeps = ((ComputeResult if whole else ComputeDelta)(plan),), ()
    # A delta is passed on as it was applied: that tells which of equal rows are gone.
    ends = (ApplyDelta(), PassOnDelta())
    return ReadChanges(plan, whole), *follows, *computes, *stores, *keeps, *ends


def _tables_of_our_own(plan: Plan, whole: bool) -> tuple[Stages, Stages]:
    """What the query reads beside its sources: recursive CTEs, then nested state."""
    follows: Stages = ()
    stores: Stages = ()
    if plan.recursions:
        follows += (FollowRecursion(plan.recursions, whole),)
        stores += (StoreRecursion(plan.recursions, whole),)
    if plan.hidden:
        follows += (FollowNestedState(plan.hidden, whole),)
        stores += (StoreNestedState(plan.hidden, whole),)
    return follows, stores


def _groups(plan: Plan, accumulated: Accumulated, whole: bool) -> tuple[Stages, Stages]:
    """The query ends in an aggregate, whose accumulators are stored."""
    finishes = FinishGroups(accumulated, plan.top, whole)
    return (*group_stages(accumulated, whole), finishes), (StoreGroups(accumulated, whole),)


def _first_rows(plan: Plan, top: Top, whole: bool) -> tuple[Stages, Stages]:
    """The query has ORDER BY … LIMIT, and its first rows are stored."""
    computes = (ComputeResult if whole else ComputeDelta)(plan)
    again = () if whole else (ReadInputAgain(plan),)
    chooses = (ChooseFirstRows(top, whole), *again, ShowFirstRows(top))
    return (computes, *chooses), (StoreFirstRows(top, whole),)
