"""Every token of `token_cases` against a daemon with issuers of all dialects: each gets its status and code."""

import json
import secrets
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment import assert_problem, register
from fairplay_device import tags
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import PlaybackState, SPCOptions, device_for
from license_client import LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from token_cases import TokenCase, all_cases, unauthorised
from token_issuers import Issuers, SigningKey

RELOAD_SECONDS = 60
# Without a playback state, a license cannot have a lease.
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)
CASE_COUNT_MINIMUM = 200
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
ISSUERS = Issuers.make(f"conformance-{secrets.token_hex(4)}", str(uuid.UUID(bytes=KEY.key_id)))
NAMES = [case.name for case in all_cases(ISSUERS)]


@pytest.fixture(scope="module")
def daemon(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("tokens"), prepare=ISSUERS.write) as daemon:
        register(daemon.setup, ISSUERS.content, KEY)
        yield daemon


@pytest.fixture(scope="module")
def client(daemon: OwnDaemon) -> Iterator[LicenseClient]:
    client = LicenseClient(daemon.url)
    yield client
    client.close()


@pytest.fixture
def message(daemon: OwnDaemon) -> bytes:
    """A new SPC for each token, because a counted token is not valid for an SPC that another token was used for."""
    device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
    options = SPCOptions(ISSUERS.content.encode(), playback_state=STATE)
    return device.request(options).message


def expect(client: LicenseClient, message: bytes, case: TokenCase) -> None:
    answer = client.license(message, case.token)
    if case.expected.status == 200:
        assert answer.status == 200, f"{case.name}: {answer.body!r}"
    else:
        assert_problem(answer, case.expected)


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(NAMES) >= CASE_COUNT_MINIMUM
    assert len(set(NAMES)) == len(NAMES)
    for dialect in ("ES256", "EdDSA", "RS256", "HS256", "jwt", "nagra", "axinom", "sealed"):
        assert sum(name.startswith(dialect + ":") for name in NAMES) >= 25, dialect


# The names of the cases do not depend on when the tokens are made. A token of this table is valid for a few minutes, so
# each test makes its token again.
@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_a_token_gets_its_code(client: LicenseClient, message: bytes, fresh: list[TokenCase], index: int) -> None:
    expect(client, message, fresh[index])


@pytest.fixture(scope="module")
def fresh() -> list[TokenCase]:
    return all_cases(ISSUERS)


# --- Nearly right places ----------------------------------------------------------------------------------------------

# Header fields and a query with a token, the code, the place that the refusal names, and words of its hint.
NEARLY = [
    ({}, "userToken=TOKEN", "token_missing", ("parameter", "userToken"), "UserToken"),
    ({}, "Token=TOKEN", "token_missing", ("parameter", "Token"), "parameter token"),
    ({}, "access_token=TOKEN", "token_missing", ("parameter", "access_token"), "Authorization"),
    ({}, "axdrmmessage=TOKEN", "token_missing", ("parameter", "axdrmmessage"), "AxDrmMessage"),
    ({}, "token=%22TOKEN%22", "token_malformed", ("parameter", "token"), "without quotes"),
    ({"Authorization": "Bearer=TOKEN"}, "", "token_missing", ("header", "Authorization"), "Bearer"),
    ({"Authorization": "TOKEN"}, "", "token_missing", ("header", "Authorization"), "Bearer"),
    ({"Authorization": 'Bearer "TOKEN"'}, "", "token_malformed", ("header", "Authorization"), "without quotes"),
    ({"X-AxDRM-Message": '"TOKEN"'}, "", "token_malformed", ("header", "X-AxDRM-Message"), "without quotes"),
    ({"x-dt-auth-token": "Bearer TOKEN"}, "", "token_malformed", ("header", "x-dt-auth-token"), "Authorization"),
    ({"X-Own": "TOKEN"}, "", "token_missing", ("header", "X-Own"), "entitlement.tokenHeaders"),
    ({"Authorization": "Bearer\tTOKEN"}, "", "token_missing", ("header", "Authorization"), "Bearer"),
    ({"Authorization": "Bearer%20TOKEN"}, "", "token_missing", ("header", "Authorization"), "Bearer"),
    ({"Authorization": "Bearer undefined"}, "", "token_malformed", ("header", "Authorization"), "before it had"),
    ({}, "token=null", "token_malformed", ("parameter", "token"), "before it had"),
    (
        {"Cf-Access-Jwt-Assertion": "TOKEN"}, "access_token=TOKEN", "token_missing", ("parameter", "access_token"),
        "Authorization",
    ),
    ({"Cookie": "session=TOKEN"}, "", "token_missing", None, "Authorization"),
    ({"Referer": "https://a.example/?token=TOKEN"}, "", "token_missing", None, "Authorization"),
]


@pytest.mark.parametrize("address", ["/fps/license", "/fps/licenses/query", "/fps/challenge"])
@pytest.mark.parametrize(("fields", "query", "code", "place", "hint"), NEARLY)
def test_a_token_in_a_nearly_right_place_is_named_and_not_taken(
    daemon: OwnDaemon,
    client: LicenseClient,
    message: bytes,
    fields: dict[str, str],
    query: str,
    code: str,
    place: tuple[str, str] | None,
    hint: str,
    address: str,
) -> None:
    token = ISSUERS.native["ES256"].sign(ISSUERS.claims())
    headers = {name: value.replace("TOKEN", token) for name, value in fields.items()}
    path = address + (f"?{query.replace('TOKEN', token)}" if query else "")
    answer = client.send("POST", path, message, {"Content-Type": "application/octet-stream"} | headers)
    assert (answer.status, answer.code) == (401, code), answer.body
    named = [(word, answer.problem[word]) for word in ("header", "parameter") if word in answer.problem]
    assert named == ([place] if place else [])
    assert hint in str(answer.problem["hint"])
    for part in token.split("."):
        assert part.encode() not in answer.body and part not in daemon.log.read_text()


@pytest.mark.last
def test_a_reload_puts_new_keys_in_force(daemon: OwnDaemon, client: LicenseClient, message: bytes) -> None:
    """A verified and cached token is refused after its key was revoked, and a new key is valid immediately."""
    remembered = ISSUERS.native["ES256"].sign(ISSUERS.claims())
    newcomer = SigningKey.make("newcomer", "EdDSA")
    late = newcomer.sign(ISSUERS.claims())
    assert client.license(message, remembered).status == 200
    assert_problem(client.license(message, late), unauthorised("kid_unknown"))

    file = daemon.setup / "secrets" / "native.json"
    keys = json.loads(file.read_text())["keys"]
    for key in keys:
        if key["kid"] == ISSUERS.native["ES256"].kid:
            key["state"] = "revoked"
    file.write_text(json.dumps({"keys": [*keys, newcomer.for_verifiers]}))
    daemon.process.send_signal(signal.SIGHUP)
    await_event(daemon.log, "reloaded")
    assert_problem(client.license(message, remembered), unauthorised("kid_revoked"))
    assert client.license(message, late).status == 200


def await_event(log: Path, event: str) -> None:
    deadline = time.monotonic() + RELOAD_SECONDS
    while f'"{event}"' not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()[-1000:]
        time.sleep(0.02)
