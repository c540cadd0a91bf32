"""`latchkey device sync` against the Python key server, which also opens the SPCs of `latchkey device make-spc`."""

import datetime
import os
import random
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairplay_device import tags
from fairplay_device.containers import VERSIONS
from fairplay_device.credentials import Credential
from fairplay_device.facts import NO_EXPIRY, SYNC_RECORD_COUNT_MAXIMUM, SyncV1, SyncV2
from fairplay_device.key_server import key_server_for
from fairplay_device.license import License
from license_policy import sync_answer
from license_server import LicenseServer, Reply, always
from random_requests import named_on_failure
from swift_device import Statements, SwiftDevice, assert_fails, printed, random_statements

pytestmark = pytest.mark.skipif("LATCHKEY_BIN" not in os.environ, reason="LATCHKEY_BIN names no latchkey program")

SYNC_COUNT = 60
SPC_COUNT = 60
CLOCK_SECONDS = 60
ACTIONS = {
    "report": tags.SYNC_REPORT,
    "invalidate": tags.SYNC_SECURE_INVALIDATION,
    "invalidate-all": tags.SYNC_INVALIDATE_ALL,
}
OUTCOMES = {
    "success": tags.SYNC_SUCCESS,
    "not-found": tags.SYNC_OBJECT_NOT_FOUND,
    "expired": tags.SYNC_OBJECT_EXPIRED,
}
ID = bytes(range(16))


@dataclass(frozen=True)
class Report:
    """What the device must report. A member that is `None` is left out. Only version 2 has a title and an outcome."""

    version: int = 2
    action: str = "report"
    identifier: bytes | None = None
    stream_ids: tuple[bytes, ...] = ()
    remaining: int | str | None = None
    outcome: str | None = None

    @property
    def arguments(self) -> list[str]:
        id_option = "--content-id" if self.version == 1 else "--title-id"
        options = {
            "--sync": self.action,
            "--sync-version": self.version,
            id_option: None if self.identifier is None else self.identifier.hex(),
            "--remaining": self.remaining,
            "--outcome": self.outcome,
        }
        said = [text for name, value in options.items() if value is not None for text in (name, str(value))]
        return said + [text for stream_id in self.stream_ids for text in ("--stream-id", stream_id.hex())]

    def block(self, challenge: int = 0) -> SyncV1 | SyncV2:
        """The expected sync block."""
        identifier = self.identifier or bytes(16)
        if self.version == 1:
            return SyncV1(identifier, self._duration)
        flags = ACTIONS[self.action] | OUTCOMES[self.outcome or "success"]
        if self.identifier is not None:
            flags |= tags.SYNC_TITLE_ID_VALID
        return SyncV2(challenge, flags, identifier, self._duration, self.stream_ids)

    @property
    def _duration(self) -> int:
        unsaid = "never" if self.action == "report" else "expired"
        words = {"never": NO_EXPIRY, "expired": 0}
        remaining = unsaid if self.remaining is None else self.remaining
        return words[remaining] if isinstance(remaining, str) else remaining


def random_report(randomness: random.Random) -> Report:
    identifier = randomness.choice([None, randomness.randbytes(16)])
    remaining = randomness.choice([None, "never", "expired", 1, 3600, 2_591_995, NO_EXPIRY - 1])
    if randomness.random() < 0.3:
        return Report(1, identifier=identifier, remaining=remaining)
    count = randomness.choice([0, 1, 2, 30, SYNC_RECORD_COUNT_MAXIMUM])
    return Report(
        action=randomness.choice(list(ACTIONS)),
        identifier=identifier,
        stream_ids=tuple(randomness.randbytes(16) for _ in range(count)),
        remaining=remaining,
        outcome=randomness.choice([None, *OUTCOMES]),
    )


@pytest.fixture(scope="module")
def device(made_credential: Credential, tmp_path_factory: pytest.TempPathFactory) -> SwiftDevice:
    return SwiftDevice.with_files_in(tmp_path_factory.mktemp("fairplay"), made_credential)


@pytest.fixture
def server(made_credential: Credential) -> LicenseServer:
    return LicenseServer(key_server_for(made_credential), always(License(os.urandom(16), os.urandom(16))))


@pytest.fixture
def url(server: LicenseServer) -> Iterator[str]:
    with server.running() as url:
        yield url


@pytest.fixture(params=VERSIONS, ids=[f"version {version}" for version in VERSIONS])
def version(request: pytest.FixtureRequest) -> int:
    return request.param


def assert_answer_printed(members: dict[str, object], request: SyncV1 | SyncV2, *, challenge_accepted: bool) -> None:
    """Checks that the program prints the whole answer, with a date close to the time of this machine's clock."""
    now = datetime.datetime.now(datetime.timezone.utc)
    expected = sync_answer(request, now, challenge_accepted=challenge_accepted)
    date, expected_date = members.pop("expirationDate"), expected.pop("expirationDate")
    assert members == expected
    assert (date is None) == (expected_date is None)
    if date is not None:
        parsed, near = (datetime.datetime.fromisoformat(str(each)) for each in (date, expected_date))
        assert abs((parsed - near).total_seconds()) < CLOCK_SECONDS


# --- Sync requests ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_reports_are_read_and_their_answer_printed(
    device: SwiftDevice, server: LicenseServer, url: str, seed: int
) -> None:
    print(f"seed {seed}")
    randomness = random.Random(f"{seed} swift sync")
    kinds = set()
    for number in range(SYNC_COUNT):
        statements, report = random_statements(randomness), random_report(randomness)
        fetches = report.version == 2 and randomness.random() < 0.5
        with named_on_failure(f"report {number}, with a challenge: {fetches}", statements, report):
            finished = device.sync(url, statements, "--challenge", "fetch" if fetches else "none", *report.arguments)
            members = printed(finished)
            opened = server.opened[-1]
            statements.assert_read(opened)
            challenge = opened.sync_request.challenge if isinstance(opened.sync_request, SyncV2) else 0
            assert (challenge != 0) == fetches
            assert opened.sync_request == report.block(challenge)
            assert_answer_printed(members, report.block(challenge), challenge_accepted=fetches)
        kinds.add((statements.version, report.version, fetches))
    assert len(server.opened) == SYNC_COUNT
    assert not server.challenges, "each challenge was spent"
    assert {version for version, _, _ in kinds} == set(VERSIONS)
    assert {kind[1:] for kind in kinds} == {(1, False), (2, False), (2, True)}


def test_a_challenge_is_fetched_unless_it_is_given(
    device: SwiftDevice, server: LicenseServer, url: str, version: int
) -> None:
    members = printed(device.sync(url, Statements(version)))
    assert members["challengeAccepted"] is True
    assert [target.split("/")[-1] for target in server.targets] == ["challenge", "license"]
    server.challenges.add(0xFEDCBA9876543210)
    members = printed(device.sync(url, Statements(version), "--challenge", "fedcba9876543210"))
    assert members["challengeAccepted"] is True
    assert len(server.targets) == 3


def test_a_spent_challenge_is_a_failure(device: SwiftDevice, server: LicenseServer, url: str, version: int) -> None:
    server.challenges.add(7)
    given = ("--challenge", "0000000000000007")
    printed(device.sync(url, Statements(version), *given))
    finished = device.sync(url, Statements(version), *given)
    assert_fails(finished)
    assert "status 409, code spc_replayed" in finished.stderr


def wrong(name: str, value: object) -> Callable[[dict[str, object]], dict[str, object]]:
    return lambda members: members | {"offline-sync": {**members["offline-sync"], name: value}}


# Answers that do not correctly repeat the version 2 report below.
WRONG_ANSWERS: dict[str, Callable[[dict[str, object]], dict[str, object]]] = {
    "another duration": wrong("duration-to-expiry", 3601),
    "another title": wrong("title-id", bytes(16).hex()),
    "another challenge": wrong("server-challenge", "0" * 15 + "1"),
    "another version": wrong("version", 1),
    "another count": wrong("records-invalidated", 2),
    "another stream": wrong("invalidated-stream-ids", [bytes(16).hex()]),
    "no stream": wrong("invalidated-stream-ids", []),
    "nothing of the report": lambda members: {"expiresInSeconds": 3600},
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_an_answer_that_does_not_repeat_the_report_is_a_failure(
    name: str, device: SwiftDevice, server: LicenseServer, url: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: SyncV1 | SyncV2) -> Reply:
        now = datetime.datetime.now(datetime.timezone.utc)
        return Reply.json(WRONG_ANSWERS[name](sync_answer(request, now, challenge_accepted=False)))

    monkeypatch.setattr(server, "_answer_sync", answer)
    report = Report(identifier=ID, stream_ids=(ID,), remaining=3600)
    assert_fails(device.sync(url, Statements(version), "--challenge", "none", *report.arguments))
    assert server.opened[-1].sync_request == report.block()


def test_a_ckc_is_no_answer_to_a_report(
    device: SwiftDevice, server: LicenseServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    license = License(os.urandom(16), os.urandom(16))

    def answer(request: SyncV1 | SyncV2) -> Reply:
        ckc = server.key_server.answer(server.opened[-1], license)
        return Reply(200, "application/octet-stream", ckc)

    monkeypatch.setattr(server, "_answer_sync", answer)
    finished = device.sync(url, Statements(), "--challenge", "none")
    assert_fails(finished, license.content_key)
    assert "did not treat the SPC as a sync SPC" in finished.stderr


# --- Written SPCs ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_spcs_open_with_what_was_said(
    device: SwiftDevice, made_credential: Credential, tmp_path: Path, seed: int
) -> None:
    print(f"seed {seed}")
    randomness = random.Random(f"{seed} make-spc")
    key_server = key_server_for(made_credential)
    file = tmp_path / "made.spc"
    seen: set[bytes] = set()
    for number in range(SPC_COUNT):
        statements = random_statements(randomness)
        report = random_report(randomness) if randomness.random() < 0.3 else None
        challenge = randomness.getrandbits(64) if report is not None and report.version == 2 else 0
        arguments = report.arguments if report is not None else []
        arguments += ["--challenge", f"{challenge:016x}"] if challenge else []
        with named_on_failure(f"SPC {number}, challenge {challenge:016x}", statements, report):
            finished = device.make_spc(file, statements, *arguments, from_bundle=randomness.random() < 0.3)
            members = printed(finished)
            message = file.read_bytes()
            assert (members["spcVersion"], members["spcBytes"]) == (statements.version, len(message))
            assert struct.unpack_from(">I", message) == (statements.version,)
            opened = key_server.open(message)
            statements.assert_read(opened)
            assert opened.sync_request == (None if report is None else report.block(challenge))
            assert stat.S_IMODE(Path(str(members["secrets"])).stat().st_mode) == 0o600
        for secret in (opened.session_key, opened.r1, opened.r2, opened.anti_replay_seed):
            assert secret not in seen, "a secret was used twice"
            seen.add(secret)


def test_an_spc_for_another_deployment_does_not_open(
    device: SwiftDevice, made_credential: Credential, tmp_path: Path, version: int
) -> None:
    """A cross-check of the test above: with another application secret or other certificates, the SPC does not open."""
    file = tmp_path / "made.spc"
    printed(device.make_spc(file, Statements(version)))
    key_server = key_server_for(made_credential)
    assert key_server.open(file.read_bytes()).asset_id == Statements().asset_id
    other = replace(made_credential, application_secret=bytes(16))
    with pytest.raises(Exception, match="SK..R1 integrity"):
        key_server_for(other).open(file.read_bytes())
