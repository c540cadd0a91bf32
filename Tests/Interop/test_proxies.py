"""The proxy configurations of `Config/` in front of a daemon.

No request is lost although many clients cancel requests, and the daemon knows each client by the client's own address.

The files are used unchanged, except for addresses, certificates, and the protocol towards the daemon.

    LATCHKEY_ABUSE=long    500 requests a second, one of ten cancelled, for 10 seconds behind each proxy: `Scripts/test-abuse`
"""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import http1_wire
from asking_http2 import HTTP2Client
from own_daemon import OwnDaemon, running_daemon
from proxies import SEARCH_PATH, Proxy, free_address, running_program
from tls_material import make_pair

CONFIGURATIONS = Path(__file__).parents[2] / "Config"
IS_LONG = os.environ.get("LATCHKEY_ABUSE") == "long"
CLIENTS = 20
# The short form cancels a larger share of fewer requests, because a busy machine cannot serve 500 per second.
CANCELLED_ONE_OF = 10 if IS_LONG else 4
SECONDS = 10 if IS_LONG else 3
# The time between two requests of one client.
INTERVAL_SECONDS = 0.04 if IS_LONG else 0.02
REQUEST = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
# The body is never sent completely.
PART = b"x" * 1000
CANCELLED = b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n" + PART
MODULES = Path("/usr/lib/nginx/modules")
# The number of license requests that one address may send in a burst.
BURST = 3
ONE, ANOTHER, PRETENDED = "127.0.0.2", "127.0.0.3", "127.0.0.9"


@dataclass(frozen=True)
class Kind:
    """A configuration, the replacements in it, and the protocol of the clients: http1, http2, or http2 over TLS."""

    file: str
    changes: dict[str, str] = field(default_factory=dict)
    # Whether the daemon expects a PROXY header from the proxy.
    expects_header: bool = False
    asks: str = "http1"

    @property
    def program(self) -> str:
        return self.file.partition(".")[0].partition("-")[0]


NGINX_FORWARDED = {
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;": 'proxy_set_header X-Forwarded-For "";',
    'proxy_set_header Forwarded "";': 'proxy_set_header Forwarded "for=$remote_addr";',
}
HAPROXY_FORWARDED = {
    "option forwardfor": "http-request del-header X-Forwarded-For",
    "http-request del-header Forwarded": "http-request set-header Forwarded for=%[src]",
}
ENVOY_FORWARDED = {
    "request_headers_to_remove: [forwarded]": "request_headers_to_remove: [x-forwarded-for]\n"
    "                      request_headers_to_add: [{ append_action: OVERWRITE_IF_EXISTS_OR_ADD, header:"
    ' { key: forwarded, value: "for=%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%" } }]',
}
HAPROXY_PROXY = {" proto h2 check": " check send-proxy-v2 check-send-proxy proxy-v2-options unique-id,crc32c"}

# The kinds by name: first those that are tested with cancelled requests.
LOADED = {
    "nginx http1": Kind("nginx.conf"),
    "nginx, http2 over TLS in front": Kind("nginx.conf", asks="http2 over TLS"),
    "nginx, PROXY version 1": Kind("nginx-stream.conf", expects_header=True),
    "haproxy http1": Kind("haproxy.cfg", {" proto h2 check": ""}),
    "haproxy http2": Kind("haproxy.cfg"),
    "haproxy, PROXY version 2": Kind("haproxy.cfg", HAPROXY_PROXY, expects_header=True),
    "envoy http1": Kind("envoy.yaml", {"http2_protocol_options": "http_protocol_options"}),
    "envoy http2": Kind("envoy.yaml"),
    "envoy, PROXY version 1": Kind("envoy-tcp.yaml", {"version: V2": "version: V1"}, expects_header=True),
    "envoy, PROXY version 2 and http2": Kind("envoy-tcp.yaml", expects_header=True, asks="http2"),
}
FORWARDED = {
    "nginx, Forwarded": Kind("nginx.conf", NGINX_FORWARDED),
    "haproxy, Forwarded": Kind("haproxy.cfg", HAPROXY_FORWARDED),
    "envoy, Forwarded": Kind("envoy.yaml", ENVOY_FORWARDED),
}


def program_arguments(name: str, configuration: Path, folder: Path) -> list[str]:
    return {
        "nginx": ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration),
                  "-g", f"daemon off; master_process off; pid {folder}/nginx.pid;"],
        "haproxy": ["haproxy", "-db", "-f", str(configuration)],
        "envoy": ["envoy", "-c", str(configuration), "--concurrency", "1", "--log-level", "error", "--disable-hot-restart"],
    }[name]


def own_values(kind: Kind, folder: Path, address: tuple[str, int], daemon: OwnDaemon) -> dict[str, str]:
    """The replacements for the addresses and certificates of an example file."""
    host, port = address
    upstream = "{}:{}".format(*daemon.public)
    match kind.file:
        case "nginx.conf" if kind.asks == "http2 over TLS":
            pair = make_pair(folder, "proxy", hosts=("localhost",))
            return {
                "listen 443 ssl http2": f"listen {host}:{port} ssl http2", "10.0.0.11:8443": upstream,
                "/etc/nginx/certificate.pem": str(pair.certificate_file),
                "/etc/nginx/certificate-key.pem": str(pair.key_file),
            }
        case "nginx.conf":
            return {
                "listen 443 ssl http2": f"listen {host}:{port}", "10.0.0.11:8443": upstream,
                "ssl_certificate /etc/nginx/certificate.pem;": "",
                "ssl_certificate_key /etc/nginx/certificate-key.pem;": "",
            }
        case "nginx-stream.conf":
            return {"listen 443": f"listen {host}:{port}", "10.0.0.11:8443": upstream}
        case "haproxy.cfg":
            return {
                "bind :443 ssl crt /etc/haproxy/certificate.pem alpn h2,http/1.1": f"bind {host}:{port}",
                "10.0.0.11:8443": upstream,
            }
        case _:
            return {
                "address: 0.0.0.0, port_value: 443": f"address: {host}, port_value: {port}",
                "address: 10.0.0.11, port_value: 8443": "address: {}, port_value: {}".format(*daemon.public),
            }


@contextmanager
def proxy_of(kind: Kind, daemon: OwnDaemon, folder: Path) -> Iterator[Proxy]:
    address = free_address()
    text = (CONFIGURATIONS / kind.file).read_text()
    for old, new in (own_values(kind, folder, address, daemon) | kind.changes).items():
        assert old in text, old
        lines = (line if line.lstrip().startswith("#") else line.replace(old, new) for line in text.splitlines())
        text = "\n".join(lines) + "\n"
    configuration = folder / kind.file
    configuration.write_text(text)
    with running_program(program_arguments(kind.program, configuration, folder), address, folder) as proxy:
        yield proxy


@contextmanager
def daemon_behind(kind: Kind, folder: Path) -> Iterator[tuple[OwnDaemon, Proxy]]:
    """Runs a daemon and a proxy, and waits until the proxy has reached the daemon."""
    if not shutil.which(kind.program, path=SEARCH_PATH):
        pytest.skip(f"{kind.program} is not installed; Scripts/test-interop installs it")
    if kind.file == "nginx-stream.conf" and not (MODULES / "ngx_stream_module.so").exists():
        pytest.skip("libnginx-mod-stream is not installed; Scripts/test-interop installs it")

    def prepare(setup: Path) -> None:
        file = setup / "latchkey.json5"
        address = 'address: "127.0.0.1:8080"'
        text = file.read_text()
        assert address in text
        more = f'{address}, trustedProxies: ["127.0.0.1/32"], proxyProtocol: {str(kind.expects_header).lower()}'
        file.write_text(text.replace(address, more, 1))

    limits = {"rates": {"perAddress": {"perSecond": 1, "burst": BURST}}}
    with running_daemon(folder, limits, prepare=prepare) as daemon, proxy_of(kind, daemon, folder) as proxy:
        deadline = time.monotonic() + 10
        # A proxy with health checks may answer 503 until the first check has passed.
        while asyncio.run(statuses(kind, proxy.address, "127.0.0.1", "GET", "/livez", 1)) != [200]:
            assert time.monotonic() < deadline, (folder / "output.log").read_text()
        yield daemon, proxy


async def statuses(
    kind: Kind, address: tuple[str, int], source: str, method: str, path: str, count: int
) -> list[int]:
    """The statuses of requests from a loopback address, one after the other on one connection.

    Each request claims another client address in its header fields.
    """
    fields = {"x-forwarded-for": PRETENDED, "forwarded": f"for={PRETENDED}"}
    body = b"" if method == "GET" else b"no SPC"
    if kind.asks != "http1":
        client = await HTTP2Client.connect(address, kind.asks == "http2 over TLS", source)
        found = [await client.ask(method, path, fields, body) for _ in range(count)]
        await client.close()
        return found
    reader, writer = await asyncio.open_connection(*address, local_addr=(source, 0))
    lines = [f"{method} {path} HTTP/1.1", "Host: a", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    last = request.replace(b"Host: a\r\n", b"Host: a\r\nConnection: close\r\n")
    writer.write(request * (count - 1) + last)
    received = await reader.read()
    writer.close()
    return http1_wire.parse(received, ended=True).statuses


# --- Cancelled requests -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    answered: int = 0
    cancelled: int = 0


async def ask_by_http1(address: tuple[str, int], number: int, end: float, tally: Tally) -> None:
    """Sends requests on one connection. Sends those that it cancels on other connections."""
    reader, writer = await asyncio.open_connection(*address)
    async for is_cancelled in paced(number, end):
        if is_cancelled:
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
    writer.close()


async def ask_by_http2(address: tuple[str, int], is_over_tls: bool, number: int, end: float, tally: Tally) -> None:
    """Sends and cancels requests on one connection."""
    client = await HTTP2Client.connect(address, is_over_tls)
    async for is_cancelled in paced(number, end):
        if is_cancelled:
            await client.cancel("/fps/license", PART, INTERVAL_SECONDS)
            tally.cancelled += 1
        else:
            assert await client.ask("GET", "/livez") == 200
            tally.answered += 1
    await client.close()


async def paced(number: int, end: float):
    """Yields at each time when the client's next request is due, with whether to cancel that request."""
    moment = time.monotonic()
    count = number
    while moment < end:
        count += 1
        yield count % CANCELLED_ONE_OF == 0
        moment = max(moment + INTERVAL_SECONDS, time.monotonic())
        await asyncio.sleep(max(0, moment - time.monotonic()))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADED)
def test_no_request_is_lost_behind_a_proxy_whose_clients_cancel(
    name: str, tmp_path: Path, latchkey_programs: None
) -> None:
    kind = LOADED[name]

    async def load(address: tuple[str, int], tally: Tally) -> None:
        end = time.monotonic() + SECONDS
        if kind.asks == "http1":
            await asyncio.gather(*(ask_by_http1(address, number, end, tally) for number in range(CLIENTS)))
        else:
            is_over_tls = kind.asks == "http2 over TLS"
            await asyncio.gather(*(ask_by_http2(address, is_over_tls, number, end, tally) for number in range(CLIENTS)))

    with daemon_behind(kind, tmp_path) as (daemon, proxy):
        tally = Tally()
        asyncio.run(load(proxy.address, tally))
        metrics = daemon.metrics()
        abused = sum(value for key, value in metrics.items() if key.startswith("latchkey_http_connections_abused_total"))
        refused = sum(value for key, value in metrics.items() if key.startswith("latchkey_http_connections_refused_total"))
        print(f"\n{name}: {tally} in {SECONDS} s; {refused:.0f} refused")
        assert tally.answered > 100 and tally.cancelled > 50
        assert abused == 0
        assert refused == 0
        check_addresses(kind, proxy)


# --- Addresses --------------------------------------------------------------------------------------------------------


def check_addresses(kind: Kind, proxy: Proxy) -> None:
    """Checks that the rate limit counts the client's own address, even if the client claims another one."""
    first = asyncio.run(statuses(kind, proxy.address, ONE, "POST", "/fps/license", 4 * BURST))
    assert first[:BURST] == [401] * BURST and 429 in first[BURST:], first
    # The limit does not apply to the proxy, or to the address that the first client claimed.
    other = asyncio.run(statuses(kind, proxy.address, ANOTHER, "POST", "/fps/license", BURST))
    assert other == [401] * BURST
    pretended = asyncio.run(statuses(kind, proxy.address, PRETENDED, "POST", "/fps/license", BURST))
    assert pretended == [401] * BURST


@pytest.mark.parametrize("name", FORWARDED)
def test_the_daemon_knows_clients_by_forwarded(name: str, tmp_path: Path, latchkey_programs: None) -> None:
    kind = FORWARDED[name]
    with daemon_behind(kind, tmp_path) as (_, proxy):
        check_addresses(kind, proxy)
