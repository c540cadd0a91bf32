"""Makes a token for one content: python3 mint.py KEY KID ISSUER CONTENT SUBJECT. Needs the package `cryptography`."""

import base64
import json
import sys
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def mint(key: ec.EllipticCurvePrivateKey, kid: str, issuer: str, content: str, subject: str) -> str:
    now = int(time.time())
    header = {"alg": "ES256", "typ": "JWT", "kid": kid}
    claims = {
        "iss": issuer, "aud": "latchkey", "sub": subject, "iat": now, "exp": now + 300,
        "rights": [{"content": content, "lease": 300}],
    }  # fmt: skip
    signed = ".".join(encoded(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
    # OpenSSL writes DER. A JWT has r and s, 32 bytes each.
    r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(SHA256())))
    return f"{signed}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


if __name__ == "__main__":
    if len(sys.argv) != 6:
        print("usage: python3 mint.py KEY KID ISSUER CONTENT SUBJECT", file=sys.stderr)
        sys.exit(2)
    file, kid, issuer, content, subject = sys.argv[1:]
    print(mint(load_pem_private_key(Path(file).read_bytes(), None), kid, issuer, content, subject))
