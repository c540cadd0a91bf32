"""Fails a test that has asserted nothing: it would pass for every program.

A `conftest.py` imports the hooks, and its `pytest.ini` has `enable_assertion_pass_hook`.
"""

from collections.abc import Generator

import _pytest.raises
import pytest


class Held:
    """How many assertions have held in the test that runs."""

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
    """Lets `pytest.raises` count too."""
    _pytest.raises.RaisesExc = CountedRaises


class CountedRaises(pytest.RaisesExc):
    """`pytest.raises` as an assertion that counts."""

    def __exit__(self, *exception: object) -> bool:
        matches = super().__exit__(*exception)
        Held.count += matches
        return matches
