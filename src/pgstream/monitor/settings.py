"""Settings as operators see them: value, source, default, what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pgstream.settings import DECLARED, WITHOUT_EFFECT, Found, Settings, look_up


def setting_rows(server: Mapping[str, str], given: Settings | None) -> list[dict[str, Any]]:
    """`server` has what is set there; `given` are settings of the program, which count alone."""
    found = look_up(server) if given is None else _of_the_program(given)
    return [*map(_row, found), *_without_effect(server)]


def _of_the_program(given: Settings) -> tuple[Found, ...]:
    return tuple(Found(each, getattr(given, each.name), "program") for each in DECLARED)


def _row(found: Found) -> dict[str, Any]:
    setting = found.setting
    return {
        "setting": setting.name,
        "value": found.value,
        "source": found.source,
        "default": setting.default,
        "allowed": setting.allowed,
        "meaning": setting.sentence,
        "has_effect": True,
    }


def _without_effect(server: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for name, reason in WITHOUT_EFFECT.items():
        yield {
            "setting": name,
            "value": server.get(name, ""),
            "source": "server" if name in server else "default",
            "default": "",
            "allowed": "anything",
            "meaning": reason,
            "has_effect": False,
        }
