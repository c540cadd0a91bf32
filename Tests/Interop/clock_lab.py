"""What a node must remember, and what it must serve, while its clock or its database's clock is stepped."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import http1_wire
from counting_node import ISSUERS, Node, message, node_alone, nodes_on_one_database, subject, token
from deployment import run_latchkey
from fairplay_device import tags
from fairplay_device.spc import Device
from license_client import Answer
from own_daemon import start_daemon, stop_daemon
from stepped_clock import SteppedClock, SteppedDatabase

LEEWAY = 6
# If node and database differ by more seconds than this, the node refuses licenses that it must count.
DATABASE_TOLERANCE = LEEWAY + 5
STEP_TOLERANCE = 30
WAIT_SECONDS = 90
DAY = 86_400
YEAR = 365 * DAY
RENEWED_LEASE = 300


def await_true(what: str, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@dataclass
class ClockedNode:
    """A daemon whose wall clock a test can step."""

    node: Node
    clock: SteppedClock

    @property
    def setup(self) -> Path:
        return self.node.setup

    def start(self) -> None:
        self.node.environment = self.clock.environment
        self.node.start()

    def stop(self) -> None:
        assert self.node.process is not None
        assert stop_daemon(self.node.process) == 0
        self.node.process = None

    def ask(self, spc: bytes, presented: str) -> Answer:
        return self.node.ask(spc, presented)

    def device(self) -> Device:
        return self.node.device()

    def latchkey(self, *arguments: str) -> str:
        """Runs `latchkey` with the node's clock and configuration, and returns its output."""
        finished = subprocess.run(
            [os.environ["LATCHKEY_BIN"], *arguments, "--config", str(self.setup / "latchkey.json5")],
            capture_output=True, text=True, timeout=60, check=False, env=os.environ | self.clock.environment,
        )  # fmt: skip
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    def admin_text(self, path: str) -> str:
        secret = (self.setup / "secrets" / "admin-token").read_text().strip()
        request = (
            f"GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nAuthorization: Bearer {secret}\r\n\r\n"
        )
        (answer,) = http1_wire.exchange(self.node.admin, request.encode()).responses
        assert answer.status == 200, answer
        return answer.body.decode()

    @property
    def degraded(self) -> bool:
        lines = self.admin_text("/readyz").splitlines()
        return any(line.startswith("degraded:") and "clock" in line.split() for line in lines)

    def metric(self, name: str) -> float:
        lines = self.admin_text("/metrics").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))

    def events(self) -> list[str]:
        lines = self.node.log.read_text().rpartition("\n")[0].splitlines()
        return [json.loads(line)["event"] for line in lines if line.startswith("{")]

    def ledger(self) -> dict[str, object]:
        return json.loads(run_latchkey(self.setup, "ledger", "verify", "--json"))


def configure(setup: Path) -> None:
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    changed = text.replace('leeway: "30s",', f'leeway: "{LEEWAY}s",', 1)
    assert changed != text
    configuration.write_text(changed)


def lone_node(folder: Path, clock: SteppedClock) -> ClockedNode:
    node = node_alone(folder)
    configure(node.setup)
    return ClockedNode(node, clock)


def two_nodes(folder: Path, clocks: list[SteppedClock], database: SteppedDatabase) -> list[ClockedNode]:
    nodes = nodes_on_one_database(folder, 2, database.url, database.password_file)
    for node in nodes:
        configure(node.setup)
    return [ClockedNode(node, clock) for node, clock in zip(nodes, clocks, strict=True)]


class Remembered:
    """What a node must not forget, recorded while its clock is right.

    These are spent uses, a repeated request, a token bound to a device, a place on a device list, a revocation and
    ledger rows.
    """

    def __init__(self, node: ClockedNode, *others: ClockedNode):
        end = int(time.time()) + 1800
        self.device = node.device()
        self.once = token(exp=end, limits={"uses": 1})
        self.spc = message(self.device)
        self.bound = token(exp=end, device={"bind": "first"})
        self.account = subject()
        self.revoked = subject()
        first = node.ask(self.spc, self.once)
        assert first.status == 200
        self.license_id = first.header("X-License-Id")
        assert node.ask(message(self.device), self.bound).status == 200
        assert node.ask(message(self.device), self._of(self.account, device={"max": 1})).status == 200
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
        run_latchkey(
            node.setup, "revocations", "add", "--kind", "sub", "--value", self.revoked, "--issuer", ISSUERS.ISSUER,
            "--until", until,
        )  # fmt: skip
        for each in (node, *others):
            self._await_revocation(each)
        self.session = self._session(node)
        self.rows = int(node.ledger()["entries"])

    def _of(self, account: str, **claims: object) -> str:
        return token(sub=account, **claims)

    def _await_revocation(self, node: ClockedNode) -> None:
        await_true(
            "the revocation holds",
            lambda: node.ask(message(self.device), self._of(self.revoked)).code == "subject_disabled",
        )

    def _session(self, node: ClockedNode) -> str:
        right = {"content": ISSUERS.content, "lease": RENEWED_LEASE}
        answer = node.ask(message(self.device, 7, tags.PLAYING_OR_PAUSED), token(rights=[right]))
        session = answer.header("X-Session-Token")
        assert session is not None
        return session

    def renew(self, node: ClockedNode) -> Answer:
        """Renews a license with the session token, and keeps the new session token of the answer."""
        answer = node.ask(message(self.device, 7, tags.LEASE_ABOUT_TO_EXPIRE), self.session)
        self.session = answer.header("X-Session-Token") or self.session
        return answer

    def is_not_forgotten(self, node: ClockedNode) -> None:
        """Checks a node whose clock is right again: it still refuses what was spent, and serves what is allowed."""
        self.nothing_is_given(node)
        other = node.device()
        assert node.ask(message(self.device), self.once).code == "token_used"
        again = node.ask(self.spc, self.once)
        assert again.code == "spc_replayed" or again.header("X-License-Id") == self.license_id
        assert node.ask(message(other), self.bound).code == "device_mismatch"
        assert node.ask(message(other), self._of(self.account, device={"max": 1})).code == "device_limit"
        assert node.ask(message(self.device), self._of(self.revoked)).code == "subject_disabled"

    def nothing_is_given(self, node: ClockedNode) -> None:
        """Checks that the node grants nothing that was spent, with any offset of its clock."""
        other = node.device()
        for spc, presented in (
            (message(self.device), self.once),
            (message(other), self.bound),
            (message(other), self._of(self.account, device={"max": 1})),
            (message(self.device), self._of(self.revoked)),
        ):
            answer = node.ask(spc, presented)
            assert answer.status != 200, presented

    def rows_are_kept(self, node: ClockedNode) -> None:
        report = node.ledger()
        assert report["isSound"], report
        assert int(report["entries"]) >= self.rows, report


def fresh(clock: SteppedClock, **claims: object) -> str:
    """A token of an issuer whose clock is as wrong as the node's.

    If the node is far behind, the issuer's clock is right.
    """
    now = int(time.time()) + max(clock.offset, -STEP_TOLERANCE if clock.offset >= -STEP_TOLERANCE else 0)
    return token(**({"iat": now, "nbf": now, "exp": now + 300} | claims))


def serves_as_designed(node: ClockedNode, remembered: Remembered, *, shared: bool) -> None:
    """Checks what the node serves with a stepped clock, as the row for clocks in the table of outages says."""
    offset = node.clock.offset
    asked_at = time.monotonic()
    device = node.device()
    plain = node.ask(message(device), fresh(node.clock))
    counted = node.ask(message(device), fresh(node.clock, limits={"uses": 1}))
    if offset < -LEEWAY:
        # A clock that is only a little behind soon catches up. On a busy machine, the answers may come after that.
        has_caught_up = time.monotonic() - asked_at > -offset - LEEWAY - 1
        for answer in (plain, counted):
            if has_caught_up and answer.status == 200:
                continue
            assert (answer.status, answer.code) == (503, "clock_untrusted"), answer
            assert int(answer.header("Retry-After") or 0) > 0
        await_true("the log reports that the clock is behind", lambda: "clock_behind" in node.events())
        renewed = remembered.renew(node)
        assert renewed.status == 200, renewed.body
    else:
        assert plain.status == 200, plain.body
        revoked = node.ask(message(device), fresh(node.clock, sub=remembered.revoked))
        assert revoked.code == "subject_disabled", "a clock that is ahead ends no revocation"
        other = node.ask(message(device), fresh(node.clock, sub=remembered.account, device={"max": 1}))
        assert other.status != 200, "a clock that is ahead frees no place"
        if shared and offset > DATABASE_TOLERANCE:
            assert (counted.status, counted.code) == (503, "clock_untrusted"), counted
        else:
            assert counted.status == 200, counted.body
    if abs(offset) > STEP_TOLERANCE:
        assert node.degraded
        assert node.metric("latchkey_clock_trusted") == 0
        await_true("the step is logged", lambda: "clock_stepped" in node.events())
        assert node.metric("latchkey_clock_may_delete") == 0


def serves_again(node: ClockedNode) -> None:
    await_true(
        "a counted license is given again",
        lambda: node.ask(message(node.device()), token(limits={"uses": 1})).status == 200,
    )
    await_true("the clock is not degraded any more", lambda: not node.degraded)
    assert node.metric("latchkey_clock_trusted") == 1


def refuses_to_start(node: ClockedNode) -> str:
    """Starts a daemon that must refuse to start, and returns its log."""
    log = node.setup / "refused.log"
    process = start_daemon(node.setup, log, node.clock.environment)
    assert process.wait(WAIT_SECONDS) != 0
    return log.read_text()
