"""Latchkey's own device against the Python key server: the other direction.

`LATCHKEY_BIN` names the `latchkey` program. It runs as `latchkey device request`, asks the Python key server, and must
print what was granted; of a faulty CKC it must print no key and exit with a failure, without crashing. As `latchkey
device sync` it reports of kept keys, and must print the server's account of it.
"""

import json
import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.licence import Licence, OfflineKey, Persistent, Streaming
from fairplay_device.tllv import Block
from licence_server import LicenceServer, always

pytestmark = pytest.mark.skipif("LATCHKEY_BIN" not in os.environ, reason="LATCHKEY_BIN names no latchkey program")

TIMEOUT_SECONDS = 30
ASSET_ID = "interop-asset"
TOKEN = "any.token.will-do"
LICENCE = Licence(os.urandom(16), os.urandom(16))
LIMITED = replace(
    LICENCE,
    terms=Streaming(lease=120, rental=3600),
    hdcp_level=tags.HDCP_TYPE_0,
    security_level=tags.LEVEL_BASELINE,
)


@dataclass(frozen=True)
class Files:
    """What `latchkey device` reads, on disk."""

    certificates: dict[int, Path]
    application_secret: Path


@pytest.fixture(scope="module")
def files(made_credential: Credential, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("fairplay")
    large = folder / "certificate-2048.der"
    certificates = {1: folder / "certificate-1024.der", 2: large, 3: large}
    for version, file in certificates.items():
        file.write_bytes(made_credential.certificate(version))
    secret = folder / "application-secret.hex"
    secret.write_text(made_credential.application_secret.hex() + "\n")
    secret.chmod(0o600)
    return Files(certificates, secret)


@pytest.fixture
def server(made_credential: Credential) -> LicenceServer:
    return LicenceServer(key_server_for(made_credential), always(LICENCE))


@pytest.fixture(params=[1, 2, 3], ids=["version 1", "version 2", "version 3"])
def version(request: pytest.FixtureRequest) -> int:
    return request.param


def run_device(
    server: LicenceServer, files: Files, version: int, *words: str, command: str = "request"
) -> subprocess.CompletedProcess[str]:
    with server.running() as url:
        return subprocess.run(
            [
                os.environ["LATCHKEY_BIN"],
                *("device", command, "--json"),
                *("--url", url),
                *("--certificate", str(files.certificates[version])),
                *("--application-secret", str(files.application_secret)),
                *("--asset-id", ASSET_ID),
                *("--token", TOKEN),
                *("--spc-version", str(version)),
                *words,
            ],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )


def granted(server: LicenceServer, files: Files, version: int, *words: str, command: str = "request") -> dict[str, Any]:
    finished = run_device(server, files, version, *words, command=command)
    assert not server.refusals, server.refusals
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


# What is granted, and the key type that the device must report.
GRANTED: dict[str, tuple[Licence, str | None]] = {
    "no limit": (LICENCE, None),
    "lease and rental": (LIMITED, "leaseAndRental"),
    "lease": (replace(LIMITED, terms=Streaming(lease=120)), "lease"),
    "rental": (replace(LIMITED, terms=Streaming(rental=3600)), "rental"),
    "longest lease": (replace(LICENCE, terms=Streaming(lease=0xFFFFFFFE)), "lease"),
    "persistent": (replace(LICENCE, terms=Persistent()), "persistent"),
    "persistent limited": (replace(LICENCE, terms=Persistent(0xFFFFFFFE)), "persistentLimited"),
    "HDCP Type 1": (replace(LICENCE, hdcp_level=tags.HDCP_TYPE_1), None),
    "level Audio": (replace(LICENCE, security_level=tags.LEVEL_AUDIO), None),
    "level Main": (replace(LICENCE, security_level=tags.LEVEL_MAIN), None),
}


@pytest.mark.parametrize("name", GRANTED)
def test_what_is_granted_is_what_is_printed(name: str, server: LicenceServer, files: Files, version: int) -> None:
    licence, key_type = GRANTED[name]
    server.grant = always(licence)
    printed = granted(server, files, version)
    assert printed["contentKey"] == licence.content_key.hex()
    assert printed["contentIV"] == licence.content_iv.hex()
    assert printed["keyType"] == key_type
    if isinstance(licence.terms, Streaming):
        assert (printed["lease"], printed["rental"]) == (licence.terms.lease, licence.terms.rental)


KEPT: dict[str, tuple[OfflineKey, str]] = {
    "version 1": (OfflineKey(os.urandom(16), 600, 60), "offline-key"),
    "version 1 without an end": (OfflineKey(os.urandom(16)), "offline-key"),
    "version 2": (OfflineKey(os.urandom(16), 600, 60, os.urandom(16)), "offline-key-2"),
    "version 2 with one end": (OfflineKey(os.urandom(16), None, 60, os.urandom(16)), "offline-key,offline-key-2"),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_key_is_what_is_printed(name: str, server: LicenceServer, files: Files, version: int) -> None:
    key, capabilities = KEPT[name]
    server.grant = always(replace(LICENCE, terms=key))
    printed = granted(server, files, version, "--offline", "--capabilities", capabilities)["offlineKey"]
    assert server.targets == ["/fps/license?offline=1"]
    assert printed["version"] == key.version
    assert (printed["storage"], printed["playback"]) == (key.storage, key.playback)
    is_newer = key.title_id is not None
    assert printed["streamID" if is_newer else "contentID"] == key.identifier.hex()
    assert printed["titleID"] == (key.title_id.hex() if key.title_id else None)


TITLE_ID = os.urandom(16)
STREAM_IDS = [os.urandom(16) for _ in range(3)]
REPORTS: dict[str, list[str]] = {
    "version 1": ["--sync-version", "1", "--content-id", TITLE_ID.hex(), "--remaining", "60"],
    "version 2": ["--title-id", TITLE_ID.hex(), "--remaining", "86400"],
    "no end": ["--remaining", "never", "--challenge", "none"],
    "invalidation": [
        *("--sync", "invalidate", "--title-id", TITLE_ID.hex()),
        *(word for stream_id in STREAM_IDS for word in ("--stream-id", stream_id.hex())),
    ],
    "all, and not found": ["--sync", "invalidate-all", "--outcome", "not-found"],
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_what_the_server_reads(name: str, server: LicenceServer, files: Files, version: int) -> None:
    words = REPORTS[name]
    printed = granted(server, files, version, *words, command="sync")
    report = server.opened[0].sync_request
    assert report is not None
    is_newer = "--sync-version" not in words
    asks_for_challenge = is_newer and "--challenge" not in words
    assert server.targets == (["/fps/challenge"] if asks_for_challenge else []) + ["/fps/license"]
    assert printed["challengeAccepted"] == asks_for_challenge
    assert printed["offline-sync"]["version"] == (2 if is_newer else 1)
    if is_newer:
        flags = {flag for flag, is_set in printed["offline-sync"]["flags"].items() if is_set}
        asked = {"invalidate": "secure-invalidation", "invalidate-all": "secure-invalidation-all"}
        expected = {asked.get(words[1], "report"), "obj-not-found" if "not-found" in words else "success"}
        assert flags == expected | ({"title-id-valid"} if "--title-id" in words else set())
        records = [stream_id.hex() for stream_id in STREAM_IDS] if name == "invalidation" else []
        assert printed["offline-sync"]["invalidated-stream-ids"] == records


def test_a_renewal_keeps_its_session(server: LicenceServer, files: Files, version: int) -> None:
    first = granted(server, files, version)
    words = ("--playback-state", "renewal", "--session-id", first["sessionID"], "--device-id", first["deviceID"])
    assert granted(server, files, version, *words)["sessionID"] == first["sessionID"]
    ready, renewal = (opened.playback_state for opened in server.opened)
    assert ready is not None and renewal is not None
    assert (ready.state, renewal.state) == (tags.READY_TO_START, tags.LEASE_ABOUT_TO_EXPIRE)
    assert ready.session == renewal.session == int(first["sessionID"], 16)
    assert server.opened[0].device_id == server.opened[1].device_id == bytes.fromhex(first["deviceID"])


def test_the_request_says_what_was_asked(server: LicenceServer, files: Files, version: int) -> None:
    granted(server, files, version)
    assert struct.unpack_from(">II", server.messages[0]) == (version, 0)
    assert server.authorizations == [f"Bearer {TOKEN}"]
    assert server.opened[0].asset_id == ASSET_ID.encode()


def test_two_requests_share_no_secret(server: LicenceServer, files: Files, version: int) -> None:
    for _ in range(2):
        granted(server, files, version)
    first, second = server.opened
    for name in ("keys", "session_key", "r1", "anti_replay_seed"):
        assert getattr(first, name) != getattr(second, name), name
    # In version 3 the identifier of the transport stands there, and the vector is derived.
    assert (server.messages[0][8:24] != server.messages[1][8:24]) == (version != 3), "payload IV"


# --- Faults ----------------------------------------------------------------------------------------------------------

BlockEdit = Callable[[list[Block], OpenedSPC], list[Block]]


def replaced(tag: int, value: bytes) -> BlockEdit:
    """The value of one block replaced, with random padding as a server would add it."""
    padding = os.urandom(-len(value) % 16)
    return lambda blocks, opened: [Block(tag, value, padding) if block.tag == tag else block for block in blocks]


def edited(tag: int, edit: Callable[[bytes], bytes]) -> BlockEdit:
    return lambda blocks, opened: [
        replace(block, value=edit(block.value)) if block.tag == tag else block for block in blocks
    ]


def without(tag: int) -> BlockEdit:
    return lambda blocks, opened: [block for block in blocks if block.tag != tag]


def first_bit_flipped(value: bytes) -> bytes:
    return bytes([value[0] ^ 0x80]) + value[1:]


def without_last_echo(blocks: list[Block], opened: OpenedSPC) -> list[Block]:
    assert opened.return_request, "the device must ask for blocks, or echoes are not tested"
    return blocks[:-1]


def with_altered_echo(blocks: list[Block], opened: OpenedSPC) -> list[Block]:
    assert opened.return_request, "the device must ask for blocks, or echoes are not tested"
    return blocks[:-1] + [replace(blocks[-1], value=first_bit_flipped(blocks[-1].value or b"\x00"))]


BLOCK_FAULTS: dict[str, BlockEdit] = {
    "wrong R1": edited(tags.R1, first_bit_flipped),
    "R1 of 43 bytes": edited(tags.R1, lambda value: value[:43]),
    "no R1": without(tags.R1),
    "missing echo": without_last_echo,
    "altered echo": with_altered_echo,
    "content IV of 15 bytes": replaced(tags.ENCRYPTED_CONTENT_KEY, bytes(range(31))),
    "content IV of 17 bytes": replaced(tags.ENCRYPTED_CONTENT_KEY, bytes(range(33))),
    "no content key": without(tags.ENCRYPTED_CONTENT_KEY),
    "duplicate tag": lambda blocks, opened: [blocks[0], *blocks],
    "duplicate tag with another value": lambda blocks, opened: [Block(tags.R1, os.urandom(44), bytes(4)), *blocks],
    "duration of 12 bytes": replaced(tags.CONTENT_KEY_DURATION, bytes(12)),
    "HDCP of 8 bytes": replaced(tags.HDCP_ENFORCEMENT, struct.pack(">Q", tags.HDCP_TYPE_0)),
    "unknown HDCP level": replaced(tags.HDCP_ENFORCEMENT, bytes(range(16))),
    "unknown key type": replaced(tags.CONTENT_KEY_DURATION, struct.pack(">4I", 60, 60, 1, tags.DURATION_RESERVED_WORD)),
    "security level of 8 bytes": replaced(tags.REQUIRED_SECURITY_LEVEL, struct.pack(">Q", tags.LEVEL_MAIN)),
    "security level of version 2": replaced(tags.REQUIRED_SECURITY_LEVEL, struct.pack(">IIQ", 2, 0, tags.LEVEL_MAIN)),
    "offline key beside a duration": lambda blocks, opened: [
        Block(*OfflineKey(bytes(16), 60, 60).block()),
        *blocks,
    ],
    "offline key for a device that cannot read it": lambda blocks, opened: [
        Block(*OfflineKey(bytes(16), 60, 60).block()),
        *(block for block in blocks if block.tag != tags.CONTENT_KEY_DURATION),
    ],
}

CONTAINER_FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda message: b"",
    "version 2 without a session key for video": lambda message: struct.pack(">I", 2) + message[4:],
    "version 9": lambda message: struct.pack(">I", 9) + message[4:],
    "truncated": lambda message: message[:-16],
    "trailing byte": lambda message: message + b"\x00",
    "length too large": lambda message: message[:24] + b"\xff\xff\xff\xf0" + message[28:],
    "other initialization vector": lambda message: message[:8] + os.urandom(16) + message[24:],
}


def assert_refuses(server: LicenceServer, files: Files, version: int) -> None:
    finished = run_device(server, files, version, "--capabilities", "hdcp")
    assert not server.refusals, server.refusals
    # A negative status is a signal: a crash is no refusal.
    assert finished.returncode > 0, finished
    assert LICENCE.content_key.hex() not in finished.stdout
    assert finished.stderr.strip(), "a failure names what was wrong"


@pytest.mark.parametrize("name", BLOCK_FAULTS)
def test_a_wrong_block_is_refused(name: str, server: LicenceServer, files: Files, version: int) -> None:
    def seal(key_server: KeyServer, opened: OpenedSPC, licence: Licence) -> bytes:
        blocks = key_server.answer_blocks(opened, licence)
        faulty = BLOCK_FAULTS[name](blocks, opened)
        assert faulty != blocks
        return key_server.seal(opened, [aligned(block) for block in faulty])

    server.grant = always(LIMITED)
    server.seal = seal
    assert_refuses(server, files, version)


def aligned(block: Block) -> Block:
    """The block with as much padding as its value now needs; only the fault under test may be wrong."""
    missing = -(len(block.value) + len(block.padding)) % 16
    return replace(block, padding=block.padding + os.urandom(missing))


@pytest.mark.parametrize("name", CONTAINER_FAULTS)
def test_a_wrong_container_is_refused(name: str, server: LicenceServer, files: Files, version: int) -> None:
    server.seal = lambda key_server, opened, licence: CONTAINER_FAULTS[name](key_server.answer(opened, licence))
    assert_refuses(server, files, version)


@pytest.mark.parametrize("status", [403, 500])
def test_a_refusal_is_a_failure(status: int, server: LicenceServer, files: Files, version: int) -> None:
    server.status = status
    assert_refuses(server, files, version)

