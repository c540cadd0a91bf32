"""What a packager sends and reads: builds and parses CPIX documents, and runs a daemon with packagers.

The documents follow the rules of SPEKE (packagers, section 1). `lxml` writes them, and they share no code with the
daemon's own reader.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import m3u8
from cryptography import x509
from cryptography.hazmat.primitives import hashes, padding, serialization
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from lxml import etree

from license_client import Answer, LicenseClient

VECTORS = Path(__file__).resolve().parents[1] / "Vectors" / "speke"

CPIX = "urn:dashif:org:cpix"
PSKC = "urn:ietf:params:xml:ns:keyprov:pskc"
ENC = "http://www.w3.org/2001/04/xmlenc#"
SIGNATURE = "http://www.w3.org/2000/09/xmldsig#"
SPEKE1 = "urn:aws:amazon:com:speke"
FAIRPLAY = UUID("94ce86fb-07ff-4f43-adb8-93d2fa968ca2")
WIDEVINE = UUID("edef8ba9-79d6-4ace-a3c8-27dcd51d21ed")
PLAYREADY = UUID("9a04f079-9840-4286-ab92-e65be0885f95")

PATHS = {"1.0": "/speke/v1.0/copyProtection", "2.0": "/speke/v2.0/copyProtection", "2.1": "/speke/v2.1/copyProtection"}
# The filters of AWS's presets (packagers, section 1.4).
FILTERS = {
    "VIDEO": ("VideoFilter", {}),
    "AUDIO": ("AudioFilter", {}),
    "SD": ("VideoFilter", {"maxPixels": "589824"}),
    "HD": ("VideoFilter", {"minPixels": "589825", "maxPixels": "2073600"}),
    "HD1": ("VideoFilter", {"minPixels": "589825", "maxPixels": "921600"}),
    "HD2": ("VideoFilter", {"minPixels": "921601", "maxPixels": "2073600"}),
    "SD+HD1": ("VideoFilter", {"maxPixels": "921600"}),
    "UHD": ("VideoFilter", {"minPixels": "2073601"}),
    "UHD1": ("VideoFilter", {"minPixels": "2073601", "maxPixels": "8847360"}),
    "UHD2": ("VideoFilter", {"minPixels": "8847361"}),
    "STEREO_AUDIO": ("AudioFilter", {"maxChannels": "2"}),
    "MULTICHANNEL_AUDIO": ("AudioFilter", {"minChannels": "3"}),
    "MULTICHANNEL_AUDIO_3_6": ("AudioFilter", {"minChannels": "3", "maxChannels": "6"}),
    "MULTICHANNEL_AUDIO_7": ("AudioFilter", {"minChannels": "7"}),
}


def vector(name: str) -> bytes:
    """A request of the vectors, with new key ids.

    The vectors share key ids, but a key may belong to only one content.
    """
    text = (VECTORS / f"{name}.xml").read_text()
    for kid in set(re.findall(r'\bkid="([^"]+)"', text)):
        text = text.replace(kid, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {kid.lower()}")))
    return text.encode()


def cpix_name(name: str) -> str:
    return f"{{{CPIX}}}{name}"


# --- Requests -------------------------------------------------------------------------------------------------------


@dataclass
class Request:
    """A SPEKE v2 document that requests a key for each track, with the signalling of each system."""

    tracks: Sequence[str] = ("VIDEO", "AUDIO")
    systems: Sequence[UUID] = (FAIRPLAY,)
    scheme: str = "cbcs"
    content: str = field(default_factory=lambda: f"movie-{secrets.token_hex(6)}")
    period: int | None = None
    version: str = "2.3"
    kids: Sequence[UUID] = ()

    def __post_init__(self) -> None:
        self.kids = self.kids or [uuid.uuid4() for _ in self.tracks]

    def root(self) -> etree._Element:
        root = etree.Element(cpix_name("CPIX"), nsmap={"cpix": CPIX, "pskc": PSKC})
        root.set("contentId", self.content)
        root.set("version", self.version)
        keys = etree.SubElement(root, cpix_name("ContentKeyList"))
        systems = etree.SubElement(root, cpix_name("DRMSystemList"))
        if self.period is not None:
            periods = etree.SubElement(root, cpix_name("ContentKeyPeriodList"))
            etree.SubElement(periods, cpix_name("ContentKeyPeriod"), id="p", index=str(self.period))
        rules = etree.SubElement(root, cpix_name("ContentKeyUsageRuleList"))
        for kid, track in zip(self.kids, self.tracks, strict=True):
            etree.SubElement(keys, cpix_name("ContentKey"), kid=str(kid), commonEncryptionScheme=self.scheme)
            for system in self.systems:
                self._add_system(systems, kid, system)
            rule = etree.SubElement(rules, cpix_name("ContentKeyUsageRule"), kid=str(kid), intendedTrackType=track)
            if self.period is not None:
                etree.SubElement(rule, cpix_name("KeyPeriodFilter"), periodId="p")
            if track == "ALL":
                etree.SubElement(rule, cpix_name("VideoFilter"))
                etree.SubElement(rule, cpix_name("AudioFilter"))
            else:
                name, attributes = FILTERS[track]
                etree.SubElement(rule, cpix_name(name), attributes)
        return root

    @staticmethod
    def _add_system(systems: etree._Element, kid: UUID, system: UUID) -> None:
        element = etree.SubElement(systems, cpix_name("DRMSystem"), kid=str(kid), systemId=str(system))
        etree.SubElement(element, cpix_name("PSSH"))
        etree.SubElement(element, cpix_name("ContentProtectionData"))
        for playlist in ("media", "master"):
            etree.SubElement(element, cpix_name("HLSSignalingData"), playlist=playlist)

    def document(self) -> bytes:
        return serialized(self.root())


def serialized(root: etree._Element) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


# --- Answers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    kid: UUID
    key: bytes
    iv: bytes | None


class Document:
    """An answer, or a request that an answer is compared with."""

    def __init__(self, body: bytes):
        self.root = etree.fromstring(body)

    def all(self, name: str) -> list[etree._Element]:
        return list(self.root.iter(cpix_name(name)))

    @property
    def keys(self) -> list[Key]:
        """The keys that are in the document in clear."""
        return [
            Key(
                UUID(element.get("kid")),
                base64.b64decode(
                    element.findtext(f"{cpix_name('Data')}/{{{PSKC}}}Secret/{{{PSKC}}}PlainValue"), validate=True
                ),
                base64.b64decode(element.get("explicitIV"), validate=True) if element.get("explicitIV") else None,
            )
            for element in self.all("ContentKey")
        ]

    def systems(self, system: UUID) -> list[etree._Element]:
        return [element for element in self.all("DRMSystem") if UUID(element.get("systemId")) == system]

    def urls(self) -> dict[UUID, str]:
        """The key URLs for FairPlay, as a reader of playlists finds them."""
        return {UUID(element.get("kid")): lines_of(element)[0]["uri"] for element in self.systems(FAIRPLAY)}


def decoded(element: etree._Element) -> str:
    return base64.b64decode(element.text, validate=True).decode("utf-8")


def lines_of(system: etree._Element) -> list[dict[str, str | None]]:
    """The attributes of the media line and of the session line of a system, as `m3u8` reads them."""
    found: dict[str, dict[str, str | None]] = {}
    for element in system.findall(cpix_name("HLSSignalingData")):
        line = decoded(element)
        if line.startswith("#EXT-X-KEY:METHOD"):
            playlist = m3u8.loads(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n{line}\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n")
            (key,) = [key for key in playlist.keys if key]
            name = "media"
        else:
            assert line.startswith("#EXT-X-SESSION-KEY:METHOD"), line
            playlist = m3u8.loads(f"#EXTM3U\n{line}\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n")
            (key,) = playlist.session_keys
            name = "session"
        # The document's name for the playlist must match the tag.
        assert (name == "media") == (element.get("playlist") == "media")
        assert name not in found
        found[name] = {part: getattr(key, part) for part in ("method", "uri", "iv", "keyformat", "keyformatversions")}
    assert set(found) == {"media", "session"}
    return [found["media"], found["session"]]


def opened(body: bytes) -> list[Key]:
    """The keys of an answer that is encrypted to the packager of the vectors: RSA-OAEP with SHA-1, AES-256-CBC with
    PKCS #7, HMAC-SHA-512 (packagers, section 1.5)."""
    private_key = serialization.load_der_private_key((VECTORS / "packager_key.der").read_bytes(), None)
    root = etree.fromstring(body)
    (delivery,) = root.iter(cpix_name("DeliveryData"))
    certificate = base64.b64decode(delivery.findtext(f".//{{{SIGNATURE}}}X509Certificate"))
    assert x509.load_der_x509_certificate(certificate).public_key() == private_key.public_key()
    assert delivery.find(cpix_name("DocumentKey")).get("Algorithm") == f"{ENC}aes256-cbc"
    method = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"
    assert delivery.find(cpix_name("MACMethod")).get("Algorithm") == method

    def unwrapped(path: str) -> bytes:
        value = delivery.find(f"{path}/{{{PSKC}}}EncryptedValue")
        assert value.find(f"{{{ENC}}}EncryptionMethod").get("Algorithm") == f"{ENC}rsa-oaep-mgf1p"
        ciphertext = base64.b64decode(value.findtext(f"{{{ENC}}}CipherData/{{{ENC}}}CipherValue"), validate=True)
        scheme = rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        return private_key.decrypt(ciphertext, scheme)

    document_key = unwrapped(f"{cpix_name('DocumentKey')}/{cpix_name('Data')}/{{{PSKC}}}Secret")
    mac_key = unwrapped(f"{cpix_name('MACMethod')}/{cpix_name('Key')}")
    assert (len(document_key), len(mac_key)) == (32, 64)
    keys = []
    for element in root.iter(cpix_name("ContentKey")):
        secret = element.find(f"{cpix_name('Data')}/{{{PSKC}}}Secret")
        assert secret.find(f"{{{PSKC}}}PlainValue") is None
        value = base64.b64decode(secret.findtext(f".//{{{ENC}}}CipherValue"), validate=True)
        code = base64.b64decode(secret.findtext(f"{{{PSKC}}}ValueMAC"), validate=True)
        assert hmac.compare_digest(code, hmac.new(mac_key, value, hashlib.sha512).digest())
        decryptor = Cipher(algorithms.AES(document_key), modes.CBC(value[:16])).decryptor()
        padded = decryptor.update(value[16:]) + decryptor.finalize()
        unpadder = padding.PKCS7(128).unpadder()
        key = unpadder.update(padded) + unpadder.finalize()
        keys.append(Key(UUID(element.get("kid")), key, base64.b64decode(element.get("explicitIV"), validate=True)))
    return keys


# --- A daemon with packagers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Credential:
    """The name and the secret of a packager in the configuration."""

    name: str
    secret: str

    @property
    def basic(self) -> str:
        return "Basic " + base64.b64encode(f"{self.name}:{self.secret}".encode()).decode()


class Packagers:
    """The packagers in the configuration of a set-up, each with its own secret."""

    def __init__(self) -> None:
        self.credentials: dict[str, Credential] = {}

    def write(self, setup: Path, *packagers: dict[str, object]) -> None:
        """Replaces the packager that `latchkey init` has configured.

        Each entry has a name and what differs from the defaults.
        """
        entries = []
        for packager in packagers:
            name = str(packager["name"])
            credential = Credential(name, secrets.token_hex(32))
            self.credentials[name] = credential
            file = setup / "secrets" / f"packager-{name}"
            file.write_text(credential.secret + "\n")
            file.chmod(0o600)
            entries.append({"secret": f"secrets/packager-{name}"} | packager)
        certificate = setup / "secrets" / "packager-certificate.pem"
        certificate.write_bytes((VECTORS / "packager_cert.pem").read_bytes())
        certificate.chmod(0o600)
        configuration = setup / "latchkey.json5"
        text, count = re.subn(r"packagers: \[.*\],", f"packagers: {json.dumps(entries)},", configuration.read_text())
        assert count == 1, "the set-up of `latchkey init` has a packager"
        configuration.write_text(text)


PINNED = ["secrets/packager-certificate.pem"]


class Packager:
    """One packager that sends requests to a daemon over HTTP/1.1."""

    def __init__(self, url: str, credential: Credential):
        self.client = LicenseClient(url)
        self.credential = credential

    def post(
        self, body: bytes, version: str = "2.0", path: str | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        fields = {"Authorization": self.credential.basic, "Content-Type": "application/xml"}
        if version != "1.0":
            fields["X-Speke-Version"] = version
        return self.client.send("POST", path or PATHS[version], body, fields | (headers or {}))

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Sends a request to `/v1/keys`."""
        fields = {"Authorization": self.credential.basic} | (headers or {})
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.send(method, path, data, fields)


def document(answer: Answer) -> Document:
    """Parses an answer with keys, after the checks of packagers, section 1.7, that hold for every answer."""
    assert answer.status == 200, f"{answer.status} {answer.body!r}"
    kind, _, parameter = (answer.header("Content-Type") or "").partition(";")
    assert kind.strip() == "application/xml" and parameter.strip().lower() in ("", "charset=utf-8")
    assert answer.header("Cache-Control") == "no-store"
    return Document(answer.body)
