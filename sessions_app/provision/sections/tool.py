"""Tools in the file."""

from __future__ import annotations

import json
from typing import Any

from sessions_app.domain.tooling import TOOL_KINDS
from sessions_app.models import Tool
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section
from sessions_app.store.catalog import tool_config
from sessions_app.tools.base import ToolFault
from sessions_app.tools.http_tool import METHODS
from sessions_app.tools.registry import check_tool

SETTINGS = ("url", "method", "input_schema", "query", "body", "path", "command")


class ToolSection(Section[Tool]):
    """What agents may use."""

    model = Tool
    about = "A tool that the server runs for a model, or an MCP server of many."
    identity = ("name",)
    fields = (
        Field(
            "name", f.TEXT, "What agents and the model call it.", True, f.slug_up_to(64)
        ),
        Field(
            "kind",
            f.TEXT,
            f"One of {', '.join(TOOL_KINDS)}.",
            True,
            f.one_of(TOOL_KINDS),
        ),
        Field("description", f.TEXT, "When to use it; the model reads this."),
        Field(
            "url",
            f.TEXT,
            "Of an `http` tool, with `{name}` where an argument goes; or of an `mcp`"
            " server that speaks streamable HTTP.",
        ),
        Field(
            "method", f.TEXT, f"One of {', '.join(METHODS)}.", check=f.one_of(METHODS)
        ),
        Field("input_schema", f.TABLE, "JSON Schema of an `http` tool's arguments."),
        Field("query", f.TEXT_TABLE, "More of the query; may hold `{name}`."),
        Field("body", f.TABLE, "The JSON body; texts in it may hold `{name}`."),
        Field(
            "headers",
            f.TEXT_TABLE,
            "HTTP headers, stored encrypted; may hold `{name}`.",
        ),
        Field("path", f.TEXT, "Of a `python` tool: `package.module:function`."),
        Field("command", f.TEXTS, "Of an `mcp` server: the program and its arguments."),
        Field("allow_private", f.FLAG, "Whether it may be at a private address."),
        Field(
            "confirm",
            f.FLAG,
            "Whether somebody says yes before each call.",
            column="needs_approval",
        ),
    )

    def columns(self, entry: Entry) -> dict[str, Any]:
        columns = super().columns(entry)
        settings = {name: columns.pop(name) for name in SETTINGS if name in columns}
        if "headers" in columns:
            columns["headers"] = json.dumps(columns["headers"])
        return {**columns, "settings": settings}

    def check(self, entry: Entry, plan: Plan) -> None:
        try:
            check_tool(tool_config(Tool(**self.columns(entry))))
        except ToolFault as error:
            raise entry.fault(f"[[tool]] {entry.names[0]}: {error}") from error
