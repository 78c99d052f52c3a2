"""What visitors thought of the replies, in the dashboard."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from sessions_app.domain.text import shortened
from sessions_app.models import Feedback, Message
from sessions_app.session_filters import CommentFilter, RatingFilter

RATINGS = {"up": "👍 Good", "down": "👎 Bad"}
EXCERPT = 160


def excerpt(text: str) -> str:
    """The beginning of a reply, in one line."""
    return shortened(" ".join(text.split()), EXCERPT)


def ratings_of(session_id: str) -> list[Feedback]:
    """The rated turns of a conversation, with ``shown`` as the rating in words."""
    rated = list(_rated().filter(session_id=session_id).order_by("ordinal"))
    for each in rated:
        each.shown = RATINGS[each.rating]
        each.excerpt = excerpt(getattr(each, "reply", None) or "")
    return rated


def _rated() -> QuerySet[Feedback]:
    replies = Message.objects.filter(turn=OuterRef("pk"), role="assistant")
    last = Subquery(replies.order_by("-position").values("content")[:1])
    rated = Feedback.objects.filter(rating__in=RATINGS, session__purged_at=None)
    return rated.annotate(reply=last)


@admin.register(Feedback)
class FeedbackAdmin(admin.ModelAdmin[Feedback]):
    """Rated replies, to be looked at only; each leads to its conversation."""

    list_display = ("rated", "comment", "answer", "agent", "conversation", "created_at")
    list_display_links = None
    list_filter = (RatingFilter, CommentFilter, "session__agent")
    search_fields = ("rating_comment", "session__id")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        return _rated().select_related("session__agent")

    @admin.display(description="Rating", ordering="rating")
    def rated(self, turn: Feedback) -> str:
        return RATINGS[turn.rating]

    @admin.display(description="Comment", ordering="rating_comment")
    def comment(self, turn: Feedback) -> str:
        return turn.rating_comment

    @admin.display(description="Reply")
    def answer(self, turn: Feedback) -> str:
        return excerpt(getattr(turn, "reply", None) or "")

    @admin.display(description="Agent", ordering="session__agent")
    def agent(self, turn: Feedback) -> str:
        return turn.session.agent.slug

    @admin.display(description="Conversation")
    def conversation(self, turn: Feedback) -> str:
        """A link to it."""
        address = reverse("admin:sessions_app_session_change", args=[turn.session_id])
        return format_html('<a href="{}">{}</a>', address, turn.session)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Feedback | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Feedback | None = None
    ) -> bool:
        return False
