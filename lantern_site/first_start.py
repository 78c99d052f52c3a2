"""What the first start makes: an admin, a provider, agents, an embed and a key.

Everything is looked for before it is made, so later starts change nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from django.contrib.auth import get_user_model

from sessions_app.conf import read_env
from sessions_app.domain import ids
from sessions_app.domain.lists import texts_of
from sessions_app.models import Agent, ApiKey, Provider
from sessions_app.models.api_key import hash_key, new_key
from sessions_app.providers.openai import services
from sessions_app.tools.builtin import BUILTIN
from widget.models import Embed

RECORD = "first_start.json"
ADMIN = "admin"
PASSWORD_LENGTH = 16
EMBED_KEY = "pk_demo"
DEMO_ROUTE = "demo/demo"
OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4.1-mini"
PROBE_TIMEOUT_S = 0.5

# Not vLLM, whose usual port is this server's own.
LOCAL_SERVICES = ("ollama", "lmstudio", "llamacpp")


@dataclass(frozen=True, slots=True)
class FirstStart:
    """The secrets of the first start, kept so that each start can print them."""

    password: str
    key: str

    @classmethod
    def load(cls, folder: Path) -> FirstStart:
        """The kept secrets; made and kept, for the owner's eyes only, if missing."""
        path = folder / RECORD
        if path.exists():
            return cls(**json.loads(path.read_text()))
        made = cls(ids.random_text(PASSWORD_LENGTH), new_key())
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(made), file)
        return made


@dataclass(frozen=True, slots=True)
class FoundProvider:
    """A provider that can be used without being configured.

    One of the operator's ``own`` may be at a private address.
    """

    name: str
    kind: str
    model: str
    base_url: str = ""
    api_key: str = ""
    is_own: bool = False


def find_provider() -> FoundProvider:
    """A key in the environment, a local server on its usual port, else the demo."""
    wanted = read_env("LANTERN_MODEL") or ""
    if key := read_env("OPENAI_API_KEY"):
        base_url = read_env("OPENAI_BASE_URL") or OPENAI_URL
        is_own = base_url != OPENAI_URL
        first = _first_model(base_url, key) if is_own and not wanted else ""
        model = wanted or first or DEFAULT_MODEL
        return FoundProvider("openai", "openai", model, base_url, key, is_own)
    for name in LOCAL_SERVICES:
        url = services()[name].base_url
        if model := _first_model(url):
            return FoundProvider(name, "openai", wanted or model, url, is_own=True)
    return FoundProvider("demo", "demo", "demo")


def _first_model(base_url: str, key: str = "") -> str:
    """The first model of an OpenAI-compatible server; empty if none answers."""
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(timeout=PROBE_TIMEOUT_S, trust_env=False) as client:
            listed = client.get(f"{base_url}/models", headers=headers).json()
        return str(listed["data"][0]["id"])
    except (httpx.HTTPError, ValueError, LookupError, TypeError):
        return ""


def make_admin(password: str) -> bool:
    """The first admin; tells whether its first password is still the one in use."""
    users = get_user_model().objects
    if not users.exists():
        users.create_superuser(ADMIN, "", password)
    user = users.filter(username=ADMIN).first()
    return user is not None and user.check_password(password)


def make_agents(found: FoundProvider) -> None:
    """The default agent on the best provider there is, and one that shows tools."""
    Provider.objects.get_or_create(name="demo", defaults={"kind": "demo"})
    provider, _ = Provider.objects.get_or_create(
        name=found.name,
        defaults={
            "kind": found.kind,
            "service": found.name if found.name in LOCAL_SERVICES else "",
            "base_url": found.base_url,
            "api_key": found.api_key,
            "allow_private": found.is_own,
        },
    )
    if found.api_key and found.api_key != provider.api_key:
        # Somebody has mended the key where they gave it first.
        provider.api_key = found.api_key
        provider.base_url = found.base_url
        provider.save(update_fields=["api_key", "base_url"])
    route = [f"{found.name}/{found.model}"]
    has_default = Agent.objects.filter(is_default=True).exists()
    agent, is_new = Agent.objects.get_or_create(
        slug="assistant",
        defaults={
            "is_default": not has_default,
            "route": route,
            "system_prompt": "You are a helpful assistant. Answer in Markdown.",
            # The widget of the front page brings a tool; its words shall flow, too.
            "stream_last_round": True,
        },
    )
    if not is_new and agent.route == [DEMO_ROUTE] != route:
        # The demo was a stopgap; a model has turned up since.
        agent.route = route
        agent.save(update_fields=["route"])
    Agent.objects.get_or_create(
        slug="demo-tools",
        defaults={"route": [DEMO_ROUTE], "tools": list(BUILTIN)},
    )


def make_embed(port: int) -> Embed:
    """The embed of the front page, allowed on this server's own addresses."""
    agent = Agent.objects.filter(is_default=True).first() or Agent.objects.get(
        slug="assistant"
    )
    embed, _ = Embed.objects.get_or_create(
        key=EMBED_KEY, defaults={"agent": agent, "page_tool": True}
    )
    own = [f"http://{host}:{port}" for host in ("127.0.0.1", "localhost")]
    listed = texts_of(embed.origins)
    missing = [origin for origin in own if origin not in listed]
    if missing:
        embed.origins = [*listed, *missing]
        embed.save(update_fields=["origins"])
    return embed


def make_key(key: str) -> None:
    """The first API key."""
    if not ApiKey.objects.filter(digest=hash_key(key)).exists():
        row = ApiKey(name=f"first {key[-4:]}")
        row.set_key(key)
        row.save()


def default_route() -> str:
    """What answers now, for the operator to read."""
    agent = Agent.objects.filter(is_default=True).first()
    if agent is None or agent.route == [DEMO_ROUTE]:
        return "the built-in demo; set OPENAI_API_KEY, or start a local model"
    return ", then ".join(texts_of(agent.route))
