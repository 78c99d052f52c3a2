"""In CI a skipped test is a failed one: what is not run proves nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest


def _forbid(report: Any) -> None:
    # An expected failure is reported as skipped too, and is none.
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI allows no skips: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    _forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    _forbid(report)
    return report
