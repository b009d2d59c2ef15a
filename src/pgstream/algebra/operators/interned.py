"""Interned: equal trees are one object."""

from __future__ import annotations

from abc import ABCMeta
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

_known: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()
_lock = RLock()  # two threads that make the same node must get one


class Interned(ABCMeta):
    """A delta tree holds the same parts in many places; so these are compared and looked up in no
    time, and each is computed once."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        with _lock:
            return _known.setdefault((cls, *vars(made).values()), made)
