"""Deleting conversations: one, or all of a person."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from django.db.models import Q, QuerySet
from django.utils import timezone

from sessions_app.domain import ids
from sessions_app.engine.consumer import let_readers_go, wake_to_end
from sessions_app.models import Session
from sessions_app.store import sessions

PATIENCE_S = 5.0
BATCH = 100
VISITORS = "visitor:"

OwnerNames = Callable[[str], Iterable[str]]
_owner_names: list[OwnerNames] = []
Farewell = Callable[[str], None]
_farewells: list[Farewell] = []


def register_owner_names(names_of: OwnerNames) -> None:
    """Tell under which other names a user of the host may own conversations."""
    _owner_names.append(names_of)


def register_farewell(farewell: Farewell) -> None:
    """Have an owner's older credentials refused once all that was theirs is deleted."""
    _farewells.append(farewell)


def delete(session_ids: Sequence[str]) -> None:
    """End what runs, then remove the sessions and everything below them."""
    for session_id in session_ids:
        for turn_id in sessions.close(session_id):
            wake_to_end(turn_id)
    give_up_at = time.monotonic() + PATIENCE_S
    while sessions.have_open_turns(session_ids) and time.monotonic() < give_up_at:
        time.sleep(0.02)
    for session_id in session_ids:
        sessions.delete(session_id)
        let_readers_go(session_id)


def there_now(whose: Q) -> QuerySet[Session]:
    """The sessions that fit, of those that have been begun by now."""
    return Session.objects.filter(whose, purged_at=None, created_at__lte=timezone.now())


def delete_all(whose: Q) -> int:
    """Delete all sessions that are there now and fit; how many.

    What is begun meanwhile stays, or somebody who keeps beginning would have no end.
    """
    found = there_now(whose)
    count = 0
    while batch := list(found.values_list("pk", flat=True)[:BATCH]):
        delete(batch)
        count += len(batch)
    return count


def erase(whose: Q, *owners: str) -> int:
    """Delete all sessions that fit, for good; how many.

    Their owners' credentials of before are refused from then on, also those of
    ``owners``: a tab that was left open would go on under the old name.
    """
    names = {*owners, *there_now(whose).values_list("owner", flat=True)}
    count = delete_all(whose)
    # Not before: whoever was cut off in the middle has to be able to ask again.
    for name in names:
        for farewell in _farewells:
            farewell(name)
    return count + delete_all(whose)


def of_person(name: str) -> Q | None:
    """The sessions of a user of the host, or of whoever had the session of that id.

    None if there is no such person. A server's sessions without a user have none.
    """
    kept = Session.objects.filter(purged_at=None)
    session = kept.filter(pk=name).first() if ids.could_be_id(name) else None
    if session is None:
        owners = [each for names_of in _owner_names for each in names_of(name)]
        whose = Q(user=name) | Q(owner__in=owners)
        return whose if kept.filter(whose).exists() else None
    if session.owner.startswith(VISITORS):
        return Q(owner=session.owner)
    if session.user:
        return Q(owner=session.owner, user=session.user)
    return Q(pk=session.pk)
