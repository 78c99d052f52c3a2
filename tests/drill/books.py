"""Judges what an installation stored: every turn ended once, and is booked whole."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg

ENDING_S = 30.0
OPEN = """
SELECT id, state, fence, lease_until < now() FROM sessions_app_turn
WHERE state IN ('queued', 'running', 'awaiting_tools')
"""
NEVER = {
    "a turn ended without an end": """
        SELECT id FROM sessions_app_turn WHERE terminal_n IS NULL OR ended_at IS NULL
    """,
    "a turn has two answers": """
        SELECT turn_id FROM sessions_app_message WHERE role = 'assistant'
        GROUP BY turn_id HAVING count(*) > 1
    """,
    "a failed turn has an answer": """
        SELECT t.id FROM sessions_app_turn t JOIN sessions_app_message m
        ON m.turn_id = t.id AND m.role = 'assistant' WHERE t.state = 'failed'
    """,
    "an answer is not what was announced": """
        SELECT t.id FROM sessions_app_turn t JOIN sessions_app_message m
        ON m.turn_id = t.id AND m.role = 'assistant'
        WHERE t.digest <> encode(sha256(convert_to(m.content, 'UTF8')), 'hex')
    """,
    "a turn's usage is not that of its attempts": """
        SELECT t.id FROM sessions_app_turn t
        LEFT JOIN sessions_app_attempt a ON a.turn_id = t.id GROUP BY t.id
        HAVING t.tokens_out <> coalesce(sum(a.tokens_out), 0)
        OR t.tokens_in <> coalesce(sum(a.tokens_in), 0)
    """,
    "the database had to break a deadlock": """
        SELECT deadlocks FROM pg_stat_database
        WHERE datname = current_database() AND deadlocks > 0
    """,
    "an idempotency record without its message": """
        SELECT i.id FROM sessions_app_idempotency i JOIN sessions_app_turn t
        ON t.id = i.turn_id WHERE t.user_message_id IS NULL
    """,
}


async def check_books(url: str) -> None:
    """Wait for the ends of all turns, then look for what may never be."""
    async with asyncio.timeout(ENDING_S + 5):
        left = await asyncio.to_thread(_rows, url, OPEN)
        for _ in range(int(ENDING_S / 0.2)):
            if not left:
                break
            await asyncio.sleep(0.2)
            left = await asyncio.to_thread(_rows, url, OPEN)
    assert not left, f"turns without an end: {left}"
    for what, query in NEVER.items():
        assert not await asyncio.to_thread(_rows, url, query), what


def _rows(url: str, query: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()  # type: ignore[call-overload]
