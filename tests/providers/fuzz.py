"""Coverage-guided bytes for all parsers: ``python -m tests.providers.fuzz FOLDER``.

Further arguments are libFuzzer's, such as ``-runs=100000``; the folder keeps what was
found to reach new code. An input that raises is printed and written to this folder's
parent as ``crash-…``.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(
    include=["sessions_app.providers", "sessions_app.wire"]
):
    from tests.providers.hostile import FAMILIES, read_anything


def one_input(raw: bytes) -> None:
    """The first byte picks the family, the second the length of its reads."""
    if len(raw) < 3:
        return
    family, size, body = FAMILIES[raw[0] % len(FAMILIES)], raw[1] or 1, raw[2:]
    read_anything(family, [body[at : at + size] for at in range(0, len(body), size)])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
