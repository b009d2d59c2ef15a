"""The stages of every kind of plan: each in the file of its name, all that writes at the end."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.expressions import Ref
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.working import Working
from pgstream.algebra.plan import Plan, plan
from pgstream.algebra.top import Order, Top
from pgstream.algebra.types import BIGINT, DOUBLE, INTEGER
from pgstream.refresh import stages
from pgstream.refresh.explain import told
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.stages_of import stages_of

T = Scan(Source(7, "public", "t", False), (Field("g", INTEGER), Field("x", DOUBLE)))
LOW = Scan(Source(8, "public", "low", True), (Field("g", INTEGER), Field("x", INTEGER)))
TOP = Top((Order(0, True, True, None),), limit=3, offset=1, hidden=())


def aggregated(scan: Scan, function: str) -> Project:
    type_ = scan.fields[1].type
    call = AggregateCall(function, 1, BIGINT if function == "count" else type_)
    return Project(Aggregate(scan, (0,), (call,)), (Ref(1, type_),), ("value",))


def recursion() -> Recursion:
    source = Source(-1, "pgstream_state", "recursive_1_0", True)
    step = Project(Working("r", (Column("g", INTEGER),)), (Ref(0, INTEGER),), ("g",))
    base = Project(LOW, (Ref(0, INTEGER),), ("g",))
    return Recursion("r", source, (Field("g", INTEGER),), base, step, None, (0,))


HIDDEN = Hidden(
    Aggregate(LOW, (0,), ()), Source(-1, "pgstream_state", "hidden_1_0", is_stream=False)
)
PLAIN = Project(T, (Ref(0, INTEGER),), ("g",))
PLANS: dict[str, Plan] = {
    "plain": plan(PLAIN),
    "counts": plan(aggregated(T, "count")),
    "extremes": plan(aggregated(LOW, "max")),
    "floats": plan(aggregated(T, "sum")),
    "first rows": plan(PLAIN, TOP),
    "first groups": plan(aggregated(LOW, "max"), TOP),
    "recursive": plan(PLAIN, None, [recursion()]),
    "nested": plan(PLAIN, None, (), [HIDDEN]),
}
BOTH = [(plan, whole) for plan in PLANS.values() for whole in (False, True)]
ENDS = "; apply delta; pass on delta"
WANTED = {
    ("plain", False): "read changes; compute delta",
    ("plain", True): "read changes; compute result",
    ("counts", False): "read changes; accumulate changes; add to groups; finish groups;"
    " store groups",
    ("extremes", False): "read changes; accumulate changes; add to groups; read groups again;"
    " finish groups; store groups",
    ("extremes", True): "read changes; accumulate all; finish groups; store groups",
    ("floats", False): "read changes; find touched groups; read groups again; finish groups;"
    " store groups",
    ("first rows", False): "read changes; compute delta; choose first rows; read input again;"
    " show first rows; store first rows",
    ("first rows", True): "read changes; compute result; choose first rows; show first rows;"
    " store first rows",
    ("first groups", False): "read changes; accumulate changes; add to groups; read groups again;"
    " finish groups; store groups",
    ("recursive", False): "read changes; follow recursion; compute delta; store recursion",
    ("recursive", True): "read changes; follow recursion; compute result; store recursion",
    ("nested", False): "read changes; follow nested state; compute delta; store nested state",
    ("nested", True): "read changes; follow nested state; compute result; store nested state",
}


@pytest.mark.parametrize(("kind", "whole"), WANTED)
def test_the_stages(kind: str, whole: bool) -> None:
    found = stages_of(PLANS[kind], whole)
    assert "; ".join(stage.name for stage in found) == WANTED[kind, whole] + ENDS


def test_explain_shows_every_stage_with_words_of_its_own() -> None:
    for plan_, whole in BOTH:
        found = stages_of(plan_, whole)
        lines = told(found).splitlines()
        assert [line.split("  ")[0] for line in lines] == [stage.name for stage in found]
        words = [line.split("  ", 1)[1].strip() for line in lines]
        assert all(words)
        assert len(set(words)) == len(words)


def test_the_architecture_names_every_stage() -> None:
    text = (Path(__file__).parents[4] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for plan_, whole in BOTH:
        assert all(stage.name in text for stage in stages_of(plan_, whole))


def test_what_changes_is_named() -> None:
    first, *_ = stages_of(PLANS["extremes"], False)
    assert first.does == ("what is new in public.low since the last refresh, less what cancels out")
    first, *_ = stages_of(PLANS["extremes"], True)
    assert first.does == "what is new in public.low in this cycle"
    first, *_ = stages_of(PLANS["plain"], True)
    assert first.does == "none: tables are read whole"


def test_all_that_writes_comes_after_all_that_computes() -> None:
    for plan_, whole in BOTH:
        steps = [stage.step for stage in stages_of(plan_, whole)]
        assert steps == sorted(steps, key=list(Step).index)


def test_a_stage_is_in_the_file_of_its_name_and_occurs() -> None:
    occur = {stage.name for plan_, whole in BOTH for stage in stages_of(plan_, whole)}
    names = [module.name for module in pkgutil.iter_modules(stages.__path__)]
    modules = [importlib.import_module(f"{stages.__name__}.{name}") for name in names]
    found = set()
    for module in modules:
        for value in vars(module).values():
            is_stage = isinstance(value, type) and issubclass(value, Stage) and value is not Stage
            if is_stage and value.__module__ == module.__name__:
                found.add(module.__name__.rpartition(".")[2].replace("_", " "))
                assert value.name.fget(object.__new__(value)) in found
    assert found == occur
