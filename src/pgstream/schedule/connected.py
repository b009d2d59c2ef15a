"""Connected: which sets share something, directly or through others."""

from __future__ import annotations

from collections.abc import Mapping, Set


def connected(sets: Mapping[int, Set[int]]) -> list[list[int]]:
    """The keys, grouped: those of two groups have nothing in common.

    >>> connected({1: {10, 11}, 2: {12}, 3: {11, 13}})
    [[1, 3], [2]]
    """
    group_of: dict[int, list[int]] = {}
    holder: dict[int, int] = {}
    for key, members in sets.items():
        group_of[key] = [key]
        for other in {holder[member] for member in members if member in holder}:
            _unite(group_of, key, other)
        holder.update(dict.fromkeys(members, key))
    groups = {id(group): sorted(group) for group in group_of.values()}
    return sorted(groups.values())


def _unite(group_of: dict[int, list[int]], one: int, other: int) -> None:
    long, short = sorted((group_of[one], group_of[other]), key=len, reverse=True)
    if long is not short:
        long += short
        group_of.update(dict.fromkeys(short, long))
