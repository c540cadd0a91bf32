"""A client for license requests over HTTP/1.1, on one connection that stays open. It uses only the standard library."""

import http.client
import json
import re
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from secret_watch import WATCH

LICENSE_PATH = "/fps/license"
CHALLENGE_PATH = "/fps/challenge"
TIMEOUT_SECONDS = 20
# Less than the idle time after which a server may close a connection, so that no request meets a closing connection.
IDLE_SECONDS_MAXIMUM = 2.0
# The fields and members that differ between two answers with the same meaning.
HEADERS_OF_ONE_ANSWER = ("date", "x-request-id")
MEMBERS_OF_ONE_ANSWER = re.compile(rb'("(?:request_id|server_time)"\s*:\s*)("[^"]*"|[0-9.]+)')


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The header's value. Raises an error if the header occurs twice."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"{name} comes {len(values)} times")
        return values[0] if values else None

    @property
    def problem(self) -> dict[str, object]:
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        return None if self.status == 200 else self.header("X-Error-Code")

    @property
    def without_identity(self) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        """The whole answer, with a placeholder for each value that identifies this request or its time."""
        headers = tuple(
            (name, "*" if name.lower() in HEADERS_OF_ONE_ANSWER else value) for name, value in self.headers
        )
        return self.status, headers, MEMBERS_OF_ONE_ANSWER.sub(rb"\1*", self.body)


class LicenseClient:
    """A client of one server.

    It never repeats a request, so that a connection dropped without an answer is a failure.
    """

    def __init__(self, url: str):
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError(f"{url} is not a plain HTTP address")
        self.url = url
        self._prefix = parts.path.rstrip("/")
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
        self._last_use = 0.0
        self.request_ids: list[str | None] = []

    def license(self, spc: bytes, token: str | None, *, offline: bool = False) -> Answer:
        path = f"{LICENSE_PATH}?offline=1" if offline else LICENSE_PATH
        return self._post(path, spc, token)

    def challenge(self, token: str | None) -> Answer:
        """Requests a challenge for a sync request."""
        return self._post(CHALLENGE_PATH, b"", token)

    def _post(self, path: str, body: bytes, token: str | None) -> Answer:
        headers = {"Content-Type": "application/octet-stream"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        answer = self.send("POST", path, body, headers)
        self.request_ids.append(answer.header("X-Request-Id"))
        return answer

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
        if time.monotonic() - self._last_use > IDLE_SECONDS_MAXIMUM:
            self._connection.close()
        if headers and "Authorization" in headers:
            WATCH.note_authorization(headers["Authorization"])
        self._connection.request(method, self._prefix + path, body, headers or {})
        response = self._connection.getresponse()
        answer = Answer(response.status, tuple(response.getheaders()), response.read())
        self._last_use = time.monotonic()
        return answer

    def close(self) -> None:
        self._connection.close()
