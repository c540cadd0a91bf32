"""nginx and HAProxy in front of a daemon, with temporary configurations, without privileges, and with a log of what
they forwarded."""

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 5
# How long a proxy waits for the rest of a request that the client never finishes.
CLIENT_SECONDS = 1
# Envoy comes with the Python packages of the tests.
SEARCH_PATH = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"
# The proxies log this if they answered without the daemon.
NONE = "-"

# One connection to the daemon stays open and serves all clients in turn. If the daemon reads past the end of one
# request, it takes bytes of the next client. Bodies are forwarded as they arrive, and nothing is sent twice.
NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    log_format forwarded '$upstream_status $upstream_http_x_request_id';
    access_log {log} forwarded;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_header_timeout {client_seconds}s;
    client_body_timeout {client_seconds}s;
    client_max_body_size 0;
    large_client_header_buffers 8 64k;
    {options}
    upstream daemon {{ server {daemon}; keepalive 1; }}
    server {{
        listen {listen};
        location / {{
            proxy_pass http://daemon;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_request_buffering off;
            proxy_next_upstream off;
        }}
    }}
}}
"""
NGINX_LAX = "ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;"

HAPROXY = """
global
    tune.bufsize 65536
    maxconn 256
defaults
    mode http
    log stdout format raw daemon
    timeout connect 10s
    timeout server 10s
    timeout client {client_seconds}s
    timeout http-request {client_seconds}s
    timeout http-keep-alive {client_seconds}s
    retries 0
frontend public
    bind {listen}
    {options}
    http-response set-var(txn.id) res.hdr(x-request-id)
    http-response set-var(txn.status) status
    log-format "%[var(txn.status)] %[var(txn.id)]"
    default_backend daemon
backend daemon
    http-reuse always
    server daemon {daemon} pool-max-conn 1
"""
HAPROXY_LAX = "option accept-invalid-http-request"


@dataclass
class Proxy:
    """A running proxy; the address is host and port."""

    address: tuple[str, int]
    log: Path
    _read_size: int = 0
    _answers: dict[str, int] = field(default_factory=dict)

    def forwarded(self) -> dict[str, int]:
        """The status of every answer of the daemon so far, by request id. Reads only the new part of the log."""
        with self.log.open("rb") as log:
            log.seek(self._read_size)
            complete, end, _ = log.read().rpartition(b"\n")
        self._read_size += len(complete + end)
        answers = [line.split() for line in complete.decode().splitlines() if NONE not in line.split()]
        self._answers |= {identifier: int(status) for status, identifier in answers}
        return dict(self._answers)


@contextmanager
def running_proxy(name: str, daemon: tuple[str, int], folder: Path) -> Iterator[Proxy]:
    """Runs `nginx` or `haproxy`. With `, lax` after its name, the proxy is lenient about what it forwards."""
    program, _, lax = name.partition(", ")
    template, options = {"nginx": (NGINX, NGINX_LAX), "haproxy": (HAPROXY, HAPROXY_LAX)}[program]
    address = free_address()
    log = folder / "forwarded.log"
    configuration = folder / f"{program}.conf"
    configuration.write_text(
        template.format(
            folder=folder,
            log=log,
            options=options if lax else "",
            daemon=f"{daemon[0]}:{daemon[1]}",
            listen=f"{address[0]}:{address[1]}",
            client_seconds=CLIENT_SECONDS,
        )
    )
    arguments = {
        "nginx": ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration)],
        "haproxy": ["haproxy", "-db", "-f", str(configuration)],
    }[program]
    with running_program(arguments, address, folder, log) as proxy:
        yield proxy


@contextmanager
def running_program(
    arguments: list[str], address: tuple[str, int], folder: Path, log: Path = Path(os.devnull)
) -> Iterator[Proxy]:
    """Runs a proxy by its command line. Its output goes to `log`, its errors to `output.log` in the folder."""
    output = folder / "output.log"
    with log.open("ab") as standard_output, output.open("ab") as standard_error:
        process = subprocess.Popen(
            arguments, stdout=standard_output, stderr=standard_error, env=os.environ | {"PATH": SEARCH_PATH}
        )
    try:
        _await_listening(process, address, output)
        yield Proxy(address, log)
        assert process.poll() is None, output.read_text()
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_address() -> tuple[str, int]:
    """A loopback address with a port that is free now."""
    return ("127.0.0.1", _free_port())


def _free_port() -> int:
    """A free port below the range from which the system chooses ports, so that no other process gets it meanwhile."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.sample(range(10_240, max(lowest, 12_000)), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("there is no free port")


def _await_listening(process: subprocess.Popen[bytes], address: tuple[str, int], output: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(address, timeout=1).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError(f"the proxy did not start: {output.read_text()}")
