"""A daemon that is offered ten times what it can serve, by `latchkey bench`.

The figures are printed (`pytest -s`). The tests assert only counts: no renewal is lost, and no client takes the share
of others.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deployment import Deployment, deployment_of
from fairplay_device import tags
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import PlaybackState, SPCOptions, device_for
from license_client import LicenseClient
from load_tool import LoadTool, finish
from own_daemon import OwnDaemon, running_daemon

SESSIONS = 4
# The rate that stands for the capacity of the daemon, where a test must not depend on the machine.
CAPACITY = 40
# Fewer than one address may have, and so many that the last ones wait longer than the daemon lets them.
CONNECTIONS = 900
# More than a daemon answers in the time of a test, so that hardly an SPC is repeated.
SPCS = 4000
RENEWAL_SECONDS = 0.5
GREEDY_BURST = 20
GREEDY_RATE = 10


@dataclass
class Renewals:
    """Playbacks that renew their lease at a steady pace, each on a connection of its own."""

    deployment: Deployment
    daemon: OwnDaemon
    answers: Counter[str] = field(default_factory=Counter)
    seconds: float = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def per_second(self) -> float:
        return sum(self.answers.values()) / self.seconds

    @contextmanager
    def running(self) -> Iterator[None]:
        playbacks = [self._begin(1000 + number) for number in range(SESSIONS)]
        threads = [threading.Thread(target=self._renew, args=playback) for playback in playbacks]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
            self.seconds = time.monotonic() - start

    def _begin(self, session: int) -> tuple[LicenseClient, object, int, str]:
        device = device_for(read_device_credential(self.daemon.setup / "fairplay"), 1)
        token = self.deployment.mint("--lease", "300", "--subject", f"playback-{session}")
        client = LicenseClient(self.daemon.url)
        answer = client.license(self._spc(device, session, tags.READY_TO_START), token)
        assert answer.status == 200, answer
        presented = answer.header("X-Session-Token")
        assert presented
        return client, device, session, presented

    def _spc(self, device: object, session: int, state: int) -> bytes:
        options = SPCOptions(self.deployment.asset_id, playback_state=PlaybackState(1_700_000_000, state, session))
        return device.request(options).message

    def _renew(self, client: LicenseClient, device: object, session: int, presented: str) -> None:
        while not self._stop.wait(RENEWAL_SECONDS):
            answer = client.license(self._spc(device, session, tags.LEASE_ABOUT_TO_EXPIRE), presented)
            self.answers[answer.code or "license"] += 1
            presented = answer.header("X-Session-Token") or presented
        client.close()


@contextmanager
def overloaded(folder: Path, limits: dict[str, object]) -> Iterator[tuple[OwnDaemon, Deployment]]:
    with running_daemon(folder, limits) as daemon:
        yield daemon, deployment_of(daemon.url, daemon.setup)


def tool_for(daemon: OwnDaemon, deployment: Deployment, *subjects: str) -> LoadTool:
    tokens = tuple(deployment.mint("--lease", "300", "--subject", subject) for subject in subjects)
    return LoadTool(daemon.url, daemon.setup, deployment.content, tokens)


def viewers(count: int) -> tuple[str, ...]:
    return tuple(f"viewer-{number}" for number in range(count))


# If other programs use the processor, a loop may stand still longer than a request may wait.
@pytest.mark.skipif(
    os.environ.get("LATCHKEY_ABUSE") != "long", reason="needs a quiet machine; LATCHKEY_ABUSE=long runs it"
)
@pytest.mark.parametrize("limits", [{}, {"rates": {"all": {"perSecond": CAPACITY, "burst": 1}}}], ids=["processor", "rate"])
def test_renewals_are_served_at_ten_times_the_capacity(
    latchkey_programs: None, tmp_path: Path, limits: dict[str, object]
) -> None:
    """The capacity is that of the processor, or that of the configured rate."""
    with overloaded(tmp_path, limits) as (daemon, deployment):
        tool = tool_for(daemon, deployment, *viewers(20))
        peak = tool.run("--connections", "32", "--seconds", "2", "--count", "2000")
        assert peak["refused"] == 0
        rate = max(10, peak["licensesPerSecond"])
        renewals = Renewals(deployment, daemon)
        with renewals.running():
            offered = ("--rate", str(10 * rate), "--seconds", "5", "--count", str(SPCS), "--repeat")
            report = tool.run(*offered, "--connections", str(CONNECTIONS))
        assert set(report["results"]) <= {"200", "429 overloaded"}
        assert report["licenses"] > 0
        assert report["wrong"] == 0
        assert set(renewals.answers) == {"license"}, "every renewal is served"
    goodput = report["licensesPerSecond"] + renewals.per_second
    print(
        f"\npeak {rate} licenses/s; offered {10 * rate}/s; goodput {goodput:.0f}/s = {goodput / rate:.2f} of the peak,"
        f" with {renewals.per_second:.0f} renewals/s; refused {report['refused']};"
        f" renewals {sum(renewals.answers.values())}, of which {renewals.answers['license']} were served"
    )


def test_a_greedy_subject_takes_no_share_of_others(latchkey_programs: None, tmp_path: Path) -> None:
    rates = {"perSubject": {"perSecond": GREEDY_RATE, "burst": GREEDY_BURST}, "perAddress": {"perSecond": 100_000}}
    with overloaded(tmp_path, {"rates": rates}) as (daemon, deployment):
        others = tool_for(daemon, deployment, *viewers(10)).start("--rate", "20", "--seconds", "3")
        greedy = tool_for(daemon, deployment, "greedy").run("--rate", "200", "--seconds", "3")
        served = finish(others)
    assert served["licenses"] == served["sent"] == 60, "the others get every license"
    assert set(greedy["results"]) == {"200", "429 rate_limited"}
    permitted = GREEDY_BURST + GREEDY_RATE * (greedy["milliseconds"] / 1000 + 1)
    assert greedy["licenses"] <= permitted
    print(f"\ngreedy: {greedy['results']} of {greedy['sent']}; others: {served['results']} of {served['sent']}")


def test_a_greedy_client_with_many_connections_starves_no_other(latchkey_programs: None, tmp_path: Path) -> None:
    """Requests wait in the order in which they came, so a connection with one request at a time is served too."""
    rates = {"all": {"perSecond": CAPACITY, "burst": 1}}
    with overloaded(tmp_path, {"rates": rates, "overload": {"wait": "30s"}}) as (daemon, deployment):
        greedy = tool_for(daemon, deployment, *viewers(3)).start("--connections", "40", "--seconds", "4", "--count", "2000")
        other = tool_for(daemon, deployment, "other").run("--connections", "1", "--seconds", "60", "--count", "3")
        many = finish(greedy)
    assert other["licenses"] == 3
    assert many["refused"] == 0 and many["licenses"] > 0
    print(f"\ngreedy: {many['licenses']} licenses over 40 connections; other: p50 {other['latencyMicroseconds']['p50']} us")
