"""The committed browser files are what their source builds, and within their size."""

from __future__ import annotations

import subprocess

import pytest

from tests.fakes.live_server import ROOT


@pytest.mark.timeout(120)
def test_built_files_equal_their_source() -> None:
    assert (ROOT / "widget/js/node_modules").exists(), "Run: make node"
    done = subprocess.run(
        ["node", "widget/js/build.mjs", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
