"""The examples of the page are run, and what they sign is accepted."""

from __future__ import annotations

import json
import re
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from sessions_app.models import Session
from tests.fakes.live_server import ROOT
from tests.widget.conftest import Visitors
from widget.models import Embed

PAGE = (ROOT / "docs" / "howto" / "identity.md").read_text()
SECRET = "a random text of at least 32 characters"


def code_of(language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(code)


def by_django(settings: Any) -> str:
    settings.LANTERN_SECRET = SECRET
    names: dict[str, Any] = {}
    exec(code_of("python"), names)
    user = SimpleNamespace(pk=42, email="k@x.example", get_full_name=lambda: "Käthe")
    return str(names["lantern_token"](user))


def by_node(settings: Any) -> str:
    user = {"id": 42, "name": "Käthe", "email": "k@x.example"}
    call = f"lanternToken({json.dumps(user)}, {json.dumps(SECRET)})"
    script = f"{code_of('javascript')}\nprocess.stdout.write({call});"
    node = ["node", "--input-type=module", "--eval", script]
    done = subprocess.run(node, capture_output=True, text=True, check=True)
    return done.stdout


def by_php(settings: Any) -> str:
    user = "['id' => 42, 'name' => 'Käthe', 'email' => 'k@x.example']"
    script = f"{code_of('php')}\necho lantern_token({user}, '{SECRET}');"
    php = ["php", "-r", script]
    return subprocess.run(php, capture_output=True, text=True, check=True).stdout


def by_ruby(settings: Any) -> str:
    user = '{ id: 42, name: "Käthe", email: "k@x.example" }'
    # Whatever the locale says, as in a file.
    script = (
        f'# encoding: utf-8\n{code_of("ruby")}\nprint lantern_token({user}, "{SECRET}")'
    )
    ruby = ["ruby", "-e", script]
    return subprocess.run(ruby, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("sign", [by_django, by_node, by_php, by_ruby])
def test_token_of_the_example_is_accepted(
    visitors: Visitors, embed: Embed, settings: Any, sign: Any
) -> None:
    embed.secret = SECRET
    embed.save()
    visitors.session(visitors.token(identity={"token": sign(settings)}))
    session = Session.objects.get(user="42")
    assert session.metadata == {"user": {"name": "Käthe", "email": "k@x.example"}}
