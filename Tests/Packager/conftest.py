"""Fixtures of the packager tests: the tools, a clip for each period, and a daemon for each form of key URL.

No test is skipped: if a tool or a program is missing, a test fails and names it. A test without an assertion that held
fails too.
"""

import os
import secrets
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Interop"))

pytest.register_assert_rewrite(*(path.stem for path in HERE.glob("*.py") if path.stem != "conftest"))
pytest.register_assert_rewrite("deployment", "own_daemon")

from asserted import pytest_assertion_pass, pytest_pyfunc_call  # Hooks of every test.
from keys import Key
from own_daemon import OwnDaemon, running_daemon
from shaka import Layout, PackagedTrack, joined, package
from player import Player
from speke import Encryptor
from tools import Tools, make_clip

TRACKS = ("VIDEO", "AUDIO")
PERIODS = (1, 2)
HOST = "keys.example.com"


@dataclass(frozen=True)
class URLForm:
    """A template of key URLs, and the players whose asset ids it supports."""

    name: str
    template: str
    players: tuple[str, ...]
    # Players that send only a part of the URL that the daemon reads as another content. The token does not cover it.
    strangers: tuple[str, ...] = ()


URL_FORMS = (
    URLForm(
        "uuid",
        "skd://{kid}",
        (
            *("the whole URI", "the whole URI in UTF-16", "without the scheme", "the host"),
            *("the host in lower case and UTF-16", "the last part of the path", "the key id of the media"),
        ),
    ),
    URLForm(
        "link",
        f"skd://{HOST}/fps/v1/license/{{kid}}",
        (
            *("the whole URI", "the whole URI in UTF-16", "without the scheme", "the last part of the path"),
            "the key id of the media",
        ),
        strangers=("the host", "the host in lower case and UTF-16"),
    ),
)


def required(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value or not Path(value).exists():
        pytest.fail(f"{variable} names no file; Scripts/test-packager does", pytrace=False)
    return Path(value)


@pytest.fixture(scope="session")
def tools() -> Tools:
    required("LATCHKEY_BIN")
    return Tools(
        packager=required("LATCHKEY_SHAKA_PACKAGER"),
        streamer=required("LATCHKEY_SHAKA_STREAMER"),
        ffmpeg=required("LATCHKEY_FFMPEG"),
        new_ffmpeg=required("LATCHKEY_NEW_FFMPEG"),
    )


@pytest.fixture(scope="session")
def clips(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The clear input of each period."""
    folder = tmp_path_factory.mktemp("clips")
    files = {period: folder / f"{period}.mp4" for period in PERIODS}
    for period, file in files.items():
        make_clip(tools, file, period)
    return files


@dataclass(frozen=True)
class Service:
    """A daemon, a content with a key for each track and period, and a player with a token for the content.

    The encryptor got the keys by SPEKE, with a document for each period.
    """

    form: URLForm
    daemon: OwnDaemon
    encryptor: Encryptor
    content: str
    keys: dict[tuple[int, str], Key]
    player: Player
    token: str = field(repr=False)


@pytest.fixture(scope="session", params=URL_FORMS, ids=lambda form: form.name)
def service(
    request: pytest.FixtureRequest, tools: Tools, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    form = request.param
    folder = tmp_path_factory.mktemp(form.name)
    with running_daemon(folder, prepare=lambda setup: set_url_form(setup, form)) as daemon:
        encryptor = Encryptor.of(daemon.setup)
        content = f"movie-{secrets.token_hex(4)}"
        player = Player.before(daemon, tools, folder)
        keys = {
            (period, track): key
            for period in PERIODS
            for track, key in encryptor.keys(player.client, content, period, new_key_ids()).items()
        }
        yield Service(form, daemon, encryptor, content, keys, player, player.token(content))
        player.client.close()


def new_key_ids() -> dict[str, uuid.UUID]:
    return {track: uuid.uuid4() for track in TRACKS}


def set_url_form(setup: Path, form: URLForm) -> None:
    """Configures the template of key URLs, and allows the tool to print keys."""
    file = setup / "latchkey.json5"
    text = file.read_text()
    assert text.count("    keys: { ") == 1, text
    file.write_text(text.replace("    keys: { ", f'    keys: {{ allowReveal: true, skdTemplate: "{form.template}", '))


@dataclass(frozen=True)
class Stream:
    """A published content: its packaged tracks by period, and for each track a playlist over all periods."""

    service: Service
    layout: Layout
    tracks: dict[tuple[int, str], PackagedTrack]
    playlists: dict[str, Path]


@pytest.fixture(scope="session", params=Layout, ids=lambda layout: layout.name.lower())
def stream(
    request: pytest.FixtureRequest,
    service: Service,
    tools: Tools,
    clips: dict[int, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Stream:
    folder = tmp_path_factory.mktemp("stream")
    tracks = {
        (period, track): package(tools, clips[period], key, request.param, folder / f"{period}-{track.lower()}")
        for (period, track), key in service.keys.items()
    }
    playlists = {track: joined([tracks[period, track] for period in PERIODS], folder) for track in TRACKS}
    return Stream(service, request.param, tracks, playlists)
