"""A pytest plugin that runs scikit-learn's own tests with its metrics answered by tallymark.

Tests that cannot pass are in expected_failures.yaml, with the reason; one that passes nevertheless is an error. At the
end it says how many tests used a value that tallymark computed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import tallymark as tm

EXPECTED = yaml.safe_load(Path(__file__).with_name("expected_failures.yaml").read_text())
EXCLUDED = ("array_api", "pairwise", "test_dist_metrics")
_used: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    tm.sklearn.patch()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tm.sklearn.patch()  # also in the modules of tests, which may import from where the originals live
    kept = [item for item in items if not any(word in item.nodeid for word in EXCLUDED)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
    for item in items:
        reason = EXPECTED.get(item.nodeid.split("site-packages/")[-1])
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item):
    before = tm.sklearn.status().served
    yield
    if tm.sklearn.status().served > before:
        item.user_properties.append(("tallymark", True))


def pytest_terminal_summary(terminalreporter) -> None:
    reports = [each for group in ("passed", "failed", "xfailed") for each in terminalreporter.stats.get(group, [])]
    used = sum(("tallymark", True) in each.user_properties for each in reports)
    passed = len(terminalreporter.stats.get("passed", []))
    terminalreporter.write_line(f"{passed} tests of scikit-learn pass; {used} used a value of tallymark's")
