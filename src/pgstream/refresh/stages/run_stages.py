"""run_stages: walks the stages of one step of the cycle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work


def run_stages(stages: Iterable[Stage], step: Step, work: Work) -> Work:
    """What is known after them; those that have nothing to do are passed over."""
    for stage in stages:
        if stage.step is step and stage.is_needed(work):
            work = stage.run(work)
            work = replace(work, ran=(*work.ran, stage.name))
    return work
