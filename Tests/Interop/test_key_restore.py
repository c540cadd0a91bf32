"""Keys that no licence may contain, and a SQLite database that was restored from an older copy.

The tests use the program `latchkey` and a daemon, as an operator does.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deployment import Deployment, assert_problem, deployment_of, run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from licence_client import Answer
from own_daemon import OwnDaemon, await_addresses, new_setup, running_daemon, start_daemon, stop_daemon
from workbench import Outcome

COMMAND_SECONDS = 60
KEY_NOT_FOUND = Outcome(404, "key_not_found")


def latchkey(setup: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that may fail."""
    words = [os.environ["LATCHKEY_BIN"], *arguments, "--config", str(setup / "latchkey.json5")]
    return subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)


def create(setup: Path, content: str, *options: str) -> dict[str, object]:
    return json.loads(run_latchkey(setup, "keys", "create", "--content", content, "--json", *options))


def contents(setup: Path) -> set[str]:
    return {key["content"] for key in json.loads(run_latchkey(setup, "keys", "list", "--json"))["keys"]}


def ask(at: Deployment, content: str) -> Answer:
    """Requests a licence with a token that allows the content."""
    token = run_latchkey(at.setup, "token", "mint", "--content", content).strip()
    context = device_for(at.credential, 2).request(SPCOptions(content.encode()))
    return at.client.licence(context.message, token)


# --- Schemes of other systems -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["cenc", "cens", "cbc1"])
def test_no_licence_has_a_key_of_another_scheme(
    latchkey_programs: None, tmp_path: Path, scheme: str
) -> None:
    with running_daemon(tmp_path) as daemon:
        at = deployment_of(daemon.url, daemon.setup)
        made = create(daemon.setup, "movie-1", "--scheme", scheme)
        assert made["scheme"] == scheme
        refused = ask(at, "movie-1")
        assert_problem(refused, KEY_NOT_FOUND)
        daemon.await_log(f"the key is for the scheme {scheme}, which FairPlay does not play")
        # A token without the right gets the same answer as for any other content.
        context = device_for(at.credential, 2).request(SPCOptions(b"movie-1"))
        assert_problem(at.client.licence(context.message, at.token), Outcome(403, "content_mismatch"))
        # The tool tells the operator the reason.
        spc, token = tmp_path / "request.spc", tmp_path / "viewer.jwt"
        spc.write_bytes(device_for(at.credential, 2).request(SPCOptions(b"movie-1")).message)
        token.write_text(run_latchkey(daemon.setup, "token", "mint", "--content", "movie-1").strip())
        explained = latchkey(daemon.setup, "token", "explain", str(token), "--spc", str(spc))
        assert explained.returncode == 1
        assert "key_not_found" in explained.stdout and f"the scheme {scheme}" in explained.stdout
        at.client.close()


# --- A restored database ----------------------------------------------------------------------------------------------


@contextmanager
def serving(setup: Path, log: Path) -> Iterator[OwnDaemon]:
    """Runs the daemon of a set-up, and stops it in the regular way, so that it closes its database."""
    process = start_daemon(setup, log)
    try:
        addresses = await_addresses(process, log)
        yield OwnDaemon(process, setup, addresses["public"], addresses["admin"], log)
    finally:
        status = stop_daemon(process)
    assert status == 0


def watched_setup(folder: Path) -> tuple[Path, Path]:
    """A set-up that records its last key in a file outside the set-up."""
    setup = new_setup(folder)
    last_key = folder / "apart" / "last-key"
    last_key.parent.mkdir()
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count("keys: {") == 1
    configuration.write_text(text.replace("keys: {", f'keys: {{ generationFile: "{last_key}",'))
    return setup, last_key


def database_files(setup: Path) -> list[Path]:
    return [setup / f"latchkey.db{end}" for end in ("", "-wal", "-shm")]


def copy_away(setup: Path, copy: Path) -> None:
    copy.mkdir()
    for file in database_files(setup):
        if file.exists():
            shutil.copy2(file, copy)


def put_back(setup: Path, copy: Path) -> None:
    for file in database_files(setup):
        file.unlink(missing_ok=True)
    for file in copy.iterdir():
        shutil.copy2(file, setup)


def test_a_restored_database_makes_no_key_until_that_is_accepted(latchkey_programs: None, tmp_path: Path) -> None:
    setup, last_key = watched_setup(tmp_path)
    with serving(setup, tmp_path / "first.log"):
        create(setup, "movie-1")
    copy_away(setup, tmp_path / "copy")
    with serving(setup, tmp_path / "second.log") as daemon:
        lost = [create(setup, content)["kid"] for content in ("movie-2", "movie-3")]
        at = deployment_of(daemon.url, setup)
        assert ask(at, "movie-2").status == 200
        at.client.close()
    assert json.loads(last_key.read_text())["lastKey"] == 3

    put_back(setup, tmp_path / "copy")
    with serving(setup, tmp_path / "third.log") as daemon:
        assert contents(setup) == {"movie-1"}
        # A content with a key is served, and imports still work.
        at = deployment_of(daemon.url, setup)
        assert ask(at, "movie-1").status == 200
        assert_problem(ask(at, "movie-2"), KEY_NOT_FOUND)
        # A content without a key gets no new key, whether or not it had one before.
        before = contents(setup)
        for content in ("movie-2", "movie-4"):
            refused = latchkey(setup, "keys", "create", "--content", content)
            assert refused.returncode == 1
            assert content in refused.stderr and "accept-restore" in refused.stderr
        assert contents(setup) == before
        assert json.loads(last_key.read_text())["lastKey"] == 3

        accepted = json.loads(run_latchkey(setup, "keys", "accept-restore", "--json"))
        assert accepted == {"outcome": "accepted", "missing": 2}
        assert create(setup, "movie-2")["kid"] not in lost
        assert ask(at, "movie-2").status == 200
        again = json.loads(run_latchkey(setup, "keys", "accept-restore", "--json"))
        assert again == {"outcome": "notNeeded"}
        at.client.close()
    assert json.loads(last_key.read_text())["lastKey"] == 4
    rows = json.loads(run_latchkey(setup, "ledger", "query", "--json"))["entries"]
    (row,) = [row for row in rows if row["kind"] == "keyRestoreAccepted"]
    assert row["actor"] and row["detail"] == "missing numbers: 2"


def test_no_random_key_is_made_without_its_file(latchkey_programs: None, tmp_path: Path) -> None:
    setup, last_key = watched_setup(tmp_path)
    create(setup, "movie-1")
    kept = last_key.read_text()
    for text in (None, "{}", kept.replace('"installation":"', '"installation":"00')):
        last_key.unlink(missing_ok=True)
        if text is not None:
            last_key.write_text(text)
        refused = latchkey(setup, "keys", "create", "--content", "movie-2")
        assert refused.returncode == 1 and "keys.generationFile" in refused.stderr, refused.stderr
        assert contents(setup) == {"movie-1"}
    last_key.unlink()
    assert json.loads(run_latchkey(setup, "keys", "accept-restore", "--json")) == {"outcome": "fileMade"}
    assert last_key.read_text() == kept
    create(setup, "movie-2")
    assert contents(setup) == {"movie-1", "movie-2"}


def test_the_check_recommends_what_shows_lost_keys(latchkey_programs: None, tmp_path: Path) -> None:
    def check(setup: Path) -> str:
        program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
        words = [program, "--config", setup / "latchkey.json5", "--check"]
        checked = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        assert checked.returncode == 0, checked.stderr
        return checked.stderr

    (tmp_path / "watched").mkdir()
    setup, _ = watched_setup(tmp_path / "watched")
    assert "generationFile" not in check(setup)
    (tmp_path / "plain").mkdir()
    setup = new_setup(tmp_path / "plain")
    assert "generationFile" in check(setup) and 'material: "derived"' in check(setup)
    secret = setup / "secrets" / "master-secret"
    secret.write_text("ab" * 32)
    secret.chmod(0o600)
    configuration = setup / "latchkey.json5"
    derived = 'keys: { material: "derived", masterSecret: "secrets/master-secret",'
    configuration.write_text(configuration.read_text().replace("keys: {", derived))
    assert "generationFile" not in check(setup)
