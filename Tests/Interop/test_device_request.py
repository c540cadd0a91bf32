"""`latchkey device request --as`: the requests of each player, over TLS and through proxies, to a running daemon.

The program itself knows how a player reads an answer. These tests check which players play, and the explanations for
the others.
"""

import json
import os
import socket
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import tokens
from connect_proxy import ConnectProxy, connect_proxy
from deployment import Deployment, deployment_of
from license_client import LICENSE_PATH
from own_daemon import OwnDaemon, initialise, new_setup, running_daemon
from tls_material import KeyPair, make_pair

TIMEOUT_SECONDS = 60
# A name that only the proxy of these tests knows (RFC 6761, section 6.2).
PROXIED_HOST = "keys.test"

# Players whose request body is a raw SPC.
RAW = [
    *("hls.js", "hls.js-sinf", "shaka", "video.js", "latchkey-kit", "react-native", "expo-video", "expressplay"),
    *("nagra", "axinom"),
]
OTHERS = [
    *("hls.js-streaming-keys", "shaka-verimatrix", "shaka-gumlet", "shaka-tutorial", "shaka-tutorial-3"),
    *("safari-cenc", "theoplayer-keyos", "theoplayer-pallycon", "avfoundation", "react-native-legacy"),
    *("react-native-hook", "kaltura", "drmtoday", "apple-streaming-keys", "fairplay-ksm"),
]
# Players that request all keys in one request.
TOGETHER = ["safari-cenc", "apple-streaming-keys"]


@dataclass(frozen=True)
class Lab:
    """A daemon with TLS, and a content that every player may play with a lease."""

    daemon: OwnDaemon
    deployment: Deployment
    authority: Path
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.daemon.public[1]}{LICENSE_PATH}"

    @property
    def key_id(self) -> str:
        return str(uuid.UUID(bytes=self.deployment.key.key_id))

    def ask(
        self,
        players: str | list[str],
        *more: str | Path,
        url: str | None = None,
        token: str | None = None,
        keys: tuple[tuple[str, str], ...] | None = None,
        secret: Path | None = None,
        trusts: bool = True,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        names = players if isinstance(players, str) else ",".join(players)
        keys = keys or ((f"skd://{self.deployment.content}", self.key_id),)
        return subprocess.run(
            [
                *(os.environ["LATCHKEY_BIN"], "device", "request", "--as", names, "--url", url or self.url),
                *("--token", token or self.token),
                *("--application-secret", secret or self.deployment.setup / "fairplay" / "application-secret.hex"),
                *(word for uri, key_id in keys for word in ("--skd", uri, "--key-id", key_id)),
                *(("--ca", self.authority) if trusts else ()),
                *more,
            ],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env=os.environ | (environment or {}),
        )

    def rows(self, players: str | list[str], *more: str | Path, **named: Any) -> list[dict[str, Any]]:
        """Runs the command and returns its JSON rows. Checks that the exit status agrees with them."""
        finished = self.ask(players, "--json", *more, **named)
        assert finished.stdout, finished.stderr
        printed = json.loads(finished.stdout)
        rows = printed["players"]
        assert printed["good"] == sum(row["isGood"] for row in rows)
        assert (finished.returncode == 0) == all(row["isGood"] for row in rows), finished.stderr
        return rows

    def row(self, player: str, *more: str | Path, **named: Any) -> dict[str, Any]:
        (row,) = self.rows(player, *more, **named)
        assert row["player"] == player
        return row


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[KeyPair, KeyPair]:
    """A certificate authority, and the server's certificate."""
    folder = tmp_path_factory.mktemp("device-request-tls")
    authority = make_pair(folder, "authority")
    return authority, make_pair(folder, "server", hosts=("localhost", PROXIED_HOST), issuer=authority)


@pytest.fixture(scope="module")
def lab(
    pair: tuple[KeyPair, KeyPair], tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[Lab]:
    authority, identity = pair
    with running_daemon(tmp_path_factory.mktemp("device-request"), tls=identity.configuration) as daemon:
        deployment = deployment_of(daemon.url, daemon.setup)
        yield Lab(daemon, deployment, authority.certificate_file, deployment.mint("--lease", "300"))


@pytest.fixture
def proxy(lab: Lab) -> Iterator[ConnectProxy]:
    with connect_proxy(lab.daemon.public) as proxy:
        yield proxy


def assert_plays(row: dict[str, Any], version: str, requests: int = 1) -> None:
    assert row["verdict"] == "plays", row
    assert [(one["status"], one["httpVersion"]) for one in row["requests"]] == [(200, version)] * requests
    assert all(one["requestID"] and one["milliseconds"] >= 0 for one in row["requests"])
    assert row["copies"] == 0 and row["code"] is None


def test_the_table_has_every_player(lab: Lab) -> None:
    rows = lab.rows("all")
    assert sorted(row["player"] for row in rows) == sorted(RAW + OTHERS)
    assert {row["player"] for row in rows if row["shape"] == "raw"} == set(RAW)


# --- HTTP/2 and HTTP/1.1 over TLS ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2", "1.1"])
@pytest.mark.parametrize("player", RAW + OTHERS)
def test_plays(lab: Lab, player: str, version: str) -> None:
    row = lab.row(player, *(["--http1"] if version == "1.1" else []))
    assert_plays(row, version)
    assert [(one["keyType"], one["lease"]) for one in row["licenses"]] == [("lease", 300)]


@pytest.mark.parametrize("version", ["2", "3"])
def test_makes_spcs_of_other_versions(lab: Lab, version: str) -> None:
    """The daemon serves version 3 only if a credential allows it."""
    row = lab.row("hls.js", "--spc-version", version)
    if version == "2":
        assert_plays(row, "2")
    else:
        assert (row["verdict"], row["requests"][0]["status"]) == ("refused", 400)


def test_prints_a_table(lab: Lab) -> None:
    finished = lab.ask("all")
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    title, *lines = finished.stdout.splitlines()
    assert title.split() == ["PLAYER", "SHAPE", "HTTP", "STATUS", "MS", "TERMS", "VERDICT"]
    assert sorted(line.split()[0] for line in lines) == sorted(RAW + OTHERS)
    assert {tuple(line.split()[2:4]) for line in lines} == {("2", "200")}
    for line in lines:
        assert "  lease 300 s" in line and line.endswith("  plays")
    assert lab.token not in finished.stdout
    assert lab.deployment.key.key.hex() not in finished.stdout.lower()


def test_takes_a_certificate_from_a_file(lab: Lab) -> None:
    before = lab.daemon.seen()
    assert_plays(lab.row("shaka", "--certificate", lab.deployment.setup / "fairplay" / "bundle.bin"), "2")
    assert lab.daemon.seen().since(before).requests == 1
    before = lab.daemon.seen()
    assert_plays(lab.row("shaka"), "2")
    assert lab.daemon.seen().since(before).requests == 2, "the player fetches its certificate"


# --- Keys ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_keys(lab: Lab) -> tuple[tuple[tuple[str, str], ...], str]:
    """Two contents, each as key URI and key id, and a token for both."""
    other = deployment_of(lab.daemon.url, lab.daemon.setup)
    rights = [{"content": one.content, "lease": 300} for one in (lab.deployment, other)]
    token = tokens.with_rights(lab.token, lab.deployment.signing_key, rights)
    keys = [(f"skd://{one.content}", str(uuid.UUID(bytes=one.key.key_id))) for one in (lab.deployment, other)]
    return tuple(keys), token


@pytest.mark.parametrize("player", ["hls.js", "video.js", "react-native", "nagra"])
def test_asks_for_one_key_after_the_other(lab: Lab, two_keys: tuple[Any, str], player: str) -> None:
    keys, token = two_keys
    row = lab.row(player, keys=keys, token=token)
    assert_plays(row, "2", requests=2)
    assert len(row["licenses"]) == 2


@pytest.mark.parametrize("player", TOGETHER)
def test_asks_for_two_keys_in_one_request(lab: Lab, two_keys: tuple[Any, str], player: str) -> None:
    keys, token = two_keys
    row = lab.row(player, keys=keys, token=token)
    assert_plays(row, "2")
    assert len(row["licenses"]) == 2


@pytest.mark.parametrize("player", TOGETHER)
def test_shows_which_key_is_denied(lab: Lab, two_keys: tuple[Any, str], player: str) -> None:
    """The token allows only the first of the two contents."""
    row = lab.row(player, keys=two_keys[0])
    assert row["verdict"] == "key_denied" and "key 2 of 2" in row["explanation"]
    assert len(row["licenses"]) == 1


def test_one_denied_key_of_two_is_no_film(lab: Lab, two_keys: tuple[Any, str]) -> None:
    row = lab.row("hls.js", keys=two_keys[0])
    assert (row["verdict"], row["code"]) == ("refused", "content_mismatch")
    assert [one["status"] for one in row["requests"]] == [200, 403]


@pytest.mark.parametrize("player", ["hls.js", "react-native", "nagra", "kaltura"])
def test_gets_a_key_to_keep(lab: Lab, player: str) -> None:
    token = lab.deployment.mint("--mode", "offline", "--storage", "86400", "--playback", "3600")
    row = lab.row(player, "--offline", token=token)
    assert_plays(row, "2")
    (license,) = row["licenses"]
    assert (license["offlineKey"]["storage"], license["offlineKey"]["playback"]) == (86400, 3600)


# --- Proxies ---------------------------------------------------------------------------------------------------------


def test_goes_through_the_proxy_that_is_named(lab: Lab, proxy: ConnectProxy) -> None:
    """The proxy is used even for a server on this machine."""
    assert_plays(lab.row("hls.js", "--proxy", proxy.url), "2")
    assert proxy.requests == [f"CONNECT localhost:{lab.daemon.public[1]} HTTP/1.1"] * 2
    assert lab.token.encode() not in proxy.heads


@pytest.mark.parametrize("name", ["https_proxy", "ALL_PROXY"])
def test_goes_through_the_proxy_of_the_environment(lab: Lab, proxy: ConnectProxy, name: str) -> None:
    """The proxy knows the host, and this machine does not."""
    without = {"https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "", "no_proxy": "", "NO_PROXY": ""}
    row = lab.row("video.js", url=f"https://{PROXIED_HOST}{LICENSE_PATH}", environment=without | {name: proxy.url})
    assert_plays(row, "2")
    assert proxy.requests == [f"CONNECT {PROXIED_HOST}:443 HTTP/1.1"] * 2


def test_asks_no_proxy_of_the_environment_for_this_machine(lab: Lab, proxy: ConnectProxy) -> None:
    assert_plays(lab.row("shaka", environment={"https_proxy": proxy.url, "no_proxy": ""}), "2")
    assert proxy.requests == []


def test_says_that_the_proxy_refuses(lab: Lab, proxy: ConnectProxy) -> None:
    proxy.status = 407
    bundle = lab.deployment.setup / "fairplay" / "bundle.bin"
    row = lab.row("hls.js", "--proxy", proxy.url, "--certificate", bundle)
    assert row["verdict"] == "no_answer" and row["requests"] == []
    assert "the proxy does not connect" in row["explanation"] and "407" in row["explanation"]


# --- One request, without a player ------------------------------------------------------------------------------------


def single_request(lab: Lab, *more: str | Path) -> subprocess.CompletedProcess[str]:
    fairplay = lab.deployment.setup / "fairplay"
    return subprocess.run(
        [
            *(os.environ["LATCHKEY_BIN"], "device", "request", "--url", lab.url, "--token", lab.token),
            *("--certificate", fairplay / "bundle.bin"),
            *("--application-secret", fairplay / "application-secret.hex"),
            *("--asset-id", lab.deployment.content, "--json", *more),
        ],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def test_trusts_the_named_authority_for_one_request(lab: Lab) -> None:
    answered = single_request(lab, "--ca", lab.authority)
    assert (answered.returncode, answered.stderr) == (0, "")
    assert json.loads(answered.stdout)["contentKey"] == lab.deployment.key.key.hex()
    refused = single_request(lab)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "is not trusted" in refused.stderr and "--ca" in refused.stderr


def test_uses_the_proxy_for_one_request(lab: Lab, proxy: ConnectProxy) -> None:
    answered = single_request(lab, "--ca", lab.authority, "--proxy", proxy.url)
    assert (answered.returncode, answered.stderr) == (0, "")
    assert proxy.requests == [f"CONNECT localhost:{lab.daemon.public[1]} HTTP/1.1"]


# --- Failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("player", "copies"), [("hls.js", 0), ("shaka", 1), ("video.js", 0), ("expressplay", 0)])
def test_says_why_a_token_is_refused(lab: Lab, player: str, copies: int) -> None:
    expired = lab.deployment.mint("--expires", "60")
    header, claims = tokens.header_and_claims(expired)
    old = {"iat": claims["iat"] - 7200, "exp": claims["exp"] - 7200}
    token = tokens.sign_es256(header, claims | old, lab.deployment.signing_key)
    row = lab.row(player, token=token)
    assert (row["verdict"], row["code"], row["copies"]) == ("refused", "token_expired", copies)
    assert row["explanation"].startswith("refused: token_expired")
    assert token not in json.dumps(row)


def test_says_that_the_certificate_is_another_servers(lab: Lab, tmp_path: Path) -> None:
    other = initialise(tmp_path / "setup", os.environ["LATCHKEY_BIN"])
    row = lab.row("hls.js", "--certificate", other / "fairplay" / "bundle.bin")
    assert (row["verdict"], row["code"]) == ("refused", "spc_certificate_unknown")


def test_says_that_the_secret_is_another_servers(lab: Lab, tmp_path: Path) -> None:
    other = new_setup(tmp_path)
    row = lab.row("hls.js", secret=other / "fairplay" / "application-secret.hex")
    assert (row["verdict"], row["code"]) == ("refused", "spc_rejected")


def test_says_that_nothing_answers(lab: Lab) -> None:
    # A port that is bound but has no listener refuses connections.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nowhere = f"https://localhost:{bound.getsockname()[1]}"
        rows = lab.rows("all", url=nowhere)
        (alone,) = lab.rows("hls.js", "--certificate", lab.deployment.setup / "fairplay" / "bundle.bin", url=nowhere)
    assert {row["verdict"] for row in rows} == {"no_certificate"}
    assert all("nothing answers at localhost:" in row["explanation"] for row in rows)
    assert (alone["verdict"], alone["copies"]) == ("no_answer", 8)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_trusts_no_server_without_an_authority_for_its_name(lab: Lab, host: str) -> None:
    """The system does not know the authority, and the certificate does not name the IP address."""
    url = f"https://{host}:{lab.daemon.public[1]}{LICENSE_PATH}"
    row = lab.row("hls.js", url=url, trusts=host != "localhost")
    assert row["verdict"] == "no_certificate"
    assert "is not trusted" in row["explanation"]


def test_says_that_the_route_is_not_there(lab: Lab) -> None:
    bundle = lab.deployment.setup / "fairplay" / "bundle.bin"
    row = lab.row("shaka", "--certificate", bundle, url=lab.url + "s")
    assert (row["verdict"], row["requests"][0]["status"]) == ("refused", 404)
