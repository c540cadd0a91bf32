"""The article Documentation/tokens/cookbook.md: its programs, which `Clients/tokens` has too, its recipes and its table
of mistakes, each against a running daemon."""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import tokens
from deployment import register, run_latchkey
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.license import OfflineKey, Streaming
from fairplay_device.spc import Device, PlaybackState, SPCOptions, device_for
from license_client import LICENSE_PATH, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon

ROOT = Path(__file__).parents[2]
ARTICLE = (ROOT / "Documentation/tokens/cookbook.md").read_text()
SAMPLES = ROOT / "Clients/tokens"
# Go compiles its library before its first program.
RUN_SECONDS = 240
LANGUAGES = {
    "mint.py": ("python", [sys.executable]),
    "mint.mjs": ("js", ["node"]),
    "mint.go": ("go", ["go", "run"]),
    "Mint.java": ("java", ["java"]),
    "mint.php": ("php", ["php"]),
}
DAY = 86_400
COUNTRY_FIELD = "CF-IPCountry"
# Contents, and the labels of their keys.
CONTENTS = {"movie-42": None, "movie-43": "HD", "channel-1": None}
KEYS = {
    content: ContentKey(uuid.uuid4().bytes, secrets.token_bytes(16), secrets.token_bytes(16), track)
    for content, track in CONTENTS.items()
}
# The fence, the language and the text of each block, and the heading above it.
BLOCKS = re.findall(r"^(#+ .*?$)|^```(\w+)\n(.*?)^```$", ARTICLE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> dict[str, str]:
    """The blocks of a language by the heading above them."""
    heading, found = "", {}
    for title, of, text in BLOCKS:
        heading = title.lstrip("# ") or heading
        if of == language:
            assert heading not in found, f"two blocks under {heading}"
            found[heading] = text
    return found


@dataclass(frozen=True)
class Portal:
    """A daemon that accepts the tokens of the article's issuer, and that issuer's key."""

    daemon: OwnDaemon
    folder: Path
    key: ec.EllipticCurvePrivateKey

    def token(self, **claims: object) -> str:
        now = int(time.time())
        members = {"iss": "https://portal.example", "aud": "latchkey", "iat": now, "exp": now + 300} | claims
        return tokens.sign_es256({"alg": "ES256", "kid": "portal-1"}, members, self.key)

    def device(self) -> Device:
        return device_for(read_device_credential(self.daemon.setup / "fairplay"), 2)

    def ask(
        self, token: str, content: str = "movie-42", *, device: Device | None = None, query: str = "",
        country: str | None = None, session: int = 1, state: int = tags.READY_TO_START, capabilities: int | None = None,
    ) -> OpenedCKC | str:
        """The license, or the code of the refusal."""
        options = SPCOptions(
            content.encode(), playback_state=PlaybackState(1_700_000_000, state, session), capabilities=capabilities
        )
        context = (device or self.device()).request(options)
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "198.51.100.7"}
        if country:
            headers[COUNTRY_FIELD] = country
        client = LicenseClient(self.daemon.url)
        try:
            answer = client.send("POST", LICENSE_PATH + query, context.message, headers)
        finally:
            client.close()
        if answer.code:
            return answer.code
        opened = open_ckc(answer.body, context.secrets)
        assert opened.content_key == KEYS[content].key
        return opened

    def explain(self, token: str, *options: str) -> dict[str, object]:
        finished = subprocess.run(
            [os.environ["LATCHKEY_BIN"], "token", "explain", "-", "--json", "--config",
             self.daemon.setup / "latchkey.json5", *options],
            input=token, capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
        )  # fmt: skip
        assert finished.stdout, finished.stderr
        return json.loads(finished.stdout)


@pytest.fixture(scope="module")
def portal(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("cookbook")
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "portal-key.pem").write_bytes(private)

    def prepare(setup: Path) -> None:
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (setup / "secrets/portal-public.pem").write_bytes(public)
        entry = {
            "issuer": "https://portal.example",
            "audience": "latchkey",
            "keys": [{"kid": "portal-1", "algorithm": "ES256", "key": "secrets/portal-public.pem"}],
            "maximumLife": "15m",
        }
        changes = {
            'address: "127.0.0.1:8080"': 'address: "127.0.0.1:8080", trustedProxies: ["127.0.0.0/8"]',
            "issuers: [": f'countryField: "{COUNTRY_FIELD}", issuers: [{json.dumps(entry)},',
        }
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        for old, new in changes.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        configuration.write_text(text)
        for content, content_key in KEYS.items():
            register(setup, content, content_key)

    with running_daemon(folder, prepare=prepare) as daemon:
        yield Portal(daemon, folder, key)


# --- The programs -----------------------------------------------------------------------------------------------------


def test_the_article_has_the_programs() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == set(LANGUAGES)
    for sample, (language, _) in LANGUAGES.items():
        assert list(blocks(language).values()) == [(SAMPLES / sample).read_text()], sample


def run_sample(command: list[str], sample: Path, folder: Path) -> str:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    finished = subprocess.run(
        [*command, sample], capture_output=True, text=True, timeout=RUN_SECONDS, check=False, cwd=folder
    )
    assert (finished.returncode, finished.stderr) == (0, ""), finished
    return finished.stdout.strip()


@pytest.mark.parametrize("sample", LANGUAGES)
def test_a_program_makes_a_good_token(sample: str, portal: Portal) -> None:
    token = run_sample(LANGUAGES[sample][1], SAMPLES / sample, portal.folder)
    opened = portal.ask(token)
    assert isinstance(opened, OpenedCKC) and opened.terms == Streaming(lease=300)
    assert portal.ask(token, "channel-1") == "content_mismatch"


@pytest.mark.parametrize("sample", LANGUAGES)
def test_a_program_writes_any_name(sample: str, portal: Portal) -> None:
    """A name with quotes stays one name, and adds no claim."""
    text = (SAMPLES / sample).read_text()
    name = re.compile(r"""(["'])viewer-7\1""")
    assert len(name.findall(text)) == 1
    # A literal in each of the languages.
    changed = name.sub(lambda _: r'"viewer \"7\" \\ ö"', text)
    program = portal.folder / sample
    program.write_text(changed)
    token = run_sample(LANGUAGES[sample][1], program, portal.folder)
    assert tokens.header_and_claims(token)[1]["sub"] == 'viewer "7" \\ ö'
    assert isinstance(portal.ask(token), OpenedCKC)


def test_php_signs_whatever_r_and_s_are(portal: Portal, tmp_path: Path) -> None:
    """DER leaves out the zeros in front of r and s, one of which begins with a zero in 128 signatures."""
    text = (SAMPLES / "mint.php").read_text()
    assert text.count("echo mint(") == 1
    program = tmp_path / "many.php"
    program.write_text(text.replace("echo mint(", "for ($number = 0; $number < 1000; $number++) echo mint("))
    minted = run_sample(["php"], program, portal.folder).splitlines()
    assert len(minted) == 1000
    raw = [tokens.decode(token.rpartition(".")[2]) for token in minted]
    assert any(signature[0] == 0 or signature[32] == 0 for signature in raw)
    for token, signature in zip(minted, raw, strict=True):
        r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
        assert len(signature) == 64
        signed = token.rpartition(".")[0].encode()
        portal.key.public_key().verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))


# --- Mistakes ---------------------------------------------------------------------------------------------------------

# The change of the claims or of the header, by the words of the table.
MISTAKES = {
    "`exp` or `iat` in milliseconds": {"exp": (int(time.time()) + 300) * 1000},
    "no `iat`, or a life above `maximumLife`": {"exp": int(time.time()) + 3600},
    "another `aud` or `iss`": {"aud": "another"},
    "a member of a right misspelled": {"rights": [{"content": "movie-42", "leases": 300}]},
}


def test_each_mistake_has_its_code(portal: Portal) -> None:
    section = ARTICLE.partition("## If the token is refused")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| (.+?) \| `(\w+)` \|$", section, re.MULTILINE))
    rights = {"rights": [{"content": "movie-42", "lease": 300}]}
    found = {words: portal.ask(portal.token(**(rights | change))) for words, change in MISTAKES.items()}
    good = portal.token(**rights)
    assert isinstance(portal.ask(good), OpenedCKC)
    signed, _, signature = good.rpartition(".")
    der = portal.key.sign(signed.encode(), ec.ECDSA(SHA256()))
    found["a signature in DER"] = portal.ask(f"{signed}.{tokens.encode(der)}")
    found["a `kid` that the configuration does not have"] = portal.ask(
        tokens.with_header(good, portal.key, kid="portal-2")
    )
    stranger = ec.generate_private_key(ec.SECP256R1())
    found["a key that does not belong to the `kid`"] = portal.ask(tokens.with_header(good, stranger))
    assert found == table


def test_some_mistakes_are_not_refused(portal: Portal) -> None:
    section = ARTICLE.partition("These tokens are good")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)) - {"mistake", "---"}
    right = {"content": "movie-42", "lease": 300}
    misspelled = portal.token(sub="viewer-silent", devices={"max": 1}, rights=[right])
    (finding,) = portal.explain(misspelled)["findings"]
    assert "devices" in str(finding) and "device" in str(finding).replace("devices", "")
    for session in (1, 2):
        assert isinstance(portal.ask(misspelled, session=session), OpenedCKC)
    unnamed = [portal.token(jti=secrets.token_hex(8), device={"max": 1}, rights=[right]) for _ in range(2)]
    assert len(portal.explain(unnamed[0])["findings"]) == 1
    for token in unnamed:
        assert isinstance(portal.ask(token), OpenedCKC)
        assert portal.ask(token, session=2) == "device_limit"
    # The download without `rental` is tried by `test_a_rental_with_download`.
    assert listed == {
        "a claim outside `rights` misspelled, such as `devices` for `device`", "`device.max` without `sub`",
        "an offline right without `rental` beside a right with one",
    }


# --- Recipes ----------------------------------------------------------------------------------------------------------

RECIPES = {heading: json.loads(text) for heading, text in blocks("json").items()}


def recipe(portal: Portal, heading: str, **claims: object) -> str:
    """A token of a recipe, with a subject of its own. `latchkey token explain` finds nothing wrong with it."""
    own = RECIPES[heading] | ({"sub": f"viewer-{secrets.token_hex(4)}"} if "sub" in RECIPES[heading] else {})
    token = portal.token(**(own | claims))
    explained = portal.explain(token)
    assert (explained["refusal"], explained["findings"]) == (None, []), explained
    return token


def test_every_recipe_is_tried() -> None:
    tried = re.findall(r'recipe\(portal, "(.+?)"', Path(__file__).read_text())
    assert set(RECIPES) == set(tried)


def test_a_rental(portal: Portal) -> None:
    token = recipe(portal, "Rental: start within 30 days, watch for 48 hours")
    before = portal.ask(token)
    assert isinstance(before, OpenedCKC) and before.terms == Streaming(lease=300, rental=30 * DAY)
    # The first play begins the 48 hours.
    begun = portal.ask(token, session=2, state=tags.PLAYING_OR_PAUSED)
    assert isinstance(begun, OpenedCKC) and begun.terms == Streaming(lease=300, rental=2 * DAY)


def test_a_subscription(portal: Portal) -> None:
    token = recipe(portal, "Subscription: three devices, two streams at a time")
    devices = [portal.device() for _ in range(4)]
    assert isinstance(portal.ask(token, device=devices[0], session=1), OpenedCKC)
    assert isinstance(portal.ask(token, "movie-43", device=devices[1], session=2), OpenedCKC)
    for device in devices[2:]:
        assert portal.ask(token, device=device, session=3) == "concurrency_limit"
    # Another film on a device that plays takes the place of its first stream.
    assert isinstance(portal.ask(token, "movie-43", device=devices[0], session=4), OpenedCKC)
    assert portal.ask(token, device=devices[0], session=1) == "session_killed"
    assert portal.ask(token, device=devices[2], session=3) == "concurrency_limit"
    ended = ["account", "playbacks", "end", "--issuer", "https://portal.example", "--all", "--subject"]
    subject = str(tokens.header_and_claims(token)[1]["sub"])
    run_latchkey(portal.daemon.setup, *ended, subject)
    assert isinstance(portal.ask(token, device=devices[2], session=4), OpenedCKC)
    assert portal.ask(token, device=devices[3], session=5) == "device_limit"
    assert portal.ask(token, "channel-1", device=devices[0], session=6) == "content_mismatch"


def test_a_download(portal: Portal) -> None:
    token = recipe(portal, "Offline for 30 days")
    keeper = {"capabilities": tags.CAPABILITY_OFFLINE_KEY}
    stored = portal.ask(token, query="?offline=1", **keeper)
    assert isinstance(stored, OpenedCKC) and isinstance(stored.terms, OfflineKey)
    assert (stored.terms.storage, stored.terms.playback) == (30 * DAY, 2 * DAY)
    streamed = portal.ask(token, **keeper)
    assert isinstance(streamed, OpenedCKC) and streamed.terms == Streaming(lease=300)


def rented(**changes: object) -> list[dict[str, object]]:
    """The rights of the rental with a download. `changes` replace members of the right to download."""
    streaming, download = RECIPES["Rental with download, on three devices"]["rights"]
    assert download["end"] == "2027-01-31T12:00:00Z"
    return [streaming, download | changes]


def test_a_rental_with_download(portal: Portal) -> None:
    purchase = int(time.time())
    rights = rented(end=purchase + 32 * DAY)
    token = recipe(portal, "Rental with download, on three devices", rights=rights)
    devices = [portal.device() for _ in range(4)]
    keeper = {"capabilities": tags.CAPABILITY_OFFLINE_KEY}

    def download(token: str, **options: object) -> tuple[int, int]:
        stored = portal.ask(token, query="?offline=1", **keeper, **options)
        assert isinstance(stored, OpenedCKC) and isinstance(stored.terms, OfflineKey), stored
        return stored.terms.storage, stored.terms.playback

    # The download begins neither the rental nor its own 48 hours. The seconds are those since the purchase.
    storage, playback = download(token, device=devices[0])
    assert 30 * DAY - 60 < storage <= 30 * DAY and playback == 2 * DAY
    before = portal.ask(token, device=devices[1], session=1)
    assert isinstance(before, OpenedCKC) and before.terms == Streaming(lease=300, rental=30 * DAY)
    begun = portal.ask(token, device=devices[1], session=1, state=tags.PLAYING_OR_PAUSED)
    assert isinstance(begun, OpenedCKC) and begun.terms == Streaming(lease=300, rental=2 * DAY)
    # Downloads take device slots too.
    download(token, device=devices[2], session=2)
    assert portal.ask(token, device=devices[3], session=3, query="?offline=1", **keeper) == "device_limit"
    # 20 days later.
    subject = tokens.header_and_claims(token)[1]["sub"]
    late = portal.token(sub=subject, rights=rented(end=purchase + 12 * DAY))
    storage, playback = download(late, device=devices[0], session=4)
    assert 10 * DAY - 60 < storage <= 10 * DAY and playback == 2 * DAY


def test_a_download_without_rental_ignores_it(portal: Portal) -> None:
    subject, device = f"viewer-{secrets.token_hex(4)}", portal.device()
    keeper = {"capabilities": tags.CAPABILITY_OFFLINE_KEY, "device": device}
    streaming = {"content": "movie-42", "lease": 1, "rental": {"start": "30d", "play": 2}}
    download = {"content": "movie-42", "mode": "offline", "storage": 30 * DAY, "playback": 2 * DAY}
    token = portal.token(sub=subject, rights=[streaming, download])
    assert isinstance(portal.ask(token, device=device, state=tags.PLAYING_OR_PAUSED), OpenedCKC)
    deadline = time.monotonic() + 60
    while (answer := portal.ask(token, device=device, session=2)) != "right_ended":
        assert isinstance(answer, OpenedCKC) and time.monotonic() < deadline, answer
        time.sleep(0.2)
    stored = portal.ask(token, query="?offline=1", session=3, **keeper)
    assert isinstance(stored, OpenedCKC) and isinstance(stored.terms, OfflineKey)
    # With `rental`, the right to download has ended too, and a download begins the time to play.
    bound = download | {"rental": {"start": "30d", "play": 2}}
    ended = portal.token(sub=subject, rights=[bound])
    assert portal.ask(ended, query="?offline=1", session=4, **keeper) == "right_ended"
    rental = {"rental": {"start": "30d", "play": "48h"}}
    rights = [streaming | {"lease": 300} | rental, download | rental]
    token = portal.token(sub=f"viewer-{secrets.token_hex(4)}", rights=rights)
    stored = portal.ask(token, query="?offline=1", session=5, **keeper)
    assert isinstance(stored, OpenedCKC) and not isinstance(stored.terms, OfflineKey)
    streamed = portal.ask(token, device=device, session=6)
    assert isinstance(streamed, OpenedCKC)
    assert 2 * DAY - 60 < streamed.terms.rental <= 2 * DAY


def test_only_one_device(portal: Portal) -> None:
    token = recipe(portal, "Only the first device that uses the token", jti=secrets.token_hex(8))
    mine = portal.device()
    for session in (1, 2):
        assert isinstance(portal.ask(token, device=mine, session=session), OpenedCKC)
    assert portal.ask(token, session=3) == "device_mismatch"
    named = portal.token(cnf={"fps:hu": mine.device_id.hex()}, rights=[{"content": "movie-42", "lease": 300}])
    assert isinstance(portal.ask(named, device=mine, session=4), OpenedCKC)
    assert portal.ask(named, session=5) == "device_mismatch"


def test_high_definition_at_level_main(portal: Portal) -> None:
    token = recipe(portal, "HD only at security level Main")
    baseline, main = tags.CAPABILITY_LEVEL_BASELINE, tags.CAPABILITY_LEVEL_MAIN
    assert isinstance(portal.ask(token, "movie-42", capabilities=baseline), OpenedCKC)
    assert portal.ask(token, "movie-43", capabilities=baseline) == "security_level"
    opened = portal.ask(token, "movie-43", capabilities=baseline | main)
    assert isinstance(opened, OpenedCKC) and opened.security_level == tags.LEVEL_MAIN


def test_a_live_channel(portal: Portal) -> None:
    token = recipe(portal, "Live channel")
    opened = portal.ask(token, "channel-1")
    assert isinstance(opened, OpenedCKC) and opened.terms == Streaming(lease=120)
    assert portal.ask(token) == "content_mismatch"


def test_a_country(portal: Portal) -> None:
    token = recipe(portal, "Only in some countries")
    assert isinstance(portal.ask(token, country="CH"), OpenedCKC)
    assert portal.ask(token, country="FR") == portal.ask(token) == "geo_denied"


def test_one_use(portal: Portal) -> None:
    token = recipe(portal, "One use", jti=secrets.token_hex(8))
    assert isinstance(portal.ask(token), OpenedCKC)
    assert portal.ask(token, session=2) == "token_used"
