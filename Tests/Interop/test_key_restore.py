"""Keys that no license may contain, and a SQLite database that was restored from an older copy.

The tests use the program `latchkey` and a daemon, as an operator does.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from deployment import Deployment, assert_problem, deployment_of, run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer
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
    """Requests a license with a token that allows the content."""
    token = run_latchkey(at.setup, "token", "mint", "--content", content).strip()
    context = device_for(at.credential, 2).request(SPCOptions(content.encode()))
    return at.client.license(context.message, token)


# --- Schemes of other systems -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["cenc", "cens", "cbc1"])
def test_no_license_has_a_key_of_another_scheme(
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
        assert_problem(at.client.license(context.message, at.token), Outcome(403, "content_mismatch"))
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


def derive_keys(setup: Path) -> None:
    """Gives the set-up a master secret, which is all that derived keys need."""
    secret = setup / "secrets" / "master-secret"
    secret.write_text("ab" * 32)
    secret.chmod(0o600)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count("keys: {") == 1
    configuration.write_text(text.replace("keys: {", 'keys: { masterSecret: "secrets/master-secret",'))


def order(daemon: OwnDaemon, content: str, period: int | None = None) -> tuple[str, ...]:
    """A packager's order for the key of a track: key id, key and initialization vector."""
    body = {"contentId": content, "tracks": ["HD"]} | ({} if period is None else {"period": period})
    credential = ("development", (daemon.setup / "secrets" / "packager").read_text().strip())
    answer = httpx.post(f"{daemon.url}/v1/keys", auth=credential, json=body)
    assert answer.status_code == 200, answer.text
    (key,) = answer.json()["keys"]
    return key["kid"], key["key"], key["iv"]


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


def test_a_restored_database_derives_its_lost_keys_again(latchkey_programs: None, tmp_path: Path) -> None:
    setup = new_setup(tmp_path)
    create(setup, "random")
    derive_keys(setup)
    with serving(setup, tmp_path / "first.log") as daemon:
        assert daemon.url
    copy_away(setup, tmp_path / "copy")
    orders = [("movie-2", None), ("movie-3", None), ("live", 1), ("live", 2)]
    with serving(setup, tmp_path / "second.log") as daemon:
        made = [order(daemon, *each) for each in orders]
        assert len({kid for kid, *_ in made}) == len(orders)
        # The command and an order of the same names mean one key.
        created = create(setup, "movie-4", "--track", "HD")
        made.append(order(daemon, "movie-4"))
        orders.append(("movie-4", None))
        assert made[-1][0] == created["kid"]
        at = deployment_of(daemon.url, setup)
        assert ask(at, "movie-2").status == 200
        at.client.close()

    put_back(setup, tmp_path / "copy")
    assert contents(setup) == {"random"}
    with serving(setup, tmp_path / "third.log") as daemon:
        at = deployment_of(daemon.url, setup)
        # A random key that was stored before there was a master secret is served as it is.
        assert ask(at, "random").status == 200
        assert_problem(ask(at, "movie-2"), KEY_NOT_FOUND)
        assert [order(daemon, *each) for each in reversed(orders)] == made[::-1]
        assert ask(at, "movie-2").status == 200
        at.client.close()


def latchkeyd(setup: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that ends by itself."""
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    words = [program, "--config", setup / "latchkey.json5", *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)


def test_nothing_derives_keys_from_another_secret_under_the_same_version(latchkey_programs: None, tmp_path: Path) -> None:
    setup = new_setup(tmp_path)
    derive_keys(setup)
    create(setup, "movie-1")
    (setup / "secrets" / "master-secret").write_text("cd" * 32)
    makes_a_key = latchkey(setup, "keys", "create", "--content", "movie-2")
    for refused in [latchkeyd(setup), latchkeyd(setup, "--check=full"), makes_a_key]:
        assert refused.returncode != 0 and "keys.masterSecret is not the secret" in refused.stderr, refused.stderr
        assert "restore the right file" in refused.stderr
    assert "keys.masterSecretVersion" in makes_a_key.stderr
    examined = latchkey(setup, "doctor", "--no-daemon")
    assert "keys.masterSecret is not the secret" in examined.stdout

    configuration = setup / "latchkey.json5"
    configuration.write_text(configuration.read_text().replace("keys: {", "keys: { masterSecretVersion: 2,"))
    create(setup, "movie-2")
    with serving(setup, tmp_path / "new.log") as daemon:
        at = deployment_of(daemon.url, setup)
        assert [ask(at, content).status for content in ("movie-1", "movie-2")] == [200, 200]
        at.client.close()


def test_a_node_without_a_master_secret_says_so(latchkey_programs: None, tmp_path: Path) -> None:
    random, mixed = "random keys that are newer", "the database was used with one"

    def check(setup: Path, depth: str = "--check") -> str:
        checked = latchkeyd(setup, depth)
        assert checked.returncode == 0, checked.stderr
        return checked.stderr

    def log(setup: Path, name: str) -> str:
        with serving(setup, tmp_path / name) as daemon:
            return daemon.log.read_text()

    setup = new_setup(tmp_path)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    for said in (check(setup, "--check=full"), log(setup, "random.log")):
        assert random in said and mixed not in said
    derive_keys(setup)
    for said in (check(setup, "--check=full"), log(setup, "derived.log")):
        assert random not in said and mixed not in said

    configuration.write_text(text)
    (setup / "secrets" / "master-secret").unlink()
    assert random in check(setup) and mixed not in check(setup)
    for said in (check(setup, "--check=full"), log(setup, "mixed.log")):
        assert random in said and mixed in said
    assert mixed in latchkey(setup, "doctor", "--no-daemon").stdout


def test_a_wrong_file_in_a_command_that_makes_no_key_does_no_harm(latchkey_programs: None, tmp_path: Path) -> None:
    setup = new_setup(tmp_path)
    derive_keys(setup)
    secret = setup / "secrets" / "master-secret"
    right = secret.read_text()
    secret.write_text("cd" * 32)
    assert contents(setup) == set()
    assert latchkey(setup, "store", "check").returncode == 0
    secret.write_text(right)
    with serving(setup, tmp_path / "daemon.log") as daemon:
        assert order(daemon, "movie-1")
