"""``{% lantern_widget %}``: the widget's script tag, for any Django site.

Needs Django and nothing else of Lantern, so that another site can copy this one file.
"""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
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
PROOFS = ("hash", "token")
TOKEN_LIFE_S = 3600
SHORTEST_SECRET = 32
LONGEST_CLAIM = 200
"""The server refuses more, and the user with it."""
_UNSAID = object()


@register.simple_tag
def lantern_widget(
    key: str = "",
    identity: Any = _UNSAID,
    *,
    secret: str = "",
    proof: str = "",
    server: str = "",
    nonce: Any = "",
    **options: Any,
) -> SafeString:
    """The script tag.

    ``identity`` is a user, or an id of one; an anonymous user or None says that nobody
    is logged in. ``proof`` is ``hash``, or ``token``: one that ends after an hour, and
    tells name and email. ``LANTERN_WIDGET`` in the settings may hold key, secret, proof
    and server.
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
        proof = proof or stored.get("proof", PROOFS[0])
        attributes |= _signed(identity, secret, proof)
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


def _signed(identity: Any, secret: str, proof: str) -> dict[str, str]:
    if proof not in PROOFS:
        raise ImproperlyConfigured(
            f"{{% lantern_widget %}} does not know the proof {proof!r}; it knows:"
            f" {', '.join(PROOFS)}."
        )
    user_id = _user_id(identity)
    if not user_id:
        return {"data-user-id": ""}
    if not secret:
        raise ImproperlyConfigured(
            "{% lantern_widget %} needs the embed's secret to sign who the user is:"
            " LANTERN_WIDGET['secret'] in the settings."
        )
    if proof == "token":
        signed = _token(user_id, identity, secret)
    else:
        signed = hmac.new(secret.encode(), user_id.encode(), sha256).hexdigest()
    return {"data-user-id": user_id, "data-user-hash": signed}


def _token(user_id: str, user: Any, secret: str) -> str:
    if len(secret.encode()) < SHORTEST_SECRET:
        raise ImproperlyConfigured(
            "{% lantern_widget %} signs tokens only with a secret of"
            f" {SHORTEST_SECRET} characters or more."
        )
    full_name = getattr(user, "get_full_name", str)()
    known = {"name": full_name, "email": getattr(user, "email", "")}
    claims = {
        "sub": user_id,
        "exp": int(time.time()) + TOKEN_LIFE_S,
        **{name: text for name, text in known.items() if _is_claim(text)},
    }
    body = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(claims)}"
    mac = hmac.new(secret.encode(), body.encode(), sha256).digest()
    return f"{body}.{_base64url(mac)}"


def _is_claim(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= LONGEST_CLAIM


def _encoded(claims: dict[str, Any]) -> str:
    return _base64url(json.dumps(claims).encode())


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


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
