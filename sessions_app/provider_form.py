"""Providers in the dashboard: what may be written, and by whom."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from sessions_app.authority import (
    ONLY_A_SUPERUSER,
    SECRET_STAYS,
    Reach,
    may_run,
    moves_away,
    opens_inside,
)
from sessions_app.models import Provider
from sessions_app.providers.exec import command_fault
from sessions_app.providers.openai import Service, services
from sessions_app.providers.registry import ADAPTERS
from sessions_app.provision.fields import Refused
from sessions_app.provision.sections.provider import (
    EXEC,
    KINDS_WITH_URL,
    OPENAI,
    check_base_url,
)
from sessions_app.store.catalog import config_of
from sessions_app.user_form import UserForm, WrittenSecret
from sessions_app.written_lines import Arguments

FIELDSETS: Any = (
    (None, {"fields": ("name", "kind", "is_enabled")}),
    (
        "Where it is",
        {"fields": ("service", "base_url", "api_key", "allow_private")},
    ),
    (
        "A command on this machine",
        {
            "fields": ("command", "output", "text_path"),
            "description": "Only for the kind exec.",
        },
    ),
    (
        "Limits",
        {
            "fields": (
                "context_tokens",
                "connect_timeout_s",
                "first_content_timeout_s",
                "idle_timeout_s",
            )
        },
    ),
    ("Prices that come along", {"fields": ("shipped_prices",)}),
)


class ProviderForm(UserForm[Provider]):
    """The key is written, never shown."""

    kind = forms.ChoiceField(
        choices=[(kind, kind) for kind in sorted(ADAPTERS)], initial=OPENAI
    )
    service = forms.ChoiceField(
        required=False,
        choices=[("", "–"), *((name, each.label) for name, each in services().items())],
        help_text="A known service of the kind openai: its address is filled in, and a"
        " local one may be at a private address.",
    )
    api_key = forms.CharField(
        label="API key",
        required=False,
        widget=WrittenSecret(),
        help_text="Stored encrypted. Leave it empty to keep the one that is stored.",
    )

    command = Arguments(
        required=False,
        help_text="The program, then its arguments, one a line. No shell reads them, so"
        " they need no quotes.",
    )

    class Meta:
        model = Provider
        labels: ClassVar[dict[str, str]] = {
            "base_url": "Address",
            "allow_private": "May be at a private address",
            "connect_timeout_s": "Seconds to connect",
            "first_content_timeout_s": "Seconds to the first content",
            "idle_timeout_s": "Seconds of silence",
        }
        help_texts: ClassVar[dict[str, str]] = {
            "base_url": "Where the API begins, such as https://api.openai.com/v1; empty"
            " for a service whose address is known.",
            "allow_private": "For a model in your own network.",
            "output": "text, or jsonl: one JSON value a line.",
        }
        fields = (
            "name",
            "kind",
            "service",
            "base_url",
            "api_key",
            "allow_private",
            "command",
            "output",
            "text_path",
            "is_enabled",
            "context_tokens",
            "connect_timeout_s",
            "first_content_timeout_s",
            "idle_timeout_s",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["api_key"] = ""

    def clean_api_key(self) -> str:
        return str(self.cleaned_data["api_key"] or self.instance.api_key)

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"])
        if url:
            try:
                check_base_url(url)
            except Refused as error:
                raise forms.ValidationError(f"This {error}") from error
        return url

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if service := services().get(cleaned["service"]):
            self._fill_in(cleaned, service)
        # A field with an error is no longer among them.
        if cleaned["kind"] in KINDS_WITH_URL and cleaned.get("base_url") == "":
            self.add_error("base_url", f"The kind {cleaned['kind']} needs an address.")
        if cleaned["kind"] == EXEC:
            self._check_command(cleaned)
        elif cleaned["command"]:
            self.add_error("command", f"This is only for the kind {EXEC}.")
        if not self.errors:
            self._check_reach(cleaned)
        return cleaned

    def _check_reach(self, cleaned: dict[str, Any]) -> None:
        old = Reach(self.instance.base_url, self.instance.allow_private)
        new = Reach(cleaned["base_url"], cleaned["allow_private"])
        is_stored = self.instance.api_key and not self["api_key"].data
        if is_stored and moves_away(old, new):
            self.add_error("api_key", SECRET_STAYS)
        if not may_run(self.user) and opens_inside(old, new):
            self.add_error("allow_private", ONLY_A_SUPERUSER)

    def _fill_in(self, cleaned: dict[str, Any], service: Service) -> None:
        if cleaned["kind"] != OPENAI:
            self.add_error("service", f"This service is of the kind {OPENAI}.")
            return
        cleaned["base_url"] = cleaned["base_url"] or service.base_url
        cleaned["allow_private"] = cleaned["allow_private"] or service.is_local
        if not cleaned["base_url"]:
            self.add_error("base_url", f"Write it, such as {service.example}.")
        if service.needs_key and not cleaned["api_key"]:
            self.add_error("api_key", "This service needs one.")

    def _check_command(self, cleaned: dict[str, Any]) -> None:
        if not may_run(self.user):
            self.add_error("kind", "Only a superuser may have the server run commands.")
            return
        if fault := command_fault(config_of(Provider(**cleaned))):
            name, sentence = fault
            self.add_error(name, f"This {sentence}")
