"""The adapter for models that are a command on this machine."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing

from sessions_app.domain.errors import (
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    StreamTruncated,
)
from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import JSONL, ProviderConfig
from sessions_app.providers.exec.child import Child
from sessions_app.providers.exec.command import command_fault, environment
from sessions_app.providers.exec.lines import LineStream
from sessions_app.providers.plain_prompt import prompt_text
from sessions_app.providers.raw_text import TextStream
from sessions_app.providers.redaction import redact

MAX_SAID = 400


class ExecAdapter:
    """One run of the command a call; no shell ever reads it.

    An exit status of 0 is the only mark of a whole reply.
    """

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """See ``ProviderAdapter.stream``."""
        if fault := command_fault(config):
            raise ProviderUnreachable(diagnosis=" ".join(fault))
        told = environment(request, os.environ)
        child = await Child.start(config.command, told, prompt_text(request))
        is_lines = config.output == JSONL
        reply = LineStream(config.text_path) if is_lines else TextStream()
        has_text = False
        try:
            async with aclosing(child.reads()) as reads:
                async for raw in reads:
                    parts = reply.feed(raw)
                    if parts:
                        has_text = True
                        yield parts
                    if reply.error is not None:
                        raise reply.error
            status = await child.status()
            if status != 0:
                raise _failure(status, has_text, child.stderr)
            yield reply.end()
        finally:
            await child.aclose()


def _failure(status: int | None, has_text: bool, stderr: str) -> ProviderError:
    if status is None:
        ended = "closed its output and did not end"
    elif status < 0:
        ended = f"was ended by signal {-status}"
    else:
        ended = f"ended with status {status}"
    # The last lines say what went wrong. A key that is cut would not look like one.
    said = f": {redact(stderr, '')[-MAX_SAID:]}" if stderr else ""
    kind = StreamTruncated if has_text else ProviderFailed
    return kind(diagnosis=f"the command {ended}{said}")
