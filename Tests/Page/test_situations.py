"""What operators see when it matters. Each situation is real. axe looks at it in two widths, light and dark."""

import math
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import counting_node
import tokens
from conftest import Lab, add_operators
from counting_node import nodes_on_one_database
from deployment import deployment_of, run_latchkey
from desk import Desk
from fairplay_device import tags
from fairplay_device.facts import DeviceIdentity, DeviceInfo, PlaybackState, SecurityLevelReport
from fairplay_device.spc import SPCOptions, device_for
from license_client import LicenseClient
from outage_server import Server, own_server
from own_daemon import running_daemon
from test_access import WIDTHS, examine
from viewers import message

FORMS = [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")]


@contextmanager
def desks(lab: Lab, setup: Path, admin: tuple[str, int]) -> Iterator[list[tuple[str, Desk]]]:
    """An administrator at four pages: two widths, light and dark. Each shows the view Now."""
    with ExitStack() as stack:
        found = []
        for width, scheme in FORMS:
            page = stack.enter_context(lab.browser.page())
            size = {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 500}
            page.call("Emulation.setDeviceMetricsOverride", size)
            feature = {"name": "prefers-color-scheme", "value": scheme}
            page.call("Emulation.setEmulatedMedia", {"features": [feature]})
            page.call("Page.setBypassCSP", {"enabled": True})
            desk = Desk(page, "http://{}:{}".format(*admin))
            desk.log_in((setup / "secrets" / "admin-operator").read_text().strip())
            desk.go("now").wait("document.querySelector('.tiles .panel')")
            found.append((f"{width}-{scheme}", desk))
        yield found


def look(lab: Lab, found: list[tuple[str, Desk]], name: str, show: Callable[[Desk], object]) -> None:
    """Waits until each page shows the situation, and looks for barriers."""
    faults: list[str] = []
    for form, desk in found:
        # A page in the background draws no frames.
        desk.page.call("Page.bringToFront")
        show(desk)
        faults += examine(lab, desk, name, os.environ.get("LATCHKEY_PICTURES"), form)
    assert faults == []


def says(text: str, tone: str) -> Callable[[Desk], object]:
    return lambda desk: desk.wait_for_text(text, f"#view .banner.{tone}")


class Viewers:
    """Those of one daemon of its own."""

    def __init__(self, setup: Path, url: str):
        self.url = url
        self.deployment = deployment_of(url, setup)
        self.client = LicenseClient(url)

    def play(self, count: int) -> None:
        for number in range(count):
            spc = message(self, version=1 + number % 2)
            assert self.client.license(spc, self.deployment.token).status == 200

    def be_refused(self, count: int, token: str, code: str) -> None:
        for _ in range(count):
            assert self.client.license(message(self), token).code == code


def be_busy(viewers: Viewers, setup: Path, seconds: float) -> None:
    """A load that fills the plots: it rises and falls, and some requests are refused for each of several reasons."""
    header, claims = tokens.header_and_claims(viewers.deployment.token)
    past = claims | {"iat": claims["iat"] - 7200, "exp": claims["iat"] - 3600}
    refused = {
        "none": 2,
        tokens.with_altered_signature(viewers.deployment.token): 3,
        tokens.sign_es256(header, past, viewers.deployment.signing_key): 6,
        run_latchkey(setup, "token", "mint", "--content", "another-film").strip(): 4,
    }
    options = ["--certificate", "fairplay/bundle.bin", "--application-secret", "fairplay/application-secret.hex"]
    options += ["--asset-id", viewers.deployment.asset_id.decode(), "--token", viewers.deployment.token]
    options += ["--spc-version", "1,2", "--seconds", "10", "--connections", "16", "--url", viewers.url]
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        rounds += 1
        rate = str(round(40 + 25 * math.sin(rounds / 4)))
        subprocess.run([os.environ["LATCHKEY_BIN"], "bench", *options, "--rate", rate], cwd=setup, check=True, timeout=60)
        for token, count in refused.items():
            for _ in range(count + rounds % 3):
                assert viewers.client.license(message(viewers), token).status in (401, 403)


def test_idle_load_and_a_dead_daemon(lab: Lab, tmp_path: Path) -> None:
    """LATCHKEY_LOAD_SECONDS makes the load longer, for a picture whose plots are full."""
    with running_daemon(tmp_path, prepare=add_operators) as daemon, desks(lab, daemon.setup, daemon.admin) as found:
        look(lab, found, "idle", says("every part works", "good"))
        viewers = Viewers(daemon.setup, daemon.url)
        seconds = float(os.environ.get("LATCHKEY_LOAD_SECONDS", "0"))
        be_busy(viewers, daemon.setup, seconds)
        wrong = tokens.with_altered_signature(viewers.deployment.token)
        for number in range(0 if seconds else 6):
            viewers.play(25)
            viewers.be_refused(1, "none", "token_malformed")
            viewers.be_refused(1 if number % 3 == 0 else 0, wrong, "token_signature")
            found[0][1].evaluate("import('/page/live.js').then(({ live }) => new Promise((resolve) =>"
                                 " live.addEventListener('points', resolve, { once: true })).then(() => true))")
        viewers.client.close()
        drawn = "document.querySelector('#plot-licenses .area') && document.querySelector('#plot-latency .trace')"
        look(lab, found, "load", lambda desk: desk.wait(drawn))
        # It stays stopped, and is not in the way of the end.
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            look(lab, found, "dead", says("No answer since", "bad"))
        finally:
            daemon.process.send_signal(signal.SIGCONT)


def test_a_wrong_token_after_an_app_release(lab: Lab, tmp_path: Path) -> None:
    """Half of the viewers have the new app, whose tokens have a wrong signature."""
    with running_daemon(tmp_path, prepare=add_operators) as daemon, desks(lab, daemon.setup, daemon.admin) as found:
        viewers = Viewers(daemon.setup, daemon.url)
        wrong = tokens.with_altered_signature(viewers.deployment.token)
        viewers.be_refused(30, wrong, "token_signature")
        look(lab, found, "all-refused", says("No request got a license", "bad"))
        viewers.play(20)
        viewers.be_refused(20, wrong, "token_signature")
        viewers.be_refused(2, "none", "token_malformed")
        viewers.client.close()
        show = says("of the requests are refused, most for a token that is not known here", "warn")
        look(lab, found, "app-release-now", show)

        def opened(desk: Desk) -> None:
            desk.click("Open these refusals", "#view")
            desk.wait("document.querySelectorAll('table[aria-label^=\"Refusals by\"] tbody tr').length === 1")
            assert desk.texts("table[aria-label^='Refusals by'] td:first-child") == ["50"]

        look(lab, found, "app-release", opened)


def test_a_subject_with_200_licenses(lab: Lab, subject: str) -> None:
    contents = [f"season-{number}-{uuid.uuid4().hex[:4]}" for number in range(5)]
    for content in contents:
        run_latchkey(lab.daemon.setup, "keys", "create", "--content", content)
    header, claims = tokens.header_and_claims(lab.deployment.token)
    own = {"sub": subject, "rights": [{"content": content, "lease": 300} for content in contents], "device": {"max": 4}}
    token = tokens.sign_es256(header, claims | own, lab.deployment.signing_key)
    with ExitStack() as stack:
        client = LicenseClient(lab.daemon.url)
        stack.callback(client.close)
        devices = [device_for(lab.deployment.credential, 2) for _ in range(4)]
        for number in range(200):
            state = PlaybackState(1_700_000_000, tags.READY_TO_START, number + 1)
            options = SPCOptions(contents[number % 5].encode(), playback_state=state)
            assert client.license(devices[number % 4].request(options).message, token).status == 200
        assert client.license(device_for(lab.deployment.credential, 2).request(options).message, token).status == 403
        found = stack.enter_context(desks(lab, lab.daemon.setup, lab.daemon.admin))
        found[0][1].ask("post", "/v1/revocations", {"kind": "sub", "value": subject, "reason": "shared its account"})

        def show(desk: Desk) -> None:
            desk.go("find", subject=subject)
            desk.wait("document.querySelectorAll('.group').length >= 4")
            desk.wait_for_text("shared its account", "#view .banner.bad")
            assert desk.count(".group > details") >= 20
            # The group with a refusal is open as an operator would open it.
            desk.evaluate("void document.querySelector('.group details summary').click()")

        look(lab, found, "subject", show)


AUDIO, BASELINE, MAIN = 0x17D99D574EED567D, 0x32F0004966A5C4F8, 0x4E7FD92421D588B4
MAC = 0x358C41B1EC78F599
# Class, level and major version of a device, and how many of them ask.
KINDS = [(2, MAIN, 18, 40), (2, MAIN, 26, 32), (2, BASELINE, 17, 12), (1, MAIN, 18, 18), (128, BASELINE, 17, 9),
         (4, MAIN, 26, 3), (77, MAIN, 40, 1), (3, MAIN, 15, 14)]


def test_one_kind_of_device_is_refused(lab: Lab, tmp_path: Path) -> None:
    """Old Macs say that they are too weak for the content, and everybody else plays."""
    with running_daemon(tmp_path, prepare=add_operators) as daemon, ExitStack() as stack:
        viewers = Viewers(daemon.setup, daemon.url)

        def ask(**facts: object) -> int:
            state = PlaybackState(1_700_000_000, tags.READY_TO_START, 1)
            options = SPCOptions(viewers.deployment.asset_id, playback_state=state, **facts)
            spc = device_for(viewers.deployment.credential, 2).request(options).message
            return viewers.client.license(spc, viewers.deployment.token).status

        for number, level, major, count in KINDS:
            identity = DeviceIdentity(1, number, bytes(8), bytes(8), 1, 1, major << 16)
            for _ in range(count):
                assert ask(device_identity=identity, security_level_report=SecurityLevelReport(level)) == 200
        for _ in range(9):
            old = DeviceInfo(MAC, 12 << 16 | 6 << 8)
            assert ask(device_info=old, security_level_report=SecurityLevelReport(AUDIO)) == 403
        viewers.client.close()
        found = stack.enter_context(desks(lab, daemon.setup, daemon.admin))

        def show(desk: Desk) -> None:
            desk.wait("document.querySelectorAll('.devices .tag.bad').length === 1")
            rows = desk.texts(".devices table:first-child tbody tr")
            assert "iPhone, iPad" in rows[0] and "61 %" in rows[0] and "84" in rows[0], rows
            assert [row for row in rows if "Mac" in row and "39 %" in row], rows
            # Nine requests of one level are too few for a mark of the level.
            assert "audio" in desk.text(".devices table:nth-child(2)"), rows
            desk.evaluate("document.querySelector('.devices').scrollIntoView()")

        look(lab, found, "devices", show)


def told(server: Server, schema: str) -> str:
    """What the nodes whose ledgers have a copy have told about themselves."""
    return server.sql(
        f"SELECT DISTINCT state || ' ' || version FROM {schema}.ledger_node JOIN {schema}.ledger_batch USING (node)"
        " WHERE state IS NOT NULL;"
    )


def test_a_node_and_then_the_database_down(lab: Lab, tmp_path: Path) -> None:
    with own_server() as server, ExitStack() as stack:
        server.password_file.chmod(0o600)
        url = server.url().partition("&schema=")[0]
        first, second = nodes_on_one_database(tmp_path, 2, url, server.password_file)
        (schema,) = re.findall(r"schema=(interop_\w+)", (first.setup / "latchkey.json5").read_text())
        for node in (first, second):
            add_operators(node.setup)
        second.start()
        stack.callback(second.process.kill)
        deadline = time.monotonic() + 60
        while not told(server, schema).startswith("ready "):
            assert time.monotonic() < deadline, second.log.read_text()[-2000:]
        second.process.kill()
        second.process.wait()
        # Ten minutes pass.
        server.sql(f"UPDATE {schema}.ledger_node SET seen_at = seen_at - 600;")
        first.start()
        stack.callback(first.process.kill)
        for _ in range(5):
            spc = counting_node.message(first.device())
            assert first.ask(spc, counting_node.token(sub="viewer")).status == 200
        found = stack.enter_context(desks(lab, first.setup, first.admin))

        def down(desk: Desk) -> None:
            desk.wait_for_text("not seen", "#view .tag.bad")
            shown = desk.text("#view .tiles")
            assert "node-0" in shown and "node-1" in shown and "ready" in shown
            assert re.search(r"\b1\d min ago", shown)
            assert desk.text("#view .banner.warn p") == "This node serves, but node-1 is not seen."

        look(lab, found, "node-down", down)
        server.kill()

        def deaf(desk: Desk) -> None:
            desk.wait_for_text("1 part does not work", "#view .banner.warn")
            # What became of the other node cannot be known now.
            desk.wait("!document.querySelector('#view .tag.bad')")
            assert "not known" in desk.text("#view .tiles") and "PostgreSQL" in desk.text("#view")

        look(lab, found, "database-down", deaf)
