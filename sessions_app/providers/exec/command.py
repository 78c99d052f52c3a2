"""What is run, judged before it is: the command, its environment, its output."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import JSONL, OUTPUTS, ProviderConfig

# All else in the server's environment may be a secret, or lead to one.
_KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "TMPDIR", "TZ", "USER")


def command_fault(config: ProviderConfig) -> tuple[str, str] | None:
    """The field to blame and what is wrong with it; None if the command can be run."""
    if not config.command or not config.command[0]:
        return "command", "must be a list: a program, then its arguments."
    if any("\0" in part for part in config.command):
        return "command", "must not hold a NUL character."
    program = config.command[0]
    if shutil.which(program) is None:
        return "command", (
            f"names the program {program!r}, which is not here or not executable;"
            " write its whole path, or one that PATH leads to."
        )
    if config.output not in OUTPUTS:
        return "output", f"must be one of: {', '.join(OUTPUTS)}."
    if config.output == JSONL and not all(config.text_path.split(".")):
        return "text_path", (
            "must lead to the text in each line, such as choices.0.text."
        )
    return None


def environment(request: CompletionRequest, own: Mapping[str, str]) -> dict[str, str]:
    """What the command is told: a few of the server's ``own`` variables, and the model.

    The model's name may come from a client, so it is never an argument.
    """
    told = {name: own[name] for name in _KEPT if name in own}
    told["LANTERN_MODEL"] = request.model
    told["LANTERN_IDEMPOTENCY_KEY"] = request.idempotency_key
    if request.max_output_tokens is not None:
        told["LANTERN_MAX_OUTPUT_TOKENS"] = str(request.max_output_tokens)
    return told
