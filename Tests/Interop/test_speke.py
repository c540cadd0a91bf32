"""SPEKE v1, v2.0 and v2.1 against a running daemon (packagers, sections 1.2 to 1.7 and 8).

The tests restate the rules that the public verification suite checks. They use none of its code.
"""

import base64
import json
import re
import struct
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import cpix
import httpx
import pytest
from lxml import etree

from deployment import run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, await_addresses, running_daemon, start_daemon, stop_daemon
from packagers import (
    CPIX,
    FAIRPLAY,
    PATHS,
    PINNED,
    PLAYREADY,
    PSKC,
    SPEKE1,
    VECTORS,
    WIDEVINE,
    Document,
    Key,
    Packager,
    Packagers,
    Request,
    cpix_name,
    decoded,
    document,
    lines_of,
    opened,
    serialized,
    vector,
)

GOOD = sorted(path.stem for path in VECTORS.glob("v*.xml"))
ENCRYPTED = "v2_vod_fairplay_encrypted_delivery"
# The exact texts of section 1.4. For an entity, only the refusal matters.
BAD = {
    "neg_no_contentid": "Missing CPIX@contentId",
    "neg_bad_version": "Unsupported CPIX@version",
    "neg_mixed_scheme": "Non compliant ContentKey@commonEncryptionScheme combination",
    "neg_fairplay_cenc": f"ContentKey@commonEncryptionScheme non compatible with DRMSystem {FAIRPLAY}",
    "neg_no_filters": "Missing CPIX encryption contract",
    "neg_all_plus_video": "Malformed encryption contract",
    "neg_no_tracktype": "Malformed encryption contract",
    "neg_xxe": None,
}
PRESETS = {
    "video and audio": ("VIDEO", "AUDIO"),
    "five": ("SD", "HD", "UHD", "STEREO_AUDIO", "MULTICHANNEL_AUDIO"),
    "eight": (
        "SD", "HD1", "HD2", "UHD1", "UHD2", "STEREO_AUDIO", "MULTICHANNEL_AUDIO_3_6", "MULTICHANNEL_AUDIO_7",
    ),
    "six, joined": ("SD+HD1", "HD2", "UHD1", "UHD2", "STEREO_AUDIO", "MULTICHANNEL_AUDIO"),
    "audio in the clear": ("SD", "HD"),
    "video in the clear": ("STEREO_AUDIO", "MULTICHANNEL_AUDIO"),
}
COMBINATIONS = [
    [system for bit, system in enumerate((WIDEVINE, PLAYREADY, FAIRPLAY)) if number >> bit & 1] for number in range(1, 8)
]
VERSIONS = {"v1": "1.0", "v2": "2.0", "v21": "2.1"}


def version_of(name: str) -> str:
    return VERSIONS.get(name.partition("_")[0], "2.0")


# --- The daemon -------------------------------------------------------------------------------------------------------


class Lab:
    """A daemon with packagers, and every key that it has given."""

    def __init__(self, daemon: OwnDaemon, packagers: Packagers):
        self.daemon = daemon
        self.credentials = packagers.credentials
        self.keys: dict[UUID, Key] = {}

    def packager(self, name: str = "main", url: str | None = None) -> Packager:
        return Packager(url or self.daemon.url, self.credentials[name])

    def post(self, body: bytes, version: str = "2.0", name: str = "main", **more: object) -> Answer:
        packager = self.packager(name)
        try:
            answer = packager.post(body, version, **more)
        finally:
            packager.client.close()
        if answer.status == 200:
            found = opened(answer.body) if b"EncryptedValue" in answer.body else Document(answer.body).keys
            for key in found:
                # A key id always has the same key.
                assert self.keys.setdefault(key.kid, key) == key
                assert key.iv is None or key.iv != key.key
        return answer


@contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    """A daemon with packagers of every kind."""
    packagers = Packagers()

    def prepare(setup: Path) -> None:
        packagers.write(
            setup,
            {"name": "main", "recipients": PINNED},
            {"name": "unpinned"},
            {"name": "strict", "recipients": PINNED, "requireEncryptedDelivery": True},
            {"name": "reader", "scopes": ["read"]},
            {"name": "narrow", "contents": ["live/*"]},
            {"name": "slow", "rate": {"perSecond": 1, "burst": 1}},
            {"name": "retired", "disabled": True},
        )

    with running_daemon(folder, prepare=prepare) as daemon:
        yield Lab(daemon, packagers)


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("speke")) as running:
        yield running


def refused(answer: Answer, status: int, text: str | None = None) -> None:
    """Checks that a refusal has a text and the header fields of every answer."""
    assert answer.status == status, f"{answer.status} {answer.body!r}"
    assert answer.header("Content-Type") == "text/plain; charset=utf-8"
    assert answer.header("Cache-Control") == "no-store"
    assert answer.header("X-Speke-User-Agent") or answer.header("Speke-User-Agent")
    if text is not None:
        assert answer.body.decode() == text


# --- The fixtures of section 8 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD)
def test_a_good_document_is_answered(lab: Lab, name: str) -> None:
    body = vector(name)
    version = version_of(name)
    answer = lab.post(body, version)
    root = document(answer).root
    asked = etree.fromstring(body)
    if version == "1.0":
        assert answer.header("Speke-User-Agent").startswith("Latchkey/")
        assert answer.header("X-Speke-Version") is None
    else:
        assert answer.header("X-Speke-User-Agent").startswith("Latchkey/")
        assert answer.header("X-Speke-Version") == version
        assert root.get("contentId") == asked.get("contentId") and root.get("version") == asked.get("version")
        assert root.get("id") is None
    keys = opened(answer.body) if name == ENCRYPTED else Document(answer.body).keys
    requested = {UUID(key.get("kid")): key.get("explicitIV") for key in asked.iter(cpix_name("ContentKey"))}
    assert [key.kid for key in keys] == list(requested)
    for key in keys:
        assert len(key.key) == 16 and len(key.iv) == 16
        if wanted := requested[key.kid]:
            assert key.iv == base64.b64decode(wanted)
    # This outside reader accepts either a period's times or its index, so the times are removed.
    for period in root.iter(cpix_name("ContentKeyPeriod")):
        period.attrib.pop("start", None)
        period.attrib.pop("end", None)
    parsed = {key.kid: key for key in cpix.parse(etree.tostring(root)).content_keys}
    assert set(parsed) == set(requested)
    if name != ENCRYPTED:
        assert {kid: base64.b64decode(key.cek) for kid, key in parsed.items()} == {key.kid: key.key for key in keys}


@pytest.mark.parametrize("name", [name for name in GOOD if name != ENCRYPTED])
def test_the_same_request_gets_the_same_answer(lab: Lab, name: str) -> None:
    body = vector(name)
    first = lab.post(body, version_of(name))
    # The route for every version gives the same keys.
    second = lab.post(body, version_of(name), path="/speke")
    assert first.status == second.status == 200
    assert first.body == second.body


def test_encrypted_keys_are_those_of_the_clear_answer(lab: Lab) -> None:
    request = Request()
    root = request.root()
    clear = document(lab.post(serialized(root))).keys
    delivery = etree.fromstring(vector(ENCRYPTED)).find(cpix_name("DeliveryDataList"))
    root.insert(0, delivery)
    first, second = lab.post(serialized(root)), lab.post(serialized(root))
    assert opened(first.body) == opened(second.body) == clear
    # Each answer has new keys for its encryption.
    assert first.body != second.body
    for key in clear:
        assert base64.b64encode(key.key) not in first.body


@pytest.mark.parametrize(("name", "text"), BAD.items())
def test_a_bad_document_is_refused_with_its_text(lab: Lab, name: str, text: str | None) -> None:
    answer = lab.post(vector(name))
    refused(answer, 422, text)
    assert answer.header("X-Speke-Version") == "2.0"
    assert answer.code == "cpix_rejected"


# --- Section 1.2: HTTP ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "version"),
    [
        (PATHS["2.0"], None), (PATHS["2.0"], "2.1"), (PATHS["2.1"], "2.0"), (PATHS["1.0"], "2.0"), ("/speke", "3.0"),
        ("/speke", "1.0"),
    ],
)
def test_header_and_address_have_one_version(lab: Lab, path: str, version: str | None) -> None:
    body = Request().document()
    headers = {"Authorization": lab.credentials["main"].basic, "Content-Type": "application/xml"}
    if version:
        headers["X-Speke-Version"] = version
    answer = LicenseClient(lab.daemon.url).send("POST", path, body, headers)
    refused(answer, 422, "Unsupported SPEKE version")


def test_header_and_document_have_one_version(lab: Lab) -> None:
    refused(lab.post(Request(version="2.4").document(), "2.0"), 422, "Unsupported CPIX@version")
    refused(lab.post(Request(version="2.3").document(), "2.1"), 422, "Unsupported CPIX@version")
    # A v2 document without its header field is not answered as a v1 document.
    root = Request(tracks=("VIDEO",)).root()
    root.set("id", root.get("contentId"))
    refused(lab.post(serialized(root), "1.0"), 422, "Unsupported SPEKE version")


@pytest.mark.parametrize("kind", ["application/xml", "text/xml", "application/xml; charset=utf-8", "Text/XML;charset=UTF-8"])
def test_xml_is_read_under_both_names(lab: Lab, kind: str) -> None:
    assert lab.post(Request().document(), headers={"Content-Type": kind}).status == 200


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/xml; charset=latin1"])
def test_nothing_else_is_read(lab: Lab, kind: str) -> None:
    answer = lab.post(Request().document(), headers={"Content-Type": kind})
    refused(answer, 415)
    assert answer.code == "media_type_unsupported"


def test_the_heartbeat_is_of_version_1(lab: Lab) -> None:
    packager = lab.packager()
    answer = packager.ask("GET", "/speke/v1.0/heartbeat")
    assert answer.status == 200 and answer.body
    assert answer.header("Speke-User-Agent").startswith("Latchkey/")
    assert packager.ask("GET", "/speke/v2.0/heartbeat").status == 404


def test_web_pages_are_not_let_in(lab: Lab) -> None:
    packager = lab.packager()
    page = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    answer = packager.ask("OPTIONS", "/speke", headers=page)
    assert answer.status == 405 and answer.header("Allow") == "POST"
    assert answer.header("Access-Control-Allow-Origin") is None
    assert packager.ask("GET", "/speke/v1.0/heartbeat", headers=page).header("Access-Control-Allow-Origin") is None


@pytest.mark.parametrize("is_second", [False, True])
def test_both_versions_of_http(lab: Lab, is_second: bool) -> None:
    request = Request()
    before = lab.post(request.document())
    headers = {
        "Authorization": lab.credentials["main"].basic, "Content-Type": "application/xml", "X-Speke-Version": "2.0",
    }
    with httpx.Client(http1=not is_second, http2=is_second) as client:
        answer = client.post(lab.daemon.url + PATHS["2.0"], content=request.document(), headers=headers)
        assert answer.http_version == ("HTTP/2" if is_second else "HTTP/1.1")
        assert answer.status_code == 200 and answer.content == before.body
        unknown = client.post(lab.daemon.url + PATHS["2.0"], content=b"<x/>", headers=headers | {"Authorization": "Basic x"})
        assert unknown.status_code == 401 and unknown.headers["X-Speke-Version"] == "2.0"


@pytest.mark.parametrize("is_second", [False, True])
def test_a_large_document_is_answered(lab: Lab, is_second: bool) -> None:
    """A document may have 256 KiB, four times as much as other requests.

    The daemon does not even read a stranger's document.
    """
    body = Request().document()
    body += b"\n" * (262_144 - len(body))
    headers = {
        "Authorization": lab.credentials["main"].basic, "Content-Type": "application/xml", "X-Speke-Version": "2.0",
    }
    with httpx.Client(http1=not is_second, http2=is_second, base_url=lab.daemon.url) as client:
        answer = client.post(PATHS["2.0"], content=body, headers=headers)
        assert answer.status_code == 200 and len(Document(answer.content).keys) == 2
        # The same without a declared length.
        pieces = (body[start : start + 50_000] for start in range(0, len(body), 50_000))
        assert client.post("/speke", content=pieces, headers=headers).content == answer.content
        for path, added in ((PATHS["2.0"], 1), ("/speke/v1.0/heartbeat", 0), ("/v1/keys", 0)):
            assert client.post(path, content=body + b"\n" * added, headers=headers).status_code == 413
        stranger = client.post(PATHS["2.0"], content=body, headers=headers | {"Authorization": "Basic x"})
        assert stranger.status_code == 401


# --- Authentication ---------------------------------------------------------------------------------------------------


def test_a_credential_is_asked_for_before_the_document_is_read(lab: Lab) -> None:
    broken = vector("neg_xxe")
    for authorization in (None, "Basic bm9ib2R5Om5vdGhpbmc=", lab.credentials["retired"].basic):
        headers = {"Content-Type": "application/xml", "X-Speke-Version": "2.0"}
        if authorization:
            headers["Authorization"] = authorization
        connection = LicenseClient(lab.daemon.url)
        answer = connection.send("POST", PATHS["2.0"], broken, headers)
        refused(answer, 401)
        assert answer.code == "packager_invalid"
        challenges = [value for name, value in answer.headers if name.lower() == "www-authenticate"]
        assert sorted(value.split()[0] for value in challenges) == ["Basic", "Bearer"]


def test_every_form_of_a_credential_is_taken(lab: Lab) -> None:
    secret = lab.credentials["main"].secret
    body = Request().document()
    for headers in ({"Authorization": f"Bearer {secret}"}, {"x-api-key": secret}):
        fields = {"Content-Type": "application/xml", "X-Speke-Version": "2.0"} | headers
        answer = LicenseClient(lab.daemon.url).send("POST", PATHS["2.0"], body, fields)
        assert answer.status == 200, answer.body
        assert Document(answer.body).keys == document(lab.post(body)).keys


def test_a_packager_has_its_own_contents_scopes_and_pins(lab: Lab) -> None:
    request = Request()
    refused(lab.post(request.document(), name="narrow"), 403, "This packager may not have keys of this content")
    assert lab.post(Request(content="live/1").document(), name="narrow").status == 200
    refused(
        lab.post(request.document(), name="reader"), 403, "A key does not exist, and this packager may not create keys"
    )
    made = lab.post(request.document())
    assert lab.post(request.document(), name="reader").body == made.body

    encrypted = vector(ENCRYPTED)
    answer = lab.post(encrypted, name="unpinned")
    refused(answer, 403)
    assert "pinned" in answer.body.decode() and answer.code == "packager_forbidden"
    answer = lab.post(request.document(), name="strict")
    refused(answer, 403)
    assert "DeliveryDataList" in answer.body.decode()
    assert len(opened(lab.post(encrypted, name="strict").body)) == 2


def test_a_packager_is_kept_to_its_rate(lab: Lab) -> None:
    body = Request().document()
    answers = [lab.post(body, name="slow") for _ in range(3)]
    assert answers[0].status == 200
    late = next(answer for answer in answers if answer.status == 429)
    refused(late, 429)
    assert int(late.header("Retry-After")) >= 1 and late.code == "rate_limited"


def test_a_packagers_credential_opens_no_license_and_a_token_no_key(lab: Lab) -> None:
    credential = lab.credentials["main"]
    client = LicenseClient(lab.daemon.url)
    for authorization in (credential.basic, f"Bearer {credential.secret}"):
        answer = client.send("POST", "/fps/license", b"\0" * 400, {"Authorization": authorization})
        assert answer.status == 401
    token = run_latchkey(lab.daemon.setup, "token", "mint", "--content", "movie-001").strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/xml", "X-Speke-Version": "2.0"}
    answer = client.send("POST", PATHS["2.0"], Request(content="movie-001").document(), headers)
    assert answer.status == 401 and answer.code == "packager_invalid"


# --- Section 1.4: documents of v2 -------------------------------------------------------------------------------------


def change(request: Request, edit: Callable[[etree._Element], object]) -> bytes:
    root = request.root()
    edit(root)
    return serialized(root)


def first(root: etree._Element, name: str) -> etree._Element:
    return next(root.iter(cpix_name(name)))


def drop(root: etree._Element, name: str) -> None:
    for element in list(root.iter(cpix_name(name))):
        element.getparent().remove(element)


def without(root: etree._Element, name: str, *attributes: str) -> None:
    for element in root.iter(cpix_name(name)):
        for attribute in attributes:
            element.attrib.pop(attribute, None)


KID = UUID("7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11")
TEXTS: dict[str, tuple[Callable[[etree._Element], object], str]] = {
    "no contentId": (lambda root: root.attrib.pop("contentId"), "Missing CPIX@contentId"),
    "empty contentId": (lambda root: root.set("contentId", ""), "Missing CPIX@contentId"),
    "no version": (lambda root: root.attrib.pop("version"), "Missing CPIX@version"),
    "empty version": (lambda root: root.set("version", ""), "Missing CPIX@version"),
    "another version": (lambda root: root.set("version", "2.2"), "Unsupported CPIX@version"),
    "no scheme": (
        lambda root: without(root, "ContentKey", "commonEncryptionScheme"),
        f"Missing ContentKey@commonEncryptionScheme for KID {KID}",
    ),
    "mixed schemes": (
        lambda root: first(root, "ContentKey").set("commonEncryptionScheme", "cbc1"),
        "Non compliant ContentKey@commonEncryptionScheme combination",
    ),
    "one key for incompatible tracks": (
        lambda root: first(root, "ContentKeyUsageRule").append(etree.Element(cpix_name("AudioFilter"))),
        "Requested CPIX encryption contract not supported",
    ),
    "no filter": (
        lambda root: (drop(root, "VideoFilter"), drop(root, "AudioFilter")), "Missing CPIX encryption contract",
    ),
    "a track type twice": (
        lambda root: [rule.set("intendedTrackType", "VIDEO") for rule in root.iter(cpix_name("ContentKeyUsageRule"))],
        "Malformed encryption contract",
    ),
    "a key id of no key": (
        lambda root: first(root, "DRMSystem").set("kid", str(uuid.uuid4())),
        "DRMSystem@kid is not in ContentKeyList",
    ),
    "a rule of no key": (
        lambda root: first(root, "ContentKeyUsageRule").set("kid", str(uuid.uuid4())),
        "ContentKeyUsageRule@kid is not in ContentKeyList",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_each_error_has_its_text(lab: Lab, name: str) -> None:
    edit, text = TEXTS[name]
    request = Request(content="errors", kids=[KID, uuid.uuid4()])
    refused(lab.post(change(request, edit)), 422, text)


@pytest.mark.parametrize("scheme", ["cenc", "cens", "cbc1"])
def test_fairplay_has_its_own_scheme(lab: Lab, scheme: str) -> None:
    text = f"ContentKey@commonEncryptionScheme non compatible with DRMSystem {FAIRPLAY}"
    refused(lab.post(Request(scheme=scheme).document()), 422, text)
    assert document(lab.post(Request(scheme=scheme, systems=(WIDEVINE, PLAYREADY)).document())).keys


def test_identifiers_come_back_as_they_were_written(lab: Lab) -> None:
    request = Request(tracks=("VIDEO",))
    root = request.root()
    for element in root.iter():
        for name in ("kid", "systemId"):
            if element.get(name):
                element.set(name, element.get(name).upper())
    answer = document(lab.post(serialized(root)))
    assert {element.get("kid") for element in answer.root.iter() if element.get("kid")} == {str(request.kids[0]).upper()}
    assert first(answer.root, "DRMSystem").get("systemId") == str(FAIRPLAY).upper()
    assert answer.keys == document(lab.post(request.document())).keys


def test_an_explicit_iv_is_honoured_and_remembered(lab: Lab) -> None:
    request = Request(tracks=("VIDEO",))
    iv = bytes(range(16))
    with_iv = change(request, lambda root: first(root, "ContentKey").set("explicitIV", base64.b64encode(iv).decode()))
    (key,) = document(lab.post(with_iv)).keys
    assert key.iv == iv
    assert document(lab.post(request.document())).keys == [key]
    other = change(
        request, lambda root: first(root, "ContentKey").set("explicitIV", base64.b64encode(iv[::-1]).decode())
    )
    refused(lab.post(other), 422, f"ContentKey@explicitIV differs from that of KID {request.kids[0]}")


def test_a_key_stays_what_it_is(lab: Lab) -> None:
    request = Request(content="stays-1", tracks=("VIDEO",))
    assert lab.post(request.document()).status == 200
    (kid,) = request.kids
    moved = Request(content="stays-2", tracks=("VIDEO",), kids=[kid])
    refused(lab.post(moved.document()), 422, f"KID {kid} is stored for another content")
    track = Request(content="stays-1", tracks=("UHD",), kids=[kid])
    refused(lab.post(track.document()), 422, f"KID {kid} is stored for another track")
    period = Request(content="stays-1", tracks=("VIDEO",), kids=[kid], period=4)
    refused(lab.post(period.document()), 422, f"KID {kid} is stored for another key period")
    run_latchkey(lab.daemon.setup, "keys", "delete", "--kid", str(kid))


def test_the_demands_of_a_document_become_the_floor_of_its_key(lab: Lab) -> None:
    request = Request(content="demanding", tracks=("VIDEO",), version="2.4")

    def demand(root: etree._Element, level: str = "TYPE-1", allowed: str = "AppleMain/Main") -> None:
        etree.SubElement(first(root, "ContentKey"), cpix_name("HDCPData"), HLSHDCPLevel=level)
        first(root, "DRMSystem").set("HLSAllowedCPC", f"com.apple.streamingkeydelivery:{allowed}")

    refused(
        lab.post(change(request, lambda root: demand(root, level="TYPE-2")), "2.1"),
        422,
        "Malformed HDCPData@HLSHDCPLevel",
    )
    refused(
        lab.post(change(request, lambda root: demand(root, allowed="HW_SECURE_ALL")), "2.1"),
        422,
        "Malformed DRMSystem@HLSAllowedCPC",
    )
    answer = document(lab.post(change(request, demand), "2.1"))
    assert first(answer.root, "HDCPData").get("HLSHDCPLevel") == "TYPE-1"
    listed = json.loads(run_latchkey(lab.daemon.setup, "keys", "list", "--content", "demanding", "--json"))["keys"]
    assert [(row["hdcp"], row["securityLevel"]) for row in listed] == [("type1", "main")]


def test_a_document_that_demands_more_than_its_key_does_is_refused(lab: Lab) -> None:
    request = Request(content="undemanding", tracks=("VIDEO",), version="2.4")

    def demand(root: etree._Element, level: str) -> None:
        etree.SubElement(first(root, "ContentKey"), cpix_name("HDCPData"), HLSHDCPLevel=level)

    def ask(level: str) -> Answer:
        return lab.post(change(request, lambda root: demand(root, level)), "2.1")

    document(ask("TYPE-0"))
    kid = request.kids[0]
    for _ in range(2):  # The second time from the memory of recent keys.
        refused(ask("TYPE-1"), 422, f"KID {kid} is stored with a weaker demand for HDCP or security level")
        # A document without the demand, or with less, gets the key, and the key keeps its floor.
        document(ask("NONE"))
        document(lab.post(request.document(), "2.1"))
    listed = json.loads(run_latchkey(lab.daemon.setup, "keys", "list", "--content", "undemanding", "--json"))["keys"]
    assert [row["hdcp"] for row in listed] == ["type0"]


def test_unknown_parts_and_all_rules_come_back(lab: Lab) -> None:
    request = Request(period=9)
    root = request.root()
    extra = etree.SubElement(root, "{urn:example:own}Note", {"kept": "yes"}, nsmap={"own": "urn:example:own"})
    extra.text = "echoed"
    answer = document(lab.post(serialized(root))).root
    assert answer.findtext("{urn:example:own}Note") == "echoed"
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag in (cpix_name("PSSH"), cpix_name("ContentProtectionData")):
            continue
        matches = [
            other for other in answer.iter(element.tag)
            if all(other.get(name) == value for name, value in element.attrib.items())
        ]
        assert matches, f"{element.tag} {dict(element.attrib)} is gone"


def test_version_1_has_its_own_signalling(lab: Lab) -> None:
    answer = document(lab.post(vector("v1_vod_fairplay"), "1.0"))
    (system,) = answer.systems(FAIRPLAY)
    assert decoded(system.find(cpix_name("URIExtXKey"))) == f"skd://{system.get('kid')}"
    assert system.find(f"{{{SPEKE1}}}KeyFormat").text == "Y29tLmFwcGxlLnN0cmVhbWluZ2tleWRlbGl2ZXJ5"
    assert system.find(f"{{{SPEKE1}}}KeyFormatVersions").text == "MQ=="
    for name in (cpix_name("PSSH"), cpix_name("ContentProtectionData"), f"{{{SPEKE1}}}ProtectionHeader"):
        assert system.find(name) is None


# --- Section 1.7: what the public suite checks ------------------------------------------------------------------------

BASIC = {"systems": (WIDEVINE,), "scheme": "cenc"}


def test_basic_1_status_and_fields(lab: Lab) -> None:
    answer = lab.post(Request(**BASIC).document())
    document(answer)
    assert answer.header("X-Speke-Version") == "2.0" and answer.header("X-Speke-User-Agent")


def test_basic_2_namespaces_and_root(lab: Lab) -> None:
    request = Request(**BASIC)
    root = document(lab.post(request.document())).root
    declared = {uri for element in root.iter() for uri in element.nsmap.values()}
    assert {CPIX, PSKC} <= declared
    assert root.tag == cpix_name("CPIX") and root.get("contentId") == request.content
    assert root.get("version") == "2.3" and root.get("id") is None


def test_basic_3_lists_and_what_they_hold(lab: Lab) -> None:
    request = Request(**BASIC)
    asked, root = request.root(), document(lab.post(request.document())).root
    for name in ("ContentKeyList", "DRMSystemList", "ContentKeyUsageRuleList"):
        assert len(root.findall(cpix_name(name))) == 1
    for name in ("ContentKey", "DRMSystem", "ContentKeyUsageRule"):
        before, after = list(asked.iter(cpix_name(name))), list(root.iter(cpix_name(name)))
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            assert dict(old.attrib).items() <= dict(new.attrib).items()


def test_basic_4_every_key_has_a_secret(lab: Lab) -> None:
    root = document(lab.post(Request(**BASIC).document())).root
    for key in root.iter(cpix_name("ContentKey")):
        assert UUID(key.get("kid")) and key.get("commonEncryptionScheme") in ("cenc", "cbc1", "cens", "cbcs")
        (data,) = key.findall(cpix_name("Data"))
        (secret,) = data.findall(f"{{{PSKC}}}Secret")
        assert secret.findtext(f"{{{PSKC}}}PlainValue") or secret.findtext(f".//{{{PSKC}}}EncryptedValue")


def test_basic_5_the_same_keys_again(lab: Lab) -> None:
    """The suite finds keys by a regular expression, so the element must have a prefix and no attributes."""
    request = Request(**BASIC)
    pattern = re.compile(rb"<\w+:PlainValue>([^<]+)</\w+:PlainValue>")
    found = [pattern.findall(lab.post(request.document()).body) for _ in range(2)]
    assert len(found[0]) == 2 and found[0] == found[1]


def test_mandatory_1_keys(lab: Lab) -> None:
    keys = document(lab.post(Request(**BASIC).document())).all("ContentKey")
    assert len(keys) == 2 and all(key.get("kid") and key.get("commonEncryptionScheme") == "cenc" for key in keys)


def test_mandatory_2_systems(lab: Lab) -> None:
    systems = document(lab.post(Request(**BASIC).document())).all("DRMSystem")
    assert [UUID(system.get("systemId")) for system in systems] == [WIDEVINE] * 2
    assert all(system.get("kid") for system in systems)


def test_mandatory_3_rules(lab: Lab) -> None:
    rules = document(lab.post(Request(**BASIC).document())).all("ContentKeyUsageRule")
    assert [rule.get("intendedTrackType") for rule in rules] == ["VIDEO", "AUDIO"]
    assert all(rule.get("kid") for rule in rules)


def test_mandatory_4_a_document_of_version_1_with_the_fields_of_version_2(lab: Lab) -> None:
    answer = document(lab.post(Request(tracks=("ALL",), period=1, **BASIC).document()))
    assert len(answer.keys) == 1 and len(answer.all("ContentKeyPeriod")) == 1


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("systems", COMBINATIONS, ids=lambda systems: "+".join(str(system)[:4] for system in systems))
def test_every_preset_for_every_combination_of_systems(lab: Lab, preset: str, systems: list[UUID]) -> None:
    tracks = PRESETS[preset]
    scheme = "cbcs" if FAIRPLAY in systems else "cenc"
    answer = document(lab.post(Request(tracks=tracks, systems=systems, scheme=scheme).document()))
    assert len(answer.all("ContentKey")) == len(tracks)
    assert len(answer.all("DRMSystem")) == len(tracks) * len(systems)
    rules = answer.all("ContentKeyUsageRule")
    assert [rule.get("intendedTrackType") for rule in rules] == list(tracks)
    assert len({key.kid for key in answer.keys}) == len({key.key for key in answer.keys}) == len(tracks)
    assert {key.get("commonEncryptionScheme") for key in answer.all("ContentKey")} == {scheme}
    if preset == "audio in the clear":
        assert not [rule for rule in rules if "AUDIO" in rule.get("intendedTrackType")]
    if preset == "video in the clear":
        assert all("AUDIO" in rule.get("intendedTrackType") for rule in rules)


def only(element: etree._Element, name: str) -> str:
    (child,) = element.findall(cpix_name(name))
    assert child.text and child.text.strip()
    return child.text


def test_widevine_is_signalled(lab: Lab) -> None:
    request = Request(systems=(WIDEVINE,), scheme="cenc")
    for system in document(lab.post(request.document())).systems(WIDEVINE):
        box = base64.b64decode(only(system, "PSSH"), validate=True)
        assert box[4:8] == b"pssh" and struct.unpack(">I", box[:4]) == (len(box),) and box[12:28] == WIDEVINE.bytes
        assert b"\x12\x10" + UUID(system.get("kid")).bytes in box
        protection = etree.fromstring(base64.b64decode(only(system, "ContentProtectionData")))
        assert protection.text == only(system, "PSSH")
        media, session = lines_of(system)
        assert media == session


def test_playready_is_signalled(lab: Lab) -> None:
    request = Request(systems=(PLAYREADY,), scheme="cenc")
    for system in document(lab.post(request.document())).systems(PLAYREADY):
        parts = etree.fromstring(b"<r>" + base64.b64decode(only(system, "ContentProtectionData")) + b"</r>")
        assert parts.findtext("{urn:mpeg:cenc:2013}pssh") == only(system, "PSSH")
        media, session = lines_of(system)
        assert media["keyformat"] == "com.microsoft.playready"
        for name in ("method", "keyformat", "keyformatversions"):
            assert media[name] == session[name]


def test_fairplay_is_signalled(lab: Lab) -> None:
    request = Request()
    answer = document(lab.post(request.document()))
    for system in answer.systems(FAIRPLAY):
        assert system.find(cpix_name("ContentProtectionData")) is None and system.find(cpix_name("PSSH")) is None
        assert len(system.findall(cpix_name("HLSSignalingData"))) == 2
        media, session = lines_of(system)
        assert media == session
        assert media["method"] == "SAMPLE-AES" and media["keyformat"] == "com.apple.streamingkeydelivery"
        assert media["keyformatversions"] == "1" and media["iv"] is None
    assert answer.urls() == {kid: f"skd://{kid}" for kid in request.kids}


def test_all_systems_share_a_key(lab: Lab) -> None:
    answer = document(lab.post(Request(systems=(FAIRPLAY, WIDEVINE, PLAYREADY)).document()))
    assert len(answer.keys) == 2 and len(answer.all("DRMSystem")) == 6


def rule(root: etree._Element, track: str, filter_name: str) -> None:
    """Adds another key with its usage rule."""
    kid = str(uuid.uuid4())
    etree.SubElement(first(root, "ContentKeyList"), cpix_name("ContentKey"), kid=kid, commonEncryptionScheme="cenc")
    Request._add_system(first(root, "DRMSystemList"), UUID(kid), WIDEVINE)
    element = etree.SubElement(
        first(root, "ContentKeyUsageRuleList"), cpix_name("ContentKeyUsageRule"), kid=kid, intendedTrackType=track
    )
    etree.SubElement(element, cpix_name(filter_name))


NEGATIVE: dict[str, Callable[[], bytes]] = {
    "an empty body": lambda: b"",
    "version 4.0": lambda: change(Request(**BASIC), lambda root: root.set("version", "4.0")),
    **{
        f"no {name}": lambda name=name: change(Request(**BASIC), lambda root: drop(root, name))
        for name in (
            "ContentKeyList", "DRMSystemList", "ContentKeyUsageRuleList", "ContentKey", "DRMSystem",
            "ContentKeyUsageRule",
        )
    },
    "no filters": lambda: change(
        Request(**BASIC), lambda root: (drop(root, "VideoFilter"), drop(root, "AudioFilter"))
    ),
    "bare keys": lambda: change(
        Request(**BASIC), lambda root: without(root, "ContentKey", "kid", "commonEncryptionScheme")
    ),
    "bare systems": lambda: change(Request(**BASIC), lambda root: without(root, "DRMSystem", "kid", "systemId")),
    "bare rules": lambda: change(
        Request(**BASIC), lambda root: without(root, "ContentKeyUsageRule", "kid", "intendedTrackType")
    ),
    "FairPlay with cenc": lambda: Request(scheme="cenc").document(),
    "two rules for all beside audio": lambda: change(
        Request(tracks=("STEREO_AUDIO", "MULTICHANNEL_AUDIO"), **BASIC),
        lambda root: [rule(root, "ALL", "VideoFilter") for _ in range(2)],
    ),
    "two rules for all beside video": lambda: change(
        Request(tracks=("SD", "HD"), **BASIC), lambda root: [rule(root, "ALL", "AudioFilter") for _ in range(2)]
    ),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_what_breaks_the_rules_is_refused(lab: Lab, name: str) -> None:
    assert len(NEGATIVE) == 15
    answer = lab.post(NEGATIVE[name]())
    refused(answer, 422)


# --- Licenses with the keys -------------------------------------------------------------------------------------------


def test_a_device_gets_the_key_of_the_url(lab: Lab) -> None:
    """An SPC with the URL of the answer gets a CKC with the key and the IV of the answer."""
    request = Request(tracks=("HD", "AUDIO"))
    answer = document(lab.post(request.document()))
    device = device_for(read_device_credential(lab.daemon.setup / "fairplay"), 2)
    token = run_latchkey(lab.daemon.setup, "token", "mint", "--content", request.content).strip()
    client = LicenseClient(lab.daemon.url)
    urls = answer.urls()
    assert len(set(urls.values())) == 2
    for key in answer.keys:
        context = device.request(SPCOptions(urls[key.kid].encode()))
        license = client.license(context.message, token)
        assert license.status == 200, license.body
        ckc = open_ckc(license.body, context.secrets)
        assert (ckc.content_key, ckc.content_iv) == (key.key, key.iv)


def test_a_key_for_other_systems_is_in_no_license(lab: Lab) -> None:
    request = Request(tracks=("HD",), systems=(WIDEVINE,), scheme="cenc")
    (key,) = document(lab.post(request.document())).keys
    device = device_for(read_device_credential(lab.daemon.setup / "fairplay"), 2)
    token = run_latchkey(lab.daemon.setup, "token", "mint", "--content", request.content).strip()
    context = device.request(SPCOptions(str(key.kid).encode()))
    answer = LicenseClient(lab.daemon.url).license(context.message, token)
    assert answer.status == 404 and answer.code == "key_not_found"


def rows(setup: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in run_latchkey(setup, "ledger", "export").splitlines()]


def test_the_ledger_has_a_row_for_each_key(lab: Lab) -> None:
    request = Request(period=12)
    for _ in range(2):
        assert lab.post(request.document()).status == 200
    found = [row for row in rows(lab.daemon.setup) if row.get("content") == request.content]
    assert sorted(row["kind"] for row in found) == ["key_created"] * 2 + ["key_delivered"] * 2
    assert {row["actor"] for row in found} == {"packager:main"}
    assert {row["detail"] for row in found} == {"speke-2.0 period 12"}
    assert {row["kid"] for row in found} == {str(kid) for kid in request.kids}
    assert len({row["request"] for row in found}) == 2


def test_the_ledger_counts_what_is_given_again_and_again(latchkey_programs: None, tmp_path: Path) -> None:
    """The first ten deliveries of a minute have a row each.

    When the daemon stops, one row for each key has the number of the other deliveries.
    """
    packagers = Packagers()

    def prepare(setup: Path) -> None:
        packagers.write(setup, {"name": "main"})

    request = Request(period=12)
    with running_daemon(tmp_path, prepare=prepare) as daemon:
        packager = Packager(daemon.url, packagers.credentials["main"])
        answers = {packager.post(request.document()).body for _ in range(50)}
        assert len(answers) == 1 and len(Document(answers.pop()).keys) == 2
    found = [row for row in rows(daemon.setup) if row.get("content") == request.content]
    # The requests are so fast that they fall into one minute or two.
    own = [row for row in found if "again" not in row["detail"]]
    counted = [row for row in found if "again" in row["detail"]]
    assert len(own) in (20, 40) and {row["actor"] for row in found} == {"packager:main"}
    for kid in request.kids:
        times = [int(row["detail"].removeprefix("speke-2.0 period 12 again ")) for row in counted if row["kid"] == str(kid)]
        assert times and sum(times) + len(own) // 2 == 50


def test_packagers_are_counted(lab: Lab) -> None:
    before = lab.daemon.metrics()
    request = Request()
    lab.post(request.document())
    lab.post(request.document())
    lab.post(b"<x/>")
    after = lab.daemon.metrics()

    def difference(name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    requests = 'latchkey_packager_requests_total{{packager="main",interface="speke-2.0",outcome="{}"}}'
    assert difference(requests.format("served")) == 2 and difference(requests.format("refused")) == 1
    keys = 'latchkey_packager_keys_total{{packager="main",outcome="{}"}}'
    assert difference(keys.format("created")) == 2 and difference(keys.format("found")) == 2


@pytest.mark.last
def test_nothing_secret_is_in_the_log_or_in_the_ledger(lab: Lab) -> None:
    for _ in range(50):
        answer = lab.post(Request().document())
        assert answer.status == 200
    assert len(lab.keys) >= 100
    lab.daemon.await_log(answer.header("X-Request-Id"))
    log = lab.daemon.log.read_bytes()
    assert b"packager_served" in log
    database = b""
    for path in lab.daemon.setup.glob("latchkey.db*"):
        database += path.read_bytes()
    for key in lab.keys.values():
        for form in (key.key, key.key.hex().encode(), base64.b64encode(key.key)):
            assert form not in log and form not in database
    for credential in lab.credentials.values():
        for form in (credential.secret.encode(), credential.basic.removeprefix("Basic ").encode()):
            assert form not in log and form not in database


def test_the_same_keys_after_a_restart(latchkey_programs: None, tmp_path: Path) -> None:
    packagers = Packagers()
    request = Request()
    with running_daemon(tmp_path, prepare=lambda setup: packagers.write(setup, {"name": "main"})) as daemon:
        before = Packager(daemon.url, packagers.credentials["main"]).post(request.document())
        setup = daemon.setup
    assert before.status == 200
    log = tmp_path / "second.log"
    process = start_daemon(setup, log)
    try:
        host, port = await_addresses(process, log)["public"]
        again = Packager(f"http://{host}:{port}", packagers.credentials["main"]).post(request.document())
        assert again.body == before.body
    finally:
        assert stop_daemon(process) == 0
