"""Whatever is wrong is said with its line, and nothing is written."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sessions_app.models import Agent, ApiKey, Price, Provider
from sessions_app.provision import ProvisionError, apply
from tests.provision.conftest import AGENT, EMBED, KEY, PRICE, PROVIDER, WHOLE
from widget.models import Embed

pytestmark = pytest.mark.django_db

BASE = PROVIDER + AGENT  # 7 lines
NEXT = BASE.count("\n") + 1


def refuse(text, line, words, **options):
    """Apply a text that must be refused, and look that nothing was written."""
    with pytest.raises(ProvisionError) as caught:
        apply(text, **options)
    error = caught.value
    assert (error.line, words in error.sentence) == (line, True), str(error)
    assert "\n" not in error.sentence and error.sentence.endswith(".")
    for model in (Provider, Price, Agent, ApiKey, Embed):
        assert not model.objects.exists()


def swap(text, old, new):
    """A text with one part replaced, and the line of that part."""
    assert text.count(old) == 1
    return text.replace(old, new), text[: text.index(old)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "primary"', 'nmae = "primary"', "the closest is 'name'"),
        ('name = "primary"', "name = 1", "must be a string in quotes, not a whole"),
        ('name = "primary"', 'name = "pri/mary"', "letters, digits, hyphens"),
        ('name = "primary"', f'name = "{"a" * 65}"', "at most 64"),
        ('kind = "openai"', 'kind = "pigeon"', "write one of: anthropic, demo, exec"),
        ('"http://127.0.0.1:9/v1"', '"127.0.0.1/v1"', "must be an address such"),
        ('"http://127.0.0.1:9/v1"', '"ftp://a.example"', "must be an address such"),
        ('"http://127.0.0.1:9/v1"', '"http://a.example:x/"', "must be an address such"),
        ('"http://127.0.0.1:9/v1"', '"http://a.example/?k=1"', "without a query"),
        ('"http://127.0.0.1:9/v1"', '"http://a.example/?"', "without a query"),
        ('"http://127.0.0.1:9/v1"', '"http://u:p@a.example"', "use api_key"),
        ('"http://127.0.0.1:9/v1"', '"env:LANTERN_UNSET"', "which is not set"),
        ('"http://127.0.0.1:9/v1"', '"env:LANTERN-UNSET"', "after 'env:'"),
        ('input = "0.15"', "input = 0.15", 'must stand in quotes, as "0.15"'),
        ('input = "0.15"', "input = true", "not true or false"),
        ('input = "0.15"', 'input = "-0.15"', "must not be negative"),
        ('input = "0.15"', "input = -1", "must not be negative"),
        ('input = "0.15"', 'input = "0,15"', "must be a decimal number"),
        ('input = "0.15"', 'input = "NaN"', "must be a decimal number"),
        ('input = "0.15"', 'input = "1_0"', "must be a decimal number"),
        ('input = "0.15"', 'input = "0.000000001"', "8 after it"),
        ('input = "0.15"', 'input = "10000000000"', "10 digits before"),
        ('model = "gpt-*"', 'model = ""', "must not be empty"),
        ('provider = "primary"', 'provider = "other"', "no provider 'other'"),
        ('slug = "helper"', 'slug = "he lper"', "letters, digits, hyphens"),
        ('route = ["primary/gpt-x"]', "route = []", "must not be empty"),
        ('route = ["primary/gpt-x"]', 'route = "primary/x"', "must be a list"),
        ('route = ["primary/gpt-x"]', 'route = ["primary"]', "form provider/model"),
        ('route = ["primary/gpt-x"]', 'route = ["other/x"]', "no provider 'other'"),
        ('route = ["primary/gpt-x"]', "route = [1]", "item 1, must be a string"),
        ('key = "lk_ci_0123456789"', 'key = "pk_ci"', "must be 'lk_' and"),
        ('key = "lk_ci_0123456789"', 'key = "lk_"', "must be 'lk_' and"),
        ('key = "lk_ci_0123456789"', 'agents = ["other"]', "no agent 'other'"),
        ('key = "lk_ci_0123456789"', 'scopes = ["session"]', "write one of: compl"),
        ('name = "ci"', 'name = ""', "must not be empty"),
        ('key = "pk_shop"', 'key = "shop"', "must be 'pk_' and"),
        ('agent = "helper"', 'agent = "other"', "no agent 'other'"),
        ('["https://shop.example"]', '["https://shop.example/"]', "than an origin"),
        ('["https://shop.example"]', '["*"]', "of the form"),
        ('["https://shop.example"]', '["https://a.example:443"]', "default port"),
    ],
)
def test_bad_value_is_refused_with_its_line(old, new, words, monkeypatch):
    monkeypatch.delenv("LANTERN_UNSET", raising=False)
    refuse(*swap(WHOLE, old, new), words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("connect_timeout_s = -1", "must be from 0.01"),
        ("idle_timeout_s = 0", "must be from 0.01"),
        ("idle_timeout_s = inf", "not infinite"),
        ("idle_timeout_s = nan", "not infinite"),
        (f"idle_timeout_s = {'9' * 400}", "not infinite"),
        ('first_content_timeout_s = "5"', "must be a number, not a string"),
        ("allow_private = 1", "must be true or false, not a whole number"),
        ('api_key = "a\\u0000b"', "NUL"),
        ("api_key = 1979-05-27", "not a date"),
        ("[provider.headers]", "'headers' is not known"),
    ],
)
def test_bad_provider_key_is_refused(line, words):
    refuse(f"{PROVIDER}{line}\n{AGENT}", 5, words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("max_output_tokens = 0", "must be from 1"),
        ("max_output_tokens = true", "must be a whole number"),
        ("max_output_tokens = 9999999999", "to 2,147,483,647"),
        ("temperature = 2.5", "must be from 0 to 2"),
        ('tools = ["weather"]', "There is no tool 'weather'"),
        ("stream_last_round = 1", "must be true or false"),
        ("retention_days = -1", "must be from 0 to 36,500"),
    ],
)
def test_bad_agent_key_is_refused(line, words):
    refuse(f"{BASE}{line}\n", NEXT, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[tool]]\n", "[[tool]] needs the key 'name'"),
        ("[[limit]]\n", "[[limit]] needs the key 'on'"),
        ("[[agents]]\n", "the closest is 'agent'"),
        ('[key]\nname = "ci"\n', "in double brackets"),
        ('[[agent]]\nslug = "b"\n', "needs the key 'route'"),
        ('[[provider]]\nname = "b"\n', "needs the key 'kind'"),
        ('[[provider]]\nname = "b"\nkind = "openai"\n', "needs the key 'base_url'"),
        (EMBED + "retention_days = -1\n", "must be from 0 to 36,500"),
    ],
)
def test_bad_table_is_refused(text, words):
    line = NEXT + (4 if "retention" in text else 0)
    refuse(BASE + text, line, words)


def test_key_outside_of_sections_is_refused():
    refuse("\nname = 1\n", 2, "outside of any section")


def test_line_of_a_list_item_is_its_own():
    route = '[\n  "primary/x",\n  "other/y",\n]'
    text, line = swap(BASE, '["primary/gpt-x"]', route)
    refuse(text, line + 2, "no provider 'other'")


@pytest.mark.parametrize(
    ("part", "at"), [(PROVIDER, 1), (PRICE, 2), (AGENT, 1), (KEY, 1), (EMBED, 1)]
)
def test_duplicate_name_is_refused(part, at):
    line = WHOLE.count("\n") + 1 + at
    refuse(WHOLE + part, line, "is already on line")


def test_two_defaults_are_refused():
    first, second = AGENT, AGENT.replace("helper", "other")
    text = f"{PROVIDER}{first}default = true\n{second}default = true\n"
    refuse(text, text.count("\n"), "the default already")


def test_one_key_under_two_names_is_refused():
    text = KEY + KEY.replace('"ci"', '"other"')
    refuse(text, 6, "belongs to the key 'ci'")


def test_secrets_stay_out_of_errors(monkeypatch):
    monkeypatch.setenv("LANTERN_TEST_KEY", "hunter2")
    text, line = swap(KEY, '"lk_ci_0123456789"', '"env:LANTERN_TEST_KEY"')
    with pytest.raises(ProvisionError) as caught:
        apply(text)
    assert caught.value.line == line
    assert "hunter2" not in str(caught.value)


KEY_LINES = [
    number for number, row in enumerate(WHOLE.split("\n"), 1) if row.count(" = ")
]
KNOWN = {
    key for tables in tomllib.loads(WHOLE).values() for table in tables for key in table
}


@given(st.sampled_from(KEY_LINES), st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True))
def test_any_renamed_key_is_refused_with_its_line(number, name):
    assume(name not in KNOWN)
    rows = WHOLE.split("\n")
    rows[number - 1] = f"{name} = {rows[number - 1].partition(' = ')[2]}"
    with pytest.raises(ProvisionError) as caught:
        apply("\n".join(rows))
    assert caught.value.line == number
    assert repr(name) in caught.value.sentence
