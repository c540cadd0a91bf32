"""Fixtures that every interop test may use, the seed of the random ones, and the order of the tests.

A test that has asserted nothing fails, because it would pass with any behaviour of the tested program.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

# With this, assertions in helper modules count too, and pytest explains those that fail.
pytest.register_assert_rewrite(*(path.stem for path in Path(__file__).parent.glob("*.py") if path != Path(__file__)))

from asserted import count_raises, pytest_assertion_pass, pytest_pyfunc_call  # Hooks of every test.
from deployment import Deployment, deployment_of, sample_process
from fairplay_device import containers
from fairplay_device.credentials import Credential, make_credential
from fairplay_device.spc import Device, DeviceSession, SPCOptions, device_for
from secret_watch import WATCH

SEED_VARIABLE = "LATCHKEY_TEST_SEED"
SHARE_VARIABLE = "LATCHKEY_TEST_SHARE"
WARM_UP_COUNT = 50
# The files that take longest, in this order. They come first, so that no process is left with one of them at the end.
LONGEST = (
    "test_openapi.py", "test_resources.py", "test_daemon_malformed.py", "test_rotation.py", "test_accelerator.py",
    "test_abuse.py", "test_keys_url.py", "test_reload.py", "test_http1_behind_proxies.py", "test_backup.py",
    "test_swift_device_terms.py", "test_ledger_copy.py", "test_outage.py", "test_ledger_identity.py", "test_proxies.py",
    "test_wire_abuse.py", "test_faults.py", "test_clock.py", "test_accounts.py", "test_token_conformance.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Sets one seed for the whole run, from the environment or at random."""
    count_raises()
    config.interop_seed = int(os.environ.get(SEED_VARIABLE) or secrets.randbits(32))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"searched {WATCH.size} bytes that daemons have written for {WATCH.count} secrets")


def pytest_report_header(config: pytest.Config) -> str:
    return f"interop seed: {config.interop_seed} (set {SEED_VARIABLE} to repeat)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the longest files to the beginning, and tests with the mark `last` to the end."""
    place = {name: index for index, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (item.get_closest_marker("last") is not None, place.get(item.path.name, len(place))))


class Share:
    """Divides the test files between processes that share a folder: a process takes each file that it is the first to
    begin."""

    folder = os.environ.get(SHARE_VARIABLE)
    taken: dict[str, bool] = {}

    @classmethod
    def takes(cls, file: Path) -> bool:
        if not cls.folder:
            return True
        if file.name not in cls.taken:
            try:
                (Path(cls.folder) / file.name).mkdir()
                cls.taken[file.name] = True
            except FileExistsError:
                cls.taken[file.name] = False
        return cls.taken[file.name]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Returns true, which skips the test without a report, if the test belongs to another process.

    Each process runs the tests with the mark `each_process`, because each has daemons of its own.
    """
    return None if item.get_closest_marker("each_process") or Share.takes(item.path) else True


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    return pytestconfig.interop_seed


@pytest.fixture(scope="session")
def latchkey_programs() -> None:
    """Skips the test if `LATCHKEY_BIN` does not name `latchkey`. `latchkeyd` must be in the same folder."""
    if not os.environ.get("LATCHKEY_BIN"):
        pytest.skip("LATCHKEY_BIN names no program; Scripts/test-interop does")


@pytest.fixture(scope="session", autouse=True)
def no_daemon_writes_a_secret() -> Iterator[None]:
    """At the end of the run no secret of its tests is in what a daemon has written.

    Of devices only those count that have the application secret of a daemon's set-up.
    """
    start_session = Device.start_session

    def noting(device: Device) -> DeviceSession:
        session = start_session(device)
        if WATCH.knows(device.application_secret or b""):
            for name in ("session_key", "device_id", "r1", "integrity", "anti_replay_seed", "device_key"):
                WATCH.note(f"{name} of a request", getattr(session, name))
        return session

    Device.start_session = noting
    yield
    Device.start_session = start_session
    leaks = WATCH.search_all()
    assert not leaks, sorted(leaks)


@pytest.fixture(scope="session")
def made_credential() -> Credential:
    """A credential of our own, private keys included."""
    return make_credential()


@pytest.fixture(scope="session")
def deployment() -> Iterator[Deployment]:
    """The daemon under test, after it has granted its first licenses."""
    deployment = _deployment("LATCHKEY")
    for version in containers.VERSIONS:
        device = device_for(deployment.credential, version)
        for _ in range(WARM_UP_COUNT):
            deployment.license(device, SPCOptions(deployment.asset_id))
    process = os.environ.get("LATCHKEY_PID")
    yield replace(deployment, process_before=sample_process(int(process)) if process else None)
    deployment.client.close()


@pytest.fixture(scope="session")
def other_deployment() -> Iterator[Deployment]:
    """A second daemon, whose configuration differs."""
    deployment = _deployment("LATCHKEY_OTHER")
    yield deployment
    deployment.client.close()


def _deployment(prefix: str) -> Deployment:
    url = os.environ.get(f"{prefix}_URL")
    if not url:
        pytest.skip(f"{prefix}_URL names no running daemon; Scripts/test-interop starts one")
    setup = os.environ[f"{prefix}_SETUP"]
    WATCH.watch(Path(setup), Path(f"{setup}.log"), Path(f"{setup}.out"))
    return deployment_of(url, Path(os.environ[f"{prefix}_SETUP"]))
