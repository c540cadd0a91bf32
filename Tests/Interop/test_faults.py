"""Faults that an operator must be able to name with one command: the 30 of the table, each made in a real daemon.

    Scripts/test-faults    all of them, and the table; needs PostgreSQL and a C compiler

`Scripts/test` runs those that need neither a database server nor a compiler. A fault is named if the output of the one
command has all words of its cause: what is wrong, the values found and expected, and the setting or the party at fault.
"""

import base64
import os
import resource
import secrets
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clock_lab import await_true, lone_node
from counting_node import ISSUERS, OTHER, Node, message, subject, token
from deployment import DUMPS, run_latchkey
from fairplay_device import tags
from fairplay_device.credentials import make_credential
from fairplay_device.facts import PlaybackState, SecurityLevelReport
from fairplay_device.spc import SPCOptions, device_for
from fault_lab import TABLE_VARIABLE, Fault, FaultLab, Naming, Table, exchange, replace_in
from outage_load import node_on, node_with_disk
from outage_server import own_server
from own_daemon import await_addresses, start_daemon, stop_daemon
from stepped_clock import stepped_clocks
from tls_material import make_pair
from token_issuers import LIFE_SECONDS

LADDER = Path(__file__).parents[2] / "Sources" / "CLadder"
STAND_IN = Path(__file__).parents[1] / "LadderStandIn" / "stand_in_module.c"

# A user without rights of its own.
UNPRIVILEGED = 65534

NATIVE = ISSUERS.native["HS256"]


# --- Tokens -----------------------------------------------------------------------------------------------------------


def refused_token(code: str, **claims: object) -> Callable[[FaultLab], Naming]:
    """A license request with a token of these claims."""

    def make(lab: FaultLab) -> Naming:
        return lab.why(lab.shared, lab.refused(lab.shared, code, bearer=token(**claims)))

    return make


def ahead(lab: FaultLab) -> Naming:
    start = int(time.time()) + 145
    return refused_token("token_not_yet", iat=start, nbf=start, exp=start + 300)(lab)


def expired(lab: FaultLab) -> Naming:
    end = int(time.time()) - 400
    return refused_token("token_expired", iat=end - 300, nbf=end - 300, exp=end)(lab)


def unknown_key(lab: FaultLab) -> Naming:
    bearer = NATIVE.sign(ISSUERS.claims(), kid="portal-2031")
    return lab.why(lab.shared, lab.refused(lab.shared, "kid_unknown", bearer=bearer))


def wrong_signing_key(lab: FaultLab) -> Naming:
    bearer = ISSUERS.stranger["ES256"].sign(ISSUERS.claims())
    return lab.why(lab.shared, lab.refused(lab.shared, "token_signature", bearer=bearer))


def too_long_a_life(lab: FaultLab) -> Naming:
    now = int(time.time())
    return refused_token("token_life", iat=now, nbf=now, exp=now + 2 * LIFE_SECONDS)(lab)


def revoked_subject(lab: FaultLab) -> Naming:
    node = lab.node()
    who = subject()
    run_latchkey(node.setup, "revocations", "add", "--kind", "sub", "--value", who, "--issuer", ISSUERS.ISSUER)
    deadline = time.monotonic() + 30
    while (answer := node.ask(message(node.device()), token(sub=who))).status == 200:
        assert time.monotonic() < deadline, "the revocation never held"
    return lab.why(node, lab.id_of(answer, "subject_disabled"))


def other_content(lab: FaultLab) -> Naming:
    spc = message(lab.shared.device(), asset=OTHER)
    return lab.why(lab.shared, lab.refused(lab.shared, "content_mismatch", spc))


def key_not_stored(lab: FaultLab) -> Naming:
    spc = message(lab.shared.device(), asset="movie-without-a-key")
    bearer = token(rights=[{"content": "movie-without-a-key"}])
    return lab.why(lab.shared, lab.refused(lab.shared, "key_not_found", spc, bearer))


def right_ended(lab: FaultLab) -> Naming:
    right = {"content": ISSUERS.content, "end": int(time.time()) - 60}
    return refused_token("right_ended", rights=[right])(lab)


def slots_full(lab: FaultLab) -> Naming:
    claims = {
        "sub": subject(), "rights": [{"content": ISSUERS.content, "lease": 300}],
        "session": {"groups": [{"id": "all", "max": 1}]},
    }  # fmt: skip
    node = lab.shared
    assert node.ask(message(node.device(), 1), token(**claims)).status == 200
    return lab.why(node, lab.refused(node, "concurrency_limit", message(node.device(), 2), token(**claims)))


def uses_spent(lab: FaultLab) -> Naming:
    node, once = lab.shared, token(limits={"uses": 1})
    assert node.ask(message(node.device()), once).status == 200
    return lab.why(node, lab.refused(node, "token_used", bearer=once))


def replayed(lab: FaultLab) -> Naming:
    node, spc = lab.shared, message(lab.shared.device())
    once = token(sub=subject(), limits={"uses": 1}, rights=[{"content": ISSUERS.content, "lease": 1}])
    while node.ask(spc, once).status == 200:
        pass  # The lease of its license runs.
    return lab.why(node, lab.refused(node, "spc_replayed", spc, once))


def no_playback_state(lab: FaultLab) -> Naming:
    node = lab.shared
    spc = node.device().request(SPCOptions(ISSUERS.content.encode())).message
    bearer = token(rights=[{"content": ISSUERS.content, "lease": 300}])
    return lab.why(node, lab.refused(node, "terms_not_expressible", spc, bearer))


def two_tokens(lab: FaultLab) -> Naming:
    headers = {"Authorization": f"Bearer {token()}", "x-dt-auth-token": token()}
    answer = lab.send(lab.shared, message(lab.shared.device()), headers)
    return lab.why(lab.shared, lab.id_of(answer, "token_ambiguous"))


def no_token(lab: FaultLab) -> Naming:
    return lab.why(lab.shared, lab.id_of(lab.send(lab.shared, message(lab.shared.device()), {}), "token_missing"))


def rate_limit(lab: FaultLab) -> Naming:
    rates = {"perAddress": {"perSecond": 1, "burst": 2}, "perSubject": {"perSecond": 1000}}
    node = lab.node(limits={"rates": rates})
    answers = [node.ask(message(node.device()), token()) for _ in range(20)]
    return lab.why(node, next(lab.id_of(one, "rate_limited") for one in answers if one.code == "rate_limited"))


# --- Devices ----------------------------------------------------------------------------------------------------------


def wrong_application_secret(lab: FaultLab) -> Naming:
    def prepare(setup: Path) -> None:
        (setup / "fairplay" / "application-secret.hex").write_text(secrets.token_hex(16))

    node = lab.node()
    device = node.device()
    lab.stop(node)
    prepare(node.setup)
    node = lab.started(Node(node.setup, starts=node.starts))
    return lab.why(node, lab.refused(node, "spc_rejected", message(device)))


def other_certificate(lab: FaultLab) -> Naming:
    spc = message(device_for(make_credential(), 1))
    return lab.why(lab.shared, lab.refused(lab.shared, "spc_certificate_unknown", spc))


def weak_device(lab: FaultLab) -> Naming:
    options = SPCOptions(
        ISSUERS.content.encode(), playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, 1),
        security_level_report=SecurityLevelReport(tags.LEVEL_BASELINE, 31),
    )  # fmt: skip
    bearer = token(rights=[{"content": ISSUERS.content, "min_level": "main"}])
    spc = lab.shared.device().request(options).message
    return lab.why(lab.shared, lab.refused(lab.shared, "security_level", spc, bearer))


def no_hdcp(lab: FaultLab) -> Naming:
    bearer = token(rights=[{"content": ISSUERS.content, "hdcp": "type1"}])
    return lab.why(lab.shared, lab.refused(lab.shared, "security_level", bearer=bearer))


def no_country(lab: FaultLab) -> Naming:
    return refused_token("geo_denied", limits={"countries": ["CH", "DE"]})(lab)


def posted(code: str, body: Callable[[Node], bytes]) -> Callable[[FaultLab], Naming]:
    """A body that is no SPC, with a good token."""

    def make(lab: FaultLab) -> Naming:
        return lab.why(lab.shared, lab.refused(lab.shared, code, body(lab.shared)))

    return make


def certificate_of(node: Node) -> bytes:
    return next((node.setup / "fairplay").glob("*1024.der")).read_bytes()


# --- What stands around the daemon ------------------------------------------------------------------------------------


def tls_on_a_plain_port(lab: FaultLab) -> Naming:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    host, port = lab.shared.url.removeprefix("http://").split(":")
    status, request_id = lab.answer_to((host, int(port)), outgoing.read())
    assert status == 400
    return lab.why(lab.shared, request_id)


def wrong_admin_token(lab: FaultLab) -> Naming:
    request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n"
    answer = exchange(lab.shared.admin, request.format(secrets.token_hex(16)))
    assert answer.status == 401
    return lab.why(lab.shared, answer.field("X-Request-Id") or "")


def ended_certificate(lab: FaultLab) -> Naming:
    pair = make_pair(lab.folder, "ended", hosts=("localhost",), ended=True)
    setup = lab.setup(tls=pair.configuration)
    return lab.check(setup)


def deleted_key(lab: FaultLab) -> Naming:
    node = lab.node()
    run_latchkey(node.setup, "keys", "delete", "--kid", ISSUERS.key_id, "--for-good")
    deadline = time.monotonic() + 90
    while (answer := node.ask(message(node.device()), token())).status == 200:
        assert time.monotonic() < deadline, "the key is still given"
        time.sleep(0.2)
    return lab.why(node, lab.id_of(answer, "key_not_found"))


# --- What needs a compiler --------------------------------------------------------------------------------------------


def with_module(setup: Path, lines: str = "", *options: str) -> None:
    """Gives the only credential of a set-up a module, which `lines` tell what to do; `options` are the compiler's."""
    module = setup / "module.so"
    subprocess.run(
        ["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{LADDER}", *options, "-o", module,
         STAND_IN, "-lcrypto"], check=True, timeout=120,
    )  # fmt: skip
    secret = (setup / "fairplay" / "application-secret.hex").read_text().strip()
    (setup / "module-data").touch(mode=0o600)
    (setup / "module-data").write_text(f"ask {secret}\n{lines}")
    replace_in(
        setup, 'applicationSecret: "fairplay/application-secret.hex",',
        'module: { library: "module.so", data: "module-data", workers: 1, callDeadline: "500ms" },',
    )  # fmt: skip


def dying_module(lab: FaultLab) -> Naming:
    node = lab.node(lambda setup: with_module(setup, "fault 1\n"))
    return lab.why(node, lab.refused(node, "module_unavailable"))


def unusable_module(lab: FaultLab) -> Naming:
    """A library without the function that answers."""
    node = lab.node(lambda setup: with_module(setup, "", "-DSTAND_IN_WITHOUT_ANSWER"))
    return lab.why(node, lab.refused(node, "module_unavailable"))


def no_library(lab: FaultLab) -> Naming:
    setup = lab.setup()
    with_module(setup)
    (setup / "module.so").write_bytes(b"this is no library")
    return lab.refusal_to_start(setup)


def wrong_clock(lab: FaultLab, *, goes_back: bool) -> Naming:
    """A clock a day ahead of the time by which the daemon started; perhaps right again when the operator looks."""
    folder = lab.folder / f"clock-{goes_back}"
    folder.mkdir()
    with stepped_clocks() as clocks:
        clock = clocks.make()
        node = lone_node(folder, clock)
        node.start()
        clock.step(86_400)
        await_true("the step is noticed", lambda: node.metric("latchkey_clock_trusted") == 0)
        if goes_back:
            clock.step(0)
            await_true("the clock is trusted again", lambda: node.metric("latchkey_clock_trusted") == 1)
        naming = lab.doctor(node.setup, node.node.admin, clock.environment)
        node.stop()
    return naming


def unlocked_memory(lab: FaultLab) -> Naming:
    """A daemon that may lock no memory; root may whatever the limit is, so another user runs it."""

    def without_locked_memory() -> None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if os.geteuid() == 0:
            os.setgid(UNPRIVILEGED)
            os.setuid(UNPRIVILEGED)

    setup = lab.setup()
    if os.geteuid() == 0:
        for path in [setup.parent, setup, *setup.rglob("*")]:
            os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
        for folder in [lab.folder, *list(lab.folder.parents)[:2]]:
            folder.chmod(0o755)
    log = setup.parent / "daemon.log"
    process = start_daemon(setup, log, preexec_fn=without_locked_memory)
    try:
        return lab.doctor(setup, await_addresses(process, log)["admin"])
    finally:
        stop_daemon(process)


def full_disk(lab: FaultLab) -> Naming:
    folder = lab.folder / "full"
    folder.mkdir()
    node = lab.started(node_with_disk(folder))
    with node.disk("full"):
        return lab.why(node, lab.refused(node, "storage_unavailable"))


# --- What needs PostgreSQL --------------------------------------------------------------------------------------------


def database(lab: FaultLab, *, hangs: bool) -> Naming:
    with own_server() as server:
        node = lab.started(node_on(server, lab.folder / f"database-{hangs}"))
        assert node.ask(message(node.device()), token(limits={"uses": 1})).status == 200
        server.pause() if hangs else server.kill()
        node.await_state(lambda state: state.metric("latchkey_postgresql_up") == 0)
        named = lab.why(node, lab.refused(node, "storage_unavailable", bearer=token(limits={"uses": 1})))
        server.go_on() if hangs else None
        lab.stop(node)
    return named


def database_of_the_doctor(lab: FaultLab) -> Naming:
    with own_server() as server:
        node = node_on(server, lab.folder / "database-of-the-doctor")
        server.kill()
        _, output = lab.run("latchkey", "doctor", "--config", node.setup / "latchkey.json5", "--no-daemon")
    assert not DUMPS.search(output) and "secret" not in output.partition("store.postgresql")[2].split("\n")[1], output
    return Naming("latchkey doctor", output)


def other_pseudonyms(lab: FaultLab) -> Naming:
    with own_server() as server:
        folder = lab.folder / "pseudonyms"
        folder.mkdir()
        first = node_on(server, folder / "1")
        second = node_on(server, folder / "2", name="node-2", like=first)
        lab.started(first)
        (second.setup / "secrets" / "pseudonym-key").write_text(secrets.token_hex(32))
        named = lab.refusal_to_start(second.setup)
        lab.stop(first)
    return named


# --- The rows ---------------------------------------------------------------------------------------------------------

WHERE = ("listener", "client", "127.0.0.0/24")
WHOSE = (*WHERE, "issuer", ISSUERS.ISSUER, "token_key", NATIVE.kid)
WHO = (*WHOSE, "subject")
CONTENT = ("content", ISSUERS.content, "kid", ISSUERS.key_id, "credential", "development")

FAULTS = [
    Fault(1, "wrong application secret", wrong_application_secret,
          ("SK..R1", "another application secret", "credential", "development", "applicationSecret", *WHO)),
    Fault(2, "app has another deployment's certificate", other_certificate,
          ("certificate hash", "development", "latchkey credentials list", *WHO)),
    Fault(3, "issuer's clock ahead", ahead, ("becomes valid in", "from", "until", "within 30 s", "clocks", *WHOSE)),
    Fault(4, "token expired", expired, ("expired 40", "until", "within 30 s", "new token", *WHOSE)),
    Fault(6, "unknown token key id", unknown_key,
          ("portal-2031", NATIVE.kid, "entitlement.issuers", "token_key", *WHERE)),
    Fault(7, "wrong audience or issuer", refused_token("token_audience", aud="other-service"),
          ("other-service", 'aud "latchkey"', "audience", *WHOSE), "audience"),
    Fault(7, "wrong audience or issuer", refused_token("token_issuer", iss="https://other.example"),
          ("https://other.example", f'iss "{ISSUERS.ISSUER}"', *WHOSE), "issuer"),
    Fault(8, "wrong signing key", wrong_signing_key,
          (ISSUERS.native["ES256"].kid, "ES256", ISSUERS.ISSUER, "another key has signed", *WHERE)),
    Fault(9, "unknown claim, token life too long",
          refused_token("token_schema", rights=[{"content": ISSUERS.content, "leese": 300}]),
          ("rights[0].leese: 300", "claim", *WHOSE), "claim"),
    Fault(9, "unknown claim, token life too long", too_long_a_life,
          (f"{2 * LIFE_SECONDS} s", f"at most {LIFE_SECONDS} s", "maximumLife", *WHOSE), "life"),
    Fault(10, "asset id names another content; key not found", other_content,
          (f"content {OTHER}", f"content {ISSUERS.content}", "rights", "credential", *WHO), "other-content"),
    Fault(10, "asset id names another content; key not found", key_not_stored,
          ("no live key is stored", "movie-without-a-key", "latchkey keys list", *WHO), "key"),
    Fault(11, "revoked subject", revoked_subject,
          ("revoked: the subject", "latchkey revocations", *WHO)),
    Fault(12, "security level or HDCP not met", weak_device,
          ("baseline", "at least main", *CONTENT, *WHO), "level"),
    Fault(12, "security level or HDCP not met", no_hdcp, ("HDCP type0 at most", "HDCP type1", *CONTENT, *WHO), "hdcp"),
    Fault(13, "countryField not configured", no_country,
          ("entitlement.countryField is not configured", "CH, DE", *CONTENT, *WHO)),
    Fault(14, "right ended, slots full, uses spent, replay, no playback state", right_ended,
          ("the right has ended", "before", *CONTENT, *WHO), "right-ended"),
    Fault(14, "right ended, slots full, uses spent, replay, no playback state", slots_full,
          ("1 playbacks", "at most 1", "latchkey account playbacks", *CONTENT, *WHO), "slots"),
    Fault(14, "right ended, slots full, uses spent, replay, no playback state", uses_spent,
          ("at most 1 uses", *CONTENT, *WHO), "uses"),
    Fault(14, "right ended, slots full, uses spent, replay, no playback state", replayed,
          ("was decided before", "new one for each request", *CONTENT, *WHO), "replay"),
    Fault(14, "right ended, slots full, uses spent, replay, no playback state", no_playback_state,
          ("no media playback state", "lease", *CONTENT, *WHO), "playback-state"),
    Fault(15, "two different tokens", two_tokens,
          ("Authorization, x-dt-auth-token", "one token", "ignoredSources", *WHERE)),
    Fault(16, "no token; certificate posted as SPC; truncated SPC", no_token,
          ("no token was presented", "Authorization", *WHERE), "no-token"),
    Fault(16, "no token; certificate posted as SPC; truncated SPC",
          posted("spc_is_certificate", certificate_of), ("certificate", "player", *WHO), "certificate"),
    Fault(16, "no token; certificate posted as SPC; truncated SPC",
          posted("spc_malformed", lambda node: message(node.device())[:-16]),
          ("payload", "bytes", *WHO), "truncated"),
    Fault(17, "Base64 or form body",
          posted("body_unrecognised", lambda _: b"challenge=" + base64.b64encode(secrets.token_bytes(300))),
          ("form", *WHO), "form"),
    Fault(17, "Base64 or form body",
          posted("spc_double_base64",
                 lambda node: base64.b64encode(base64.b64encode(message(node.device())))),
          ("Base64 twice", *WHO), "base64"),
    Fault(18, "TLS on a plain port", tls_on_a_plain_port,
          ("speaks TLS to a listener without TLS", "http://", *WHERE)),
    Fault(19, "rate limit", rate_limit, ("requests of the client 127.0.0.0/24", "at most 1 a second, 2 at once", "limits.rates.perAddress", *WHERE)),
    Fault(24, "TLS certificate expired", ended_certificate, ("TLS certificate has ended", "public")),
    Fault(25, "wrong admin token", wrong_admin_token, ("a wrong token", "tokenFile", "listeners.admin", *WHERE)),
    Fault(26, "key deleted by staff", deleted_key,
          ("was deleted at", "by user:", ISSUERS.content, ISSUERS.key_id, *WHO)),
]  # fmt: skip

COMPILED = [
    Fault(5, "the server's own clock is wrong", lambda lab: wrong_clock(lab, goes_back=False),
          ("does not trust the clock", "latchkey clock show")),
    Fault(22, "disk full", full_disk, ("disk", "full", "ledger", *CONTENT, *WHO)),
    Fault(23, "external module dies", dying_module, ("worker", "died", *CONTENT, *WHO)),
    Fault(29, "module library cannot be opened", unusable_module,
          ("credentials:", "latchkey_ladder", "development", *CONTENT, *WHO), "without-a-function"),
    Fault(29, "module library cannot be opened", no_library,
          ("latchkey.json5, line", "credentials[0].module.library", "not a shared library"), "no-library"),
    Fault(28, "clock stepped by a day and back", lambda lab: wrong_clock(lab, goes_back=True),
          ("something steps the clock", "clock_stepped")),
    Fault(30, "memory cannot be locked (LimitMEMLOCK)", unlocked_memory, ("not locked", "LimitMEMLOCK")),
]  # fmt: skip

DATABASES = [
    Fault(20, "database down", lambda lab: database(lab, hangs=False),
          ("does not answer", "storage.url", "degraded", "postgresql", *CONTENT, *WHO)),
    Fault(20, "database down", database_of_the_doctor,
          ("store.postgresql", "storage.url", "no connection", "whether PostgreSQL runs", "psql"), "doctor"),
    Fault(21, "database hangs", lambda lab: database(lab, hangs=True),
          ("does not answer", "storage.url", "degraded", "postgresql", *CONTENT, *WHO)),
    Fault(27, "pseudonym key differs on one node", other_pseudonyms, ("pseudonymKey",)),
]  # fmt: skip


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    table = Table()
    yield table
    file = os.environ.get(TABLE_VARIABLE)
    if file:
        Path(file).write_text(table.text() + "\n")


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultLab]:
    with FaultLab(tmp_path_factory.mktemp("faults")) as lab:
        yield lab


def name(fault: Fault, lab: FaultLab, table: Table) -> None:
    """Makes the fault, asks the one command, and demands all words of the cause."""
    command, is_named = "-", False
    try:
        naming = fault.make(lab)
        command = naming.command
        missing = fault.missing_in(naming.output)
        is_named = not missing
        assert not missing, f"{missing} are not in:\n{naming.output}"
    finally:
        table.note(fault.number, fault.name, command, is_named)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_one_command_names_the_fault(fault: Fault, lab: FaultLab, table: Table) -> None:
    name(fault, lab, table)


@pytest.mark.slow
@pytest.mark.parametrize("fault", COMPILED, ids=lambda fault: fault.id)
def test_one_command_names_a_part_that_fails(fault: Fault, lab: FaultLab, table: Table) -> None:
    name(fault, lab, table)


@pytest.mark.outage
@pytest.mark.parametrize("fault", DATABASES, ids=lambda fault: fault.id)
def test_one_command_names_a_database_that_fails(fault: Fault, lab: FaultLab, table: Table) -> None:
    name(fault, lab, table)


def test_each_fault_of_the_table_has_a_row() -> None:
    assert {fault.number for fault in (*FAULTS, *COMPILED, *DATABASES)} == set(range(1, 31))
