"""Runs `latchkey device` as a process, and models the options of its command line.

`LATCHKEY_BIN` names the program.
"""

import json
import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    SecurityLevelReport,
    VMDeviceInfo,
)
from fairplay_device.key_server import OpenedSPC
from fairplay_device.license import License, OfflineKey, Persistent, Streaming
from license_policy import LEVELS

TIMEOUT_SECONDS = 30
CLOCK_SECONDS = 60
TOKEN = "any.token.will-do"
ASSET_ID = "interop-asset"
# The program's exit status if the requested action failed. A usage error has another status.
FAILURE = 1

CAPABILITIES = {
    "hdcp": tags.CAPABILITY_HDCP_TYPE_1,
    "offline-key": tags.CAPABILITY_OFFLINE_KEY,
    "secure-invalidation": tags.CAPABILITY_SECURE_INVALIDATION,
    "offline-key-2": tags.CAPABILITY_OFFLINE_KEY_V2,
    "baseline": tags.CAPABILITY_LEVEL_BASELINE,
    "main": tags.CAPABILITY_LEVEL_MAIN,
}
PLAYBACK_STATES = {
    "ready": tags.READY_TO_START,
    "playing": tags.PLAYING_OR_PAUSED,
    "renewal": tags.LEASE_ABOUT_TO_EXPIRE,
    "stopped": tags.PLAYBACK_STOPPED,
}
OUTPUTS = {"airplay": tags.STREAMING_TO_AIRPLAY, "adapter": tags.STREAMING_TO_AV_ADAPTER}
CLASSES = dict(
    zip(
        ("unknown", "living-room", "mobile", "desktop", "spatial", "wearable")
        + ("apple-unknown", "partner-living-room", "partner-unknown"),
        tags.DEVICE_CLASSES,
    )
)
TYPES = dict(zip(("mac", "tv", "ios", "watch"), tags.DEVICE_TYPES))
UNKNOWN_LEVEL = 0x0123456789ABCDEF
VIRTUAL_MACHINE = VMDeviceInfo(1, CLASSES["desktop"], 0x0F0000, 1, CLASSES["desktop"], 0x0F0000, 1)

KEY_TYPES = {(True, False): "lease", (False, True): "rental", (True, True): "leaseAndRental"}
HDCP_NAMES = {None: None, tags.HDCP_NOT_REQUIRED: "none", tags.HDCP_TYPE_0: "type0", tags.HDCP_TYPE_1: "type1"}
LEVEL_NAMES = {None: None} | {level: name for name, level in LEVELS.items()}


@dataclass(frozen=True)
class Statements:
    """What the device must report of itself. A member that is `None` is left out of its SPC, with the exceptions below.

    `session_id` and `device_id` are random if they are `None`. `streams_to` "local" is a new random number each time.
    Each of `identity` and `info` is a word and a system version of three numbers.
    """

    version: int = 1
    capabilities: tuple[str, ...] | None = tuple(CAPABILITIES)
    level: str | None = None
    deny_list_version: int | None = None
    playback_state: str | None = "ready"
    session_id: int | None = None
    device_id: bytes | None = None
    streams_to: str | None = None
    identity: tuple[str, tuple[int, int, int]] | None = None
    info: tuple[str, tuple[int, int, int]] | None = None
    is_virtual: bool = False
    offers_video_key: bool = False
    asset_id: bytes = ASSET_ID.encode()

    @property
    def arguments(self) -> list[str]:
        options = {
            "--spc-version": self.version,
            "--asset-id": f"hex:{self.asset_id.hex()}",
            "--security-level": self.level,
            "--deny-list": self.deny_list_version,
            "--playback-state": self.playback_state,
            "--session-id": None if self.session_id is None else f"{self.session_id:016x}",
            "--device-id": None if self.device_id is None else self.device_id.hex(),
            "--capabilities": None if self.capabilities is None else ",".join(self.capabilities) or "none",
            "--stream-to": self.streams_to,
            "--device-identity": _with_system(self.identity),
            "--device-info": _with_system(self.info),
        }
        flags = {
            "--no-capabilities": self.capabilities is None,
            "--no-playback-state": self.playback_state is None,
            "--virtual-machine": self.is_virtual,
            "--video-key": self.offers_video_key,
        }
        said = [text for name, value in options.items() if value is not None for text in (name, str(value))]
        return said + [name for name, is_set in flags.items() if is_set]

    def assert_read(self, opened: OpenedSPC) -> None:
        """Fails unless the Python key server has read exactly these statements."""
        assert opened.asset_id == self.asset_id
        assert opened.capabilities == self._capabilities
        assert opened.device_identity == self._identity
        assert opened.device_info == self._info
        assert opened.deny_list_version == self._deny_list
        assert opened.vm_device_info == (VIRTUAL_MACHINE if self.is_virtual else None)
        assert self.device_id in (None, opened.device_id)
        self._assert_level(opened)
        self._assert_playback(opened)
        present = {block.tag for block in opened.blocks}
        assert (tags.SESSION_KEY_AND_R1_VIDEO in present, tags.R2_VIDEO in present) == (self.offers_video_key,) * 2
        if self.streams_to == "local":
            assert opened.streaming_indicator not in (None, *OUTPUTS.values())
        else:
            assert opened.streaming_indicator == OUTPUTS.get(self.streams_to or "")

    @property
    def _capabilities(self) -> int | None:
        return None if self.capabilities is None else sum(CAPABILITIES[name] for name in set(self.capabilities))

    @property
    def _identity(self) -> DeviceIdentity | None:
        if self.identity is None:
            return None
        word, system = self.identity
        return DeviceIdentity(1, CLASSES[word], bytes(8), bytes(8), 0, 0, _system_version(system))

    @property
    def _info(self) -> DeviceInfo | None:
        return None if self.info is None else DeviceInfo(TYPES[self.info[0]], _system_version(self.info[1]))

    @property
    def _deny_list(self) -> DenyListVersion | None:
        return None if self.deny_list_version is None else DenyListVersion(self.deny_list_version)

    def _assert_level(self, opened: OpenedSPC) -> None:
        if self.level == "encrypted":
            assert isinstance(opened.security_level_report, EncryptedSecurityLevelReport)
        elif self.level is None:
            assert opened.security_level_report is None
        else:
            number = LEVELS[self.level] if self.level in LEVELS else int(self.level, 16)
            assert opened.security_level_report == SecurityLevelReport(number)

    def _assert_playback(self, opened: OpenedSPC) -> None:
        if self.playback_state is None:
            assert opened.playback_state is None
            return
        assert opened.playback_state is not None
        assert opened.playback_state.state == PLAYBACK_STATES[self.playback_state]
        assert self.session_id in (None, opened.playback_state.session)
        assert abs(opened.playback_state.creation_date - time.time()) < CLOCK_SECONDS


def random_statements(randomness: random.Random) -> Statements:
    """The statements of a random device, which often has many capabilities."""
    names = tuple(CAPABILITIES)
    some = tuple(randomness.sample(names, randomness.randrange(len(names) + 1)))
    without_2 = tuple(name for name in names if name != "offline-key-2")
    version = tuple(randomness.randrange(256) for _ in range(3))
    has_playback = randomness.random() < 0.7
    return Statements(
        version=randomness.choice([1, 2, 3]),
        capabilities=randomness.choice([names, names, without_2, without_2, some, None]),
        level=randomness.choice([None, None, None, "main", *LEVELS, "encrypted", f"{UNKNOWN_LEVEL:016x}"]),
        deny_list_version=randomness.choice([None, None, None, 0, 1, 30, 31]),
        playback_state=randomness.choice(list(PLAYBACK_STATES)) if has_playback else None,
        session_id=randomness.choice([None, randomness.getrandbits(64)]) if has_playback else None,
        device_id=randomness.choice([None, randomness.randbytes(20)]),
        streams_to=randomness.choice([None, "local", *OUTPUTS]),
        identity=randomness.choice([None, (randomness.choice(list(CLASSES)), version)]),
        info=randomness.choice([None, (randomness.choice(list(TYPES)), version)]),
        is_virtual=randomness.random() < 0.2,
        offers_video_key=randomness.random() < 0.2,
        asset_id=randomness.randbytes(randomness.choice([2, 16, 36, 200, 1024])),
    )


def _with_system(named: tuple[str, tuple[int, int, int]] | None) -> str | None:
    return None if named is None else f"{named[0]}:{'.'.join(map(str, named[1]))}"


def _system_version(numbers: tuple[int, int, int]) -> int:
    return int.from_bytes(bytes(numbers), "big")


# --- The program -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SwiftDevice:
    """The program, and the files of the credential that it reads. The bundle is used for both certificates."""

    certificates: dict[int, Path]
    bundle: Path
    application_secret: Path

    @classmethod
    def with_files_in(cls, folder: Path, credential: Credential) -> "SwiftDevice":
        certificates = {version: folder / f"certificate-{version}.der" for version in (1, 2, 3)}
        for version, file in certificates.items():
            file.write_bytes(credential.certificate(version))
        bundle = folder / "bundle.bin"
        bundle.write_bytes(credential.bundle)
        secret = folder / "application-secret.hex"
        secret.write_text(credential.application_secret.hex() + "\n")
        secret.chmod(0o600)
        return cls(certificates, bundle, secret)

    def request(
        self, url: str, statements: Statements, *, offline: bool = False, from_bundle: bool = False
    ) -> subprocess.CompletedProcess[str]:
        more = ["--offline"] if offline else []
        return self._run("request", statements, from_bundle, ["--url", url, "--token", TOKEN, *more])

    def sync(self, url: str, statements: Statements, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("sync", statements, False, ["--url", url, "--token", TOKEN, *arguments])

    def make_spc(
        self, output: Path, statements: Statements, *arguments: str, from_bundle: bool = False
    ) -> subprocess.CompletedProcess[str]:
        return self._run("make-spc", statements, from_bundle, ["--output", str(output), *arguments])

    def _run(
        self, command: str, statements: Statements, from_bundle: bool, arguments: list[str]
    ) -> subprocess.CompletedProcess[str]:
        certificate = self.bundle if from_bundle else self.certificates[statements.version]
        files = ["--certificate", str(certificate), "--application-secret", str(self.application_secret)]
        return subprocess.run(
            [os.environ["LATCHKEY_BIN"], "device", command, "--json", *files, *statements.arguments, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )


def printed(finished: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert finished.returncode == 0, (finished.returncode, finished.stdout, finished.stderr)
    return json.loads(finished.stdout)


def assert_prints(finished: subprocess.CompletedProcess[str], license: License, opened: OpenedSPC) -> None:
    """Fails unless the program printed the key, the IV, every member of the terms, and the ids that they belong to."""
    members = printed(finished)
    assert {name: members.get(name, "absent") for name in printed_license(license)} == printed_license(license)
    session = None if opened.playback_state is None else f"{opened.playback_state.session:016x}"
    assert (members["deviceID"], members["sessionID"]) == (opened.device_id.hex(), session)


def printed_license(license: License) -> dict[str, object]:
    """The members that the program must print for this license."""
    return {
        "contentKey": license.content_key.hex(),
        "contentIV": license.content_iv.hex(),
        **_printed_terms(license.terms),
        "hdcp": HDCP_NAMES[license.hdcp_level],
        "securityLevel": LEVEL_NAMES[license.security_level],
        "licenseVersion": 1,
        "sessionKeyVersion": None,
    }


def _printed_terms(terms: Streaming | Persistent | OfflineKey) -> dict[str, object]:
    nothing = {"keyType": None, "lease": None, "rental": None, "offlineKey": None}
    if isinstance(terms, Streaming):
        key_type = KEY_TYPES.get((terms.lease is not None, terms.rental is not None))
        return nothing | {"keyType": key_type, "lease": terms.lease, "rental": terms.rental}
    if isinstance(terms, Persistent):
        key_type = "persistent" if terms.storage is None else "persistentLimited"
        return nothing | {"keyType": key_type, "rental": terms.storage}
    is_first = terms.version == 1
    return nothing | {
        "offlineKey": {
            "version": terms.version,
            "contentID": terms.identifier.hex() if is_first else None,
            "streamID": None if is_first else terms.identifier.hex(),
            "titleID": None if terms.title_id is None else terms.title_id.hex(),
            "storage": terms.storage,
            "playback": terms.playback,
        }
    }


def assert_fails(finished: subprocess.CompletedProcess[str], *secrets: bytes) -> None:
    """Fails unless the program failed in the ordinary way. A crash does not pass.

    The program must give a reason, write nothing to standard output, and name no secret in its messages.
    """
    assert finished.returncode == FAILURE, (finished.returncode, finished.stderr)
    assert finished.stdout == ""
    assert finished.stderr.strip()
    for secret in secrets:
        assert secret.hex() not in finished.stderr.lower()
