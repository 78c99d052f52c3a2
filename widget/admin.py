"""The embeds in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from widget.models import Embed


class EmbedForm(forms.ModelForm[Embed]):
    """The secret is written, never shown; whether there is one is."""

    secret = forms.CharField(
        required=False, widget=forms.PasswordInput(render_value=False)
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
            "secret",
            "identity",
            "proof_of_work",
            "is_enabled",
            "title",
            "greeting",
            "placeholder",
            "accent",
            "agent_name",
            "retention_days",
            "page_tool",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
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
        if is_removed and cleaned.get("secret"):
            self.add_error("remove_secret", "Set a secret or remove it, not both.")
        elif is_removed:
            self.instance.secret = ""
        else:
            cleaned["secret"] = cleaned.get("secret") or self.instance.secret
        return cleaned


@admin.register(Embed)
class EmbedAdmin(admin.ModelAdmin[Embed]):
    """Widgets on sites."""

    form = EmbedForm
    list_display = ("key", "agent", "title", "origins", "is_enabled")

    def get_fields(self, request: HttpRequest, obj: Embed | None = None) -> list[Any]:
        """What is not set cannot be removed."""
        fields: list[Any] = list(EmbedForm.Meta.fields)
        if obj is not None and obj.secret:
            fields.insert(fields.index("secret") + 1, "remove_secret")
        return fields
