from __future__ import annotations

import hmac
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ImproperlyConfigured
from django.template import Context, Engine, TemplateSyntaxError

from tests.fakes.live_server import ROOT
from tests.widget.conftest import Visitors
from widget.models import Embed
from widget.templatetags import lantern

ENGINE = Engine(libraries={"lantern": "widget.templatetags.lantern"})


class Tags(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def render(arguments: str, **context: Any) -> dict[str, str | None]:
    """The attributes of the one tag that comes of it."""
    page = ENGINE.from_string(
        f"{{% load lantern %}}{{% lantern_widget {arguments} %}}"
    ).render(Context(context))
    [(tag, attributes)] = Tags(page).seen
    assert tag == "script"
    return attributes


def test_key_alone_is_the_line_of_the_readme() -> None:
    expected = {"src": "/widget.js", "data-key": "pk_shop", "async": None}
    assert render("'pk_shop'") == expected


def test_settings_hold_what_every_page_shares(settings) -> None:
    settings.LANTERN_WIDGET = {
        "server": "https://chat.example.com/",
        "key": "pk_shop",
        "secret": "s3cret",
    }
    attributes = render("identity='42'")
    assert attributes["src"] == "https://chat.example.com/widget.js"
    assert attributes["data-key"] == "pk_shop"
    expected = hmac.new(b"s3cret", b"42", sha256).hexdigest()
    assert attributes["data-user-hash"] == expected
    assert render("'pk_b' server='https://b.example'")["data-key"] == "pk_b"


def test_signed_user_is_taken_by_the_server(visitors: Visitors, embed: Embed) -> None:
    embed.secret = "s3cret"
    embed.save()
    user = User.objects.create(username="bob")
    attributes = render("'pk_shop' user secret='s3cret'", user=user)
    assert attributes["data-user-id"] == str(user.pk)
    identity = {"userId": str(user.pk), "hash": attributes["data-user-hash"]}
    assert visitors.bootstrap(identity=identity).status == 200


@pytest.mark.parametrize("nobody", [None, AnonymousUser(), ""])
def test_nobody_is_said_to_be_nobody(nobody) -> None:
    attributes = render("'pk_shop' identity=user secret='s3cret'", user=nobody)
    assert attributes["data-user-id"] == ""
    assert "data-user-hash" not in attributes


def test_user_without_a_secret_is_a_fault_of_the_settings() -> None:
    with pytest.raises(ImproperlyConfigured, match="secret"):
        render("'pk_shop' identity='42'")
    with pytest.raises(ImproperlyConfigured, match="key"):
        render("")


def test_options_become_attributes() -> None:
    attributes = render(
        "'pk_shop' position='left' launcher_label='Ask us' suggestions=asked"
        " ask_context=True open_on_exit=False open_after=5 theme=None nonce='abc'",
        asked=["Sizes?", "a|b"],
    )
    del attributes["src"], attributes["async"]
    assert attributes == {
        "data-key": "pk_shop",
        "data-position": "left",
        "data-launcher-label": "Ask us",
        "data-suggestions": "Sizes?|a/b",
        "data-ask-context": "true",
        "data-open-on-exit": "false",
        "data-open-after": "5",
        "nonce": "abc",
    }


def test_unknown_option_is_refused() -> None:
    with pytest.raises(TemplateSyntaxError, match="'colour'; it knows: accent"):
        render("'pk_shop' colour='red'")


HOSTILE = "\"'><script>alert(1)</script>&"


@pytest.mark.parametrize(
    "name", ["key", "server", "nonce", "identity", *lantern.OPTIONS]
)
def test_no_value_leaves_its_attribute(name: str) -> None:
    given = "" if name == "key" else "'pk_shop' secret='s3cret'"
    attributes = render(f"{given} {name}=hostile", hostile=HOSTILE)
    assert any(HOSTILE in str(value) for value in attributes.values())


def test_every_option_is_an_attribute_of_the_widget() -> None:
    page = (ROOT / "docs" / "widget.md").read_text()
    names = ["data-" + name.replace("_", "-") for name in lantern.OPTIONS]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_file_needs_nothing_of_lantern() -> None:
    source = Path(str(lantern.__file__)).read_text()
    imports = [x for x in source.splitlines() if x.startswith(("import", "from"))]
    allowed = ("django", "__future__", "hashlib", "typing", "hmac")
    assert all(line.split()[1].split(".")[0] in allowed for line in imports)
