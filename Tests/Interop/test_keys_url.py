"""Keys of issuers that the daemon fetches (`keysURL`), from a server of the test over TLS."""

import json
import os
import secrets
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import http1_wire
import key_server
from deployment import register
from fairplay_device import tags
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, PlaybackState, SPCOptions, device_for
from key_server import DOCUMENT_PATH, OTHER_PATH, PATH, KeyServer, make_keys, serving
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from token_issuers import SigningKey

CONTENT = f"fetched-{secrets.token_hex(4)}"
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
ISSUER = "https://portal.example"
WAIT_SECONDS = 90
LABELS = f'{{issuer="{ISSUER}",dialect="jwt"}}'


@dataclass
class Fetching:
    """A daemon, and the server of its issuer's keys."""

    daemon: OwnDaemon
    keys: KeyServer

    @cached_property
    def device(self) -> Device:
        return device_for(read_device_credential(self.daemon.setup / "fairplay"), 1)

    issuer: str = ISSUER

    def token(self, key: SigningKey, header: dict[str, object] | None = None, **changes: object) -> str:
        now = int(time.time())
        rights = [{"content": CONTENT, "lease": 300}]
        claims = {"iss": self.issuer, "aud": "latchkey", "iat": now, "exp": now + 600, "sub": "viewer", "rights": rights}
        return key.sign(claims | changes, **(header or {}))

    def ask(self, token: str, state: int = tags.READY_TO_START, query: str = "") -> Answer:
        options = SPCOptions(CONTENT.encode(), playback_state=PlaybackState(1_700_000_000, state, 7))
        client = LicenseClient(self.daemon.url)
        try:
            return client.send(
                "POST",
                f"/fps/license{query}",
                self.device.request(options).message,
                {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"},
            )
        finally:
            client.close()

    def code(self, key: SigningKey) -> str:
        answer = self.ask(self.token(key))
        return "good" if answer.status == 200 else answer.code or str(answer.status)

    def await_code(self, key: SigningKey, code: str) -> None:
        await_true(lambda: self.code(key) == code, f"{key.kid} is {code}, not {self.code(key)}")

    def metric(self, name: str) -> float | None:
        return self.daemon.metrics().get(name)

    def fetches(self, result: str) -> float:
        labels = f'{{issuer="{ISSUER}",dialect="jwt",result="{result}"}}'
        return self.metric(f"latchkey_issuer_keys_fetches_total{labels}") or 0

    def events(self, name: str) -> list[dict[str, Any]]:
        complete = self.daemon.log.read_text().rpartition("\n")[0].splitlines()
        entries = [json.loads(line) for line in complete if line.startswith("{")]
        return [entry for entry in entries if entry["event"] == name]

    def reload(self, **changes: object) -> None:
        """Changes the issuer's fields, and reloads."""
        write_issuer(self.daemon.setup, self.keys, changes)
        count = len(self.events("reloaded"))
        self.daemon.process.send_signal(signal.SIGHUP)
        await_true(lambda: len(self.events("reloaded")) > count, "the reload has ended")

    def admin(self, path: str, method: str = "GET", body: bytes = b"") -> Any:
        token = (self.daemon.setup / "secrets" / "admin-token").read_text().strip()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        (answer,) = http1_wire.exchange(self.daemon.admin, head.encode() + body).responses
        return answer


def await_true(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


MARK = "// the issuer of the test"


def write_issuer(setup: Path, keys: KeyServer, changes: dict[str, object]) -> None:
    """Writes the issuer with these fields before the other issuers, in place of what was written before."""
    fields = {
        "issuer": ISSUER,
        "keysURL": keys.url,
        "keysHosts": ["localhost"],
        "keysAuthorities": str(keys.authority.certificate_file),
    }
    entry = {name: value for name, value in (fields | changes).items() if value is not None}
    configuration = setup / "latchkey.json5"
    text = "".join(
        line for line in configuration.read_text().splitlines(keepends=True) if not line.rstrip().endswith(MARK)
    )
    assert "issuers: [" in text
    new = f"issuers: [\n{json.dumps(entry)}, {MARK}\n"
    configuration.write_text(text.replace("issuers: [\n", "issuers: [").replace("issuers: [", new, 1))


@contextmanager
def fetching(folder: Path, keys: KeyServer, **changes: object) -> Iterator[Fetching]:
    """Runs a daemon that fetches keys from the server, which need not run."""

    def prepare(setup: Path) -> None:
        write_issuer(setup, keys, changes)
        register(setup, CONTENT, KEY)

    with running_daemon(folder, prepare=prepare) as daemon:
        yield Fetching(daemon, keys)


@pytest.fixture
def keys(latchkey_programs: None, tmp_path: Path) -> KeyServer:
    return make_keys(tmp_path / "keys")


@pytest.fixture
def old() -> SigningKey:
    return SigningKey.make("old", "ES256")


@pytest.fixture
def new() -> SigningKey:
    return SigningKey.make("new", "RS256")


# --- Rotation ---------------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """Threads that ask for licenses with the key that signs now, and renew a session that began with the first key."""

    lab: Fetching
    signer: SigningKey
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "Load":
        kinds = (self._license, self._license, self._renew)
        self._threads = [threading.Thread(target=self._run, args=(ask,)) for ask in kinds]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def await_answers(self, count: int = 20) -> None:
        goal = self.answered + count
        await_true(lambda: self.answered >= goal or bool(self.failures), "the load is answered")
        assert self.failures == []

    @cached_property
    def session(self) -> str:
        answer = self.lab.ask(self.lab.token(self.signer))
        session = answer.header("X-Session-Token")
        assert answer.status == 200 and session
        return session

    def _license(self) -> Answer:
        return self.lab.ask(self.lab.token(self.signer))

    def _renew(self) -> Answer:
        return self.lab.ask(self.session, tags.LEASE_ABOUT_TO_EXPIRE, "?renew=true")

    def _run(self, ask: Callable[[], Answer]) -> None:
        while not self._stop.is_set():
            try:
                answer = ask()
                if answer.status != 200:
                    self.failures.append(f"{ask.__name__}: {answer.status} {answer.body!r}")
            except Exception as error:  # With any error, a request has failed.
                self.failures.append(repr(error))
            self.answered += 1
            self._stop.wait(0.01)


def test_rotates_under_load_without_a_failed_request(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey
) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="3s", keysMaximumAge="1h") as lab:
        assert lab.device
        load = Load(lab, old)
        assert load.session
        with load:
            load.await_answers()
            keys.publish(old, new)
            lab.await_code(new, "good")
            assert lab.code(old) == "good"
            load.signer = new
            load.await_answers()
            keys.publish(new)
            lab.await_code(old, "kid_unknown")
            # The session goes on although the key of its first token is gone.
            load.await_answers()
        assert load.failures == []
        assert lab.metric(f"latchkey_issuer_keys{LABELS}") == 1
        assert lab.fetches("new") == 3 and lab.fetches("failed") == 0


def test_an_unknown_key_is_fetched_within_seconds_and_not_more_than_once_a_minute(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey
) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys) as lab:
        assert lab.code(old) == "good" and len(keys.requests) == 1
        keys.publish(old, new)
        began = time.monotonic()
        assert lab.code(new) == "kid_unknown", "a request does not wait for a fetch"
        lab.await_code(new, "good")
        assert time.monotonic() - began < 10
        assert keys.requests[1][1] is not None, "the second fetch names the entity tag of the first"
        assert len(keys.requests) == 2
        # Keys that no issuer has, as an attacker names them.
        stranger = SigningKey.make("stranger", "ES256")
        token = lab.token(stranger)

        def attack() -> None:
            client = LicenseClient(lab.daemon.url)
            for _ in range(2_500):
                other = SigningKey(f"random-{secrets.token_hex(8)}", "ES256", stranger.pair)
                header, _, rest = other.sign_text({"alg": "ES256", "kid": other.kid}, "{}").partition(".")
                answer = client.challenge(f"{header}.{rest}")
                assert answer.code == "kid_unknown", answer
            client.close()

        threads = [threading.Thread(target=attack) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert lab.ask(token).code == "kid_unknown"
        assert len(keys.requests) <= 2 + (time.monotonic() - began) // 60, keys.requests
        assert lab.code(old) == "good"


def test_a_key_that_is_called_not_revoked_is_good(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    """Neither in the set nor in a file does `false` or `null` revoke a key, or end its sessions."""
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s", keysMaximumAge="1h") as lab:
        session = lab.ask(lab.token(old)).header("X-Session-Token")
        assert session
        for revoked in (False, None):
            named = SigningKey(old.kid, old.algorithm, old.pair, {"revoked": revoked})
            fetches = lab.fetches("new")
            keys.publish(named)
            await_true(lambda count=fetches: lab.fetches("new") > count, "the set is fetched")
            assert lab.code(named) == "good"
            assert lab.ask(session, tags.LEASE_ABOUT_TO_EXPIRE, "?renew=true").status == 200
        keys.publish(SigningKey(old.kid, old.algorithm, old.pair, {"revoked": True}))
        lab.await_code(old, "kid_revoked")
        assert lab.ask(session, tags.LEASE_ABOUT_TO_EXPIRE, "?renew=true").status == 401
        own = SigningKey.make("own", "ES256", revoked=False)
        (lab.daemon.setup / "secrets" / "own.json").write_text(json.dumps({"keys": [own.for_verifiers]}))
        lab.reload(keysURL=None, keysHosts=None, keysAuthorities=None, keysFile="secrets/own.json")
        assert lab.code(own) == "good"


def test_a_member_that_is_null_is_absent(keys: KeyServer, tmp_path: Path) -> None:
    names = ("alg", "use", "key_ops", "state", "exp", "d", "k")
    published = [SigningKey.make(name, "ES256", **{name: None}) for name in names]
    keys.publish(*published)
    with serving(keys), fetching(tmp_path, keys) as lab:
        assert {key.kid: lab.code(key) for key in published} == dict.fromkeys(names, "good")
        assert lab.events("issuer_keys_unusable") == []


# --- Servers that fail ------------------------------------------------------------------------------------------------


def test_starts_and_is_ready_while_the_server_is_down(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys):
        pass  # The server has chosen its port.
    with fetching(tmp_path, keys) as lab:
        answer = lab.ask(lab.token(old))
        assert (answer.status, answer.code) == (503, "entitlement_unavailable")
        assert answer.header("Retry-After")
        ready = lab.admin("/readyz")
        assert ready.status == 200 and b"degraded: issuer_keys" in ready.body
        assert lab.metric('latchkey_degraded{part="issuer_keys"}') == 1
        assert lab.metric(f"latchkey_issuer_keys_age_seconds{LABELS}") is None
        with serving(keys):
            lab.await_code(old, "good")
            await_true(lambda: lab.metric('latchkey_degraded{part="issuer_keys"}') == 0, "the part has recovered")
        assert lab.code(old) == "good"
        assert lab.events("issuer_keys_failed") and lab.events("issuer_keys_fetched_again")


@pytest.mark.parametrize(
    "failure",
    [
        key_server.status_500,
        key_server.garbage,
        key_server.shared_secret,
        key_server.ten_megabytes,
        key_server.redirect,
        key_server.slow,
        key_server.hang_up,
    ],
    ids=lambda failure: failure.__name__,
)
def test_keeps_its_keys_while_the_server_fails(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey, failure: Callable[..., None]
) -> None:
    keys.publish(old)
    keys.publish(new, path=OTHER_PATH)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s", keysMaximumAge="1h") as lab:
        assert lab.code(old) == "good"
        keys.failure = failure
        await_true(lambda: lab.fetches("failed") >= 1, "a fetch has failed")
        assert lab.code(old) == "good"
        assert lab.code(new) == "kid_unknown"
        assert {path for path, _ in keys.requests} == {PATH}, "a redirect is not followed"
        (failed,) = lab.events("issuer_keys_failed")
        assert failed["issuer"] == ISSUER and failed["cause"]
        assert lab.daemon.resident_bytes_at_most() < 400 << 20
        keys.publish(old, new)
        keys.failure = None
        lab.await_code(new, "good")


def test_an_empty_set_withdraws_all_keys_at_once(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s", keysMaximumAge="1h") as lab:
        assert lab.code(old) == "good"
        keys.failure = key_server.empty_set
        lab.await_code(old, "kid_unknown")
        assert len(lab.events("issuer_keys_withdrawn")) == 1 and not lab.events("issuer_keys_failed")
        keys.failure = None
        lab.await_code(old, "good")


def test_goes_to_no_private_address_that_is_not_named(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysHosts=None) as lab:
        assert lab.code(old) == "entitlement_unavailable"
        assert keys.requests == []
        (failed,) = lab.events("issuer_keys_failed")
        assert "address" in failed["cause"]
        lab.reload()
        assert lab.code(old) == "good"


def test_goes_to_no_server_that_another_authority_confirms(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysAuthorities=None) as lab:
        assert lab.code(old) == "entitlement_unavailable"
        assert keys.requests == []


def test_does_not_use_keys_that_are_too_old(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s", keysMaximumAge="3s") as lab:
        assert lab.code(old) == "good"
        session = lab.ask(lab.token(old)).header("X-Session-Token")
        assert session
        keys.failure = key_server.status_500
        lab.await_code(old, "entitlement_unavailable")
        await_true(lambda: len(lab.events("degraded")) == 1, "the part is degraded")
        (degraded,) = lab.events("degraded")
        assert degraded["part"] == "issuer_keys" and ISSUER in degraded["cause"]
        assert len(lab.events("issuer_keys_expired")) == 1
        report = run_tool(lab, "doctor", "--server", f"http://{lab.daemon.admin[0]}:{lab.daemon.admin[1]}")
        assert "issuer_keys" in report.stdout
        # Sessions need no key of the issuer.
        assert lab.ask(session, tags.LEASE_ABOUT_TO_EXPIRE, "?renew=true").status == 200
        keys.failure = None
        lab.await_code(old, "good")


# --- Reload and tools -------------------------------------------------------------------------------------------------


def test_a_reload_keeps_the_keys_of_the_same_url(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey
) -> None:
    keys.publish(old)
    with ExitStack() as running:
        running.enter_context(serving(keys))
        lab = running.enter_context(fetching(tmp_path, keys))
        assert lab.code(old) == "good"
        lab.reload(keysRefresh="20m", audience="latchkey")
        assert lab.code(old) == "good" and len(keys.requests) == 1
        # The keys of another URL are in force with the first request after the reload.
        keys.publish(new, path=OTHER_PATH)
        lab.reload(keysURL=keys.url.replace(PATH, OTHER_PATH))
        assert lab.code(new) == "good"
        assert keys.requests[1:] == [(OTHER_PATH, None)]
        assert lab.code(old) == "kid_unknown"


def test_a_reload_keeps_the_keys_while_the_server_is_down(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with ExitStack() as running:
        with serving(keys):
            lab = running.enter_context(fetching(tmp_path, keys))
            assert lab.code(old) == "good"
        lab.reload(audience="latchkey")
        assert lab.code(old) == "good"


def test_a_daemon_that_has_to_wait_for_the_server_stops(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.failure = key_server.slow
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s") as lab:
        assert lab.code(old) == "entitlement_unavailable"


# --- Keys as issuers publish them -------------------------------------------------------------------------------------


def test_entries_that_cannot_be_used_freeze_no_set(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey
) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys, keysRefresh="1s", keysMaximumAge="1h") as lab:
        assert lab.code(old) == "good"
        point = {name: value for name, value in SigningKey.make("p", "ES256").for_verifiers.items() if name != "y"}
        other = SigningKey.make("x", "ES256").for_verifiers
        nameless = {name: value for name, value in other.items() if name != "kid"}
        broken = [
            point,
            nameless,
            other | {"kid": 7},
            old.for_verifiers,
            {"kty": "oct", "kid": "short", "k": "c2hvcnQ"},
            {"kty": "EC", "kid": "n", "crv": 1},
            "text",
            None,
            {"kty": "AKP", "kid": "later", "alg": "ML-DSA-44"},
            {},
        ]
        good = [old.for_verifiers, new.for_verifiers]
        keys.documents[PATH] = json.dumps({"keys": [*broken[:3], good[0], *broken[3:], good[1]]}).encode()
        lab.await_code(new, "good")
        assert lab.code(old) == "good"
        assert lab.metric(f"latchkey_issuer_keys_unusable{LABELS}") == len(broken) - 1, "a later algorithm is no fault"
        assert lab.metric(f"latchkey_issuer_keys{LABELS}") == 2
        fetched = lab.fetches("unchanged")
        await_true(lambda: lab.fetches("unchanged") > fetched + 1, "the set is fetched again")
        (logged,) = lab.events("issuer_keys_unusable")
        assert logged["keys"] == len(broken) - 1 and "keys[0]" in logged["cause"]

        # In a file, the operator can mend the first such entry, which is named.
        file = lab.daemon.setup / "secrets" / "published.json"
        file.write_bytes(json.dumps({"keys": [good[1], nameless]}).encode())
        fields = {"issuer": "https://files.example", "keysURL": None, "keysHosts": None, "keysAuthorities": None}
        write_issuer(lab.daemon.setup, keys, fields | {"keysFile": "secrets/published.json"})
        checked = run_tool(lab, "--check", program="latchkeyd")
        assert checked.returncode != 0 and "keys[1]" in checked.stderr and "kid" in checked.stderr, checked
        file.write_bytes(json.dumps({"keys": [good[1]]}).encode())
        file.chmod(0o644)
        checked = run_tool(lab, "--check", program="latchkeyd")
        assert checked.returncode == 0, "public keys are no secret"


def test_a_token_without_kid_is_for_the_only_key_of_its_issuer(
    keys: KeyServer, tmp_path: Path, old: SigningKey
) -> None:
    keys.publish(old)
    nameless = {"kid": None, "typ": "at+jwt"}
    other = SigningKey.make("other", "ES256")
    with serving(keys), fetching(tmp_path, keys) as lab:
        assert lab.ask(lab.token(old, nameless)).status == 200
        assert lab.ask(lab.token(old, nameless, iss="https://other.example")).code == "kid_unknown"
        # The issuer has replaced its only key.
        keys.publish(other)
        assert lab.ask(lab.token(other, nameless)).code == "token_signature"
        await_true(lambda: lab.ask(lab.token(other, nameless)).status == 200, "the new key is fetched")
        assert lab.ask(lab.token(old, nameless)).code == "token_signature"


# --- Discovery --------------------------------------------------------------------------------------------------------


@contextmanager
def discovering(folder: Path, keys: KeyServer, **changes: object) -> Iterator[Fetching]:
    """Runs a daemon that finds the keys by the issuer's OpenID document."""
    fields = {"issuer": keys.issuer, "keysURL": None, "discover": True, "keysRefresh": "1s", "keysMaximumAge": "1h"}
    with fetching(folder, keys, **(fields | changes)) as lab:
        lab.issuer = keys.issuer
        yield lab


def test_finds_the_keys_by_the_issuers_document(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey
) -> None:
    keys.publish(old)
    with serving(keys):
        keys.describe()
        with discovering(tmp_path, keys) as lab:
            assert lab.code(old) == "good"
            assert keys.requests[:2] == [(DOCUMENT_PATH, None), (PATH, None)]
            checked = run_tool(lab, "--check", program="latchkeyd")
            assert checked.returncode == 0 and f"{keys.issuer}{DOCUMENT_PATH}" in checked.stderr, checked
            # The keys move. The old ones are left behind.
            keys.publish(new, path=OTHER_PATH)
            keys.describe(jwks_uri=f"{keys.issuer}{OTHER_PATH}")
            lab.await_code(new, "good")
            assert lab.code(old) == "kid_unknown"
            assert lab.events("issuer_keys_fetched")[-1]["url"] == f"{keys.issuer}{OTHER_PATH}"


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"issuer": "https://attacker.example"}, "issuer"),
        ({"issuer": None}, "issuer"),
        ({"jwks_uri": "http://localhost/keys"}, "jwks_uri"),
        ({"jwks_uri": None}, "jwks_uri"),
        # The server listens there too, but the configuration lets no request go to this host.
        ({"jwks_uri": "https://127.0.0.1:PORT/other-keys"}, "address"),
        ({"jwks_uri": "https://localhost:PORT/no-keys"}, "404"),
    ],
)
def test_a_document_that_leads_elsewhere_changes_nothing(
    keys: KeyServer, tmp_path: Path, old: SigningKey, new: SigningKey, changes: dict[str, str | None], cause: str
) -> None:
    keys.publish(old)
    keys.publish(new, path=OTHER_PATH)
    with serving(keys):
        keys.describe()
        with discovering(tmp_path, keys) as lab:
            assert lab.code(old) == "good"
            port = str(keys.port)
            keys.describe(**{name: value and value.replace("PORT", port) for name, value in changes.items()})
            await_true(lambda: bool(lab.events("issuer_keys_failed")), "a fetch has failed")
            assert lab.code(old) == "good" and lab.code(new) == "kid_unknown"
            (failed,) = lab.events("issuer_keys_failed")
            assert cause in failed["cause"] and "attacker" not in failed["cause"], failed
            assert OTHER_PATH not in {path for path, _ in keys.requests}
            keys.describe()
            await_true(lambda: bool(lab.events("issuer_keys_fetched_again")), "the keys are confirmed again")


def test_a_document_of_another_issuer_brings_no_keys_at_the_start(
    keys: KeyServer, tmp_path: Path, old: SigningKey
) -> None:
    keys.publish(old)
    with serving(keys):
        keys.describe(issuer=f"{keys.issuer}/")
        with discovering(tmp_path, keys) as lab:
            answer = lab.ask(lab.token(old))
            assert (answer.status, answer.code) == (503, "entitlement_unavailable")
            assert {path for path, _ in keys.requests} == {DOCUMENT_PATH}
            keys.describe()
            lab.await_code(old, "good")


def run_tool(lab: Fetching, *arguments: str, program: str = "latchkey") -> subprocess.CompletedProcess[str]:
    tool = Path(os.environ["LATCHKEY_BIN"]).with_name(program)
    return subprocess.run(
        [tool, *arguments, "--config", str(lab.daemon.setup / "latchkey.json5")],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def test_tools_say_that_they_do_not_fetch_keys(keys: KeyServer, tmp_path: Path, old: SigningKey) -> None:
    keys.publish(old)
    with serving(keys), fetching(tmp_path, keys) as lab:
        checked = run_tool(lab, "--check", program="latchkeyd")
        assert checked.returncode == 0 and keys.url in checked.stderr, checked
        file = tmp_path / "token.jwt"
        file.write_text(lab.token(old))
        explained = run_tool(lab, "token", "explain", str(file))
        assert keys.url in explained.stderr and explained.returncode != 0
        assert len(keys.requests) == 1
        # The daemon explains with the keys that it has.
        answer = lab.admin("/v1/explain", "POST", json.dumps({"token": lab.token(old)}).encode())
        assert answer.status == 200, answer
        assert json.loads(answer.body)["claims"]["kid"] == old.kid, answer.body
