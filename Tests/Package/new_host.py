"""What an operator does on a new host with a backup of a host that is gone, as operate/backups.md says."""

import json
import sys
import time

from host import (
    CONFIGURATION, CONTENT, DEVELOPMENT, HANDOVER, LOST, NEW, REVOKED, STATE, as_daemon, ask_as_packager,
    ask_for_a_license, asked, is_active, ledger_rows, listen_on_loopback, perform, readiness, run, say, tool,
    trust_the_certificate, wait_for,
)

RESTORE_SECONDS = 600

facts = json.loads((HANDOVER / "facts.json").read_text(encoding="utf-8"))


def restoration(*options: str, status: int = 0) -> str:
    return run(
        "latchkey", "backup", "restore", facts["backup"], "--config", CONFIGURATION, "--recipient-key",
        HANDOVER / "recovery-key.pem", "--allow-folder", "/var/lib/latchkey", *options, status=status)


# --- Steps, in their order --------------------------------------------------------------------------------------------


def install() -> None:
    """The package, and what is no part of a backup: drop-ins, a device."""
    run("dpkg", "--install", NEW)
    run("cp", "--archive", HANDOVER / DEVELOPMENT.name, DEVELOPMENT.parent)
    listen_on_loopback()
    trust_the_certificate()


def refuse_the_ledger_of_another_host() -> None:
    """A host of another name takes the place of the lost one only if the operator says so. Nothing is changed."""
    said = restoration(status=1)
    assert f"--replaces {facts['host']}" in said, said
    assert not CONFIGURATION.exists() and not STATE.exists()


def restore() -> None:
    """From the backup and one private key to the first license."""
    begin = time.monotonic()
    said = restoration("--replaces", facts["host"])
    run("chown", "--recursive", "root:latchkey", "/etc/latchkey")
    run("chmod", "--recursive", "u=rwX,g=rX,o=", "/etc/latchkey")
    run("chown", "--recursive", "latchkey:latchkey", STATE)
    as_daemon("latchkeyd", "--config", CONFIGURATION, "--check")
    run("systemctl", "enable", "--now", "latchkey.socket", "latchkey.service")
    assert ask_for_a_license() == facts["key"], "the key of the content stays"
    seconds = time.monotonic() - begin
    say(said)
    say(f"the first license {seconds:.1f} s after the start of the restore")
    assert seconds < RESTORE_SECONDS and readiness() == 200


def go_on_as_the_lost_node() -> None:
    """Its id, its ledger and its revocations are there, and the restore is recorded."""
    known = json.loads(tool("store", "info", "--json"))
    assert known["node"] == facts["node"] and known["name"] != facts["host"], known
    rows = ledger_rows()
    assert rows[:len(facts["rows"])] == facts["rows"]
    added = [row["kind"] for row in rows if row["sequence"] > facts["last"]]
    assert added == ["store_restored", "node_started", "license_issued"], added
    assert "subject_disabled" in asked(CONTENT, REVOKED)
    say(f"{len(rows)} rows, of which {len(rows) - len(added)} are the lost node's")
    say(tool("ledger", "verify"))
    tool("store", "check")


def make_lost_keys_again() -> None:
    """A key that was made after the backup is derived again, with the same bytes."""
    (found,) = ask_as_packager("movie-2")["keys"]
    assert found["outcome"] == "found"
    (made,), (lost,) = ask_as_packager(LOST)["keys"], facts["lost"]
    assert made["outcome"] == lost["outcome"] == "created"
    assert [made[name] for name in ("kid", "key", "iv")] == [lost[name] for name in ("kid", "key", "iv")]


def refuse_a_second_restore() -> None:
    """Nothing is overwritten, whether the daemon runs or not."""
    for command in ("start", "stop"):
        run("systemctl", command, "latchkey.socket", "latchkey.service")
        say(restoration("--replaces", facts["host"], status=1).strip())
    run("systemctl", "start", "latchkey.socket", "latchkey.service")
    wait_for("the service", lambda: is_active("latchkey.service"))
    assert ask_for_a_license() == facts["key"]


STEPS = [install, refuse_the_ledger_of_another_host, restore, go_on_as_the_lost_node, make_lost_keys_again, refuse_a_second_restore]

if __name__ == "__main__":
    sys.exit(perform(STEPS))
