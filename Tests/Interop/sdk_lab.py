"""The stand-ins for the library of the FairPlay Streaming Server SDK: fixtures, requests to them and their answers."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import Device, PlaybackContext, RequestSecrets, SPCOptions, device_for
from sdk_certificates import newer_entry, write_certificates
from sdk_library import FLAVOURS, Answer, Library, build_libraries

ASSET = b"movie"
KEY = bytes(range(16))
IV = bytes(range(16, 32))
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0xFEDCBA9876543210)
HDCP_TYPE_1 = tags.CAPABILITY_HDCP_TYPE_1
OFFLINE_1 = tags.CAPABILITY_OFFLINE_KEY
OFFLINE_2 = tags.CAPABILITY_OFFLINE_KEY_V2
BASELINE = tags.CAPABILITY_LEVEL_BASELINE
MAIN = tags.CAPABILITY_LEVEL_MAIN
STREAM_ID, TITLE_ID = bytes(range(32, 48)), bytes(range(48, 64))

SPC_VERSION, PARSER, MISSING, PARAMETER, MEMORY = -42580, -42581, -42583, -42585, -42586
INTEGRITY, VERSION, DUPLICATE, INTERNAL, SECURITY_LEVEL, CERTIFICATE = -42589, -42590, -42591, -42601, -42604, -42605


# --- Libraries --------------------------------------------------------------------------------------------------------


# Starts a library with a certificates file and the options of `Library`.
Start = Callable[..., Library]


@dataclass(frozen=True)
class Flavour:
    name: str
    library: Path

    @property
    def is_swift(self) -> bool:
        return self.name == "swift"


@pytest.fixture(scope="session")
def built() -> Path:
    return build_libraries()


@pytest.fixture(scope="session", params=list(FLAVOURS))
def flavour(request: pytest.FixtureRequest, built: Path) -> Flavour:
    library = built / request.param / FLAVOURS[request.param]
    if not library.exists():
        pytest.skip("there is no Swift compiler")
    return Flavour(request.param, library)


@pytest.fixture(scope="session")
def certificates(made_credential: Credential, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    return write_certificates(folder, newer_entry(folder, made_credential, "one", "video 1"))


@pytest.fixture(scope="session")
def library(flavour: Flavour, certificates: Path) -> Iterator[Library]:
    """A process for all tests that do not end it."""
    library = Library(flavour.library, certificates)
    yield library
    library.close()


@pytest.fixture
def start(flavour: Flavour) -> Iterator[Start]:
    """Starts a process of its own for one test."""
    started: list[Library] = []

    def start(certificates: str | Path | None, **options: object) -> Library:
        started.append(Library(options.pop("library", flavour.library), certificates, **options))
        return started[-1]

    yield start
    for library in started:
        library.close()


@pytest.fixture(scope="session")
def device(made_credential: Credential) -> Device:
    return device_for(made_credential, 1)


# --- Requests ---------------------------------------------------------------------------------------------------------


def options(**changes: object) -> SPCOptions:
    return replace(
        SPCOptions(ASSET, playback_state=STATE, return_request=(tags.ASSET_ID, tags.TRANSACTION_ID)), **changes
    )


def asset_info(**changes: object) -> dict[str, object]:
    """An asset info; underscores stand for hyphens. `None` removes a member."""
    members = {"content-key": KEY.hex(), "content-iv": IV.hex(), "content-type": "sd"}
    members |= {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in members.items() if value is not None}


def operation(message: bytes, **changes: object) -> dict[str, object]:
    return {"id": 1, "spc": base64.b64encode(message).decode(), "asset-info": [asset_info(**changes)]}


def request_of(*operations: dict[str, object], name: str = "create-ckc") -> dict[str, object]:
    return {"fairplay-streaming-request": {"version": 1, name: list(operations)}}


def one_item(answer: Answer, name: str = "create-ckc") -> dict[str, object]:
    assert answer.status == 0
    (item,) = answer.items(name)
    return item


def status_of(library: Library, message: bytes, **changes: object) -> int:
    """The status of an item that has no other member, or 0 for one that has a CKC."""
    item = one_item(library.call(request_of(operation(message, **changes))))
    assert set(item) == {"id", "status"} if item["status"] else "ckc" in item
    assert item["id"] == 1
    return item["status"]


def granted(library: Library, context: PlaybackContext, **changes: object) -> OpenedCKC:
    item = one_item(library.call(request_of(operation(context.message, **changes))))
    assert (item["id"], item["status"]) == (1, 0)
    opened = opened_ckc(item, context.secrets)
    assert (opened.content_key, opened.content_iv) == (KEY, IV)
    return opened


def opened_ckc(item: dict[str, object], secrets: RequestSecrets) -> OpenedCKC:
    # Not strict: the library writes a reserved word, and makes new padding for the echoes.
    return open_ckc(base64.b64decode(item["ckc"], validate=True), secrets, strict=False)


def facts(library: Library, context: PlaybackContext) -> dict[str, object]:
    spc = base64.b64encode(context.message).decode()
    return one_item(library.call(request_of({"id": 1, "spc": spc}, name="get-client-info")), "get-client-info")


def usable(library: Library, device: Device) -> bool:
    status = status_of(library, device.request(options()).message)
    assert status in (0, CERTIFICATE)
    return status == 0


def assert_panicked(answer: Answer, library: Library) -> None:
    """The call has a status and an answer, whose size has no NUL, and the request is on the error output."""
    assert (answer.status, answer.has_nul) == (INTERNAL, False)
    assert answer.items() == [{"id": 1, "status": INTERNAL}]
    assert KEY.hex().encode() in library.errors
