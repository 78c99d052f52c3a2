from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.live_server import ROOT

RUNS = 5_000
FIXTURES = Path(__file__).parent / "fixtures"


# `make fuzz` runs on without an end.
@pytest.mark.timeout(60)
def test_guided_bytes_find_no_error(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, path in enumerate(sorted(FIXTURES.glob("*/*.*"))):
        family = path.parent.name == "anthropic"
        (corpus / str(number)).write_bytes(bytes([family, 64]) + path.read_bytes())
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.providers.fuzz",
            str(corpus),
            f"-runs={RUNS}",
            "-seed=1",
            "-max_len=4096",
            f"-artifact_prefix={tmp_path}/",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert f"Done {RUNS} runs" in done.stderr
