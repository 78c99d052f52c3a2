"""The embeds in the admin."""

from __future__ import annotations

from django import forms
from django.contrib import admin

from widget.models import Embed


class EmbedForm(forms.ModelForm[Embed]):
    """The secret is written, never shown."""

    secret = forms.CharField(
        required=False,
        widget=forms.PasswordInput(render_value=False),
        help_text="Stored encrypted. Leave it empty to keep the one that is stored.",
    )

    class Meta:
        model = Embed
        fields = (
            "key",
            "agent",
            "origins",
            "secret",
            "is_enabled",
            "title",
            "greeting",
            "placeholder",
            "accent",
            "agent_name",
            "retention_days",
        )

    def clean_secret(self) -> str:
        return str(self.cleaned_data["secret"] or self.instance.secret)


@admin.register(Embed)
class EmbedAdmin(admin.ModelAdmin[Embed]):
    """Widgets on sites."""

    form = EmbedForm
    list_display = ("key", "agent", "title", "origins", "is_enabled")
