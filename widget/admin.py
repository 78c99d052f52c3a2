"""The embeds in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.clickjacking import xframe_options_sameorigin

from sessions_app.authority import may_do_to_sessions
from sessions_app.lines_field import Lines
from sessions_app.user_form import UserForm, UserFormAdmin, WrittenSecret
from widget.accent import accent_warning
from widget.models import Embed
from widget.origins import origin_fault

PREVIEW_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self';"
    " frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
RIGHTS_OF_VISITORS = ("view", "change", "delete")
NOT_BY_YOU = (
    "Whoever knows the secret can read, continue and delete the conversations of users."
    " So this takes these permissions for sessions: view, change, delete."
)


class EmbedForm(UserForm[Embed]):
    """The secret is written, never shown; whether there is one is."""

    secret = forms.CharField(required=False, widget=WrittenSecret())
    origins = Lines(
        required=False,
        fault_of=origin_fault,
        help_text="One a line, such as https://shop.example or https://*.shop.example;"
        " none means nobody.",
    )
    suggestions = Lines(
        required=False, help_text="Questions to begin with, one a line."
    )
    greeting = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The first words in the panel; may be Markdown.",
    )
    remove_secret = forms.BooleanField(
        required=False, help_text="Nobody can prove who they are any more."
    )

    class Meta:
        model = Embed
        fields = (
            "key",
            "agent",
            "origins",
            "is_enabled",
            "title",
            "greeting",
            "suggestions",
            "placeholder",
            "agent_name",
            "accent",
            "theme",
            "position",
            "radius",
            "launcher_label",
            "nudge",
            "open_after_s",
            "open_on_path",
            "open_on_exit",
            "secret",
            "identity",
            "tokens_only",
            "proof_of_work",
            "collect_context",
            "attachments",
            "page_tool",
            "retention_days",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["secret"] = ""
        if self.instance.secret:
            self.fields[
                "secret"
            ].help_text = "A secret is set. Leave this empty to keep it."
        else:
            self.fields["secret"].help_text = (
                "No secret is set. Write a random text of 32 characters or more; it is"
                " stored encrypted."
            )

    def clean(self) -> dict[str, Any]:
        """A new secret, the stored one, or none."""
        cleaned = super().clean() or self.cleaned_data
        is_removed = cleaned.get("remove_secret", False)
        # Users' conversations are found by the embed's key, whichever row has it.
        is_moved = bool(self.instance.secret) and (
            cleaned.get("key") != self.instance.key
        )
        is_opening = is_moved or bool(cleaned.get("secret"))
        if is_opening and not may_do_to_sessions(self.user, RIGHTS_OF_VISITORS):
            self.add_error("key" if is_moved else "secret", NOT_BY_YOU)
        elif is_removed and cleaned.get("secret"):
            self.add_error("remove_secret", "Set a secret or remove it, not both.")
        elif is_removed:
            self.instance.secret = ""
        else:
            cleaned["secret"] = cleaned.get("secret") or self.instance.secret
        return cleaned


@admin.register(Embed)
class EmbedAdmin(UserFormAdmin[Embed]):
    """Widgets on sites."""

    form = EmbedForm
    list_display = ("key", "agent", "title", "origins", "is_enabled")

    change_form_template = "admin/widget/embed/change_form.html"

    def get_fieldsets(self, request: HttpRequest, obj: Embed | None = None) -> Any:
        """By what they are for; what is not set cannot be removed."""
        fields = list(EmbedForm.Meta.fields)
        where, words, looks, nudge, visitors = (
            fields[:4],
            fields[4:9],
            fields[9:14],
            fields[14:18],
            fields[18:],
        )
        if obj is not None and obj.secret:
            visitors.insert(1, "remove_secret")
        return [
            (None, {"fields": where}),
            ("Words", {"fields": words}),
            ("Looks", {"fields": looks}),
            ("Comes forward by itself", {"fields": nudge}),
            ("Visitors", {"fields": visitors}),
        ]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(xframe_options_sameorigin(self.preview))
        own = path("preview/", view, name="widget_embed_preview")
        return [own, *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """A page with the widget on it, which asks no server for anything."""
        response = TemplateResponse(request, "admin/widget/embed/preview.html")
        response["Content-Security-Policy"] = PREVIEW_POLICY
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The form beside a preview, and the line for the site."""
        server = request.build_absolute_uri("/").rstrip("/")
        context = {"server": server, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def save_model(
        self, request: HttpRequest, obj: Embed, form: Any, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if warning := accent_warning(obj.accent):
            messages.warning(request, warning)
