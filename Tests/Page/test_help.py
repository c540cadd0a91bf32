"""The documents as an operator's browser shows them: "Help" opens the site that the package installs, its search finds
what readers look for, and its pages have no barrier and fit into a phone.
"""

import gzip
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from browser import Page
from conftest import Lab, add_operators, required
from desk import Desk
from own_daemon import OwnDaemon, installed_programs, running_daemon
from test_access import AXE_RUN, AXE_SHOW, SEVERE, WIDTHS, save_picture

ROOT = Path(__file__).resolve().parents[2]
# What readers look for, and a page that must be among the first results.
SEARCHES = {
    "drain": "operate/", "clock_untrusted": "clock_untrusted", "lease": "", "offline": "apps/offline",
    "renewal": "apps/renewals", "token_expired": "token_expired", "jwt": "tokens/", "ES256": "token",
    "expressplay": "tokens/expressplay", "nagra": "tokens/nagra", "axinom": "tokens/axinom", "speke": "packaging/speke",
    "shaka": "packaging/", "mediaconvert": "packaging/", "playlist": "packaging/playlists",
    "rotation": "packaging/live-rotation", "postgresql": "operate/postgresql", "backup": "operate/backups",
    "upgrade": "operate/upgrades", "prometheus": "operate/", "LatchkeyDown": "operate/runbooks",
    "support desk": "",
    "ledger": "operate/ledger", "revoke": "operate/", "CORS": "", "AVContentKeySession": "apps/ios",
    "hls.js": "apps/web", "11835": "apps/troubleshooting", "pseudonym": "security/personal-data",
    "latchkey_ready": "reference/metrics", "trustedProxies": "", "signing request": "start/apple-credentials",
}
# One page of each kind.
PAGES = ("index", "apps/renewals", "tokens/cookbook", "operate/sizing", "reference/errors", "reference/api")
RESULTS = "[...document.querySelectorAll('.md-search-result__link')].map((one) => one.href)"


# The worker has read the index, and the field listens.
READY = """new Promise((found) => {
    const look = () => document.querySelector(".md-search-result__meta").innerText.startsWith("Init")
        ? setTimeout(look, 20) : setTimeout(found, 200);
    look();
})"""
# The results stay the same for a while: the worker has answered.
SETTLED = f"""new Promise((found) => {{
    let [before, since] = ["", performance.now()];
    const look = () => {{
        const now = {RESULTS}.join();
        if (now !== before) [before, since] = [now, performance.now()];
        performance.now() - since > (now ? 250 : 3000) ? found() : setTimeout(look, 20);
    }};
    look();
}})"""


@dataclass(frozen=True)
class Installed:
    """A daemon with the documents beside it, as the package installs them."""

    daemon: OwnDaemon
    site: Path

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.daemon.admin)

    @property
    def pages(self) -> list[str]:
        return sorted(str(page.relative_to(self.site)) for page in self.site.rglob("*.html"))


@pytest.fixture(scope="module")
def installed(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    binaries = Path(required("LATCHKEY_BIN", "program latchkey")).parent
    system = tmp_path_factory.mktemp("installed")
    with installed_programs(system) as site:
        subprocess.run([ROOT / "Scripts/build-site", "--bin", binaries, site], check=True)
        with running_daemon(system, prepare=add_operators) as daemon:
            yield Installed(daemon, site)


@contextmanager
def reading(lab: Lab, installed: Installed, width: int = 1440, scheme: str = "light") -> Iterator[Page]:
    """A tab that may ask only this daemon. The daemon's policy is in force: what it forbids is in the console."""
    with lab.browser.page() as page:
        page.call("Log.enable")
        size = {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 500}
        page.call("Emulation.setDeviceMetricsOverride", size)
        page.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        yield page
        assert page.console == []
        sent = [one.url for one in page.exchanges("", "GET")]
        assert [url for url in sent if not url.startswith((f"{installed.url}/", "data:"))] == []


def test_help_on_the_operators_page_opens_the_documents(lab: Lab, installed: Installed) -> None:
    with reading(lab, installed) as page:
        token = (installed.daemon.setup / "secrets/support-operator").read_text().strip()
        Desk(page, installed.url).log_in(token)
        address = page.evaluate("[...document.querySelectorAll('#who a')].find((one) => one.innerText === 'Help').href")
        assert address == f"{installed.url}/help/index.html"
        page.open(address)
        assert page.evaluate("document.title").startswith("Latchkey")
        page.open(f"{installed.url}/help/operate/page.html")
        assert page.evaluate("document.querySelector('h1').innerText").startswith("The operator")


def test_a_daemon_without_the_documents_shows_no_help(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support"))
    assert "Help" not in desk.texts("#who a")


def test_the_search_finds_what_readers_look_for(lab: Lab, installed: Installed) -> None:
    missed = []
    with reading(lab, installed) as page:
        page.open(f"{installed.url}/help/index.html")
        page.evaluate(READY)
        for term, wanted in SEARCHES.items():
            page.evaluate(
                "(() => { const box = document.querySelector('[data-md-component=search-query]'); box.focus();"
                f" box.value = {term!r}; box.dispatchEvent(new KeyboardEvent('keyup', {{bubbles: true}})); }})()"
            )
            page.evaluate(SETTLED)
            results = page.evaluate(RESULTS)[:8]
            if not any(wanted in result.partition("/help/")[2].partition("?")[0] for result in results):
                missed.append((term, wanted, results))
    assert missed == []


def test_words_of_a_search_are_no_markup(lab: Lab, installed: Installed) -> None:
    """A link can bring words along, and the site has the origin of the operator's page."""
    with reading(lab, installed) as page:
        page.open(f"{installed.url}/help/index.html?q={quote('license <b/id=pwn>zzzqqq')}")
        page.evaluate(SETTLED)
        assert page.evaluate("document.querySelector('.md-search-result').innerText").count("zzzqqq") > 0
        assert page.evaluate("document.querySelectorAll('#pwn, .md-search-result b').length") == 0


def test_a_client_with_small_packets_gets_every_file(installed: Installed) -> None:
    """Loopback takes more at once than a network does."""
    for name in ("search/search_index.json", "reference/api.html", "pictures/page.png"):
        with socket.socket() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
            connection.connect(installed.daemon.admin)
            connection.settimeout(30)
            request = f"GET /help/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            connection.sendall(request.encode())
            with connection.makefile("rb") as stream:
                head, _, body = stream.read().partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        if b"\r\nContent-Encoding: gzip" in head:
            body = gzip.decompress(body)
        assert body == (installed.site / name).read_bytes(), name


def test_every_command_has_a_page(installed: Installed) -> None:
    program = installed.site.parents[3] / "bin/latchkey"
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) ", listed.partition("\nCommands:\n")[2].partition("\n\n")[0], re.MULTILINE)
    assert len(names) > 10
    for name in names:
        if name != "help":
            assert f"reference/commands/{name}.html" in installed.pages


def test_every_page_fits_into_a_phone(lab: Lab, installed: Installed) -> None:
    """The pages of errors and commands are alike: three of each are opened."""
    alike = [
        [name for name in installed.pages if name.startswith(f"reference/{folder}/")]
        for folder in ("errors", "commands")
    ]
    left = {name for names in alike for name in names[3:]}
    wide = []
    with reading(lab, installed, 390) as page:
        for name in sorted(set(installed.pages) - left):
            page.open(f"{installed.url}/help/{name}")
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if overflow > 0:
                wide.append(f"{name}: {overflow} pixels too wide")
    assert len(left) > 60 and wide == []


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_kinds_of_pages_have_no_barrier(lab: Lab, installed: Installed, width: int, scheme: str) -> None:
    faults = []
    with reading(lab, installed, width, scheme) as page:
        # axe adds its own code to the page, which the daemon's policy forbids.
        page.call("Page.setBypassCSP", {"enabled": True})
        for name in PAGES:
            page.open(f"{installed.url}/help/{name}.html")
            if pictures := os.environ.get("LATCHKEY_PICTURES"):
                save_picture(page, Path(pictures) / f"help-{name.replace('/', '-')}-{width}-{scheme}.png")
            page.evaluate(f"{lab.axe}; undefined")
            violations = page.evaluate(AXE_RUN % AXE_SHOW)
            faults += [
                f"{name}: {one['id']}: {place}"
                for one in violations if one["impact"] in SEVERE for place in one["places"]
            ]
    assert faults == []
