"""The admin: everything that can be set up, and the conversations."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import quote, unquote
from django.db.models import Count, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from sessions_app import (  # noqa: F401  (they register)
    budget_admin,
    deleted_usage_admin,
    feedback_admin,
    limit_admin,
    tool_admin,
)
from sessions_app.agent_form import AgentForm, ApiKeyForm
from sessions_app.authority import may_run
from sessions_app.domain.text import shortened
from sessions_app.edge.auth import shown_name
from sessions_app.erasure_admin import ErasureAdmin
from sessions_app.feedback_admin import ratings_of
from sessions_app.models import (
    Agent,
    Alert,
    ApiKey,
    Attempt,
    Price,
    Provider,
    Session,
    Turn,
)
from sessions_app.models.api_key import new_key
from sessions_app.price_admin import shipped_table
from sessions_app.provider_form import FIELDSETS, ProviderForm
from sessions_app.provision.sections.provider import EXEC
from sessions_app.session_filters import (
    CallFilter,
    ConversationRatingFilter,
    StateFilter,
)
from sessions_app.store.health import ProviderHealth, health_of
from sessions_app.store.sessions import with_first_words
from sessions_app.user_form import UserFormAdmin

TITLE_LENGTH = 60


@admin.register(Session)
class SessionAdmin(ErasureAdmin):
    """The conversations: a list, and one of them live."""

    list_display = (
        "conversation",
        "agent",
        "owner",
        "call",
        "turn_count",
        "updated_at",
    )
    list_filter = (CallFilter, StateFilter, ConversationRatingFilter, "agent")
    search_fields = ("id", "title", "user", "messages__content")
    fields = ("agent", "title")
    date_hierarchy = "created_at"

    change_list_template = "admin/sessions_app/session/conversations.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        rows = super().get_queryset(request).filter(purged_at=None)
        return with_first_words(
            rows.select_related("agent").annotate(turn_count=Count("turns"))
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, under its own name."""
        context = {"title": "Conversations", **(extra_context or {})}
        return super().changelist_view(request, context)

    @admin.display(description="Conversation", ordering="title")
    def conversation(self, session: Session) -> str:
        """The title, else how it began."""
        words = session.title or getattr(session, "first_words", None) or session.pk
        return shortened(words, TITLE_LENGTH)

    @admin.display(description="Call", ordering="needs_human")
    def call(self, session: Session) -> str:
        """A badge where a person was asked for, and nothing where none was."""
        if not session.needs_human:
            return ""
        return format_html('<span class="call-badge">{}</span>', "Person wanted")

    @admin.display(description="Turns", ordering="turn_count")
    def turn_count(self, session: Session) -> int:
        return int(getattr(session, "turn_count", 0))

    def save_model(
        self, request: HttpRequest, obj: Session, form: Any, change: bool
    ) -> None:
        if not change:
            obj.owner = f"staff:{request.user.pk}"
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Session, post_url_continue: str | None = None
    ) -> HttpResponse:
        # A new conversation is there to be written in: stay on its page.
        del request, post_url_continue
        return HttpResponseRedirect(
            reverse("admin:sessions_app_session_change", args=[quote(obj.pk)])
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The conversation, live, in place of a form."""
        session = get_object_or_404(self.get_queryset(request), pk=unquote(object_id))
        if not self.has_view_permission(request, session):
            return super().change_view(request, object_id, form_url, extra_context)
        context = {
            **self.admin_site.each_context(request),
            "title": self.conversation(session),
            "opts": self.opts,
            "conversation": session,
            "ratings": ratings_of(session.pk),
            "may_write": self.has_change_permission(request, session),
            "operator_name": shown_name(request.user),
            "may_delete": self.has_delete_permission(request, session),
        }
        template = "admin/sessions_app/session/conversation.html"
        return TemplateResponse(request, template, context)


class PriceInline(admin.TabularInline[Price, Provider]):
    """Prices below their provider."""

    model = Price
    extra = 0


@admin.register(Provider)
class ProviderAdmin(UserFormAdmin[Provider]):
    """Accounts at model providers."""

    form = ProviderForm
    fieldsets = FIELDSETS
    list_display = (
        "name",
        "kind",
        "base_url",
        "is_enabled",
        "success_rate",
        "first_token",
        "cool_down",
        "unpriced",
        "last_error",
    )
    readonly_fields = ("shipped_prices",)
    inlines = (PriceInline,)

    @admin.display(description="Shipped prices")
    def shipped_prices(self, provider: Provider) -> str:
        """USD per million tokens, for models that no price below fits."""
        return shipped_table(provider)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Provider]:
        return super().get_queryset(request).annotate(now=Now())

    def has_change_permission(
        self, request: HttpRequest, obj: Provider | None = None
    ) -> bool:
        is_allowed = obj is None or obj.kind != EXEC or may_run(request.user)
        return is_allowed and super().has_change_permission(request, obj)

    @admin.display(description="Success rate")
    def success_rate(self, provider: Provider) -> str:
        """Of the attempts that ended by themselves."""
        health = _health(provider)
        if health.success_rate is None:
            return "–"
        return f"{health.success_rate:.1%} of {health.attempts}"

    @admin.display(description="First token (p50 / p95)")
    def first_token(self, provider: Provider) -> str:
        health = _health(provider)
        if health.ttft_p50_ms is None:
            return "–"
        return f"{health.ttft_p50_ms} / {health.ttft_p95_ms} ms"

    @admin.display(description="Cool-down")
    def cool_down(self, provider: Provider) -> str:
        """What is left of it."""
        seconds = _health(provider).cools_for_s
        return f"{seconds:.0f} s" if seconds else "–"

    @admin.display(description="Calls without a price")
    def unpriced(self, provider: Provider) -> int:
        """What no bill and no budget counts."""
        return _health(provider).unpriced

    @admin.display(description="Last error")
    def last_error(self, provider: Provider) -> str:
        health = _health(provider)
        if health.last_error_at is None:
            return "–"
        return f"{health.last_error}, {health.last_error_at:%H:%M:%S} UTC"


def _health(provider: Provider) -> ProviderHealth:
    """Looked up once a row."""
    found: ProviderHealth | None = getattr(provider, "health", None)
    if found is None:
        found = provider.health = health_of(provider)  # type: ignore[attr-defined]
    return found


@admin.register(Alert)
class AlertAdmin(admin.ModelAdmin[Alert]):
    """What an operator has to mend; deleted when it is done."""

    list_display = ("text", "count", "first_at", "last_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Alert | None = None
    ) -> bool:
        return False


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin[Agent]):
    """What answers."""

    form = AgentForm
    list_display = ("slug", "is_default", "is_enabled", "route")


@admin.register(ApiKey)
class ApiKeyAdmin(UserFormAdmin[ApiKey]):
    """Keys of servers; a new one is shown once."""

    form = ApiKeyForm
    list_display = ("name", "hint", "is_enabled", "created_at")
    readonly_fields = ("hint", "created_at")

    def save_model(
        self, request: HttpRequest, obj: ApiKey, form: Any, change: bool
    ) -> None:
        if not change:
            key = new_key()
            obj.set_key(key)
            note = f"The new key is {key}. It is shown this once; copy it now."
            messages.warning(request, note)
        super().save_model(request, obj, form, change)


class AttemptInline(admin.TabularInline[Attempt, Turn]):
    """What was asked of which provider."""

    model = Attempt
    extra = 0
    can_delete = False
    fields = readonly_fields = (
        "round",
        "provider",
        "model",
        "status",
        "error_code",
        "diagnosis",
        "ttft_ms",
        "tokens_in",
        "tokens_out",
        "cost_usd",
    )


@admin.register(Turn)
class TurnAdmin(admin.ModelAdmin[Turn]):
    """Turns, to be looked at only."""

    list_display = (
        "id",
        "session",
        "state",
        "error_code",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "created_at",
    )
    list_filter = ("state", "error_code")
    search_fields = ("id", "session__id")
    inlines = (AttemptInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Turn | None = None
    ) -> bool:
        return False
