"""The settings of tools in the dashboard: a field each, kept and judged as written."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from sessions_app.models import Tool
from tests.dashboard.test_tools import ADD, form

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WHOLE = {
    "url": "https://shop.example/stock/{city}",
    "method": "POST",
    "input_schema": SCHEMA,
    "query": {"lang": "en", "near": "{city}"},
    "body": {"place": {"name": "{city}"}},
}


# They were one JSON object, with the names of its keys in the help text.
def test_settings_are_fields_and_come_back_as_they_were(admin_client: Client) -> None:
    row = Tool.objects.create(name="stock", kind="http", settings=WHOLE)
    path = change_path(row)
    shown = admin_client.get(path).context["adminform"].form
    fields = {name: shown[name].value() for name in WHOLE}
    assert fields["query"] == "lang=en\nnear={city}"
    assert admin_client.post(path, form("http", fields)).status_code == 302
    row.refresh_from_db()
    assert row.settings == WHOLE


@pytest.mark.parametrize(
    ("kind", "change", "field", "words"),
    [
        ("http", {"url": "shop.example"}, "url", "cannot be used"),
        ("http", {"url": ""}, "url", "cannot be used"),
        (
            "http",
            {"input_schema": "{city}"},
            "input_schema",
            "This is not JSON: line 1, column 2",
        ),
        ("http", {"input_schema": "[]"}, "input_schema", "JSON object"),
        ("http", {"input_schema": '{"type": 5}'}, "input_schema", "the type object"),
        ("http", {"query": "lang"}, "query", "Line 1: write a name, = and"),
        ("http", {"command": "true"}, "command", "only for the kind mcp"),
        ("mcp", {"method": "POST"}, "method", "only for the kind http"),
        ("mcp", {"url": ""}, "url", "either a command or a url"),
    ],
)
def test_wrong_setting_is_named_at_its_field(
    admin_client: Client, kind: str, change: dict[str, str], field: str, words: str
) -> None:
    given = form(kind, {"url": "https://shop.example/x", **change})
    shown = admin_client.post(ADD, given).context["adminform"].form
    assert list(shown.errors) == [field]
    assert words in str(shown.errors[field])
    assert shown[field].value() == given[field]
    assert not Tool.objects.exists()


def change_path(row: Tool) -> str:
    return f"/admin/sessions_app/tool/{row.pk}/change/"


# The outer spaces of a value were trimmed, and of two lines of a name the last won.
# The order is the database's: PostgreSQL sorts the names.
def test_query_keeps_its_spaces_and_signs(admin_client: Client) -> None:
    query = {
        "sep": " ",
        "pad": "  x ",
        "a=b": "c=d",
        "q": '"exact"',
        "none": "",
        "two": "1\n2",
    }
    settings = {"url": "https://shop.example/x", "query": query}
    row = Tool.objects.create(name="stock", kind="http", settings=settings)
    shown = admin_client.get(change_path(row)).context["adminform"].form
    lines = shown["query"].value()
    assert {'sep=" "', 'pad="  x "', '"a=b"=c=d'} <= set(lines.split("\n"))
    fields = form(
        "http", {"url": settings["url"], "query": lines.replace("\n", "\r\n")}
    )
    assert admin_client.post(change_path(row), fields).status_code == 302
    row.refresh_from_db()
    assert row.settings["query"] == query


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("a=1\na=2", "The name &#x27;a&#x27; is twice"),
        ('a="1', "Line 1: what begins with a double quote"),
        ('a=1\n"b', "Line 2: what begins with a double quote"),
        ('"a b" 1', "Line 1: write a name, = and a value"),
        ('a="\\u0000"', "Line 1: The text holds a NUL"),
    ],
)
def test_wrong_query_is_named_and_kept(
    admin_client: Client, lines: str, words: str
) -> None:
    given = form("http", {"url": "https://shop.example/x", "query": lines})
    shown = admin_client.post(ADD, given).context["adminform"].form
    assert words in str(shown.errors["query"])
    assert shown["query"].value() == lines


# What the form has no field for was dropped when anything else was changed.
def test_settings_without_a_field_stay(admin_client: Client) -> None:
    settings = {"url": "https://shop.example/x", "from_a_later_version": {"a": [1]}}
    row = Tool.objects.create(name="stock", kind="http", settings=settings)
    moved = form("http", {"url": "https://shop.example/y", "method": "PUT"})
    assert admin_client.post(change_path(row), moved).status_code == 302
    row.refresh_from_db()
    assert row.settings == {
        "url": "https://shop.example/y",
        "method": "PUT",
        "from_a_later_version": {"a": [1]},
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  "a": 1,\n}', "line 3, column 1 at '}': a name in double quotes"),
        ("{\"a\": 'x'}", "line 1, column 7 at \"'x'}\": texts stand in double quotes"),
        ('{"a": 1\n  "b": 2}', "line 2, column 3 at '\"b\": 2}': expecting ','"),
        ('{"a": "x', "line 1, column 7 at '\"x': unterminated string"),
        ('{"a": {', "line 1, column 8: a name in double quotes"),
        ('{"a": 1, "a": 2}', "The name 'a' is twice in one object."),
        ('{"a": NaN}', "NaN is not a number that JSON can hold."),
        ('{"a": 1e999}', "1e999 is not a number that JSON can hold."),
        ('{"a": "\\u0000"}', "NUL character or half a surrogate pair"),
        ('{"a": "\\ud800"}', "NUL character or half a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested too deeply"),
        ("null", "Write a JSON object"),
    ],
)
def test_wrong_json_is_told_where_and_stays_as_typed(
    admin_client: Client, text: str, words: str
) -> None:
    given = form("http", {"url": "https://shop.example/x", "body": text})
    shown = admin_client.post(ADD, given).context["adminform"].form
    (said,) = shown.errors["body"]
    assert words in said
    assert shown["body"].value() == text
    assert not Tool.objects.exists()


def test_json_is_shown_as_it_is_read(admin_client: Client) -> None:
    body = {"place": "Zürich – 北京"}
    settings = {"url": "https://shop.example/x", "method": "POST", "body": body}
    row = Tool.objects.create(name="stock", kind="http", settings=settings)
    page = admin_client.get(change_path(row))
    assert "Zürich – 北京" in page.context["adminform"].form["body"].value()
    fields = {**settings, "body": json.dumps(body)}
    assert admin_client.post(change_path(row), form("http", fields)).status_code == 302
    row.refresh_from_db()
    assert row.settings == settings
