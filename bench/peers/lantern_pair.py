"""A web process and a worker of Lantern as one process to measure: both its children.

python lantern_pair.py MANAGE.PY PORT
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def main(manage: str, port: str) -> int:
    """Until SIGTERM; the worker's turns and the web's streams end with it."""
    web = {**os.environ, "LANTERN_ENGINE": "off"}
    children = [
        subprocess.Popen([sys.executable, manage, "serve", "--port", port], env=web),
        subprocess.Popen([sys.executable, manage, "runworker"]),
    ]

    def end(*_: object) -> None:
        for child in children:
            child.terminate()

    signal.signal(signal.SIGTERM, end)
    return max(abs(child.wait()) for child in children)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
