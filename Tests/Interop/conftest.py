"""Fixtures that every interop test may use, and the seed of the random ones."""

import os
import secrets

import pytest

from fairplay_device.credentials import Credential, make_credential

SEED_VARIABLE = "LATCHKEY_INTEROP_SEED"


def pytest_configure(config: pytest.Config) -> None:
    """One seed for the whole run: given by the environment, or fresh."""
    config.interop_seed = int(os.environ.get(SEED_VARIABLE) or secrets.randbits(32))


def pytest_report_header(config: pytest.Config) -> str:
    return f"interop seed: {config.interop_seed} (set {SEED_VARIABLE} to repeat)"


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    return pytestconfig.interop_seed


@pytest.fixture(scope="session")
def made_credential() -> Credential:
    """A credential of our own, private keys included."""
    return make_credential()
