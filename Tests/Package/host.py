"""What the steps of the package test share: commands, units, the configuration, and licenses of a simulated device.

Runs inside a container that Scripts/test-package boots, as root and with the standard library alone. /test has the
packages, /result takes what is said, and what is in /handover goes from one host to the next.
"""

import json
import socket
import subprocess
import time
import traceback
from collections.abc import Callable
from pathlib import Path

NEW, OLD = Path("/test/new.deb"), Path("/test/old.deb")
# The repository with both packages, and the public key of another one.
REPOSITORY, OTHER_KEY = Path("/test/packages/repository"), Path("/test/packages/other.asc")
DOCUMENTS = Path("/usr/share/doc/latchkey")
HANDOVER = Path("/handover")
CONFIGURATION = Path("/etc/latchkey/latchkey.json5")
STATE = Path("/var/lib/latchkey")
PACKAGER_SECRET = CONFIGURATION.parent / "secrets/packager-1"
# Made by `latchkey init`: the issuer of tokens, the FairPlay files and the TLS certificate of the test.
DEVELOPMENT = Path("/var/development")
# Where the operator of the first license works.
OPERATOR = Path("/var/operator")
URL = "https://localhost"
CONTENT = "movie-1"
# Revoked before the backup, and given a key after it.
REVOKED, LOST = "viewer-revoked", "movie-lost"
# No step may hang: so long for one command, and for what a step waits for.
COMMAND_SECONDS = 120
WAIT_SECONDS = 60

log = open("/result/log", "a", encoding="utf-8", buffering=1)


def say(text: str) -> None:
    print(text, file=log)


# --- Commands ---------------------------------------------------------------------------------------------------------


def run(*command: str | Path, status: int | None = 0, text: str | None = None) -> str:
    """What the command says on both of its outputs. Another status than this is a failure; None takes any."""
    words = list(map(str, command))
    result = subprocess.run(
        words, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=COMMAND_SECONDS, check=False)
    assert status is None or result.returncode == status, f"{' '.join(words)}: status {result.returncode}: {result.stdout}"
    return result.stdout


def as_daemon(*command: str | Path, status: int | None = 0, text: str | None = None) -> str:
    """As the daemon's user, without its environment: `sudo -u latchkey`."""
    return run("runuser", "--user", "latchkey", "--", *command, status=status, text=text)


def tool(*words: str | Path, status: int | None = 0) -> str:
    """`latchkey` as the daemon's user, with the daemon's configuration."""
    return as_daemon("latchkey", *words, "--config", CONFIGURATION, status=status)


def wait_for(what: str, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}\n{run('systemctl', 'status', 'latchkey.service', status=None)}"
        time.sleep(0.05)


# --- Units ------------------------------------------------------------------------------------------------------------


def shown(unit: str, name: str) -> str:
    return run("systemctl", "show", "--property", name, "--value", unit).strip()


def is_active(unit: str) -> bool:
    return shown(unit, "ActiveState") == "active"


def main_process() -> int:
    return int(shown("latchkey.service", "MainPID"))


def journal(unit: str = "latchkey.service") -> str:
    return run("journalctl", "--unit", unit, "--output", "cat", "--no-pager")


def readiness() -> int:
    status = run("curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", f"{URL}/readyz", status=None)
    return int(status)


def drop_in(unit: str, name: str, text: str) -> Path:
    folder = Path(f"/etc/systemd/system/{unit}.d")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.conf"
    path.write_text(text, encoding="utf-8")
    run("systemctl", "daemon-reload")
    return path


# --- What lets a test host serve --------------------------------------------------------------------------------------


def edit(old: str, new: str, of: Path = CONFIGURATION) -> None:
    text = of.read_text(encoding="utf-8")
    assert old in text, f"{of} has no {old}"
    of.write_text(text.replace(old, new), encoding="utf-8")


def listen_on_loopback() -> None:
    """Development material is refused where other machines can listen."""
    drop_in("latchkey.socket", "loopback", "[Socket]\nListenStream=\nListenStream=127.0.0.1:443\nListenStream=[::1]:443\n")


def trust_the_certificate() -> None:
    """Clients verify TLS."""
    run("install", "--mode", "0644", DEVELOPMENT / "tls/certificate.pem", "/usr/local/share/ca-certificates/latchkey.crt")
    run("update-ca-certificates")


# --- Licenses and keys ------------------------------------------------------------------------------------------------


def asked(content: str, subject: str) -> str:
    """What `latchkey device request` says: a simulated device with a token of the development issuer."""
    token = run("latchkey", "token", "mint", "--config", DEVELOPMENT / "latchkey.json5", "--content", content, "--subject", subject)
    return run(
        "latchkey", "device", "request", "--url", URL, "--certificate", DEVELOPMENT / "fairplay/bundle.bin",
        "--application-secret", DEVELOPMENT / "fairplay/application-secret.hex", "--asset-id", content, "--spc-version",
        "2", "--json", "--token", "-", status=None, text=token)


def ask_for_a_license(content: str = CONTENT, subject: str = "viewer-1") -> str:
    """The content key, which the device finds in its license."""
    answer = asked(content, subject)
    first, *rest = answer.splitlines()
    # The older tool asks by URLSession, which sometimes aborts the program when it has done its work. This is a fault
    # of swift-corelibs-foundation, and not of the package. The answer is complete then.
    if any("_MultiHandle deallocated" in line for line in rest):
        say("the older tool was aborted by URLSession after its answer")
    else:
        assert rest == [], answer
    return json.loads(first)["contentKey"]


def ask_as_packager(content: str) -> dict[str, object]:
    """The daemon's answer to a packager that wants a key of the content: the keys, or a problem document."""
    secret = PACKAGER_SECRET.read_text(encoding="utf-8").strip()
    body = json.dumps({"contentId": content, "tracks": ["HD"]})
    return json.loads(run("curl", "--silent", "--show-error", "--user", f"packager-1:{secret}", "--json", body, f"{URL}/v1/keys"))


def ledger_rows() -> list[dict[str, object]]:
    return [json.loads(line) for line in tool("ledger", "export").splitlines()]


# --- Steps ------------------------------------------------------------------------------------------------------------


def perform(steps: list[Callable[[], None]]) -> int:
    """Does the steps in their order. Says at the end "passed" or "FAILED", in /result/outcome too."""
    system = run("systemctl", "--version").splitlines()[0]
    release = Path("/etc/debian_version").read_text(encoding="utf-8").strip()
    say(f"{socket.gethostname()}: Debian {release}, {system}")
    outcome = "passed"
    for step in steps:
        begin = time.monotonic()
        try:
            step()
        except Exception:
            say(traceback.format_exc())
            say(run("journalctl", "--no-pager", "--lines", "80", status=None))
            say(f"FAILED: {step.__name__}")
            outcome = "FAILED"
            break
        say(f"ok: {step.__name__} ({time.monotonic() - begin:.1f} s)")
    else:
        say(outcome)
    Path("/result/outcome").write_text(outcome + "\n", encoding="utf-8")
    return 0 if outcome == "passed" else 1
