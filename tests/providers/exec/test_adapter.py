from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from sessions_app.domain.errors import (
    BadResponse,
    ProviderFailed,
    ProviderUnreachable,
    StreamTruncated,
)
from sessions_app.domain.parts import FinishPart, StopReason
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.exec import ExecAdapter
from tests.fakes.outcomes import Outcome, ask, collect
from tests.providers.exec.programs import own_children, program

ECHO = "say(sys.stdin.buffer.read())"


async def answer(config: ProviderConfig, text: str = "hi") -> Outcome:
    before = own_children()
    outcome = await collect(ExecAdapter(), config, ask(text))
    assert own_children() <= before
    return outcome


async def test_prompt_is_the_input_and_output_the_text() -> None:
    outcome = await answer(program(ECHO), "Grüße, 好 🙂")
    assert (outcome.text, outcome.error) == ("Grüße, 好 🙂", None)
    assert outcome.finish == FinishPart(StopReason.UNKNOWN)


async def test_conversation_names_its_speakers() -> None:
    messages = [PromptMessage("system", "Be kind."), PromptMessage("user", "Hi")]
    request = replace(ask(), messages=messages)
    outcome = await collect(ExecAdapter(), program(ECHO), request)
    assert outcome.text == "Be kind.\n\nUser: Hi\n\nAssistant:"


async def test_words_come_as_they_are_written() -> None:
    source = "say(b'A'); time.sleep(0.3); say(b'B')"
    assert (await answer(program(source))).deltas == ["A", "B"]


async def test_character_cut_by_reads_is_whole() -> None:
    source = "say(b'\\xf0\\x9f'); time.sleep(0.2); say(b'\\x99\\x82')"
    assert (await answer(program(source))).deltas == ["🙂"]


async def test_unstorable_bytes_are_mended() -> None:
    assert (await answer(program("say(b'A\\0\\xffB')"))).text == "A\ufffdB"


async def test_lines_give_the_text_at_their_path() -> None:
    source = """say(b'{"a":[{"t":"Hel"}]}\\n'); say(b'{"a":[{"t":"lo"}]}\\n')"""
    outcome = await answer(program(source, output="jsonl", text_path="a.0.t"))
    assert (outcome.text, outcome.error) == ("Hello", None)


async def test_text_before_a_bad_line_is_given_out() -> None:
    source = """say(b'{"t":"Hel"}\\noops\\n')"""
    outcome = await answer(program(source, output="jsonl", text_path="t"))
    assert outcome.text == "Hel"
    assert isinstance(outcome.error, BadResponse)


# A shell would make of them a second command, a file and a variable.
async def test_no_shell_reads_the_command() -> None:
    odd = ["; echo x", "$HOME", "`id`", "a b", "*", "> /tmp/x", ""]
    source = "say('|'.join(sys.argv[1:]).encode())"
    outcome = await answer(program(source, *odd))
    assert outcome.text == "|".join(odd)


@pytest.mark.parametrize("status", [1, 3, 127])
async def test_bad_status_without_text_is_a_failure(status: int) -> None:
    source = f"sys.stderr.write('no model\\n'); sys.exit({status})"
    outcome = await answer(program(source))
    assert isinstance(outcome.error, ProviderFailed)
    assert outcome.error.retryable
    assert outcome.error.diagnosis.endswith(f"status {status}: no model")


@pytest.mark.parametrize("filler", [300, 380, 4090, 6000])
async def test_key_at_a_cut_of_stderr_leaves_no_tail(filler: int) -> None:
    key = "sk-" + "a1B2" * 20
    source = f"sys.stderr.write('{key} ' + 'x ' * {filler // 2}); sys.exit(1)"
    error = (await answer(program(source))).error
    assert isinstance(error, ProviderFailed)
    assert "a1B2" not in error.diagnosis


async def test_bad_status_after_text_is_a_truncation() -> None:
    outcome = await answer(program("say(b'Hel'); sys.exit(1)"))
    assert outcome.text == "Hel"
    assert isinstance(outcome.error, StreamTruncated)
    assert outcome.finish is None


async def test_signal_is_named() -> None:
    outcome = await answer(program("os.kill(os.getpid(), signal.SIGSEGV)"))
    assert isinstance(outcome.error, ProviderFailed)
    assert "signal 11" in outcome.error.diagnosis


async def test_silence_is_no_answer() -> None:
    assert isinstance((await answer(program("pass"))).error, BadResponse)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((), "must be a list"),
        (("",), "must be a list"),
        (("no-such-program-here",), "not here or not executable"),
        (("/etc",), "not here or not executable"),
        (("true", "a\0b"), "NUL"),
    ],
)
async def test_command_that_cannot_run_says_so(
    command: tuple[str, ...], words: str
) -> None:
    outcome = await answer(replace(program(""), command=command))
    assert isinstance(outcome.error, ProviderUnreachable)
    assert words in outcome.error.diagnosis


async def test_program_in_no_format_is_unreachable(tmp_path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"\x00\x01 no program")
    path.chmod(0o755)
    outcome = await answer(replace(program(""), command=(str(path),)))
    assert isinstance(outcome.error, ProviderUnreachable)
    assert "cannot be started" in outcome.error.diagnosis


async def test_model_that_no_environment_holds_is_a_failure() -> None:
    request = replace(ask(), model="a\0b")
    outcome = await collect(ExecAdapter(), program(ECHO), request)
    assert isinstance(outcome.error, ProviderUnreachable)


async def test_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANTERN_SECRET_KEYS", "DATABASE_URL", "OPENAI_API_KEY", "REDIS_URL"):
        monkeypatch.setenv(name, "secret-value")
    source = "say('\\n'.join(f'{k}={v}' for k, v in os.environ.items()).encode())"
    outcome = await collect(ExecAdapter(), program(source), ask(max_output_tokens=64))
    told = dict(line.split("=", 1) for line in outcome.text.splitlines())
    assert "secret-value" not in outcome.text
    assert told["PATH"] == os.environ["PATH"]
    assert told["LANTERN_MODEL"] == "gpt-x"
    assert told["LANTERN_IDEMPOTENCY_KEY"] == "key-1"
    assert told["LANTERN_MAX_OUTPUT_TOKENS"] == "64"


async def test_command_need_not_read_its_input() -> None:
    outcome = await answer(program("say(b'fine')"), "x" * 5_000_000)
    assert (outcome.text, outcome.error) == ("fine", None)


# A full pipe of either kind used to be the end of such programs.
async def test_large_input_output_and_errors_pass_beside_each_other() -> None:
    source = """
text = sys.stdin.buffer.read()
for _ in range(64):
    os.write(2, b'e' * 65536)
    say(text[:65536])
"""
    outcome = await answer(program(source), "x" * 1_000_000)
    assert len(outcome.text) == 64 * 65536
    assert outcome.error is None


async def test_slow_reader_gets_all_of_an_ended_command() -> None:
    config = program("say(b'x' * 1_000_000)")
    size = 0
    async for parts in ExecAdapter().stream(config, ask()):
        await asyncio.sleep(0.02)
        size += sum(len(getattr(part, "text", "")) for part in parts)
    assert size == 1_000_000
