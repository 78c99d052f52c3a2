"""Pieces of files."""

from __future__ import annotations

import pytest

PROVIDER = """\
[[provider]]
name = "primary"
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
"""
AGENT = """\
[[agent]]
slug = "helper"
route = ["primary/gpt-x"]
"""
PRICE = """\
[[price]]
provider = "primary"
model = "gpt-*"
input = "0.15"
output = 1
"""
KEY = """\
[[key]]
name = "ci"
key = "lk_ci_0123456789"
"""
EMBED = """\
[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["https://shop.example"]
"""
WHOLE = PROVIDER + PRICE + AGENT + KEY + EMBED


@pytest.fixture
def whole_file(tmp_path):
    """A file with one thing of each section."""
    path = tmp_path / "lantern.toml"
    path.write_text(WHOLE)
    return path
