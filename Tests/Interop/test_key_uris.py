"""What key URIs name: those of other services, and those that the own template writes, against running daemons.

`apps/requests.md` has the table of the forms. A CKC is opened, so that its key is known to be the right one.
"""

import json
import os
import secrets
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tokens
from deployment import Deployment, deployment_of, register, run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer
from license_policy import ContentKey, Right
from own_daemon import OwnDaemon, new_setup, running_daemon
from test_license_paths import reload

FILM = "film-2"
# A content whose id looks like a key id.
NAMED = str(uuid.uuid4())
OLDER = ["skd://*/getckc/{content}/{kid}", "skd://*/*/license/{content}", "skd://h/old?cid={content}&trk={track}"]


def new_key(track: str | None = None) -> ContentKey:
    return ContentKey(uuid.uuid4().bytes, secrets.token_bytes(16), secrets.token_bytes(16), track=track)


@dataclass(frozen=True)
class Lab:
    """A daemon with a film of two keys, a series of one, a withdrawn key, and a content that no token names."""

    daemon: OwnDaemon
    at: Deployment
    keys: dict[str, ContentKey]

    def token(self, *rights: dict[str, object]) -> str:
        claims = [right | Right().claims for right in rights or ({"content": FILM},)]
        return tokens.with_rights(self.at.token, self.at.signing_key, claims, None)

    def ask(self, uri: str, token: str | None = None) -> tuple[Answer, bytes | None]:
        """The answer for a key URI, and the key id of the key in it."""
        context = device_for(self.at.credential, 1).request(SPCOptions(asset_id=self.fill(uri)))
        answer = self.at.client.license(context.message, token or self.token())
        if answer.status != 200:
            return answer, None
        found = open_ckc(answer.body, context.secrets)
        (key,) = [key for key in self.keys.values() if key.key == found.content_key]
        assert key.iv == found.content_iv
        return answer, key.key_id

    def fill(self, uri: str) -> bytes:
        for name, key in self.keys.items():
            uri = uri.replace(f"<{name}>", str(uuid.UUID(bytes=key.key_id)))
        return uri.replace("<unknown>", str(uuid.uuid4())).encode()


def with_settings(setup: Path, template: str | None, forms: list[str] | None) -> None:
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count("keys: {") == 1
    if template is not None:
        text = text.replace("keys: {", f"keys: {{ skdTemplate: {json.dumps(template)},")
    if forms is not None:
        text = text.replace("keys: {", f"assetIDs: {json.dumps(forms)},\n  keys: {{", 1)
    configuration.write_text(text)


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("uris")
    with running_daemon(folder, prepare=lambda setup: with_settings(setup, None, OLDER)) as daemon:
        keys = {"hd": new_key("HD"), "audio": new_key("AUDIO"), "series": new_key(), "other": new_key()}
        keys |= {"gone": new_key("SD"), "named": new_key("HD"), "named-sd": new_key("SD")}
        for name, content in (("hd", FILM), ("audio", FILM), ("gone", FILM), ("series", "series-1"), ("other", "o-1")):
            register(daemon.setup, content, keys[name])
        for name in ("named", "named-sd"):
            register(daemon.setup, NAMED, keys[name])
        run_latchkey(daemon.setup, "keys", "delete", "--kid", str(uuid.UUID(bytes=keys["gone"].key_id)))
        yield Lab(daemon, deployment_of(daemon.url, daemon.setup), keys)


@pytest.mark.parametrize(
    ("uri", "key"),
    [
        ("skd://h/getckc?ContentId=film-2&KeyId=<hd>", "hd"),
        ("?contentId=film-2&keyId=<hd>", "hd"),
        ("?contentId=film-2&kid=<hd>", "hd"),
        ("skd://<hd>?iv=00112233445566778899aabbccddeeff", "hd"),
        ("skd://<hd>/0", "hd"),
        ("skd://<audio>:AUDIO", "audio"),
        ("skd://h/<audio>/AUDIO/7", "audio"),
        ("skd://h/x?CONTENT_ID=film-2&KEY_ID=<audio>", "audio"),
        ("skd://drmtoday?assetId=film-2&variantId=hd", "hd"),
        ("skd://h/film-2?track=AUDIO", "audio"),
        ("skd://h/getckc/film-2/<hd>", "hd"),
        ("https://h/getckc/film-2/<audio>", "audio"),
        # Beside another content, whose key is not meant.
        ("skd://h/x?cid=o-1&kid=<hd>", "hd"),
    ],
)
def test_a_key_uri_names_its_key(lab: Lab, uri: str, key: str) -> None:
    answer, found = lab.ask(uri)
    assert answer.status == 200, answer.body
    assert found == lab.keys[key].key_id


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        # Two key ids, a key id that no key has, a withdrawn key, and texts that are no key id.
        ("skd://h/<hd>?kid=<audio>", None),
        ("skd://h/x?kid=<hd>&keyId=<audio>", None),
        ("skd://h/getckc/film-2/<hd>?kid=<audio>", None),
        ("skd://h/x?contentId=series-1&kid=<unknown>", "key_not_found"),
        ("skd://<unknown>/series-1", None),
        ("skd://<gone>/0", None),
        ("skd://h/x?cid=series-1&kid=<gone>", None),
        ("skd://h/x?cid=series-1&kid=none", None),
        # A key of another content, in each form.
        ("skd://<other>/0", "content_mismatch"),
        ("skd://h/x?cid=film-2&kid=<other>", "content_mismatch"),
        ("skd://h/getckc/film-2/<other>", "content_mismatch"),
        ("skd://h/<hd>/license/o-1", "content_mismatch"),
        # The content has two keys, or none for the track.
        ("skd://film-2", None),
        ("skd://h/x?cid=film-2&track=SD", None),
        # Hostile texts of the largest size.
        ("skd://" + "/" * 1018, None),
        ("skd://h?" + "kid=&" * 203, None),
        ("skd://h?" + "&=" * 508, None),
        ("skd://" + "{kid}" * 203, None),
        ("skd://h/getckc/" + "%" * 1000, None),
    ],
)
def test_a_key_uri_gives_no_other_key(lab: Lab, uri: str, code: str | None) -> None:
    token = lab.token({"content": FILM}, {"content": "series-1"})
    answer, found = lab.ask(uri, token)
    assert found is None and answer.status in (403, 404), answer.body
    assert code is None or answer.code == code, answer.body


@pytest.mark.parametrize(
    "uri",
    [
        "skd://drmtoday?assetId={id}&variantId={track}", "skd://{id}?track={track}", "skd://h/{id}?track={track}",
        "skd://h/x?cid={id}&track={track}&period=", "skd://h/old?cid={id}&trk={track}",
    ],
)
def test_a_content_that_looks_like_a_key_id_is_named_by_track(lab: Lab, uri: str) -> None:
    token = lab.token({"content": NAMED})
    for track, name in (("HD", "named"), ("SD", "named-sd")):
        answer, found = lab.ask(uri.format(id=NAMED, track=track), token)
        assert answer.status == 200, answer.body
        assert found == lab.keys[name].key_id
    # Neither a token for another content nor the key id of another content gives anything.
    assert lab.ask(uri.format(id=NAMED, track="HD"))[0].status == 403
    for name in ("other", "hd", "gone"):
        answer, found = lab.ask(uri.format(id=f"<{name}>", track="HD"), token)
        assert answer.status in (403, 404) and found is None, answer.body


def test_a_token_for_one_key_gives_no_other(lab: Lab) -> None:
    token = lab.token({"kids": [lab.keys["hd"].key_id.hex()]})
    assert lab.ask("skd://<hd>/0", token)[1] == lab.keys["hd"].key_id
    for uri in ("skd://<audio>/0", "skd://h/x?cid=film-2&kid=<audio>", "skd://h/x?cid=film-2&track=AUDIO"):
        answer, found = lab.ask(uri, token)
        assert (answer.status, found) == (403, None), answer.body


def test_a_form_says_what_a_path_means_and_a_reload_replaces_it(lab: Lab) -> None:
    token = lab.token({"content": "series-1"})
    uri = f"skd://h/{uuid.uuid4()}/license/series-1"
    assert lab.ask(uri, token)[1] == lab.keys["series"].key_id
    configuration = lab.daemon.setup / "latchkey.json5"
    before = configuration.read_text()
    try:
        configuration.write_text(before.replace(json.dumps(OLDER), "[]"))
        assert reload(lab.daemon) == "reloaded"
        assert lab.ask(uri, token)[1] is None
    finally:
        configuration.write_text(before)
        assert reload(lab.daemon) == "reloaded"
    assert lab.ask(uri, token)[1] == lab.keys["series"].key_id


# --- The own template -------------------------------------------------------------------------------------------------

TEMPLATES = [
    "skd://{kid}?track={track}",
    "skd://{contentId}/{track}",
    "skd://{kid}?iv={iv}",
    "skd://{kid}/{track}",
    "skd://{contentId}:{track}",
    "skd://h/x?cid={contentId}&kid={kid}",
    "skd://h/{kid}?cid={contentId}",
    "skd://h/{contentId}/{track}/{period}",
    "skd://drmtoday?assetId={contentId}&variantId={track}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_url_of_each_key_leads_back(template: str, tmp_path: Path, latchkey_programs: None) -> None:
    """Two tracks, and two periods if the template has them, of a content whose id looks like a path."""
    content = "film/2:a"
    vectors: dict[str, bytes] = {}
    periods = ("0", "1") if "{period}" in template else (None,)
    with running_daemon(tmp_path, prepare=lambda setup: with_settings(setup, template, None)) as daemon:
        for period in periods:
            for track in ("HD", "AUDIO"):
                vector = secrets.token_bytes(16)
                made = run_latchkey(
                    daemon.setup,
                    *("keys", "create", "--content", content, "--track", track, "--another", "--iv", vector.hex()),
                    *(("--period", period) if period else ()),
                    "--json",
                )
                vectors[json.loads(made)["kid"]] = vector
        at = deployment_of(daemon.url, daemon.setup)
        rows = json.loads(run_latchkey(daemon.setup, "keys", "list", "--content", content, "--json"))["keys"]
        assert {row["kid"] for row in rows} == vectors.keys()
        token = at.token_for(Right(), content)
        for row in rows:
            uri = row["url"]
            for asset in (uri.encode(), uri.removeprefix("skd://").encode(), uri.encode("utf-16-le")):
                context = device_for(at.credential, 1).request(SPCOptions(asset_id=asset))
                answer = at.client.license(context.message, token)
                assert answer.status == 200, (uri, answer.body)
                assert open_ckc(answer.body, context.secrets).content_iv == vectors[row["kid"]], uri


def check(setup: Path) -> subprocess.CompletedProcess[str]:
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    command = [program, "--config", setup / "latchkey.json5", "--check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("template", "instead"),
    [
        ("skd://{contentId}{track}", "skd://{contentId}/{track}"),
        ("skd://h/{contentId}-{track}", "skd://{contentId}/{track}"),
        ("skd://h/x?kid=1&cid={contentId}&t={track}", "skd://{contentId}/{track}"),
    ],
)
def test_a_template_that_cannot_be_read_is_refused(
    template: str, instead: str, tmp_path: Path, latchkey_programs: None
) -> None:
    setup = new_setup(tmp_path)
    before = (setup / "latchkey.json5").read_text()
    with_settings(setup, template, None)
    checked = check(setup)
    assert checked.returncode != 0 and "keys.skdTemplate" in checked.stderr, checked.stderr
    assert f'"{instead}" would work' in checked.stderr, checked.stderr
    (setup / "latchkey.json5").write_text(before)
    with_settings(setup, instead, None)
    assert check(setup).returncode == 0


@pytest.mark.parametrize("form", ["skd://*", "skd://{content}{track}", "skd://{name}", "skd://{kid}" + "a" * 200])
def test_a_form_that_cannot_be_read_is_refused(form: str, tmp_path: Path, latchkey_programs: None) -> None:
    setup = new_setup(tmp_path)
    with_settings(setup, None, [form])
    checked = check(setup)
    assert checked.returncode != 0 and "assetIDs[0]" in checked.stderr, checked.stderr
