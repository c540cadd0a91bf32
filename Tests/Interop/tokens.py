"""Tokens made from a valid token: with other claims or another header, and with a new signature or not."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

# Past every clock leeway that a daemon may allow (60 seconds at most).
EXPIRED_BY_SECONDS = 600


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def header_and_claims(token: str) -> tuple[dict[str, object], dict[str, object]]:
    header, claims, _ = token.split(".")
    return json.loads(decode(header)), json.loads(decode(claims))


def signing_input(header: dict[str, object], claims: dict[str, object]) -> str:
    return ".".join(encode(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))


def sign_es256(header: dict[str, object], claims: dict[str, object], key: ec.EllipticCurvePrivateKey) -> str:
    """A compact JWS; its signature is r and s, 32 bytes each."""
    text = signing_input(header, claims)
    r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{text}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def read_signing_key(file: Path) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(file.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{file} holds no elliptic-curve key")
    return key


def expired(token: str, key: ec.EllipticCurvePrivateKey) -> str:
    """The same token with all its times shifted into the past, so that it has expired."""
    header, claims = header_and_claims(token)
    shift = int(claims["exp"]) - (int(time.time()) - EXPIRED_BY_SECONDS)
    earlier = {name: claims[name] - shift for name in ("iat", "nbf", "exp") if name in claims}
    return sign_es256(header, claims | earlier, key)


def with_rights(
    token: str, key: ec.EllipticCurvePrivateKey, rights: list[dict[str, object]], subject: str | None = None
) -> str:
    """The same token with other rights, and with another subject if one is given."""
    header, claims = header_and_claims(token)
    changed = {"rights": rights} | ({} if subject is None else {"sub": subject})
    return sign_es256(header, claims | changed, key)


def with_header(token: str, key: ec.EllipticCurvePrivateKey, **members: object) -> str:
    """The same token with a valid signature and other members in its header."""
    header, claims = header_and_claims(token)
    return sign_es256(header | members, claims, key)


def unsigned(token: str) -> str:
    """The same token with `alg` none and an empty signature."""
    header, claims = header_and_claims(token)
    return signing_input(header | {"alg": "none"}, claims) + "."


def signed_with_public_key_as_secret(token: str, key: ec.EllipticCurvePrivateKey) -> str:
    """The same token signed with HS256. Its secret is the text of the public key, which is not secret."""
    header, claims = header_and_claims(token)
    text = signing_input(header | {"alg": "HS256"}, claims)
    secret = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return f"{text}.{encode(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def with_altered_signature(token: str) -> str:
    text, _, signature = token.rpartition(".")
    altered = bytearray(decode(signature))
    altered[20] ^= 0x01
    return f"{text}.{encode(bytes(altered))}"


def with_altered_claims(token: str) -> str:
    """The same token with a later end, and the signature of the original."""
    header, claims = header_and_claims(token)
    altered = claims | {"exp": int(claims["exp"]) + 60}
    return f"{signing_input(header, altered)}.{token.rpartition('.')[2]}"
