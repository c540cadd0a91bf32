"""Opens Latchkey's own vectors (`Tests/Vectors`), which its simulated device made, with the implementation here.

The two must agree on every value, on what each answer grants, and on what is refused and how.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from fairplay_device import tags
from fairplay_device.ckc import open_ckc
from fairplay_device.containers import read_container
from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.licence import Licence, Streaming
from fairplay_device.refusal import Refusal
from fairplay_device.spc import RequestSecrets
from fairplay_device.tllv import parse

VECTORS = Path(__file__).resolve().parents[1] / "Vectors"
HDCP_LEVELS = {"none": tags.HDCP_NOT_REQUIRED, "type0": tags.HDCP_TYPE_0, "type1": tags.HDCP_TYPE_1}
PLAYBACK_STATES = {"readyToStart": tags.READY_TO_START, "leaseExpiring": tags.LEASE_ABOUT_TO_EXPIRE}
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
    def secrets(self) -> RequestSecrets:
        """What the device kept, as the file has it and not as the SPC does."""
        kept = self.content["secrets"]
        session_block = bytes.fromhex(kept["sessionBlock"])
        echoes = [parse(bytes.fromhex(echo)) for echo in kept["expectedEchoes"]]
        assert all(len(blocks) == 1 for blocks in echoes)
        return RequestSecrets(
            session_key=session_block[:16],
            r1=session_block[36:80],
            anti_replay_seed=bytes.fromhex(kept["antiReplaySeed"]),
            echoes=tuple(blocks[0] for blocks in echoes),
            has_playback_state="playbackState" in self.expected,
        )


def read_vectors(folder: str) -> list[Vector]:
    return [Vector(path.stem, json.loads(path.read_text())) for path in sorted((VECTORS / folder).glob("*.json"))]


ANSWERED = read_vectors("answered")
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


@pytest.fixture(params=ANSWERED, ids=[vector.name for vector in ANSWERED])
def vector(request: pytest.FixtureRequest) -> Vector:
    return request.param


@pytest.fixture
def opened(vector: Vector, key_server: KeyServer) -> OpenedSPC:
    return key_server.open(vector.spc)


def test_there_are_vectors_of_both_versions() -> None:
    assert len(ANSWERED) >= 12
    assert {vector.expected["spcVersion"] for vector in ANSWERED} == {1, 2}
    assert {vector.expected for vector in REFUSED} == set(STATUS_BY_CODE)


def test_the_spc_holds_the_secrets(vector: Vector, opened: OpenedSPC) -> None:
    kept = vector.content["secrets"]
    assert opened.keys is not None
    assert opened.keys.payload_key.hex() == kept["payloadKey"]
    assert (opened.session_key + opened.device_id + opened.r1 + opened.integrity).hex() == kept["sessionBlock"]
    assert opened.anti_replay_seed.hex() == kept["antiReplaySeed"]
    assert [block.encoded.hex() for block in opened.secrets.echoes] == kept["expectedEchoes"]


def test_the_spc_says_what_is_expected(vector: Vector, opened: OpenedSPC) -> None:
    expected = vector.expected
    container = read_container(vector.spc)
    assert container.version == expected["spcVersion"]
    assert container.certificate_hash.hex() == expected["certificateHash"]
    assert opened.asset_id.hex() == expected["assetID"]
    assert opened.device_id.hex() == expected["deviceID"]
    assert f"{opened.transaction_id:016x}" == expected["transactionID"]
    assert list(opened.protocol_versions_supported) == expected["protocolVersionsSupported"]
    assert len(opened.blocks) == expected["blockCount"]
    indicator = opened.streaming_indicator
    assert (None if indicator is None else f"{indicator:016x}") == expected.get("streamingIndicator")
    found = {block.tag: block.value for block in opened.blocks}
    capabilities = found.get(tags.CAPABILITIES)
    assert (None if capabilities is None else capabilities[8:16].hex()) == expected.get("capabilities")
    assert int.from_bytes(found[tags.PROTOCOL_VERSION_USED], "big") == expected["protocolVersionUsed"]


def test_the_playback_state_is_the_expected_one(vector: Vector, opened: OpenedSPC) -> None:
    expected = vector.expected.get("playbackState")
    state = opened.playback_state
    if expected is None:
        assert state is None
        return
    assert state is not None
    assert state.creation_date == expected["createdAt"]
    assert state.state == PLAYBACK_STATES[expected["state"]]
    assert f"{state.session:016x}" == expected["sessionID"]


def test_the_ckc_grants_what_is_expected(vector: Vector) -> None:
    granted = open_ckc(bytes.fromhex(vector.content["ckc"]), vector.secrets)
    expected = vector.expected
    assert granted.content_key.hex() == expected["contentKey"]
    assert granted.content_iv.hex() == expected["contentIV"]
    duration = granted.duration
    assert (duration.lease_seconds if duration else None) == expected.get("leaseSeconds")
    assert (duration.rental_seconds if duration else None) == expected.get("rentalSeconds")
    assert granted.hdcp_level == (HDCP_LEVELS[expected["hdcp"]] if "hdcp" in expected else None)


def test_an_answer_of_our_own_opens_with_the_devices_secrets(
    vector: Vector, opened: OpenedSPC, key_server: KeyServer
) -> None:
    expected = vector.expected
    licence = Licence(
        bytes.fromhex(expected["contentKey"]),
        bytes.fromhex(expected["contentIV"]),
        Streaming(expected.get("leaseSeconds"), expected.get("rentalSeconds")),
    )
    granted = open_ckc(key_server.answer(opened, licence), vector.secrets)
    assert granted.content_key == licence.content_key
    assert granted.content_iv == licence.content_iv


@pytest.mark.parametrize("vector", REFUSED, ids=[vector.name for vector in REFUSED])
def test_what_must_be_refused_is_refused(vector: Vector, key_server: KeyServer) -> None:
    with pytest.raises(Refusal) as refusal:
        replace(key_server, served_versions=(1, 2)).open(vector.spc)
    assert (refusal.value.status, refusal.value.code) == (STATUS_BY_CODE[vector.expected], vector.expected)
