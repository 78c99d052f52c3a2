"""What an embed looks like and says, from the file to the browser."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from sessions_app.provision import ProvisionError, apply
from tests.widget.conftest import Visitors
from widget.models import Embed

LOOKS: dict[str, Any] = {
    "title": "Ask the shop",
    "greeting": "**Hello!** 5 < 10, <https://shop.example>",
    "placeholder": "Ask away",
    "agent_name": "Ember",
    "suggestions": ["Sizes?", "Returns?"],
    "accent": "#fa0",
    "theme": "dark",
    "position": "left",
    "radius": 0,
    "launcher_label": "Ask us",
    "collect_context": True,
    "open_after_s": 2.5,
    "open_on_path": "/pricing*",
    "open_on_exit": True,
    "nudge": "Need a hand?",
}
CONFIG = {
    "title": "Ask the shop",
    "greeting": "**Hello!** 5 < 10, <https://shop.example>",
    "placeholder": "Ask away",
    "agentName": "Ember",
    "suggestions": ["Sizes?", "Returns?"],
    "accent": "#ffaa00",
    "theme": "dark",
    "position": "left",
    "radius": 0,
    "launcherLabel": "Ask us",
    "collectContext": True,
    "pageTool": False,
    "emailTranscript": False,
    "attachments": False,
    "openAfter": 2.5,
    "openOnPath": "/pricing*",
    "openOnExit": True,
    "nudge": "Need a hand?",
}


def toml(**looks: Any) -> str:
    lines = [f"{name} = {_literal(value)}" for name, value in looks.items()]
    head = ['[[embed]]\nkey = "pk_shop"\nagent = "helper"', *lines]
    return "\n".join(head) + "\n"


def _literal(value: Any) -> str:
    return repr(value).replace("'", '"').replace("True", "true")


def test_file_reaches_the_browser(visitors: Visitors, embed: Embed) -> None:
    apply(toml(**LOOKS))
    assert visitors.bootstrap().json["config"] == CONFIG
    answer = visitors.config()
    assert answer.json == CONFIG
    assert "max-age=60" in answer.header("cache-control")
    Embed.objects.get().full_clean()


def test_new_embed_has_the_widgets_own_looks(visitors: Visitors) -> None:
    config = visitors.config().json
    assert config["theme"] == "auto"
    assert config["suggestions"] == []
    unset = ("accent", "position", "launcherLabel", "openOnPath", "nudge")
    assert [config[name] for name in unset] == [""] * 5
    assert (config["radius"], config["openAfter"]) == (None, None)


def test_config_begins_no_visitor_and_tells_no_stranger(
    visitors: Visitors, embed: Embed
) -> None:
    assert "visitorToken" not in visitors.config().json
    assert visitors.config(origin=None).status == 200
    assert visitors.config(origin="https://evil.example").code == "forbidden_origin"
    assert visitors.config(key="pk_none").status == 404
    embed.is_enabled = False
    embed.save()
    assert visitors.config().status == 404


# Colours were free text before: what the widget cannot read stays the widget's own.
def test_older_colour_that_is_none_is_left_out(visitors: Visitors, embed) -> None:
    embed.accent = "rebeccapurple"
    embed.save()
    assert visitors.config().json["accent"] == ""


BAD: list[tuple[str, Any]] = [
    ("accent", "teal"),
    ("accent", "#12345"),
    ("accent", "red;}body{x:y"),
    ("title", "x" * 81),
    ("title", "<b>Shop</b>"),
    ("title", "two\nlines"),
    ("greeting", "<script>alert(1)</script>"),
    ("greeting", "x" * 2001),
    ("placeholder", "<i>"),
    ("agent_name", "a\tb"),
    ("suggestions", ["x"] * 7),
    ("suggestions", ["x" * 121]),
    ("suggestions", ["fine", " "]),
    ("suggestions", ["<img src=x>"]),
    ("suggestions", "Sizes?"),
    ("suggestions", [7]),
    ("theme", "blue"),
    ("position", "top"),
    ("radius", 41),
    ("radius", -1),
    ("launcher_label", "x" * 41),
    ("launcher_label", "<b>"),
    ("open_after_s", -1),
    ("open_after_s", 3601),
    ("open_on_path", "pricing"),
    ("open_on_path", "/" + "x" * 200),
    ("nudge", "<a href=x>"),
    ("nudge", "x" * 201),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_looks_are_refused_everywhere(embed: Embed, name, value) -> None:
    with pytest.raises(ProvisionError) as refusal:
        apply(toml(**{name: value}))
    assert refusal.value.line == 4
    setattr(embed, name, value)
    with pytest.raises(ValidationError) as fault:
        embed.full_clean()
    assert list(fault.value.message_dict) == [name]


def test_hard_to_read_accent_is_taken_with_a_warning(embed: Embed) -> None:
    report = apply(toml(accent="#e63946"))
    assert Embed.objects.get().accent == "#e63946"
    [warning] = report.warnings
    assert warning.startswith("embed pk_shop: Text on the accent #e63946")
    assert apply(toml(accent="#0b6e4f")).warnings == []
