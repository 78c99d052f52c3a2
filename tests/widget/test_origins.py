from __future__ import annotations

import pytest

from widget.origins import is_origin_listed, origin_fault


@pytest.mark.parametrize(
    "entry",
    [
        "https://shop.example",
        "HTTPS://Shop.Example",
        "http://shop.example:8080",
        "https://*.shop.example",
        "https://*.shop.example:8443",
        "http://localhost:3000",
        "http://127.0.0.1:9000",
        "http://[::1]:9000",
        "https://xn--caf-dma.example",
        "https://my_shop.example",
        "http://shop.example:443",
    ],
)
def test_what_browsers_send_is_taken(entry: str) -> None:
    assert origin_fault(entry) == ""
    assert is_origin_listed(entry.lower().replace("*", "a"), [entry])


# None of these is ever sent: the embed would be refused, and nobody told why.
@pytest.mark.parametrize(
    "entry",
    [
        "",
        "null",
        "*",
        "shop.example",
        "ftp://shop.example",
        "https://",
        "https://*",
        "https://*.",
        "https://*.:8443",
        "https://shop.example/",
        "https://shop.example/chat",
        "https://shop.example?x=1",
        "https://shop.example?",
        "https://shop.example#",
        "https://shop.example\n",
        " https://shop.example",
        "https://shop example",
        "https://user@shop.example",
        "https://a.*.example",
        "https://*.*.example",
        "https://*shop.example",
        "https://shop..example",
        "https://shop.example.",
        "https://-shop.example",
        "https://shop.example:",
        "https://shop.example:0",
        "https://shop.example:0443",
        "https://shop.example:99999",
        "https://shop.example:٨٠",
        "https://shop.example:443",
        "http://shop.example:80",
        "https://[::1",
        "https://[fe80::1%25eth0]",
        "https://127.1",
        "https://2130706433",
        "https://*.127.0.0.1",
        "https://*.[::1]",
        "https://" + "a" * 64 + ".example",
    ],
)
def test_what_no_browser_sends_is_refused(entry: str) -> None:
    assert entry in origin_fault(entry) or repr(entry) in origin_fault(entry)
    assert origin_fault(entry)


@pytest.mark.parametrize(
    ("entry", "right"),
    [
        ("https://shop.example/", "https://shop.example"),
        ("https://shop.example/chat?x#y", "https://shop.example"),
        ("http://127.0.0.1:8463/", "http://127.0.0.1:8463"),
        ("https://*.shop.example/", "https://*.shop.example"),
        ("shop.example", "https://shop.example"),
        ("https://café.example", "https://xn--caf-dma.example"),
        ("https://*.bücher.example:8443", "https://*.xn--bcher-kva.example:8443"),
        ("https://ｓｈｏｐ.example", "https://shop.example"),
        ("http://[0:0:0:0:0:0:0:1]:9000", "http://[::1]:9000"),
    ],
)
def test_refusal_gives_the_spelling_of_browsers(entry: str, right: str) -> None:
    assert repr(right) in origin_fault(entry)
    assert origin_fault(right) == ""


# It ended with the dot that any name may end with.
def test_stored_wildcard_of_nothing_lists_nobody() -> None:
    for origin in ("https://evil.example.", "https://.", "https://a."):
        assert not is_origin_listed(origin, ["https://*."])


@pytest.mark.parametrize("bad", [5, None, "https://shop.example", {"a": 1}, [5, None]])
def test_malformed_list_means_nobody(bad: object) -> None:
    assert not is_origin_listed("https://shop.example", bad)
