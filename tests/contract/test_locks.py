"""The locks hold what the project names, and name no place to get it from."""

from __future__ import annotations

import re
import tomllib

from tests.fakes.live_server import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)
_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def pins(file: str) -> dict[str, str]:
    return dict(_PIN.findall((ROOT / file).read_text()))


def names(requirements: list[str]) -> set[str]:
    found = (_NAME.match(each) for each in requirements)
    return {match[0].lower().replace("_", "-") for match in found if match}


def test_locks_hold_all_dependencies() -> None:
    # A dependency that only the larger lock held let `make run` fail on new machines.
    needed = names(PROJECT["dependencies"])
    assert needed - set(pins("requirements.txt")) == set(), "Renew it: make lock"
    needed |= names(PROJECT["optional-dependencies"]["dev"])
    assert needed - set(pins("requirements-dev.txt")) == set(), "Renew it: make lock"


def test_locks_agree() -> None:
    both = pins("requirements-dev.txt")
    assert {name: both.get(name) for name in pins("requirements.txt")} == pins(
        "requirements.txt"
    )


def test_locks_name_no_index() -> None:
    for file in ("requirements.txt", "requirements-dev.txt"):
        assert not re.search(r"://|^--", (ROOT / file).read_text(), re.MULTILINE)
