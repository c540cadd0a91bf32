"""The daemons under test, which the environment names, and what a client knows of them.

    LATCHKEY_BIN                 the program `latchkey`, to register keys and to mint tokens with
    LATCHKEY_URL                 base address, plain HTTP
    LATCHKEY_SETUP               folder that `latchkey init` made; its credential serves SPC version 3
    LATCHKEY_PID                 process of the daemon on this machine; may be absent
    LATCHKEY_OTHER_URL, _SETUP   a second daemon, without SPC version 3
"""

import json
import os
import re
import secrets
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec

import tokens
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential, read_device_credential
from fairplay_device.spc import Device, RequestSecrets, SPCOptions
from license_client import Answer, LicenseClient
from license_policy import ContentKey, Right
from secret_watch import WATCH
from workbench import Outcome

# What Swift writes of a value by reflection: `Module.Type.name`, `name(label: …)`, `name(Type.other)`, `camelCase`.
DUMPS = re.compile(
    r"\b[A-Z]\w+\.[A-Z]\w+\.\w+|\b[a-z]+[A-Z]\w*\(|\b[a-z]\w*\((?:[a-z]\w*: |[A-Z]\w+\.)"
    r"|^[a-z]+[A-Z]\w*$|: [a-z]+[A-Z]\w*$"
)
UNAUTHORISED_TYPE = "https://dashif.org/drm-problems/insufficient-proof-of-authorization"
COMMAND_SECONDS = 120


@dataclass(frozen=True)
class ProcessSample:
    """What the system said of a process at one moment.

    The start time tells it from a later process with the same id.
    """

    process: int
    start_time: str
    resident_bytes: int


def sample_process(process: int) -> ProcessSample:
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    resident = next(line for line in status if line.startswith("VmRSS:")).split()[1]
    return ProcessSample(process, start_time=after_name[19], resident_bytes=int(resident) * 1024)


@dataclass(frozen=True)
class Deployment:
    """One daemon, its credential, a content with one key, and a token for it.

    `process_before` describes its process before the first fault was sent. It is `None` if the daemon is not on this
    machine.
    """

    client: LicenseClient
    setup: Path
    content: str
    key: ContentKey
    token: str
    credential: Credential
    signing_key: ec.EllipticCurvePrivateKey
    process_before: ProcessSample | None = None

    @property
    def asset_id(self) -> bytes:
        return self.content.encode()

    def mint(self, *options: str) -> str:
        """Mints a token for the content with `latchkey token mint`."""
        return run_latchkey(self.setup, "token", "mint", "--content", self.content, *options).strip()

    def token_for(self, right: Right, content: str | None = None, subject: str | None = None) -> str:
        """A token for one right, signed with the issuer's key."""
        claims = {"content": content or self.content} | right.claims
        return tokens.with_rights(self.token, self.signing_key, [claims], subject)

    def open(self, answer: Answer, request_secrets: RequestSecrets, key: ContentKey | None = None) -> OpenedCKC:
        """Opens the CKC of an answer. Fails if the answer is not a license for the key."""
        assert answer.status == 200, f"{answer.status} {answer.body!r}"
        assert answer.header("Content-Type") == "application/octet-stream"
        assert answer.header("X-Request-Id")
        assert answer.header("X-Error-Code") is None
        opened = open_ckc(answer.body, request_secrets)
        expected = key or self.key
        assert opened.content_key == expected.key
        assert opened.content_iv == expected.iv
        return opened

    def license(
        self, device: Device, options: SPCOptions, token: str | None = None, *, offline: bool = False
    ) -> OpenedCKC:
        context = device.request(options)
        answer = self.client.license(context.message, token or self.token, offline=offline)
        return self.open(answer, context.secrets)

    def register(self, content: str, key: ContentKey) -> None:
        register(self.setup, content, key)


def run_latchkey(setup: Path, *arguments: str) -> str:
    """Runs `latchkey` with the configuration of a set-up, while its daemon serves, and returns its output."""
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], *arguments, "--config", str(setup / "latchkey.json5")],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def register(setup: Path, content: str, key: ContentKey) -> None:
    """Stores a key for a content."""
    WATCH.note("a content key", key.key)
    WATCH.note("the IV of a content key", key.iv)
    wishes = {
        "--track": key.track,
        "--content-type": key.content_type,
        "--hdcp": key.demand.hdcp,
        "--security-level": key.demand.security_level,
    }
    run_latchkey(
        setup,
        *("keys", "import", "--content", content, "--kid", str(uuid.UUID(bytes=key.key_id))),
        *("--key", key.key.hex(), "--iv", key.iv.hex()),
        *(word for name, value in wishes.items() if value is not None for word in (name, value)),
    )


def deployment_of(url: str, setup: Path) -> Deployment:
    """Describes the daemon at this URL, and registers a content with a name that was not used before."""
    content = f"interop-{secrets.token_hex(6)}"
    key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    register(setup, content, key)
    return Deployment(
        client=LicenseClient(url),
        setup=setup,
        content=content,
        key=key,
        token=run_latchkey(setup, "token", "mint", "--content", content).strip(),
        credential=read_device_credential(setup / "fairplay"),
        signing_key=tokens.read_signing_key(setup / "secrets" / "token-signing-key.pem"),
    )


def assert_problem(answer: Answer, *expected: Outcome) -> None:
    """Fails if the answer is not one of the expected refusals, or lacks a member that every refusal has."""
    assert Outcome(answer.status, answer.code) in expected, answer.body
    assert answer.header("Content-Type") == "application/problem+json"
    problem = answer.problem
    assert problem["status"] == answer.status
    assert problem["code"] == answer.code
    assert problem["type"] in (f"urn:latchkey:error:{answer.code}", UNAUTHORISED_TYPE)
    assert problem["request_id"] == answer.header("X-Request-Id")
    for member in ("title", "detail", "request_id", "server_time"):
        assert problem.get(member), f"no {member} in {answer.body!r}"
    for member in ("title", "detail", "hint"):
        assert not DUMPS.search(str(problem.get(member, ""))), f"a value of the source in {answer.body!r}"


def json_of(answer: Answer) -> dict[str, object]:
    """The members of a successful answer that has JSON data instead of a CKC."""
    assert answer.status == 200, f"{answer.status} {answer.body!r}"
    assert answer.header("Content-Type") == "application/json"
    assert answer.header("X-Request-Id")
    return json.loads(answer.body)
