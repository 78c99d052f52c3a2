#!/usr/bin/env python3
"""Memory of a server per open, idle event stream.

    python idle.py --url http://127.0.0.1:8000 --pid PID --token API_KEY --streams 2000

Opens the streams on twenty sessions, waits, and divides the growth of the process's
resident memory by their number.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from urllib.parse import urlsplit

SESSIONS = 20


def resident_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4


async def ask(host: str, port: int, head: str, until: bytes, body: str = ""):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write((head + f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
    return await reader.readuntil(until), writer


async def measure(args: argparse.Namespace) -> dict:
    url = urlsplit(args.url)
    place = (url.hostname, url.port or 80)
    common = f"Host: {url.netloc}\r\nAuthorization: Bearer {args.token}\r\n"
    sessions = []
    for _ in range(SESSIONS):
        head = f"POST /v1/sessions HTTP/1.1\r\n{common}"
        answer, writer = await ask(*place, head, b"}", "{}")
        sessions.append(answer.split(b'"id":"')[1].split(b'"')[0].decode())
        writer.close()
    await asyncio.sleep(1)
    before, began, writers = resident_kib(args.pid), time.monotonic(), []
    for number in range(args.streams):
        path = f"/v1/sessions/{sessions[number % SESSIONS]}/events"
        _, writer = await ask(*place, f"GET {path} HTTP/1.1\r\n{common}", b": open")
        writers.append(writer)
    seconds = time.monotonic() - began
    await asyncio.sleep(2)
    growth = resident_kib(args.pid) - before
    for writer in writers:
        writer.close()
    return {
        "streams": args.streams,
        "opens_per_s": round(args.streams / seconds),
        "kib_per_stream": round(growth / args.streams, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory per idle event stream.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--streams", type=int, default=2000)
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
