"""The proxy configurations of `Config/` before a daemon: no request is lost although many of their clients cancel.

The files are used as they are, but for addresses, certificates, and the protocol towards the daemon.
"""

import asyncio
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import http1_wire
from own_daemon import OwnDaemon, running_daemon
from proxies import SEARCH_PATH, Proxy, free_address, running_program

CONFIGURATIONS = Path(__file__).parents[2] / "Config"
CLIENTS = 20
# One of so many requests is cancelled. One of ten ended connections at 500 requests a second, which a busy machine does not reach.
CANCELLED_ONE_OF = 4
SECONDS = 5
# Of each client.
INTERVAL_SECONDS = 0.02
REQUEST = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
# The body never comes whole.
CANCELLED = b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + b"x" * 1000

# By proxy and what it speaks to the daemon: replacements in its configuration, and whether the daemon expects a PROXY header.
KINDS: dict[tuple[str, str], tuple[dict[str, str], bool]] = {
    ("nginx", "http1"): ({}, False),
    ("haproxy", "http1"): ({" proto h2 check": ""}, False),
    ("haproxy", "http2"): ({}, False),
    ("haproxy", "PROXY"): ({" proto h2 check": " check send-proxy-v2 check-send-proxy proxy-v2-options unique-id,crc32c"}, True),
    ("envoy", "http1"): ({"http2_protocol_options": "http_protocol_options"}, False),
    ("envoy", "http2"): ({}, False),
}
FILES = {"nginx": "nginx.conf", "haproxy": "haproxy.cfg", "envoy": "envoy.yaml"}


def program_arguments(name: str, configuration: Path, folder: Path) -> list[str]:
    return {
        "nginx": ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration),
                  "-g", f"daemon off; master_process off; pid {folder}/nginx.pid;"],
        "haproxy": ["haproxy", "-db", "-f", str(configuration)],
        "envoy": ["envoy", "-c", str(configuration), "--concurrency", "1", "--log-level", "error", "--disable-hot-restart"],
    }[name]


@contextmanager
def proxy_of(name: str, changes: dict[str, str], daemon: OwnDaemon, folder: Path) -> Iterator[Proxy]:
    host, port = address = free_address()
    own = {
        "nginx": {
            "listen 443 ssl http2": f"listen {host}:{port}", "10.0.0.11:8443": "{}:{}".format(*daemon.public),
            "ssl_certificate /etc/nginx/certificate.pem;": "", "ssl_certificate_key /etc/nginx/certificate-key.pem;": "",
        },
        "haproxy": {
            "bind :443 ssl crt /etc/haproxy/certificate.pem alpn h2,http/1.1": f"bind {host}:{port}",
            "10.0.0.11:8443": "{}:{}".format(*daemon.public),
        },
        "envoy": {
            "address: 0.0.0.0, port_value: 443": f"address: {host}, port_value: {port}",
            "address: 10.0.0.11, port_value: 8443": "address: {}, port_value: {}".format(*daemon.public),
        },
    }[name]
    text = (CONFIGURATIONS / FILES[name]).read_text()
    for old, new in (own | changes).items():
        assert old in text, old
        text = "\n".join(line if line.startswith("#") else line.replace(old, new) for line in text.splitlines()) + "\n"
    configuration = folder / FILES[name]
    configuration.write_text(text)
    with running_program(program_arguments(name, configuration, folder), address, folder) as proxy:
        yield proxy


@dataclass
class Tally:
    answered: int = 0
    cancelled: int = 0


async def ask(address: tuple[str, int], number: int, end: float, tally: Tally) -> None:
    """Asks on one connection, and cancels some of the requests on another one."""
    reader, writer = await asyncio.open_connection(*address)
    count = number
    while time.monotonic() < end:
        count += 1
        if count % CANCELLED_ONE_OF == 0:
            _, other = await asyncio.open_connection(*address)
            other.write(CANCELLED)
            await other.drain()
            await asyncio.sleep(INTERVAL_SECONDS)
            other.transport.abort()
            tally.cancelled += 1
            continue
        writer.write(REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        assert await reader.readexactly(3) == b"ok\n"
        tally.answered += 1
        await asyncio.sleep(INTERVAL_SECONDS)
    writer.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_no_request_is_lost_behind_a_proxy_whose_clients_cancel(
    kind: tuple[str, str], tmp_path: Path, latchkey_programs: None
) -> None:
    name, protocol = kind
    if not shutil.which(name, path=SEARCH_PATH):
        pytest.skip(f"{name} is not installed; Scripts/test-interop installs it")
    changes, expects_header = KINDS[kind]

    def prepare(setup: Path) -> None:
        file = setup / "latchkey.json5"
        address = 'address: "127.0.0.1:8080"'
        text = file.read_text()
        assert address in text
        more = f'{address}, trustedProxies: ["127.0.0.0/8"], proxyProtocol: {str(expects_header).lower()}'
        file.write_text(text.replace(address, more, 1))

    async def load(address: tuple[str, int], tally: Tally) -> None:
        end = time.monotonic() + SECONDS
        await asyncio.gather(*(ask(address, number, end, tally) for number in range(CLIENTS)))

    with running_daemon(tmp_path, prepare=prepare) as daemon, proxy_of(name, changes, daemon, tmp_path) as proxy:
        deadline = time.monotonic() + 10
        # A proxy that checks its servers first may answer 503 for a moment.
        last = REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        while http1_wire.exchange(proxy.address, last).statuses != [200]:
            assert time.monotonic() < deadline, (tmp_path / "output.log").read_text()
        tally = Tally()
        asyncio.run(load(proxy.address, tally))
        metrics = daemon.metrics()
        abused = sum(value for key, value in metrics.items() if key.startswith("latchkey_http_connections_abused_total"))
        refused = sum(value for key, value in metrics.items() if key.startswith("latchkey_http_connections_refused_total"))
        print(f"\n{name}, {protocol}: {tally}; {refused:.0f} refused")
        assert tally.answered > 100 and tally.cancelled > 50
        assert abused == 0
        assert refused == 0
