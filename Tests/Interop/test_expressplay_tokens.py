"""`/hms/fp/token` of a running daemon: every parameter missing, wrong and at its limit, in both error formats."""

import json
import secrets
import time
from collections.abc import Iterator

import pytest

from deployment import run_latchkey
from expressplay import (
    DISABLED_AUTHENTICATOR,
    FRUGAL_AUTHENTICATOR,
    FRUGAL_TOKENS_PER_DAY,
    TEST_AUTHENTICATOR,
    TOKEN_PATH,
    Service,
    extension,
    form,
    opened_token,
    running_service,
    token_of,
)
from license_client import Answer

LIFE_MAXIMUM = 30 * 86_400
KEY = secrets.token_hex(16)
IV = secrets.token_hex(16)
# RFC 3394, section 4.1: `EK` is the key 00112233445566778899AABBCCDDEEFF wrapped under `KEK`.
KEK = "000102030405060708090A0B0C0D0E0F"
EK = "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"
GOOD = {"contentKey": KEY, "iv": IV}
STORED = "kid=%5E{content}"

# For each fault: the parameters of the request, and the code that it gets. A text is sent unchanged.
CASES: dict[str, tuple[dict[str, str] | str, int]] = {
    "error format": (GOOD | {"errorFormat": "xml"}, -3004),
    "error format twice": (f"contentKey={KEY}&iv={IV}&errorFormat=json&errorFormat=json", -3004),
    "general flags": (GOOD | {"generalFlags": "00"}, -5003),
    "general flags not hexadecimal": (GOOD | {"generalFlags": "000x"}, -5003),
    "content key missing": ({"iv": IV}, -2005),
    "content key too short": ({"contentKey": KEY[:-2], "iv": IV}, -2027),
    "content key too long": ({"contentKey": KEY + "00", "iv": IV}, -2027),
    "content key not hexadecimal": ({"contentKey": "x" + KEY[1:], "iv": IV}, -2005),
    "content key in another case": ({"ContentKey": KEY, "iv": IV}, -2005),
    "content key twice": (f"contentKey={KEY}&contentKey={KEY}&iv={IV}", -2005),
    "content key that is the IV": ({"contentKey": IV, "iv": IV}, -2005),
    "content key beside kek": (GOOD | {"kek": KEK}, -2005),
    "kek alone": ({"kek": KEK, "iv": IV}, -4018),
    "kek of a wrong size": ({"kek": KEK[:-2], "ek": EK, "iv": IV}, -4024),
    "ek without kek": ({"ek": EK, "iv": IV}, -4024),
    "ek of a wrong size": ({"kek": KEK, "ek": EK[:-2], "iv": IV}, -4024),
    "ek altered": ({"kek": KEK, "ek": EK[:-2] + "00", "iv": IV}, -4024),
    "ek beside kid": ({"kek": KEK, "ek": EK, "kid": KEY, "iv": IV}, -4024),
    "ek without iv": ({"kek": KEK, "ek": EK}, -6003),
    "kid too short": ({"kid": KEY[:-1]}, -4020),
    "kid not hexadecimal": ({"kid": "x" + KEY[1:]}, -4022),
    "kid's name too long": ({"kid": "^" + "n" * 65}, -4021),
    "kid's name empty": ({"kid": "^"}, -4022),
    "kid that is not stored": ({"kid": secrets.token_hex(16)}, -4019),
    "kid's name that is not stored": ({"kid": "^nothing"}, -4019),
    "kid's name of one character": ({"kid": "^n"}, -4019),
    "iv of another key": (f"{STORED}&iv={IV}", -6003),
    "iv missing": ({"contentKey": KEY}, -6003),
    "iv too long": ({"contentKey": KEY, "iv": IV + "00"}, -6003),
    "iv not hexadecimal": ({"contentKey": KEY, "iv": "x" + IV[1:]}, -6003),
    "rental duration negative": (GOOD | {"rentalDuration": "-1"}, -6007),
    "rental duration too long": (GOOD | {"rentalDuration": str(2**32 - 1)}, -6007),
    "rental duration empty": (GOOD | {"rentalDuration": ""}, -6007),
    "extension without a comma": (GOOD | {"fpExtension": "wudo"}, -6001),
    "extension's type": (GOOD | {"fpExtension": extension("wud", bytes(4))}, -2036),
    "extension's payload": (GOOD | {"fpExtension": "wudo,=AAA"}, -2037),
    "extension that demands something": (GOOD | {"fpExtension": extension("wudo", b"\0\0\0\1")}, -6001),
    "unknown extension": (GOOD | {"fpExtension": extension("abcd", bytes(4))}, -6001),
    "end that has passed": (GOOD | {"expirationTime": "2006-04-14T12:01:10Z"}, -2002),
    "end too far away": (GOOD | {"expirationTime": f"+{LIFE_MAXIMUM + 1}"}, -2002),
    "end in another zone": (GOOD | {"expirationTime": "2099-01-01T00:00:00+01:00"}, -2002),
    "end at once": (GOOD | {"expirationTime": "+0"}, -2002),
    "end without a sign": (GOOD | {"expirationTime": "60"}, -2002),
    "cookie too long": (GOOD | {"cookie": "c" * 33}, -2033),
    "cookie of control characters": (GOOD | {"cookie": "a\nb"}, -2033),
    "cookie twice": (f"contentKey={KEY}&iv={IV}&cookie=a&cookie=a", -2033),
    "rights empty": (GOOD | {"rightsType": ""}, -2020),
    "rights of another type": (GOOD | {"rightsType": "Loan"}, -2021),
    "rental without an end": (GOOD | {"rightsType": "Rental"}, -2022),
    "play duration empty": (GOOD | {"rental.playDuration": ""}, -2023),
    "play duration": (GOOD | {"rental.playDuration": "long"}, -2025),
    "analog video": (GOOD | {"analogVideoOPL": "1000"}, -2034),
    "compressed audio": (GOOD | {"compressedDigitalAudioOPL": "-1"}, -2034),
    "compressed video": (GOOD | {"compressedDigitalVideoOPL": ""}, -2034),
    "uncompressed audio": (GOOD | {"uncompressedDigitalAudioOPL": "x"}, -2034),
    "uncompressed video": (GOOD | {"uncompressedDigitalVideoOPL": "1000"}, -2034),
    "PlayReady's flags": (GOOD | {"prFlag": "00"}, -2040),
    "https or not": (GOOD | {"useHttps": "maybe"}, -2035),
    "lease": (GOOD | {"latchkey.lease": "0"}, -6007),
    "device": (GOOD | {"latchkey.device": "00"}, -6008),
    "binding": (GOOD | {"latchkey.bind": "last"}, -6008),
    "uses": (GOOD | {"latchkey.uses": "0"}, -2035),
    "HDCP": (GOOD | {"latchkey.hdcp": "type9"}, -2008),
}


@pytest.fixture(scope="module")
def service(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("expressplay")) as service:
        yield service


def assert_refused(answer: Answer, status: int, code: int, error_format: str) -> None:
    assert answer.status == status, answer
    assert answer.header("X-Error-Code") == str(code)
    assert answer.header("Cache-Control") == "no-store"
    if error_format == "json":
        assert answer.header("Content-Type") == "application/json"
        error = json.loads(answer.body)
        assert error["errorCode"] == code
        assert error["errorMessage"] and error["eventId"] == answer.header("X-Request-Id")
    else:
        assert answer.header("Content-Type") == "text/html; charset=utf-8"
        assert f"Error {code}".encode() in answer.body


# --- The table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error_format", ["html", "json"])
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_parameter_gets_its_code(service: Service, name: str, error_format: str) -> None:
    parameters, code = CASES[name]
    text = form(parameters, None).replace("{content}", service.content)
    if "errorFormat" not in text:
        text += f"&errorFormat={error_format}"
        assert_refused(service.ask(text), 400, code, error_format)
    else:
        assert_refused(service.ask(text), 400, code, "html")


@pytest.mark.parametrize("error_format", ["html", "json"])
@pytest.mark.parametrize(
    ("authenticator", "status", "code"),
    [
        (None, 401, -2017), ("", 401, -2017), ("201722,0000", 401, -2018),
        (TEST_AUTHENTICATOR, 401, -2018), (DISABLED_AUTHENTICATOR, 403, -2031),
    ],
)
def test_a_customer_must_be_known(
    service: Service, authenticator: str | None, status: int, code: int, error_format: str
) -> None:
    # Nothing else of the request is checked before it.
    for parameters in (GOOD, {"contentKey": "nonsense"}):
        answer = service.ask(parameters | {"errorFormat": error_format}, authenticator)
        assert_refused(answer, status, code, error_format)


def test_an_authenticator_of_another_environment_is_told_in_the_log_alone(service: Service) -> None:
    answer = service.ask(GOOD, TEST_AUTHENTICATOR)
    unknown = service.ask(GOOD, "201722,0000")
    identities = {answer.header("X-Request-Id"), unknown.header("X-Request-Id")}
    bodies = {
        a.body.replace((a.header("X-Request-Id") or "").encode(), b"") for a in (answer, unknown)
    }
    assert len(bodies) == 1
    for identity in identities:
        service.daemon.await_log(identity or "no request id")
    lines = [json.loads(line) for line in service.daemon.log.read_text().splitlines() if line.startswith("{")]
    causes = {line["cause"] for line in lines if line.get("request_id") in identities and "cause" in line}
    assert len(causes) == 2 and any("the other environment" in cause for cause in causes)


def test_the_log_names_the_one_cause_of_a_content_key(service: Service) -> None:
    causes = {
        "contentKey and iv are equal": {"contentKey": IV, "iv": IV},
        "there is no contentKey": {"iv": IV},
        "contentKey is given beside kek or ek": GOOD | {"kek": KEK},
    }
    for cause, parameters in causes.items():
        identity = service.ask(parameters).header("X-Request-Id") or "no request id"
        service.daemon.await_log(identity)
        lines = [json.loads(line) for line in service.daemon.log.read_text().splitlines() if identity in line]
        assert [line["cause"].startswith(cause) for line in lines if line["event"] == "token_refused"] == [True], lines


def test_a_customer_has_its_quota_of_a_day(service: Service) -> None:
    # The day may change once during the requests, but not twice.
    answers = [service.ask(GOOD, FRUGAL_AUTHENTICATOR) for _ in range(2 * FRUGAL_TOKENS_PER_DAY + 1)]
    refused = [answer for answer in answers if answer.status != 200]
    assert len(answers) - len(refused) in (FRUGAL_TOKENS_PER_DAY, 2 * FRUGAL_TOKENS_PER_DAY)
    for answer in refused:
        assert_refused(answer, 429, -2019, "html")
        assert 0 < int(answer.header("Retry-After") or "0") <= 86_400


# --- Methods and routes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_not_served(service: Service, method: str) -> None:
    answer = service.send(method, TOKEN_PATH)
    assert (answer.status, answer.header("Allow")) == (405, "GET, POST, OPTIONS")
    assert answer.header("X-Error-Code") == "method_not_allowed"


def test_keys_stay_out_of_urls(service: Service) -> None:
    assert_refused(service.ask_by_get(GOOD | {"errorFormat": "json"}), 400, -2005, "json")
    assert_refused(service.ask_by_get({"kek": KEK, "ek": EK, "iv": IV}), 400, -4024, "html")
    answer = service.send("POST", f"{TOKEN_PATH}?{form(GOOD, None)}", form({}, "x").encode())
    assert answer.status == 401


def test_the_name_of_a_key_may_stand_in_a_url(service: Service) -> None:
    answer = service.ask_by_get({"kid": f"^{service.content}"})
    assert answer.status == 200
    assert opened_token(answer.body.decode())[16] == service.content.encode()


def test_a_form_has_its_limit(service: Service) -> None:
    answer = service.ask(GOOD | {"unknown": "x" * 20_000})
    assert answer.status == 413
    assert service.ask(GOOD | {"unknown": "x" * 10_000}).status == 200


# --- Granted tokens --------------------------------------------------------------------------------------------------


def test_a_token_says_what_was_asked_for(service: Service) -> None:
    before = int(time.time())
    fields = opened_token(
        service.token_url(
            GOOD
            | {
                "rentalDuration": "7200", "expirationTime": "+600", "cookie": "order 12", "generalFlags": "00000001",
                "fpExtension": extension("wudo", bytes(4)), "latchkey.lease": "300", "latchkey.uses": "3",
                "latchkey.hdcp": "type1", "latchkey.device": "0a" * 20,
            }
        )
    )
    issued, end = (int.from_bytes(fields[tag], "big") for tag in (2, 3))
    assert before <= issued <= int(time.time()) and end == issued + 600
    assert fields[4].hex() == KEY and fields[5].hex() == IV
    assert int.from_bytes(fields[7], "big") == 7200 and int.from_bytes(fields[8], "big") == 300
    assert fields[12] == b"order 12" and fields[13] == b"\x0a" * 20 and fields[14] == b"\x03"
    assert fields[17] == b"type1" and fields[19] == b"wudo" + bytes(4)


def test_a_token_lives_for_thirty_days_unless_asked_otherwise(service: Service) -> None:
    fields = opened_token(service.token_url(GOOD))
    assert int.from_bytes(fields[3], "big") - int.from_bytes(fields[2], "big") == LIFE_MAXIMUM
    end = int(time.time()) + 3600
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    fields = opened_token(service.token_url(GOOD | {"expirationTime": text}))
    assert int.from_bytes(fields[3], "big") == end


def test_a_wrapped_key_is_unwrapped(service: Service) -> None:
    fields = opened_token(service.token_url({"kek": KEK, "ek": EK, "iv": IV}))
    assert fields[4].hex() == "00112233445566778899aabbccddeeff" and fields[5].hex() == IV


@pytest.mark.parametrize("kek", [{}, {"kek": KEK}])
def test_a_stored_key_is_named_and_stays_where_it_is(service: Service, kek: dict[str, str]) -> None:
    fields = opened_token(service.token_url(kek | {"kid": service.key.key_id.hex(), "iv": service.key.iv.hex()}))
    assert fields[6] == service.key.key_id and 4 not in fields and 5 not in fields
    assert opened_token(service.token_url(kek | {"kid": f"^{service.content}"}))[16] == service.content.encode()


def test_a_token_fits_into_a_playlist(service: Service) -> None:
    assert len(token_of(service.token_url(GOOD))) <= 150


def test_what_was_made_is_in_the_ledger_without_a_key(service: Service) -> None:
    cookie = f"order-{secrets.token_hex(8)}"
    unused = {"rightsType": "BuyToOwn", "analogVideoOPL": "300", "useHttps": "true"}
    fields = opened_token(service.token_url(GOOD | unused | {"cookie": cookie, "rentalDuration": "60"}))
    text = run_latchkey(service.daemon.setup, "ledger", "query", "--json", "--cookie", cookie)
    (entry,) = json.loads(text)["entries"]
    assert entry["kind"] == "token_minted"
    assert entry["token"] == fields[1].hex() == entry["kid"].replace("-", "")
    assert entry["detail"] == "unused rights,ana,https; player"
    assert entry["rental"] == 60 and entry["content"] is None
    assert KEY not in text and IV not in text
