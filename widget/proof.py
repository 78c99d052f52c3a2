"""A puzzle for the browsers of new visitors, while somebody attacks the embed.

It costs a person's browser a second that nobody sees, and whoever wants visitors by the
thousand that much for each. Known visitors and users that the site vouches for are not
asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from django.core import signing

from sessions_app.bus.counters import WINDOW_S, Quota, get_counters
from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.errors import ProofRequired
from sessions_app.edge.pace import Act, counter_name, limit_on
from widget.models import Embed

CHALLENGE_S = WINDOW_S
"""A solution is remembered for at least as long as its challenge is good."""
NEARLY_FULL = 0.8
_SALT = "lantern.proof"
_DEMAND = "demand"


def require_proof(embed: Embed, proof: Mapping[str, str] | None) -> None:
    """Refuse a new visitor of an embed that asks for a proof, unless this is one.

    Raises ProofRequired, which carries a challenge.
    """
    if not _is_asked_for(embed):
        return
    if proof is None or not _is_fresh(embed, proof):
        raise ProofRequired(**new_challenge(embed))


def new_challenge(embed: Embed) -> dict[str, Any]:
    """A challenge, and how many zero bits its solution's hash begins with."""
    bits = conf().proof_of_work_bits
    claim = {"e": embed.key, "n": ids.random_text(ids.LENGTH), "d": bits}
    return {"challenge": signing.dumps(claim, salt=_SALT), "difficulty": bits}


def zero_bits(challenge: str, solution: str) -> int:
    """How many zero bits SHA-256 of ``challenge.solution`` begins with."""
    digest = sha256(f"{challenge}.{solution}".encode()).digest()
    return len(digest) * 8 - int.from_bytes(digest, "big").bit_length()


def _is_asked_for(embed: Embed) -> bool:
    return embed.proof_of_work == "on" or (
        embed.proof_of_work == "auto" and _is_nearly_full(embed)
    )


def _is_nearly_full(embed: Embed) -> bool:
    """Whether the embed is close to one of its ceilings.

    Those who come count here also if they are turned away: as long as they keep coming,
    the puzzle stays.
    """
    on = f"embed:{embed.key}"
    quotas = [Quota(counter_name(_DEMAND, on, embed.key), None)]
    quotas += [Quota(counter_name(act, on, embed.key), None, 0) for act in Act]
    totals = get_counters().take(quotas).totals
    ceilings = [limit_on(on, act) for act in (Act.BOOTSTRAP, *Act)]
    return any(
        ceiling is not None and total >= ceiling * NEARLY_FULL
        for total, ceiling in zip(totals, ceilings, strict=True)
    )


def _is_fresh(embed: Embed, proof: Mapping[str, str]) -> bool:
    """Whether it solves a challenge of this embed, and is the first to do so."""
    challenge = proof["challenge"]
    try:
        claim = signing.loads(challenge, salt=_SALT, max_age=CHALLENGE_S)
    except signing.BadSignature:
        return False
    if claim["e"] != embed.key or zero_bits(challenge, proof["solution"]) < claim["d"]:
        return False
    return get_counters().take([Quota(f"proof:{claim['n']}", 1)]).full < 0
