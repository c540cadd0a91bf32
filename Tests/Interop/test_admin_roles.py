"""Administrators: roles, tokens, client certificates, and sessions of the operator's page."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from admin_client import WAIT_SECONDS, AdminClient, configure_listener, reload
from deployment import run_latchkey
from own_daemon import OwnDaemon, running_daemon
from secret_watch import WATCH
from tls_material import KeyPair, make_pair

ROLES = ("metrics", "support", "security", "admin")
ISSUER = "latchkey-development"
SUBJECT = f"subject=viewer-1&issuer={ISSUER}"
# A request for each permission, the roles that may send it, and its status then.
REQUESTS = [
    ("GET", "/metrics", None, {"metrics", "admin"}, 200),
    ("GET", "/v1/refusals/0000000000000000", None, {"support", "security", "admin"}, 404),
    ("GET", "/v1/revocations", None, {"support", "security", "admin"}, 200),
    ("GET", f"/v1/devices?{SUBJECT}", None, {"support", "security", "admin"}, 200),
    ("POST", "/v1/explain", {"token": "none"}, {"support", "security", "admin"}, 200),
    ("DELETE", f"/v1/devices?{SUBJECT}&all=true", None, {"support", "admin"}, 200),
    ("DELETE", f"/v1/playbacks?{SUBJECT}&all=true", None, {"support", "admin"}, 200),
    ("DELETE", f"/v1/rentals?{SUBJECT}&all=true", None, {"support", "admin"}, 200),
    ("POST", "/v1/revocations", {"kind": "jti", "value": "t-1", "issuer": ISSUER}, {"security", "admin"}, 200),
    ("DELETE", f"/v1/revocations?kind=jti&value=t-1&issuer={ISSUER}", None, {"security", "admin"}, 200),
    ("POST", "/v1/drain", None, {"admin"}, 200),
    ("POST", "/v1/ready", None, {"admin"}, 200),
]


@dataclass(frozen=True)
class Lab:
    """A daemon whose admin listener has a token of each role, by the role's name."""

    daemon: OwnDaemon
    tokens: dict[str, str]

    def client(self, role: str | None = None) -> AdminClient:
        return AdminClient(self.daemon.admin, token=self.tokens[role] if role else None)

    def browser(self, role: str) -> AdminClient:
        return AdminClient(self.daemon.admin).logged_in(self.tokens[role])

    def configure(self, **changes: object) -> None:
        """Reloads the daemon. The changes are of tokens, by their names; None removes one."""
        with_tokens(self.daemon.setup, {name: {"roles": [name]} for name in ROLES} | changes)
        reload(self.daemon)

    def newest_row(self, kind: str) -> dict[str, object]:
        rows = json.loads(run_latchkey(self.daemon.setup, "ledger", "query", "--limit", "10000", "--json"))["entries"]
        return [row for row in rows if row["kind"] == kind][0]


def with_tokens(setup: Path, tokens: dict[str, object], **fields: object) -> None:
    """Gives the admin listener these tokens: their names, and their further fields."""
    listed = [
        {"name": name, "file": f"secrets/{'admin-token' if name == 'admin' else f'admin-token-{name}'}"} | further
        for name, further in tokens.items()
        if isinstance(further, dict)
    ]
    configure_listener(setup, {"tokens": listed} | fields)


def write_secret(setup: Path, name: str, text: str) -> None:
    file = setup / "secrets" / name
    file.write_text(text + "\n")
    file.chmod(0o600)
    WATCH.note_text(name, text)


@contextmanager
def running_lab(folder: Path, **fields: object) -> Iterator[Lab]:
    made = {role: secrets.token_hex(20) for role in ROLES if role != "admin"}

    def prepare(setup: Path) -> None:
        for role, token in made.items():
            write_secret(setup, f"admin-token-{role}", token)
        with_tokens(setup, {name: {"roles": [name]} for name in ROLES}, **fields)

    with running_daemon(folder, prepare=prepare) as daemon:
        admin = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        yield Lab(daemon, made | {"admin": admin})


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("roles")) as lab:
        yield lab


def tool(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `latchkey` against the daemon, with the token of the configuration unless another one is given."""
    config = ("--config", str(lab.daemon.setup / "latchkey.json5"))
    server = ("--server", "http://{}:{}".format(*lab.daemon.admin))
    return subprocess.run(
        [os.environ["LATCHKEY_BIN"], *arguments, *config, *server],
        capture_output=True, text=True, timeout=WAIT_SECONDS, check=False,
    )  # fmt: skip


# --- Roles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["token", "session"])
@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_the_table_says_and_no_more(role: str, way: str, lab: Lab) -> None:
    client = lab.client(role) if way == "token" else lab.browser(role)
    for method, path, body, roles, status in REQUESTS:
        answer = client.send(method, path, body)
        if role in roles:
            assert answer.status == status, f"{method} {path}: {answer}"
            continue
        assert (answer.status, answer.header("X-Error-Code")) == (403, "admin_role_missing"), f"{method} {path}: {answer}"
        named = {word for word in ROLES if word in str(answer.problem["detail"])}
        assert named == roles, answer.problem


def test_a_stranger_hears_401_first(lab: Lab) -> None:
    for method, path, body, _, _ in REQUESTS:
        answer = lab.client().send(method, path, body)
        assert (answer.status, answer.header("X-Error-Code")) == (401, "admin_token_invalid"), f"{method} {path}"
    for path in ("/livez", "/readyz"):
        assert lab.client().send("GET", path).status == 200


@pytest.mark.parametrize("role", ROLES)
def test_whoami_says_what_a_token_may_do(role: str, lab: Lab) -> None:
    found = lab.client(role).who_am_i()
    assert (found["name"], found["kind"], found["roles"]) == (role, "token", [role])
    assert found["actor"] == f"token:{role}" and "formToken" not in found
    said = tool(lab, "admin", "whoami", "--token", lab.tokens[role], "--json")
    assert said.returncode == 0 and json.loads(said.stdout) == found, said
    text = tool(lab, "admin", "whoami", "--token", lab.tokens[role]).stdout
    assert f"token:{role}" in text and ", ".join(found["permissions"]) in text
    wrong = tool(lab, "admin", "whoami", "--token", "a-token-that-nobody-has-0123456789")
    assert wrong.returncode == 1 and "token" in wrong.stderr


def test_the_tool_takes_the_token_that_may_do_it(lab: Lab) -> None:
    """The configuration names the token of metrics first."""
    assert tool(lab, "admin", "drain").returncode == 0
    assert tool(lab, "admin", "ready").returncode == 0
    refused = tool(lab, "admin", "drain", "--token", lab.tokens["support"])
    assert refused.returncode == 1 and "operate" in refused.stderr and "role admin" in refused.stderr


def test_the_tool_prints_the_metrics(lab: Lab) -> None:
    found = tool(lab, "admin", "metrics")
    assert found.returncode == 0 and "# TYPE latchkey_ready gauge\n" in found.stdout, found
    assert tool(lab, "admin", "metrics", "ready", "--token", lab.tokens["metrics"]).stdout == "latchkey_ready 1\n"
    refused = tool(lab, "admin", "metrics", "--token", lab.tokens["support"])
    assert refused.returncode == 1 and "metrics, admin" in refused.stderr, refused
    missing = tool(lab, "admin", "metrics", "no_such_metric")
    assert missing.returncode == 1 and "no metric begins with no_such_metric" in missing.stderr, missing


@pytest.mark.parametrize("way", ["token", "session"])
def test_the_ledger_names_the_credential(way: str, lab: Lab) -> None:
    client = lab.client("security") if way == "token" else lab.browser("security")
    order = {"kind": "jti", "value": f"t-{secrets.token_hex(4)}", "issuer": ISSUER}
    assert client.send("POST", "/v1/revocations", order).status == 200
    assert lab.newest_row("revoked")["actor"] == "token:security"
    lifted = client.send("DELETE", f"/v1/revocations?kind=jti&value={order['value']}&issuer={ISSUER}")
    assert lifted.status == 200 and lab.newest_row("revocation_lifted")["actor"] == "token:security"


def test_tokens_without_roles_are_warned_about(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        lines = [json.loads(line) for line in daemon.log.read_text().splitlines() if line.startswith("{")]
        found = [line["warning"] for line in lines if line["event"] == "configuration"]
        # The daemon also warns about variables of the environment, which the run of the tests sets, and about keys.
        warnings = [each for each in found if "overrides nothing" not in each and not each.startswith("keys: ")]
        assert len(warnings) == 1 and "listeners.admin[0]" in warnings[0] and "tokenFile" in warnings[0]
        secret = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        found = AdminClient(daemon.admin, token=secret).who_am_i()
        assert (found["roles"], found["actor"]) == (["admin"], "token:tokenFile")
    program = Path(os.environ["LATCHKEY_BIN"])
    configuration = str(daemon.setup / "latchkey.json5")
    checked = subprocess.run(
        [program.with_name("latchkeyd"), "--config", configuration, "--check"],
        capture_output=True, text=True, timeout=WAIT_SECONDS, check=True,
    )  # fmt: skip
    assert warnings[0] in checked.stderr
    doctor = subprocess.run(
        [program, "doctor", "--config", configuration, "--no-daemon"],
        capture_output=True, text=True, timeout=WAIT_SECONDS, check=True,
    )  # fmt: skip
    assert warnings[0] in doctor.stdout


def test_short_tokens_are_warned_about(tmp_path: Path, latchkey_programs: None) -> None:
    with running_lab(tmp_path) as lab:
        setup = lab.daemon.setup
    write_secret(setup, "admin-token-support", secrets.token_hex(15))
    program = Path(os.environ["LATCHKEY_BIN"])
    for command in ([program.with_name("latchkeyd"), "--check"], [program, "doctor", "--no-daemon"]):
        done = subprocess.run(
            [*command, "--config", str(setup / "latchkey.json5")],
            capture_output=True, text=True, timeout=WAIT_SECONDS, check=True,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert said.count("fewer than 32 characters") == 1 and "openssl rand -hex 32" in said


# --- Sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_lasts_until_it_is_ended(lab: Lab) -> None:
    browser, other = lab.browser("support"), lab.browser("support")
    found = browser.who_am_i()
    assert (found["kind"], found["actor"], found["roles"]) == ("session", "token:support", ["support"])
    assert found["formToken"] == browser.form_token and found["idleSeconds"] == 900
    answer = browser.send("DELETE", "/v1/session")
    assert answer.status == 200 and "Max-Age=0" in str(answer.header("Set-Cookie"))
    assert browser.send("GET", "/v1/whoami").status == 401
    assert other.who_am_i()["kind"] == "session"
    assert other.form_token != browser.form_token and other.cookie != browser.cookie


def test_the_cookie_is_kept_from_scripts_and_other_sites(lab: Lab) -> None:
    answer = lab.client().send("POST", "/v1/session", {"token": lab.tokens["metrics"]})
    cookie = str(answer.header("Set-Cookie"))
    WATCH.note_text("the id of a session", cookie.partition(";")[0].partition("=")[2])
    assert cookie.startswith("latchkey_admin=") and cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert answer.header("Cache-Control") == "no-store"


def test_a_wrong_cookie_is_no_session(lab: Lab) -> None:
    browser = lab.browser("support")
    name, _, value = str(browser.cookie).partition("=")
    for wrong in ("", "x", "0" * 64, value[:-1], value[:-1] + ("0" if value[-1] != "0" else "1"), value.upper()):
        assert replace(browser, cookie=f"{name}={wrong}").send("GET", "/v1/whoami").status == 401
    assert replace(browser, cookie=f"__Host-{name}={value}").send("GET", "/v1/whoami").status == 401
    assert replace(browser, cookie=f"{name}={value}; {name}={'0' * 64}").send("GET", "/v1/whoami").status == 401
    assert replace(browser, cookie=f"a=b; {name}={value}").send("GET", "/v1/whoami").status == 200


def test_a_reload_ends_and_changes_sessions(tmp_path: Path, latchkey_programs: None) -> None:
    with running_lab(tmp_path) as lab:
        support, security = lab.browser("support"), lab.browser("security")
        lab.configure(support={"roles": ["support", "admin"]}, security=None)
        assert support.who_am_i()["roles"] == ["support", "admin"]
        assert support.send("POST", "/v1/drain").status == 200
        assert security.send("GET", "/v1/whoami").status == 401
        assert lab.client("security").send("GET", "/v1/whoami").status == 401
        lab.configure()
        assert support.who_am_i()["roles"] == ["support"]
        assert support.send("POST", "/v1/ready").header("X-Error-Code") == "admin_role_missing"
        # The token is back, the session is not.
        assert lab.client("security").send("GET", "/v1/whoami").status == 200
        assert security.send("GET", "/v1/whoami").status == 401
        write_secret(lab.daemon.setup, "admin-token-support", secrets.token_hex(20))
        lab.configure()
        assert support.send("GET", "/v1/whoami").status == 401
        assert lab.browser("metrics").who_am_i()["roles"] == ["metrics"]


@pytest.mark.parametrize(
    "changed",
    [
        {"X_Latchkey_Form": None}, {"X_Latchkey_Form": ""}, {"X_Latchkey_Form": "0" * 64},
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"},
        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_another_page_cannot_use_a_session(changed: dict[str, str | None], lab: Lab) -> None:
    browser = lab.browser("admin")
    for method, path in (("POST", "/v1/drain"), ("DELETE", "/v1/session")):
        answer = browser.send(method, path, **changed)
        assert (answer.status, answer.header("X-Error-Code")) == (403, "admin_origin_refused"), path
    assert lab.client().send("GET", "/readyz").status == 200
    assert browser.send("POST", "/v1/ready").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_cannot_read_by_a_session(site: str, lab: Lab) -> None:
    browser = lab.browser("admin")
    assert browser.send("GET", "/metrics", Sec_Fetch_Site=site).header("X-Error-Code") == "admin_origin_refused"
    assert browser.send("GET", "/metrics", Sec_Fetch_Site="none").status == 200


@pytest.mark.parametrize("changed", [{"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}], ids=str)
def test_another_page_cannot_log_an_operator_in(changed: dict[str, str], lab: Lab) -> None:
    browser = lab.browser("metrics")
    answer = browser.send("POST", "/v1/session", {"token": lab.tokens["metrics"]}, **changed)
    assert answer.header("X-Error-Code") == "admin_origin_refused" and answer.header("Set-Cookie") is None
    # A form of another page cannot be JSON.
    form = browser.send("POST", "/v1/session", {"token": lab.tokens["metrics"]}, Content_Type="text/plain")
    assert form.status == 415


def test_a_name_that_points_here_is_not_enough(lab: Lab) -> None:
    """A page of evil.example whose name an attacker points to this machine: the browser thinks it is one site."""
    browser = lab.browser("admin")
    host = f"evil.example:{lab.daemon.admin[1]}"
    named = {"Host": host, "Origin": f"http://{host}"}
    for method, path, body in (
        ("GET", "/metrics", None), ("POST", "/v1/drain", None), ("DELETE", "/v1/session", None),
        ("POST", "/v1/session", {"token": lab.tokens["admin"]}),
    ):  # fmt: skip
        answer = browser.send(method, path, body, **named)
        assert (answer.status, answer.header("X-Error-Code")) == (400, "request_invalid"), path
    assert lab.client("admin").send("GET", "/metrics", Host=host).status == 200, "a program may use any name"
    assert browser.who_am_i()["kind"] == "session"


def test_listed_names_are_for_browsers_too(tmp_path: Path, latchkey_programs: None) -> None:
    with running_lab(tmp_path, hosts=["keys.internal"]) as lab:
        browser = AdminClient(lab.daemon.admin, host="keys.internal").logged_in(lab.tokens["support"])
        assert browser.who_am_i()["idleSeconds"] == 900
        assert lab.client("admin").send("GET", "/metrics", Host="other.internal").status == 400


def test_most_guesses_at_the_log_in_are_answered_with_a_wait(tmp_path: Path, latchkey_programs: None) -> None:
    with running_lab(tmp_path) as lab:
        codes = []
        while "rate_limited" not in codes and len(codes) < 1000:
            answer = lab.client().send("POST", "/v1/session", {"token": secrets.token_hex(20)})
            codes.append(str(answer.header("X-Error-Code")))
        assert set(codes) == {"admin_token_invalid", "rate_limited"} and len(codes) > 10
        assert answer.status == 429 and answer.header("Retry-After") is not None
        assert lab.client().send("POST", "/v1/session", {"token": lab.tokens["support"]}).status == 200


# --- Certificates -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SecureLab:
    """A daemon whose admin listener demands client certificates."""

    lab: Lab
    authority: KeyPair
    pairs: dict[str, KeyPair]

    def context(self, name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.authority.certificate_file))
        context.load_cert_chain(self.pairs[name].certificate_file, self.pairs[name].key_file)
        return context

    def client(self, name: str) -> AdminClient:
        address = ("localhost", self.lab.daemon.admin[1])
        return AdminClient(address, self.context(name))


@pytest.fixture(scope="module")
def secure(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureLab]:
    folder = tmp_path_factory.mktemp("material")
    authority = make_pair(folder, "operators")
    server = make_pair(folder, "server", hosts=("localhost",), issuer=authority)
    pairs = {name: make_pair(folder, name, issuer=authority) for name in ("carol", "dave", "stranger")}
    fingerprint = hashlib.sha256(pairs["dave"].certificate.public_bytes(Encoding.DER)).hexdigest()
    clients = [
        {"name": "carol", "clientCertificates": ["CN=carol"], "roles": ["security"]},
        {"name": "dave", "clientCertificates": [fingerprint], "roles": ["metrics", "support"]},
    ]
    tls = server.configuration | {"clientCA": str(authority.certificate_file)}
    with running_lab(tmp_path_factory.mktemp("secure"), tls=tls, clients=clients) as lab:
        yield SecureLab(lab, authority, pairs)


def test_a_certificate_names_an_operator(secure: SecureLab) -> None:
    carol, dave = secure.client("carol").who_am_i(), secure.client("dave").who_am_i()
    assert (carol["kind"], carol["actor"], carol["roles"]) == ("certificate", "certificate:carol", ["security"])
    assert (dave["name"], dave["roles"]) == ("dave", ["metrics", "support"])
    stranger = secure.client("stranger").send("GET", "/v1/whoami")
    assert (stranger.status, stranger.header("X-Error-Code")) == (401, "admin_token_invalid")
    assert secure.client("dave").send("GET", "/metrics").status == 200
    assert secure.client("carol").send("GET", "/metrics").header("X-Error-Code") == "admin_role_missing"


def test_the_ledger_names_the_certificate(secure: SecureLab) -> None:
    order = {"kind": "jti", "value": f"t-{secrets.token_hex(4)}", "issuer": ISSUER}
    assert secure.client("carol").send("POST", "/v1/revocations", order).status == 200
    assert secure.lab.newest_row("revoked")["actor"] == "certificate:carol"


def test_a_token_decides_before_a_certificate(secure: SecureLab) -> None:
    client = replace(secure.client("carol"), token=secure.lab.tokens["support"])
    assert client.who_am_i()["actor"] == "token:support"
    assert replace(client, token="wrong-" + "0" * 20).send("GET", "/v1/whoami").status == 401
    stranger = replace(secure.client("stranger"), token=secure.lab.tokens["support"])
    assert stranger.who_am_i()["actor"] == "token:support"


def test_another_page_cannot_use_a_certificate(secure: SecureLab) -> None:
    carol = secure.client("carol")
    order = {"kind": "jti", "value": "t-2", "issuer": ISSUER}
    for changed in ({"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        answer = carol.send("POST", "/v1/revocations", order, **changed)
        assert answer.header("X-Error-Code") == "admin_origin_refused"
    assert carol.send("POST", "/v1/revocations", order, Origin=carol.origin).status == 200


def test_a_session_over_tls_has_a_cookie_for_tls_alone(secure: SecureLab) -> None:
    client = secure.client("stranger")
    answer = client.send("POST", "/v1/session", {"token": secure.lab.tokens["support"]}, Origin=client.origin)
    cookie = str(answer.header("Set-Cookie"))
    WATCH.note_text("the id of a session", cookie.partition(";")[0].partition("=")[2])
    assert cookie.startswith("__Host-latchkey_admin=") and cookie.endswith("; HttpOnly; SameSite=Strict; Secure")
    plain = client.send("POST", "/v1/session", {"token": secure.lab.tokens["support"]}, Origin="http://localhost")
    assert plain.header("X-Error-Code") == "admin_origin_refused"
    browser = client.logged_in(secure.lab.tokens["support"])
    assert browser.who_am_i()["actor"] == "token:support"


def test_a_session_works_over_http_2(secure: SecureLab) -> None:
    browser = secure.client("stranger").logged_in(secure.lab.tokens["security"])
    url = f"https://localhost:{browser.address[1]}"
    fields = {"Cookie": f"a=b; {browser.cookie}", "X-Latchkey-Form": str(browser.form_token), "Origin": url}
    with httpx.Client(http2=True, verify=browser.context, trust_env=False) as client:
        found = client.get(f"{url}/v1/whoami", headers=fields)
        assert found.http_version == "HTTP/2" and found.json()["kind"] == "session"
        order = {"kind": "jti", "value": "t-3", "issuer": ISSUER}
        assert client.post(f"{url}/v1/revocations", headers=fields, json=order).status_code == 200
        del fields["X-Latchkey-Form"]
        refused = client.post(f"{url}/v1/revocations", headers=fields, json=order)
        assert refused.headers["X-Error-Code"] == "admin_origin_refused"
