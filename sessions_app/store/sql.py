"""Written-out statements of the hot path.

The ORM takes about 0.25 ms to write one of these each time, and the database 0.02 ms
to run it; every turn needs ten. The SQL is what SQLite and PostgreSQL have in common.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Model

from sessions_app.conf import conf

Row = tuple[Any, ...]

OPEN = "('queued', 'running', 'awaiting_tools')"
ACTIVE = "('running', 'awaiting_tools')"


def rows(statement: str, *parameters: Any) -> Sequence[Row]:
    """All rows of a query."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: Sequence[Row] = cursor.fetchall()
        return found


def change(statement: str, *parameters: Any) -> int:
    """Run an UPDATE; the number of rows that it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def insert(row: Model) -> None:
    """Insert a model's row; its fields are text, numbers, flags, times and JSON."""
    statement, names = _insertion(type(row), connection.vendor)
    change(statement, *(_plain(getattr(row, name)) for name in names))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value  # a driver may store its name
    if isinstance(value, dict | list):
        return json.dumps(value)
    return value


@lru_cache(maxsize=16)
def _insertion(model: type[Model], vendor: str) -> tuple[str, tuple[str, ...]]:
    """The statement, and the attributes that fill its places."""
    fields = model._meta.concrete_fields
    made_now = [f for f in fields if getattr(f, "auto_now_add", False)]
    given = [f for f in fields if f not in made_now]
    columns = ", ".join(str(f.column) for f in [*given, *made_now])
    places = ", ".join(["%s"] * len(given) + [now()] * len(made_now))
    statement = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({places})"
    return statement, tuple(f.attname for f in given)


def now() -> str:
    """The database's own clock, in the form that Django stores."""
    if connection.vendor == "sqlite":
        return "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')"
    return "STATEMENT_TIMESTAMP()"


def lease_end() -> str:
    """When a lease that begins now is over."""
    seconds = f"{conf().lease_s:.3f}"
    if connection.vendor == "sqlite":
        return f"STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', '+{seconds} seconds')"
    return f"STATEMENT_TIMESTAMP() + INTERVAL '{seconds} seconds'"


def for_update_of(table: str) -> str:
    """Locks the rows of a query; SQLite has locked the whole database by then.

    Rows that only point to them may still be inserted: a turn can end meanwhile.
    """
    return "" if connection.vendor == "sqlite" else f" FOR NO KEY UPDATE OF {table}"


def decoded(value: Any) -> Any:
    """JSON as SQLite gives it, a text, or as PostgreSQL's driver does."""
    return json.loads(value) if isinstance(value, str) else value
