"""Admit: which of the decided jobs begin now. Pure.

Refreshes that are known to compute a whole result may take long. They never take the last lane, so
that the small ones, of which there are many, do not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgstream.schedule.decide import Job

Jobs = tuple[Job, ...]


def admit(jobs: Sequence[Job], running: Iterable[Job], lanes: int) -> tuple[Jobs, Jobs]:
    """Those that begin, and those that wait, in their order."""
    under_way = tuple(running)
    free = lanes - len(under_way)
    free_for_whole = max(lanes - 1, 1) - sum(job.is_whole for job in under_way)
    begun: list[Job] = []
    waiting: list[Job] = []
    for job in jobs:
        if len(begun) < free and (not job.is_whole or free_for_whole > 0):
            begun.append(job)
            free_for_whole -= job.is_whole
        else:
            waiting.append(job)
    return tuple(begun), tuple(waiting)
