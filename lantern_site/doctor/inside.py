"""What the database and the settings say, and a caller for the checks from outside."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import django
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from redis import RedisError

from lantern_site.doctor.finding import Finding
from sessions_app.bus.redis_url import RedisUrl
from sessions_app.domain import ids
from sessions_app.models import Agent, ApiKey, Provider, Session
from sessions_app.models.api_key import new_key
from sessions_app.providers.exec import command_fault
from sessions_app.store.catalog import config_of
from widget.models import Embed


@dataclass(frozen=True, slots=True)
class Caller:
    """A key and an agent to talk to."""

    key: str
    agent: str | None


@contextmanager
def demo_caller() -> Iterator[Caller]:
    """A key and an agent on the demo provider that are gone afterwards."""
    name = f"doctor-{ids.random_text(8).lower()}"
    agent = Agent.objects.create(slug=name, route=[f"{name}/demo"])
    provider = Provider.objects.create(name=name, kind="demo")
    key = new_key()
    row = ApiKey(name=name, agents=[name], scopes=["sessions"])
    row.set_key(key)
    row.save()
    try:
        yield Caller(key, name)
    finally:
        row.delete()
        Session.objects.filter(agent=agent).delete()
        agent.delete()
        provider.delete()


async def check_redis() -> list[Finding]:
    """Whether Redis, if it is used, keeps what it is given."""
    if not settings.REDIS_URL:
        return []
    client = RedisUrl.parse(settings.REDIS_URL).client()
    try:
        info = await client.info()
    except (RedisError, OSError) as error:
        return [Finding("redis", "failed", f"It does not answer: {error}.", _REDIS_URL)]
    finally:
        await client.aclose()
    policy, version = info.get("maxmemory_policy"), info.get("redis_version")
    if policy not in (None, "noeviction"):
        advice = "Set maxmemory-policy to noeviction: evicted events are lost."
        return [Finding("redis", "failed", f"The policy is {policy}.", advice)]
    return [Finding("redis", "ok", f"Redis {version} keeps what it is given.")]


def check_commands() -> list[Finding]:
    """Whether the programs that providers name are here."""
    findings = []
    for provider in Provider.objects.filter(is_enabled=True, kind="exec"):
        if fault := command_fault(config_of(provider)):
            text = f"The {' '.join(fault)}"
            advice = (
                "Install it on every machine that runs turns, or mend the provider."
            )
            findings.append(
                Finding(f"provider {provider.name}", "failed", text, advice)
            )
    return findings


_REDIS_URL = "See that REDIS_URL is right, and that Redis runs."


def check_versions() -> Finding:
    """What runs here."""
    text = (
        f"Python {platform.python_version()}, Django {django.get_version()},"
        f" {connection.vendor}"
    )
    return Finding("versions", "ok", text)


def check_migrations() -> Finding:
    """Whether the database has the tables of this version."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        advice = "See that DATABASE_URL is right, and that the database runs."
        return Finding("migrations", "failed", f"No database: {error}", advice)
    if missing:
        text = f"{len(missing)} migrations are not applied."
        return Finding("migrations", "failed", text, "Run manage.py migrate.")
    return Finding("migrations", "ok", "All migrations are applied.")


def check_embeds() -> Finding:
    """Whether the widget may be used anywhere."""
    shut = [embed.key for embed in Embed.objects.filter(is_enabled=True, origins=[])]
    if shut:
        return Finding(
            "embeds",
            "warning",
            f"No site may use {', '.join(shut)}.",
            "Write the site's origin in the embed's list, such as https://shop.example.",
        )
    return Finding("embeds", "ok", "Each embed has its list of origins.")


def a_public_key() -> str | None:
    """The key of an embed, to try a foreign origin with."""
    embed = Embed.objects.filter(is_enabled=True).order_by("pk").first()
    return embed.key if embed else None
