"""What ``REDIS_URL`` says, for everything that connects to Redis.

``redis://``, ``rediss://`` and ``unix://`` name one server;
``redis+sentinel://host:port,host:port/name/db`` asks Sentinels for the master ``name``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from redis import Redis
from redis import asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, TimeoutError
from redis.retry import Retry as BlockingRetry
from redis.sentinel import Sentinel

SENTINEL = "redis+sentinel"
SENTINEL_PORT = 26379
TIMEOUT_S = 1.0
"""A Redis that takes longer counts as down: turns go on without it."""


class Again(Retry):
    """Once more, for connections that ended with the server or on the way to it.

    A connection that was reset is known by a RuntimeError when uvloop writes to it.
    """

    def __init__(self) -> None:
        errors = (ConnectionError, TimeoutError, RuntimeError)
        super().__init__(NoBackoff(), 1, errors)  # type: ignore[arg-type]

    async def call_with_retry(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().call_with_retry(*args, **kwargs)
        except RuntimeError as error:
            raise ConnectionError(str(error)) from error


@dataclass(frozen=True, slots=True)
class RedisUrl:
    """One server, or the master that Sentinels name."""

    url: str
    sentinels: tuple[tuple[str, int], ...] = ()
    master: str = ""
    db: int = 0
    password: str | None = None

    @classmethod
    def parse(cls, url: str) -> RedisUrl:
        """Raises ValueError with a sentence that says what to write."""
        scheme, _, rest = url.partition("://")
        if scheme in ("redis", "rediss", "unix"):
            urlsplit(url).port  # noqa: B018  raises for a port that is no number
            return cls(url)
        if scheme != SENTINEL:
            raise ValueError(
                "REDIS_URL must begin with redis://, rediss://, unix:// or"
                f" {SENTINEL}://host:port,host:port/master."
            )
        before, _, path = rest.partition("/")
        credentials, _, hosts = before.rpartition("@")
        master, _, db = path.partition("/")
        if not master or not (db or "0").isdigit():
            raise ValueError(f"REDIS_URL: write {SENTINEL}://host:port/master/db.")
        password = unquote(credentials.rpartition(":")[2]) or None
        sentinels = tuple(_host(host) for host in hosts.split(","))
        return cls(url, sentinels, master, int(db or 0), password)

    def client(self) -> aioredis.Redis:
        """A client for the running loop."""
        limits: dict[str, Any] = {
            "socket_timeout": TIMEOUT_S,
            "socket_connect_timeout": TIMEOUT_S,
            "retry": Again(),
        }
        if not self.sentinels:
            return aioredis.Redis.from_url(self.url, **limits)
        manager = AsyncSentinel(  # type: ignore[no-untyped-call]
            list(self.sentinels), sentinel_kwargs={"socket_timeout": TIMEOUT_S}
        )
        master: aioredis.Redis = manager.master_for(
            self.master, db=self.db, password=self.password, **limits
        )
        return master

    def layer_host(self) -> dict[str, Any]:
        """An entry of the channel layer's ``hosts``."""
        if not self.sentinels:
            return {
                "address": self.url,
                "socket_connect_timeout": TIMEOUT_S,
                "retry": Again(),
            }
        return {
            "sentinels": list(self.sentinels),
            "master_name": self.master,
            "db": self.db,
            "password": self.password,
            "retry": Again(),
        }

    def blocking_client(self) -> Redis:
        """A client for threads."""
        limits: dict[str, Any] = {
            "socket_timeout": TIMEOUT_S,
            "socket_connect_timeout": TIMEOUT_S,
            "retry": BlockingRetry(NoBackoff(), 1),
        }
        if not self.sentinels:
            return Redis.from_url(self.url, **limits)
        manager = Sentinel(  # type: ignore[no-untyped-call]
            list(self.sentinels), sentinel_kwargs={"socket_timeout": TIMEOUT_S}
        )
        master: Redis = manager.master_for(  # type: ignore[no-untyped-call]
            self.master, db=self.db, password=self.password, **limits
        )
        return master


def _host(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":") if ":" in text else (text, "", "")
    if port and not port.isdigit():
        raise ValueError(f"REDIS_URL: {text!r} is no host:port.")
    return host, int(port or SENTINEL_PORT)
