"""Tokens that only the operator's own service can read. The daemon asks
`Clients/callback/entitlement-service.py`."""

import importlib.machinery
import importlib.util
import json
import secrets
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

from deployment import register
from fairplay_device import tags
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, PlaybackState, RequestSecrets, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon

CONTENT = f"asked-{secrets.token_hex(4)}"
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
SECRET = secrets.token_hex(32)
TOKEN_HEADER = "X-Session"
WAIT_SECONDS = 90


def sample_service() -> ModuleType:
    path = Path(__file__).parents[2] / "Clients/callback/entitlement-service.py"
    loader = importlib.machinery.SourceFileLoader("sample_entitlement_service", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


SERVICE = sample_service()


@contextmanager
def service(port: int = 0, secret: str = SECRET, lease: int = 300) -> Iterator[object]:
    server = SERVICE.EntitlementService(port, secret.encode(), lease)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Asked:
    """A daemon, and the service that it asks."""

    daemon: OwnDaemon
    service: object

    @cached_property
    def device(self) -> Device:
        """The only device of this viewer."""
        return device_for(read_device_credential(self.daemon.setup / "fairplay"), 1)

    def request(self, session: int = 1, state: int = tags.READY_TO_START) -> tuple[bytes, RequestSecrets]:
        options = SPCOptions(CONTENT.encode(), playback_state=PlaybackState(1_700_000_000, state, session))
        context = self.device.request(options)
        return context.message, context.secrets

    def ask(self, token: str, message: bytes | None = None, query: str = "") -> Answer:
        client = LicenseClient(self.daemon.url)
        try:
            body = message if message is not None else self.request()[0]
            return client.send("POST", f"/fps/license{query}", body, {TOKEN_HEADER: token})
        finally:
            client.close()

    def rsa_operations(self) -> float:
        return self.daemon.metrics()["latchkey_rsa_operations_total"]


@contextmanager
def asking(
    folder: Path, url: str, environment: dict[str, str] | None = None, **members: object
) -> Iterator[OwnDaemon]:
    """Runs a daemon whose configuration names the service at this URL."""
    callback = {"url": url, "hosts": ["127.0.0.1", "localhost"], "timeout": "10s", "secret": "secrets/callback"} | members

    def prepare(setup: Path) -> None:
        secret = setup / "secrets" / "callback"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        section = f'tokenHeaders: ["{TOKEN_HEADER}"], callback: {json.dumps(callback)}, issuers: ['
        assert "issuers: [" in text
        configuration.write_text(text.replace("issuers: [", section, 1))
        register(setup, CONTENT, KEY)

    with running_daemon(folder, prepare=prepare) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def asked(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with service() as running, asking(
        tmp_path_factory.mktemp("callback"),
        running.url,
        timeout="3s",
        memory={"allowed": "0s"},
        breaker={"failures": 1000},
    ) as daemon:
        yield Asked(daemon, running)


def token(word: str) -> str:
    return f"{word}-{secrets.token_hex(8)}"


def test_issues_what_the_service_allows(asked: Asked) -> None:
    message, request_secrets = asked.request(session=0x1122334455667788)
    allowed = token("allow")
    answer = asked.ask(allowed, message)
    assert answer.status == 200, answer.body
    assert answer.header("X-License-Type") == "lease"
    assert answer.header("X-Session-Token") is None, "the service decides about renewals too"
    assert open_ckc(answer.body, request_secrets).content_key == KEY.key
    (question,) = [question for question in asked.service.questions if question["token"] == allowed]
    assert question["contentID"] == CONTENT
    assert question["kid"] == str(uuid.UUID(bytes=KEY.key_id))
    assert question["session"] == "1122334455667788"
    assert question["clientIP"] == "127.0.0.1"
    assert len(bytes.fromhex(question["device"])) == 20
    assert question["renew"] is False and question["offline"] is False


def test_a_renewal_is_told_as_one(asked: Asked) -> None:
    for query, state in (("?renew=true", tags.READY_TO_START), ("", tags.LEASE_ABOUT_TO_EXPIRE)):
        allowed = token("allow")
        assert asked.ask(allowed, asked.request(state=state)[0], query).status == 200
        (question,) = [question for question in asked.service.questions if question["token"] == allowed]
        assert question["renew"] is True


def test_streams_alone_where_the_service_says_no_more(asked: Asked) -> None:
    assert asked.ask(token("plain")).header("X-License-Type") == "session"
    assert asked.ask(token("plain"), query="?offline=1").code == "offline_not_allowed"


def test_grants_what_the_policy_grants(asked: Asked) -> None:
    assert asked.ask(token("allow"), query="?offline=1").code == "offline_not_allowed"


def test_refuses_what_the_service_denies(asked: Asked) -> None:
    answer = asked.ask(token("deny"))
    assert (answer.status, answer.code) == (403, "entitlement_denied")
    assert answer.problem["type"] == "https://dashif.org/drm-problems/not-authorized"
    assert b"package" not in answer.body


def test_asks_no_more_about_a_content_that_was_just_refused(asked: Asked) -> None:
    denied = token("deny")
    for _ in range(3):
        assert asked.ask(denied).code == "entitlement_denied"
    operations, questions = asked.rsa_operations(), asked.service.asked(denied)
    assert asked.ask(denied).code == "entitlement_denied"
    assert asked.service.asked(denied) == questions
    assert asked.rsa_operations() == operations + 1, "the content is named inside the SPC"
    other = asked.device.request(SPCOptions(b"another-content")).message
    assert asked.ask(denied, other).code == "entitlement_denied"
    assert asked.service.asked(denied) == questions + 1, "a refusal for one content decides nothing about another"


@pytest.mark.parametrize("word", ["slow", "stranger", "redirect", "huge", "malformed", "error", "badpolicy"])
def test_a_service_that_gives_no_answer_gives_no_license(asked: Asked, word: str) -> None:
    answer = asked.ask(token(word))
    assert (answer.status, answer.code) == (503, "entitlement_unavailable")
    assert answer.header("Retry-After")
    assert asked.ask(token("allow")).status == 200


def test_hides_whether_an_unknown_asset_is_known(asked: Asked) -> None:
    """A stranger gets the same answer for every asset. The service is asked, and decides."""
    known, unknown = asked.request()[0], asked.device.request(SPCOptions(b"nobody-knows-it")).message
    for word in ("deny", "error"):
        answers = [asked.ask(token(word), message) for message in (known, unknown)]
        assert answers[0].without_identity[0] == answers[1].without_identity[0]
        assert answers[0].code == answers[1].code and answers[0].problem["hint"] == answers[1].problem["hint"]
    allowed = token("allow")
    assert asked.ask(allowed, unknown).status in (403, 404)
    (question,) = [question for question in asked.service.questions if question["token"] == allowed]
    assert question["contentID"] == "nobody-knows-it" and uuid.UUID(question["kid"])


def test_gives_challenges_to_tokens_that_only_the_service_can_read(asked: Asked) -> None:
    opaque = token("allow")
    client = LicenseClient(asked.daemon.url)
    questions = len(asked.service.questions)
    try:
        answer = client.send("POST", "/fps/challenge", b"", {TOKEN_HEADER: opaque})
    finally:
        client.close()
    assert answer.status == 200, answer.body
    assert len(answer.problem["challenge"]) == 16
    assert len(asked.service.questions) == questions, "the service decides about the report"


def ask_for_licenses(daemon: OwnDaemon, opaque: str, body: dict[str, object]) -> dict[str, object]:
    client = LicenseClient(daemon.url)
    try:
        answer = client.send("POST", "/fps/licenses/query", json.dumps(body).encode(), {TOKEN_HEADER: opaque})
    finally:
        client.close()
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


@pytest.mark.parametrize("word", ["allow", "plain"])
def test_tells_the_holder_of_an_opaque_token_of_its_licenses(asked: Asked, word: str) -> None:
    """With `allow`, the service names a subject. With `plain`, it says nothing about the token."""
    opaque = token(word)
    license = asked.ask(opaque).header("X-License-Id")
    for _ in range(100):
        (told,) = ask_for_licenses(asked.daemon, opaque, {"licenses": [license]})["licenses"]
        if told["state"] != "unknown":
            break
        time.sleep(0.02)
    assert told["state"] == "valid" and told["content"] == CONTENT
    (stranger,) = ask_for_licenses(asked.daemon, token("deny"), {"licenses": [license]})["licenses"]
    assert stranger["state"] == "unknown", "the same as for a license that never existed"


def test_the_service_need_not_believe_strangers(latchkey_programs: None, tmp_path: Path) -> None:
    with service(secret="another secret of this test") as running, asking(tmp_path, running.url) as daemon:
        assert Asked(daemon, running).ask(token("allow")).code == "entitlement_unavailable"
        assert running.questions == []


def test_believes_an_answer_for_a_while(latchkey_programs: None, tmp_path: Path) -> None:
    with service() as running, asking(tmp_path, running.url, memory={"allowed": "1h"}) as daemon:
        asked = Asked(daemon, running)
        allowed = token("allow")
        for _ in range(3):
            assert asked.ask(allowed).status == 200
        assert running.asked(allowed) == 1
        assert daemon.metrics()['latchkey_callback_decisions_total{outcome="remembered"}'] == 2


def test_opaque_tokens_buy_rsa_within_a_rate_alone(latchkey_programs: None, tmp_path: Path) -> None:
    rates = {"perAddress": {"perSecond": 1, "burst": 2}}
    with service() as running, asking(tmp_path, running.url, rates=rates) as daemon:
        asked = Asked(daemon, running)
        codes = [asked.ask(token("deny")).code for _ in range(20)]
        assert codes[:2] == ["entitlement_denied"] * 2
        assert "rate_limited" in codes
        assert asked.rsa_operations() == codes.count("entitlement_denied")


def test_a_dead_service_is_left_alone_and_found_again(latchkey_programs: None, tmp_path: Path) -> None:
    with service() as running:
        port = running.server_address[1]
        url = running.url
    # The port is free now, or at worst taken by another program.
    with asking(tmp_path, url, breaker={"failures": 2, "open": "200ms"}) as daemon:
        asked = Asked(daemon, None)
        for _ in range(3):
            assert asked.ask(token("allow")).code == "entitlement_unavailable"
        assert daemon.metrics()["latchkey_callback_available"] == 0
        daemon.await_log("it has failed so often")
        with service(port):
            deadline = time.monotonic() + WAIT_SECONDS
            while asked.ask(token("allow")).status != 200:
                assert time.monotonic() < deadline, "the breaker closes again"
                time.sleep(0.05)
        assert daemon.metrics()["latchkey_callback_available"] == 1


@pytest.mark.parametrize(("fail", "status"), [("closed", 503), ("grace", 200)])
def test_a_renewal_in_an_outage_goes_by_the_setting(
    latchkey_programs: None, tmp_path: Path, fail: str, status: int
) -> None:
    with service() as running:
        with asking(tmp_path, running.url, fail=fail, memory={"allowed": "0s"}) as daemon:
            asked = Asked(daemon, running)
            allowed = token("allow")
            assert asked.ask(allowed).status == 200
            running.shutdown()
            running.server_close()
            assert asked.ask(allowed).status == 503, "grace is for renewals"
            assert asked.ask(allowed, query="?renew=true").status == status
            assert asked.ask(token("allow"), query="?renew=true").status == 503, "grace is for tokens allowed before"


@pytest.mark.parametrize("hosts", [[], ["portal.example"]])
def test_goes_nowhere_inside_that_is_not_named(latchkey_programs: None, tmp_path: Path, hosts: list[str]) -> None:
    # The URL is https, so that only its address is wrong. No server gets a connection.
    with service() as running:
        url = running.url.replace("http://127.0.0.1", "https://localhost")
        with asking(tmp_path, url, hosts=hosts) as daemon:
            assert Asked(daemon, running).ask(token("allow")).code == "entitlement_unavailable"
            daemon.await_log("an address that it may not have")
            assert running.questions == []
