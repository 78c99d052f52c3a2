"""Settings of the test run: its own data folder, quick passwords."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_folder = Path(tempfile.mkdtemp(prefix="lantern-test-"))
os.environ["LANTERN_DATA_DIR"] = str(_folder)
for _name in (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "LANTERN_SECRET_KEYS",
    "PORT",
    "REDIS_URL",
):
    os.environ.pop(_name, None)
# Whoever sets it has the same tests run on PostgreSQL.
os.environ["DATABASE_URL"] = os.environ.get("LANTERN_TEST_DATABASE_URL", "")

from lantern_site.settings import *  # noqa: E402, F403
from lantern_site.settings import DATABASES  # noqa: E402

# Threads of the store have connections of their own, so the database is a file.
if not os.environ["DATABASE_URL"]:
    DATABASES["default"]["TEST"] = {"NAME": str(_folder / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
