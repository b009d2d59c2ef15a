"""Stage: a named part of a refresh. It takes what is known so far, and returns what is then."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pgstream.refresh.stages.work import Work


class Step(StrEnum):
    """The step of the cycle that a stage belongs to. Only APPLY writes what is stored."""

    COMPUTE = "compute"
    APPLY = "apply"


@dataclass(frozen=True)
class Stage(ABC):
    step: ClassVar[Step] = Step.COMPUTE

    @property
    def name(self) -> str:
        """ReadChanges: read changes."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()

    @property
    @abstractmethod
    def does(self) -> str:
        """A few words on what it does for this table."""

    def is_needed(self, work: Work) -> bool:
        return not work.is_without_effect

    @abstractmethod
    def run(self, work: Work) -> Work: ...
