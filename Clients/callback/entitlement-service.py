#!/usr/bin/env python3
"""A sample of the service that `entitlement.callback` asks, for trying call-backs and as a start for your own service.

    entitlement-service.py [--port PORT] [--secret FILE] [--lease SECONDS]

The first word of the token selects the answer, so that every answer can be tried: "allow", "deny", "plain" (allowed
without a policy), "offline", "slow", "stranger" (an answer to another question), "redirect", "huge", "malformed",
"error", "badpolicy". Any other token is denied. The service prints its URL on standard output. It needs only Python's
standard library.
"""

import argparse
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BODY_SIZE_MAXIMUM = 64 * 1024
# How far the clocks of the two sides may differ.
AGE_SECONDS_MAXIMUM = 60


class EntitlementService(ThreadingHTTPServer):
    """Listens on loopback, and keeps all questions, so that tests can count them by their token."""

    daemon_threads = True

    def __init__(self, port: int = 0, secret: bytes | None = None, lease: int = 300):
        super().__init__(("127.0.0.1", port), Question)
        self.secret = secret
        self.lease = lease
        # How long the answer to a "slow" token takes.
        self.slow_seconds = 10.0
        self.questions: list[dict[str, Any]] = []
        # The traceparent and the tracestate of each question. Continue the trace with a span of your own.
        self.traces: list[tuple[str | None, str | None]] = []
        self.is_closed = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/entitle"

    def server_close(self) -> None:
        """Closes the listener, and ends kept-alive connections at their next request."""
        self.is_closed = True
        super().server_close()

    def asked(self, token: str) -> int:
        return sum(question["token"] == token for question in self.questions)


class Question(BaseHTTPRequestHandler):
    """One question of the license server."""

    protocol_version = "HTTP/1.1"
    server: EntitlementService

    def do_POST(self) -> None:
        if self.server.is_closed:
            self.close_connection = True
            return
        size = int(self.headers.get("Content-Length", 0))
        if not 0 < size <= BODY_SIZE_MAXIMUM:
            self._send(413, b"{}")
            return
        body = self.rfile.read(size)
        if self.server.secret is not None and not is_signed(self.headers, body, self.server.secret):
            self._send(403, b"{}")
            return
        question = json.loads(body)
        self.server.questions.append(question)
        self.server.traces.append((self.headers.get("traceparent"), self.headers.get("tracestate")))
        word = question["token"].partition("-")[0]
        answers: dict[str, Callable[[dict[str, Any]], None]] = {
            "allow": self._allow,
            "plain": lambda question: self._answer(question, isAllowed=True),
            "offline": self._allow_offline,
            "slow": self._answer_slowly,
            "stranger": lambda question: self._answer(
                question | {"messageID": "00000000-0000-0000-0000-000000000000"}, isAllowed=True
            ),
            "redirect": lambda _: self._send(302, b"", {"Location": self.server.url}),
            "huge": lambda question: self._answer(question, isAllowed=True, errorText="a" * 200_000),
            "malformed": lambda _: self._send(200, b'{"messageID":'),
            "error": lambda _: self._send(500, b"{}"),
            "badpolicy": lambda question: self._answer(question, isAllowed=True, policy={"rights": [{"lease": 0}]}),
        }
        answers.get(word, self._deny)(question)

    def _allow(self, question: dict[str, Any]) -> None:
        right = {"content": question["contentID"], "lease": self.server.lease}
        self._answer(question, isAllowed=True, policy={"sub": "viewer-1", "rights": [right]})

    def _allow_offline(self, question: dict[str, Any]) -> None:
        right = {"content": question["contentID"], "mode": "both", "storage": 3600, "playback": 1800}
        self._answer(question, isAllowed=True, policy={"sub": "viewer-1", "rights": [right]})

    def _deny(self, question: dict[str, Any]) -> None:
        self._answer(question, isAllowed=False, error=17, errorText="not in your package")

    def _answer_slowly(self, question: dict[str, Any]) -> None:
        time.sleep(self.server.slow_seconds)
        self._allow(question)

    def _answer(self, question: dict[str, Any], **members: object) -> None:
        answer = {"messageID": question["messageID"], "version": 1} | members
        self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            # The license server closes the connection when its timeout is over.
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing, because tokens are secrets."""


def is_signed(headers: Any, body: bytes, secret: bytes) -> bool:
    """Whether the authentication code of time and body is valid, and the question is not old."""
    timestamp = headers.get("X-Latchkey-Timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > AGE_SECONDS_MAXIMUM:
        return False
    code = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={code}", headers.get("X-Latchkey-Signature", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description="A sample of the service that entitlement.callback asks.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--secret", type=Path, help="the file of entitlement.callback.secret")
    parser.add_argument("--lease", type=int, default=300)
    arguments = parser.parse_args()
    secret = arguments.secret.read_bytes().rstrip(b"\r\n") if arguments.secret else None
    service = EntitlementService(arguments.port, secret, arguments.lease)
    print(service.url, flush=True)
    service.serve_forever()


if __name__ == "__main__":
    main()
