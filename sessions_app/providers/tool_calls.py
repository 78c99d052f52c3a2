"""Whole tool calls from fragments that name them in many ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import msgspec

from sessions_app.domain.errors import BadResponse
from sessions_app.domain.ids import CALL, new_id
from sessions_app.domain.parts import ToolCallReady
from sessions_app.domain.text import TooDeep, storable, storable_tree
from sessions_app.providers.lenient_json import UNREADABLE, decode_leniently
from sessions_app.providers.object_scan import ObjectScan

MAX_ARGUMENT_CHARACTERS = 4 * 1024 * 1024
MAX_CALLS = 128
TOO_DEEP = "The arguments are nested too deeply."


def _text_buffer() -> StringIO:
    """A buffer of four bytes a character; a list of fragments takes fifty each."""
    buffer = StringIO()
    # Once it was cut, it no longer keeps what is written as a list.
    buffer.write(" ")
    buffer.truncate(0)
    buffer.seek(0)
    return buffer


@dataclass(slots=True)
class _Call:
    call_id: str
    message: bytes
    name: str = ""
    error: str = ""
    buffer: StringIO = field(default_factory=_text_buffer)
    scan: ObjectScan = field(default_factory=ObjectScan)
    scanned: int = 0

    @property
    def text(self) -> str:
        return self.buffer.getvalue()

    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object already."""
        self.buffer.seek(self.scanned)
        self.scan.feed(self.buffer.read())
        self.scanned = self.buffer.tell()
        if not self.scan.is_balanced:
            return False
        try:
            return isinstance(msgspec.json.decode(self.text), dict)
        except UNREADABLE:
            return False


class ToolCallAssembler:
    """Collect the fragments of all calls of one reply.

    A new id that differs from the one held in the slot of its index opens a new
    call, as some providers send index 0 for every call; otherwise fragments are
    merged by index, or by id where there is none. ``message`` is the provider's
    message that the next fragments are from; a call keeps the one that opened it.
    """

    def __init__(self, new_call_id: Callable[[], str] = lambda: new_id(CALL)) -> None:
        self._new_call_id = new_call_id
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._size = 0
        self.message = b""

    def add(self, entries: Sequence[object]) -> None:
        """Take the ``tool_calls`` of one delta; entries of no use are skipped."""
        for entry in entries:
            if isinstance(entry, dict):
                self._add(entry)

    def ready(self, *, is_cut: bool) -> list[ToolCallReady]:
        """All calls in the order of their first fragments, with unique ids.

        With ``is_cut`` none may run: arguments that parse may still be cut short,
        ``{"amount":10}`` from ``100``.
        """
        found: list[ToolCallReady] = []
        used: set[str] = set()
        for call in self._calls:
            call_id = call.call_id
            if not call_id or call_id in used:
                call_id = self._new_call_id()
            used.add(call_id)
            found.append(_ready(call, call_id, is_cut=is_cut))
        return found

    def _add(self, entry: dict[str, Any]) -> None:
        function = entry.get("function")
        if not isinstance(function, dict):
            function = {}
        call_id, name = _string(entry.get("id")), _string(function.get("name"))
        arguments = function.get("arguments")
        error = ""
        if isinstance(arguments, dict):
            arguments, error = _encoded(arguments)
        text = _string(arguments)
        call = self._call_of(entry.get("index"), call_id, name, text)
        call.call_id = call.call_id or call_id
        call.name = call.name or name
        call.error = call.error or error
        call.buffer.write(text)
        self._size += len(text)
        if self._size > MAX_ARGUMENT_CHARACTERS:
            raise BadResponse(diagnosis="the arguments of the tool calls are too long")

    def _call_of(self, index: object, call_id: str, name: str, text: str) -> _Call:
        slot = index if isinstance(index, int) else None
        held = self._held(slot, call_id)
        if held is None or self._opens_new(held, call_id, name, text):
            if len(self._calls) >= MAX_CALLS:
                raise BadResponse(diagnosis=f"more than {MAX_CALLS} tool calls")
            held = _Call(call_id, self.message)
            self._calls.append(held)
        if slot is not None:
            self._slots[slot] = held
        return held

    def _held(self, slot: int | None, call_id: str) -> _Call | None:
        """The call that this fragment may belong to."""
        in_slot = None if slot is None else self._slots.get(slot)
        if slot is not None and (in_slot is None or not call_id):
            return in_slot
        if in_slot is not None and in_slot.call_id in ("", call_id):
            return in_slot
        if call_id:
            same = [call for call in self._calls if call.call_id == call_id]
            return same[-1] if same else None
        return self._calls[-1] if self._calls else None

    @staticmethod
    def _opens_new(held: _Call, call_id: str, name: str, text: str) -> bool:
        """Whether a fragment for ``held`` is in truth the start of another call."""
        if call_id:
            return held.call_id not in ("", call_id)
        # Without ids only a name can start a call, and only after a whole one.
        return bool(
            name and held.name and held.is_whole() and (text or name != held.name)
        )


def _ready(call: _Call, call_id: str, *, is_cut: bool) -> ToolCallReady:
    name = call.name or "unnamed"
    arguments, error = _arguments(call.text)
    error = call.error or error
    if not call.name:
        error = "The call names no tool."
    if is_cut:
        error = "The reply was cut inside this call."
    return ToolCallReady(call_id, name, {} if error else arguments, error, call.message)


def _arguments(text: str) -> tuple[dict[str, Any], str]:
    if not text.strip():
        return {}, ""
    try:
        value = decode_leniently(text.encode("utf-8", "replace"))
    except ValueError:
        return {}, "The arguments are not valid JSON."
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, "The arguments are not a JSON object."
    try:
        return storable_tree(value), ""
    except TooDeep:
        return {}, TOO_DEEP


def _encoded(arguments: dict[str, Any]) -> tuple[str, str]:
    """Arguments that came as an object, as the text that others send; or an error."""
    try:
        return msgspec.json.encode(storable_tree(arguments)).decode(), ""
    except TooDeep:
        return "", TOO_DEEP


def _string(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""
