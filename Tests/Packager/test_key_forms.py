"""The key formats for packagers without SPEKE. The tools read them exactly as the daemon prints them."""

import base64
import json
import os
import shlex
import subprocess
import uuid
from pathlib import Path

import m3u8
import pytest

import speke
from conftest import PERIODS, TRACKS, Service
from deployment import COMMAND_SECONDS
from keys import Key
from mp4 import track_encryption
from player import key_lines, runs
from shaka import STREAMS, Layout, package
from tools import SEGMENT_SECONDS, Tools, run, sample_hash

# Shaka Streamer encodes the clip again. Its samples are the same with and without encryption.
PIPELINE = f"""
streaming_mode: vod
resolutions: [144p]
video_codecs: [h264]
manifest_format: [hls]
segment_per_file: false
segment_size: {SEGMENT_SECONDS}
"""


def form(service: Service, key: Key, period: int, name: str) -> bytes:
    """The daemon's answer for one key in a format. `latchkey keys export` must print the same bytes."""
    given = service.encryptor.export(service.player.client, key.content, name, track=key.track, period=period)
    names = ("--content", key.content, "--track", key.track, "--period", str(period), "--format", name)
    finished = subprocess.run(
        [
            *(os.environ["LATCHKEY_BIN"], "keys", "export", *names, "--reveal"),
            *("--config", service.daemon.setup / "latchkey.json5"),
        ],
        capture_output=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert (finished.returncode, finished.stdout) == (0, given), finished.stderr
    return given


def test_options_of_shaka_packager(service: Service, tools: Tools, clips: dict[int, Path], tmp_path: Path) -> None:
    for (period, track), key in service.keys.items():
        (line,) = form(service, key, period, "shaka").decode().splitlines()
        options = tuple(shlex.split(line))
        packaged = package(tools, clips[period], key, Layout.SEGMENTS, tmp_path / f"{period}-{track}", options)
        assert key_lines(m3u8.load(str(packaged.multivariant))) == [_key_line(key)], "the session key line"
        (published,) = runs(packaged.playlist)
        found = track_encryption(published.media)
        assert (published.key_uri, found.key_id, found.iv) == (key.url, key.key_id, key.iv)
        clear = sample_hash(tools.ffmpeg, clips[period], f"0:{STREAMS[track][0]}")
        assert service.player.play(published, key.key, key.iv) == clear


def test_pipeline_of_shaka_streamer(service: Service, tools: Tools, clips: dict[int, Path], tmp_path: Path) -> None:
    key = service.keys[PERIODS[0], "VIDEO"]
    (tmp_path / "input.yaml").write_text(f"inputs:\n  - name: {clips[PERIODS[0]]}\n    media_type: video\n")
    encryption = form(service, key, PERIODS[0], "shaka-streamer").decode()
    for name, more in (("clear", ""), ("encrypted", encryption)):
        (tmp_path / f"{name}.yaml").write_text(PIPELINE + more)
        arguments = ("-i", "input.yaml", "-p", f"{name}.yaml", "-o", name)
        run(tools.streamer, *arguments, folder=tmp_path, path=tools.streamer.parent)
    (clear,) = (tmp_path / "clear").glob("*.mp4")
    assert key_lines(m3u8.load(str(tmp_path / "encrypted" / "hls.m3u8"))) == [_key_line(key)]
    (published,) = runs(tmp_path / "encrypted" / "stream_0.m3u8")
    found = track_encryption(published.media)
    assert (published.key_uri, found.key_id, found.iv) == (key.url, key.key_id, key.iv)
    assert service.player.play(published, key.key, key.iv) == sample_hash(tools.ffmpeg, clear)


def _key_line(key: Key) -> dict[str, str | None]:
    fixed = {"method": "SAMPLE-AES", "iv": None, "keyformat": "com.apple.streamingkeydelivery"}
    return fixed | {"uri": key.url, "keyformatversions": "1"}


def test_lines_of_playlists(service: Service) -> None:
    for (period, _), key in service.keys.items():
        media_line, multivariant_line = form(service, key, period, "hls").decode().splitlines()
        media = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n{media_line}\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n"
        multivariant = f"#EXTM3U\n{multivariant_line}\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"
        assert [key_lines(m3u8.loads(text)) for text in (media, multivariant)] == [[_key_line(key)]] * 2


def test_key_file_of_mediafilesegmenter(service: Service) -> None:
    for (period, _), key in service.keys.items():
        assert form(service, key, period, "mediafilesegmenter") == key.key + key.iv


def test_keys_of_nginx_vod_module(service: Service) -> None:
    for (period, _), key in service.keys.items():
        (found,) = json.loads(form(service, key, period, "nginx-vod"))
        decoded = {name: base64.b64decode(value, validate=True) for name, value in found.items()}
        assert decoded == {"key": key.key, "key_id": key.key_id, "iv": key.iv}


@pytest.mark.parametrize("period", PERIODS)
def test_cpix_without_a_request(service: Service, period: int) -> None:
    client = service.player.client
    body = service.encryptor.export(client, service.content, "cpix", period=period)
    expected = {track: service.keys[period, track] for track in TRACKS}
    key_ids = {track: uuid.UUID(bytes=key.key_id) for track, key in expected.items()}
    assert speke.read(body, service.content, key_ids) == expected
