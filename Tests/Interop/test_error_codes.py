"""Every code of the table of errors, each from a request that causes it.

The table is in `reference/errors.md`. The tests fail for a code without a case, and for a case without a code.
"""

import base64
import json
import re
import secrets
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import http1_wire
from counting_node import ISSUERS, OTHER, Node, limited_to, message, node_alone, subject, token
from deployment import UNAUTHORISED_TYPE, register, run_latchkey
from fairplay_device import tags
from fairplay_device.spc import SPCOptions
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import stop_daemon
from test_callback import SECRET, service

REPOSITORY = Path(__file__).parents[2]
TABLE = REPOSITORY / "Documentation/reference/errors.md"
ROW = re.compile(r"\| \[`(\w+)`\]\(errors/\1\.md\) \| (\d{3})\b(.*?) \| (\S+) \| (\S+) \| (\S+) \| .* \|")
NOT_YET: dict[str, str] = {}
# Codes that need a stepped clock, a worker process, a failing database or a packager. Each names the test that gets it
# from a daemon.
ELSEWHERE = {
    "clock_untrusted": ("Tests/Interop/test_clock.py", "test_an_operator_accepts_the_clock"),
    "packager_invalid": ("Tests/Interop/test_speke.py", "test_a_credential_is_asked_for_before_the_document_is_read"),
    "admin_role_missing": (
        "Tests/Interop/test_admin_roles.py", "test_a_role_may_do_what_the_table_says_and_no_more"),
    "admin_origin_refused": ("Tests/Interop/test_admin_roles.py", "test_another_page_cannot_use_a_session"),
    "packager_forbidden": ("Tests/Interop/test_speke.py", "test_a_packager_has_its_own_contents_scopes_and_pins"),
    "cpix_rejected": ("Tests/Interop/test_speke.py", "test_a_bad_document_is_refused_with_its_text"),
    "media_type_unsupported": ("Tests/Interop/test_speke.py", "test_nothing_else_is_read"),
    "key_conflict": ("Tests/Interop/test_key_api.py", "test_a_key_is_imported_and_played"),
    "sdk_terms": ("Tests/Interop/test_sdk.py", "test_a_term_that_the_library_has_no_words_for_is_named"),
    "sdk_device": ("Tests/Interop/test_sdk.py", "test_a_device_that_the_library_refuses_is_told_so"),
    "module_unavailable": (
        "Tests/LatchkeyServiceTests/Integration/ModuleDaemonTests.swift", "aHangCostsItsRequestAlone"),
}
CALLBACK_HEADER = "X-Session"
AMPLE = {"perSecond": 100_000}


def table() -> dict[str, tuple[int, bool, str]]:
    """For each code: the status, whether `Retry-After` is sent, and ExpressPlay's code."""
    rows = ROW.findall(TABLE.read_text())
    return {code: (int(status), "Retry-After" in rest, express) for code, status, rest, express, _, _ in rows}


# --- Daemons --------------------------------------------------------------------------------------------------------


@dataclass
class Lab:
    """A healthy daemon, and a daemon with low rates whose database a test can break."""

    well: Node
    poor: Node

    def send(
        self, body: bytes | None, headers: dict[str, str] | None = None, *, node: Node | None = None,
        path: str = "/fps/license", method: str = "POST",
    ) -> Answer:
        client = LicenseClient((node or self.well).url)
        try:
            return client.send(method, path, body, headers)
        finally:
            client.close()

    def ask(
        self, bearer: str | None, body: bytes | None = None, *, query: str = "", node: Node | None = None
    ) -> Answer:
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
        return self.send(body if body is not None else self.message(), headers, path=f"/fps/license{query}", node=node)

    def claim(self, **claims: object) -> Answer:
        return self.ask(token(**claims))

    def right(self, query: str = "", **members: object) -> Answer:
        return self.ask(token(rights=[{"content": ISSUERS.content} | members]), query=query)

    def message(self, asset: str = ISSUERS.content, **changes: object) -> bytes:
        return message(self.well.device(), asset=asset, **changes)

    def raw(self, text: bytes) -> Answer:
        host, _, port = self.well.url.removeprefix("http://").partition(":")
        conversation = http1_wire.exchange((host, int(port)), text)
        assert conversation.responses, conversation
        return http1_wire.as_answer(conversation.responses[-1])

    def revoked(self, kind: str, value: str, *issuer: str) -> None:
        run_latchkey(self.well.setup, "revocations", "add", "--kind", kind, "--value", value, *issuer)

    def until(self, code: str, ask: Callable[[], Answer]) -> Answer:
        """Repeats a request until it gets this code, because a revocation takes effect a little later."""
        deadline = time.monotonic() + 20
        while (answer := ask()).code != code and time.monotonic() < deadline:
            time.sleep(0.1)
        return answer


def change(node: Node, old: str, new: str) -> None:
    configuration = node.setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count(old) == 1, old
    configuration.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with service() as running:
        nodes = [node_alone(tmp_path_factory.mktemp(name)) for name in ("well", "poor")]
        callback = {"url": running.url, "hosts": ["127.0.0.1"], "secret": "secrets/callback", "timeout": "300ms"}
        for node in nodes:
            file = node.setup / "secrets" / "callback"
            file.write_text(SECRET)
            file.chmod(0o600)
            change(
                node, "entitlement: {",
                f'entitlement: {{ tokenHeaders: ["{CALLBACK_HEADER}"], callback: {json.dumps(callback)},',
            )
        change(nodes[0], "limits: {", 'limits: { headDeadline: "500ms", ')
        rates = {"all": {"perSecond": 1, "burst": 4}, "perAddress": AMPLE, "perSubject": {"perSecond": 1, "burst": 1}}
        text = (nodes[1].setup / "latchkey.json5").read_text()
        (line,) = [line for line in text.splitlines() if line.strip().startswith("limits: {")]
        change(nodes[1], line, f'limits: {{ rates: {json.dumps(rates)}, overload: {{ wait: "0s" }} }},')
        for node in nodes:
            node.start()
        yield Lab(*nodes)
        for node in nodes:
            assert node.process is not None
            stop_daemon(node.process)


# --- Preparations for cases -----------------------------------------------------------------------------------------


def used_up(lab: Lab) -> Answer:
    once = token(limits={"uses": 1})
    assert lab.ask(once).status == 200
    return lab.ask(once)


def replayed(lab: Lab) -> Answer:
    spc = lab.message()
    once = token(sub=subject(), limits={"uses": 1}, rights=[{"content": ISSUERS.content, "lease": 1}])
    while (answer := lab.ask(once, spc)).status == 200:
        pass  # The lease of its license runs.
    return answer


def bound(lab: Lab) -> Answer:
    first = token(device={"bind": "first"})
    assert lab.ask(first).status == 200
    return lab.ask(first)


def too_many_devices(lab: Lab) -> Answer:
    claims = {"sub": subject(), "device": {"max": 2}}
    for _ in range(2):
        assert lab.ask(token(**claims)).status == 200
    return lab.ask(token(**claims))


def revoked_device(lab: Lab) -> Answer:
    claims = {"device": {"id": f"box-{secrets.token_hex(4)}"}}
    lab.revoked("device", claims["device"]["id"], "--issuer", ISSUERS.ISSUER)
    return lab.until("device_revoked", lambda: lab.claim(**claims))


def revoked_token(lab: Lab) -> Answer:
    name = secrets.token_hex(8)
    lab.revoked("jti", name, "--issuer", ISSUERS.ISSUER)
    return lab.until("token_revoked", lambda: lab.claim(jti=name))


def disabled(lab: Lab) -> Answer:
    name = subject()
    lab.revoked("sub", name, "--issuer", ISSUERS.ISSUER)
    return lab.until("subject_disabled", lambda: lab.claim(sub=name))


def full(lab: Lab) -> Answer:
    claims = limited_to(1)
    assert lab.ask(token(**claims), lab.message(state=tags.PLAYING_OR_PAUSED)).status == 200
    answer = lab.ask(token(**claims), lab.message(state=tags.PLAYING_OR_PAUSED))
    assert (answer.problem["current"], answer.problem["max"]) == (1, 1)
    return answer


def evicted(lab: Lab) -> Answer:
    claims, device = limited_to(1, "evict_oldest"), lab.well.device()
    first = message(device, session=1, state=tags.PLAYING_OR_PAUSED)
    assert lab.ask(token(**claims), first).status == 200
    assert lab.ask(token(**claims), lab.message(state=tags.PLAYING_OR_PAUSED)).status == 200
    return lab.ask(token(**claims), message(device, session=1, state=tags.LEASE_ABOUT_TO_EXPIRE))


def another_playback(lab: Lab) -> Answer:
    device = lab.well.device()
    leased = token(rights=[{"content": ISSUERS.content, "lease": 300}])
    session = lab.ask(leased, message(device, session=1)).header("X-Session-Token")
    assert session
    return lab.ask(session, message(device, session=2))


def broken_seal(lab: Lab) -> Answer:
    content = f"broken-{secrets.token_hex(4)}"
    key = ContentKey(key_id=secrets.token_bytes(16), key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    register(lab.well.setup, content, key)
    with sqlite3.connect(lab.well.setup / "latchkey.db") as database:
        database.execute("UPDATE content_key SET sealed = randomblob(length(sealed)) WHERE kid = ?", (key.key_id,))
    return lab.ask(token(rights=[{"content": content}]), lab.message(content))


def too_often(lab: Lab) -> Answer:
    name = subject()
    time.sleep(2)
    for _ in range(2):
        answer = lab.ask(token(sub=name), message(lab.poor.device()), node=lab.poor)
    return answer


def crowded(lab: Lab) -> Answer:
    answers = [lab.ask(token(sub=subject()), message(lab.poor.device()), node=lab.poor) for _ in range(12)]
    return next(answer for answer in answers if answer.code == "overloaded")


def without_a_ledger(lab: Lab) -> Answer:
    """The ledger's file is no longer the file that the daemon opened."""
    time.sleep(5)
    database = lab.poor.setup / "latchkey.db"
    assert lab.ask(token(sub=subject()), message(lab.poor.device()), node=lab.poor).status == 200
    for suffix in ("", "-wal", "-shm"):
        file = database.with_name(database.name + suffix)
        if file.exists():
            file.rename(file.with_name(file.name + ".gone"))
    time.sleep(1.5)
    return lab.ask(token(sub=subject()), message(lab.poor.device()), node=lab.poor)


def without_a_key_store(lab: Lab) -> Answer:
    """The opened database files are overwritten with garbage, and the daemon has not loaded the key before."""
    for file in lab.poor.setup.glob("latchkey.db*.gone"):
        if not file.name.startswith("latchkey.db-shm"):
            size = file.stat().st_size
            with file.open("r+b") as opened:
                opened.write(secrets.token_bytes(size))
    time.sleep(2)
    rights = [{"content": OTHER}]
    return lab.ask(token(sub=subject(), rights=rights), message(lab.poor.device(), asset=OTHER), node=lab.poor)


def called_back(lab: Lab, word: str) -> Answer:
    return lab.send(lab.message(), {CALLBACK_HEADER: f"{word}-{secrets.token_hex(4)}"})


def slow_head(lab: Lab) -> Answer:
    host, _, port = lab.well.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        connection.sendall(b"POST /fps/license HTTP/1.1\r\nHost: a\r\n")
        received, ended = http1_wire.read_all(connection)
    return http1_wire.as_answer(http1_wire.parse(received, ended).responses[-1])


def admin(lab: Lab) -> Answer:
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer x\r\n\r\n"
    return http1_wire.as_answer(http1_wire.exchange(lab.well.admin, request).responses[-1])


def stateless(lab: Lab) -> bytes:
    return lab.well.device().request(SPCOptions(ISSUERS.content.encode())).message


def flipped(body: bytes, index: int) -> bytes:
    return body[:index] + bytes([body[index] ^ 1]) + body[index + 1 :]


NATIVE = ISSUERS.native["HS256"]


def later(seconds: int) -> int:
    """A time after now, or before it if negative. It is read in the test: the collection of all tests may be long ago."""
    return int(time.time()) + seconds


Case = Callable[[Lab], Answer]
CASES: dict[str, Case] = {
    # The SPC.
    "body_empty": lambda lab: lab.ask(token(), b""),
    "body_unrecognised": lambda lab: lab.send(
        b"[]", {"Authorization": f"Bearer {token()}"}, path="/fps/licenses/query"),
    "spc_is_certificate": lambda lab: lab.ask(token(), b"\x30\x82\x04\xd3" + bytes(1235)),
    "spc_double_base64": lambda lab: lab.ask(token(), base64.b64encode(base64.b64encode(lab.message()))),
    "spc_version_unsupported": lambda lab: lab.ask(token(), bytes([0, 0, 0, 9]) + lab.message()[4:]),
    "spc_malformed": lambda lab: lab.ask(token(), lab.message()[:-1]),
    "spc_certificate_unknown": lambda lab: lab.ask(token(), flipped(lab.message(), 155)),
    "spc_rejected": lambda lab: lab.ask(token(), flipped(lab.message(), 60)),
    "spc_replayed": replayed,
    # The token.
    "token_missing": lambda lab: lab.ask(None),
    "token_malformed": lambda lab: lab.ask("a.b"),
    "token_ambiguous": lambda lab: lab.send(
        lab.message(), {"Authorization": f"Bearer {token()}", "x-dt-auth-token": token(sub="another")}),
    "token_alg": lambda lab: lab.ask(NATIVE.sign(ISSUERS.claims(), alg="ES256")),
    "kid_unknown": lambda lab: lab.ask(NATIVE.sign(ISSUERS.claims(), kid="another")),
    "kid_revoked": lambda lab: lab.ask(ISSUERS.states["revoked"].sign(ISSUERS.claims())),
    "token_signature": lambda lab: lab.ask(ISSUERS.stranger["HS256"].sign(ISSUERS.claims())),
    "token_expired": lambda lab: lab.claim(iat=later(-700), nbf=later(-700), exp=later(-600)),
    "token_not_yet": lambda lab: lab.claim(nbf=later(600), exp=later(900)),
    "token_life": lambda lab: lab.claim(exp=later(86_400)),
    "token_audience": lambda lab: lab.claim(aud="another"),
    "token_issuer": lambda lab: lab.claim(iss="https://another.example"),
    "token_schema": lambda lab: lab.claim(sub=None, session={"groups": [{"id": "all", "max": 1}]}),
    "token_used": used_up,
    "token_revoked": revoked_token,
    "subject_disabled": disabled,
    # The right.
    "content_mismatch": lambda lab: lab.claim(rights=[{"content": "another"}]),
    "right_not_started": lambda lab: lab.right(start=later(600)),
    "right_ended": lambda lab: lab.right(end=later(-600)),
    "offline_not_allowed": lambda lab: lab.right("?offline=1"),
    "key_not_found": lambda lab: lab.ask(
        token(rights=[{"content": "nobody-knows-it"}]), lab.message("nobody-knows-it")),
    "terms_not_expressible": lambda lab: lab.ask(
        token(rights=[{"content": ISSUERS.content, "lease": 300}]), stateless(lab)),
    # The device and its place on the device list.
    "device_mismatch": lambda lab: lab.claim(cnf={"fps:hu": "AAAAAAAAAAAAAAAAAAAAAAAAAAA"}),
    "device_limit": too_many_devices,
    "device_revoked": revoked_device,
    "security_level": lambda lab: lab.right(hdcp="type1"),
    "ip_denied": lambda lab: lab.claim(limits={"ips": ["203.0.113.0/24"]}),
    "geo_denied": lambda lab: lab.claim(limits={"countries": ["CH"]}),
    # Playbacks.
    "concurrency_limit": full,
    "session_expired": another_playback,
    "session_killed": evicted,
    # The call-back, and limits.
    "entitlement_denied": lambda lab: called_back(lab, "deny"),
    "entitlement_unavailable": lambda lab: called_back(lab, "slow"),
    "rate_limited": too_often,
    "overloaded": crowded,
    # Faults of the server. The cases break the database of the second daemon step by step.
    "internal": broken_seal,
    "storage_unavailable": without_a_ledger,
    "key_store_timeout": without_a_key_store,
    # HTTP.
    "not_found": lambda lab: lab.send(b"", path="/nowhere"),
    "method_not_allowed": lambda lab: lab.send(None, method="GET"),
    "body_too_large": lambda lab: lab.raw(
        b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"),
    "uri_too_long": lambda lab: lab.raw(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
    "head_too_large": lambda lab: lab.raw(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"),
    "expectation_failed": lambda lab: lab.raw(
        b"POST /fps/license HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\nContent-Length: 2\r\n\r\n{}"),
    "bad_request": lambda lab: lab.raw(b"POST /fps/license HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    "request_invalid": lambda lab: lab.send(b"-", path="/fps/license?format=zzz"),
    "content_encoding_unsupported": lambda lab: lab.send(b"-", {"Content-Encoding": "gzip"}),
    "not_implemented": lambda lab: lab.raw(b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n"),
    "version_not_supported": lambda lab: lab.raw(b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    "request_timeout": slow_head,
    "admin_token_invalid": admin,
}


def test_every_code_of_the_table_has_a_case() -> None:
    codes = set(table())
    assert len(codes) >= 60
    assert codes == set(CASES) | set(ELSEWHERE) | set(NOT_YET)
    assert len(CASES) + len(ELSEWHERE) + len(NOT_YET) == len(codes), "no code twice"


def test_every_code_of_the_server_is_in_the_table() -> None:
    source = (REPOSITORY / "Sources" / "Licensing" / "Refusals" / "ProblemCode.swift").read_text()
    codes = set(re.findall(r'case \w+ = "(\w+)"', source)) | {"overloaded"}
    assert codes == set(table()) - set(NOT_YET)


@pytest.mark.parametrize("code", ELSEWHERE)
def test_what_is_shown_elsewhere_is_shown_there(code: str) -> None:
    file, name = ELSEWHERE[code]
    _, found, body = (REPOSITORY / file).read_text().partition(f" {name}(")
    assert found and f'"{code}"' in body.partition("\n    @Test")[0].partition("\ndef ")[0]


@pytest.mark.parametrize("code", CASES)
def test_a_request_yields_the_code(lab: Lab, code: str) -> None:
    status, waits, _ = table()[code]
    answer = CASES[code](lab)
    assert (answer.status, answer.code) == (status, code), answer.body
    assert (answer.header("Retry-After") is not None) or not waits
    assert answer.header("Content-Type") == "application/problem+json"
    problem = answer.problem
    assert problem["status"] == status and problem["code"] == code
    assert problem["type"].rpartition(":")[2] == code or problem["type"].startswith("https://dashif.org/drm-problems/")
    for member in ("title", "detail", "hint", "request_id", "server_time"):
        assert problem[member], member
    if code.startswith(("token_", "kid_")) and status == 401:
        assert problem["type"] == UNAUTHORISED_TYPE and answer.header("WWW-Authenticate") == "Bearer"


@pytest.mark.parametrize(
    "code", ["spc_is_certificate", "token_missing", "token_expired", "content_mismatch", "right_ended"])
def test_express_play_has_its_own_number(lab: Lab, code: str) -> None:
    """The routes that redeem tokens answer in ExpressPlay's format."""
    bodies = {"spc_is_certificate": b"\x30\x82\x04\xd3" + bytes(1235)}
    claims = {
        "token_expired": {"iat": later(-700), "nbf": later(-700), "exp": later(-600)},
        "content_mismatch": {"rights": [{"content": "another"}]},
        "right_ended": {"rights": [{"content": ISSUERS.content, "end": later(-600)}]},
    }
    headers = {"Accept": "application/json"}
    if code != "token_missing":
        headers["Authorization"] = f"Bearer {token(**claims.get(code, {}))}"
    answer = lab.send(bodies.get(code, lab.message()), headers, path="/hms/fp/rights/")
    status, _, express = table()[code]
    assert (answer.status, json.loads(answer.body)["errorCode"]) == (status, int(express))
