"""What the processes of an installation share, or what one keeps to itself."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from sessions_app.bus.redis_url import RedisUrl

FOR_EVER_S = 10 * 365 * 86_400


def channel_layer(redis_url: str) -> dict[str, Any]:
    """The layer that carries wake-ups: a lost one costs a sweep, not a token."""
    if redis_url:
        return {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [_parsed(redis_url).layer_host()], "prefix": "lantern"},
        }
    return {
        "BACKEND": "channels.layers.InMemoryChannelLayer",
        # Wake-ups do not expire: an old one does no harm, but the layer strikes its
        # reader from all groups, and a member of a day's standing too, and then no
        # cancel is heard.
        "CONFIG": {
            "capacity": 10_000,
            "expiry": FOR_EVER_S,
            "group_expiry": FOR_EVER_S,
        },
    }


def _parsed(url: str) -> RedisUrl:
    try:
        return RedisUrl.parse(url)
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from error
