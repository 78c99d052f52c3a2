"""The people of the tests, and what they have."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission, User

from sessions_app.models import Agent, ApiKey, Price, Provider, Session
from sessions_app.service import Caller
from sessions_app.store.sessions import SessionFilter
from widget.models import Embed
from widget.tokens import Claim, issue

ALICE_KEY = "lk_alice"
BOB_KEY = "lk_bob"
SHOP = "https://shop.example"


def make_agent(slug: str = "helper", **fields: Any) -> Agent:
    """An agent on the providers primary and backup."""
    for name in ("primary", "backup"):
        provider, is_new = Provider.objects.get_or_create(
            name=name, defaults={"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
        )
        if is_new:
            Price.objects.create(provider=provider, model="*", input="1", output="2")
    fields.setdefault("route", ["primary/gpt-x", "backup/claude-y"])
    fields.setdefault("is_default", not Agent.objects.filter(is_default=True).exists())
    return Agent.objects.create(slug=slug, **fields)


def make_editor(model: str) -> User:
    """Staff who may do anything to rows of that model, and nothing else."""
    user = User.objects.create_user("ed", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__model=model))
    return user


def make_key(key: str, **fields: Any) -> ApiKey:
    """An API key of that text."""
    row = ApiKey(name=key, **fields)
    row.set_key(key)
    row.save()
    return row


def make_embed(agent: Agent, key: str = "pk_shop", **fields: Any) -> Embed:
    """An embed on the shop's site."""
    return Embed.objects.create(key=key, agent=agent, **{"origins": [SHOP], **fields})


def visitor_token(embed: Embed, visitor_id: str) -> str:
    """The token of a visitor of that embed."""
    return issue(Claim(embed.key, visitor_id))


def make_caller(name: str = "key:1", *, sees_all: bool = False) -> Caller:
    """A caller that sees its own sessions, or all."""
    return Caller(name, SessionFilter(owner=None if sees_all else name))


def make_session(agent: Agent, owner: str = "key:1", **fields: Any) -> Session:
    """A session of that owner."""
    return Session.objects.create(agent=agent, owner=owner, **fields)
