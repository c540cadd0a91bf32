"""Latchkey's own device against the Python key server: every kind of device, right and license, in every version.

The Python rules decide what the server grants. The device must print exactly that, or fail with the refusal's code.
"""

import os
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from fairplay_device import tags
from fairplay_device.containers import VERSIONS
from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.license import License, OfflineKey, Persistent, Streaming, duration_value
from fairplay_device.tllv import Block, padded_block
from lengths import inputs
from license_policy import ContentKey, Policy, Refused, Right, decide
from license_server import LicenseServer, always, by_right
from random_requests import named_on_failure, random_content_key, random_right
from swift_device import (
    CAPABILITIES,
    Statements,
    SwiftDevice,
    assert_fails,
    assert_prints,
    printed,
    random_statements,
)

pytestmark = pytest.mark.skipif("LATCHKEY_BIN" not in os.environ, reason="LATCHKEY_BIN names no latchkey program")

COMBINATION_COUNT = inputs(short=100, long=300)
IDENTIFIER = bytes(range(16))
TITLE_ID = bytes(range(16, 32))
LICENSE = License(os.urandom(16), os.urandom(16))
OFFLINE_1 = tuple(name for name in CAPABILITIES if name != "offline-key-2")
NO_OFFLINE = ("hdcp", "secure-invalidation", "baseline", "main")


@dataclass
class Bench:
    """The device, and the server at `url` that answers it."""

    device: SwiftDevice
    server: LicenseServer
    url: str

    def refuses(self, statements: Statements, *, offline: bool = True) -> str:
        """Runs the device, which must refuse the answer. Returns the reason that it prints."""
        finished = self.device.request(self.url, statements, offline=offline)
        assert not self.server.refusals, self.server.refusals
        assert_fails(finished, LICENSE.content_key)
        return finished.stderr

    def grants(self, statements: Statements, *, offline: bool) -> OpenedSPC:
        """Runs the device, which must print `LICENSE` with the terms that the server grants."""
        finished = self.device.request(self.url, statements, offline=offline)
        assert not self.server.refusals, self.server.refusals
        opened = self.server.opened[-1]
        assert_prints(finished, self.server.grant(opened, offline), opened)
        return opened


@pytest.fixture(scope="module")
def device(made_credential: Credential, tmp_path_factory: pytest.TempPathFactory) -> SwiftDevice:
    return SwiftDevice.with_files_in(tmp_path_factory.mktemp("fairplay"), made_credential)


@pytest.fixture
def bench(device: SwiftDevice, made_credential: Credential) -> Iterator[Bench]:
    server = LicenseServer(key_server_for(made_credential), always(LICENSE))
    with server.running() as url:
        yield Bench(device, server, url)


@pytest.fixture(params=VERSIONS, ids=[f"version {version}" for version in VERSIONS])
def version(request: pytest.FixtureRequest) -> int:
    return request.param


# --- Random combinations ---------------------------------------------------------------------------------------------


def judge(
    bench: Bench, statements: Statements, right: Right, key: ContentKey, policy: Policy, *, offline: bool, bundle: bool
) -> str:
    """Checks that the answer is the one that the policy demands, and returns its kind."""
    asked = len(bench.server.opened)
    bench.server.grant = by_right(right, key, policy)
    finished = bench.device.request(bench.url, statements, offline=offline, from_bundle=bundle)
    assert not bench.server.refusals, bench.server.refusals
    assert len(bench.server.opened) == asked + 1, finished.stderr
    opened = bench.server.opened[-1]
    statements.assert_read(opened)
    assert struct.unpack_from(">I", bench.server.messages[-1]) == (statements.version,)
    assert bench.server.targets[-1].endswith("?offline=1") == offline
    try:
        license = decide(opened, right, key, policy, offline=offline)
    except Refused as refused:
        assert_fails(finished, key.key)
        assert f"status 403, code {min(refused.codes)}" in finished.stderr
        return min(refused.codes)
    assert_prints(finished, license, opened)
    terms = license.terms
    return f"OfflineKey {terms.version}" if isinstance(terms, OfflineKey) else type(terms).__name__


@pytest.mark.slow
def test_random_combinations_print_what_is_owed(bench: Bench, seed: int) -> None:
    print(f"seed {seed}")
    randomness = random.Random(f"{seed} swift device")
    outcomes: dict[tuple[int, str], int] = {}
    granted = {"Streaming", "Persistent", "OfflineKey 1", "OfflineKey 2"}
    refused = {"content_mismatch", "offline_not_allowed", "security_level", "terms_not_expressible"}
    for number in range(10 * COMBINATION_COUNT):
        # A rare outcome may need more combinations.
        if number >= COMBINATION_COUNT and granted | refused == {outcome for _, outcome in outcomes}:
            break
        statements = random_statements(randomness)
        key = random_content_key(randomness)
        right = random_right(randomness, key)
        offline = randomness.random() < {"stream": 0.2, "offline": 0.8, "both": 0.5}[right.mode]
        policy = Policy(title_id=randomness.randbytes(16))
        bundle = randomness.random() < 0.3
        with named_on_failure(f"combination {number}, offline {offline}", statements, key, right, policy):
            outcome = judge(bench, statements, right, key, policy, offline=offline, bundle=bundle)
        outcomes[statements.version, outcome] = outcomes.get((statements.version, outcome), 0) + 1
    print(outcomes)
    assert {version for version, _ in outcomes} == set(VERSIONS)
    assert granted | refused == {outcome for _, outcome in outcomes}


# --- Offline licenses and renewals -----------------------------------------------------------------------------------

# The terms of a license to keep, and the capabilities of the device that gets it.
KEPT: dict[str, tuple[Persistent | OfflineKey, tuple[str, ...] | None]] = {
    "persistent": (Persistent(), NO_OFFLINE),
    "persistent limited": (Persistent(0xFFFFFFFE), NO_OFFLINE),
    "version 1": (OfflineKey(IDENTIFIER, 172_800, 3600), OFFLINE_1),
    "version 1 without limits": (OfflineKey(IDENTIFIER), OFFLINE_1),
    "version 1 with storage": (OfflineKey(IDENTIFIER, storage=1), OFFLINE_1),
    "version 1 with playback": (OfflineKey(IDENTIFIER, playback=0xFFFFFFFE), OFFLINE_1),
    "version 1 for a device that says nothing": (OfflineKey(IDENTIFIER, 60, 60), None),
    "version 1 for a device of version 2": (OfflineKey(IDENTIFIER, 60, 60), ("offline-key-2",)),
    "version 2": (OfflineKey(IDENTIFIER, 172_800, 3600, TITLE_ID), ("offline-key-2",)),
    "version 2 without limits": (OfflineKey(IDENTIFIER, title_id=TITLE_ID), tuple(CAPABILITIES)),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_license_to_keep_is_printed(name: str, bench: Bench, version: int) -> None:
    terms, capabilities = KEPT[name]
    bench.server.grant = always(replace(LICENSE, terms=terms))
    bench.grants(Statements(version, capabilities), offline=True)


@pytest.mark.parametrize("terms", [Streaming(120), Streaming(120, 3600)], ids=["lease", "lease and rental"])
def test_a_renewal_names_its_session_and_shares_no_secret(terms: Streaming, bench: Bench, version: int) -> None:
    bench.server.grant = always(replace(LICENSE, terms=terms))
    first = bench.grants(Statements(version), offline=False)
    assert first.playback_state is not None
    renewal = Statements(
        version, playback_state="renewal", session_id=first.playback_state.session, device_id=first.device_id
    )
    for _ in range(2):
        bench.server.grant = always(replace(LICENSE, terms=replace(terms, lease=(terms.lease or 0) + 1)))
        second = bench.grants(renewal, offline=False)
        renewal.assert_read(second)
        for secret in ("keys", "session_key", "r1", "r2", "anti_replay_seed"):
            assert getattr(first, secret) != getattr(second, secret), secret
        first = second


# --- Faults in the terms of a license to keep ------------------------------------------------------------------------

STORED = OfflineKey(IDENTIFIER, 172_800, 3600)
STORED_2 = replace(STORED, title_id=TITLE_ID)


def offline_block(terms: OfflineKey = STORED, edit: Callable[[bytes], bytes] = lambda value: value) -> list[Block]:
    tag, value = terms.block()
    return [padded_block(tag, edit(value), random.SystemRandom())]


def duration_block(lease: int, rental: int, key_type: int, word: int = tags.DURATION_RESERVED_WORD) -> list[Block]:
    value = duration_value(lease, rental, key_type)[:12] + struct.pack(">I", word)
    return [padded_block(tags.CONTENT_KEY_DURATION, value, random.SystemRandom())]


def with_word(offset: int, word: int) -> Callable[[bytes], bytes]:
    return lambda value: value[:offset] + struct.pack(">I", word) + value[offset + 4 :]


# The faulty blocks of the terms, for a device with all capabilities.
FAULTS: dict[str, list[Block]] = {
    "offline key beside persistent": offline_block() + duration_block(0, 0, tags.PERSISTENT),
    "offline key behind persistent limited": duration_block(0, 60, tags.PERSISTENT_LIMITED) + offline_block(STORED_2),
    "offline key beside a lease": offline_block(STORED_2) + duration_block(60, 0, tags.LEASE_ONLY),
    "two offline keys": offline_block() + offline_block(STORED_2),
    "offline key of 0 bytes": offline_block(edit=lambda value: b""),
    "offline key of 16 bytes": offline_block(edit=lambda value: value[:16]),
    "offline key of 31 bytes": offline_block(edit=lambda value: value[:31]),
    "version 1 of 33 bytes": offline_block(edit=lambda value: value + b"\x00"),
    "version 1 of 48 bytes": offline_block(STORED_2, with_word(0, 1)),
    "version 2 of 32 bytes": offline_block(STORED, with_word(0, 2)),
    "version 2 of 47 bytes": offline_block(STORED_2, lambda value: value[:47]),
    "version 2 of 64 bytes": offline_block(STORED_2, lambda value: value + bytes(16)),
    "version 0": offline_block(STORED, with_word(0, 0)),
    "version 3": offline_block(STORED_2, with_word(0, 3)),
    "version 1 with a reserved word": offline_block(STORED, with_word(4, 1)),
    "version 2 with a reserved word": offline_block(STORED_2, with_word(4, 0x80000000)),
    "storage that older servers mean for none": offline_block(STORED, with_word(24, 0xFFFFFFFF)),
    "playback that older servers mean for none": offline_block(STORED_2, with_word(28, 0xFFFFFFFF)),
    "persistent with a rental": duration_block(0, 60, tags.PERSISTENT),
    "persistent with a lease": duration_block(60, 0, tags.PERSISTENT),
    "persistent limited without a limit": duration_block(0, 0, tags.PERSISTENT_LIMITED),
    "persistent limited with a lease": duration_block(60, 60, tags.PERSISTENT_LIMITED),
    "persistent limited that older servers mean for none": duration_block(0, 0xFFFFFFFF, tags.PERSISTENT_LIMITED),
    "key type of an offline key block": duration_block(0, 60, tags.OFFLINE_KEY >> 32),
    "key type 0": duration_block(0, 60, 0),
}

# Valid blocks for a device that did not report that it can read them.
BEYOND: dict[str, tuple[list[Block], Statements]] = {
    "version 1 without the capability": (offline_block(), Statements(capabilities=NO_OFFLINE)),
    "version 1 with no capability at all": (offline_block(), Statements(capabilities=())),
    "version 2 with the capability of version 1": (offline_block(STORED_2), Statements(capabilities=OFFLINE_1)),
    "version 2 for a device that says nothing": (offline_block(STORED_2), Statements(capabilities=None)),
    "persistent without a playback state": (
        duration_block(0, 0, tags.PERSISTENT),
        Statements(playback_state=None),
    ),
    "persistent limited without a playback state": (
        duration_block(0, 60, tags.PERSISTENT_LIMITED),
        Statements(playback_state=None),
    ),
}


def seal_with(terms: list[Block]) -> Callable[[KeyServer, OpenedSPC, License], bytes]:
    """A function that makes a CKC with these blocks of terms before the blocks of a license without limits."""
    return lambda server, opened, license: server.seal(opened, terms + server.answer_blocks(opened, license))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_terms_is_refused(name: str, bench: Bench, version: int) -> None:
    bench.server.seal = seal_with(FAULTS[name])
    assert "a device would refuse this answer" in bench.refuses(Statements(version))


@pytest.mark.parametrize("word", [0, 1, 0xFFFFFFFF])
def test_another_reserved_word_of_a_duration_is_taken(word: int, bench: Bench, version: int) -> None:
    """The device accepts another reserved word with a remark. Apple's sample CKCs have 0."""
    bench.server.seal = seal_with(duration_block(0, 60, tags.PERSISTENT_LIMITED, word=word))
    finished = bench.device.request(bench.url, Statements(version), offline=True)
    assert_prints(finished, replace(LICENSE, terms=Persistent(60)), bench.server.opened[-1])
    (remark,) = printed(finished)["remarks"]
    assert f"{word:08x}" in remark


@pytest.mark.parametrize("name", BEYOND)
def test_terms_beyond_the_device_are_refused(name: str, bench: Bench, version: int) -> None:
    terms, statements = BEYOND[name]
    bench.server.seal = seal_with(terms)
    assert "a device would refuse this answer" in bench.refuses(replace(statements, version=version))


@pytest.mark.parametrize("name", ["version 1", "version 2", "persistent", "persistent limited"])
def test_the_faults_are_faults_of_blocks_that_are_good(name: str, bench: Bench, version: int) -> None:
    """The device accepts the same blocks without a fault, encrypted in the same way."""
    terms = {
        "version 1": STORED,
        "version 2": STORED_2,
        "persistent": Persistent(),
        "persistent limited": Persistent(60),
    }[name]
    tag, value = terms.block()
    bench.server.seal = seal_with([padded_block(tag, value, random.SystemRandom())])
    finished = bench.device.request(bench.url, Statements(version), offline=True)
    assert_prints(finished, replace(LICENSE, terms=terms), bench.server.opened[-1])


# --- Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unserved", VERSIONS)
def test_a_version_that_is_not_served_is_a_failure(unserved: int, bench: Bench) -> None:
    bench.server.key_server.served_versions = tuple(version for version in VERSIONS if version != unserved)
    finished = bench.device.request(bench.url, Statements(unserved))
    assert_fails(finished, LICENSE.content_key)
    (refusal,) = bench.server.refusals
    assert f"status {refusal.status}, code {refusal.code}" in finished.stderr
