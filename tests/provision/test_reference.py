"""The reference page says what the sections say."""

from __future__ import annotations

from pathlib import Path

from sessions_app.provision.reference import reference
from sessions_app.provision.registry import sections

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "provision.md"
RENEW = (
    "Renew it: manage.py shell --no-imports -c"
    ' "from sessions_app.provision.reference import reference;'
    " print(reference(), end='')\" > docs/reference/provision.md"
)


def test_reference_is_fresh():
    assert PAGE.read_text() == reference(), RENEW


def test_reference_has_every_key():
    page = reference()
    for name, section in sections().items():
        chapter = page.split(f"## `[[{name}]]`")[1].split("\n## ")[0]
        for field in section.fields:
            assert f"\n| `{field.name}` |" in chapter


def test_every_field_says_what_it_means():
    for section in sections().values():
        for field in section.fields:
            assert field.help.endswith(".")
