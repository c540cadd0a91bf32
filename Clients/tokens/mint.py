import time
from pathlib import Path

import jwt  # PyJWT, with the package cryptography

key = Path("portal-key.pem").read_text()
now = int(time.time())  # seconds since 1970
claims = {
    "iss": "https://portal.example", "aud": "latchkey", "sub": "viewer-7", "iat": now, "exp": now + 300,
    "rights": [{"content": "movie-42", "lease": 300}],
}  # fmt: skip
print(jwt.encode(claims, key, algorithm="ES256", headers={"kid": "portal-1"}))
