"""What an operator does with the Debian package, from its installation to its removal, on a system that systemd has booted."""

import json
import os
import re
import socket
import ssl
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from first_license import COMMANDS, COUNT_MAXIMUM
from host import (
    CONFIGURATION, CONTENT, DEVELOPMENT, DOCUMENTS, HANDOVER, LOST, NEW, OLD, OPERATOR, OTHER_KEY, PACKAGER_SECRET,
    REPOSITORY, REVOKED, STATE, WAIT_SECONDS, as_daemon, ask_as_packager, ask_for_a_license, drop_in, edit, is_active,
    journal, ledger_rows, listen_on_loopback, main_process, perform, readiness, run, say, shown, tool,
    trust_the_certificate, wait_for,
)

SOURCE, KEYRING = Path("/etc/apt/sources.list.d/latchkey.list"), Path("/etc/apt/keyrings/latchkey.asc")
INSTALLED_BYTES_MAXIMUM = 110_000_000
KILLS = 5
RESTARTS = 5
CLIENTS = 16
ANSWERS_BETWEEN = 300

# --- Load -------------------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """Clients over TLS that keep their connections, and ask until they are told to stop."""

    answered: int = 0
    refused: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stopping: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, keeps: bool) -> None:
        context = ssl.create_default_context()
        while not self.stopping:
            try:
                plain = socket.create_connection(("127.0.0.1", 443), timeout=WAIT_SECONDS)
                connection = context.wrap_socket(plain, server_hostname="localhost")
            except OSError as failure:
                self.refused.append(repr(failure))
                continue
            with connection:
                while self._ask(connection) and keeps and not self.stopping:
                    time.sleep(0.01)

    def _ask(self, connection: ssl.SSLSocket) -> bool:
        """Whether the connection goes on."""
        # Closed between two requests: nothing was asked.
        connection.settimeout(0)
        try:
            if connection.recv(1) == b"":
                return False
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except OSError:
            return False
        connection.settimeout(WAIT_SECONDS)
        received = b""
        try:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while not received.endswith(b"\r\n\r\nok\n"):
                data = connection.recv(65536)
                if not data:
                    break
                received += data
        except OSError as failure:
            received += repr(failure).encode()
        with self.lock:
            if received.endswith(b"\r\n\r\nok\n"):
                self.answered += 1
                return b"Connection: close" not in received
            self.lost.append(received.decode())
            return False


# --- Steps, in their order --------------------------------------------------------------------------------------------


def apt(*words: str, status: int = 0) -> str:
    """apt with the repository of the test alone: a container has no network."""
    return run("apt-get", "-o", f"Dir::Etc::SourceList={SOURCE}", "-o", "Dir::Etc::SourceParts=-", *words, status=status)


def trust(key: Path) -> None:
    run("install", "--mode", "0644", key, KEYRING)


def refuse_another_key() -> None:
    """A repository with the signature of a stranger gives no package."""
    SOURCE.write_text(f"deb [signed-by={KEYRING}] file:{REPOSITORY} stable main\n", encoding="utf-8")
    KEYRING.parent.mkdir(exist_ok=True)
    trust(OTHER_KEY)
    assert "is not signed" in apt("update", status=100)
    apt("install", "--yes", "latchkey", status=100)


def install() -> None:
    """The newest package of the repository is there, and nothing runs: there are no keys yet."""
    trust(REPOSITORY / "latchkey.asc")
    apt("update")
    apt("install", "--yes", "latchkey")
    assert shown_field("Version") == run("dpkg-deb", "--field", NEW, "Version").strip()
    assert run("apt-cache", "madison", "latchkey").count("Packages") == 2, "the repository has both versions"
    assert run("dpkg", "--verify", "latchkey") == ""
    for unit in ("latchkey.service", "latchkey.socket"):
        assert run("systemctl", "is-enabled", unit, status=None).strip() == "disabled"
        assert not is_active(unit)
    # Without a configuration a start is passed over, and no socket is there.
    run("systemctl", "start", "latchkey.socket")
    assert shown("latchkey.socket", "ActiveState") == "inactive"
    assert run("stat", "--format", "%U:%G %a", "/etc/latchkey").strip() == "root:latchkey 750"
    assert run("getent", "passwd", "latchkey").startswith("latchkey:")
    for path in ("man/man1/latchkey.1.gz", "man/man1/latchkeyd.1.gz", "bash-completion/completions/latchkey"):
        assert Path("/usr/share", path).exists(), path
    materials = json.loads(Path("/usr/share/doc/latchkey/latchkey.spdx.json").read_text(encoding="utf-8"))
    assert materials["spdxVersion"] == "SPDX-2.3" and len(materials["packages"]) > 8
    missing = [line for line in run("ldd", "/usr/bin/latchkeyd", "/usr/bin/latchkey").splitlines() if "not found" in line]
    assert missing == []
    kilobytes = int(shown_field("Installed-Size"))
    say(f"{kilobytes} KiB installed")
    assert kilobytes * 1024 <= INSTALLED_BYTES_MAXIMUM


def shown_field(name: str) -> str:
    return run("dpkg-query", "--show", f"--showformat=${{{name}}}", "latchkey")


def read_the_documents() -> None:
    """Articles, examples and client kits are there, and every link between them has a target."""
    for path in (
        "README.md", "html/operate/install.html", "html/pictures/page.png", "html/reference/commands/keys.html",
        "openapi.json", "Clients/README.md",
        "examples/prometheus-alerts.yaml", "examples/grafana-dashboard.json", "examples/compose.yaml",
        "examples/kubernetes.yaml", "examples/nginx.conf",
    ):
        assert (DOCUMENTS / path).is_file(), path
    links = [
        (document, target) for document in DOCUMENTS.rglob("*.md")
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", document.read_text(encoding="utf-8"))]
    broken = [f"{document}: {target}" for document, target in links if not (document.parent / target).exists()]
    say(f"{len(links)} links in {len(set(document for document, _ in links))} documents")
    assert len(links) > 20 and broken == [], broken


def name_what_is_missing() -> None:
    """Without delivered files, the check of the configuration names each file that is missing."""
    folder = Path("/var/missing")
    say(run("latchkey", "init", "--production", folder))
    assert run("stat", "--format", "%U:%G %a", folder / "secrets/session-key").strip() == "root:latchkey 640"
    problems = as_daemon("latchkeyd", "--config", folder / CONFIGURATION.name, "--check", status=None)
    for name in ("fairplay/certificate-2048.der", "tls/certificate.pem", "issuers/portal.pem"):
        assert name in problems, problems


def deliver() -> None:
    """Development files in the place of what others send, and a host that has no package yet."""
    run("latchkey", "init", DEVELOPMENT)
    # The names of the article.
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
        "-subj", "/CN=keys.example.com", "-addext", "subjectAltName=DNS:keys.example.com,DNS:localhost",
        "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth",
        "-keyout", DEVELOPMENT / "tls/private-key.pem", "-out", DEVELOPMENT / "tls/certificate.pem")
    edit("latchkey-development", "https://login.example.com", of=DEVELOPMENT / "latchkey.json5")
    edit("development-1", "login-1", of=DEVELOPMENT / "latchkey.json5")
    with Path("/etc/hosts").open("a", encoding="utf-8") as hosts:
        hosts.write(f"127.0.0.1 localhost keys.example.com {socket.gethostname()}\n")
    delivered = OPERATOR / "delivered"
    delivered.mkdir(parents=True, mode=0o700)
    for name in (
        "fairplay/certificate-1024.der", "fairplay/certificate-2048.der", "fairplay/private-key-1024.pem",
        "fairplay/private-key-2048.pem", "fairplay/application-secret.hex", "secrets/token-verification-key.pem",
    ):
        run("cp", DEVELOPMENT / name, delivered)
    run("cp", DEVELOPMENT / "tls/certificate.pem", delivered / "server.pem")
    run("cp", DEVELOPMENT / "tls/private-key.pem", delivered / "server-key.pem")
    run("cp", DEVELOPMENT / "secrets/token-signing-key.pem", OPERATOR)
    listen_on_loopback()
    trust_the_certificate()
    run("dpkg", "--purge", "latchkey")
    run("cp", NEW, OPERATOR / "latchkey_0.1.0_amd64.deb")
    assert not CONFIGURATION.exists() and not Path("/usr/bin/latchkey").exists()


def from_package_to_first_license() -> None:
    """Exactly the commands of operate/install.md. The last one asks for a license, and finds nothing bad."""
    assert len(COMMANDS) <= COUNT_MAXIMUM
    # Without the right to raise limits, systemd cannot give the daemon its memory to lock, and doctor calls that bad.
    raises_limits = run("bash", "-c", "ulimit -l 65536", status=None) == ""
    begin, said = time.monotonic(), ""
    for command in COMMANDS:
        status = 0 if raises_limits or command != COMMANDS[-1] else 1
        said = run("env", "--chdir", OPERATOR, "bash", "-c", command, text="", status=status)
        say(f"$ {command}\n{said}")
    findings = re.findall(r"^(good|skipped|warning|bad) +(\S+):", said, re.MULTILINE)
    assert findings.count(("good", "license")) == 2 and len(findings) > 15, said
    # The certificates are those of a test, and a container cannot set its clock.
    others = {name for verdict, name in findings if verdict != "good"}
    allowed = {"fairplay.main", "clock.kernel", "tls.served"} | (set() if raises_limits else {"daemon.memory"})
    assert others <= allowed, said
    assert all(verdict != "bad" or name == "daemon.memory" for verdict, name in findings), said
    say(f"{len(COMMANDS)} commands, {time.monotonic() - begin:.1f} s from the package to the first license")


def start() -> None:
    assert is_active("latchkey.service") and is_active("latchkey.socket")
    assert shown("latchkey.service", "StatusText") == "Serving"
    assert shown("latchkey.service", "WatchdogUSec") == "30s"
    assert run("ps", "-o", "user=", "-p", str(main_process())).strip() == "latchkey"
    assert readiness() == 200


def one_license() -> None:
    """The key is the one that was made beside the daemon."""
    assert ask_for_a_license()
    say(tool("ledger", "verify"))


def reload() -> None:
    """A good configuration is put in force; a broken one fails, says why, and changes nothing."""
    process = main_process()
    edit("// logging: {", "logging: {")
    run("systemctl", "reload", "latchkey.service")
    wait_for("reloaded", lambda: '"event":"reloaded"' in journal())
    assert main_process() == process and shown("latchkey.service", "StatusText") == "Serving"
    edit('level: "debug"', 'lvel: "debug"')
    said = run("systemctl", "reload", "latchkey.service", status=1)
    assert "failed" in said, said
    assert "logging.lvel" in journal(), "the journal names the mistake"
    assert main_process() == process and is_active("latchkey.service") and readiness() == 200
    edit('lvel: "debug"', 'level: "info"')
    # What root can read and the daemon cannot is found too.
    run("chown", "root:root", "/etc/latchkey/secrets/session-key")
    run("systemctl", "reload", "latchkey.service", status=1)
    assert "secrets/session-key" in journal(), "the journal names the file"
    run("chown", "root:latchkey", "/etc/latchkey/secrets/session-key")
    run("systemctl", "reload", "latchkey.service")


def five_kills() -> None:
    """The service comes back each time, and its sockets stay."""
    begin = time.monotonic()
    for _ in range(KILLS):
        process = main_process()
        os.kill(process, 9)
        wait_for("another process", lambda: main_process() not in (0, process) and is_active("latchkey.service"))
        assert is_active("latchkey.socket")
    seconds = time.monotonic() - begin
    say(f"{KILLS} kills in {seconds:.1f} s, {shown('latchkey.service', 'NRestarts')} restarts")
    assert readiness() == 200 and ask_for_a_license()


def a_stuck_process() -> None:
    """A process that makes no progress is ended by the watchdog, and replaced."""
    path = drop_in("latchkey.service", "watchdog", "[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\n")
    run("systemctl", "restart", "latchkey.service")
    process = main_process()
    os.kill(process, 19)
    wait_for("another process", lambda: main_process() not in (0, process) and is_active("latchkey.service"))
    assert "Watchdog timeout" in journal("latchkey.service")
    path.unlink()
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", "latchkey.service")


def restarts_under_load() -> None:
    """Clients that keep their connections, and clients that do not, see no restart."""
    load = Load()
    clients = [threading.Thread(target=load.run, args=(number % 2 == 0,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for _ in range(RESTARTS):
            goal = load.answered + ANSWERS_BETWEEN
            wait_for("answers", lambda: load.answered >= goal or load.lost or load.refused)
            run("systemctl", "restart", "latchkey.service")
    finally:
        load.stopping = True
        for client in clients:
            client.join()
    say(f"{RESTARTS} restarts: {load.answered} answers, {len(load.refused)} connections refused, {len(load.lost)} requests lost")
    assert load.answered > RESTARTS * ANSWERS_BETWEEN and load.refused == [] and load.lost == [], (load.refused, load.lost)


def drain() -> None:
    """An operator takes the node out of service, and back."""
    said = tool("admin", "drain")
    assert said == "The node is not ready, and serves what comes.\n", said
    assert readiness() == 503 and ask_for_a_license()
    assert shown("latchkey.service", "StatusText").startswith("Not ready by order of token:admin")
    tool("admin", "ready")
    assert readiness() == 200 and shown("latchkey.service", "StatusText") == "Serving"
    assert '"event":"drain_ordered","actor":"token:admin"' in journal()


def credentials() -> None:
    """Secrets can be credentials of systemd, which only root can read, and a reload finds them too."""
    edit('"secrets/session-key"', '"credential:session-key"')
    run("chown", "root:root", "/etc/latchkey/secrets/session-key")
    run("chmod", "0600", "/etc/latchkey/secrets/session-key")
    run("systemctl", "restart", "latchkey.service")
    assert ask_for_a_license()
    run("systemctl", "reload", "latchkey.service")
    edit('"credential:session-key"', '"secrets/session-key"')
    run("chown", "root:latchkey", "/etc/latchkey/secrets/session-key")
    run("chmod", "0640", "/etc/latchkey/secrets/session-key")
    run("systemctl", "reload", "latchkey.service")


def roll_back_and_upgrade() -> None:
    """The older programs go on with the data of these, and these with theirs. Both leave the service running."""
    for package in (OLD, NEW):
        process = main_process()
        run("dpkg", "--install", package)
        wait_for("another process", lambda: main_process() not in (0, process) and is_active("latchkey.service"))
        assert ask_for_a_license()
        # Older programs cannot read rows of newer kinds and encodings. They must find no other fault.
        said = tool("ledger", "verify", status=0 if package == NEW else None)
        faults = [line for line in said.splitlines() if re.match(r"\d+: ", line)]
        assert all(line.endswith(": sealed, but not readable by this version") for line in faults), said


def upgrade_older_data() -> None:
    """The older programs make a database; these take it over, and give it back."""
    # The installation starts what is enabled.
    run("dpkg", "--install", str(OLD))
    run("systemctl", "stop", "latchkey.service", "latchkey.socket")
    STATE.rename("/var/lib/latchkey.kept")
    run("systemctl", "start", "latchkey.socket", "latchkey.service")
    tool("keys", "create", "--content", "older")
    before = ask_for_a_license("older")
    for package in (NEW, OLD, NEW):
        run("dpkg", "--install", package)
        wait_for("the service", lambda: is_active("latchkey.service"))
        after = ask_for_a_license("older")
        assert after == before, "the key of the content stays"
    tool("ledger", "verify")
    run("systemctl", "stop", "latchkey.service", "latchkey.socket")
    run("rm", "--recursive", STATE)
    Path("/var/lib/latchkey.kept").rename(STATE)
    run("systemctl", "start", "latchkey.socket", "latchkey.service")


def make_keys_for_a_packager() -> None:
    """The daemon derives them from the master secret that `init --production` made."""
    run("openssl", "rand", "-hex", "-out", PACKAGER_SECRET, "32")
    run("chown", "root:latchkey", PACKAGER_SECRET)
    run("chmod", "0640", PACKAGER_SECRET)
    edit("// packagers:", "packagers:")
    run("systemctl", "restart", "latchkey.service")
    assert ask_as_packager("movie-2")["keys"]


def back_up() -> None:
    """A backup while the node serves. Its secrets are sealed for a key pair whose private key stays off the host."""
    recovery, recovery_key, backups = HANDOVER / "recovery.pem", HANDOVER / "recovery-key.pem", HANDOVER / "backups"
    run("openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", "3650", "-subj", "/CN=recovery",
        "-keyout", recovery_key, "-out", recovery)
    backups.mkdir(mode=0o700)
    run("chown", "latchkey:latchkey", backups)
    tool("revocations", "add", "--kind", "sub", "--value", REVOKED)
    kept = {
        "host": socket.gethostname(), "key": ask_for_a_license(), "rows": ledger_rows(),
    }
    made = json.loads(tool("backup", "create", "--output", backups, "--recipient", recovery, "--json"))
    backup = Path(made["backup"])
    assert made["hasSecrets"] and made["last"] >= len(kept["rows"])
    say(run("latchkey", "backup", "verify", backup))
    say(tool("backup", "verify", backup))
    say(run("latchkey", "backup", "verify", backup, "--config", CONFIGURATION, "--recipient-key", recovery_key))
    # Lost with this host.
    assert ask_for_a_license() == kept["key"]
    lost = ask_as_packager(LOST)["keys"]
    facts = {"lost": lost, "node": made["node"], "last": made["last"], "backup": str(backup), **kept}
    (HANDOVER / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    run("cp", "--archive", DEVELOPMENT, HANDOVER)


def fence() -> None:
    """The host whose place another one takes never runs again, also if the package is upgraded."""
    run("systemctl", "mask", "--now", "latchkey.socket", "latchkey.service")
    assert "masked" in run("systemctl", "start", "latchkey.service", status=1)
    run("dpkg", "--install", NEW)
    assert not is_active("latchkey.service") and not is_active("latchkey.socket")
    # No host has taken its place yet, so it may run once more, to be removed.
    run("systemctl", "unmask", "latchkey.socket", "latchkey.service")
    run("systemctl", "start", "latchkey.socket", "latchkey.service")


def clean_journal() -> None:
    """Every line of the daemon in the journal is one of its log. The older programs have not run yet."""
    lines = run("journalctl", "--unit", "latchkey.service", "--output", "json", "--no-pager").splitlines()
    entries = [json.loads(line) for line in lines]
    daemons = {entry["_PID"] for entry in entries if '"event":"ready"' in str(entry["MESSAGE"])}
    said = [str(entry["MESSAGE"]) for entry in entries if entry.get("_PID") in daemons and entry.get("_COMM") != "systemd"]
    stray = [line for line in said if not re.fullmatch(r'\{"time":.*\}', line)]
    say(f"{len(said)} lines of {len(daemons)} daemons")
    assert len(daemons) > KILLS and stray == [], stray[:5]
    warnings = [str(entry["MESSAGE"]) for entry in entries if entry.get("_COMM") == "systemd"
                and re.search(r"ignoring|Unknown|[Ii]nvalid", str(entry["MESSAGE"]))]
    assert warnings == [], warnings


def remove() -> None:
    """Programs and units go. What cannot be made again stays."""
    process = main_process()
    run("dpkg", "--remove", "latchkey")
    assert not Path(f"/proc/{process}").exists() and not Path("/usr/bin/latchkeyd").exists()
    assert not is_active("latchkey.socket")
    assert Path("/var/lib/latchkey/latchkey.db").exists() and CONFIGURATION.exists()
    run("dpkg", "--purge", "latchkey")
    assert Path("/var/lib/latchkey/latchkey.db").exists() and Path("/etc/latchkey/secrets/ledger-key").exists()
    assert not Path("/etc/latchkey/latchkey.json5.example").exists()
    assert not Path("/usr/lib/latchkey").exists() and not DOCUMENTS.exists()


STEPS = [
    refuse_another_key, install, read_the_documents, name_what_is_missing, deliver, from_package_to_first_license,
    start, one_license, reload, five_kills, a_stuck_process, restarts_under_load, drain, credentials, clean_journal,
    roll_back_and_upgrade, upgrade_older_data, make_keys_for_a_packager, back_up, fence, remove,
]

if __name__ == "__main__":
    sys.exit(perform(STEPS))
