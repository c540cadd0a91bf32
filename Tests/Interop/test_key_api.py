"""`/v1/keys`: keys in JSON and in the forms of packagers, against a running daemon."""

import base64
import json
import os
import re
import shlex
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from deployment import run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, running_daemon
from packagers import PINNED, Document, Packager, Packagers, Request, document

ARTICLE = Path(__file__).resolve().parents[2] / "Documentation/packaging/json.md"
FORMATS = (
    "json", "shaka", "shaka-streamer", "bento4", "bento4-dash", "bento4-hls", "gpac", "nginx-vod", "wowza", "usp",
    "mediaconvert", "bitmovin", "mediafilesegmenter", "cpix", "hls",
)


class Lab:
    def __init__(self, daemon: OwnDaemon, packagers: Packagers):
        self.daemon = daemon
        self.credentials = packagers.credentials

    def packager(self, name: str = "development") -> Packager:
        return Packager(self.daemon.url, self.credentials[name])

    def order(self, body: object, name: str = "development") -> Answer:
        return self.packager(name).ask("POST", "/v1/keys", body)

    def keys(self, content: str, *tracks: object, **more: object) -> list[dict[str, object]]:
        answer = self.order({"contentId": content, "tracks": list(tracks)} | more)
        assert answer.status == 200, answer.body
        assert answer.header("Content-Type") == "application/json" and answer.header("Cache-Control") == "no-store"
        return json.loads(answer.body)["keys"]

    def get(self, content: str, query: str = "", name: str = "development") -> Answer:
        return self.packager(name).ask("GET", f"/v1/keys/{content}" + (f"?{query}" if query else ""))


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    packagers = Packagers()

    def prepare(setup: Path) -> None:
        packagers.write(
            setup,
            {"name": "development", "scopes": ["read", "create", "import"]},
            {"name": "plain"},
            {"name": "strict", "recipients": PINNED, "requireEncryptedDelivery": True},
        )

    with running_daemon(tmp_path_factory.mktemp("keys"), prepare=prepare) as daemon:
        yield Lab(daemon, packagers)


def problem(answer: Answer, status: int, code: str, member: str | None = None) -> dict[str, object]:
    assert (answer.status, answer.code) == (status, code), answer.body
    assert answer.header("Content-Type") == "application/problem+json"
    assert answer.problem.get("member") == member
    return answer.problem


# --- Orders -----------------------------------------------------------------------------------------------------------


def test_an_order_is_made_once(lab: Lab) -> None:
    made = lab.keys("once", "VIDEO", "AUDIO", period=3)
    found = lab.keys("once", "VIDEO", "AUDIO", period=3)
    assert [key["outcome"] for key in made] == ["created"] * 2
    assert [key | {"outcome": "found"} for key in made] == found
    assert len({key["key"] for key in made} | {key["iv"] for key in made}) == 4
    for key in made:
        assert key["url"] == f"skd://{key['kid']}" and uuid.UUID(str(key["kid"]))
        assert key["period"] == 3 and key["scheme"] == "cbcs"
    # Another key period has other keys.
    assert not {key["kid"] for key in lab.keys("once", "VIDEO", "AUDIO", period=4)} & {key["kid"] for key in made}


def test_a_key_is_imported_and_played(lab: Lab) -> None:
    """The CKC for the key's URL has the imported key."""
    track = {"track": "HD", "kid": str(uuid.uuid4()), "iv": bytes(range(16)).hex(), "key": bytes(range(32, 48)).hex()}
    (key,) = lab.keys("imported", track)
    assert key["outcome"] == "imported" and key["key"] == track["key"]
    assert lab.keys("imported", track)[0]["outcome"] == "found"
    device = device_for(read_device_credential(lab.daemon.setup / "fairplay"), 2)
    token = run_latchkey(lab.daemon.setup, "token", "mint", "--content", "imported").strip()
    context = device.request(SPCOptions(str(key["url"]).encode()))
    answer = LicenseClient(lab.daemon.url).license(context.message, token)
    ckc = open_ckc(answer.body, context.secrets)
    assert (ckc.content_key.hex(), ckc.content_iv.hex()) == (track["key"], track["iv"])

    problem(lab.order({"contentId": "imported", "tracks": [track | {"key": "00" * 16}]}), 409, "key_conflict")
    problem(lab.order({"contentId": "imported", "tracks": [track]}, "plain"), 403, "packager_forbidden")


@pytest.mark.parametrize("asset", [b"cid=ab&track=HD1", b"skd://ab?track=S", b"?cid=ab&period=0"])
def test_a_key_id_spells_no_track_of_another_content(lab: Lab, asset: bytes) -> None:
    """The 16 bytes of the key id are an asset id of the other content."""
    lab.keys("ab", {"track": "HD1", "contentType": "hd"}, "SD")
    order = {"contentId": "other", "tracks": [{"track": "SD", "kid": str(uuid.UUID(bytes=asset))}]}
    problem(lab.order(order), 409, "key_conflict")
    problem(lab.get("other"), 404, "key_not_found")


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"tracks": ["HD"]}, "contentId"), ({"contentId": "x", "tracks": []}, "tracks"),
        ({"contentId": "x", "tracks": ["mine"]}, "tracks[0].contentType"),
        ({"contentId": "x", "tracks": ["HD", {"track": "SD", "iv": "12"}]}, "tracks[1].iv"),
        ({"contentId": "x", "tracks": ["HD"], "period": "1"}, "period"),
        (b"{", None), (b'{"contentId": "x", "tracks": ["HD"], "tracks": ["SD"]}', None),
    ],
)
def test_the_member_that_is_wrong_is_named(lab: Lab, body: object, member: str | None) -> None:
    problem(lab.order(body), 400, "request_invalid", member)


def test_the_answer_has_the_floor_of_each_key(lab: Lab) -> None:
    demanding = {"track": "HD", "hdcp": "type1", "securityLevel": "main"}
    made = lab.keys("demanding", demanding, "SD")
    found = json.loads(lab.get("demanding").body)["keys"]
    for keys in (made, lab.keys("demanding", "HD", "SD"), found):
        floors = {key["track"]: (key["hdcp"], key["securityLevel"]) for key in keys}
        assert floors == {"HD": ("type1", "main"), "SD": (None, None)}


def test_a_track_is_named_with_or_without_a_kid(lab: Lab) -> None:
    with_kid = {"track": "HD", "kid": str(uuid.uuid4())}
    for tracks, member in (([with_kid, "HD"], "tracks[1]"), (["HD", "SD", with_kid], "tracks[0]")):
        problem(lab.order({"contentId": "both-ways", "tracks": tracks}), 400, "request_invalid", member)
    problem(lab.get("both-ways"), 404, "key_not_found")
    # Two keys of a track have a kid each.
    assert len(lab.keys("both-ways", with_kid, {"track": "HD", "kid": str(uuid.uuid4())}, "SD")) == 3


@pytest.mark.parametrize(
    "order", [{"tracks": [{"track": "SD", "iv": "00" * 15 + "01"}]}, {"tracks": ["SD"], "scheme": "cenc"}],
    ids=["iv", "scheme"],
)  # fmt: skip
def test_a_conflict_names_the_stored_key(lab: Lab, order: dict[str, object]) -> None:
    (key,) = lab.keys("conflicting", "SD")
    found = problem(lab.order({"contentId": "conflicting"} | order), 409, "key_conflict")
    detail = str(found["detail"])
    assert f"KID {key['kid']} " in detail and "ContentKey@" not in detail, detail


def test_a_key_that_was_not_made_is_not_named(lab: Lab) -> None:
    track = {"track": "SD", "iv": "11" * 16, "key": "11" * 16}
    found = problem(lab.order({"contentId": "alike", "tracks": [track]}), 409, "key_conflict")
    assert "KID" not in str(found["detail"]), found


def test_a_packager_without_a_credential_gets_nothing(lab: Lab) -> None:
    client = LicenseClient(lab.daemon.url)
    for method, path in (("GET", "/v1/keys/once"), ("POST", "/v1/keys"), ("GET", "/v1/keys/never")):
        answer = client.send(method, path, b"{}" if method == "POST" else None)
        assert answer.status == 401 and answer.problem["code"] == "packager_invalid"


def test_encryption_is_not_got_round(lab: Lab) -> None:
    content = lab.keys("encrypted-alone", "HD")[0]
    problem(lab.order({"contentId": "encrypted-alone", "tracks": ["HD"]}, "strict"), 403, "packager_forbidden")
    for format in FORMATS:
        answer = lab.get("encrypted-alone", f"format={format}", "strict")
        if format == "hls":
            assert answer.status == 200 and str(content["key"]).encode() not in answer.body
        else:
            problem(answer, 403, "packager_forbidden")


def test_all_tracks_are_asked_for_as_they_are_ordered(lab: Lab) -> None:
    made = lab.keys("every-track", "ALL", "HD")
    listed = json.loads(lab.get("every-track", "track=ALL").body)["keys"]
    assert [key["kid"] for key in listed] == [made[0]["kid"]] and listed[0]["track"] is None


# --- Keys without a URL -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_track(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A daemon whose URLs name a content and a track."""
    packagers = Packagers()

    def prepare(setup: Path) -> None:
        packagers.write(setup, {"name": "development", "scopes": ["read", "create", "import"]})
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        configuration.write_text(text.replace("keys: {", 'keys: { skdTemplate: "skd://{contentId}/{track}",', 1))

    with running_daemon(tmp_path_factory.mktemp("by-track"), prepare=prepare) as daemon:
        yield Lab(daemon, packagers)


def stored(lab: Lab, content: str) -> list[dict[str, object]]:
    return json.loads(run_latchkey(lab.daemon.setup, "keys", "list", "--content", content, "--json"))["keys"]


def test_a_key_without_a_url_is_not_made(by_track: Lab) -> None:
    two_kids = [{"track": "HD", "kid": str(uuid.uuid4())} for _ in range(2)]
    long = "c" * 198
    for content, tracks in (("film", ["HD", "ALL"]), ("film", two_kids), (long, ["HD"])):
        for _ in range(2):
            refused = problem(by_track.order({"contentId": content, "tracks": tracks}), 400, "request_invalid")
            assert "keys.skdTemplate" in str(refused["detail"])
        assert stored(by_track, content) == []
    problem(by_track.order({"contentId": "film", "tracks": ["HD"], "period": 3}), 400, "request_invalid")
    for request in (Request(content="film", tracks=("ALL",)), Request(content=long, tracks=("HD",))):
        answer = by_track.packager().post(request.document(), "2.0")
        assert answer.status == 422 and b"keys.skdTemplate" in answer.body, answer.body
        assert stored(by_track, request.content) == []


def test_a_key_without_a_url_does_not_hide_the_others(by_track: Lab) -> None:
    run_latchkey(by_track.daemon.setup, "keys", "create", "--content", "series")
    (made,) = by_track.keys("series", "HD")
    listed = json.loads(by_track.get("series").body)["keys"]
    assert {key["track"]: key["url"] for key in listed} == {None: None, "HD": "skd://series/HD"}
    problem(by_track.get("series", "format=hls"), 400, "request_invalid")
    answer = by_track.get("series", "format=hls&track=HD")
    assert answer.status == 200 and str(made["url"]).encode() in answer.body


def test_the_check_says_which_keys_get_no_url(by_track: Lab) -> None:
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    command = [program, "--config", by_track.daemon.setup / "latchkey.json5", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "a key without a track gets no URL" in checked.stderr, checked.stderr
    assert "a key with a period gets no URL without {period}" in checked.stderr, checked.stderr


def test_the_check_warns_of_an_axinom_issuer_for_every_key(by_track: Lab) -> None:
    setup = by_track.daemon.setup
    text = (setup / "latchkey.json5").read_text()
    (setup / "secrets" / "tenant").write_bytes(base64.b64encode(os.urandom(32)))
    (setup / "secrets" / "tenant").chmod(0o600)
    entry = (
        'issuers: [{ issuer: "tenant", dialect: "axinom", CONTENTS '
        'keys: [{ kid: "t", algorithm: "HS256", key: "secrets/tenant" }] },'
    )
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    for contents, warns in (("", True), ('contents: ["film-*"],', False)):
        changed = setup / "axinom.json5"
        changed.write_text(text.replace("issuers: [", entry.replace("CONTENTS", contents), 1))
        command = [program, "--config", changed, "--check"]
        checked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert ("entitlement.issuers[0]: a message with `license_request`" in checked.stderr) == warns, checked.stderr


# --- Pages and forms --------------------------------------------------------------------------------------------------


def test_pages_lead_through_all_keys(lab: Lab) -> None:
    tracks = [{"track": f"track-{number}", "contentType": "hd"} for number in range(10)]
    made = {key["kid"] for key in lab.keys("pa/ges", *tracks)}
    seen: list[str] = []
    path: str | None = "/v1/keys/pa%2Fges?limit=4"
    while path:
        answer = lab.packager().ask("GET", path)
        assert answer.status == 200
        page = json.loads(answer.body)
        assert len(page["keys"]) <= 4
        seen += [key["kid"] for key in page["keys"]]
        link = answer.header("Link")
        assert (link is None) == (page["next"] is None)
        path = re.fullmatch(r'<([^>]+)>; rel="next"', link).group(1) if link else None
    assert len(seen) == 10 and set(seen) == made and seen == sorted(seen)


@pytest.mark.parametrize("format", FORMATS)
def test_every_form_has_the_same_key(lab: Lab, format: str) -> None:
    (key,) = lab.keys("forms", "HD")
    answer = lab.get("forms", f"format={format}")
    assert answer.status == 200, answer.body
    kid, secret, iv = (str(key[name]) for name in ("kid", "key", "iv"))
    plain = kid.replace("-", "")
    body = answer.body
    if format == "nginx-vod":
        (entry,) = json.loads(body)
        found = {name: base64.b64decode(entry[name], validate=True).hex() for name in ("key", "key_id", "iv")}
        assert found == {"key": secret, "key_id": plain, "iv": iv}
    elif format == "mediafilesegmenter":
        assert body.hex() == secret + iv
    elif format == "cpix":
        (parsed,) = Document(body).keys
        assert (parsed.kid.hex, parsed.key.hex(), parsed.iv.hex()) == (plain, secret, iv)
    elif format == "hls":
        assert secret.encode() not in body and f'URI="{key["url"]}"'.encode() in body
    else:
        text = body.decode()
        assert secret in text and iv in text and str(key["url"]) in text
        assert plain in text or kid in text or format in ("wowza", "mediaconvert", "bento4-hls")
    if format in ("shaka", "bento4", "bento4-dash", "bento4-hls", "usp"):
        assert str(key["url"]) in shlex.split(body.decode().replace("=", " "))
    if format == "gpac":
        assert etree.fromstring(body).get("type") == "cbcs"
    if format in ("mediaconvert", "bitmovin", "json"):
        assert json.loads(body)


def test_a_stable_address_serves_nginx(lab: Lab) -> None:
    """The request is like the nginx module's: a GET, with the credential in the field that its upstream location
    adds."""
    (key,) = lab.keys("vod", "HD")
    headers = {"Authorization": lab.credentials["development"].basic, "User-Agent": "nginx", "Accept": "*/*"}
    answer = LicenseClient(lab.daemon.url).send("GET", "/v1/keys/vod?format=nginx-vod", None, headers)
    assert answer.status == 200 and answer.header("Content-Type") == "application/json"
    assert base64.b64decode(json.loads(answer.body)[0]["key"]).hex() == key["key"]


def test_a_form_with_room_for_one_key(lab: Lab) -> None:
    lab.keys("two", "HD", "AUDIO")
    problem(lab.get("two", "format=nginx-vod"), 400, "request_invalid", "format")
    assert lab.get("two", "format=nginx-vod&track=HD").status == 200
    problem(lab.get("two", "format=nginx-vod&track=SD"), 404, "key_not_found")
    problem(lab.get("never-made"), 404, "key_not_found")
    problem(lab.get("two", "format=mp3"), 400, "request_invalid", "format")


def test_keys_of_speke_are_there_too(lab: Lab) -> None:
    request = Request(tracks=("HD", "AUDIO"))
    made = document(lab.packager().post(request.document())).keys
    listed = json.loads(lab.get(request.content).body)["keys"]
    assert {(key["kid"], key["key"], key["iv"]) for key in listed} == {
        (str(key.kid), key.key.hex(), key.iv.hex()) for key in made
    }
    # An order for the same tracks gives the same keys.
    assert {key["kid"] for key in lab.keys(request.content, "HD", "AUDIO")} == {str(key.kid) for key in made}


def test_a_withdrawn_key_is_not_given(lab: Lab) -> None:
    (key,) = lab.keys("withdrawn", "HD")
    run_latchkey(lab.daemon.setup, "keys", "delete", "--kid", str(key["kid"]))
    problem(lab.get("withdrawn"), 404, "key_not_found")


# --- The article ------------------------------------------------------------------------------------------------------


def test_the_article_names_every_form() -> None:
    named = set(re.findall(r"`([a-z0-9-]+)`", ARTICLE.read_text()))
    assert set(FORMATS) <= named


# --- The tool ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def revealing(lab: Lab) -> Path:
    """The same set-up, with a configuration that lets the tool show keys."""
    setup = lab.daemon.setup
    text = (setup / "latchkey.json5").read_text()
    assert text.count("keys: { ") == 1
    (setup / "revealing.json5").write_text(text.replace("keys: { ", "keys: { allowReveal: true, "))
    return setup / "revealing.json5"


def tool(configuration: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [os.environ["LATCHKEY_BIN"], "keys", *arguments, "--config", str(configuration)],
        capture_output=True, timeout=60, check=False,
    )


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "json"])
def test_the_tool_writes_the_same_forms(lab: Lab, revealing: Path, format: str) -> None:
    (key,) = lab.keys("tool", "HD")
    served = lab.get("tool", f"format={format}").body
    written = tool(revealing, "export", "--content", "tool", "--format", format, "--reveal")
    assert written.returncode == 0, written.stderr
    assert written.stdout == served
    rows = [json.loads(line) for line in run_latchkey(lab.daemon.setup, "ledger", "export").splitlines()]
    found = [row for row in rows if row.get("detail") == f"export {format}"]
    assert [(row["kind"], row["kid"]) for row in found] == ([] if format == "hls" else [("key_revealed", key["kid"])])


def test_the_tool_lets_no_key_out_by_itself(lab: Lab, revealing: Path) -> None:
    lab.keys("kept", "HD")
    plain = lab.daemon.setup / "latchkey.json5"
    asked = ("export", "--content", "kept", "--format", "shaka")
    assert tool(revealing, *asked).returncode != 0
    refused = tool(plain, *asked, "--reveal")
    assert refused.returncode != 0 and b"allowReveal" in refused.stderr and refused.stdout == b""


def test_lists_have_urls(lab: Lab) -> None:
    (key,) = lab.keys("listed", "HD")
    listed = json.loads(run_latchkey(lab.daemon.setup, "keys", "list", "--content", "listed", "--json"))["keys"]
    assert [(row["kid"], row["url"]) for row in listed] == [(key["kid"], key["url"])]
    assert str(key["url"]) in run_latchkey(lab.daemon.setup, "keys", "list", "--content", "listed")


def test_a_key_of_the_tool_has_its_period_and_vector(lab: Lab) -> None:
    iv = bytes(range(16)).hex()
    made = json.loads(
        run_latchkey(
            lab.daemon.setup, "keys", "create", "--content", "made", "--track", "HD", "--period", "5", "--iv", iv,
            "--json",
        )
    )
    (found,) = lab.keys("made", "HD", period=5)
    assert (found["kid"], found["iv"], found["outcome"]) == (made["kid"], iv, "found")
