from __future__ import annotations

import json
from pathlib import Path

from django.conf import settings

from tests.fakes.edge import Rest

STATIC = Path(settings.STATICFILES_DIRS[0])


def test_script_may_be_loaded_by_any_page(rest: Rest) -> None:
    answer = rest("GET", "/widget.js", key=None)
    assert answer.status == 200
    assert answer.body == (STATIC / "widget" / "widget.js").read_bytes()
    assert answer.header("content-type") == "text/javascript; charset=utf-8"
    assert answer.header("access-control-allow-origin") == "*"
    assert answer.header("cross-origin-resource-policy") == "cross-origin"
    assert answer.header("cache-control") == "public, max-age=300"
    assert answer.header("x-content-type-options") == "nosniff"
    assert answer.header("set-cookie") is None


def test_unchanged_script_is_not_sent_again(rest: Rest) -> None:
    etag = rest("GET", "/widget.js", key=None).header("etag")
    for asked in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = rest("GET", "/widget.js", key=None, if_none_match=asked)
        assert (answer.status, answer.body) == (304, b"")
        assert answer.header("etag") == etag
        assert answer.header("cross-origin-resource-policy") == "cross-origin"
    assert rest("GET", "/widget.js", key=None, if_none_match='"x"').status == 200


def test_head_has_headers_and_no_body(rest: Rest) -> None:
    answer = rest("HEAD", "/widget.js", key=None)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.header("etag")


def test_panel_may_be_imported_from_any_page(rest: Rest) -> None:
    panel = json.loads((STATIC / "widget" / "manifest.json").read_text())["panel"]
    answer = rest("GET", f"/static/widget/{panel}", key=None)
    assert answer.status == 200
    assert answer.header("access-control-allow-origin") == "*"
    assert answer.header("content-type").startswith("text/javascript")
    assert "immutable" in answer.header("cache-control")
