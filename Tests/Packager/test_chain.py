"""The chain from the packager's key to the viewer's picture, with real tools.

Keys -> Shaka Packager -> playlists -> asset id -> SPC -> CKC -> ffmpeg -> the samples of the clear input.
"""

import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

import m3u8
import pytest

from conftest import PERIODS, TRACKS, Service, Stream
from deployment import COMMAND_SECONDS
from mp4 import track_encryption, with_iv
from player import ASSET_IDS, FAIRPLAY, Run, asset_id, key_lines, runs
from shaka import STREAMS, Layout, decrypt
from tools import PERIOD_SECONDS, SEGMENT_SECONDS, Tools, sample_hash

# One encrypted block of ten for video; audio has no pattern.
PATTERNS = {"VIDEO": (1, 9), "AUDIO": (0, 0)}


@pytest.fixture(scope="session")
def clear_hashes(tools: Tools, clips: dict[int, Path]) -> dict[tuple[int, str], str]:
    """The hashes of the samples of the clear input, by period and track."""
    hashes = {
        (period, track): sample_hash(tools.ffmpeg, clips[period], f"0:{STREAMS[track][0]}")
        for period in PERIODS
        for track in TRACKS
    }
    assert len(set(hashes.values())) == len(hashes)
    return hashes


def test_every_period_of_every_track_plays(stream: Stream, clear_hashes: dict[tuple[int, str], str]) -> None:
    """The chain: each key line leads to a license whose key and IV give the samples of the clear input."""
    service = stream.service
    for track, playlist in stream.playlists.items():
        published = list(runs(playlist))
        assert len(published) == len(PERIODS)
        for period, run in zip(PERIODS, published, strict=True):
            assert run.segment_count == PERIOD_SECONDS / SEGMENT_SECONDS
            license = service.player.license(asset_id("the whole URI", run), service.token)
            # The IV in the media is overwritten, so that only the IV of the license can be right.
            unknown_iv = Run(run.key_uri, with_iv(run.media, bytes(16)), run.segment_count)
            played = service.player.play(unknown_iv, license.content_key, license.content_iv)
            assert played == clear_hashes[period, track]


def test_playlists_have_the_urls_of_the_keys(stream: Stream) -> None:
    for track in stream.tracks.values():
        expected = {
            "method": "SAMPLE-AES",
            "uri": track.key.url,
            "iv": None,
            "keyformat": FAIRPLAY,
            "keyformatversions": "1",
        }
        for playlist in (track.playlist, track.multivariant):
            assert key_lines(m3u8.load(str(playlist))) == [expected]
    urls = {track.key.url for track in stream.tracks.values()}
    assert len(urls) == len(PERIODS) * len(TRACKS)
    for track in TRACKS:
        uris = [run.key_uri for run in runs(stream.playlists[track])]
        assert uris == [stream.tracks[period, track].key.url for period in PERIODS]


def test_media_have_key_id_and_iv_of_the_keys(stream: Stream) -> None:
    for track in TRACKS:
        for period, run in zip(PERIODS, runs(stream.playlists[track]), strict=True):
            key = stream.service.keys[period, track]
            found = track_encryption(run.media)
            assert (found.scheme, found.key_id, found.iv, found.pattern) == (
                *("cbcs", key.key_id, key.iv),
                PATTERNS[track],
            )


def test_licenses_bring_the_keys_that_were_packaged(stream: Stream) -> None:
    """Each kind of player sends another asset id for the same key."""
    service = stream.service
    for track in TRACKS:
        for period, run in zip(PERIODS, runs(stream.playlists[track]), strict=True):
            key = service.keys[period, track]
            for player in service.form.players:
                license = service.player.license(asset_id(player, run), service.token)
                assert (license.content_key, license.content_iv) == (key.key, key.iv), player
            for player in service.form.strangers:
                answer, _ = service.player.ask(asset_id(player, run), service.token)
                assert (answer.status, answer.code) == (403, "content_mismatch"), player
    assert {*service.form.players, *service.form.strangers} == set(ASSET_IDS)


def test_other_keys_give_other_samples(stream: Stream, clear_hashes: dict[tuple[int, str], str]) -> None:
    """Tries the keys of the other track and of the other period, and a key and an IV with one wrong bit."""
    service = stream.service
    for track in TRACKS:
        for period, run in zip(PERIODS, runs(stream.playlists[track]), strict=True):
            key = service.keys[period, track]
            others = [other for names, other in service.keys.items() if names != (period, track)]
            wrong = [(other.key, other.iv) for other in others]
            wrong += [(other.key, key.iv) for other in others]
            wrong += [(_with_other_bit(key.key), key.iv), (key.key, _with_other_bit(key.iv))]
            assert service.player.play(run, key.key, key.iv) == clear_hashes[period, track]
            for wrong_key, wrong_iv in wrong:
                assert service.player.play(run, wrong_key, wrong_iv) != clear_hashes[period, track]


def _with_other_bit(block: bytes) -> bytes:
    return block[:-1] + bytes([block[-1] ^ 1])


def test_other_decryptors_agree(
    stream: Stream, tools: Tools, clear_hashes: dict[tuple[int, str], str], tmp_path: Path
) -> None:
    """Decrypts with Shaka Packager, and with Debian's ffmpeg, which reads only whole files."""
    service = stream.service
    for track in TRACKS:
        for period, run in zip(PERIODS, runs(stream.playlists[track]), strict=True):
            license = service.player.license(asset_id("the whole URI", run), service.token)
            for key in (license.content_key, _with_other_bit(license.content_key)):
                is_right = key == license.content_key
                media = tmp_path / f"{period}-{track}-{is_right}.mp4"
                media.write_bytes(run.media)
                opened = decrypt(tools, media, track, service.keys[period, track].key_id, key)
                assert (sample_hash(tools.ffmpeg, opened) == clear_hashes[period, track]) == is_right
                if stream.layout is Layout.ONE_FILE:
                    file = stream.tracks[period, track].playlist.with_name("media.mp4")
                    decrypted = sample_hash(tools.ffmpeg, file, key=key)
                    assert (decrypted == clear_hashes[period, track]) == is_right


def test_the_same_request_gets_the_same_keys(service: Service) -> None:
    for period in PERIODS:
        expected = {track: service.keys[period, track] for track in TRACKS}
        key_ids = {track: uuid.UUID(bytes=key.key_id) for track, key in expected.items()}
        assert service.encryptor.keys(service.player.client, service.content, period, key_ids) == expected
    made = [key.key for key in service.keys.values()] + [key.iv for key in service.keys.values()]
    assert len(set(made)) == 2 * len(PERIODS) * len(TRACKS)


def test_players_of_the_tool_play(service: Service) -> None:
    """`latchkey device request --as` reads answers as 25 players do. With a link, players that send the host fail."""
    key = service.keys[PERIODS[0], TRACKS[0]]
    rows = service.player.run_as("all", key.url, service.token)
    refused = {row["player"]: row["code"] for row in rows if row["verdict"] != "plays"}
    assert set(refused.values()) <= {"content_mismatch"}, rows
    assert bool(refused) == bool(service.form.strangers)
    assert len(rows) - len(refused) > 10


def test_the_linter_finds_nothing_wrong(stream: Stream, tmp_path: Path) -> None:
    """`latchkey lint`, which looks up each key, finds no error, but does find one in a changed playlist.

    If the key URL looks like a link, the warning is right: its host names no key (see `strangers`).
    """
    setup = stream.service.daemon.setup
    warnings = {"host-truncated"} if stream.service.form.strangers else set()
    published = [track.multivariant for track in stream.tracks.values()] + list(stream.playlists.values())
    for playlist in published:
        status, report = lint(setup, playlist)
        assert (status, report["errors"]) == (0, 0), report
        assert {finding["rule"] for finding in report["findings"]} == warnings, report
    other = tmp_path / "other.m3u8"
    other.write_text(published[-1].read_text().replace("METHOD=SAMPLE-AES", "METHOD=SAMPLE-AES-CTR"))
    status, report = lint(setup, other)
    assert status == 1 and report["errors"], report


def lint(setup: Path, playlist: Path) -> tuple[int, dict[str, Any]]:
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "lint", playlist, "--config", setup / "latchkey.json5", "--json"],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert finished.stdout, finished.stderr
    return finished.returncode, json.loads(finished.stdout)
