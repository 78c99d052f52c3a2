"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.fakes.live_server import ROOT

MAX_FILE = 350
MAX_FUNCTION = 40
FOLDERS = ("lantern_site", "sessions_app", "widget", "tests", "sdk")
BROWSER = (
    "widget/js/src",
    "widget/js/test",
    "sdk/typescript/src",
    "sdk/typescript/test",
)


def sources() -> Iterator[Path]:
    """Everything that is written by hand."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if not {"migrations", "node_modules"} & set(path.parts):
                yield path
    for folder in BROWSER:
        for ending in ("*.ts", "*.mjs", "*.css"):
            yield from (ROOT / folder).rglob(ending)


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in sources()}
    assert len(lengths) > 100
    long = {str(path.relative_to(ROOT)): n for path, n in lengths.items()}
    assert {name: n for name, n in long.items() if n > MAX_FILE} == {}


def test_functions_are_short() -> None:
    long = {}
    for path in sources():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > MAX_FUNCTION:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = length
    assert long == {}
