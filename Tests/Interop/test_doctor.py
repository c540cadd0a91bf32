"""`latchkey doctor`: it finds what is wrong with an installation and with the daemon that runs, and changes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from admin_client import reload
from clock_lab import ClockedNode, await_true, lone_node
from deployment import run_latchkey
from license_client import LicenseClient
from own_daemon import OwnDaemon, running_daemon, without_locked_memory
from stepped_clock import stepped_clocks
from tls_material import make_pair

COMMAND_SECONDS = 60
CONTENT = "movie-1"


@dataclass(frozen=True)
class Finding:
    verdict: str
    found: str
    remedy: str | None


@dataclass(frozen=True)
class Diagnosis:
    """The findings of one run."""

    status: int
    findings: list[tuple[str, Finding]]

    def of(self, check: str) -> list[Finding]:
        return [finding for name, finding in self.findings if name == check]

    def one(self, check: str) -> Finding:
        found = self.of(check)
        assert len(found) == 1, self.findings
        return found[0]

    @property
    def bad(self) -> set[str]:
        return {name for name, finding in self.findings if finding.verdict == "bad"}


def doctor(setup: Path, *options: str, environment: dict[str, str] | None = None) -> Diagnosis:
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "doctor", "--config", str(setup / "latchkey.json5"), "--json", *options],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False, env=os.environ | (environment or {}),
    )  # fmt: skip
    report = json.loads(finished.stdout)
    assert report["isSound"] == (finished.returncode == 0), finished.stderr
    findings = [(one["check"], Finding(one["verdict"], one["found"], one["remedy"])) for one in report["findings"]]
    for name, finding in findings:
        assert finding.verdict in ("good", "warning", "bad", "skipped")
        assert finding.verdict in ("good", "skipped") or finding.remedy, f"{name} says nothing to do"
    return Diagnosis(finished.returncode, findings)


def server(daemon: OwnDaemon) -> tuple[str, str]:
    return "--server", f"http://{daemon.admin[0]}:{daemon.admin[1]}"


def change(setup: Path, pattern: str, replacement: str) -> None:
    file = setup / "latchkey.json5"
    text, count = re.subn(pattern, replacement, file.read_text(), count=1)
    assert count == 1, f"no {pattern} in {file.read_text()}"
    file.write_text(text)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("doctor")) as running:
        run_latchkey(running.setup, "keys", "create", "--content", CONTENT)
        yield running


@pytest.fixture
def setup(daemon: OwnDaemon, tmp_path: Path) -> Path:
    """A copy of the daemon's set-up, for a test that damages it."""
    copy = tmp_path / "setup"
    shutil.copytree(daemon.setup, copy)
    return copy


def test_a_sound_installation_has_nothing_bad_and_gives_licenses(daemon: OwnDaemon) -> None:
    # A lease is given only to a device that reports its playback.
    token = run_latchkey(daemon.setup, "token", "mint", "--content", CONTENT, "--lease", "5m").strip()
    before = (daemon.setup / "latchkey.json5").read_bytes()
    diagnosis = doctor(
        daemon.setup, *server(daemon), "--viewer-token", token, "--asset-id", f"skd://{CONTENT}",
        "--url", f"{daemon.url}/fps/license",
    )  # fmt: skip
    assert diagnosis.status == 0 and not diagnosis.bad
    assert [finding.verdict for finding in diagnosis.of("license")] == ["good", "good"]
    assert diagnosis.one("daemon.memory").verdict == "good"
    assert diagnosis.one("store.sqlite").verdict == "good"
    assert (daemon.setup / "latchkey.json5").read_bytes() == before


def test_a_refused_license_names_the_request(daemon: OwnDaemon) -> None:
    token = run_latchkey(daemon.setup, "token", "mint", "--content", "another-film").strip()
    diagnosis = doctor(
        daemon.setup, *server(daemon), "--viewer-token", token, "--asset-id", f"skd://{CONTENT}",
        "--url", f"{daemon.url}/fps/license",
    )  # fmt: skip
    assert diagnosis.bad == {"license"}
    for finding in diagnosis.of("license"):
        assert "content_mismatch" in finding.found
        (request_id,) = re.findall(r"request id (\S+)", finding.found)
        assert finding.remedy == f"latchkey why {request_id}"


def test_preflights_that_ask_for_more_are_named(daemon: OwnDaemon) -> None:
    client = LicenseClient(daemon.url)
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-mine"}
    answers = [
        client.send("OPTIONS", "/fps/license", headers=wanted | {"Origin": "https://app.example"}) for _ in range(3)
    ]
    client.close()
    assert all("x-mine" not in (answer.header("Access-Control-Allow-Headers") or "") for answer in answers)
    finding = doctor(daemon.setup, *server(daemon)).one("daemon.cors")
    assert finding.verdict == "warning"
    assert "https://app.example" in finding.found and "x-mine" in finding.found and "3 times" in finding.found
    assert finding.remedy is not None and "add x-mine to cors.allowedHeaders" in finding.remedy


def test_the_advice_about_preflights_can_be_followed(
    latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every origin and header of the advice can be configured, and after that nothing is asked for in vain."""
    origins = ["app://localhost", "file://", "vscode-webview://1a2b", "https://app.example:8443"]
    headers = ["__proto__", "x_custom", "x.dots", *(f"x-{number}" for number in range(7))]

    def cors(text: str) -> Callable[[Path], None]:
        return lambda setup: change(setup, r"\n    logging: \{", f"\n    cors: {{ {text} }},\n    logging: {{")

    with running_daemon(
        tmp_path_factory.mktemp("advice"), prepare=cors('origins: ["https://page.example"]')
    ) as daemon:
        client = LicenseClient(daemon.url)
        for origin in origins:
            client.send(
                "OPTIONS", "/fps/license", headers={"Access-Control-Request-Method": "POST", "Origin": origin}
            )
        for header in headers:
            asked = {"Access-Control-Request-Headers": header, "Origin": "https://page.example"}
            client.send("OPTIONS", "/fps/license", headers={"Access-Control-Request-Method": "POST"} | asked)
        findings = doctor(daemon.setup, *server(daemon)).of("daemon.cors")
        assert len(findings) == 9 and f"{len(origins + headers) - 8} more" in findings[-1].found
        all_origins = json.dumps([*origins, "https://page.example"])
        wanted = f"cors: {{ origins: {all_origins}, allowedHeaders: {json.dumps(headers)} }}"
        change(daemon.setup, r"cors: \{[^}]*\}", wanted)
        reload(daemon)
        assert doctor(daemon.setup, *server(daemon)).of("daemon.cors") == []
        client.close()


def test_no_daemon(setup: Path) -> None:
    diagnosis = doctor(setup, "--server", "http://127.0.0.1:1")
    assert diagnosis.bad == {"daemon"}
    assert doctor(setup, "--no-daemon").bad == set()


def test_another_admin_token(daemon: OwnDaemon, setup: Path) -> None:
    (setup / "secrets" / "admin-token").write_text("a-token-that-the-daemon-does-not-know-0123456789\n")
    diagnosis = doctor(setup, *server(daemon))
    assert diagnosis.bad == {"daemon"}
    assert "401" in diagnosis.one("daemon").found and "token" in str(diagnosis.one("daemon").remedy)


def test_a_configuration_that_is_not_valid(setup: Path) -> None:
    change(setup, r"ledger: \{", "ledgr: {")
    diagnosis = doctor(setup, "--no-daemon")
    assert diagnosis.bad == {"configuration"} and len(diagnosis.findings) == 1


def test_permissions_of_files_that_the_daemon_reads_all_the_same(setup: Path) -> None:
    (setup / "latchkey.json5").chmod(0o666)
    (setup / "latchkey.db").chmod(0o644)
    diagnosis = doctor(setup, "--no-daemon")
    assert {"files.configuration", "files.database"} <= diagnosis.bad
    assert "chmod go-w" in str(diagnosis.one("files.configuration").remedy)


def test_folders_in_which_others_can_replace_files(setup: Path) -> None:
    setup.chmod(0o770)
    (setup / "secrets").chmod(0o777)
    # Only the owner of a file can replace it there.
    (setup / "fairplay").chmod(0o1777)
    diagnosis = doctor(setup, "--no-daemon")
    found = {finding.remedy: finding.found for finding in diagnosis.of("files.folder")}
    assert set(found) == {f"chmod go-w {setup}", f"chmod go-w {setup / 'secrets'}"}, found
    assert f"{setup / 'secrets'} has mode 0777" in found[f"chmod go-w {setup / 'secrets'}"]
    assert diagnosis.bad == {"files.folder"} and not diagnosis.of("files.permissions")
    for folder in (setup, setup / "secrets"):
        folder.chmod(0o700)
    assert doctor(setup, "--no-daemon").one("files.permissions").verdict == "good"


def test_one_secret_for_two_uses(setup: Path) -> None:
    shutil.copy(setup / "secrets" / "ledger-key", setup / "secrets" / "pseudonym-key")
    diagnosis = doctor(setup, "--no-daemon")
    assert "policy.secrets" in diagnosis.bad
    assert "ledger.key, ledger.pseudonymKey" in diagnosis.one("policy.secrets").found


def test_a_key_of_sessions_that_is_the_ledgers_key(setup: Path) -> None:
    shutil.copy(setup / "secrets" / "ledger-key", setup / "secrets" / "session-key")
    diagnosis = doctor(setup, "--no-daemon")
    assert "entitlement.sessions.key, ledger.key" in diagnosis.one("policy.secrets").found


def test_an_admin_listener_without_a_token(setup: Path) -> None:
    change(setup, r'address: "127\.0\.0\.1:9080", tokenFile: "secrets/admin-token"', 'address: "127.0.0.1:9080"')
    diagnosis = doctor(setup, "--no-daemon")
    assert diagnosis.bad == set()
    assert diagnosis.one("policy.adminAccess").verdict == "warning"
    change(setup, r"127\.0\.0\.1:9080", f"unix:{setup}/admin.sock")
    assert not doctor(setup, "--no-daemon").of("policy.adminAccess")


def test_another_pseudonym_key_than_the_database_was_made_with(setup: Path) -> None:
    (setup / "secrets" / "pseudonym-key").write_bytes(os.urandom(32).hex().encode())
    diagnosis = doctor(setup, "--no-daemon")
    assert "store.sqlite" in diagnosis.bad
    assert "pseudonym" in diagnosis.one("store.sqlite").found


def test_settings_that_are_hardly_ever_meant(setup: Path) -> None:
    change(setup, r'address: "127\.0\.0\.1:8080"', 'address: "127.0.0.1:8080", trustedProxies: ["0.0.0.0/0"]')
    change(setup, r"ledger: \{", 'ledger: { retention: "2h",')
    diagnosis = doctor(setup, "--no-daemon")
    assert diagnosis.bad == {"policy.proxies"}
    assert diagnosis.one("policy.retention").verdict == "warning"


def test_a_public_listener_at_the_address_of_the_admin_listener(setup: Path) -> None:
    change(setup, r"127\.0\.0\.1:9080", "127.0.0.1:8080")
    diagnosis = doctor(setup, "--no-daemon")
    assert diagnosis.bad & {"policy.addresses", "configuration"}


def test_memory_that_cannot_be_locked(tmp_path: Path) -> None:
    with without_locked_memory(tmp_path) as running:
        diagnosis = doctor(running.setup, *server(running))
        assert "daemon.memory" in diagnosis.bad
        assert "LimitMEMLOCK" in str(diagnosis.one("daemon.memory").remedy)
        assert "memory_not_locked" in running.log.read_text()


def test_a_certificate_that_was_replaced_without_a_reload(tmp_path: Path) -> None:
    authority = make_pair(tmp_path, "authority")
    pair = make_pair(tmp_path, "server", hosts=("localhost",), issuer=authority)
    with running_daemon(tmp_path, tls=pair.configuration) as running:
        # The doctor asks the addresses of the configuration.
        change(running.setup, r"127\.0\.0\.1:8080", f"{running.public[0]}:{running.public[1]}")
        assert doctor(running.setup, *server(running)).one("tls.served").verdict == "good"
        run_latchkey(running.setup, "keys", "create", "--content", CONTENT)
        token = run_latchkey(running.setup, "token", "mint", "--content", CONTENT).strip()
        url = f"https://localhost:{running.public[1]}/fps/license"
        wish = ("--viewer-token", token, "--asset-id", f"skd://{CONTENT}", "--url", url)
        distrusted = doctor(running.setup, *server(running), *wish).of("license")
        assert [finding.verdict for finding in distrusted] == ["bad", "bad"], distrusted
        for finding in distrusted:
            assert "is not trusted" in finding.found and "by --ca FILE" in str(finding.remedy), finding
        trusted = doctor(running.setup, *server(running), *wish, "--ca", str(authority.certificate_file))
        assert [finding.verdict for finding in trusted.of("license")] == ["good", "good"], trusted
        make_pair(tmp_path, "server", hosts=("localhost",), issuer=authority)
        diagnosis = doctor(running.setup, *server(running))
        assert diagnosis.bad == {"tls.served"}
        assert "reload" in str(diagnosis.one("tls.served").remedy)


def test_few_descriptors(tmp_path: Path) -> None:
    with running_daemon(tmp_path, files=256) as running:
        assert doctor(running.setup, *server(running)).one("daemon.descriptors").verdict == "warning"


def test_a_clock_that_was_stepped_and_set_back(tmp_path: Path) -> None:
    with stepped_clocks() as clocks:
        clock = clocks.make()
        node: ClockedNode = lone_node(tmp_path, clock)
        node.start()
        try:
            where = ("--server", f"http://{node.node.admin[0]}:{node.node.admin[1]}")
            assert doctor(node.setup, *where).one("daemon.clock").verdict == "good"
            clock.step(86_400)
            await_metric(node, "latchkey_clock_trusted", 0)
            diagnosis = doctor(node.setup, *where)
            assert "daemon.clock" in diagnosis.bad
            clock.step(0)
            await_metric(node, "latchkey_clock_trusted", 1)
            finding = doctor(node.setup, *where).one("daemon.clock")
            assert finding.verdict == "warning" and "clock_stepped" in str(finding.remedy)
        finally:
            node.stop()


def await_metric(node: ClockedNode, name: str, value: float) -> None:
    await_true(f"{name} is {value}", lambda: node.metric(name) == value)
