"""Small programs to run as models, and what is left of them."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from sessions_app.domain.route import ProviderConfig

PYTHON = (sys.executable, "-I", "-S", "-c")


def program(source: str, *arguments: str, **fields: object) -> ProviderConfig:
    """A provider whose command runs this source; ``say`` writes bytes at once."""
    prelude = (
        "import os, signal, sys, time\n"
        "def say(raw):\n"
        "    while raw: raw = raw[os.write(1, raw):]\n"
    )
    return ProviderConfig(
        name="local",
        kind="exec",
        command=(*PYTHON, prelude + source, *arguments),
        **fields,  # type: ignore[arg-type]
    )


def is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie that waits for its parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def own_children() -> set[int]:
    """The processes that this one started and has not yet reaped, zombies too."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(stat.rpartition(")")[2].split()[1]) == os.getpid():
            found.add(int(folder.name))
    return found


def wait_for_number(path: Path, timeout_s: float = 3.0) -> int:
    """The process id that a program wrote to a file."""
    last = time.monotonic() + timeout_s
    while time.monotonic() < last:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise TimeoutError(f"nothing wrote {path}")
