"""What a visitor's tokens are good for once all that was theirs is deleted."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from sessions_app.erasure import erase, of_person
from sessions_app.models import Session
from tests.widget.conftest import Visitors
from tests.widget.test_identity import SECRET, token_of
from widget.farewell import KEPT_S, say_farewell
from widget.models import Embed, Farewell
from widget.tokens import RENEWABLE_S, renewed

VISITOR = "/v1/widget/visitor"


def delete(visitors: Visitors, token: str) -> None:
    assert visitors.call(token, "DELETE", VISITOR).status == 204


def test_older_tokens_read_and_begin_nothing(visitors: Visitors) -> None:
    first = visitors.token()
    second = visitors.token(visitor=first)  # another tab
    path = visitors.session(first)
    delete(visitors, first)
    for token in (first, second):
        for method, where in (("GET", path), ("GET", "/v1/sessions")):
            assert visitors.call(token, method, where).status == 401
        refused = visitors.call(token, "POST", "/v1/sessions", {})
        assert (refused.status, refused.code) == (401, "unauthorized")
    assert not Session.objects.filter(owner__startswith="visitor:").exists()


def test_older_token_is_renewed_as_somebody_new(
    visitors: Visitors, embed: Embed
) -> None:
    mine = visitors.token()
    visitors.session(mine)
    delete(visitors, mine)
    assert renewed(embed, mine) is None
    fresh = visitors.token(visitor=mine)
    visitors.session(fresh)
    owners = Session.objects.filter(owner__startswith="visitor:").values_list("owner")
    ((owner,),) = owners
    assert not Farewell.objects.filter(visitor=owner).exists()
    assert visitors.call(fresh, "GET", "/v1/sessions").status == 200


def test_others_notice_nothing(visitors: Visitors) -> None:
    mine, other = visitors.token(), visitors.token()
    kept = visitors.session(other)
    delete(visitors, mine)
    assert visitors.call(other, "GET", kept).status == 200


def test_user_comes_back_with_a_new_proof(visitors: Visitors, embed: Embed) -> None:
    embed.secret = SECRET
    embed.save()
    before = visitors.token(identity=token_of("42"))
    visitors.session(before)
    for _ in range(2):  # may be asked for more than once
        delete(visitors, visitors.token(identity=token_of("42")))
    after = visitors.token(identity=token_of("42"))
    assert visitors.call(before, "POST", "/v1/sessions", {}).status == 401
    assert visitors.call(after, "GET", "/v1/sessions").json["data"] == []
    path = visitors.session(after)
    again = visitors.token(visitor=after)
    assert visitors.call(again, "GET", path).status == 200


def test_staff_end_older_tokens_too(visitors: Visitors) -> None:
    token = visitors.token()
    session_id = visitors.session(token).rpartition("/")[2]
    whose = of_person(session_id)
    assert whose is not None and erase(whose) == 1
    assert visitors.call(token, "POST", "/v1/sessions", {}).status == 401


def test_names_are_forgotten_with_the_last_token(db: None) -> None:
    assert KEPT_S > RENEWABLE_S
    say_farewell("visitor:pk_shop:old")
    Farewell.objects.update(at=timezone.now() - timedelta(seconds=KEPT_S + 1))
    say_farewell("visitor:pk_shop:new")
    say_farewell("key:7")
    (row,) = Farewell.objects.all()
    assert "new" not in row.visitor
