from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import Agent, Message, Session, Turn
from tests.fakes.people import make_agent, make_session

LIST = "/admin/sessions_app/feedback/"
CONVERSATIONS = "/admin/sessions_app/session/"


@pytest.fixture
def agent(db: None) -> Agent:
    return make_agent()


def rated(agent: Agent, title: str, rating: str, comment: str = "") -> Session:
    """A conversation of one turn, with a reply that was rated so."""
    session = make_session(agent, title=title)
    turn = Turn.objects.create(
        session=session,
        ordinal=1,
        state="completed",
        rating=rating,
        rating_comment=comment,
    )
    for position, role in enumerate(("user", "assistant")):
        Message.objects.create(
            session=session,
            turn=turn,
            ordinal=1,
            position=position,
            role=role,
            content=f"{role} of {title}",
        )
    return session


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_ratings_are_listed_with_reply_and_conversation(
    admin_client: Client, agent: Agent
) -> None:
    session = rated(agent, "Order", "down", "<b>Too long</b>")
    rated(agent, "Unrated", "")
    text = page(admin_client, LIST)
    assert "👎 Bad" in text
    assert "&lt;b&gt;Too long&lt;/b&gt;" in text
    assert "assistant of Order" in text
    assert f"{CONVERSATIONS}{session.pk}/change/" in text
    assert "Unrated" not in text


def test_ratings_are_narrowed_down(admin_client: Client, agent: Agent) -> None:
    rated(agent, "First", "up")
    rated(agent, "Second", "down")
    rated(agent, "Third", "down", "Wrong")
    bad = page(admin_client, f"{LIST}?rating=down")
    assert ("of First" in bad, "of Second" in bad, "of Third" in bad) == (
        False,
        True,
        True,
    )
    commented = page(admin_client, f"{LIST}?rating=down&comment=yes")
    assert ("of Second" in commented, "of Third" in commented) == (False, True)
    sessions = page(admin_client, f"{CONVERSATIONS}?rating=up")
    assert (">First<" in sessions, ">Second<" in sessions) == (True, False)


def test_conversation_shows_its_ratings(admin_client: Client, agent: Agent) -> None:
    session = rated(agent, "Order", "down", "Wrong <i>price</i>")
    text = page(admin_client, f"{CONVERSATIONS}{session.pk}/change/")
    assert "Feedback (1)" in text
    assert "Wrong &lt;i&gt;price&lt;/i&gt;" in text


def test_feedback_is_only_looked_at(admin_client: Client, agent: Agent) -> None:
    rated(agent, "Order", "up")
    turn = Turn.objects.get()
    assert admin_client.get(f"{LIST}add/").status_code == 403
    assert admin_client.post(f"{LIST}{turn.pk}/delete/").status_code == 403


# A red cross stood in the list for every conversation that needs nobody.
def test_only_a_call_for_a_person_has_a_badge(
    admin_client: Client, agent: Agent
) -> None:
    make_session(agent, title="Quiet")
    assert "icon-no" not in page(admin_client, CONVERSATIONS)
    assert "call-badge" not in page(admin_client, CONVERSATIONS)
    make_session(agent, title="Loud", needs_human=True)
    assert page(admin_client, CONVERSATIONS).count("call-badge") == 1
    waiting = page(admin_client, f"{CONVERSATIONS}?call=waiting")
    assert (">Loud<" in waiting, ">Quiet<" in waiting) == (True, False)


def test_filters_and_menu_are_in_words(admin_client: Client, agent: Agent) -> None:
    make_session(agent, is_closed=True, title="Done")
    make_session(agent, title="Going")
    text = page(admin_client, CONVERSATIONS)
    assert "By state" in text
    assert "By is closed" not in text
    assert "API keys" in text
    assert "Api keys" not in text
    closed = page(admin_client, f"{CONVERSATIONS}?state=closed")
    assert (">Done<" in closed, ">Going<" in closed) == (True, False)
