"""An encryptor that gets its keys by SPEKE v2: makes CPIX documents, sends them, and reads the answers."""

import base64
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import m3u8

from keys import Key
from license_client import Answer, LicenseClient

PATH = "/speke/v2.0/copyProtection"
KEYS_PATH = "/v1/keys"
VERSION = "2.0"
FAIRPLAY = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
CPIX = "{urn:dashif:org:cpix}"
PSKC = "{urn:ietf:params:xml:ns:keyprov:pskc}"
FILTERS = {"VIDEO": "VideoFilter", "AUDIO": "AudioFilter"}


@dataclass(frozen=True)
class Encryptor:
    """A packager of the configuration, with its password."""

    name: str
    secret: str = field(repr=False)

    @classmethod
    def of(cls, setup: Path) -> "Encryptor":
        """The packager that `latchkey init` makes."""
        return cls("development", (setup / "secrets" / "packager").read_text().strip())

    def ask(self, client: LicenseClient, document: str, version: str = VERSION) -> Answer:
        """The answer to a document, sent as a cloud encryptor sends it."""
        headers = {"Content-Type": "application/xml", "X-Speke-Version": version}
        return client.send("POST", PATH, document.encode(), headers | self._authorization)

    @property
    def _authorization(self) -> dict[str, str]:
        credential = base64.b64encode(f"{self.name}:{self.secret}".encode()).decode()
        return {"Authorization": f"Basic {credential}"}

    def export(
        self, client: LicenseClient, content: str, form: str, *, period: int, track: str | None = None
    ) -> bytes:
        """The keys of a period in the format of a packager without SPEKE."""
        query = {"format": form, "period": str(period)} | ({"track": track} if track else {})
        answer = client.send("GET", f"{KEYS_PATH}/{quote(content)}?{urlencode(query)}", headers=self._authorization)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.body

    def keys(self, client: LicenseClient, content: str, period: int, key_ids: dict[str, uuid.UUID]) -> dict[str, Key]:
        """The keys of one period, by track. The encryptor chooses the key ids."""
        answer = self.ask(client, document(content, period, key_ids))
        assert answer.status == 200, (answer.status, answer.body)
        assert answer.header("X-Speke-Version") == VERSION
        return read(answer.body, content, key_ids)


def document(content: str, period: int, key_ids: dict[str, uuid.UUID]) -> str:
    """The request for the keys of one period of live content."""
    keys = "".join(f'<cpix:ContentKey kid="{key_id}" commonEncryptionScheme="cbcs"/>' for key_id in key_ids.values())
    systems = "".join(
        f'<cpix:DRMSystem kid="{key_id}" systemId="{FAIRPLAY}"><cpix:HLSSignalingData playlist="media"/>'
        '<cpix:HLSSignalingData playlist="master"/></cpix:DRMSystem>'
        for key_id in key_ids.values()
    )
    rules = "".join(
        f'<cpix:ContentKeyUsageRule kid="{key_id}" intendedTrackType="{track}">'
        f'<cpix:KeyPeriodFilter periodId="period-{period}"/><cpix:{FILTERS[track]}/></cpix:ContentKeyUsageRule>'
        for track, key_id in key_ids.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<cpix:CPIX contentId={quoteattr(content)} version="2.3" xmlns:cpix="urn:dashif:org:cpix" '
        'xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">'
        f"<cpix:ContentKeyList>{keys}</cpix:ContentKeyList><cpix:DRMSystemList>{systems}</cpix:DRMSystemList>"
        f'<cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id="period-{period}" index="{period}"/>'
        f"</cpix:ContentKeyPeriodList><cpix:ContentKeyUsageRuleList>{rules}</cpix:ContentKeyUsageRuleList></cpix:CPIX>"
    )


def read(body: bytes, content: str, key_ids: dict[str, uuid.UUID]) -> dict[str, Key]:
    """The keys of an answer. Its signalling must have the same key URL for both kinds of playlist."""
    root = ElementTree.fromstring(body)
    assert root.get("contentId") == content
    found = {
        uuid.UUID(element.get("kid")): element
        for element in root.iterfind(f"{CPIX}ContentKeyList/{CPIX}ContentKey")
    }
    assert set(found) == set(key_ids.values())
    return {
        track: Key(
            content=content,
            track=track,
            key_id=key_id.bytes,
            url=_url(root, key_id),
            iv=base64.b64decode(found[key_id].get("explicitIV"), validate=True),
            key=base64.b64decode(found[key_id].findtext(f"{CPIX}Data/{PSKC}Secret/{PSKC}PlainValue"), validate=True),
        )
        for track, key_id in key_ids.items()
    }


def _url(root: ElementTree.Element, key_id: uuid.UUID) -> str:
    (system,) = (
        element
        for element in root.iterfind(f"{CPIX}DRMSystemList/{CPIX}DRMSystem")
        if uuid.UUID(element.get("kid")) == key_id
    )
    lines = {
        element.get("playlist"): base64.b64decode(element.text, validate=True).decode()
        for element in system.iterfind(f"{CPIX}HLSSignalingData")
    }
    media = m3u8.loads(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n{lines['media']}\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n")
    multivariant = m3u8.loads(f"#EXTM3U\n{lines['master']}\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n")
    (key,) = media.keys
    (session_key,) = multivariant.session_keys
    assert key.uri == session_key.uri
    return key.uri
