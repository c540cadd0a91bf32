"""Opens Latchkey's own vectors (`Tests/Vectors`), which its simulated device made, with the Python implementation.

Both must agree on every value, on what each answer grants, on sync requests, and on which messages are refused with
which code.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.containers import VERSIONS, read_container
from fairplay_device.credentials import Credential
from fairplay_device.facts import (
    DeviceIdentity,
    DeviceInfo,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
    VMDeviceInfo,
)
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.license import License, OfflineKey
from fairplay_device.refusal import Refusal
from fairplay_device.spc import RequestSecrets
from fairplay_device.tllv import parse

VECTORS = Path(__file__).resolve().parents[1] / "Vectors"
HDCP_LEVELS = {tags.HDCP_NOT_REQUIRED: "none", tags.HDCP_TYPE_0: "type0", tags.HDCP_TYPE_1: "type1"}
SECURITY_LEVELS = {tags.LEVEL_AUDIO: "audio", tags.LEVEL_BASELINE: "baseline", tags.LEVEL_MAIN: "main"}
PLAYBACK_STATES = {tags.READY_TO_START: "readyToStart", tags.LEASE_ABOUT_TO_EXPIRE: "leaseExpiring"}
KEY_TYPES = {
    tags.LEASE_ONLY: "lease",
    tags.RENTAL_ONLY: "rental",
    tags.LEASE_AND_RENTAL: "leaseAndRental",
    tags.PERSISTENT: "persistent",
    tags.PERSISTENT_LIMITED: "persistentLimited",
}
GRANTED_MEMBERS = (
    *("contentKey", "contentIV", "keyType", "leaseSeconds", "rentalSeconds", "offlineKey", "hdcp", "securityLevel"),
)
STATUS_BY_CODE = {
    "body_empty": 400,
    "spc_is_certificate": 400,
    "spc_version_unsupported": 400,
    "spc_malformed": 400,
    "spc_certificate_unknown": 422,
    "spc_rejected": 422,
}


@dataclass(frozen=True)
class Vector:
    name: str
    content: dict[str, Any]

    @property
    def spc(self) -> bytes:
        return bytes.fromhex(self.content["spc"])

    @property
    def expected(self) -> Any:
        return self.content["expected"]

    @property
    def said(self) -> dict[str, Any]:
        """The expected members of the SPC."""
        return {name: value for name, value in self.expected.items() if name not in GRANTED_MEMBERS}

    @property
    def granted(self) -> dict[str, Any]:
        """The expected members of the CKC."""
        return {name: value for name, value in self.expected.items() if name in GRANTED_MEMBERS}

    @property
    def secrets(self) -> RequestSecrets:
        """The secrets that the device kept, from the vector's file and not from the SPC."""
        kept = self.content["secrets"]
        session_block = bytes.fromhex(kept["sessionBlock"])
        echoes = [parse(bytes.fromhex(echo)) for echo in kept["expectedEchoes"]]
        assert all(len(blocks) == 1 for blocks in echoes)
        capabilities = self.expected.get("capabilities")
        return RequestSecrets(
            session_key=session_block[:16],
            r1=session_block[36:80],
            anti_replay_seed=bytes.fromhex(kept["antiReplaySeed"]),
            echoes=tuple(blocks[0] for blocks in echoes),
            has_playback_state="playbackState" in self.expected,
            capabilities=None if capabilities is None else int(capabilities, 16),
        )


def read_vectors(folder: str) -> list[Vector]:
    return [Vector(path.stem, json.loads(path.read_text())) for path in sorted((VECTORS / folder).glob("*.json"))]


ANSWERED = read_vectors("answered")
SYNC = read_vectors("sync")
REFUSED = read_vectors("refused")


def read_private_key(bits: int) -> rsa.RSAPrivateKey:
    key = load_pem_private_key((VECTORS / f"credential/private-key-{bits}.pem").read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


@pytest.fixture(scope="module")
def key_server() -> KeyServer:
    folder = VECTORS / "credential"
    return key_server_for(
        Credential(
            certificate_1024=(folder / "certificate-1024.der").read_bytes(),
            certificate_2048=(folder / "certificate-2048.der").read_bytes(),
            application_secret=bytes.fromhex((folder / "application-secret.hex").read_text().strip()),
            private_key_1024=read_private_key(1024),
            private_key_2048=read_private_key(2048),
        )
    )


def present(members: dict[str, Any]) -> dict[str, Any]:
    """The members that have a value, because the files leave out the others."""
    return {name: value for name, value in members.items() if value is not None}


# --- Contents of an SPC ----------------------------------------------------------------------------------------------


def said(spc: bytes, opened: OpenedSPC) -> dict[str, Any]:
    """The members of `expected` about the SPC, with the values that this implementation reads."""
    container = read_container(spc)
    found = {block.tag: block.value for block in opened.blocks}
    indicator, state, deny_list = opened.streaming_indicator, opened.playback_state, opened.deny_list_version
    report = opened.security_level_report if isinstance(opened.security_level_report, SecurityLevelReport) else None
    return present(
        {
            "spcVersion": container.version,
            "certificateHash": container.certificate_hash.hex(),
            "assetID": opened.asset_id.hex(),
            "deviceID": opened.device_id.hex(),
            "transactionID": f"{opened.transaction_id:016x}",
            "protocolVersionUsed": int.from_bytes(found[tags.PROTOCOL_VERSION_USED], "big"),
            "protocolVersionsSupported": list(opened.protocol_versions_supported),
            "blockCount": len(opened.blocks),
            "streamingIndicator": None if indicator is None else f"{indicator:016x}",
            "capabilities": found[tags.CAPABILITIES][8:16].hex() if tags.CAPABILITIES in found else None,
            "denyListVersion": None if deny_list is None else deny_list.version,
            "playbackState": state and {
                "createdAt": state.creation_date,
                "state": PLAYBACK_STATES[state.state],
                "sessionID": f"{state.session:016x}",
            },
            "deviceIdentity": opened.device_identity and identity_members(opened.device_identity),
            "deviceInfo": opened.device_info and info_members(opened.device_info),
            "securityLevelReport": report and {
                "level": f"{report.level:016x}",
                "denyListVersion": report.deny_list_version,
            },
            "keyFormats": opened.key_formats and [f"{each:016x}" for each in opened.key_formats.formats],
            "virtualMachine": opened.vm_device_info and machine_members(opened.vm_device_info),
            "sync": opened.sync_request and sync_members(opened.sync_request),
        }
    )


def identity_members(identity: DeviceIdentity) -> dict[str, Any]:
    return {
        "version": identity.version,
        "deviceClass": identity.device_class,
        "vendorHash": identity.vendor_hash.hex(),
        "productHash": identity.product_hash.hex(),
        "systemFairPlayVersion": identity.open_part_version,
        "trustedFairPlayVersion": identity.trusted_part_version,
        "operatingSystem": f"{identity.system_version:08x}",
    }


def info_members(info: DeviceInfo) -> dict[str, Any]:
    return {"type": f"{info.device_type:016x}", "operatingSystem": f"{info.system_version:08x}"}


def machine_members(machine: VMDeviceInfo) -> dict[str, Any]:
    def members(device_class: int, system_version: int, protocol_version: int) -> dict[str, Any]:
        return {
            "deviceClass": device_class,
            "operatingSystem": f"{system_version:08x}",
            "protocolVersion": protocol_version,
        }

    return {
        "version": machine.version,
        "host": members(machine.host_class, machine.host_system_version, machine.host_protocol_version),
        "guest": members(machine.guest_class, machine.guest_system_version, machine.guest_protocol_version),
    }


def sync_members(request: SyncV1 | SyncV2) -> dict[str, Any]:
    members: dict[str, Any] = {"version": request.version, "secondsToExpiry": request.duration}
    if isinstance(request, SyncV1):
        return members | {"contentID": request.content_id.hex()}
    return members | {
        "challenge": f"{request.challenge:016x}",
        "flags": f"{request.flags:016x}",
        "titleID": request.title_id.hex(),
        "streamIDs": [each.hex() for each in request.stream_ids],
    }


@pytest.fixture(params=ANSWERED + SYNC, ids=[vector.name for vector in ANSWERED + SYNC])
def asked(request: pytest.FixtureRequest) -> Vector:
    """A vector of either kind, because both have an SPC and its secrets."""
    return request.param


def test_there_are_vectors_of_every_version_and_kind() -> None:
    assert len(ANSWERED) >= 12
    assert {vector.expected["spcVersion"] for vector in ANSWERED} == set(VERSIONS)
    assert {vector.expected["sync"]["version"] for vector in SYNC} == {1, 2}
    assert {vector.expected.get("keyType") for vector in ANSWERED} == {None, *KEY_TYPES.values()}
    assert {vector.expected.get("offlineKey", {}).get("version") for vector in ANSWERED} == {None, 1, 2}
    assert {vector.expected for vector in REFUSED} == set(STATUS_BY_CODE)


def test_the_spc_holds_the_secrets(asked: Vector, key_server: KeyServer) -> None:
    opened = key_server.open(asked.spc)
    kept = asked.content["secrets"]
    assert opened.keys is not None
    assert opened.keys.payload_key.hex() == kept["payloadKey"]
    assert (opened.keys.transport_key.hex() if opened.keys.mac_key else None) == kept.get("masterKey")
    assert (opened.session_key + opened.device_id + opened.r1 + opened.integrity).hex() == kept["sessionBlock"]
    assert opened.anti_replay_seed.hex() == kept["antiReplaySeed"]
    assert [block.encoded.hex() for block in opened.secrets.echoes] == kept["expectedEchoes"]


def test_the_spc_says_what_is_expected_and_nothing_else(asked: Vector, key_server: KeyServer) -> None:
    assert said(asked.spc, key_server.open(asked.spc)) == asked.said


# --- What a CKC grants -----------------------------------------------------------------------------------------------


def granted(opened: OpenedCKC) -> dict[str, Any]:
    """The members of `expected` about the CKC, with the values that this implementation reads."""
    duration, offline_key = opened.duration, opened.offline_key
    return present(
        {
            "contentKey": opened.content_key.hex(),
            "contentIV": opened.content_iv.hex(),
            "keyType": duration and KEY_TYPES[duration.key_type],
            "leaseSeconds": duration and duration.lease_field or None,
            "rentalSeconds": duration and duration.rental_field or None,
            "offlineKey": offline_key and offline_key_members(offline_key),
            "hdcp": HDCP_LEVELS.get(opened.hdcp_level),
            "securityLevel": SECURITY_LEVELS.get(opened.security_level),
        }
    )


def offline_key_members(offline_key: OfflineKey) -> dict[str, Any]:
    identifier = "contentID" if offline_key.title_id is None else "streamID"
    return present(
        {
            "version": offline_key.version,
            identifier: offline_key.identifier.hex(),
            "storageSeconds": offline_key.storage,
            "playbackSeconds": offline_key.playback,
            "titleID": offline_key.title_id and offline_key.title_id.hex(),
        }
    )


@pytest.fixture(params=ANSWERED, ids=[vector.name for vector in ANSWERED])
def answered(request: pytest.FixtureRequest) -> Vector:
    return request.param


def test_the_ckc_grants_what_is_expected_and_nothing_else(answered: Vector) -> None:
    assert granted(open_ckc(bytes.fromhex(answered.content["ckc"]), answered.secrets)) == answered.granted


def test_an_answer_of_our_own_opens_with_the_devices_secrets(answered: Vector, key_server: KeyServer) -> None:
    theirs = open_ckc(bytes.fromhex(answered.content["ckc"]), answered.secrets)
    license = License(theirs.content_key, theirs.content_iv, theirs.terms, theirs.hdcp_level, theirs.security_level)
    ours = open_ckc(key_server.answer(key_server.open(answered.spc), license), answered.secrets)
    assert granted(ours) == answered.granted


# --- Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", REFUSED, ids=[vector.name for vector in REFUSED])
def test_what_must_be_refused_is_refused(vector: Vector, key_server: KeyServer) -> None:
    with pytest.raises(Refusal) as refusal:
        key_server.open(vector.spc)
    assert (refusal.value.status, refusal.value.code) == (STATUS_BY_CODE[vector.expected], vector.expected)
