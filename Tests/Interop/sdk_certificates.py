"""Certificates files for the library of the FairPlay Streaming Server SDK, and the files that they name."""

import base64
import json
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from fairplay_device.credentials import Credential, make_credential

VERSION_EXTENSION = x509.ObjectIdentifier("1.2.840.113635.100.6.13.1.22")


def private_key(credential: Credential, bits: int, encoding: Encoding = Encoding.PEM, *, pkcs8: bool = False) -> bytes:
    key = credential.private_key_1024 if bits == 1024 else credential.private_key_2048
    form = PrivateFormat.PKCS8 if pkcs8 else PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(encoding, form, NoEncryption())


def newer_entry(folder: Path, credential: Credential, name: str = "one", *lines: str) -> dict[str, str]:
    """An entry with a bundle and provisioning data, and its files."""
    files = {
        "certificate": credential.bundle,
        "1024-private-key": private_key(credential, 1024),
        "2048-private-key": private_key(credential, 2048, Encoding.DER),
        "provisioning-data": "\n".join([f"ask {credential.application_secret.hex()}", *lines]).encode(),
    }
    for member, contents in files.items():
        (folder / f"{name}.{member}").write_bytes(contents)
    return {member: f"{name}.{member}" for member in files}


def write_certificates(folder: Path, *entries: dict[str, str]) -> Path:
    path = folder / "certificates.json"
    path.write_text(json.dumps({"certificates": entries}))
    return path


def older_entry(folder: Path, credential: Credential, *, is_pem: bool, is_base64: bool) -> dict[str, str]:
    certificate = credential.certificate_1024
    if is_pem:
        certificate = x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM)
    (folder / "older.certificate").write_bytes(certificate)
    (folder / "older.key").write_bytes(private_key(credential, 1024, Encoding.PEM if is_pem else Encoding.DER))
    secret = credential.application_secret
    value = base64.b64encode(secret).decode() if is_base64 else secret.hex()
    return {"certificate": "older.certificate", "1024-private-key": str(folder / "older.key"), "ask": value}


def versioned(credential: Credential, major: int, minor: int) -> bytes:
    """The 2048-bit certificate with the extension that names a version."""
    certificate = x509.load_der_x509_certificate(credential.certificate_2048)
    extension = x509.UnrecognizedExtension(
        VERSION_EXTENSION, bytes([2, 2, major, minor])
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(certificate.subject)
        .issuer_name(certificate.issuer)
        .public_key(certificate.public_key())
        .serial_number(certificate.serial_number)
        .not_valid_before(certificate.not_valid_before_utc)
        .not_valid_after(certificate.not_valid_after_utc)
        .add_extension(extension, critical=False)
    )
    signed = builder.sign(credential.private_key_2048, certificate.signature_hash_algorithm)
    return signed.public_bytes(Encoding.DER)


# --- Entries that are not sound ---------------------------------------------------------------------------------------


def without_file(folder: Path, entry: dict[str, str], _: Credential) -> None:
    (folder / entry["provisioning-data"]).unlink()


def with_pkcs8(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    (folder / entry["2048-private-key"]).write_bytes(private_key(credential, 2048, Encoding.DER, pkcs8=True))


def with_passphrase(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    key = credential.private_key_1024.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    (folder / entry["1024-private-key"]).write_bytes(key)


def with_another_key(folder: Path, entry: dict[str, str], _: Credential) -> None:
    (folder / entry["1024-private-key"]).write_bytes(private_key(make_credential(), 1024))


def with_one_certificate(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    (folder / entry["certificate"]).write_bytes(credential.certificate_1024)


def with_swapped_certificates(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    (folder / entry["certificate"]).write_bytes(credential.certificate_2048 + credential.certificate_1024)


def with_more_bytes(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    (folder / entry["certificate"]).write_bytes(credential.bundle + b"\n")


def with_unknown_line(folder: Path, entry: dict[str, str], _: Credential) -> None:
    with (folder / entry["provisioning-data"]).open("a") as file:
        file.write("\nfault no-such-fault")


def without_member(_folder: Path, entry: dict[str, str], _: Credential) -> None:
    del entry["2048-private-key"]


def with_newer_version(folder: Path, entry: dict[str, str], credential: Credential) -> None:
    (folder / entry["certificate"]).write_bytes(credential.certificate_1024 + versioned(credential, 27, 0))

SPOILS = (
    without_file, with_pkcs8, with_passphrase, with_another_key, with_one_certificate, with_swapped_certificates,
    with_more_bytes, with_unknown_line, without_member, with_newer_version,
)  # fmt: skip
