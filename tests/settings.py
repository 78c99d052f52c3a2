"""Settings of the test run: its own data folder, quick passwords."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_folder = Path(tempfile.mkdtemp(prefix="lantern-test-"))
os.environ["LANTERN_DATA_DIR"] = str(_folder)
for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANTERN_SECRET_KEYS", "PORT"):
    os.environ.pop(_name, None)

from lantern_site.settings import *  # noqa: E402, F403
from lantern_site.settings import DATABASES  # noqa: E402

# Threads of the store have connections of their own, so the database is a file.
DATABASES["default"]["TEST"] = {"NAME": str(_folder / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
