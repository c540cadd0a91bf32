"""Whether a secret of the tests is in what a daemon has written: its log, at debug level, and its standard output.

The tests tell which secrets there are: each set-up's files, keys that are registered, what devices make up for their
requests, and credentials that clients present. Each is searched for as it is, in hexadecimal digits of both cases, and
in both alphabets of Base64 at all three alignments, so that it is also found within a longer text that was encoded.

    python secret_watch.py DIR    search what the programs of the Swift tests wrote, which these tests have kept in DIR
"""

import base64
import binascii
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

# Of shorter values, such as the text "movie", finds would mean nothing.
SIZE_MINIMUM = 12
# Bounds the memory of a run: some tests make many thousands of requests, and the first ones stand for all.
COUNT_MAXIMUM = 40_000
# Every form has at least so many bytes, which are looked up for each place of a text.
PROBE_SIZE = 12
ENCODED = re.compile(rb"[0-9A-Za-z+/_-]{%d,}" % PROBE_SIZE)


def forms(secret: bytes) -> Iterator[bytes]:
    """Every way in which a text may have a secret."""
    yield secret
    digits = secret.hex().encode()
    yield digits
    yield digits.upper()
    for offset in range(3):
        # The first and the last character have bits of the bytes beside the secret, and do not count.
        text = base64.b64encode(bytes(offset) + secret)
        begin = -(-offset * 8 // 6)
        end = (offset + len(secret)) * 8 // 6
        inner = text[begin:end]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


class SecretWatch:
    """Secrets by the forms that they may have in a text, and the texts that daemons have written."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        # The forms that begin with a probe.
        self._encoded: dict[bytes, set[bytes]] = {}
        # Bytes that are no text have no probe: each is searched for by itself, unless a text lacks one of its bytes.
        self._raw: set[bytes] = set()
        self._logs: dict[Path, None] = {}
        self._kept: set[bytes] = set()
        self.leaks: set[str] = set()
        self.size = 0

    @property
    def count(self) -> int:
        return len(self._kept)

    def knows(self, secret: bytes) -> bool:
        return secret in self._kept

    def note(self, name: str, secret: bytes) -> None:
        """Adds a secret, unless it is too short to be told from other text, or there are too many.

        Tests also write keys of zeros, and the log has zeros too: in the checkpoint of an empty ledger.
        """
        if len(secret) < SIZE_MINIMUM or len(set(secret)) == 1:
            return
        if secret in self._kept or len(self._kept) >= COUNT_MAXIMUM:
            return
        self._kept.add(secret)
        for form in forms(secret):
            self._names.setdefault(form, name)
            probe = form[:PROBE_SIZE]
            if ENCODED.fullmatch(probe):
                self._encoded.setdefault(probe, set()).add(form)
            else:
                self._raw.add(form)

    def note_text(self, name: str, text: str) -> None:
        """Adds a secret text, and the bytes that it spells if it is hexadecimal."""
        self.note(name, text.encode())
        try:
            self.note(name, binascii.unhexlify(text))
        except (binascii.Error, ValueError):
            pass

    def note_authorization(self, value: str) -> None:
        """Adds what a header of credentials presents: of a JWT claims and signature, for its header is no secret."""
        scheme, _, credential = value.rpartition(" ")
        parts = credential.split(".")
        if scheme.lower() == "basic":
            credential = base64.b64decode(credential + "==").decode("utf-8", "replace").partition(":")[2]
            self.note_text("the secret of a packager", credential)
        elif len(parts) == 3:
            for part in parts[1:]:
                self.note("a part of a token", part.encode("utf-8", "replace"))
        else:
            self.note_text("a token", credential)

    def note_setup(self, setup: Path) -> None:
        """Adds the secrets that are files of a set-up."""
        for file in sorted((setup / "secrets").glob("*")) + sorted((setup / "fairplay").glob("*")):
            if file.is_file() and "cert" not in file.name and "bundle" not in file.name:
                self._note_file(file)

    def _note_file(self, file: Path) -> None:
        content = file.read_bytes()
        if b"PRIVATE KEY" in content:
            try:
                # The daemon has read the key already; checking that its factors are prime would take long.
                key = serialization.load_pem_private_key(content, None, unsafe_skip_rsa_key_validation=True)
            except TypeError:  # It is encrypted.
                return
            if isinstance(key, ec.EllipticCurvePrivateKey):
                number, size = key.private_numbers().private_value, (key.key_size + 7) // 8
                self.note(file.name, number.to_bytes(size, "big"))
            elif isinstance(key, rsa.RSAPrivateKey):
                numbers = key.private_numbers()
                for part in (numbers.p, numbers.q, numbers.d):
                    self.note(file.name, part.to_bytes((part.bit_length() + 7) // 8, "big"))
        elif file.suffix == ".json":
            self._note_members(file.name, json.loads(content))
        elif b"-----BEGIN" not in content:
            for line in content.decode("utf-8", "replace").split():
                self.note_text(file.name, line)

    def _note_members(self, name: str, node: object, member: str = "") -> None:
        """Adds the secrets of a set of keys. Names of keys and algorithms are none."""
        if isinstance(node, dict):
            for inner, value in node.items():
                self._note_members(name, value, inner)
        elif isinstance(node, list):
            for value in node:
                self._note_members(name, value, member)
        elif isinstance(node, str) and member in ("k", "d", "p", "q", "key", "secret", "value"):
            self.note_text(name, node)

    # --- What daemons write ------------------------------------------------------------------------------------------

    def watch(self, setup: Path, *logs: Path) -> None:
        """Adds the secrets of a set-up, and has the logs searched that its daemon will write.

        A log that is watched already is searched at once, because the daemon that starts now writes it again.
        """
        self.note_setup(setup)
        for log in logs:
            if log in self._logs:
                self._search_file(log)
            self._logs[log] = None

    def watch_kept(self, folder: Path) -> None:
        """Adds the secrets of the Swift tests, and searches what their programs have written at the end.

        The tests have kept both in the folder (Tests/TestSupport/KeptForSearch.swift).
        """
        written = sorted(folder.glob("*.written"))
        assert written, f"the Swift tests have kept nothing in {folder}"
        self._logs |= dict.fromkeys(written)
        for setup in sorted(folder.glob("*.setup")):
            self.note_setup(setup)
        for file in sorted(folder.glob("*.key")):
            for line in file.read_text().split():
                self.note_text("a content key or its IV", line)
        for file in sorted(folder.glob("*.token")):
            for line in file.read_text().split():
                self.note_authorization(f"Bearer {line}")

    def search_all(self) -> set[str]:
        """Every leak, named and not shown."""
        for log in self._logs:
            self._search_file(log)
        return self.leaks

    def _search_file(self, log: Path) -> None:
        if log.is_file():
            text = log.read_bytes()
            self.size += len(text)
            self.leaks |= {f"{name} is in {log}" for name in self.search(text)}

    def search(self, text: bytes) -> set[str]:
        """The names of the secrets that a text has."""
        bytes_of_text = bytes(set(text))
        possible = (form for form in self._raw if not form.translate(None, bytes_of_text))
        found = {self._names[form] for form in possible if form in text}
        for run in ENCODED.finditer(text):
            characters = run[0]
            for place in range(len(characters) - PROBE_SIZE + 1):
                candidates = self._encoded.get(characters[place : place + PROBE_SIZE])
                if candidates:
                    start = run.start() + place
                    found |= {self._names[form] for form in candidates if text.startswith(form, start)}
        return found


WATCH = SecretWatch()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    WATCH.watch_kept(Path(arguments[0]))
    leaks = WATCH.search_all()
    for leak in sorted(leaks):
        print(f"secret_watch: {leak}", file=sys.stderr)
    print(f"searched {WATCH.size} bytes that programs of the Swift tests have written for {WATCH.count} secrets")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
