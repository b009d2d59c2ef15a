"""Settings: where they come from, and what is refused."""

import dataclasses

import pytest

from pgstream.errors import SettingError
from pgstream.settings import DECLARED, WITHOUT_EFFECT, Setting, Settings, look_up

RANGED = [each for each in DECLARED if each.low is not None]


def by_name(setting: Setting) -> str:
    return setting.name


def test_defaults_are_those_of_the_specification() -> None:
    settings = Settings.load(environ={})
    assert settings == Settings()
    assert settings.enabled is True
    assert settings.scheduler_interval_ms == 1000
    assert settings.min_schedule_seconds == 60
    assert settings.max_consecutive_errors == 3
    assert settings.small_path_rows == 50_000
    assert settings.differential_max_change_ratio == 0.5
    assert settings.spark_master == "local[*]"
    assert settings.spark_remote == ""
    assert settings.small_path_rows == 50_000
    assert settings.read_slices == 0


def test_every_setting_is_declared_with_a_sentence() -> None:
    assert [each.name for each in DECLARED] == [f.name for f in dataclasses.fields(Settings)]
    assert all(each.sentence.endswith(".") for each in DECLARED)


def test_environment_wins_over_server_wins_over_default() -> None:
    server = {"max_consecutive_errors": "5", "pg_stream.small_path_rows": "8"}
    environ = {"PGSTREAM_MAX_CONSECUTIVE_ERRORS": "7"}
    settings = Settings.load(server, environ)
    assert settings.max_consecutive_errors == 7
    assert settings.small_path_rows == 8
    assert settings.min_schedule_seconds == 60


def test_what_all_must_share_the_server_says() -> None:
    environ = {"PGSTREAM_CDC_MODE": "wal", "PGSTREAM_CAPTURE_ERRORS": "mark"}
    settings = Settings.load({"pg_stream.cdc_mode": "auto"}, environ)
    assert (settings.cdc_mode, settings.capture_errors) == ("auto", "mark")


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSTREAM_SPARK_MASTER", "local[2]")
    assert Settings.load().spark_master == "local[2]"


def test_an_empty_value_counts_as_none() -> None:
    server = {"read_slices": "", "enabled": None, "spark_master": ""}
    assert Settings.load(server, {"PGSTREAM_READ_SLICES": ""}) == Settings()


def test_unknown_names_are_ignored() -> None:
    assert Settings.load({"pg_stream.other": "x"}, {"PGSTREAM_OTHER": "x"}) == Settings()


@pytest.mark.parametrize("text", ["on", "true", "1", "yes", "ON", " True "])
def test_true(text: str) -> None:
    assert Settings.load(environ={"PGSTREAM_ENABLED": text}).enabled is True


@pytest.mark.parametrize("text", ["off", "false", "0", "no", "OFF"])
def test_false(text: str) -> None:
    assert Settings.load({"enabled": text}, {}).enabled is False


@pytest.mark.parametrize("setting", RANGED, ids=by_name)
def test_the_ends_of_a_range_are_allowed(setting: Setting) -> None:
    for end in (setting.low, setting.high):
        settings = Settings.load({setting.name: str(end)}, {})
        assert getattr(settings, setting.name) == end


@pytest.mark.parametrize("setting", RANGED, ids=by_name)
def test_outside_the_range_is_refused(setting: Setting) -> None:
    assert setting.low is not None
    assert setting.high is not None
    for outside in (setting.low - 1, setting.high + 1):
        with pytest.raises(SettingError, match=setting.name):
            Settings.load({setting.name: str(outside)}, {})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("enabled", "perhaps"),
        ("read_slices", "many"),
        ("read_slices", "1.5"),
        ("differential_max_change_ratio", "nan"),
        ("differential_max_change_ratio", "x"),
    ],
)
def test_a_wrong_type_is_refused(name: str, text: str) -> None:
    with pytest.raises(SettingError, match=name):
        Settings.load({name: text}, {})


def test_the_refusal_names_value_source_and_range() -> None:
    with pytest.raises(SettingError) as caught:
        Settings.load(environ={"PGSTREAM_MAX_CONSECUTIVE_ERRORS": "999"})
    assert str(caught.value) == (
        "Setting max_consecutive_errors cannot be 999, from the environment "
        "(PGSTREAM_MAX_CONSECUTIVE_ERRORS)\n"
        "It must be a whole number from 1 to 100.\n"
        "Hint: Set PGSTREAM_MAX_CONSECUTIVE_ERRORS or "
        "pg_stream.max_consecutive_errors; the default is 3."
    )
    with pytest.raises(SettingError, match=r"from the server \(pg_stream\.enabled\)"):
        Settings.load({"enabled": "maybe"}, {})


def test_values_from_the_program_are_checked_too() -> None:
    assert Settings(differential_max_change_ratio=1).differential_max_change_ratio == 1
    with pytest.raises(SettingError, match="read_slices"):
        Settings(read_slices=-1)
    with pytest.raises(SettingError, match="enabled"):
        Settings(enabled=1)  # type: ignore[arg-type]


def test_each_value_tells_its_source() -> None:
    server = {"read_slices": "2", "max_recursion": "5"}
    found = look_up(server, {"PGSTREAM_MAX_RECURSION": "7"})
    sources = {each.setting.name: (each.value, each.source) for each in found}
    assert list(sources) == [each.name for each in DECLARED]
    assert sources["read_slices"] == (2, "server")
    assert sources["max_recursion"] == (7, "environment")
    assert sources["cron_timezone"] == ("UTC", "default")


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/New_York"])
def test_a_time_zone(name: str) -> None:
    assert Settings.load({"cron_timezone": name}, {}).cron_timezone == name


@pytest.mark.parametrize("name", ["Mars/Olympus", "America", "../UTC", "/etc/passwd", "x" * 300])
def test_no_time_zone(name: str) -> None:
    with pytest.raises(SettingError, match="It must be a time zone"):
        Settings.load({"cron_timezone": name}, {})


def test_settings_without_effect_are_not_declared_and_say_why() -> None:
    assert not WITHOUT_EFFECT.keys() & {each.name for each in DECLARED}
    assert all(reason.endswith(".") for reason in WITHOUT_EFFECT.values())
