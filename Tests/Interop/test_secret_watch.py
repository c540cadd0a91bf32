"""The search for secrets in what daemons write finds each form of a secret, and nothing else."""

import base64
import os
import secrets
from pathlib import Path

import pytest

from secret_watch import SecretWatch

SECRET = bytes.fromhex("fbefbe00ff61ffef7e3fbf00c1d2e3f4")

pytestmark = pytest.mark.oracle


def watching(secret: bytes = SECRET) -> SecretWatch:
    watch = SecretWatch()
    watch.note("it", secret)
    return watch


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
@pytest.mark.parametrize("form", ["raw", "hex", "HEX", "Base64", "URL-safe Base64"])
def test_every_form_is_found_between_other_bytes(form: str, before: int, after: int) -> None:
    """In Base64 the bytes before it decide the alignment."""
    text = os.urandom(before) + SECRET + os.urandom(after)
    encoded = {
        "raw": text, "hex": text.hex().encode(), "HEX": text.hex().upper().encode(),
        "Base64": base64.b64encode(text), "URL-safe Base64": base64.urlsafe_b64encode(text),
    }[form]
    assert watching().search(b'{"event":"x","cause":"' + encoded + b'"}\n') == {"it"}


def test_random_secrets_of_every_size_are_found_and_no_other() -> None:
    watch, other = SecretWatch(), watching(os.urandom(32))
    for size in range(12, 80):
        secret = os.urandom(size)
        watch.note(str(size), secret)
        text = os.urandom(size % 3) + secret
        for encoded in (text, text.hex().encode(), base64.b64encode(text), base64.urlsafe_b64encode(text)):
            assert str(size) in watch.search(b"a line " + encoded)
            assert not other.search(encoded)


def test_texts_are_found_as_they_are_and_as_what_they_spell() -> None:
    watch = SecretWatch()
    digits, password = secrets.token_hex(16), "a pass phrase of words"
    watch.note_text("digits", digits)
    watch.note_text("password", password)
    watch.note_authorization("Basic " + base64.b64encode(b"name:the-secret-of-it").decode())
    watch.note_authorization("Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ2aWV3ZXItMSJ9.c2lnbmF0dXJlIG9mIGl0")
    assert watch.search(digits.encode()) == watch.search(bytes.fromhex(digits)) == {"digits"}
    assert watch.search(base64.b64encode(digits.encode())) == {"digits"}
    assert watch.search(f"x {password} y".encode()) == {"password"}
    assert watch.search(b"the-secret-of-it") == {"the secret of a packager"}
    assert watch.search(b"c2lnbmF0dXJlIG9mIGl0") == watch.search(b"eyJzdWIiOiJ2aWV3ZXItMSJ9") == {"a part of a token"}
    assert not watch.search(b"eyJhbGciOiJub25lIn0")


def test_a_part_of_a_secret_is_no_find() -> None:
    assert not watching().search(SECRET[:-1].hex().encode() + b" " + SECRET[1:].hex().encode())
    assert watching().count == 1


def test_what_the_swift_tests_have_kept_is_searched(tmp_path: Path) -> None:
    token = f"eyJhbGciOiJub25lIn0.{secrets.token_urlsafe(20)}.{secrets.token_urlsafe(48)}"
    words = {"key": secrets.token_hex(16), "token": token}
    for kind, word in words.items():
        (tmp_path / f"1-1.{kind}").write_text(word)
    (tmp_path / "1-2.setup" / "secrets").mkdir(parents=True)
    (tmp_path / "1-2.setup" / "secrets" / "admin-token").write_text(f"{secrets.token_hex(20)}\n")
    (tmp_path / "1-3.written").write_text('{"event":"started"}\n')
    watch = SecretWatch()
    watch.watch_kept(tmp_path)
    assert not watch.search_all()
    admin_token = (tmp_path / "1-2.setup" / "secrets" / "admin-token").read_text().strip()
    for secret in (words["key"], words["token"], admin_token):
        (tmp_path / "1-3.written").write_text(f'{{"event":"started","cause":"{secret}"}}\n')
        watch = SecretWatch()
        watch.watch_kept(tmp_path)
        assert watch.search_all()


def test_a_key_of_zeros_is_no_secret() -> None:
    watch = SecretWatch()
    watch.note_text("it", "0" * 64)
    assert watch.count == 0 and not watch.search(b"0" * 64)


def test_a_folder_in_which_nothing_was_kept_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        SecretWatch().watch_kept(tmp_path)
