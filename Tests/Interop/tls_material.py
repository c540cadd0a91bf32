"""Certificates for TLS tests: an authority for one test, and the certificates that it signs."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class KeyPair:
    """A certificate with its key, and the PEM files of both."""

    certificate: x509.Certificate
    key: PrivateKey
    certificate_file: Path
    key_file: Path

    @property
    def configuration(self) -> dict[str, object]:
        return {"certificate": str(self.certificate_file), "privateKey": str(self.key_file)}


def make_key(algorithm: str) -> PrivateKey:
    if algorithm == "ECDSA":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def make_pair(
    folder: Path, name: str, *, hosts: tuple[str, ...] = (), algorithm: str = "ECDSA", issuer: KeyPair | None = None,
    ended: bool = False, begins_tomorrow: bool = False,
) -> KeyPair:
    """A certificate signed by the issuer. Without an issuer, a self-signed authority.

    It may have ended a minute ago, or begin tomorrow.
    """
    key = make_key(algorithm)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + (datetime.timedelta(days=1) if begins_tomorrow else -datetime.timedelta(hours=1)))
        .not_valid_after(now - datetime.timedelta(minutes=1) if ended else now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    certificate = builder.sign(issuer.key if issuer else key, hashes.SHA256())
    pair = KeyPair(certificate, key, folder / f"{name}.pem", folder / f"{name}-key.pem")
    pair.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    pair.key_file.chmod(0o600)
    return pair
