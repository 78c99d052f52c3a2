"""Tools in the dashboard."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from sessions_app.authority import (
    ONLY_A_SUPERUSER,
    SECRET_STAYS,
    Reach,
    may_run,
    moves_away,
    opens_inside,
    tool_runs_here,
)
from sessions_app.models import Tool
from sessions_app.store.catalog import tool_config
from sessions_app.tools.base import ToolFault
from sessions_app.tools.registry import check_tool
from sessions_app.written_lines import HeaderLines


class ToolForm(forms.ModelForm[Tool]):
    """Headers are written, never shown, as they hold secrets.

    ``may_run`` is set for each request.
    """

    may_run: ClassVar[bool] = False

    headers = HeaderLines(
        required=False,
        rows=3,
        help_text="HTTP headers, one a line, as in Authorization: Bearer abc. Stored"
        " encrypted and not shown again; leave it empty to keep those that are stored.",
    )

    class Meta:
        model = Tool
        fields = (
            "name",
            "kind",
            "description",
            "settings",
            "headers",
            "allow_private",
            "needs_approval",
            "is_enabled",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["headers"] = ""

    def clean_headers(self) -> str:
        return str(self.cleaned_data["headers"] or self.instance.headers)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if not isinstance(cleaned.get("settings") or {}, dict):
            raise forms.ValidationError({"settings": "Write a JSON object."})
        # Before the tool is looked at: to look at a Python path is to import it.
        if not self.may_run and tool_runs_here(cleaned["kind"], cleaned["settings"]):
            raise forms.ValidationError(
                {"kind": "Only a superuser may have the server run programs."}
            )
        tool = Tool(**{name: cleaned[name] for name in self.Meta.fields})
        tool.settings = tool.settings or {}
        try:
            check_tool(tool_config(tool))
        except ToolFault as error:
            raise forms.ValidationError(f"This tool cannot work: {error}") from error
        self._check_reach(tool)
        return cleaned

    def _check_reach(self, tool: Tool) -> None:
        old, new = _reach(self.instance), _reach(tool)
        is_stored = self.instance.headers and not self["headers"].data
        if is_stored and moves_away(old, new):
            self.add_error("headers", SECRET_STAYS)
        if not self.may_run and opens_inside(old, new):
            self.add_error("allow_private", ONLY_A_SUPERUSER)


def _reach(tool: Tool) -> Reach:
    settings = tool.settings if isinstance(tool.settings, dict) else {}
    return Reach(str(settings.get("url", "")), tool.allow_private)


@admin.register(Tool)
class ToolAdmin(admin.ModelAdmin[Tool]):
    """What agents may use."""

    form = ToolForm
    list_display = ("name", "kind", "description", "needs_approval", "is_enabled")

    def get_form(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> type[ToolForm]:
        form = cast(type[ToolForm], super().get_form(request, *args, **kwargs))
        form.may_run = may_run(request.user)
        return form

    def has_change_permission(
        self, request: HttpRequest, obj: Tool | None = None
    ) -> bool:
        is_allowed = (
            obj is None
            or may_run(request.user)
            or not tool_runs_here(obj.kind, obj.settings)
        )
        return is_allowed and super().has_change_permission(request, obj)
