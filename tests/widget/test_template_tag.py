from __future__ import annotations

import hmac
import time
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jwt
import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ImproperlyConfigured
from django.template import Context, Engine, TemplateSyntaxError

from sessions_app.models import Session
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


LONG = "a secret of the shop's own, 32 characters or more"


def test_token_of_the_tag_is_taken_by_the_server(
    visitors: Visitors, embed: Embed, settings: Any
) -> None:
    settings.LANTERN_WIDGET = {"key": "pk_shop", "secret": LONG, "proof": "token"}
    embed.secret = LONG
    embed.save()
    user = User.objects.create(username="k", first_name="Käthe", email="k@x.example")
    attributes = render("identity=user", user=user)
    # What the widget sends, by these two attributes: see widget.ts.
    identity = {
        "userId": attributes["data-user-id"],
        "hash": attributes["data-user-hash"],
    }
    visitors.session(visitors.token(identity=identity))
    session = Session.objects.get(user=str(user.pk))
    assert session.metadata == {"user": {"name": "Käthe", "email": "k@x.example"}}
    answer = visitors.bootstrap(identity={**identity, "userId": "another"})
    assert (answer.status, answer.code) == (401, "unauthorized")


def test_token_ends_within_the_hour() -> None:
    token = render("'pk_shop' '42' proof='token' secret=secret", secret=LONG)
    claims = jwt.decode(str(token["data-user-hash"]), LONG, algorithms=["HS256"])
    assert claims == {"sub": "42", "exp": claims["exp"]}
    assert 3590 < claims["exp"] - time.time() <= 3600


# Django keeps addresses of 254 characters; the server would refuse the whole token.
def test_what_is_too_long_for_a_claim_is_left_out() -> None:
    user = User(pk=7, first_name="Ann", email="a" * 190 + "@shop.example")
    token = render("'pk_shop' user proof='token' secret=secret", user=user, secret=LONG)
    claims = jwt.decode(str(token["data-user-hash"]), LONG, algorithms=["HS256"])
    assert (claims["name"], "email" in claims) == ("Ann", False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("proof='jwt' secret='s3cret'", "'jwt'; it knows: hash, token"),
        ("proof='token' secret='s3cret'", "32 characters"),
    ],
)
def test_proof_that_cannot_be_is_a_fault(arguments: str, words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        render(f"'pk_shop' '42' {arguments}")


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
    allowed = (
        *("django", "__future__", "base64", "hashlib", "hmac"),
        *("json", "time", "typing"),
    )
    assert all(line.split()[1].split(".")[0] in allowed for line in imports)
