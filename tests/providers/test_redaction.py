from __future__ import annotations

import time

import pytest

from sessions_app.providers.redaction import redact, redact_keys

HEX = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key swordfish is bad", "key [key] is bad"),
        ("key sk-abc***xyz9 is bad", "key [key] is bad"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [key]"),
        ('see "https://a.example/x?k=1" now', 'see "[url]" now'),
        ("model gpt-4o-mini is busy", "model gpt-4o-mini is busy"),
        ("no such key: AIzaSyD-abc_123", "no such key: [key]"),
        ("token eyJhbGciOi.eyJzdWIi.c2ln", "token [key]"),
    ],
)
def test_secrets_and_urls_are_redacted(text: str, expected: str) -> None:
    assert redact(text, "swordfish") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bad ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "bad [key]"),
        (f"bad pplx-{HEX}", "bad [key]"),
        ("bad tgp_v1_abcDEF-1234_x", "bad [key]"),
        ("bad lv_eyJ2IjoxfQ:1abcde:c2lnbmVk", "bad [key]"),
        ("bad lt_eyJ2IjoxfQ:1abcde:c2lnbmVk", "bad [key]"),
        ("Basic dXNlcjpwYXNz", "Basic [key]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [key]"),
        (f"Authorization: Token {HEX}", "Authorization: Token [key]"),
        ("Authorization: Bearer sk-abcdef", "Authorization: Bearer [key]"),
        ("Bearer: abc.def", "Bearer: [key]"),
        ("Api-Key abcd1234.efgh5678", "Api-Key [key]"),
        (f"x-api-key: {HEX}", "x-api-key: [key]"),
        (f'{{"x-api-key": "{HEX}"}}', '{"x-api-key": "[key]"}'),
        (f'{{\\"api_key\\": \\"{HEX}\\"}}', '{\\"api_key\\": \\"[key]\\"}'),
        ("OPENAI_API_KEY=abcd1234", "OPENAI_API_KEY=[key]"),
        ("Incorrect API key provided: 4f3a9911", "Incorrect API key provided: [key]"),
    ],
)
def test_every_form_of_a_key_is_redacted(text: str, expected: str) -> None:
    assert redact(text, "") == expected
    assert redact_keys(text, "") == expected


@pytest.mark.parametrize(
    "text",
    [
        "token limit exceeded",
        "the API key is invalid",
        "api_key: must be set",
        "Basic authentication is required",
        "max_tokens: 128000 is too large",
        "the model pplx-70b-online is not there",
        "model key: claude-sonnet-4-5-20250929",
        "request id req_011CSHoEeqs5C35K2UUqR7Fy",
        "chatcmpl-9abc123, 550e8400-e29b-41d4-a716-446655440000",
        f"request {HEX} was refused",
    ],
)
def test_ordinary_diagnosis_stays_readable(text: str) -> None:
    assert redact(text, "swordfish") == text


def test_url_stays_without_its_user() -> None:
    text = "see https://alice:secret@a.example/x"
    assert redact_keys(text, "") == "see https://[key]@a.example/x"


@pytest.mark.parametrize(
    "part",
    ["a.", "x-", "x-a-", "bearer ", "key:", "api key ", "sk-", "a://", " ", "\\", "a"],
)
def test_hostile_text_costs_linear_time(part: str) -> None:
    started = time.process_time()
    redact(part * (1_000_000 // len(part)), "swordfish")
    # A second at most on a slow machine; what is quadratic takes hours.
    assert time.process_time() - started < 4
