#!/usr/bin/env python3
"""Runs every scenario against every peer, side by side.

For each scenario it starts the provider (``upstream.py``) and a fresh process
of every peer, then runs ``load.py`` against one peer after the other, as many
rounds as asked for: a slow or fast quarter of an hour of the machine then
hits all peers alike.  The JSON lines are appended to the results file and the
processes are ended.  ``report.py`` turns the results into tables.

    sh peers/install.sh ENV
    python compare.py --env ENV --out results.jsonl
    python compare.py --env ENV --out results.jsonl --peers bare,lantern

A run during which the rest of the host used more CPU than ``--quiet`` allows
is repeated (up to ``--retries`` times); the least disturbed one is kept.
With ``--lock FILE`` each measured run holds that file's lock (flock).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS_DIR = HERE / "peers"
PROJECT = HERE.parent
UPSTREAM_PORT = 9100
UPSTREAM = f"http://127.0.0.1:{UPSTREAM_PORT}"
NGINX_PORT = 9101
LITELLM_KEY = "sk-bench-5f1c0a7e9d3b42688cc1d0a4b7e2f913"  # any long random value

SCENARIOS: dict[str, list[str]] = {
    # S1, latency: paced streams of 200 tokens at 50 tokens/s each.
    "s1-c1": ["--streams", "1", "--tokens", "200", "--rate", "50"],
    "s1-c10": ["--streams", "10", "--tokens", "200", "--rate", "50"],
    "s1-c50": ["--streams", "50", "--tokens", "200", "--rate", "50"],
    "s1-c200": ["--streams", "200", "--tokens", "200", "--rate", "50"],
    # S2, throughput: the provider writes as fast as the server reads.
    "s2-c50": ["--streams", "50", "--tokens", "500", "--rate", "0", "--ramp", "0"],
    # S3, memory: 1,000 open streams, one token per 5 s each.
    "s3-c1000": ["--streams", "1000", "--tokens", "4", "--rate", "0.2", "--ramp", "5"],
}
ONCE = {"s3-c1000"}  # memory growth is only meaningful on a fresh process


@dataclass
class Peer:
    """A server to measure: how to start it and which adapter reads it."""

    adapter: str
    url: str
    command: list[str] = field(default_factory=list)  # empty: nothing to start
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path = PEERS_DIR
    ready: str = "/health"  # any answer will do, even an error
    token: str = ""
    redis_port: int = 0  # start a Redis server there
    pid: int = 0  # of a server that runs already
    redis_pid: int = 0  # of the Redis server that it uses
    prepare: list[list[str]] = field(default_factory=list)  # run before it


def make_peers(args: argparse.Namespace, run_dir: Path) -> dict[str, Peer]:
    env = args.env
    upstream = {"UPSTREAM": UPSTREAM}

    def uvicorn(adapter: str, app: str, port: int, path: str = "", **more) -> Peer:
        options = "--loop uvloop --http httptools --no-access-log --log-level warning"
        command = [str(env / "bare/bin/uvicorn"), f"{app}:app", "--port", str(port)]
        command += ["--backlog", "4096", *options.split()]
        return Peer(adapter, f"http://127.0.0.1:{port}{path}", command, upstream, **more)

    def with_redis(peer: Peer, port: int) -> Peer:
        store = {"REDIS_URL": f"redis://127.0.0.1:{port}/0"}
        return replace(peer, env={**peer.env, **store}, redis_port=port)

    peers = {
        "direct": Peer("direct", UPSTREAM),
        "nginx": Peer(
            "openai",
            f"http://127.0.0.1:{NGINX_PORT}",
            [shutil.which("nginx") or "nginx", "-c", str(run_dir / "nginx.conf")],
        ),
        "bare": uvicorn("openai", "starlette_app", 9102),
        "relay": uvicorn("relay", "starlette_app", 9103),
        "lean": uvicorn("relay", "lean_app", 9104),
        "lean-session": uvicorn("lantern", "session_app", 9105, token="bench"),
        "lean-daphne": Peer(
            "lantern",
            "http://127.0.0.1:9106",
            [
                str(env / "bare/bin/daphne"),
                *("-b", "127.0.0.1", "-p", "9106", "-v", "0", "session_app:app"),
            ],
            upstream,
            token="bench",
        ),
        "lean-redis": with_redis(uvicorn("relay", "lean_app", 9107, "/redis"), 9117),
        "django": uvicorn("openai", "django_app", 9108),
        "django-relay": uvicorn("relay", "django_app", 9109),
        "django-redis": with_redis(uvicorn("relay", "django_app", 9110, "/redis"), 9120),
        "litellm": Peer(
            "openai",
            "http://127.0.0.1:9111",
            [
                str(env / "litellm/bin/litellm"),
                *("--config", "litellm.yaml", "--host", "127.0.0.1", "--port", "9111"),
                *("--num_workers", "1", "--telemetry", "False"),
            ],
            {
                "LITELLM_MASTER_KEY": LITELLM_KEY,
                "LITELLM_LOG": "ERROR",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "UPSTREAM_V1": f"{UPSTREAM}/v1",
            },
            ready="/health/liveliness",
            token=LITELLM_KEY,
        ),
        "vercel": Peer(
            "vercel",
            "http://127.0.0.1:9112",
            ["node", "vercel.mjs"],
            {**upstream, "PORT": "9112", "NODE_ENV": "production"},
            cwd=env / "vercel",
        ),
        "langgraph": Peer(
            "langgraph",
            "http://127.0.0.1:9113",
            [
                str(env / "langgraph/bin/langgraph"),
                *("dev", "--host", "127.0.0.1", "--port", "9113", "--no-browser"),
                *("--no-reload", "--n-jobs-per-worker", "1000"),
            ],
            {**upstream, "LOG_LEVEL": "ERROR", "LANGSMITH_TRACING": "false"},
            cwd=run_dir / "langgraph",
            ready="/ok",
        ),
    }
    peers["lantern"] = lantern(args, run_dir)
    if not args.lantern_url:
        peers["lantern-uvicorn"] = lantern_on_uvicorn(args, run_dir)
        peers["lantern-redis"] = with_redis(lantern_pair(args, run_dir), 9126)
        peers["lantern-workers"] = with_redis(lantern_workers(args, run_dir), 9128)
    return peers


def lantern(args: argparse.Namespace, run_dir: Path) -> Peer:
    """A fresh embedded Lantern, or the running one that the arguments name."""
    if args.lantern_url:
        return Peer(
            "lantern",
            args.lantern_url,
            token=args.token or "",
            pid=args.lantern_pid,
            redis_pid=args.redis_pid,
        )
    return fresh_lantern(args, run_dir / "lantern", 9114)


def lantern_on_uvicorn(args: argparse.Namespace, run_dir: Path) -> Peer:
    """The same on the other server."""
    peer = fresh_lantern(args, run_dir / "lantern-uvicorn", 9115)
    return replace(peer, command=[*peer.command, "--server", "uvicorn"])


def lantern_pair(args: argparse.Namespace, run_dir: Path) -> Peer:
    """A web process and a worker, measured together; Redis is between them."""
    peer = fresh_lantern(args, run_dir / "lantern-redis", 9116)
    pair = str(PEERS_DIR / "lantern_pair.py")
    command = [str(args.python), pair, str(PROJECT / "manage.py"), "9116"]
    return replace(peer, command=command)


def lantern_workers(args: argparse.Namespace, run_dir: Path) -> Peer:
    """Two processes behind one port, each with its own turns; Redis is between them."""
    peer = fresh_lantern(args, run_dir / "lantern-workers", 9118)
    return replace(peer, command=[*peer.command, "--workers", "2"])


def fresh_lantern(args: argparse.Namespace, folder: Path, port: int) -> Peer:
    """Lantern on an empty data folder."""
    manage = [str(args.python), str(PROJECT / "manage.py")]
    return Peer(
        "lantern",
        f"http://127.0.0.1:{port}",
        [*manage, "serve", "--port", str(port)],
        {"LANTERN_DATA_DIR": str(folder)},
        PROJECT,
        prepare=[
            [*manage, "migrate", "-v", "0"],
            [*manage, "provision", str(HERE / "lantern.toml")],
        ],
        token="lk_bench",
    )


def prepare_files(env: Path, run_dir: Path) -> None:
    conf = (PEERS_DIR / "nginx.conf.in").read_text()
    for key, value in {
        "@PORT@": str(NGINX_PORT),
        "@UPSTREAM@": f"127.0.0.1:{UPSTREAM_PORT}",
        "@RUN@": str(run_dir),
    }.items():
        conf = conf.replace(key, value)
    (run_dir / "nginx.conf").write_text(conf)
    (run_dir / "langgraph").mkdir()
    for name in ("langgraph.json", "langgraph_agent.py"):
        shutil.copy(PEERS_DIR / name, run_dir / "langgraph")
    if (env / "vercel").is_dir():  # Node resolves packages from the script's folder
        shutil.copy(PEERS_DIR / "vercel.mjs", env / "vercel")


@contextlib.contextmanager
def process(command: list[str], log: Path, env: dict | None = None, cwd: Path = HERE):
    """A child process, ended by its pid when the block is left."""
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def wait_ready(url: str, child: subprocess.Popen | None, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if child and child.poll() is not None:
            raise RuntimeError(f"the server ended with code {child.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except urllib.error.HTTPError:
            return  # it answers, that is enough
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"no answer from {url}")


@contextlib.contextmanager
def locked(path: Path | None) -> Iterator[None]:
    if path is None:
        yield
        return
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def start_upstream(stack: contextlib.ExitStack, args: argparse.Namespace, run_dir: Path) -> int:
    command = [str(args.env / "bench/bin/python"), "upstream.py", "--port", str(UPSTREAM_PORT)]
    child = stack.enter_context(process(command, run_dir / "upstream.log"))
    wait_ready(f"{UPSTREAM}/health", child)
    return child.pid


def start_peer(stack: contextlib.ExitStack, name: str, peer: Peer, run_dir: Path) -> dict[str, int]:
    """Start a peer's processes; gives the pids to account for."""
    pids = {}
    log = run_dir / f"{name}.log"
    if peer.redis_port:
        command = [shutil.which("redis-server") or "redis-server", "--bind", "127.0.0.1"]
        command += ["--port", str(peer.redis_port), "--save", "", "--appendonly", "no"]
        pids["redis"] = stack.enter_context(process(command, run_dir / f"{name}-redis.log")).pid
    elif peer.redis_pid:
        pids["redis"] = peer.redis_pid
    if peer.pid:
        pids["server"] = peer.pid
    elif peer.command:
        for command in peer.prepare:
            subprocess.run(
                command,
                cwd=peer.cwd,
                env={**os.environ, **peer.env},
                check=True,
                stdout=subprocess.DEVNULL,
            )
        child = stack.enter_context(process(peer.command, log, peer.env, peer.cwd))
        try:
            wait_ready(peer.url + peer.ready, child)
        except RuntimeError as error:
            tail = log.read_text(errors="replace")[-1000:]
            raise RuntimeError(f"{error}\n--- {log.name}\n{tail}") from error
        pids["server"] = child.pid
    return pids


def run_load(name: str, peer: Peer, scenario: str, pids: dict, args: argparse.Namespace) -> dict:
    command = [str(args.env / "bench/bin/python"), str(HERE / "load.py")]
    command += ["--adapter", peer.adapter, "--url", peer.url, "--label", name]
    command += ["--scenario", scenario, "--timeout", str(args.timeout), *SCENARIOS[scenario]]
    if peer.token:
        command += ["--token", peer.token]
    for label, pid in pids.items():
        command += ["--pid", f"{label}={pid}"]
    best: dict | None = None
    for _ in range(args.retries + 1):
        with locked(args.lock):
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if not done.stdout.strip():
            raise RuntimeError(f"load.py failed: {done.stderr[-500:]}")
        result = json.loads(done.stdout.splitlines()[-1])
        if done.stderr.strip():
            result["stderr"] = done.stderr.strip()[-500:]
        result["other_share"] = round(result["host_other_cpu_s"] / result["wall_s"], 3)
        if best is None or result["other_share"] < best["other_share"]:
            best = result
        if best["other_share"] <= args.quiet or scenario in ONCE:
            break
        time.sleep(2)
    return best


def describe(result: dict) -> str:
    server = result["processes"].get("server") or result["processes"]["upstream"]
    transit = result["transit_ms"] or {}
    return (
        f"{result['scenario']:9} {result['label']:13} {result['completed']:5} ok "
        f"{result['errors']:4} err {result['tokens_per_s']:9.0f} tok/s "
        f"p50 {transit.get('p50')} p99 {transit.get('p99')} ms "
        f"cpu/1k {server['cpu_ms_per_1k_tokens']} ms other {result['other_share']} "
        f"calibration {result['calibration_ms']} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare streaming servers side by side.")
    parser.add_argument("--env", type=Path, required=True, help="folder made by peers/install.sh")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines are appended here")
    parser.add_argument("--peers", help="comma-separated names (default: all)")
    parser.add_argument("--scenarios", help="comma-separated names (default: all)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=50, help="limit of one run in seconds")
    parser.add_argument("--lock", type=Path, help="hold this file's lock while measuring")
    parser.add_argument("--quiet", type=float, default=0.15, help="CPUs others may use in a run")
    parser.add_argument("--retries", type=int, default=3, help="extra tries of a disturbed run")
    parser.add_argument("--python", type=Path, default=PROJECT / ".venv/bin/python",
                        help="the interpreter that has Lantern's packages")
    parser.add_argument("--lantern-url", help="a running Lantern whose provider is the upstream")
    parser.add_argument("--lantern-pid", type=int, default=0)
    parser.add_argument("--redis-pid", type=int, default=0, help="of Lantern's Redis server")
    parser.add_argument("--token", help="bearer token for Lantern")
    args = parser.parse_args()
    args.env = args.env.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the peers are ended

    failures = 0
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        run_dir = Path(folder)
        prepare_files(args.env, run_dir)
        peers = make_peers(args, run_dir)
        names = args.peers.split(",") if args.peers else list(peers)
        for scenario in args.scenarios.split(",") if args.scenarios else SCENARIOS:
            with contextlib.ExitStack() as stack:
                upstream_pid = start_upstream(stack, args, run_dir)
                started: dict[str, dict[str, int]] = {}
                for name in names:
                    try:
                        pids = start_peer(stack, name, peers[name], run_dir)
                        started[name] = {"upstream": upstream_pid, **pids}
                    except (RuntimeError, OSError) as error:
                        failures += 1
                        print(f"{name}: {error}", file=sys.stderr, flush=True)
                time.sleep(2)
                for _ in range(1 if scenario in ONCE else args.repeats):
                    for name, pids in started.items():
                        try:
                            result = run_load(name, peers[name], scenario, pids, args)
                        except (RuntimeError, subprocess.TimeoutExpired) as error:
                            failures += 1
                            print(f"{scenario} {name}: {error}", file=sys.stderr, flush=True)
                            continue
                        with args.out.open("a") as out:
                            out.write(json.dumps(result) + "\n")
                        print(describe(result), flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
