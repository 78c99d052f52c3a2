"""``{% lantern_widget %}``: the widget's script tag, for any Django site.

Needs Django and nothing else of Lantern, so that another site can copy this one file.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any

from django import template
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

OPTIONS = (
    "accent",
    "ask_context",
    "launcher",
    "launcher_label",
    "locale",
    "nudge",
    "open_after",
    "open_on_exit",
    "open_on_path",
    "position",
    "radius",
    "suggestions",
    "theme",
    "z_index",
)
_UNSAID = object()


@register.simple_tag
def lantern_widget(
    key: str = "",
    identity: Any = _UNSAID,
    *,
    secret: str = "",
    server: str = "",
    nonce: Any = "",
    **options: Any,
) -> SafeString:
    """The script tag.

    ``identity`` is a user, or an id of one; an anonymous user or None says that nobody
    is logged in. ``LANTERN_WIDGET`` in the settings may hold key, secret and server.
    """
    stored = getattr(settings, "LANTERN_WIDGET", {})
    key = key or stored.get("key", "")
    if not key:
        raise ImproperlyConfigured(
            "{% lantern_widget %} needs a key: its first argument, or"
            " LANTERN_WIDGET['key'] in the settings."
        )
    server = (server or stored.get("server", "")).rstrip("/")
    attributes: dict[str, Any] = {"src": f"{server}/widget.js", "data-key": key}
    if identity is not _UNSAID:
        secret = secret or stored.get("secret", "")
        attributes |= _signed(_user_id(identity), secret)
    for name, value in options.items():
        attributes |= _option(name, value)
    # A nonce may be made when it is asked for, and is text only then.
    if nonce and str(nonce):
        attributes["nonce"] = str(nonce)
    return format_html("<script{} async></script>", flatatt(attributes))


def _user_id(identity: Any) -> str:
    if identity is None or not getattr(identity, "is_authenticated", True):
        return ""
    return str(getattr(identity, "pk", identity))


def _signed(user_id: str, secret: str) -> dict[str, str]:
    if not user_id:
        return {"data-user-id": ""}
    if not secret:
        raise ImproperlyConfigured(
            "{% lantern_widget %} needs the embed's secret to sign who the user is:"
            " LANTERN_WIDGET['secret'] in the settings."
        )
    digest = hmac.new(secret.encode(), user_id.encode(), sha256).hexdigest()
    return {"data-user-id": user_id, "data-user-hash": digest}


def _option(name: str, value: Any) -> dict[str, str]:
    if name not in OPTIONS:
        known = ", ".join(OPTIONS)
        raise template.TemplateSyntaxError(
            f"{{% lantern_widget %}} does not know {name!r}; it knows: {known}."
        )
    if value is None:
        return {}
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, list | tuple):
        value = "|".join(str(each).replace("|", "/") for each in value)
    return {"data-" + name.replace("_", "-"): str(value)}
