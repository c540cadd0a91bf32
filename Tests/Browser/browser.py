"""Headless Chromium, driven by the DevTools protocol over a pair of pipes: no port, and no library."""

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Enough time for a slow machine. A test whose browser does not answer in this time fails.
ANSWER_SECONDS = 60
STOP_SECONDS = 10
OPTIONS = [
    # Debian's package chromium needs it. The package chromium-headless-shell has no other mode.
    "--headless",
    *("--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"),
    *("--autoplay-policy=no-user-gesture-required", "--no-first-run", "--no-default-browser-check"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    # No traffic leaves this machine: the browser resolves no name but localhost.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]

Event = dict[str, Any]


# The state of a page, for the message of a test that has waited for it without success.
STATE = """JSON.stringify({
    status: document.querySelector("#status")?.textContent,
    standIn: globalThis.standIn,
    frames: globalThis.observer?.frames.length,
    video: [...document.querySelectorAll("video")].map((video) => [video.currentTime, video.error?.message]),
})"""


class PageFailed(AssertionError):
    """A script in a page has thrown an error, or has not ended."""


class BrowserSilent(PageFailed):
    """The browser has not answered in time."""


class Connection:
    """Commands to the browser and events from it: JSON messages, each with a zero byte at its end."""

    def __init__(self, to_browser: int, from_browser: int):
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._unread = b""
        self._last_id = 0
        self.listeners: dict[str | None, Callable[[Event], None]] = {}

    def send(self, method: str, parameters: Event | None = None, session: str | None = None) -> int:
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters or {}}
        text = json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
        while text:
            text = text[os.write(self._to_browser, text) :]
        return self._last_id

    def call(self, method: str, parameters: Event | None = None, session: str | None = None) -> Event:
        """Returns the result of a command. Events that come before it go to their listeners."""
        number = self.send(method, parameters, session)
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            message = self._receive(deadline, method)
            if message.get("id") == number:
                if "error" in message:
                    raise PageFailed(f"{method}: {message['error']}")
                return message["result"]
            self._dispatch(message)

    def dispatch_until(self, condition: Callable[[], bool], what: str) -> None:
        """Handles events until one of them has made the condition true."""
        deadline = time.monotonic() + ANSWER_SECONDS
        while not condition():
            self._dispatch(self._receive(deadline, what))

    def _dispatch(self, message: Event) -> None:
        if "method" in message and (listener := self.listeners.get(message.get("sessionId"))):
            listener(message)

    def _receive(self, deadline: float, what: str) -> Event:
        while b"\0" not in self._unread:
            if not select.select([self._from_browser], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise BrowserSilent(f"{what}: the browser has not answered within {ANSWER_SECONDS} seconds")
            data = os.read(self._from_browser, 1 << 20)
            if not data:
                raise PageFailed(f"{what}: the browser is gone")
            self._unread += data
        text, _, self._unread = self._unread.partition(b"\0")
        return json.loads(text)


@dataclass
class Exchange:
    """A request of a page, with its answer or error."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes = b""
    is_preflight: bool = False
    status: int | None = None
    answer_headers: dict[str, str] = field(default_factory=dict)
    protocol: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Refusal:
    """A refusal in the server's name, with the header fields that pages of other origins may read."""

    status: int
    code: str
    retry_after: int | None = None

    def parameters(self, request: Event) -> Event:
        origin = request["headers"].get("Origin") or request["headers"].get("origin", "*")
        fields = {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "X-Error-Code, Retry-After",
            "X-Error-Code": self.code,
        }
        if self.retry_after is not None:
            fields["Retry-After"] = str(self.retry_after)
        body = json.dumps({"code": self.code, "detail": "A refusal of this test."}).encode()
        return {
            "responseCode": self.status,
            "responseHeaders": [{"name": name, "value": value} for name, value in fields.items()],
            "body": base64.b64encode(body).decode(),
        }


@dataclass(frozen=True)
class ProxyAnswer(Refusal):
    """An answer of a proxy in place of the server, without the server's code. With 204 it has no body."""

    code: str = ""

    def parameters(self, request: Event) -> Event:
        parameters = super().parameters(request)
        fields = [field for field in parameters["responseHeaders"] if field["name"].startswith("Access-")]
        body = b"" if self.status == 204 else b"<html>Sign in to this network</html>"
        return parameters | {"responseHeaders": fields, "body": base64.b64encode(body).decode()}


class Page:
    """One tab with its own profile, and a record of all its requests."""

    def __init__(self, connection: Connection, context: str):
        self._connection = connection
        self.console: list[str] = []
        self._exchanges: dict[str, Exchange] = {}
        self._is_loaded = False
        self._extra: dict[str, dict[str, str]] = {}
        self._handle: Callable[[Event], Refusal | bool | None] = lambda _: True
        target = connection.call("Target.createTarget", {"url": "about:blank", "browserContextId": context})["targetId"]
        attached = connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]
        connection.listeners[self._session] = self._take
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, parameters: Event | None = None) -> Event:
        return self._connection.call(method, parameters, self._session)

    def inject(self, script: str) -> None:
        """Runs a script in every document of this page, before the document's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def open(self, url: str) -> None:
        """Goes to a page, and waits until its document and its scripts are loaded."""
        self._is_loaded = False
        result = self.call("Page.navigate", {"url": url})
        assert not result.get("errorText"), f"{url}: {result['errorText']}"
        self._connection.dispatch_until(lambda: self._is_loaded, url)

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression. A promise is awaited."""
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        try:
            result = self.call("Runtime.evaluate", parameters)
        except BrowserSilent as silence:
            state = self.call("Runtime.evaluate", {"expression": STATE, "returnByValue": True})["result"].get("value")
            requests = [
                (one.method, one.url, one.status, one.error)
                for one in self._exchanges.values()
                if not one.url.startswith("data:")
            ]
            raise PageFailed(
                f"{expression} has not come to an end; page: {state}; console: {self.console}; requests: {requests}"
            ) from silence
        if details := result.get("exceptionDetails"):
            description = details.get("exception", {}).get("description") or details["text"]
            raise PageFailed(f"{expression}: {description}; console: {self.console}")
        return result["result"].get("value")

    def tell(self, expression: str) -> None:
        """Evaluates an expression without waiting for its value."""
        self._connection.send("Runtime.evaluate", {"expression": expression}, self._session)

    def screenshot(self, place: dict[str, float]) -> str:
        """Returns a PNG of a part of the page, in Base64."""
        return self.call("Page.captureScreenshot", {"format": "png", "clip": place | {"scale": 1}})["data"]

    def hold(self, pattern: str, before: Callable[[], None]) -> None:
        """Delays each request to a matching URL until `before` has returned."""
        self._intercept(pattern, "Request", lambda _: before())

    def lose_answers(self, pattern: str, count: int) -> list[dict[str, str]]:
        """Drops the first `count` answers to POST before they reach the page.

        Returns a list to which the header fields of every answer are added.
        """
        answers: list[dict[str, str]] = []

        def take(event: Event) -> bool:
            if event["request"]["method"] != "POST":
                return True
            answers.append({field["name"].lower(): field["value"] for field in event["responseHeaders"]})
            return len(answers) > count

        self._intercept(pattern, "Response", take)
        return answers

    def script_server(self, pattern: str, script: Callable[[Event], "Refusal | bool | None"]) -> None:
        """Decides about each POST: the server answers it, it is lost (`False`), or it is refused in its name."""

        def decide(event: Event) -> "Refusal | bool | None":
            return script(event["request"]) if event["request"]["method"] == "POST" else True

        self._intercept(pattern, "Request", decide)

    def _intercept(self, pattern: str, stage: str, handle: Callable[[Event], "Refusal | bool | None"]) -> None:
        """Passes requests or their answers to `handle`, depending on `stage`. If it returns `False`, they are lost."""
        self._handle = handle
        self.call("Fetch.enable", {"patterns": [{"urlPattern": pattern, "requestStage": stage}]})

    def exchanges(self, path: str, method: str = "POST") -> list[Exchange]:
        """Returns the page's requests to a path, without preflights, each with its final status."""
        return [
            exchange
            for exchange in self._exchanges.values()
            if exchange.method == method and path in exchange.url and not exchange.is_preflight
        ]

    def preflights(self, path: str) -> list[Exchange]:
        return [exchange for exchange in self._exchanges.values() if exchange.is_preflight and path in exchange.url]

    def headers_sent(self, exchange: Exchange) -> dict[str, str]:
        """Returns all header fields that were sent, with cookies, and with names in lower case."""
        (number,) = [number for number, one in self._exchanges.items() if one is exchange]
        self._connection.dispatch_until(lambda: number in self._extra, "the header fields of a request")
        return self._extra[number]

    # --- Events ------------------------------------------------------------------------------------------------------

    def _take(self, message: Event) -> None:
        event = message["params"]
        match message["method"]:
            case "Page.loadEventFired":
                self._is_loaded = True
            case "Network.requestWillBeSent":
                self._take_request(event)
            case "Network.requestWillBeSentExtraInfo":
                self._extra[event["requestId"]] = {name.lower(): value for name, value in event["headers"].items()}
            case "Network.responseReceived" if exchange := self._exchanges.get(event["requestId"]):
                response = event["response"]
                exchange.status = response["status"]
                exchange.protocol = response.get("protocol")
                exchange.answer_headers = {name.lower(): value for name, value in response["headers"].items()}
            case "Network.loadingFailed" if exchange := self._exchanges.get(event["requestId"]):
                exchange.error = event["errorText"]
            case "Runtime.consoleAPICalled":
                self.console.append(" ".join(str(one.get("value", one.get("description"))) for one in event["args"]))
            case "Runtime.exceptionThrown":
                self.console.append(json.dumps(event["exceptionDetails"])[:1000])
            case "Fetch.requestPaused":
                parameters = {"requestId": event["requestId"]}
                decision = self._handle(event)
                method = "Fetch.continueRequest"
                if isinstance(decision, Refusal):
                    method, parameters = "Fetch.fulfillRequest", parameters | decision.parameters(event["request"])
                elif decision is False:
                    method, parameters = "Fetch.failRequest", parameters | {"errorReason": "ConnectionReset"}
                self._connection.send(method, parameters, self._session)

    def _take_request(self, event: Event) -> None:
        request = event["request"]
        self._exchanges[event["requestId"]] = Exchange(
            method=request["method"],
            url=request["url"],
            headers={name.lower(): value for name, value in request["headers"].items()},
            body=b"".join(base64.b64decode(part.get("bytes", "")) for part in request.get("postDataEntries", [])),
            is_preflight=event["initiator"]["type"] == "preflight",
        )


class Browser:
    def __init__(self, connection: Connection):
        self._connection = connection
        self.version = connection.call("Browser.getVersion")["product"]

    @contextmanager
    def page(self) -> Iterator[Page]:
        """A page that shares no cookie, cache or storage with another."""
        context = self._connection.call("Target.createBrowserContext")["browserContextId"]
        try:
            yield Page(self._connection, context)
        finally:
            self._connection.call("Target.disposeBrowserContext", {"browserContextId": context})


@contextmanager
def running_browser(program: str, folder: Path, trusted_keys: list[str]) -> Iterator[Browser]:
    """Runs Chromium with its profile and log in a folder.

    `trusted_keys` are hashes of TLS keys that it trusts without a certificate authority.
    """
    to_browser = os.pipe()
    from_browser = os.pipe()
    # Chromium reads commands from descriptor 3, and writes to descriptor 4.
    command = [
        *(
            "bash",
            "-c",
            'exec 3<&"$0" 4>&"$1"; shift; exec "$@"',
            str(to_browser[0]),
            str(from_browser[1]),
            "--",
            program,
        ),
        *(*OPTIONS, f"--user-data-dir={folder / 'profile'}"),
        *(f"--ignore-certificate-errors-spki-list={','.join(trusted_keys)}", "about:blank"),
    ]
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(to_browser[0], from_browser[1]),
            env=os.environ | {"HOME": str(folder), "LC_ALL": "C.UTF-8"},
        )
    os.close(to_browser[0])
    os.close(from_browser[1])
    try:
        yield Browser(Connection(to_browser[1], from_browser[0]))
    except PageFailed as failure:
        failure.add_note((folder / "browser.log").read_text(errors="replace")[-2000:])
        raise
    finally:
        os.close(to_browser[1])
        os.close(from_browser[0])
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
