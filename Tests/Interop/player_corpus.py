"""The requests of `Tests/PlayerCorpus/requests.json`, and how their templates become bytes."""

import base64
import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "PlayerCorpus" / "requests.json"
PLACE_HOLDER = re.compile("<<([^>]+)>>")
# The characters that the escape leaves unchanged, besides letters and digits.
KEPT = b"-_.~"


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    method: str
    path: str
    headers: dict[str, str]
    authorization: str
    right: str
    asset: str | None
    body: str
    decoded: dict[str, Any]
    answer: dict[str, Any]


def read_cases() -> list[Case]:
    return [
        Case(
            name=one["name"],
            source=one["source"],
            method=one.get("method", "POST"),
            path=one.get("path", "/fps/license"),
            headers=one.get("headers", {}),
            authorization=one.get("authorization", "bearer"),
            right=one.get("right", "stream"),
            asset=one.get("asset"),
            body=one["body"],
            decoded=one["decoded"],
            answer=one["answer"],
        )
        for one in json.loads(FILE.read_text())
    ]


def expand(template: str, value_of: Callable[[str, str | None], bytes]) -> bytes:
    """The template with its place holders replaced.

    `value_of` returns the bytes for a name. It also gets the first filter if this module does not know it.
    """
    expanded, last = b"", 0
    for found in PLACE_HOLDER.finditer(template):
        expanded += template[last : found.start()].encode() + _value(found[1].split(" "), value_of)
        last = found.end()
    return expanded + template[last:].encode()


def _value(words: list[str], value_of: Callable[[str, str | None], bytes]) -> bytes:
    name, *filters = words
    if name == "hex":
        return bytes.fromhex(filters[0])
    if filters and filters[0] not in FILTERS:
        value, filters = value_of(name, filters[0]), filters[1:]
    else:
        value = value_of(name, None)
    for each in filters:
        value = FILTERS[each](value)
    return value


def _escape(characters: bytes | None = None, lower: bool = False) -> Callable[[bytes], bytes]:
    def is_escaped(byte: int) -> bool:
        if characters is not None:
            return byte in characters
        return not (chr(byte).isalnum() and byte < 128) and byte not in KEPT

    form = "%{:02x}" if lower else "%{:02X}"
    return lambda text: b"".join(form.format(byte).encode() if is_escaped(byte) else bytes([byte]) for byte in text)


def _lines(size: int, end: bytes) -> Callable[[bytes], bytes]:
    return lambda text: end.join(text[start : start + size] for start in range(0, len(text), size))


FILTERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64url": base64.urlsafe_b64encode,
    "unpadded": lambda text: text.replace(b"=", b""),
    # Mixes both base64 alphabets in one text.
    "mixed": lambda text: text.replace(b"/", b"_"),
    "percent": _escape(),
    "percentOfReactNative": _escape(b"?=&+"),
    "lowerPercent": _escape(b"=+/", lower=True),
    "blankForPlus": lambda text: text.replace(b"+", b" "),
    "escapedSlash": lambda text: text.replace(b"/", b"\\/"),
    "escapedLineEnds": lambda text: text.replace(b"\r", b"\\r").replace(b"\n", b"\\n"),
    "lines76": _lines(76, b"\r\n"),
    "lines64": _lines(64, b"\n"),
    "utf16le": lambda text: text.decode().encode("utf-16-le"),
    "utf16be": lambda text: text.decode().encode("utf-16-be"),
    "hex": lambda data: data.hex().encode(),
    "uuid": lambda data: str(uuid.UUID(bytes=data)).encode(),
    "upper": bytes.upper,
}
