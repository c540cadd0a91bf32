"""More license requests at the same time than the overall rate allows: they wait, and are refused after the
deadline."""

import secrets
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deployment import register, run_latchkey
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon

CONTENT = f"crowd-{secrets.token_hex(4)}"
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
CROWD = 12


def asker(daemon: OwnDaemon) -> Callable[[int], str]:
    """A function that requests a license with a new SPC, and returns the code of the answer."""
    token = run_latchkey(daemon.setup, "token", "mint", "--content", CONTENT).strip()
    device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
    messages = [device.request(SPCOptions(CONTENT.encode())).message for _ in range(CROWD)]

    def ask(index: int) -> str:
        client = LicenseClient(daemon.url)
        try:
            answer = client.license(messages[index], token)
        finally:
            client.close()
        assert answer.status == 200 or answer.header("Retry-After")
        return answer.code or "license"

    return ask


def crowd(folder: Path, overload: dict[str, object]) -> tuple[Counter[str], dict[str, float]]:
    """Sends the requests of many clients at the same time with a rate of five per second.

    Returns the counts of the codes, and the metrics afterwards.
    """
    limits = {"rates": {"all": {"perSecond": 5, "burst": 1}}, "overload": overload}
    with running_daemon(folder, limits, prepare=lambda setup: register(setup, CONTENT, KEY)) as daemon:
        ask = asker(daemon)
        with ThreadPoolExecutor(CROWD) as pool:
            codes = Counter(pool.map(ask, range(CROWD)))
        return codes, daemon.metrics()


def test_a_crowd_waits_and_is_served(latchkey_programs: None, tmp_path: Path) -> None:
    codes, metrics = crowd(tmp_path, {"wait": "30s"})
    assert codes == Counter({"license": CROWD})
    assert metrics["latchkey_overload_waited_total"] >= CROWD - 2
    assert metrics["latchkey_overload_waiting"] == 0
    assert metrics["latchkey_overload_refused_total"] == 0


@pytest.mark.parametrize("overload", [{"wait": "0s"}, {"wait": "200ms"}])
def test_who_cannot_wait_is_refused(latchkey_programs: None, tmp_path: Path, overload: dict[str, object]) -> None:
    codes, metrics = crowd(tmp_path, overload)
    assert set(codes) == {"license", "overloaded"}
    assert metrics["latchkey_overload_refused_total"] == codes["overloaded"]
