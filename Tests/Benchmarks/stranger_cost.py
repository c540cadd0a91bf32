"""What a stranger's request costs the daemon, as a ratio to a plain refusal.

Every case sends a query, header or body of an allowed size and without a good token, in the shapes that are dear to
parse. The cost is the processor time of the daemon for each request. A case that ends its connection is compared with
a plain refusal on a connection of its own. The rates of requests are practically off, so every request is judged.
A case above the goal is measured again with more requests, because other work of the machine can double a short
measurement. Then that figure counts.
"""

import argparse
import base64
import json
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from load_daemon import Daemon, Programs

ROUNDS = 3
# How many times more requests the second measurement of a case has.
AGAIN = 5
GOAL = 5.0
PATH = "/fps/license"
TARGET_SIZE, HEAD_SIZE, REPORT_SIZE, FORM_SIZE, BODY_SIZE = 8_000, 15_000, 8_000, 16_000, 65_000
SIZES = (0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Case:
    name: str
    request: bytes
    is_fresh: bool = False
    # The kind of set-up: "plain", or "body" if tokens in bodies count.
    setup: str = "plain"


def request(
    query: str = "", fields: list[str] | None = None, body: bytes = b"-", method: str = "POST", path: str = PATH
) -> bytes:
    target = f"{path}?{query}" if query else path
    length = [f"Content-Length: {len(body)}"] if body else []
    head = [f"{method} {target} HTTP/1.1", "Host: a", *length, *(fields or [])]
    return "\r\n".join([*head, "", ""]).encode() + body


def filled(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


def token(claims: object, kid: str = "development-1", head: dict[str, object] | None = None) -> str:
    return f"{encoded({'alg': 'ES256', 'kid': kid, 'typ': 'JWT'} | (head or {}))}.{encoded(claims)}.{'A' * 86}"


def queries(share: float) -> Iterator[Case]:
    size = int(TARGET_SIZE * share)
    for name, query in {
        "pairs &=": filled("&=", size),
        "pairs a=b&": filled("a=b&", size),
        "escapes": "assetId=" + filled("%41", size),
        "one token": "token=" + filled("A", size),
        "64 tokens": "&".join(["token=" + "A" * max(1, size // 64 - 7)] * 64),
        "64 assetId": "&".join(["assetId=" + "%41" * max(1, size // 192 - 3)] * 64),
        "64 format": "&".join(["format=" + "x" * max(1, size // 64 - 8)] * 64),
        "CMCD": "CMCD=" + filled("sid%3D%22a%22%2C", size),
        "JWT": "token=" + token({"a": "b" * (size * 3 // 4 - 150)} if size > 400 else {}),
    }.items():
        yield Case(f"query {name}, {len(query)} bytes", request(query))


def headers(share: float) -> Iterator[Case]:
    size = int(HEAD_SIZE * share)
    deep = json.loads("[" * 12 + "]" * 12)
    claims = size * 3 // 4 - 150
    bearer = "Authorization: Bearer "
    for name, fields in {
        "many fields": [f"X-{number}: {'a' * max(1, size // 90 - 8)}" for number in range(90)],
        "one field": ["X-Field: " + filled("a", size)],
        "words": ["X-Field: " + filled("a ", size) + "a"],
        "commas": ["X-Field: " + filled(",", size)],
        "90 Authorization": [bearer + "A" * max(1, size // 90 - 24) for _ in range(90)],
        "nv-authorizations a,a": ["nv-authorizations: " + filled("a,", size)],
        "nv-authorizations commas": ["nv-authorizations: " + filled(",", size)],
        "nv-authorizations %2C": ["nv-authorizations: " + filled("a%2C", size)],
        "90 nv-authorizations": [f"nv-authorizations: {'a,' * max(1, size // 180 - 11)}" for _ in range(90)],
        "Accept": ["Accept: " + filled("a/b;q=0.1,", size)],
        "CMCD-Session": ["CMCD-Session: " + filled('sid="a",', size)],
        "CMCD keys": ["CMCD-Session: " + filled("a,", size) + "a"],
        "Connection": ["Connection: " + filled("a,", size) + "a"],
        "cookies": ["Cookie: " + filled("a=b; ", size)],
        "Origin": ["Origin: " + filled("a", size)],
        "traceparent": ["traceparent: " + filled("0", size), "tracestate: " + filled("a=b,", 400)],
        "X-Request-Id": ["X-Request-Id: " + filled("a", size)],
        "X-Forwarded-For": ["X-Forwarded-For: " + filled("1.1.1.1,", size)],
        "Bearer noise": [bearer + filled("A", size)],
        "Bearer dots": [bearer + filled(".", size)],
        "JWT, bad signature": [bearer + token({"iss": "latchkey-development", "a": "b" * max(1, claims)})],
        "JWT, unknown key": [bearer + token({"a": "b" * max(1, claims)}, "other")],
        "JWT, many members": [bearer + token({f"{number}": 1 for number in range(max(1, claims // 9))}, "other")],
        "JWT, array": [bearer + token({"a": [1] * max(1, claims // 2)}, "other")],
        "JWT, deep arrays": [bearer + token({"a": [deep] * max(1, claims // 25)}, "other")],
        "JWT, large head": [bearer + token({}, "other", {"x": [1] * max(1, claims // 2)})],
        "ExpressPlayToken": ["ExpressPlayToken: " + filled("A", size)],
        "90 stray JWTs": [f"X-{n}: {token({}, 'a' * max(1, size // 130 - 120))}" for n in range(90) if share > 0.5],
    }.items():
        total = sum(len(field) for field in fields)
        yield Case(f"header {name}, {total} bytes", request(fields=fields))
    marks = ['CMCD-Session: cid="c",' + ",".join(f'k{number}="{"v" * 20}"' for number in range(20))] * 4
    strays = [f"X{number}: eyJ{'v' * max(1, size // 250)}." for number in range(85)]
    hints = "&".join(["assetId=" + "%41" * max(1, size // 600)] * 62)
    yield Case(f"header CMCD, strays and hints, {size} bytes", request(hints, [*marks, *strays]))
    tags = ["If-None-Match: " + filled('"a",', size) + '"a"']
    yield Case(
        f"header If-None-Match, {size} bytes", request(fields=tags, body=b"", method="GET", path="/fps/certificate")
    )
    asked = ["Origin: https://a.example", "Access-Control-Request-Method: POST"]
    asked.append("Access-Control-Request-Headers: " + filled("x-a,", size))
    yield Case(f"header of a preflight, {size} bytes", request(fields=asked, body=b"", method="OPTIONS"))
    for field in (
        "Transfer-Encoding: " + filled("a,", size) + "a",
        "Expect: " + filled("a,", size),
        "Content-Encoding: " + filled("gzip,", size),
    ):
        yield Case(f"header {field.partition(':')[0]}, {size} bytes", request(fields=[field], body=b""), is_fresh=True)


def bodies(share: float) -> Iterator[Case]:
    size = int(REPORT_SIZE * share)
    for name, start, piece in (
        ("zeros", b"", b"\0"), ("binary report", b"bplist00", b"\xd1"), ("XML report", b"<?xml?><plist>", b"<a>"),
        ("spaces", b"", b" "), ("pairs", b"", b"a&"), ("spc", b"spc=", b"%41"), ("array", b"[", b"1,"),
        ("deep", b"", b"["), ("Base64", b"", b"AAAA"), ("multipart", b"--a\r\n", b"\r\n--a\r\n"),
    ):
        body = (start + piece * (size // len(piece)))[:size]
        yield Case(f"body {name}, {size} bytes", request(body=body))
        large = (start + piece * (int(BODY_SIZE * share) // len(piece)))[: int(BODY_SIZE * share)]
        yield Case(f"large body {name}, {len(large)} bytes", request(body=large), is_fresh=True)
        for path in ("/fps/challenge", "/fps/licenses/query", "/v1/keys", "/speke"):
            yield Case(f"{path} {name}, {len(large)} bytes", request(body=large, path=path), is_fresh=True)
        yield Case(f"body with tokens {name}, {len(large)} bytes", request(body=large), setup="body")
        form = (start + piece * (int(FORM_SIZE * share) // len(piece)))[: int(FORM_SIZE * share)]
        yield Case(f"form {name}, {len(form)} bytes", request(body=form, path="/hms/fp/token"))


PLAIN = {False: Case("plain refusal", request()), True: Case("plain refusal", request(), is_fresh=True)}


def cases() -> Iterator[Case]:
    for share in SIZES:
        yield from queries(share)
        yield from headers(share)
        yield from bodies(share)


class Client:
    """Sends requests one after the other, and reads the answers."""

    def __init__(self, daemon: Daemon) -> None:
        host, _, port = daemon.url.removeprefix("http://").rpartition(":")
        self.address = (host, int(port))
        self.process = daemon.process.pid

    def cost(self, case: Case, count: int) -> tuple[float, str]:
        """The processor time of the daemon for each request in seconds, and the status line of the last answer."""
        self._send(case, max(1, count // 10))
        before = self._used()
        status = self._send(case, count)
        return (self._used() - before) / count, status

    def _send(self, case: Case, count: int) -> str:
        status = ""
        if case.is_fresh:
            for _ in range(count):
                with closing(socket.create_connection(self.address)) as connection:
                    status = self._ask(connection, case.request)
            return status
        connection = socket.create_connection(self.address)
        for _ in range(count):
            status = self._ask(connection, case.request)
            if status.endswith("close"):
                connection.close()
                connection = socket.create_connection(self.address)
        connection.close()
        return status

    @staticmethod
    def _ask(connection: socket.socket, data: bytes) -> str:
        """Reads a whole answer. Returns its status line, and "close" after it if the connection ends."""
        answer = b""
        try:
            connection.sendall(data)
        except OSError:
            pass  # A refusal by the head may come before the body is sent.
        try:
            while b"\r\n\r\n" not in answer:
                piece = connection.recv(65_536)
                if not piece:
                    return "no answer, close"
                answer += piece
            head, _, body = answer.partition(b"\r\n\r\n")
            fields = [line.partition(b": ") for line in head.lower().split(b"\r\n")]
            length = next((int(value) for name, _, value in fields if name == b"content-length"), 0)
            while len(body) < length:
                body += connection.recv(65_536)
        except OSError:
            return "reset, close"
        status = head.partition(b"\r\n")[0].decode()
        return f"{status}, close" if b"connection: close" in head.lower() else status

    def _used(self) -> float:
        tasks = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def prepare(kind: str, setup: Path) -> None:
    if kind == "body":
        file = setup / "latchkey.json5"
        file.write_text(file.read_text().replace("entitlement: {", "entitlement: {\n        tokenInBody: true,", 1))


def compared(client: Client, case: Case, count: int) -> tuple[float, float, str]:
    """The ratio to a plain refusal, the cost in seconds, and the status line.

    Each round measures the plain refusal right before the case, so a change of the machine's load meets both. The
    median of the rounds counts.
    """
    rounds = []
    for _ in range(ROUNDS):
        plain = {fresh: client.cost(other, count)[0] for fresh, other in PLAIN.items()}
        cost, status = client.cost(case, count)
        ends = case.is_fresh or status.endswith("close")
        rounds.append((cost / plain[ends], cost, status))
    return sorted(rounds)[ROUNDS // 2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--count", type=int, default=300, help="requests for each case")
    parser.add_argument("--only", default="", help="only cases whose names contain this text")
    options = parser.parse_args()
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("plain", "body"):
            daemon = Daemon(Programs(options.bin.resolve()), Path(folder) / kind, prepare=partial(prepare, kind))
            client = Client(daemon)
            try:
                for case in cases():
                    if case.setup != kind or options.only not in case.name:
                        continue
                    ratio, cost, status = compared(client, case, options.count)
                    if ratio > GOAL:
                        print(f"{ratio:6.2f}  measured again: {case.name}", flush=True)
                        ratio, cost, status = compared(client, case, AGAIN * options.count)
                    over += ratio > GOAL
                    mark = " OVER" if ratio > GOAL else ""
                    print(f"{ratio:6.2f}  {cost * 1e6:7.0f} µs  {case.name}: {status}{mark}", flush=True)
            finally:
                daemon.process.terminate()
                daemon.process.wait()
    print(f"{over or 'no'} case(s) cost more than {GOAL:g} times a plain refusal")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
