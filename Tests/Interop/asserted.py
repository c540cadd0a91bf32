"""Fails a test that has asserted nothing, because it would pass for every program.

A `conftest.py` imports the hooks. The `pytest.ini` beside it sets `enable_assertion_pass_hook`.
"""

from collections.abc import Generator

import _pytest.raises
import pytest


class Held:
    """Counts the assertions that have held in the current test."""

    count = 0


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Runs the test, and fails it if no assertion was reached."""
    Held.count = 0
    result = yield
    if not Held.count:
        pytest.fail("the test has asserted nothing", pytrace=False)
    return result


def pytest_assertion_pass() -> None:
    Held.count += 1


def count_raises() -> None:
    """Makes each passed `pytest.raises` count as an assertion."""
    _pytest.raises.RaisesExc = CountedRaises


class CountedRaises(pytest.RaisesExc):
    """The context of `pytest.raises`, which counts as an assertion if it holds."""

    def __exit__(self, *exception: object) -> bool:
        matches = super().__exit__(*exception)
        Held.count += matches
        return matches
