"""`latchkey init --production --from`: delivered files of every form, recognised by what is in them."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, NoEncryption, pkcs12

COMMAND_SECONDS = 60
PASSPHRASE = b" correct horse"
PEM = serialization.Encoding.PEM
DER = serialization.Encoding.DER
PKCS8 = serialization.PrivateFormat.PKCS8
TRADITIONAL = serialization.PrivateFormat.TraditionalOpenSSL


def latchkey(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ["LATCHKEY_BIN"], *arguments],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False, stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A development set-up, whose files are delivered."""
    folder = tmp_path_factory.mktemp("delivered") / "source"
    made = latchkey("init", str(folder))
    assert made.returncode == 0, made.stderr
    return folder


def set_up(tmp_path: Path, files: dict[str, bytes], *options: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder, target = tmp_path / "delivered", tmp_path / "etc"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (tmp_path / "passphrase").write_bytes(PASSPHRASE + b"\n")
    return latchkey("init", "--production", "--from", str(folder), *options, str(target)), target


def key_of(source: Path, path: str) -> object:
    return serialization.load_pem_private_key((source / path).read_bytes(), None)


def certificate_of(source: Path, bits: int) -> x509.Certificate:
    return x509.load_der_x509_certificate((source / f"fairplay/certificate-{bits}.der").read_bytes())


def plain(source: Path) -> dict[str, bytes]:
    return {
        "a.bin": (source / "fairplay/certificate-1024.der").read_bytes(),
        "b.txt": certificate_of(source, 2048).public_bytes(PEM),
        "c.key": (source / "fairplay/private-key-2048.pem").read_bytes(),
        "d": key_of(source, "fairplay/private-key-1024.pem").private_bytes(DER, TRADITIONAL, NoEncryption()),
        "e": (source / "fairplay/application-secret.hex").read_bytes(),
        "f.crt": (source / "tls/certificate.pem").read_bytes(),
        "g.key": key_of(source, "tls/private-key.pem").private_bytes(PEM, TRADITIONAL, NoEncryption()),
        "h.pub": (source / "secrets/token-verification-key.pem").read_bytes(),
    }


def encrypted(source: Path) -> dict[str, bytes]:
    """Keys and certificates in PKCS#12, and the FairPlay certificates in one file, the larger one first."""
    lock = BestAvailableEncryption(PASSPHRASE)
    bundle = certificate_of(source, 2048).public_bytes(DER) + certificate_of(source, 1024).public_bytes(DER)
    tls = x509.load_pem_x509_certificate((source / "tls/certificate.pem").read_bytes())
    return {
        "fps.cer": bundle,
        "one.p12": pkcs12.serialize_key_and_certificates(
            b"fps", key_of(source, "fairplay/private-key-2048.pem"), None, None, lock),
        "two.pem": key_of(source, "fairplay/private-key-1024.pem").private_bytes(PEM, PKCS8, lock),
        "site.pfx": pkcs12.serialize_key_and_certificates(
            b"site", key_of(source, "tls/private-key.pem"), tls, None, lock),
        "ask": bytes.fromhex((source / "fairplay/application-secret.hex").read_text(encoding="ascii").strip()),
        "issuer.der": key_of(source, "secrets/token-signing-key.pem").public_key().public_bytes(
            DER, serialization.PublicFormat.SubjectPublicKeyInfo),
    }


@pytest.mark.parametrize("deliver", [plain, encrypted])
def test_every_form_comes_to_its_place(
    deliver: Callable[[Path], dict[str, bytes]], source: Path, tmp_path: Path
) -> None:
    files = deliver(source)
    made, target = set_up(tmp_path, files, "--passphrase-file", str(tmp_path / "passphrase"))
    assert made.returncode == 0, made.stderr
    assert "not used" not in made.stdout, made.stdout
    missing = [line for line in made.stdout.splitlines() if line.lstrip().startswith("[ ] ") and "/" in line.split()[2]]
    given = ("fairplay/", "tls/", "issuers/")
    assert not [line for line in missing if line.split()[2].startswith(given)], made.stdout
    checked = subprocess.run(
        [str(Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")), "--config", str(target / "latchkey.json5"), "--check"],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    assert checked.stdout.endswith("latchkey.json5: good\n"), checked.stdout + checked.stderr
    for name in ("fairplay/application-secret.hex", "fairplay/private-key-1024.pem", "tls/private-key.pem"):
        assert (target / name).stat().st_mode & 0o777 == 0o600, name
        if name.endswith(".hex"):
            assert (target / name).read_text(encoding="ascii") == (source / name).read_text(encoding="ascii")
        else:
            assert key_of(target, name).private_numbers() == key_of(source, name).private_numbers()
    # The fields of the credential stand below each other, and so do the texts of the checklist.
    text = (target / "latchkey.json5").read_text(encoding="utf-8")
    fields = text.partition('            name: "main",\n')[2].partition("        },\n")[0].splitlines()
    assert len(fields) >= 3 and all(re.match(r" {12}\w", field) for field in fields), fields
    listed = re.findall(r"(?m)^( +\[[ x]\] (?:fairplay|tls|issuers)/\S+ +)\S", (target / "CHECKLIST.txt").read_text())
    assert len(listed) >= 6 and len({len(part) for part in listed}) == 1, listed
    # No passphrase opens the written files, and none is in them.
    assert all(PASSPHRASE.strip() not in path.read_bytes() for path in target.rglob("*") if path.is_file())
    assert (tmp_path / "delivered").exists() and len(list((tmp_path / "delivered").iterdir())) == len(files)


@pytest.mark.parametrize(
    "spelling", ["0x{}", "{}\r\n", "\ufeff{}", "0x{}\n", "UPPER", "COLONS", "SPACES", "0xBYTES"])
def test_the_application_secret_is_read_in_every_common_spelling(source: Path, tmp_path: Path, spelling: str) -> None:
    digits = (source / "fairplay/application-secret.hex").read_text(encoding="ascii").strip()
    pairs = [digits[index:index + 2] for index in range(0, 32, 2)]
    text = {
        "UPPER": digits.upper(), "COLONS": ":".join(pairs), "SPACES": " ".join(pairs),
        "0xBYTES": ", ".join(f"0x{pair}" for pair in pairs),
    }.get(spelling, spelling.format(digits))
    made, target = set_up(tmp_path, {"secret.txt": text.encode()})
    assert made.returncode == 0, made.stderr
    assert (target / "fairplay/application-secret.hex").read_text(encoding="ascii").strip() == digits
    assert digits not in made.stdout + made.stderr


@pytest.mark.parametrize("count", [15, 17, 32])
def test_other_sizes_are_no_application_secret(tmp_path: Path, count: int) -> None:
    made, target = set_up(tmp_path, {"secret.txt": bytes(range(count)).hex().encode()})
    assert made.returncode == 0, made.stderr
    assert "secret.txt: not used" in made.stdout
    assert f"key or application secret: it holds {2 * count} hexadecimal digits" in made.stdout
    assert not (target / "fairplay/application-secret.hex").exists()


def test_two_deployments_are_refused_and_nothing_is_made(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert latchkey("init", str(other)).returncode == 0
    files = plain(source) | {"z.der": (other / "fairplay/certificate-2048.der").read_bytes()}
    made, target = set_up(tmp_path, files)
    assert made.returncode == 1 and "leave the files of one deployment in the folder" in made.stderr, made.stderr
    assert "b.txt and z.der both hold the FairPlay certificate of 2048 bits" in made.stderr
    assert not target.exists()


def test_a_key_of_another_certificate_is_not_taken(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert latchkey("init", str(other)).returncode == 0
    files = plain(source) | {"c.key": (other / "fairplay/private-key-2048.pem").read_bytes()}
    made, target = set_up(tmp_path, files)
    assert made.returncode == 0, made.stderr
    assert "c.key: not used, because nothing here belongs to it" in made.stdout
    assert "[ ] fairplay/private-key-2048.pem" in made.stdout
    assert not (target / "fairplay/private-key-2048.pem").exists()


def test_a_chain_is_put_in_order_without_its_root(source: Path, tmp_path: Path) -> None:
    """A file with the chain in the wrong order, as some authorities deliver it."""
    import datetime

    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.datetime.now(datetime.UTC)

    def certify(name: str, issuer: str, signer: ec.EllipticCurvePrivateKey, key: object, *more: tuple) -> x509.Certificate:
        builder = x509.CertificateBuilder().serial_number(x509.random_serial_number()).public_key(key.public_key())
        builder = builder.subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        builder = builder.issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, issuer)]))
        builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=30))
        for extension, is_critical in more:
            builder = builder.add_extension(extension, is_critical)
        return builder.sign(signer, hashes.SHA256())

    root_key, middle_key, leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    authority = (x509.BasicConstraints(ca=True, path_length=None), True)
    root = certify("root", "root", root_key, root_key, authority)
    middle = certify("middle", "root", root_key, middle_key, authority)
    leaf = certify("leaf", "middle", middle_key, leaf_key, (x509.SubjectAlternativeName([x509.DNSName("k.test")]), False))
    made, target = set_up(tmp_path, {
        "chain.pem": b"".join(each.public_bytes(PEM) for each in (root, middle, leaf)),
        "key": leaf_key.private_bytes(DER, PKCS8, NoEncryption()),
    })
    assert made.returncode == 0, made.stderr
    written = x509.load_pem_x509_certificates((target / "tls/certificate.pem").read_bytes())
    assert written == [leaf, middle]


def test_an_encrypted_file_without_or_with_a_wrong_passphrase(source: Path, tmp_path: Path) -> None:
    files = encrypted(source)
    made, target = set_up(tmp_path, files)
    assert made.returncode == 1 and "--passphrase-file" in made.stderr
    (tmp_path / "wrong").write_bytes(b"wrong")
    made = latchkey("init", "--production", "--from", str(tmp_path / "delivered"), "--passphrase-file",
                    str(tmp_path / "wrong"), str(target))
    assert made.returncode == 1 and "does not open it" in made.stderr
    assert not target.exists()


def test_an_sdk_folder_is_used_where_it_is(tmp_path: Path) -> None:
    made, target = set_up(tmp_path, {
        "certificates.json": b"{}", "libfpssdk.so": b"\x7fELF", "libfpscrypto.so": b"\x7fELF"})
    assert made.returncode == 0, made.stderr
    text = (target / "latchkey.json5").read_text(encoding="utf-8")
    folder = tmp_path / "delivered"
    assert f'sdk: {{ library: "{folder}/libfpssdk.so", certificates: "{folder}/certificates.json" }},' in text
    assert "applicationSecret:" not in text


def self_signed(key: object, *, hosts: tuple[str, ...] = (), team: str | None = None) -> x509.Certificate:
    """A certificate as `openssl req -x509` makes it: it says that it may issue others."""
    import datetime

    names = [x509.NameAttribute(x509.NameOID.COMMON_NAME, "self")]
    if team:
        names.append(x509.NameAttribute(x509.NameOID.ORGANIZATIONAL_UNIT_NAME, team))
    name = x509.Name(names)
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=30))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False)
    return builder.sign(key, hashes.SHA256())


def test_self_signed_certificates_are_taken_with_their_keys(source: Path, tmp_path: Path) -> None:
    files = plain(source)
    fairplay, tls = key_of(source, "fairplay/private-key-2048.pem"), key_of(source, "tls/private-key.pem")
    files["b.txt"] = self_signed(fairplay).public_bytes(PEM)
    files["f.crt"] = self_signed(tls, hosts=("localhost",)).public_bytes(PEM)
    made, target = set_up(tmp_path, files)
    assert made.returncode == 0, made.stderr
    assert "not used" not in made.stdout, made.stdout
    for name in ("fairplay/certificate-2048.der", "fairplay/private-key-2048.pem", "tls/certificate.pem",
                 "tls/private-key.pem"):
        assert (target / name).exists(), name


def test_certificates_of_two_teams_are_noticed(source: Path, tmp_path: Path) -> None:
    files = plain(source)
    for name, bits, team in (("a.bin", 1024, "ABCDE12345"), ("b.txt", 2048, "ZZZZZ99999")):
        files[name] = self_signed(key_of(source, f"fairplay/private-key-{bits}.pem"), team=team).public_bytes(DER)
    made, target = set_up(tmp_path, files)
    assert made.returncode == 0, made.stderr
    words = "the 1024-bit certificate is for the team ABCDE12345 (OU), and the 2048-bit certificate for the team ZZZZZ99999"
    assert f"warning: {words}" in made.stdout
    checked = subprocess.run(
        [str(Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")), "--config", str(target / "latchkey.json5"), "--check"],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    assert f"warning: main: {words}" in checked.stderr, checked.stderr


def test_an_authority_without_its_key_is_named_as_one(source: Path, tmp_path: Path) -> None:
    files = plain(source) | {"f.crt": self_signed(key_of(source, "tls/private-key.pem"), hosts=("x.test",)).public_bytes(PEM)}
    del files["g.key"]
    made, _ = set_up(tmp_path, files)
    assert made.returncode == 0, made.stderr
    assert "f.crt: not used, because it is the certificate of an authority (CA:TRUE)" in made.stdout


def test_copies_are_no_conflict(source: Path, tmp_path: Path) -> None:
    files = plain(source)
    files["copy.cer"] = certificate_of(source, 2048).public_bytes(DER)
    files["copy.pfx"] = pkcs12.serialize_key_and_certificates(
        b"fps", key_of(source, "fairplay/private-key-2048.pem"), certificate_of(source, 2048), None,
        BestAvailableEncryption(PASSPHRASE))
    files |= {"e2": files["e"], "f2.crt": files["f.crt"], "g2.key": files["g.key"], "h2.pub": files["h.pub"]}
    made, target = set_up(tmp_path, files, "--passphrase-file", str(tmp_path / "passphrase"))
    assert made.returncode == 0, made.stderr
    assert "not used" not in made.stdout, made.stdout
    for words in ("copy.cer: the FairPlay certificate of 2048 bits, the same as in b.txt",
                  "copy.pfx: the FairPlay certificate of 2048 bits, the same as in b.txt",
                  "e2: the application secret (ASk), the same as in e",
                  "f2.crt: the TLS certificate, the same as in f.crt",
                  "g2.key: the private key of the TLS certificate, the same as in g.key",
                  "h2.pub: the public key of the token issuer, for ES256, the same as in h.pub"):
        assert words in made.stdout, (words, made.stdout)
    assert (target / "fairplay/certificate-2048.der").read_bytes() == files["copy.cer"]


def test_two_application_secrets_are_both_named(source: Path, tmp_path: Path) -> None:
    made, _ = set_up(tmp_path, plain(source) | {"e2": b"00" * 16})
    assert made.returncode == 1 and "e and e2 both hold the application secret (ASk)" in made.stderr, made.stderr


def test_keys_that_verify_no_tokens_say_why(source: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    def public(key: object) -> bytes:
        return key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    files = plain(source)
    del files["h.pub"]
    files["p384.pem"] = public(ec.generate_private_key(ec.SECP384R1()))
    files["rsa1024.pem"] = public(rsa.generate_private_key(65537, 1024))
    files["portal.pem"] = (source / "secrets/token-signing-key.pem").read_bytes()
    made, target = set_up(tmp_path, files)
    assert made.returncode == 0, made.stderr
    assert "p384.pem: not used, because it is an EC key on the curve secp384r1, public part, and" in made.stdout
    assert "rsa1024.pem: not used, because it is an RSA key of 1024 bits, public part, and" in made.stdout
    (line,) = [line for line in made.stdout.splitlines() if "portal.pem: not used" in line]
    assert "could make tokens" in line and "openssl pkey -in PRIVATE.pem -pubout" in line
    assert not (target / "issuers/portal.pem").exists()


def test_every_entry_of_the_folder_has_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "delivered"
    (folder / "more").mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "large").write_bytes(bytes((1 << 20) + 1))
    (folder / "link").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe")
    (folder / "utf16").write_bytes(("00" * 16).encode("utf-16"))
    (folder / "zip").write_bytes(b"PK\x03\x04" + bytes(40))
    made = latchkey("init", "--production", "--from", str(folder), str(tmp_path / "etc"))
    assert made.returncode == 0, made.stderr
    for words in ("more: not used, because it is a folder", "empty: not used, because it is empty",
                  "large: not used, because it has more than 1048576 bytes",
                  "link: not used, because it is a link to a file that is not there",
                  "pipe: not used, because it is not a regular file", "utf16: not used, because it is text in UTF-16",
                  "zip: not used, because it is a ZIP archive"):
        assert words in made.stdout, (words, made.stdout)


def test_a_missing_passphrase_file_is_an_error_in_any_case(source: Path, tmp_path: Path) -> None:
    made, target = set_up(tmp_path, plain(source), "--passphrase-file", str(tmp_path / "nowhere"))
    assert made.returncode == 1 and f"there is no file {tmp_path / 'nowhere'}" in made.stderr, made.stderr
    assert not target.exists()


def test_a_folder_without_anything_useful(tmp_path: Path) -> None:
    made, target = set_up(tmp_path, {"notes.txt": b"hello", "empty": b"", ".hidden": b"x"})
    assert made.returncode == 0, made.stderr
    assert "notes.txt: not used, because it is no certificate, key or application secret" in made.stdout
    assert sorted(path.name for path in (target / "fairplay").iterdir()) == []
    missing = latchkey("init", "--production", "--from", str(tmp_path / "nowhere"), str(tmp_path / "other"))
    assert missing.returncode == 1 and "nowhere" in missing.stderr and "No such file" in missing.stderr
