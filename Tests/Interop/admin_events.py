"""Reads the stream of events of an admin listener, with the standard library alone."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from license_client import Answer

EVENTS_PATH = "/v1/events"
TIMEOUT_SECONDS = 30


class Events:
    """The events of one answer."""

    def __init__(self, response: http.client.HTTPResponse):
        self._response = response
        self.answer = Answer(response.status, tuple(response.getheaders()), b"")

    def next(self) -> tuple[str, dict]:
        """The name and the data of the next event. Raises EOFError if the answer ends."""
        name, data = "", ""
        while True:
            line = self._response.readline().decode()
            if not line:
                raise EOFError
            line = line.rstrip("\n")
            if not line and data:
                return name, json.loads(data)
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                data += value

    def next_of(self, wanted: str) -> dict:
        """The data of the next event of a name."""
        while True:
            name, data = self.next()
            if name == wanted:
                return data

    def ends(self) -> bool:
        """Whether the answer ends by itself, after any number of events."""
        try:
            while True:
                self.next()
        except EOFError:
            return True


@contextmanager
def reading_events(url: str, token: str | None) -> Iterator[Events]:
    parts = urlsplit(url)
    assert parts.hostname
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", EVENTS_PATH, headers=headers)
        response = connection.getresponse()
        try:
            yield Events(response)
        finally:
            response.close()
    finally:
        connection.close()
