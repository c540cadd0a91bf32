"""Issuers of every dialect: their keys, which jwcrypto makes, and their entries in a daemon's configuration.

Tokens are signed by PyJWT and by jwcrypto, and sealed by `cryptography`. This module shares no code with the daemon.
"""

import json
import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from jwcrypto import jwk, jws

import tokens

ALGORITHMS = ("ES256", "EdDSA", "RS256", "HS256")
LEEWAY_SECONDS = 30
LIFE_SECONDS = 3600
AUDIENCE = "latchkey"
KEY_PARAMETERS = {
    "ES256": {"kty": "EC", "crv": "P-256"},
    "EdDSA": {"kty": "OKP", "crv": "Ed25519"},
    "RS256": {"kty": "RSA", "size": 2048},
    "HS256": {"kty": "oct", "size": 256},
}


@dataclass(frozen=True)
class SigningKey:
    """A key with its issuer's `kid`. The `members` of its JWK say whether it is in use, and since when."""

    kid: str
    algorithm: str
    pair: jwk.JWK
    members: dict[str, object] = field(default_factory=dict)

    @staticmethod
    def make(kid: str, algorithm: str, **members: object) -> "SigningKey":
        return SigningKey(kid, algorithm, jwk.JWK.generate(kid=kid, **KEY_PARAMETERS[algorithm]), members)

    @property
    def for_verifiers(self) -> dict[str, object]:
        exported = self.pair.export_symmetric() if self.algorithm == "HS256" else self.pair.export_public()
        return json.loads(exported) | {"alg": self.algorithm} | self.members

    @property
    def public_pem(self) -> bytes:
        return self.pair.export_to_pem()

    def signature(self, text: bytes, algorithm: str | None = None) -> bytes:
        """A signature by PyJWT over any bytes."""
        signer = jwt.get_algorithm_by_name(algorithm or self.algorithm)
        raw = tokens.decode(json.loads(self.pair.export())["k"]) if self.algorithm == "HS256" else None
        key = raw if raw is not None else self.pair.export_to_pem(private_key=True, password=None)
        return signer.sign(text, signer.prepare_key(key))

    def sign(self, claims: dict[str, object], **header: object) -> str:
        """A compact token; a header member that is None is left out."""
        members = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT"} | header
        return self.sign_text({name: value for name, value in members.items() if value is not None}, claims)

    def sign_text(self, header: object, payload: object) -> str:
        """A compact token of a header and a payload, each of which may already be JSON text."""
        parts = [part if isinstance(part, str) else json.dumps(part) for part in (header, payload)]
        text = ".".join(tokens.encode(part.encode()) for part in parts)
        return f"{text}.{tokens.encode(self.signature(text.encode()))}"

    def sign_with_jwcrypto(self, claims: dict[str, object]) -> str:
        token = jws.JWS(json.dumps(claims))
        protected = {"alg": self.algorithm, "kid": self.kid}
        token.add_signature(self.pair, protected=json.dumps(protected))
        return token.serialize(compact=True)


@dataclass(frozen=True)
class Issuers:
    """Four issuers, one for each dialect."""

    content: str
    key_id: str
    native: dict[str, SigningKey]
    stranger: dict[str, SigningKey]
    states: dict[str, SigningKey]
    nagra: SigningKey
    axinom: SigningKey
    sealing: bytes

    ISSUER = "https://portal.example"
    SEALING_KEY_ID = 7

    @staticmethod
    def make(content: str, key_id: str) -> "Issuers":
        now = int(time.time())
        return Issuers(
            content=content,
            key_id=key_id,
            native={name: SigningKey.make(f"native-{name}", name) for name in ALGORITHMS},
            stranger={name: SigningKey.make(f"native-{name}", name) for name in ALGORITHMS},
            states={
                "next": SigningKey.make("next", "ES256", state="next"),
                "retiring": SigningKey.make("retiring", "EdDSA", state="retiring", exp=now + 86_400),
                "retired": SigningKey.make("retired", "ES256", state="retiring", exp=now - 1),
                "expired": SigningKey.make("expired", "HS256", exp=now - 1),
                "revoked": SigningKey.make("revoked", "HS256", state="revoked"),
                "withdrawn": SigningKey.make("withdrawn", "RS256", revoked={"revoked_at": now}),
            },
            nagra=SigningKey.make("nagra-credential", "HS256"),
            axinom=SigningKey.make("6a1c7a4c-0f35-4a9b-9d5c-6d7f2d6f3a11", "HS256"),
            sealing=secrets.token_bytes(32),
        )

    def write(self, setup: Path) -> None:
        """Adds the keys to a set-up's secrets, and the issuers to its configuration before its own issuer."""
        folder = setup / "secrets"
        sets = {
            "native": [*self.native.values(), *self.states.values()],
            "nagra": [self.nagra],
            "axinom": [self.axinom],
        }
        for name, keys in sets.items():
            _write_secret(folder / f"{name}.json", json.dumps({"keys": [key.for_verifiers for key in keys]}).encode())
        _write_secret(folder / "sealing", self.sealing.hex().encode())
        entries = [
            {"issuer": self.ISSUER, "audience": AUDIENCE, "keysFile": "secrets/native.json"},
            {"issuer": "nagra", "dialect": "nagra", "keysFile": "secrets/nagra.json"},
            {"issuer": "axinom", "dialect": "axinom", "keysFile": "secrets/axinom.json"},
            {
                "issuer": "expressplay",
                "dialect": "expressplay",
                "keys": [{"kid": str(self.SEALING_KEY_ID), "algorithm": "A256GCM", "key": "secrets/sealing"}],
            },
        ]
        listed = "".join(json.dumps(entry | {"maximumLife": f"{LIFE_SECONDS}s"}) + ", " for entry in entries)
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        changed = text.replace("issuers: [", f'leeway: "{LEEWAY_SECONDS}s", issuers: [{listed}', 1)
        assert changed != text
        configuration.write_text(changed)

    # --- Good tokens -------------------------------------------------------------------------------------------------

    def claims(self, **changes: object) -> dict[str, object]:
        """The native claims of a valid token with these changes. A claim that is changed to None is left out."""
        now = int(time.time())
        good = {
            "iss": self.ISSUER, "aud": AUDIENCE, "sub": "account-123", "jti": secrets.token_hex(8),
            "iat": now, "nbf": now, "exp": now + 300, "rights": [{"content": self.content}],
        }
        return _without_nothing(good | changes)

    def nagra_claims(self, **changes: object) -> dict[str, object]:
        good = {
            "typ": "ContentAuthZ", "ver": "1.0", "exp": int(time.time()) + 300,
            "contentRights": [{"contentId": self.content}],
        }
        return _without_nothing(good | changes)

    def axinom_claims(self, message: dict[str, object] | None = None, **changes: object) -> dict[str, object]:
        now = time.time()
        good = {
            "version": 1, "com_key_id": self.axinom.kid, "id": "c76d9f99-dd53-46a0-8aa0-1dc8a931202d",
            "begin_date": _rfc3339(now - 5), "expiration_date": _rfc3339(now + 300),
            "message": _without_nothing(
                {
                    "type": "entitlement_message", "version": 2,
                    "license": {"duration": 3600, "allow_persistence": False},
                    "content_keys_source": {"inline": [{"id": self.key_id, "usage_policy": "Policy A"}]},
                    "content_key_usage_policies": [{"name": "Policy A", "fairplay": {"hdcp": "TYPE0"}}],
                }
                | (message or {})
            ),
        }
        return _without_nothing(good | changes)

    def sealed(self, fields: bytes | None = None, **changes: object) -> str:
        """A sealed token with the given fields, or with the fields of a valid token."""
        key = changes.get("key", self.sealing)
        number = changes.get("number", self.SEALING_KEY_ID)
        head = bytes([changes.get("version", 2), changes.get("type", 0)]) + number.to_bytes(4, "big")
        nonce = os.urandom(12)
        plain = self.sealed_fields() if fields is None else fields
        return tokens.encode(head + nonce + AESGCM(key).encrypt(nonce, plain, head + nonce))

    def sealed_fields(self, **changes: bytes | None) -> bytes:
        """The fields of a valid token with these changes: tag, size and value of each, in the order of the tags.

        A field that is changed to None is left out.
        """
        now = int(time.time())
        good = {
            "1": secrets.token_bytes(16), "2": now.to_bytes(4, "big"), "3": (now + 300).to_bytes(4, "big"),
            "16": self.content.encode(),
        }
        members = _without_nothing(good | {name.removeprefix("f"): value for name, value in changes.items()})
        return b"".join(bytes([int(tag), len(members[tag])]) + members[tag] for tag in sorted(members, key=int))


def _without_nothing(members: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _rfc3339(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))


def _write_secret(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    file.chmod(0o600)
