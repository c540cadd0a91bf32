"""The credential of one deployment: two certificates, their bundle, and the application secret.

The device needs the certificates and the application secret; only a key server has the private keys.
"""

import datetime
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

PUBLIC_EXPONENT = 65537


@dataclass(frozen=True)
class Credential:
    """What devices know of a deployment. Certificates are DER; the bundle is both certificates, one after the other."""

    certificate_1024: bytes
    certificate_2048: bytes
    application_secret: bytes
    private_key_1024: rsa.RSAPrivateKey | None = None
    private_key_2048: rsa.RSAPrivateKey | None = None

    @property
    def bundle(self) -> bytes:
        return self.certificate_1024 + self.certificate_2048

    def certificate(self, spc_version: int) -> bytes:
        return self.certificate_1024 if spc_version == 1 else self.certificate_2048

    @property
    def served_hashes(self) -> dict[tuple[int, bytes], int]:
        """The size in bits of the RSA key for each pair of SPC version and certificate hash that is served.

        Version 3 always uses the 2048-bit key, even if the device has hashed one of the other two files.
        """
        return {
            (1, sha1(self.certificate_1024)): 1024,
            (1, sha1(self.bundle)): 1024,
            (2, sha1(self.certificate_2048)): 2048,
            (3, sha256(self.certificate_1024)): 2048,
            (3, sha256(self.certificate_2048)): 2048,
            (3, sha256(self.bundle)): 2048,
        }


def certificate_hash(spc_version: int, data: bytes) -> bytes:
    """The digest by which an SPC of this version names a certificate or a bundle."""
    return sha256(data) if spc_version == 3 else sha1(data)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def sha1(data: bytes) -> bytes:
    return hashlib.sha1(data).digest()


def public_key_of(certificate: bytes) -> rsa.RSAPublicKey:
    key = x509.load_der_x509_certificate(certificate).public_key()
    if not isinstance(key, rsa.RSAPublicKey):
        raise ValueError("a FairPlay certificate holds an RSA key")
    return key


def read_device_credential(folder: Path) -> Credential:
    """The credential in the `fairplay` folder of a set-up; raises if the bundle is not the two certificates."""
    credential = Credential(
        certificate_1024=(folder / "certificate-1024.der").read_bytes(),
        certificate_2048=(folder / "certificate-2048.der").read_bytes(),
        application_secret=bytes.fromhex((folder / "application-secret.hex").read_text().strip()),
    )
    if (folder / "bundle.bin").read_bytes() != credential.bundle:
        raise ValueError("bundle.bin is not certificate-1024.der followed by certificate-2048.der")
    return credential


def make_credential() -> Credential:
    """A new credential with private keys and self-signed certificates, for tests only."""
    key_1024 = rsa.generate_private_key(PUBLIC_EXPONENT, 1024)
    key_2048 = rsa.generate_private_key(PUBLIC_EXPONENT, 2048)
    return Credential(
        certificate_1024=_self_signed(key_1024, "Interop test, 1024 bits"),
        certificate_2048=_self_signed(key_2048, "Interop test, 2048 bits"),
        application_secret=os.urandom(16),
        private_key_1024=key_1024,
        private_key_2048=key_2048,
    )


def _self_signed(key: rsa.RSAPrivateKey, common_name: str) -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=36500))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(Encoding.DER)
