"""Opens the public verification vectors, which are not part of this repository.

They are in the folder that `LATCHKEY_VECTORS` names (default `../shared/vectors`, relative to the repository root). The
fixed DASk of their development credential is read from that folder's README.
"""

import hashlib
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key

from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.containers import read_container
from fairplay_device.credentials import sha1
from fairplay_device.key_server import KeyServer, OpenedSPC
from fairplay_device.license import License, Streaming
from fairplay_device.session_keys import ckc_payload_key, unwrap_transport_key

REPOSITORY = Path(__file__).resolve().parents[2]
VECTORS = (REPOSITORY / (os.environ.get("LATCHKEY_VECTORS") or "../shared/vectors")).resolve()

pytestmark = pytest.mark.skipif(
    not (VECTORS / "README.md").is_file(), reason=f"no public vectors in {VECTORS} (LATCHKEY_VECTORS names the folder)"
)

R2 = "11f7be612ca95ef5e007ce51896ae4502ca3d8801b"
BINARY_ASSET_ID = bytes.fromhex("aabbccddeeff") * 3
QUICK_BROWN_FOX = b"TheQuickBrownFox"
ELEVENTH_IV = bytes.fromhex("d5fbd6b82ed93e4ef98ae40931ee33b7")
CONSTANT_CKC_IV = bytes.fromhex("01010101202020204040404080808080")
UNNAMED_CKC_TAG = 0xE6D0A3E72C92A4EF
LEASE_RETURN_REQUEST = (tags.ASSET_ID, tags.TRANSACTION_ID, tags.UNNAMED_IN_LEASE_REQUESTS)


@dataclass(frozen=True)
class Vector:
    """The expected contents of one SPC and of the CKC beside it."""

    name: str
    spc_size: int
    asset_id: bytes
    payload_key: str
    session_key: str
    ckc_key: str
    device_id: str
    r1: str
    integrity: str
    anti_replay_seed: str
    transaction_id: int
    streaming_indicator: int | None
    supported: tuple[int, ...]
    echo_count: int
    ckc_size: int
    content_key: bytes
    content_iv: bytes
    ckc_iv: bytes
    creation_date: int | None = None
    playback_session: int | None = None


VECTORS_BY_NAME = {
    vector.name: vector
    for vector in (
        Vector(
            name="FPS/1",
            spc_size=2864,
            asset_id=BINARY_ASSET_ID,
            payload_key="dd7139eafaceed7cda9f25da8aa915ea",
            session_key="afb46e7bf5f31596c1c676dc15e14dc6",
            ckc_key="cb0d802549396b9c8d636d5e64594cbe",
            device_id="d8551263737065d5e700d7b4a5ddfb4f8b194df1",
            r1="2752008e1c11e224e8eb07eec4a09d17440a6372d5dc2109e550ecac9860613f8b7a8be6b45a69832d9e8ce7",
            integrity="54a16be0137ef259ab3e4fc79690825f",
            anti_replay_seed="f3c69d1e8cc4275a6d3286d332613e13",
            transaction_id=0x1473E5CC53E1E5D6,
            streaming_indicator=None,
            supported=(1,),
            echo_count=7,
            ckc_size=796,
            content_key=b"\x3b" * 16,
            content_iv=ELEVENTH_IV,
            ckc_iv=bytes(16),
        ),
        Vector(
            name="FPS/2",
            spc_size=2160,
            asset_id=b"one",
            payload_key="3333c8c3bc52aa2eb0d94e0faa356b1b",
            session_key="a663ff9aa82c5915f24d652489febdde",
            ckc_key="368bc22bda69ca2198794c7490eada76",
            device_id="d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1="bbbb2262f75b87afde905fd2c516411d3f18c84b885feddbe082f4749c6fc224b9d7bbbbbbbbbbbbbbbbbbbb",
            integrity="11664fe96e8cb836aa2eb064e8656611",
            anti_replay_seed="2d9e8f2897c0c7a717e0955d3ceafa2d",
            transaction_id=0xDEADC0DEDEADC0DE,
            streaming_indicator=0x891DBF47C0E666AB,
            supported=(1,),
            echo_count=3,
            ckc_size=588,
            content_key=b"\x31" * 16,
            content_iv=QUICK_BROWN_FOX,
            ckc_iv=CONSTANT_CKC_IV,
        ),
        Vector(
            name="FPS/3",
            spc_size=4128,
            asset_id=BINARY_ASSET_ID,
            payload_key="dd7139eafaceed7cda9f25da8aa915ea",
            session_key="076fe16ccc49de38312476fd5bdf3ffb",
            ckc_key="1a75b7f644cc92d385bfa12c8afb37f4",
            device_id="d8551263737065d5e700d7b4a5ddfb4f8b194df1",
            r1="02225dfe75e8afe5fb761d00c37cf4258a9a7dbf0a8aef37269d736137c7227be04f3042275f95adf9226d8b",
            integrity="54a16be0137ef259ab3e4fc79690825f",
            anti_replay_seed="e0b4f262f76b546d85f622a6ff486cab",
            transaction_id=0x1473E5CC53E1E5D6,
            streaming_indicator=None,
            supported=(1,),
            echo_count=7,
            ckc_size=1132,
            content_key=b"\x3b" * 16,
            content_iv=ELEVENTH_IV,
            ckc_iv=bytes(16),
        ),
        Vector(
            name="FPS-Lease/1",
            spc_size=2208,
            asset_id=b"one",
            payload_key="3333c8c3bc52aa2eb0d94e0faa356b1b",
            session_key="a663ff9aa82c5915f24d652489febdde",
            ckc_key="e4c1c0ac4689609ea8f8109b230b1616",
            device_id="d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1="64b29aff9f0ee2e031f539311ff3a4ac58e42ce1653389f8e0616d5843abb41fef97882565d5f5110c8e39ca",
            integrity="829b4634855d657cfeac627e2d6d635a",
            anti_replay_seed="2d9e8f2897c0c7a717e0955d3ceafa2d",
            transaction_id=0x136B1A97A3D6B0FA,
            streaming_indicator=0xD94C0C9D19EE43B0,
            supported=(1, 2),
            echo_count=3,
            ckc_size=700,
            content_key=b"\x31" * 16,
            content_iv=QUICK_BROWN_FOX,
            ckc_iv=CONSTANT_CKC_IV,
            creation_date=1400716283,
            playback_session=0x3DE0DEF23F0CA33C,
        ),
        Vector(
            name="FPS-Lease/2",
            spc_size=2144,
            asset_id=b"one",
            payload_key="3333c8c3bc52aa2eb0d94e0faa356b1b",
            session_key="a663ff9aa82c5915f24d652489febdde",
            ckc_key="977f8c927854b9548fefd18a4bb6cc8f",
            device_id="d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1="f8b2cef4b40ca8fbf53090a3f920dde7c26bd6492c29b9bf89121d84c271bea891c6dcde15206c8f3111037b",
            integrity="9b8a873c18a209805fed9d95017476fd",
            anti_replay_seed="2d9e8f2897c0c7a717e0955d3ceafa2d",
            transaction_id=0xED82DF93E626CD3C,
            streaming_indicator=0x4150D4CFBAE8F8DA,
            supported=(1, 2),
            echo_count=3,
            ckc_size=604,
            content_key=b"\x31" * 16,
            content_iv=QUICK_BROWN_FOX,
            ckc_iv=CONSTANT_CKC_IV,
            creation_date=1400716321,
            playback_session=0xE1AB073F1E466727,
        ),
        Vector(
            name="FPS-Lease/3",
            spc_size=2832,
            asset_id=b"one",
            payload_key="3333c8c3bc52aa2eb0d94e0faa356b1b",
            session_key="a663ff9aa82c5915f24d652489febdde",
            ckc_key="169b89c560c778f61a495554ba3b2dba",
            device_id="d35e91a6b3163e47a9ec65fd3d59bac672d0ac7e",
            r1="92bd7fa961afeb07a4a970302ef2c070fe3b1556b513099d04e261e034261d16d8783a6e319c287eecbb4d71",
            integrity="7d294e468a7a1fb2e72360b0739ab3e2",
            anti_replay_seed="2d9e8f2897c0c7a717e0955d3ceafa2d",
            transaction_id=0x4149C02970B511AE,
            streaming_indicator=0xDF14AA97B9C005F0,
            supported=(1, 2),
            echo_count=3,
            ckc_size=588,
            content_key=b"\x31" * 16,
            content_iv=QUICK_BROWN_FOX,
            ckc_iv=CONSTANT_CKC_IV,
            creation_date=1400716353,
            playback_session=0x2015E6D48E938B99,
        ),
    )
}


@pytest.fixture(scope="module")
def key_server() -> KeyServer:
    """A key server with the development credential, whose device key is fixed."""
    private_key = load_der_private_key((VECTORS / "dev_private_key.der").read_bytes(), None)
    known_hash = sha1((VECTORS / "dev_certificate.der").read_bytes())
    found = re.search(r"fixed DASk .([0-9a-f]{32})", (VECTORS / "README.md").read_text())
    assert found, "the folder's README names no fixed DASk"

    def unwrap(spc_version: int, certificate_hash: bytes, wrapped_key: bytes) -> bytes:
        if (spc_version, certificate_hash) != (1, known_hash):
            raise KeyError(certificate_hash)
        return unwrap_transport_key(1, private_key, wrapped_key)

    return KeyServer(unwrap, fixed_device_key=bytes.fromhex(found[1]))


@pytest.fixture(params=VECTORS_BY_NAME.values(), ids=VECTORS_BY_NAME.keys())
def vector(request: pytest.FixtureRequest) -> Vector:
    return request.param


def read_message(vector: Vector, kind: str) -> bytes:
    folder, number = vector.name.split("/")
    return (VECTORS / folder / f"{kind}{number}.bin").read_bytes()


@pytest.fixture
def spc(vector: Vector, key_server: KeyServer) -> OpenedSPC:
    return key_server.open(read_message(vector, "spc"))


@pytest.fixture
def sample_ckc(vector: Vector, spc: OpenedSPC) -> OpenedCKC:
    """Opens Apple's sample answer.

    It is not opened strictly, because its padding is constant and its reserved word is zero.
    """
    return open_ckc(read_message(vector, "ckc"), spc.secrets, strict=False)


def test_the_credential_is_the_published_one() -> None:
    assert sha1((VECTORS / "dev_certificate.der").read_bytes()).hex() == "5561980aa51f03aa04bca24556c841a71736c771"


def test_the_container_is_version_1(vector: Vector) -> None:
    message = read_message(vector, "spc")
    assert len(message) == vector.spc_size
    assert read_container(message).version == 1


def test_the_spc_holds_the_published_keys(vector: Vector, spc: OpenedSPC) -> None:
    assert spc.keys is not None
    assert spc.keys.payload_key.hex() == vector.payload_key
    assert spc.session_key.hex() == vector.session_key
    assert spc.device_id.hex() == vector.device_id
    assert spc.r1.hex() == vector.r1
    assert spc.r2.hex() == R2
    assert spc.integrity.hex() == vector.integrity
    assert spc.anti_replay_seed.hex() == vector.anti_replay_seed
    assert ckc_payload_key(spc.r1, spc.anti_replay_seed).hex() == vector.ckc_key


def test_the_spc_says_what_is_published(vector: Vector, spc: OpenedSPC) -> None:
    assert spc.asset_id == vector.asset_id
    assert spc.transaction_id == vector.transaction_id
    assert spc.streaming_indicator == vector.streaming_indicator
    assert spc.protocol_versions_supported == vector.supported
    assert len(spc.return_request) == vector.echo_count
    if vector.creation_date is None:
        assert spc.playback_state is None
    else:
        assert spc.playback_state is not None
        assert spc.playback_state.creation_date == vector.creation_date
        assert spc.playback_state.state == tags.READY_TO_START
        assert spc.playback_state.session == vector.playback_session
        assert spc.return_request == LEASE_RETURN_REQUEST


@pytest.mark.parametrize(("name", "block_count"), [("FPS/1", 26), ("FPS/3", 36)])
def test_unknown_blocks_are_kept(name: str, block_count: int, key_server: KeyServer) -> None:
    blocks = key_server.open(read_message(VECTORS_BY_NAME[name], "spc")).blocks
    assert len(blocks) == block_count
    assert len([block for block in blocks if block.tag not in tags.REQUIRED_IN_SPC]) == block_count - 9


def test_a_zero_length_value_may_have_a_block(key_server: KeyServer) -> None:
    blocks = key_server.open(read_message(VECTORS_BY_NAME["FPS/1"], "spc")).blocks
    empty = next(block for block in blocks if block.tag == 0xE03F762BA84CC8E0)
    assert (empty.value, len(empty.padding)) == (b"", 16)


def test_the_sample_ckc_grants_the_published_key(vector: Vector, sample_ckc: OpenedCKC) -> None:
    assert len(read_message(vector, "ckc")) == vector.ckc_size
    assert sample_ckc.content_key == vector.content_key
    assert sample_ckc.content_iv == vector.content_iv
    assert sample_ckc.initialization_vector == vector.ckc_iv


def test_the_sample_ckc_has_its_blocks_in_the_published_order(
    vector: Vector, spc: OpenedSPC, sample_ckc: OpenedCKC
) -> None:
    order = [tags.ENCRYPTED_CONTENT_KEY, tags.R1]
    order += [UNNAMED_CKC_TAG] if vector.name in ("FPS/1", "FPS/3") else []
    order += spc.return_request
    order += [tags.CONTENT_KEY_DURATION] if vector.creation_date else []
    assert [block.tag for block in sample_ckc.blocks] == order


def test_the_sample_ckc_has_the_published_duration(vector: Vector, sample_ckc: OpenedCKC) -> None:
    duration = sample_ckc.duration
    if vector.creation_date is None:
        assert duration is None
    else:
        assert duration is not None
        assert (duration.lease_field, duration.rental_field) == (120, 0)
        assert (duration.key_type, duration.reserved) == (tags.LEASE_ONLY, 0)


def test_our_own_answer_opens_strictly(vector: Vector, spc: OpenedSPC, key_server: KeyServer) -> None:
    lease = 120 if spc.playback_state else None
    license = License(vector.content_key, vector.content_iv, Streaming(lease), hdcp_level=tags.HDCP_TYPE_0)
    opened = open_ckc(key_server.answer(spc, license), spc.secrets)
    assert (opened.content_key, opened.content_iv) == (vector.content_key, vector.content_iv)
    assert opened.terms == license.terms


def test_the_swift_device_accepts_apples_answer(vector: Vector, spc: OpenedSPC, tmp_path: Path) -> None:
    """`latchkey ckc inspect --secrets` must accept these CKCs, because devices accept them."""
    if "LATCHKEY_BIN" not in os.environ:
        pytest.skip("LATCHKEY_BIN names no latchkey program")
    assert spc.keys is not None
    session_block = spc.session_key + spc.device_id + spc.r1 + spc.integrity
    secrets_file = {
        "format": "latchkey-request-secrets-1",
        "spcSHA256": hashlib.sha256(read_message(vector, "spc")).hexdigest(),
        "wrappedKey": spc.keys.payload_key.hex(),
        "sessionBlock": session_block.hex(),
        "videoSessionBlock": None,
        "antiReplaySeed": spc.anti_replay_seed.hex(),
        "expectedEchoes": [block.encoded.hex() for block in spc.secrets.echoes],
        "hasPlaybackState": spc.playback_state is not None,
        "capabilities": None,
        "offersVideoSessionKey": False,
    }
    secrets_path = tmp_path / "secrets"
    secrets_path.write_text(json.dumps(secrets_file))
    folder, number = vector.name.split("/")
    finished = subprocess.run(
        [
            os.environ["LATCHKEY_BIN"], "ckc", "inspect", str(VECTORS / folder / f"ckc{number}.bin"),
            "--secrets", str(secrets_path), "--json",
        ],
        capture_output=True, text=True, timeout=30,
    )
    assert finished.returncode == 0, finished.stderr
    license = json.loads(finished.stdout)["license"]
    assert (license["contentKey"], license["contentIV"]) == (vector.content_key.hex(), vector.content_iv.hex())
    assert license["lease"] == (None if vector.creation_date is None else 120)
    assert any("e6d0a3e72c92a4ef" in remark for remark in license["remarks"]) == (vector.name in ("FPS/1", "FPS/3"))
