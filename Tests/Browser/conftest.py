"""Fixtures of the browser tests: one browser, one web server and three daemons for all of them.

No test is skipped: if the browser, the player or a program is missing, a test fails and names it.
"""

import base64
import hashlib
import json
import os
import secrets
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "Interop"))

pytest.register_assert_rewrite("deployment", "own_daemon", "browser")

from browser import Browser, Page, running_browser
from clip import Clip
from deployment import register, run_latchkey
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from pages import Pages, serving
from portal import Portal, running_portal
from tls_material import make_pair


# A test can use up this burst, and no other test needs so much.
LIMITS = {"rates": {"perSubject": {"perSecond": 1, "burst": 20}}}


OWN_PAGES = ("eme.html", "json.html", "hls.html", "shaka.html", "video.html")
KINDS = {".html": "text/html", ".js": "text/javascript"}


def kit_files(folder: str) -> dict[str, tuple[str, bytes]]:
    """The files of a folder of the client kit."""
    files = (ROOT / "Clients" / folder).iterdir()
    return {file.name: (KINDS[file.suffix], file.read_bytes()) for file in files}


def required(variable: str, what: str) -> str:
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} names no {what}; Scripts/test-browser does", pytrace=False)
    return value


@dataclass(frozen=True)
class Title:
    """A content that the server knows, with its key."""

    content: str
    key: ContentKey
    setup: Path

    def token(self, *options: str) -> str:
        return run_latchkey(self.setup, "token", "mint", "--content", self.content, *options).strip()

    def clip(self, key_uri: str | None, iv_in_media: bytes | None = None) -> Clip:
        return Clip(self.key.key_id, self.key.key, self.key.iv, key_uri, iv_in_media or self.key.iv)


def new_title(setup: Path) -> Title:
    """Registers a content with a name that no other test uses."""
    key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    content = f"clip-{secrets.token_hex(6)}"
    register(setup, content, key)
    return Title(content, key, setup)


@dataclass(frozen=True)
class Lab:
    """The browser, and the servers for pages and for licenses.

    `daemon` allows the page's origin, `asking` asks the portal about every bearer token, and `secure` uses TLS.
    """

    browser: Browser
    pages: Pages
    portal: Portal
    daemon: OwnDaemon
    asking: OwnDaemon
    secure: OwnDaemon
    scripts: dict[str, str]

    @property
    def license_url(self) -> str:
        return f"{self.daemon.url}/fps/license"

    def prepare(self, page: Page, daemon: OwnDaemon | None = None, **settings: object) -> None:
        """Adds the stand-in and the observer to the page."""
        secret = (daemon or self.daemon).setup / "fairplay" / "application-secret.hex"
        known = {"applicationSecret": secret.read_text().strip()} | settings
        page.inject(f"globalThis.standInSettings = {json.dumps(known)};")
        page.inject(self.scripts["fast_pauses.js"])
        page.inject(self.scripts["stand_in.js"])
        page.inject(self.scripts["observer.js"])

    def publish(self, clip: Clip) -> str:
        """Serves a clip, and returns the URL of its playlist."""
        return self.pages.add(f"clip-{secrets.token_hex(4)}", clip.files) + "clip.m3u8"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    chromium = required("LATCHKEY_CHROMIUM", "browser")
    player = Path(required("LATCHKEY_HLS_JS", "player"))
    required("LATCHKEY_BIN", "program latchkey")
    folder = tmp_path_factory.mktemp("lab")
    with ExitStack() as stack:
        pages = stack.enter_context(serving())
        for kit in ("browser", "hls.js", "shaka-player", "video.js"):
            pages.add(kit, kit_files(kit))
        pages.add("hls.js", {"hls.js": ("text/javascript", player.read_bytes())})
        own = {name: ("text/html", (HERE / name).read_bytes()) for name in OWN_PAGES}
        shaka = Path(os.environ.get("LATCHKEY_SHAKA") or HERE / "shaka_stand_in.js")
        scripts = {"kit.js": HERE / "kit.js", "shaka.js": shaka}
        pages.add("own", {name: ("text/javascript", file.read_bytes()) for name, file in scripts.items()})
        pages.add("own", own | {"hls.js": ("text/javascript", player.read_bytes())})
        identity = make_pair(folder, "server", hosts=("localhost",))
        public_key = identity.certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        trusted = base64.b64encode(hashlib.sha256(public_key).digest()).decode()
        for name in ("plain", "asking", "secure"):
            (folder / name).mkdir()
        portal = stack.enter_context(running_portal())
        cors = {"origins": [pages.origin], "allowCredentials": True}
        callback = portal.settings
        plain = stack.enter_context(
            running_daemon(folder / "plain", LIMITS, prepare=lambda setup: add(setup, "    fairplay: {", cors=cors))
        )
        asking = stack.enter_context(
            running_daemon(folder / "asking", prepare=lambda setup: add(setup, "        issuers: [", callback=callback))
        )
        secure = stack.enter_context(running_daemon(folder / "secure", tls=identity.configuration))
        browser = stack.enter_context(running_browser(chromium, folder, [trusted]))
        scripts = {name: (HERE / name).read_text() for name in ("fast_pauses.js", "stand_in.js", "observer.js")}
        yield Lab(browser, pages, portal, plain, asking, secure, scripts)


def add(setup: Path, place: str, **members: object) -> None:
    """Inserts members into the configuration before `place`, a text that occurs in it once."""
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count(place) == 1, text
    configuration.write_text(text.replace(place, json.dumps(members)[1:-1] + "," + place))


@pytest.fixture
def page(lab: Lab) -> Iterator[Page]:
    with lab.browser.page() as page:
        yield page


@pytest.fixture
def title(lab: Lab) -> Title:
    return new_title(lab.daemon.setup)
