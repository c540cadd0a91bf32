"""Each rotation of the article, by its own commands, under load. No request may fail from the first step to the last.

What a step is for is looked at after each of its blocks.
"""

import json
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment import run_latchkey
from fairplay_device.credentials import Credential, read_device_credential
from fairplay_device.spc import Device, device_for
from own_daemon import first_setup
from rotation_lab import TOOLS, RotationLab, running_rotation, sections

SECTIONS = sections()
COMMAND_SECONDS = 60


@pytest.fixture
def lab(latchkey_programs: None, tmp_path: Path) -> Iterator[RotationLab]:
    with running_rotation(tmp_path) as lab:
        yield lab


def blocks(heading: str, count: int) -> list[str]:
    found = SECTIONS[heading]
    assert len(found) == count, f"the article has {len(found)} blocks under {heading}"
    return found


def test_each_section_with_commands_is_run_under_load() -> None:
    source = Path(__file__).read_text()
    with_commands = {heading for heading, found in SECTIONS.items() if found} - {"Preparation"}
    assert len(with_commands) > 6
    assert {heading for heading in with_commands if f'blocks("{heading}"' not in source} == set()


# --- FairPlay -------------------------------------------------------------------------------------------------------


def test_fairplay_credentials(lab: RotationLab) -> None:
    stage, change_over, look, remove = blocks("FairPlay credentials", 4)
    old = lab.credentials[0]
    lab.run(stage)
    new = read_device_credential(lab.folder / "fairplay-next")
    lab.credentials.append(new)
    assert lab.certificate() == old.bundle
    assert lab.certificate("?credential=next") == new.bundle
    # The staged credential opens SPCs, and each one is counted.
    before = lab.metrics()
    assert before['latchkey_credential_requests_total{credential="next"}'] == 0
    assert 'latchkey_credential_last_use_timestamp_seconds{credential="next"}' not in before
    new_messages = lab.new_messages(new)
    answers = [lab.ask(message).status for message in new_messages]
    assert answers == [200] * len(new_messages)
    after = lab.metrics()
    assert after['latchkey_credential_requests_total{credential="next"}'] == len(new_messages)
    assert after['latchkey_credential_last_use_timestamp_seconds{credential="next"}'] > 0
    lab.messages = lab.messages + new_messages
    lab.load.await_answers()

    lab.run(change_over)
    assert lab.certificate() == lab.certificate("?credential=next") == new.bundle
    assert lab.certificate("?credential=development") is None
    lab.load.await_answers()
    # The count goes on over reloads.
    drained = 'latchkey_credential_requests_total{credential="development"}'
    assert lab.metrics()[drained] > after[drained] > 0
    listed = lab.run(look)
    assert "draining" in listed and drained in listed
    assert "SPCs since the daemon started, last at " in listed

    # The last apps give up the old certificate.
    lab.messages = new_messages
    lab.viewer = same_viewer(lab, new)
    lab.load.await_answers()
    last = lab.metrics()[drained]
    lab.load.await_answers()
    assert lab.metrics()[drained] == last
    lab.run(remove)
    assert drained not in lab.metrics()
    refused = lab.ask(device_for(old, 1).request(lab.options()).message)
    assert refused.code == "spc_certificate_unknown"


def same_viewer(lab: RotationLab, credential: Credential) -> Device:
    """The same device with a newer certificate."""
    device = device_for(credential, 1)
    device.device_id = lab.viewer.device_id
    return device


# --- TLS and admin tokens -------------------------------------------------------------------------------------------


def test_tls_certificates(lab: RotationLab) -> None:
    (rotate,) = blocks("TLS certificates", 1)
    before = lab.presented_certificate()
    lab.run(rotate)
    after = lab.presented_certificate()
    assert after == ssl.PEM_cert_to_DER_cert((lab.folder / "tls" / "certificate.pem").read_text()) != before


def test_admin_tokens(lab: RotationLab) -> None:
    add, remove = blocks("Admin tokens", 2)
    lab.run(add)
    old, lab.admin_token = lab.admin_token, (lab.folder / "secrets" / "admin-token-2").read_text().strip()
    lab.load.await_answers()
    lab.run(remove)
    assert [lab.read_status(token) for token in (old, lab.admin_token)] == [401, 200]


# --- Tokens ---------------------------------------------------------------------------------------------------------


def test_keys_of_token_issuers(lab: RotationLab) -> None:
    add, retire, remove = blocks("Keys of token issuers", 3)
    lab.run(add)
    message = lab.messages[0]
    old, new = lab.token, lab.mint("--issuer-key", str(lab.folder / "secrets" / "token-signing-key-2.pem"))
    assert lab.ask(message, old).status == lab.ask(message, new).status == 200
    lab.run(retire)
    assert lab.ask(message, old).status == lab.ask(message, new).status == 200
    # The session of the load began with a token of the old key, and goes on while that is retiring.
    lab.load.await_answers()
    lab.token = new
    old_session, lab.session_token = lab.session_token, lab.begin_session()
    lab.load.await_answers()
    lab.run(remove)
    assert lab.ask(message, old).code == "kid_unknown"
    refused = lab.send("POST", "/fps/license?renew=true", lab.renewal(), old_session)
    assert refused.code == "kid_unknown"


def test_session_key(lab: RotationLab) -> None:
    learn, change_over, forget = blocks("Session key", 3)
    lab.run(learn)
    old = lab.session_token
    lab.run(change_over)
    lab.load.await_answers()
    # The load has renewed by a token of the old key so far.
    lab.session_token = lab.begin_session()
    lab.load.await_answers()
    lab.run(forget)
    lab.load.await_answers()
    refused = lab.send("POST", "/fps/license?renew=true", lab.renewal(), old)
    assert refused.code == "kid_unknown"


# --- Keys that need a restart ---------------------------------------------------------------------------------------


def test_ledger_key(lab: RotationLab) -> None:
    (rotate,) = blocks("Ledger key", 1)
    lab.run(rotate)
    lab.load.await_answers()
    verified = json.loads(run_latchkey(lab.folder, "ledger", "verify", "--json"))
    assert verified["isSound"] and verified["findings"] == []
    assert lab.starts == 2


def test_key_encryption_key(lab: RotationLab) -> None:
    learn, rewrap, forget = blocks("Key-encryption key", 3)
    lab.run(learn)
    lab.load.await_answers()
    assert "1 of 1 keys sealed again" in lab.run(rewrap)
    lab.load.await_answers()
    # A second run, and one whose key is not in force, do not look like the first one.
    again = run_latchkey(lab.folder, "keys", "rewrap")
    assert again.startswith("nothing to do: version 2 already seals 1 key;"), again
    lab.run(forget)
    assert lab.starts == 4
    # The old key is needed for nothing.
    (lab.folder / "secrets" / "key-encryption-key").unlink()
    assert lab.restart()
    lab.load.await_answers()


def test_master_secret(lab: RotationLab) -> None:
    """The first secret of an installation with random keys, and the one that replaces it."""
    first, second = blocks("Master secret", 2)

    def create(content: str) -> str:
        return json.loads(
            run_latchkey(lab.folder, "keys", "create", "--content", content, "--track", "HD", "--json")
        )["kid"]

    random = create("random")
    # A derived key id is a UUID of version 8, and a random one is of version 4.
    assert random[14] == "4"
    lab.run(first)
    lab.load.await_answers()
    derived = create("derived")
    assert derived[14] == "8"
    lab.run(second)
    lab.load.await_answers()
    assert create("derived-later")[14] == "8"
    # What was made before stays as it is, and the older secret is not accepted under the new number.
    listed = json.loads(run_latchkey(lab.folder, "keys", "list", "--json"))["keys"]
    assert {random, derived} <= {key["kid"] for key in listed}
    assert lab.starts == 3


# --- Broken configurations ------------------------------------------------------------------------------------------

# Each of these words of the configuration becomes others.
BREAKS = [
    ("logging: {", "loging: {"),
    ('level: "info"', 'level: "chatty"'),
    ("storage: {", "storage: { shared: true,"),
    ("ledger: {", "ledger: { keyVersion: 0,"),
    ("secrets/ledger-key", "secrets/no-such-key"),
    ("secrets/pseudonym-key", "secrets/admin-token"),
    ("secrets/session-key", "secrets/no-such-session-key"),
    ("secrets/key-encryption-key", "credential:none"),
    ("secrets/token-verification-key.pem", "latchkey.json5"),
    ('algorithm: "ES256"', 'algorithm: "RS256"'),
    ('algorithm: "ES256"', 'algorithm: "none"'),
    ('kid: "development-1",', ''),
    ('maximumLife: "24h"', 'maximumLife: "-1h"'),
    ("private-key-1024.pem", "private-key-2048.pem"),
    ("certificate-2048.der", "certificate-1024.der"),
    ("fairplay/application-secret.hex", "fairplay/bundle.bin"),
    ('name: "development",\n', 'name: "development", stage: "draining",\n'),
    ("tls/private-key.pem", "tls/certificate.pem"),
    ("tls/certificate.pem", "tls/none.pem"),
    ("secrets/admin-token", "tls/certificate.pem"),
    ('packagers: [{', 'packagers: [{ name: "twice",'),
    ("limits: {", "limits: { rates: {}, rates: {},"),
    ("entitlement: {", "entitlement: ["),
]


def test_broken_configurations_change_nothing(lab: RotationLab) -> None:
    good = lab.configuration.read_text()
    certificate = lab.presented_certificate()
    assert len(BREAKS) >= 20
    for old, new in BREAKS:
        # Not in a comment at the beginning.
        head, brace, rest = good.partition("\n{\n")
        assert old in brace + rest, old
        lab.configuration.write_text(head + (brace + rest).replace(old, new))
        assert not lab.reload(), (old, new)
        lab.load.await_answers(1)
    assert lab.metrics()["latchkey_config_last_reload_successful"] == 0
    assert lab.presented_certificate() == certificate
    lab.configuration.write_text(good)
    assert lab.reload()
    assert lab.metrics()["latchkey_config_last_reload_successful"] == 1


# --- A set-up for production ------------------------------------------------------------------------------------------


@pytest.fixture
def production(latchkey_programs: None, tmp_path: Path) -> Path:
    """What `init --production` writes, with files in place of those that others deliver."""
    folder, other = tmp_path / "latchkey", first_setup(os.environ["LATCHKEY_BIN"])
    command = [os.environ["LATCHKEY_BIN"], "init", "--production", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=COMMAND_SECONDS)
    for part in ("fairplay", "tls"):
        shutil.copytree(other / part, folder / part, dirs_exist_ok=True)
    shutil.copy(other / "secrets" / "token-verification-key.pem", folder / "issuers" / "portal.pem")
    configuration = folder / "latchkey.json5"
    # Credentials for development serve this machine alone.
    text = configuration.read_text().replace('"systemd:public"', '"127.0.0.1:8443"')
    configuration.write_text(text.replace("sqlite:/var/lib/latchkey/", "sqlite:"))
    return folder


# What is not of this machine, and what needs a daemon.
STUBS = """
reload() { latchkeyd --config latchkey.json5 --check; }
restart() { reload; }
curl() { :; }
cmp() { :; }
grep() { :; }
latchkey() { if [[ $1 == init ]]; then command latchkey "$@"; fi; }
name=main kid=portal-1 key=issuers/portal.pem
"""
SECRETS = re.compile(r"secrets/[a-z0-9-]+")


@pytest.mark.parametrize("heading", [heading for heading in SECTIONS if SECTIONS[heading] and heading != "Preparation"])
def test_the_commands_fit_a_production_setup(heading: str, production: Path) -> None:
    found = SECTIONS[heading]
    if heading == "Master secret":
        # The set-up has its first one.
        found = found[1:]
    configuration = production / "latchkey.json5"
    before = set((production / "secrets").iterdir())
    for block in found:
        script = f"set -Eeuo pipefail\numask 077\n{TOOLS}\n{STUBS}\n{block}"
        path = f"{Path(os.environ['LATCHKEY_BIN']).parent}:{os.environ['PATH']}"
        finished = subprocess.run(
            ["bash", "-c", script], cwd=production, env=os.environ | {"PATH": path}, capture_output=True, text=True,
            timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
        assert finished.returncode == 0, f"{block}\n{finished.stdout}\n{finished.stderr}"
    # The daemon can read each new secret that the configuration names, as it reads the others.
    named = {production / name for name in SECRETS.findall(configuration.read_text())}
    folder = (production / "secrets").stat()
    for secret in named & (set((production / "secrets").iterdir()) - before):
        assert (secret.stat().st_gid, secret.stat().st_mode & 0o777) == (folder.st_gid, 0o640), secret


def test_a_command_that_does_not_match_says_so(production: Path) -> None:
    configuration = production / "latchkey.json5"
    before = configuration.read_text()
    script = f"{TOOLS}\nchange 's|sessions: {{ key: \"secrets/another\"|&, x|'"
    finished = subprocess.run(["bash", "-c", script], cwd=production, capture_output=True, text=True, check=False)
    assert finished.returncode == 1 and "nothing matched" in finished.stderr
    assert configuration.read_text() == before
