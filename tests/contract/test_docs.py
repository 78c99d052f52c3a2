"""What the pages say is so: generated ones are fresh, links lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lantern_site.reference import PAGES as GENERATED
from lantern_site.reference import VARIABLES
from sessions_app.provision import apply
from tests.fakes.live_server import ROOT

REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_TARGET = re.compile(r"`make ([a-z-]+)`")
_TOML = re.compile(r"```toml\n(.*?)```", re.DOTALL)
_READ_ENV = re.compile(r'(?:read_env|environ\.get)\(\s*"([A-Z_]+)"')


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("name", GENERATED)
def test_generated_page_is_fresh(name: str) -> None:
    assert (REFERENCE / name).read_text() == GENERATED[name](), "Renew it: make docs"


def test_every_variable_is_documented() -> None:
    sources = [ROOT / "lantern_site", ROOT / "sessions_app", ROOT / "widget"]
    read = {
        name
        for folder in sources
        for path in folder.rglob("*.py")
        for name in _READ_ENV.findall(path.read_text())
    }
    assert read - {each.name for each in VARIABLES} == set()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [link for link in _LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in targets if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_named_tests_exist(page: Path) -> None:
    for path, name in _TEST.findall(page.read_text()):
        tree = ast.parse((ROOT / path).read_text())
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        assert name in {node.name for node in tree.body if isinstance(node, kinds)}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_named_targets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in _TARGET.findall(page.read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_toml_blocks_can_be_provisioned(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-test")
    monkeypatch.setenv("TRUSS_API_KEY", "tr-test")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("WEATHER_AUTHORIZATION", "Bearer test")
    for block in _TOML.findall(page.read_text()):
        apply(block, source=page_id(page))


def test_readme_promises_are_tested() -> None:
    chapter = (ROOT / "README.md").read_text().split("## What it promises")[1]
    promises = chapter.split("\n## ")[0].split("\n- ")[1:]
    assert len(promises) >= 8
    assert [each for each in promises if not _TEST.search(each)] == []
