"""Tools in the dashboard."""

from __future__ import annotations

from typing import Any, ClassVar

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
from sessions_app.domain.tooling import HTTP, MCP, PYTHON
from sessions_app.json_field import JsonObject
from sessions_app.models import Tool
from sessions_app.store.catalog import tool_config
from sessions_app.tools.base import ToolFault
from sessions_app.tools.http_tool import METHODS
from sessions_app.tools.registry import check_tool
from sessions_app.user_form import UserForm, UserFormAdmin
from sessions_app.written_lines import Arguments, HeaderLines, Pairs

KIND_FIELDS = {
    HTTP: ("url", "method", "input_schema", "query", "body"),
    MCP: ("url", "command"),
    PYTHON: ("path",),
}
SETTINGS = ("url", "method", "input_schema", "query", "body", "command", "path")
COLUMNS = (
    "name",
    "kind",
    "description",
    "headers",
    "allow_private",
    "needs_approval",
    "is_enabled",
)
FIELDSETS: Any = (
    (None, {"fields": ("name", "kind", "description", "needs_approval", "is_enabled")}),
    ("http and mcp: where it is", {"fields": ("url", "headers", "allow_private")}),
    (
        "http: what is asked",
        {"fields": ("method", "input_schema", "query", "body")},
    ),
    ("mcp: a program on this machine", {"fields": ("command",)}),
    ("python: a function", {"fields": ("path",)}),
)


class ToolForm(UserForm[Tool]):
    """Headers are written, never shown, as they hold secrets."""

    headers = HeaderLines(
        required=False,
        rows=3,
        help_text="HTTP headers, one a line, as in Authorization: Bearer abc. Stored"
        " encrypted and not shown again; leave it empty to keep those that are stored.",
    )

    url = forms.CharField(
        required=False,
        label="Address",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text="Of the kind http, with {name} where an argument goes, as in"
        " https://api.example.com/weather/{city}; or of an MCP server.",
    )
    method = forms.ChoiceField(
        required=False,
        choices=[("", "GET, if nothing is chosen"), *((x, x) for x in METHODS)],
    )
    input_schema = JsonObject(
        required=False,
        label="Arguments",
        help_text="What the model is to tell the tool, as a JSON Schema, such as"
        ' {"type": "object", "properties": {"city": {"type": "string"}}}.',
    )
    query = Pairs(
        required=False,
        rows=3,
        help_text="More of the query, as name=value, one a line; may hold {name}. In"
        " double quotes a value keeps its outer spaces.",
    )
    body = JsonObject(
        required=False,
        help_text="The JSON body; texts in it may hold {name}. Without one, arguments"
        " that stand nowhere else are the body.",
    )
    command = Arguments(
        required=False,
        help_text="The program of an MCP server on this machine, then its arguments,"
        " one a line.",
    )
    path = forms.CharField(
        required=False,
        label="Function",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text="Such as package.module:function.",
    )

    class Meta:
        model = Tool
        fields = COLUMNS
        labels: ClassVar[dict[str, str]] = {
            "allow_private": "May be at a private address",
            "needs_approval": "Asks first",
        }
        help_texts: ClassVar[dict[str, str]] = {
            "allow_private": "For a server in your own network.",
        }
        widgets: ClassVar[dict[str, Any]] = {
            "description": forms.Textarea(attrs={"rows": 3})
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(_settings_of(self.instance))
        self.initial["headers"] = ""

    def clean_headers(self) -> str:
        return str(self.cleaned_data["headers"] or self.instance.headers)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        settings = self._settings(cleaned)
        if self.errors:
            return cleaned
        # Before the tool is looked at: to look at a Python path is to import it.
        if not may_run(self.user) and tool_runs_here(cleaned["kind"], settings):
            raise forms.ValidationError(
                {"kind": "Only a superuser may have the server run programs."}
            )
        tool = Tool(**{name: cleaned[name] for name in COLUMNS})
        tool.settings = settings
        try:
            check_tool(tool_config(tool))
        except ToolFault as error:
            field = error.setting or KIND_FIELDS[cleaned["kind"]][0]
            self.add_error(field, f"This tool cannot work: {error}")
            return cleaned
        self._check_reach(tool)
        self.instance.settings = settings
        return cleaned

    def _settings(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """What is written for the kind; an error where more is.

        What has no field here was written elsewhere, and stays.
        """
        given = {name: cleaned[name] for name in SETTINGS if cleaned.get(name)}
        for name in set(given) - set(KIND_FIELDS[cleaned["kind"]]):
            kinds = " and ".join(k for k, names in KIND_FIELDS.items() if name in names)
            self.add_error(name, f"This is only for the kind {kinds}: empty it.")
        stored = _settings_of(self.instance).items()
        return {**{x: value for x, value in stored if x not in SETTINGS}, **given}

    def _check_reach(self, tool: Tool) -> None:
        old, new = _reach(self.instance), _reach(tool)
        is_stored = self.instance.headers and not self["headers"].data
        if is_stored and moves_away(old, new):
            self.add_error("headers", SECRET_STAYS)
        if not may_run(self.user) and opens_inside(old, new):
            self.add_error("allow_private", ONLY_A_SUPERUSER)


def _settings_of(tool: Tool) -> dict[str, Any]:
    return tool.settings if isinstance(tool.settings, dict) else {}


def _reach(tool: Tool) -> Reach:
    return Reach(str(_settings_of(tool).get("url", "")), tool.allow_private)


@admin.register(Tool)
class ToolAdmin(UserFormAdmin[Tool]):
    """What agents may use."""

    form = ToolForm
    fieldsets = FIELDSETS
    list_display = ("name", "kind", "description", "needs_approval", "is_enabled")

    def has_change_permission(
        self, request: HttpRequest, obj: Tool | None = None
    ) -> bool:
        is_allowed = (
            obj is None
            or may_run(request.user)
            or not tool_runs_here(obj.kind, obj.settings)
        )
        return is_allowed and super().has_change_permission(request, obj)
