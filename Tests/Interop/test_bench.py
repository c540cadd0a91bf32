"""`latchkey bench`, with daemons and with a server that answers nonsense. No test looks at a speed."""

import http.server
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from deployment import Deployment, deployment_of
from load_tool import LoadTool
from own_daemon import OwnDaemon, running_daemon
from tls_material import make_pair


@dataclass(frozen=True)
class Lab:
    """A daemon, its content, and the tool."""

    daemon: OwnDaemon
    deployment: Deployment
    tool: LoadTool

    def issued(self) -> int:
        metrics = self.daemon.metrics()
        return int(sum(value for name, value in metrics.items() if name.startswith("latchkey_licenses_issued_total")))


@contextmanager
def lab_in(folder: Path, **options: object) -> Iterator[Lab]:
    with running_daemon(folder, **options) as daemon:
        deployment = deployment_of(daemon.url, daemon.setup)
        tokens = tuple(deployment.mint("--lease", "300", "--subject", f"viewer-{number}") for number in range(3))
        yield Lab(daemon, deployment, LoadTool(daemon.url, daemon.setup, deployment.content, tokens))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[Lab]:
    with lab_in(tmp_path_factory.mktemp("bench")) as lab:
        yield lab


@pytest.fixture(scope="module")
def tls_lab(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[tuple[Lab, Path]]:
    folder = tmp_path_factory.mktemp("bench-tls")
    authority = make_pair(folder, "authority")
    identity = make_pair(folder, "server", hosts=("localhost",), issuer=authority)
    with lab_in(folder, tls=identity.configuration) as lab:
        url = f"https://localhost:{lab.daemon.public[1]}"
        yield replace(lab, tool=replace(lab.tool, url=url)), authority.certificate_file


# --- One daemon -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("versions", ["1", "2", "1,2"])
def test_sends_each_spc_once(lab: Lab, versions: str) -> None:
    before = lab.issued()
    report = lab.tool.run("--count", "60", "--seconds", "60", "--connections", "4", "--check-every", "1",
                          "--spc-version", versions)
    assert (report["sent"], report["licenses"], report["checked"], report["wrong"]) == (60, 60, 60, 0)
    assert report["endedEarly"] and report["httpVersions"] == {"1.1": 60}
    assert 1 <= report["connections"] <= 4
    assert lab.issued() - before == 60, "no license was a repeated one"


def test_keeps_a_schedule(lab: Lab) -> None:
    report = lab.tool.run("--rate", "40", "--seconds", "2", "--threads", "2", "--connections", "8")
    assert report["sent"] + report["unsent"] == 80
    assert report["licenses"] == report["sent"] > 0
    latency = report["latencyMicroseconds"]
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p99.9"] <= latency["max"]
    # What a request waits for a connection is a part of its latency.
    assert report["sinceSentMicroseconds"]["max"] <= latency["max"]


def test_repeats_spcs_only_if_told_so(lab: Lab) -> None:
    report = lab.tool.run("--count", "5", "--repeat", "--seconds", "1", "--connections", "2")
    assert report["sent"] > 5
    assert report["checked"] == sum(number % 5 == 0 for number in range(report["sent"]))


def test_counts_refusals_by_code(lab: Lab) -> None:
    tool = replace(lab.tool, tokens=(*lab.tool.tokens, "not-a-token"))
    report = tool.run("--count", "40", "--seconds", "60", "--connections", "2")
    assert report["licenses"] == 30
    assert report["results"] == {"200": 30, "401 token_malformed": 10}


@pytest.mark.parametrize("versions", ["1", "1,2"])
def test_asks_for_several_keys_at_once(lab: Lab, versions: str) -> None:
    before = lab.issued()
    report = lab.tool.run("--count", "20", "--seconds", "60", "--keys", "3", "--check-every", "2",
                          "--spc-version", versions)
    assert (report["sent"], report["licenses"], report["checked"], report["wrong"]) == (20, 60, 30, 0)
    assert (report["latencyMicroseconds"]["count"], report["settings"]["keysPerRequest"]) == (20, 3)
    assert report["results"] == {"200": 20}
    assert lab.issued() - before == 60


def test_counts_each_key_that_is_refused(lab: Lab) -> None:
    tool = replace(lab.tool, tokens=("not-a-token",))
    report = tool.run("--count", "4", "--seconds", "60", "--keys", "3", status=1)
    assert (report["licenses"], report["refused"], report["wrong"]) == (0, 12, 0)


def test_fails_without_any_license(lab: Lab) -> None:
    report = replace(lab.tool, tokens=("not-a-token",)).run("--count", "3", "--seconds", "60", status=1)
    assert (report["licenses"], report["refused"], report["failed"]) == (0, 3, 0)


def test_fails_beyond_its_limits(lab: Lab) -> None:
    words = ("--count", "10", "--seconds", "60")
    assert lab.tool.run(*words, "--min-rate", "1000000", status=1)["licenses"] == 10
    assert lab.tool.run(*words, "--min-rate", "1", "--max-p99", "3600000")["licenses"] == 10


def test_writes_the_report_to_a_file(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    lab.tool.run("--count", "3", "--seconds", "60", "--report", file)
    text = file.read_text()
    assert '"format":"latchkey-bench-1"' in text
    assert not any(token in text for token in lab.tool.tokens)


# --- TLS and HTTP/2 ---------------------------------------------------------------------------------------------------


def test_opens_a_tls_connection_for_each_license(tls_lab: tuple[Lab, Path]) -> None:
    lab, authority = tls_lab
    words = ("--ca", authority, "--count", "20", "--seconds", "60", "--connections", "3")
    assert lab.tool.run(*words, "--new-connections")["connections"] == 20
    assert lab.tool.run(*words)["connections"] <= 3


def test_shares_connections_of_http2(tls_lab: tuple[Lab, Path]) -> None:
    lab, authority = tls_lab
    report = lab.tool.run("--ca", authority, "--count", "80", "--seconds", "60", "--connections", "2", "--http2",
                          "--streams", "10", "--check-every", "1")
    assert report["httpVersions"] == {"2": 80}
    assert report["connections"] <= 2
    assert (report["checked"], report["wrong"]) == (80, 0)


def test_checks_the_certificate_of_the_server(tls_lab: tuple[Lab, Path]) -> None:
    report = tls_lab[0].tool.run("--count", "3", "--seconds", "60", status=1)
    assert report["failed"] == 3


# --- A server that answers nonsense -----------------------------------------------------------------------------------


class Nonsense(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = secrets.token_bytes(700)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_finds_wrong_licenses(lab: Lab) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nonsense) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            tool = replace(lab.tool, url=f"http://127.0.0.1:{server.server_port}")
            report = tool.run("--count", "20", "--seconds", "60", "--check-every", "4", status=1)
        finally:
            server.shutdown()
    assert (report["licenses"], report["checked"], report["wrong"]) == (20, 5, 5)
