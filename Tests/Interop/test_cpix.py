"""Reads Latchkey's answers to packagers (`Tests/Vectors/speke/answers`) with other implementations.

These are PyPI's `cpix` and its copy of the CPIX schema, `lxml`, `m3u8`, and `cryptography` for encrypted keys. No
daemon is needed: a Swift test (`AnswerVectorTests`) checks that the daemon still gives these answers.
"""

import base64
import struct
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import cpix
import m3u8
import pytest
from lxml import etree

from packagers import opened

REQUESTS = Path(__file__).resolve().parents[1] / "Vectors" / "speke"
ANSWERS = REQUESTS / "answers"
NAMES = sorted(path.stem for path in ANSWERS.glob("*.xml"))
ENCRYPTED = "v2_vod_fairplay_encrypted_delivery"
ALL_SYSTEMS = "v2_all_systems"
VERSION_1 = ["v1_live_fairplay_period7_iv", "v1_vod_fairplay"]

CPIX = "{urn:dashif:org:cpix}"
PSKC = "{urn:ietf:params:xml:ns:keyprov:pskc}"
SPEKE = "{urn:aws:amazon:com:speke}"
FAIRPLAY = UUID("94ce86fb-07ff-4f43-adb8-93d2fa968ca2")
WIDEVINE = UUID("edef8ba9-79d6-4ace-a3c8-27dcd51d21ed")
PLAYREADY = UUID("9a04f079-9840-4286-ab92-e65be0885f95")


def key_of(kid: UUID) -> bytes:
    """The key that the vectors use for a key id: each byte plus one."""
    return bytes((byte + 1) & 0xFF for byte in kid.bytes)


def iv_of(kid: UUID, requested: str | None) -> bytes:
    """The requested IV, or else the byte 0xA5 followed by the reversed key id without its first byte."""
    return base64.b64decode(requested) if requested else b"\xa5" + kid.bytes[:0:-1]


@dataclass(frozen=True)
class Document:
    root: etree._Element

    @classmethod
    def read(cls, path: Path) -> "Document":
        return cls(etree.fromstring(path.read_bytes()))

    @property
    def keys(self) -> list[etree._Element]:
        return self.root.findall(f"{CPIX}ContentKeyList/{CPIX}ContentKey")

    @property
    def systems(self) -> list[etree._Element]:
        return self.root.findall(f"{CPIX}DRMSystemList/{CPIX}DRMSystem")


@pytest.fixture(scope="module")
def schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(str(Path(cpix.__file__).parent / "schema" / "cpix.xsd")))


def decoded(element: etree._Element) -> str:
    return base64.b64decode(element.text, validate=True).decode("utf-8")


def line_of(element: etree._Element) -> tuple[str, dict[str, str | None]]:
    """The tag and the attributes of an `HLSSignalingData`, as m3u8 reads them in a playlist."""
    line = decoded(element)
    if line.startswith("#EXT-X-KEY:"):
        playlist = m3u8.loads(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n{line}\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n")
        (key,) = [key for key in playlist.keys if key]
        tag = "key"
    else:
        playlist = m3u8.loads(f"#EXTM3U\n{line}\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n")
        (key,) = playlist.session_keys
        tag = "session-key"
    return tag, {
        name: getattr(key, name) for name in ("method", "uri", "iv", "keyformat", "keyformatversions")
    }


def test_there_is_an_answer_to_every_good_request() -> None:
    good = {path.stem for path in REQUESTS.glob("*.xml") if not path.stem.startswith("neg_")}
    assert set(NAMES) == good | {ALL_SYSTEMS}


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_finds_nothing_in_an_answer_that_the_request_does_not_have(
    schema: etree.XMLSchema, name: str
) -> None:
    """The package's schema lacks `commonEncryptionScheme` and `multiVariant`, which requests use."""
    schema.validate(Document.read(ANSWERS / f"{name}.xml").root)
    found = {entry.message for entry in schema.error_log}
    if name == ALL_SYSTEMS:
        known = {message for message in found if "'commonEncryptionScheme' is not allowed" in message}
    else:
        schema.validate(Document.read(REQUESTS / f"{name}.xml").root)
        known = {entry.message for entry in schema.error_log}
    assert found <= known
    if name == "v1_vod_fairplay":
        assert not found


@pytest.mark.parametrize("name", NAMES)
def test_another_reader_finds_every_key(name: str) -> None:
    document = Document.read(ANSWERS / f"{name}.xml")
    asked = {key.get("kid"): key.get("explicitIV") for key in Document.read(REQUESTS / f"{name}.xml").keys} if (
        name != ALL_SYSTEMS
    ) else {}
    # This reader accepts either a period's times or its index. SPEKE v2.1 sends both.
    for period in document.root.iter(f"{CPIX}ContentKeyPeriod"):
        period.attrib.pop("start", None)
        period.attrib.pop("end", None)
    parsed = cpix.parse(etree.tostring(document.root))
    assert len(list(parsed.content_keys)) == len(document.keys) > 0
    for key in parsed.content_keys:
        iv = base64.b64decode(key.explicit_iv)
        assert iv == iv_of(key.kid, asked.get(str(key.kid)))
        if name == ENCRYPTED:
            assert len(base64.b64decode(key.cek)) == 48
        else:
            assert base64.b64decode(key.cek) == key_of(key.kid)
        assert base64.b64decode(key.cek)[:16] != iv
    if name not in VERSION_1:
        assert parsed.content_id == "movie-001"
        assert {key.common_encryption_scheme for key in parsed.content_keys} == {"cbcs"}
        assert len(list(parsed.usage_rules)) == len(document.keys)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in VERSION_1])
def test_a_playlist_reader_finds_each_key_url(name: str) -> None:
    document = Document.read(ANSWERS / f"{name}.xml")
    urls = set()
    for system in document.systems:
        if UUID(system.get("systemId")) != FAIRPLAY:
            continue
        lines = [line_of(element) for element in system.findall(f"{CPIX}HLSSignalingData")]
        assert [tag for tag, _ in lines] == ["key", "session-key"]
        assert lines[0][1] == lines[1][1]
        assert lines[0][1] == {
            "method": "SAMPLE-AES",
            "uri": f"skd://{system.get('kid').lower()}",
            "iv": None,
            "keyformat": "com.apple.streamingkeydelivery",
            "keyformatversions": "1",
        }
        urls.add(lines[0][1]["uri"])
    assert len(urls) == len(document.keys)


@pytest.mark.parametrize("name", VERSION_1)
def test_version_1_signals_fairplay(name: str) -> None:
    (system,) = Document.read(ANSWERS / f"{name}.xml").systems
    assert decoded(system.find(f"{CPIX}URIExtXKey")) == f"skd://{system.get('kid')}"
    assert decoded(system.find(f"{SPEKE}KeyFormat")) == "com.apple.streamingkeydelivery"
    assert decoded(system.find(f"{SPEKE}KeyFormatVersions")) == "1"


def test_other_systems_are_signalled() -> None:
    """Parses the boxes with `struct`, and the PlayReady header as XML."""
    document = Document.read(ANSWERS / f"{ALL_SYSTEMS}.xml")
    seen = set()
    for system in document.systems:
        identifier, kid = UUID(system.get("systemId")), UUID(system.get("kid"))
        if identifier == FAIRPLAY:
            assert system.find(f"{CPIX}PSSH") is None
            continue
        box = base64.b64decode(system.find(f"{CPIX}PSSH").text, validate=True)
        size, kind, version, owner, count = struct.unpack(">I4sI16sI", box[:32])
        assert (size, kind, version, UUID(bytes=owner), count) == (len(box), b"pssh", 0, identifier, len(box) - 32)
        protection = etree.fromstring(f"<r>{decoded(system.find(f'{CPIX}ContentProtectionData'))}</r>")
        assert protection.findtext("{urn:mpeg:cenc:2013}pssh") == system.find(f"{CPIX}PSSH").text
        if identifier == WIDEVINE:
            assert box[32:50] == b"\x12\x10" + kid.bytes
        else:
            header = playready_header(box[32:])
            (key,) = header.iter("{http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader}KID")
            assert key.get("ALGID") == "AESCBC"
            assert UUID(bytes_le=base64.b64decode(key.get("VALUE"))) == kid
            assert base64.b64decode(protection.findtext("{urn:microsoft:playready}pro")) == box[32:]
        seen.add((identifier, kid))
    assert len(seen) == 2 * len(document.keys)


def playready_header(data: bytes) -> etree._Element:
    length, records, kind, size = struct.unpack("<IHHH", data[:10])
    assert (length, records, kind, size) == (len(data), 1, 1, len(data) - 10)
    return etree.fromstring(data[10:].decode("utf-16-le"))


def test_the_recipient_opens_encrypted_keys() -> None:
    """Decrypts the keys with `cryptography` and the standard library."""
    keys = opened((ANSWERS / f"{ENCRYPTED}.xml").read_bytes())
    assert len(keys) == 2
    for key in keys:
        assert key.key == key_of(key.kid)
        assert key.key != key.iv
