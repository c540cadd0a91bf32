"""An operator's client for an admin listener: a program with a token or a certificate, or a browser with a session."""

from __future__ import annotations

import http.client
import json
import signal
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from license_client import Answer
from own_daemon import OwnDaemon
from secret_watch import WATCH

WAIT_SECONDS = 90


@dataclass
class AdminClient:
    """A client of an admin listener. Each request has a connection of its own."""

    address: tuple[str, int]
    context: ssl.SSLContext | None = None
    # The name in Host. A listener takes localhost from every client.
    host: str = "localhost"
    token: str | None = None
    cookie: str | None = None
    form_token: str | None = None
    # What a browser adds, if this is one.
    browser_fields: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return f"{'https' if self.context else 'http'}://{self.host}:{self.address[1]}"

    def send(self, method: str, path: str, body: object = None, **headers: str | None) -> Answer:
        """Sends a request. A header that is None is left out, underscores in names stand for hyphens."""
        fields: dict[str, str | None] = {"Host": f"{self.host}:{self.address[1]}"} | dict(self.browser_fields)
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
            WATCH.note_authorization(f"Bearer {self.token}")
        if self.cookie:
            fields["Cookie"] = self.cookie
        if self.form_token and method not in ("GET", "HEAD"):
            fields["X-Latchkey-Form"] = self.form_token
        if body is not None:
            fields["Content-Type"] = "application/json"
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = (
            http.client.HTTPSConnection(*self.address, timeout=WAIT_SECONDS, context=self.context)
            if self.context
            else http.client.HTTPConnection(*self.address, timeout=WAIT_SECONDS)
        )
        try:
            content = None if body is None else json.dumps(body).encode()
            present = {name: value for name, value in fields.items() if value is not None}
            connection.request(method, path, content, present)
            response = connection.getresponse()
            return Answer(response.status, tuple(response.getheaders()), response.read())
        finally:
            connection.close()

    def who_am_i(self) -> dict[str, Any]:
        answer = self.send("GET", "/v1/whoami")
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def logged_in(self, token: str) -> AdminClient:
        """A browser in a new session of the token's holder."""
        browser = AdminClient(self.address, self.context, self.host)
        browser.browser_fields = {"Origin": browser.origin, "Sec-Fetch-Site": "same-origin"}
        WATCH.note_text("an admin token", token)
        answer = browser.send("POST", "/v1/session", {"token": token})
        assert answer.status == 200, answer
        browser.cookie = str(answer.header("Set-Cookie")).partition(";")[0]
        browser.form_token = json.loads(answer.body)["formToken"]
        WATCH.note_text("the id of a session", browser.cookie.partition("=")[2])
        WATCH.note_text("a form token", browser.form_token)
        return browser


def configure_listener(setup: Path, listener: dict[str, object]) -> None:
    """Replaces the admin listener of a set-up."""
    configuration = setup / "latchkey.json5"
    lines = configuration.read_text().splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.strip().startswith("admin: [{")]
    value = json.dumps({"address": "127.0.0.1:9080"} | listener)
    lines[place] = f"        admin: [{value}],"
    configuration.write_text("\n".join(lines) + "\n")


def reload(daemon: OwnDaemon) -> None:
    """Reloads the daemon, which must succeed."""
    before = daemon.log.read_text().count('"reloaded"')
    daemon.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + WAIT_SECONDS
    while daemon.log.read_text().count('"reloaded"') == before:
        assert time.monotonic() < deadline, daemon.log.read_text()[-2000:]
        time.sleep(0.02)
