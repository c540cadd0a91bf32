"""The Python key server as an HTTP server on a free loopback port, for a device that another program implements.

    POST /fps/license             takes an SPC; answers a CKC, or a description of the SPC if it is a sync request
    POST /fps/license?offline=1   takes an SPC; answers a CKC to be kept (`offline=true` means the same)
    POST /fps/challenge           answers a challenge for one sync request
"""

import datetime
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from fairplay_device.facts import SyncV1, SyncV2
from fairplay_device.key_server import KeyServer, OpenedSPC
from fairplay_device.license import License
from fairplay_device.refusal import Refusal
from license_policy import ContentKey, Policy, Refused, Right, decide, sync_answer

BODY_SIZE_MAXIMUM = 65536
LICENSE_PATH = "/fps/license"
CHALLENGE_PATH = "/fps/challenge"
CHALLENGE_LIFE_SECONDS = 300
# Takes the opened request and whether it asks for a license to be kept. Raises `Refused`.
Grant = Callable[[OpenedSPC, bool], License]


def always(license: License) -> Grant:
    return lambda opened, offline: license


def by_right(right: Right, key: ContentKey, policy: Policy = Policy()) -> Grant:
    return lambda opened, offline: decide(opened, right, key, policy, offline=offline)


@dataclass(frozen=True)
class Reply:
    status: int
    content_type: str
    body: bytes
    code: str | None = None

    @classmethod
    def json(cls, members: dict[str, object]) -> "Reply":
        return cls(200, "application/json", json.dumps(members).encode())

    @classmethod
    def problem(cls, status: int, code: str) -> "Reply":
        members = {"type": f"urn:latchkey:error:{code}", "title": code, "status": status, "code": code}
        return cls(status, "application/problem+json", json.dumps(members).encode(), code)


@dataclass
class LicenseServer:
    """Answers as `grant` decides, and records the requests.

    `seal` makes the CKC, and `status` is the status of the answer with it. Replace them to make a faulty answer.
    """

    key_server: KeyServer
    grant: Grant
    seal: Callable[[KeyServer, OpenedSPC, License], bytes] = KeyServer.answer
    status: int = 200
    opened: list[OpenedSPC] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    challenges: set[int] = field(default_factory=set)

    def respond(self, target: str, body: bytes, authorization: str | None) -> Reply:
        self.targets.append(target)
        self.authorizations.append(authorization)
        parts = urlsplit(target)
        if parts.path == CHALLENGE_PATH:
            return self._issue_challenge()
        if parts.path != LICENSE_PATH:
            return Reply.problem(404, "not_found")
        offline = parse_qs(parts.query).get("offline", [""])[-1] in ("1", "true")
        return self._answer_spc(body, offline)

    def _answer_spc(self, message: bytes, offline: bool) -> Reply:
        self.messages.append(message)
        try:
            opened = self.key_server.open(message)
        except Refusal as refusal:
            self.refusals.append(refusal)
            return Reply.problem(refusal.status, refusal.code)
        self.opened.append(opened)
        if opened.sync_request is not None:
            return self._answer_sync(opened.sync_request)
        try:
            license = self.grant(opened, offline)
        except Refused as refused:
            return Reply.problem(403, min(refused.codes))
        return Reply(self.status, "application/octet-stream", self.seal(self.key_server, opened, license))

    def _issue_challenge(self) -> Reply:
        challenge = self.key_server.randomness.randint(1, (1 << 64) - 1)
        self.challenges.add(challenge)
        return Reply.json({"challenge": f"{challenge:016x}", "expiresIn": CHALLENGE_LIFE_SECONDS})

    def _answer_sync(self, request: SyncV1 | SyncV2) -> Reply:
        challenge = request.challenge if isinstance(request, SyncV2) else 0
        if challenge != 0 and challenge not in self.challenges:
            return Reply.problem(409, "spc_replayed")
        self.challenges.discard(challenge)
        now = datetime.datetime.now(datetime.timezone.utc)
        return Reply.json(sync_answer(request, now, challenge_accepted=challenge != 0))

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serves inside the context, which yields the URL of the license route."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Sends head and body in one segment, because a second segment would wait for a delayed acknowledgement.
            wbufsize = -1

            def do_POST(self) -> None:
                size = min(int(self.headers.get("Content-Length") or 0), BODY_SIZE_MAXIMUM)
                reply = outer.respond(self.path, self.rfile.read(size), self.headers.get("Authorization"))
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body)))
                if reply.code is not None:
                    self.send_header("X-Error-Code", reply.code)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *arguments: object) -> None:
                """Writes no access log, because the tests report what matters."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{LICENSE_PATH}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
