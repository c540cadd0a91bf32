"""A daemon with every route served, its two descriptions, and what it takes to ask each route with good credentials."""

import base64
import functools
import json
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from openapi_schema_validator import OAS31Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import expressplay
from deployment import Deployment, deployment_of
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, running_daemon

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
DESCRIPTION_PATH = "/openapi.json"
DESCRIPTION = "urn:latchkey:description"
# What wrong secrets are slowed down by is tested elsewhere; here no rate is to hide an answer.
RATES = {"rates": {name: {"perSecond": 100_000, "burst": 100_000} for name in ("perAddress", "perSubject")}}


class Description:
    """A description as a listener gives it."""

    def __init__(self, document: dict):
        self.document = document
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        self._registry = Registry().with_resource(DESCRIPTION, resource)

    @property
    def operations(self) -> dict[tuple[str, str], dict]:
        """Every operation by its method and path."""
        return {
            (method.upper(), path): item[method]
            for path, item in self.document["paths"].items()
            for method in METHODS
            if method in item
        }

    def at(self, part: dict) -> dict:
        """The part itself, or the one that it refers to."""
        while "$ref" in part:
            _, *names = part["$ref"].split("/")
            part = functools.reduce(lambda found, name: found[name], names, self.document)
        return part

    def faults(self, schema: dict, value: object) -> list[str]:
        """What a schema of the description finds wrong with a value."""
        # A reference within the schema is one within the description.
        absolute = json.loads(json.dumps(schema).replace('"$ref": "#/', f'"$ref": "{DESCRIPTION}#/'))
        validator = OAS31Validator(absolute, registry=self._registry, format_checker=OAS31Validator.FORMAT_CHECKER)
        return [error.message for error in validator.iter_errors(value)]

    def assert_describes(self, method: str, path: str, answer: Answer) -> None:
        """The answer of an operation has a status, fields, a media type and a body that the description names."""
        operation = self.operations[method, path]
        where = f"{method} {path}: {answer.status} {answer.body[:300]!r}"
        assert str(answer.status) in operation["responses"], where
        response = self.at(operation["responses"][str(answer.status)])
        for name, header in response.get("headers", {}).items():
            header = self.at(header)
            # Some come twice: a challenge for each scheme.
            values = [value for key, value in answer.headers if key.lower() == name.lower()]
            assert values or not header.get("required"), f"{name} is missing: {where}"
            for value in values:
                number = header["schema"].get("type") == "integer"
                assert not self.faults(header["schema"], int(value) if number else value), f"{name}: {value}: {where}"
        code = answer.header("X-Error-Code")
        if code is not None and not code.startswith("-"):
            assert code in operation.get("x-error-codes", []) + self.document["x-error-codes-of-http"], where
        if method == "HEAD" or answer.status in (204, 304):
            assert answer.body == b"", where
            return
        kind = answer.header("Content-Type")
        content = {name.replace(" ", ""): part for name, part in response["content"].items()}
        assert kind is not None and kind.replace(" ", "") in content, f"{kind}: {where}"
        schema = content[kind.replace(" ", "")]["schema"]
        is_json = kind.split(";")[0].endswith("json")
        value = json.loads(answer.body) if is_json else answer.body.decode("latin-1")
        assert not self.faults(schema, value), f"{self.faults(schema, value)}: {where}"


@dataclass(frozen=True)
class Lab:
    daemon: OwnDaemon
    deployment: Deployment
    public: Description
    complete: Description

    @property
    def admin_url(self) -> str:
        return "http://{}:{}".format(*self.daemon.admin)

    def secret(self, name: str) -> str:
        return (self.daemon.setup / "secrets" / name).read_text().strip()

    @property
    def admin_token(self) -> str:
        return self.secret("admin-token")

    @property
    def packager(self) -> str:
        return "Basic " + base64.b64encode(f"development:{self.secret('packager')}".encode()).decode()

    def token(self, *options: str) -> str:
        return self.deployment.mint(*options)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | dict | list | None = None,
        query: dict[str, str] | None = None,
        at: dict[str, str] | None = None,
        authorization: str | None = None,
        **headers: str,
    ) -> Answer:
        """Asks a route by its path in the description; the answer must be one that the description has."""
        description = self.complete
        target = path
        for name, value in (at or {}).items():
            target = target.replace(f"{{{name}}}", value)
        if query:
            target += "?" + urlencode(query)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if authorization:
            fields["Authorization"] = authorization
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            fields.setdefault("Content-Type", "application/json")
        is_admin = description.document["paths"][path]["x-listeners"] == ["admin"]
        client = LicenseClient(self.admin_url if is_admin else self.daemon.url)
        try:
            answer = client.send(method, target, body, fields)
        finally:
            client.close()
        description.assert_describes(method, path, answer)
        return answer


@contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    with running_daemon(folder, limits=RATES, prepare=expressplay.prepare) as daemon:
        token = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        public = _description(daemon.url)
        complete = _description("http://{}:{}".format(*daemon.admin), {"Authorization": f"Bearer {token}"})
        yield Lab(daemon, deployment_of(daemon.url, daemon.setup), public, complete)


def _description(url: str, headers: dict[str, str] | None = None) -> Description:
    client = LicenseClient(url)
    try:
        answer = client.send("GET", DESCRIPTION_PATH, headers=headers)
    finally:
        client.close()
    assert answer.status == 200 and answer.header("Content-Type") == "application/json", answer
    return Description(json.loads(answer.body))


def new_content() -> str:
    return f"movie-{secrets.token_hex(6)}"


def new_message_id() -> str:
    return str(uuid.uuid4())
