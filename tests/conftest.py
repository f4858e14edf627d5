"""What holds for all tests: Hypothesis times nothing (on a busy machine that would fail tests that
are right), and every process of a run finds the same tests."""

import pytest
from hypothesis import settings

settings.register_profile("statecli", deadline=None)
settings.load_profile("statecli")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No name of a test holds an address."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"give this case a name of its own (ids=): {item.nodeid}")
