"""What a server serves, and which server it is."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sessions_app.edge.live.body_limit import App
from sessions_app.engine.consumer import EngineTask


@dataclass(frozen=True, slots=True)
class Served:
    """An application and the engine that begins and ends with it.

    After the signal to end, running turns get ``drain_s`` seconds.
    """

    application: App
    engine: EngineTask
    drain_s: float


class Serve(Protocol):
    """What a module with a server has to offer."""

    def __call__(
        self,
        served: Served,
        host: str,
        port: int,
        ready: Callable[[], None],
        fd: int | None = None,
    ) -> None: ...


def add_server_argument(parser: ArgumentParser) -> None:
    """``--server``"""
    parser.add_argument(
        "--server",
        choices=("daphne", "uvicorn"),
        default="daphne",
        help="what answers HTTP; the application is the same",
    )


def server_named(name: str) -> Serve:
    """The function that serves; importing it decides on the process' event loop."""
    if name == "uvicorn":
        from lantern_site.uvicorn_server import serve
    else:
        from lantern_site.server import serve
    return serve


def url_of(host: str, port: int) -> str:
    """As one writes it into a browser, with a slash at its end."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
