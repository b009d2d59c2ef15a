"""The error tree: codes, rendering, and the trip through pickle."""

import inspect
import pickle
import re

import pytest

from pgstream import errors
from pgstream.errors import (
    CaptureLost,
    ComputeError,
    ConnectionFailed,
    CycleError,
    DependentsExist,
    PgStreamError,
    QueryError,
    RefreshConflict,
    RefreshTimeout,
    ServerShort,
    SparkLost,
    UnsupportedConstruct,
)

CLASSES = [
    cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, PgStreamError)
]


def test_codes_are_unique() -> None:
    codes = [cls.code for cls in CLASSES]
    assert sorted(set(codes)) == sorted(codes)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_class_has_its_own_code_and_place_in_the_drawing(cls: type[PgStreamError]) -> None:
    assert "code" in vars(cls)
    assert re.fullmatch(r"PGS-\d{4}", cls.code)
    assert re.search(rf"^[│├└─ ]*{cls.__name__}\b", errors.__doc__ or "", re.MULTILINE)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_class_renders(cls: type[PgStreamError]) -> None:
    assert str(cls("No.")) == "No."
    error = cls("It does not work", detail="The detail.", hint="Do this.")
    assert str(error) == "It does not work\nThe detail.\nHint: Do this."


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_class_survives_pickle(cls: type[PgStreamError]) -> None:
    error = cls("It does not work", detail="The detail.", hint="Do this.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_transient_errors_are_those_we_retry() -> None:
    retried = {
        CaptureLost,
        ConnectionFailed,
        RefreshConflict,
        RefreshTimeout,
        ServerShort,
        SparkLost,
    }
    assert {cls for cls in CLASSES if cls.transient} == retried


def test_a_query_error_says_where() -> None:
    error = QueryError("Column x does not exist", line=2, column=7, hint="Try y.")
    assert str(error) == "Column x does not exist (line 2, column 7)\nHint: Try y."
    assert error.message == "Column x does not exist"
    assert str(QueryError("No such column.", line=2, column=7)) == (
        "No such column (line 2, column 7)."
    )
    assert str(QueryError("Bad", line=3)) == "Bad (line 3)"


def test_extra_fields() -> None:
    construct = UnsupportedConstruct("No", construct="GROUPING SETS", line=1, column=1)
    assert construct.construct == "GROUPING SETS"
    assert CycleError("No", path=["a", "b", "a"]).path == ("a", "b", "a")
    assert DependentsExist("No", dependents=["a"]).dependents == ("a",)
    assert ComputeError("No", cause="out of memory").cause == "out of memory"
    copy = pickle.loads(pickle.dumps(construct))
    assert (copy.construct, copy.line) == ("GROUPING SETS", 1)
