"""Users that the site itself vouches for, with the embed's secret."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import jwt

from sessions_app.domain.errors import BadRequest, Unauthorized
from sessions_app.domain.text import require_storable
from widget.models import Embed

USER_PREFIX = "user."
"""Of visitor ids; those of visitors without a name hold no full stop."""
LONGEST_LIFE_S = 24 * 3600
LEEWAY_S = 30
"""What two servers' clocks may differ by."""
LONGEST_CLAIM = 200
PARAM = "identity"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody whom the site knows; ``profile`` holds name and email, if given.

    ``by_token``: proved by a token, and not by a hash, which is a proof for ever.
    """

    id: str
    profile: Mapping[str, str]
    by_token: bool

    @property
    def visitor_id(self) -> str:
        """The same for the same user, in every browser."""
        return visitor_of_user(self.id)


def visitor_of_user(user_id: str) -> str:
    """The visitor id of a user of the site; no secret, but not the user's id either."""
    return USER_PREFIX + sha256(user_id.encode()).hexdigest()[:32]


def is_user(visitor_id: str) -> bool:
    """Whether it is the id of somebody whom the site knows."""
    return visitor_id.startswith(USER_PREFIX)


def verified_user(embed: Embed, identity: Mapping[str, str]) -> User:
    """The user that ``token``, or ``userId`` and ``hash``, is a proof of.

    A token may stand in place of the hash; then it must be of that very user.

    Raises BadRequest for what cannot be one, Unauthorized for what proves nothing.
    """
    given = set(identity)
    if given not in ({"token"}, {"userId", "hash"}):
        raise BadRequest("Write either token, or userId and hash.", param=PARAM)
    if not embed.secret:
        raise BadRequest("This embed has no secret to verify with.", param=PARAM)
    if "token" in given:
        return _user_of_token(embed.secret, identity["token"])
    user_id, proof = identity["userId"], identity["hash"]
    # Hex has no full stop, and a JWT has two: a page's tag has one place for either.
    if "." not in proof:
        if embed.tokens_only:
            raise Unauthorized("This embed takes a token as proof, and no hash.")
        return _user_of_hash(embed.secret, user_id, proof)
    user = _user_of_token(embed.secret, proof)
    if user.id != user_id:
        raise Unauthorized("The identity's token is of another user than 'userId'.")
    return user


def _user_of_hash(secret: str, user_id: str, digest: str) -> User:
    expected = hmac.new(secret.encode(), user_id.encode(), sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), digest.lower().encode()):
        raise Unauthorized("The identity's hash is wrong.")
    return User(user_id, {}, by_token=False)


def _user_of_token(secret: str, token: str) -> User:
    claims = _claims(secret, token)
    if claims["exp"] - time.time() > LONGEST_LIFE_S + LEEWAY_S:
        raise BadRequest("The identity's token lasts over 24 hours.", param=PARAM)
    user_id = _text(claims, "sub")
    if not user_id:
        raise BadRequest("The identity's token has an empty 'sub'.", param=PARAM)
    found = {name: _text(claims, name) for name in ("name", "email")}
    profile = {name: text for name, text in found.items() if text}
    return User(user_id, profile, by_token=True)


def _claims(secret: str, token: str) -> dict[str, Any]:
    options: Any = {
        "require": ["exp", "sub"],
        "verify_aud": False,
        "enforce_minimum_key_length": True,
    }
    decoder = jwt.PyJWT(options)
    try:
        # One algorithm: a token that names another, or none, proves nothing.
        return decoder.decode(token, secret, algorithms=["HS256"], leeway=LEEWAY_S)
    except jwt.InvalidKeyError as error:
        raise BadRequest(
            "The embed's secret is too short for tokens; it needs 32 characters.",
            param=PARAM,
        ) from error
    except jwt.ExpiredSignatureError as error:
        raise Unauthorized("The identity's token has expired.") from error
    except jwt.ImmatureSignatureError as error:
        raise Unauthorized("The identity's token is not valid yet.") from error
    except jwt.InvalidAlgorithmError as error:
        raise Unauthorized("The identity's token must be signed by HS256.") from error
    except jwt.InvalidSignatureError as error:
        raise Unauthorized(
            "The identity's token is not signed with the embed's secret."
        ) from error
    except jwt.MissingRequiredClaimError as error:
        raise BadRequest(
            f"The identity's token needs the claim {error.claim!r}.", param=PARAM
        ) from error
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
        raise BadRequest("The identity's token cannot be read.", param=PARAM) from error


def _text(claims: Mapping[str, Any], name: str) -> str:
    text = claims.get(name) or ""
    if not isinstance(text, str) or len(text) > LONGEST_CLAIM:
        raise BadRequest(
            f"In the identity's token {name!r} must be a text of at most"
            f" {LONGEST_CLAIM} characters.",
            param=PARAM,
        )
    require_storable(text)
    return text
