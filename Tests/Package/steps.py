"""What an operator does with the Debian package, from its installation to its removal, on a system that systemd has booted.

Runs inside the container that Scripts/test-package boots, as root and with the standard library alone. /test has the
packages, /result takes what is said. It ends with a line "passed" or "FAILED" in /result/outcome.
"""

import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

NEW, OLD = Path("/test/new.deb"), Path("/test/old.deb")
CONFIGURATION = Path("/etc/latchkey/latchkey.json5")
DEVELOPMENT = Path("/var/development")
URL = "https://localhost"
CONTENT = "movie-1"
# No step may hang: so long for one command, and for what a step waits for.
COMMAND_SECONDS = 120
WAIT_SECONDS = 60
KILLS = 5
RESTARTS = 5
CLIENTS = 16
ANSWERS_BETWEEN = 300

log = open("/result/log", "a", encoding="utf-8", buffering=1)


def say(text: str) -> None:
    print(text, file=log)


def run(*command: str, status: int | None = 0, text: str | None = None) -> str:
    """What the command says on both of its outputs. Another status than this is a failure; None takes any."""
    result = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_SECONDS, check=False)
    assert status is None or result.returncode == status, f"{' '.join(command)}: status {result.returncode}: {result.stdout}"
    return result.stdout


def as_daemon(*command: str, status: int | None = 0, text: str | None = None) -> str:
    """As the daemon's user, without its environment: `sudo -u latchkey`."""
    return run("runuser", "--user", "latchkey", "--", *command, status=status, text=text)


def wait_for(what: str, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}\n{run('systemctl', 'status', 'latchkey.service', status=None)}"
        time.sleep(0.05)


def shown(unit: str, name: str) -> str:
    return run("systemctl", "show", "--property", name, "--value", unit).strip()


def is_active(unit: str) -> bool:
    return shown(unit, "ActiveState") == "active"


def main_process() -> int:
    return int(shown("latchkey.service", "MainPID"))


def readiness() -> int:
    status = run("curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", f"{URL}/readyz", status=None)
    return int(status)


def edit(old: str, new: str) -> None:
    text = CONFIGURATION.read_text(encoding="utf-8")
    assert old in text, f"the configuration has no {old}"
    CONFIGURATION.write_text(text.replace(old, new), encoding="utf-8")


def drop_in(unit: str, name: str, text: str) -> Path:
    folder = Path(f"/etc/systemd/system/{unit}.d")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.conf"
    path.write_text(text, encoding="utf-8")
    run("systemctl", "daemon-reload")
    return path


def ask_for_a_licence(content: str = CONTENT) -> dict[str, object]:
    """A simulated device with a token of the development issuer gets a licence, and opens it."""
    token = run("latchkey", "token", "mint", "--config", f"{DEVELOPMENT}/latchkey.json5", "--content", content)
    answer = run(
        "latchkey", "device", "request", "--url", URL, "--certificate", f"{DEVELOPMENT}/fairplay/bundle.bin",
        "--application-secret", f"{DEVELOPMENT}/fairplay/application-secret.hex", "--asset-id", content, "--spc-version",
        "2", "--json", "--token", "-", status=None, text=token)
    first, *rest = answer.splitlines()
    # URLSession of the tool sometimes aborts the program when it has done its work. This is a fault of
    # swift-corelibs-foundation, and not of the package. The answer is complete then.
    if any("_MultiHandle deallocated" in line for line in rest):
        say("the tool was aborted by URLSession after its answer")
    else:
        assert rest == [], answer
    return json.loads(first)


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


def install() -> None:
    """The package is there, and nothing runs: there are no keys yet."""
    run("dpkg", "--install", str(NEW))
    assert run("dpkg", "--verify", "latchkey") == ""
    for unit in ("latchkey.service", "latchkey.socket"):
        assert run("systemctl", "is-enabled", unit, status=None).strip() == "disabled"
        assert not is_active(unit)
    # Without a configuration a start is passed over, and no socket is there.
    run("systemctl", "start", "latchkey.socket")
    assert shown("latchkey.socket", "ActiveState") == "inactive"
    assert run("stat", "--format", "%U:%G %a", "/etc/latchkey").strip() == "root:latchkey 750"
    assert run("getent", "passwd", "latchkey").startswith("latchkey:")
    for path in ("man/man1/latchkey.1.gz", "man/man1/latchkeyd.1.gz", "bash-completion/completions/latchkey",
                 "zsh/vendor-completions/_latchkey", "fish/vendor_completions.d/latchkey.fish"):
        assert Path("/usr/share", path).exists(), path
    materials = json.loads(Path("/usr/share/doc/latchkey/latchkey.spdx.json").read_text(encoding="utf-8"))
    assert materials["spdxVersion"] == "SPDX-2.3" and len(materials["packages"]) > 8
    missing = [line for line in run("ldd", "/usr/bin/latchkeyd", "/usr/bin/latchkey").splitlines() if "not found" in line]
    assert missing == []


def set_up() -> None:
    """`init --production`, and development files in the places of Apple's, as the checklist says."""
    say(run("latchkey", "init", "--production", "/etc/latchkey"))
    assert run("stat", "--format", "%U:%G %a", "/etc/latchkey/secrets/session-key").strip() == "root:latchkey 640"
    problems = as_daemon("latchkeyd", "--config", str(CONFIGURATION), "--check", status=None)
    assert "fairplay/certificate-2048.der" in problems and "tls/certificate.pem" in problems, problems
    run("latchkey", "init", str(DEVELOPMENT))
    for source, target in [
        ("fairplay/certificate-1024.der", "fairplay"), ("fairplay/certificate-2048.der", "fairplay"),
        ("fairplay/private-key-1024.pem", "fairplay"), ("fairplay/private-key-2048.pem", "fairplay"),
        ("fairplay/application-secret.hex", "fairplay"), ("tls/certificate.pem", "tls"), ("tls/private-key.pem", "tls"),
    ]:
        run("install", "--owner", "root", "--group", "latchkey", "--mode", "0640", f"{DEVELOPMENT}/{source}",
            f"/etc/latchkey/{target}/")
    run("install", "--mode", "0644", f"{DEVELOPMENT}/secrets/token-verification-key.pem", "/etc/latchkey/issuers/portal.pem")
    edit("https://portal.example.com", "latchkey-development")
    edit("portal-1", "development-1")
    assert as_daemon("latchkeyd", "--config", str(CONFIGURATION), "--check").splitlines()[-1] == f"{CONFIGURATION}: good"
    # Development material is refused where other machines can listen.
    drop_in("latchkey.socket", "loopback", "[Socket]\nListenStream=\nListenStream=127.0.0.1:443\nListenStream=[::1]:443\n")
    # Clients trust the certificate, so that TLS is verified here.
    run("install", "--mode", "0644", f"{DEVELOPMENT}/tls/certificate.pem", "/usr/local/share/ca-certificates/latchkey.crt")
    run("update-ca-certificates")


def start() -> None:
    run("systemctl", "enable", "--now", "latchkey.socket", "latchkey.service")
    assert is_active("latchkey.service") and is_active("latchkey.socket")
    assert shown("latchkey.service", "StatusText") == "Serving"
    assert shown("latchkey.service", "WatchdogUSec") == "30s"
    assert run("ps", "-o", "user=", "-p", str(main_process())).strip() == "latchkey"
    assert readiness() == 200


def one_licence() -> None:
    """Keys are made by the daemon's user, beside the daemon."""
    as_daemon("latchkey", "keys", "create", "--config", str(CONFIGURATION), "--content", CONTENT)
    assert ask_for_a_licence()
    say(as_daemon("latchkey", "ledger", "verify", "--config", str(CONFIGURATION)))


def reload() -> None:
    """A good configuration is put in force; a broken one fails, says why, and changes nothing."""
    process = main_process()
    edit('level: "info"', 'level: "debug"')
    run("systemctl", "reload", "latchkey.service")
    wait_for("reloaded", lambda: '"event":"reloaded"' in journal())
    assert main_process() == process and shown("latchkey.service", "StatusText") == "Serving"
    edit('level: "debug"', 'lvel: "debug"')
    said = run("systemctl", "reload", "latchkey.service", status=1)
    assert "failed" in said, said
    assert "logging.lvel" in journal(), "the journal names the mistake"
    assert main_process() == process and is_active("latchkey.service") and readiness() == 200
    edit('lvel: "debug"', 'level: "info"')
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
    assert readiness() == 200 and ask_for_a_licence()


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
    said = as_daemon("latchkey", "admin", "drain", "--config", str(CONFIGURATION))
    assert said == "The node is not ready, and serves what comes.\n", said
    assert readiness() == 503 and ask_for_a_licence()
    assert shown("latchkey.service", "StatusText").startswith("Not ready by order of token:tokenFile")
    as_daemon("latchkey", "admin", "ready", "--config", str(CONFIGURATION))
    assert readiness() == 200 and shown("latchkey.service", "StatusText") == "Serving"
    assert '"event":"drain_ordered","actor":"token:tokenFile"' in journal()


def credentials() -> None:
    """Secrets can be credentials of systemd, which only root can read, and a reload finds them too."""
    edit('"secrets/session-key"', '"credential:session-key"')
    run("chown", "root:root", "/etc/latchkey/secrets/session-key")
    run("chmod", "0600", "/etc/latchkey/secrets/session-key")
    run("systemctl", "restart", "latchkey.service")
    assert ask_for_a_licence()
    run("systemctl", "reload", "latchkey.service")
    edit('"credential:session-key"', '"secrets/session-key"')
    run("chown", "root:latchkey", "/etc/latchkey/secrets/session-key")
    run("chmod", "0640", "/etc/latchkey/secrets/session-key")
    run("systemctl", "reload", "latchkey.service")


def roll_back_and_upgrade() -> None:
    """The older programs go on with the data of these, and these with theirs. Both leave the service running."""
    for package in (OLD, NEW):
        process = main_process()
        run("dpkg", "--install", str(package))
        wait_for("another process", lambda: main_process() not in (0, process) and is_active("latchkey.service"))
        assert ask_for_a_licence()
        as_daemon("latchkey", "ledger", "verify", "--config", str(CONFIGURATION))


def upgrade_older_data() -> None:
    """The older programs make a database; these take it over, and give it back."""
    # The installation starts what is enabled.
    run("dpkg", "--install", str(OLD))
    run("systemctl", "stop", "latchkey.service", "latchkey.socket")
    state = Path("/var/lib/latchkey")
    state.rename("/var/lib/latchkey.kept")
    run("systemctl", "start", "latchkey.socket", "latchkey.service")
    as_daemon("latchkey", "keys", "create", "--config", str(CONFIGURATION), "--content", "older")
    before = ask_for_a_licence("older")
    for package in (NEW, OLD, NEW):
        run("dpkg", "--install", str(package))
        wait_for("the service", lambda: is_active("latchkey.service"))
        after = ask_for_a_licence("older")
        assert key(after) == key(before), "the key of the content stays"
    as_daemon("latchkey", "ledger", "verify", "--config", str(CONFIGURATION))
    run("systemctl", "stop", "latchkey.service", "latchkey.socket")
    run("rm", "--recursive", str(state))
    Path("/var/lib/latchkey.kept").rename(state)
    run("systemctl", "start", "latchkey.socket", "latchkey.service")


def key(licence: dict[str, object]) -> object:
    found = next(value for name, value in licence.items() if "key" in name.lower() and isinstance(value, str) and len(value) == 32)
    return found


def back_up_and_restore() -> None:
    """PLACE FOR `latchkey backup create|verify|restore`, with the restore on a second root: /test/second."""
    if run("latchkey", "backup", "--help", status=None).startswith("latchkey: unknown command"):
        say("left out: these programs have no command `backup`")
        return
    say("left out: the steps of `latchkey backup` are not written here yet")


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


def journal(unit: str = "latchkey.service") -> str:
    return run("journalctl", "--unit", unit, "--output", "cat", "--no-pager")


STEPS = [
    install, set_up, start, one_licence, reload, five_kills, a_stuck_process, restarts_under_load, drain, credentials,
    clean_journal, roll_back_and_upgrade, upgrade_older_data, back_up_and_restore, remove,
]


def main() -> int:
    say(Path("/etc/debian_version").read_text(encoding="utf-8").strip() + ", " + run("systemctl", "--version").splitlines()[0])
    for step in STEPS:
        begin = time.monotonic()
        try:
            step()
        except Exception:
            say(traceback.format_exc())
            say(run("journalctl", "--no-pager", "--lines", "80", status=None))
            say(f"FAILED: {step.__name__}")
            return 1
        say(f"ok: {step.__name__} ({time.monotonic() - begin:.1f} s)")
    say("passed")
    return 0


if __name__ == "__main__":
    outcome = main()
    Path("/result/outcome").write_text("passed\n" if outcome == 0 else "FAILED\n", encoding="utf-8")
    sys.exit(outcome)
