"""Mistakes of operators and integrators: one command, or one line of the log, must name each of them.

A mistake is named if the output has what is wrong, what was found and expected, and what to do about it. Each row has
the words that say so. Faults that happen while a node runs are in test_faults.py.
"""

import gzip
import json
import os
import re
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from counting_node import ISSUERS, OTHER, message, subject, token
from deployment import run_latchkey
from fairplay_device.credentials import make_credential
from fairplay_device.spc import device_for
from fault_lab import COMMAND_SECONDS, FaultLab, Naming, replace_in
from own_daemon import UNPRIVILEGED, new_setup, running_daemon, start_daemon, stop_daemon
from tls_material import make_pair
from token_issuers import LIFE_SECONDS

FREE = {"LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"}


@dataclass(frozen=True)
class Mistake:
    """`words` must all be in the output; case does not count. `absent` must not be in it."""

    name: str
    make: Callable[[FaultLab], str]
    words: tuple[str, ...]
    absent: tuple[str, ...] = ()


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=COMMAND_SECONDS)


def checked(prepare: Callable[[Path], None], *arguments: str) -> Callable[[FaultLab], str]:
    """What `latchkeyd --check` says of a set-up that `prepare` has changed."""

    def make(lab: FaultLab) -> str:
        setup = lab.setup()
        prepare(setup)
        return lab.check(setup, *arguments).output

    return make


def edited(old: str, new: str) -> Callable[[FaultLab], str]:
    return checked(lambda setup: replace_in(setup, old, new))


# --- Files ------------------------------------------------------------------------------------------------------------


def request_as_certificate(setup: Path) -> None:
    file = setup / "fairplay" / "certificate-2048.der"
    openssl("req", "-new", "-key", setup / "fairplay" / "private-key-2048.pem", "-subj", "/CN=x", "-outform", "DER",
            "-out", file)  # fmt: skip


def key_store(setup: Path, target: str) -> None:
    openssl("pkcs12", "-export", "-in", setup / "tls" / "certificate.pem", "-inkey", setup / "tls" / "private-key.pem",
            "-passout", "pass:x", "-out", setup / target)  # fmt: skip


def encrypted_key(passphrase: str | None) -> Callable[[Path], None]:
    def prepare(setup: Path) -> None:
        key = setup / "fairplay" / "private-key-2048.pem"
        openssl("pkcs8", "-topk8", "-in", key, "-passout", "pass:right", "-out", setup / "encrypted.pem")
        shutil.move(setup / "encrypted.pem", key)
        key.chmod(0o600)
        if passphrase is not None:
            (setup / "passphrase").write_text(passphrase)
            (setup / "passphrase").chmod(0o600)
            replace_in(setup, 'applicationSecret: "', 'privateKeyPassphrase: "passphrase", applicationSecret: "')

    return prepare


def other_key(setup: Path) -> None:
    key = setup / "fairplay" / "private-key-2048.pem"
    openssl("genrsa", "-traditional", "-out", key, "2048")
    key.chmod(0o600)


def swapped(setup: Path) -> None:
    shutil.copy(setup / "fairplay" / "certificate-2048.der", setup / "fairplay" / "certificate-1024.der")


def bundle_as_certificate(setup: Path) -> None:
    shutil.copy(setup / "fairplay" / "bundle.bin", setup / "fairplay" / "certificate-2048.der")


def application_secret(change: Callable[[str], str]) -> Callable[[Path], None]:
    def prepare(setup: Path) -> None:
        file = setup / "fairplay" / "application-secret.hex"
        file.write_text(change(file.read_text().strip()))

    return prepare


def issuer_key(make: Callable[[Path, Path], None]) -> Callable[[FaultLab], str]:
    """What is said of a file with mode 0644 in the place of the public key of an issuer with ES256."""

    def prepare(setup: Path) -> None:
        file = setup / "secrets" / "issuer.pem"
        make(setup, file)
        file.chmod(0o644)
        replace_in(setup, "issuers: [", 'issuers: [{ issuer: "other", audience: "x", maximumLife: "1h", keys: '
                   '[{ kid: "other", algorithm: "ES256", key: "secrets/issuer.pem" }] }, ')  # fmt: skip

    return checked(prepare)


def p384(_: Path, file: Path) -> None:
    private = file.with_suffix(".key")
    openssl("ecparam", "-name", "secp384r1", "-genkey", "-noout", "-out", private)
    openssl("ec", "-in", private, "-pubout", "-out", file)


def rsa(setup: Path, file: Path) -> None:
    openssl("rsa", "-in", setup / "fairplay" / "private-key-2048.pem", "-pubout", "-out", file)


def public_key_as_secret(setup: Path) -> None:
    public = setup / "secrets" / "token-verification-key.pem"
    public.chmod(0o644)
    replace_in(setup, "issuers: [", 'issuers: [{ issuer: "other", audience: "x", maximumLife: "1h", keys: '
               '[{ kid: "other", algorithm: "HS256", key: "secrets/token-verification-key.pem" }] }, ')  # fmt: skip


def as_daemon_user(prepare: Callable[[Path], None], start: bool) -> Callable[[FaultLab], str]:
    """What the daemon says as a user without rights of its own, to whom the set-up belongs."""

    def make(lab: FaultLab) -> str:
        setup = lab.setup()
        is_root = os.geteuid() == 0
        if is_root:
            for folder in [lab.folder, *list(lab.folder.parents)[:2], setup.parent]:
                folder.chmod(0o755)
            for path in [setup, *setup.rglob("*")]:
                os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
        prepare(setup)
        program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
        finished = subprocess.run(
            [program, "--config", setup / "latchkey.json5", *([] if start else ["--check"])],
            capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False, env=os.environ | FREE,
            **({"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []} if is_root else {}),
        )  # fmt: skip
        for folder in (setup, setup / "secrets"):
            folder.chmod(0o700)
        assert finished.returncode != 0, finished.stderr
        return finished.stdout + finished.stderr

    return make


def closed_secrets(setup: Path) -> None:
    (setup / "secrets").chmod(0o700)
    if os.geteuid() == 0:
        os.chown(setup / "secrets", 0, 0)
    else:
        (setup / "secrets").chmod(0)


# --- Starting ---------------------------------------------------------------------------------------------------------


def started(prepare: Callable[[Path], None]) -> Callable[[FaultLab], str]:
    """Why the daemon of a set-up does not start."""

    def make(lab: FaultLab) -> str:
        setup = lab.setup()
        prepare(setup)
        return lab.refusal_to_start(setup).output

    return make


def second_daemon(lab: FaultLab) -> str:
    return lab.refusal_to_start(lab.shared.setup).output


def port_in_use(lab: FaultLab) -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        _, output = lab.run(
            "latchkeyd", "--config", lab.setup() / "latchkey.json5",
            environment=FREE | {"LATCHKEY_LISTEN": address},
        )  # fmt: skip
    return output


def certificate_out_of_time(name: str, **times: bool) -> Callable[[FaultLab], str]:
    """What `latchkeyd --check` and `latchkey doctor` say of a certificate of a listener."""

    def make(lab: FaultLab) -> str:
        setup = lab.setup(tls=make_pair(lab.folder, name, hosts=("localhost",), **times).configuration)
        _, diagnosis = lab.run("latchkey", "doctor", "--config", setup / "latchkey.json5", "--no-daemon")
        return lab.check(setup).output + diagnosis

    return make


def command(program: str, *words: str, environment: dict[str, str] | None = None) -> Callable[[FaultLab], str]:
    def make(lab: FaultLab) -> str:
        given = [word.replace("SETUP", str(lab.shared.setup)) for word in words]
        return lab.run(program, *given, environment=environment)[1]

    return make


# --- Requests ---------------------------------------------------------------------------------------------------------


def refused(code: str, **claims: object) -> Callable[[FaultLab], str]:
    return lambda lab: lab.why(lab.shared, lab.refused(lab.shared, code, bearer=token(**claims))).output


def with_header(code: str, **members: object) -> Callable[[FaultLab], str]:
    """What is said of a token with other members in its header, whose signature is that of HS256."""

    def make(lab: FaultLab) -> str:
        signed = ISSUERS.native["HS256"].sign(ISSUERS.claims(), **members)
        return lab.why(lab.shared, lab.refused(lab.shared, code, bearer=signed)).output

    return make


def sent(
    code: str, headers: Callable[[], dict[str, str]], method: str = "POST", path: str = "/fps/license",
    body: Callable[[bytes], bytes] = lambda spc: spc,
) -> Callable[[FaultLab], str]:  # fmt: skip
    def make(lab: FaultLab) -> str:
        answer = lab.send(lab.shared, body(message(lab.shared.device())), headers(), method, path)
        return lab.why(lab.shared, lab.id_of(answer, code)).output

    return make


def bearer(form: str = "Bearer {}", field: str = "Authorization") -> Callable[[], dict[str, str]]:
    return lambda: {field: form.format(token())}


def other_certificate(lab: FaultLab) -> str:
    spc = message(device_for(make_credential(), 1))
    return lab.why(lab.shared, lab.refused(lab.shared, "spc_certificate_unknown", spc)).output


def other_content(lab: FaultLab) -> str:
    spc = message(lab.shared.device(), asset=OTHER)
    return lab.why(lab.shared, lab.refused(lab.shared, "content_mismatch", spc)).output


def two_live_keys(lab: FaultLab) -> str:
    node = lab.shared
    for more in ([], ["--another"]):
        run_latchkey(node.setup, "keys", "create", "--content", "two", *more)
    spc, bearer = message(node.device(), asset="two"), token(rights=[{"content": "two"}])
    return lab.why(node, lab.refused(node, "key_not_found", spc, bearer)).output


def revoked(lab: FaultLab) -> str:
    node = lab.node()
    who = subject()
    listed = run_latchkey(node.setup, "revocations", "add", "--kind", "sub", "--value", who, "--issuer", ISSUERS.ISSUER)
    digits = listed.partition("pseudonym:")[2].split()[0]
    deadline = time.monotonic() + 30
    while (answer := node.ask(message(node.device()), token(sub=who))).status == 200:
        assert time.monotonic() < deadline, "the revocation never held"
    output = lab.why(node, lab.id_of(answer, "subject_disabled")).output
    # The same digits lead from the refusal to the revocation, and lift it.
    assert len(digits) == 32 and digits in output, output
    ledger = run_latchkey(node.setup, "ledger", "query", "--limit", "5")
    assert digits in ledger, ledger
    run_latchkey(
        node.setup, "revocations", "lift", "--kind", "sub", "--value", f"pseudonym:{digits}", "--issuer", ISSUERS.ISSUER
    )
    return output


def line_of_handshake(lab: FaultLab, client: Callable[[tuple[str, int]], None]) -> str:
    """The line that the daemon logs about a client that cannot speak with it."""
    lab._count += 1
    folder = lab.folder / f"tls-{lab._count}"
    folder.mkdir()
    pair = make_pair(folder, "server", hosts=("localhost",))
    with running_daemon(folder, tls=pair.configuration) as daemon:
        client(daemon.public)
        daemon.await_log('"tls_handshake_failed"')
        (line,) = [line for line in daemon.log.read_text().splitlines() if '"tls_handshake_failed"' in line]
    return line


def plain_client(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=COMMAND_SECONDS) as connection:
        connection.sendall(b"POST /fps/license HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while connection.recv(4096):
            pass


def distrusting_client(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=COMMAND_SECONDS) as connection:
        with pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")


NOW = int(time.time())
RIGHT = {"content": ISSUERS.content}

MISTAKES = [
    # Files.
    Mistake("a secret's file is missing", edited('key: "secrets/ledger-key"', 'key: "secrets/ledgerkey"'),
            ("line", "ledger.key", "there is no file", "secrets/ledgerkey")),
    Mistake("a secret that others may read", checked(lambda setup: (setup / "secrets" / "ledger-key").chmod(0o644)),
            ("ledger.key", "0644", "0640", "run: chmod 0640")),
    Mistake("another private key than the certificate's", checked(other_key),
            ("privateKey2048", "does not belong", "certificate2048", "signing request")),
    Mistake("certificates swapped", checked(swapped), ("certificate1024", "2048 bits", "for 1024", "which file")),
    Mistake("bundle in the field of one certificate", checked(bundle_as_certificate),
            ("certificate2048", "2 certificates", "certificateBundle")),
    Mistake("encrypted key without a passphrase", checked(encrypted_key(None)),
            ("privateKey2048", "encrypted", "privateKeyPassphrase")),
    Mistake("wrong passphrase", checked(encrypted_key("wrong")),
            ("privateKeyPassphrase", "does not open", "openssl pkey")),
    Mistake("CSR in the place of a certificate", checked(request_as_certificate),
            ("certificate2048", "not an X.509 certificate", "signing request (CSR)", "certificate that was issued")),
    Mistake("PKCS#12 in the place of a key", checked(lambda setup: key_store(setup, "fairplay/private-key-2048.pem")),
            ("privateKey2048", "not an RSA private key", "PKCS#12", "openssl pkcs12 -in FILE -nocerts")),
    Mistake("application secret of 15 bytes", checked(application_secret(lambda digits: digits[:-2])),
            ("applicationSecret", "16 bytes as 32 hexadecimal digits", "30 hexadecimal digits", "copy it again")),
    Mistake("application secret with colons",
            checked(application_secret(lambda digits: ":".join(re.findall("..", digits)))), ("good",), ("hexadecimal",)),
    Mistake("application secret with a mark and 0x",
            checked(application_secret(lambda digits: f"\ufeff0x{digits}\r\n")), ("good",), ("hexadecimal",)),
    Mistake("issuer's key on another curve", issuer_key(p384),
            ("keys[0].key", "P-256", "ES256", "curve secp384r1"), ("0640",)),
    Mistake("issuer's key for another algorithm", issuer_key(rsa),
            ("keys[0].key", "P-256", "ES256", "RSA key of 2048 bits"), ("0640",)),
    Mistake("issuer's public key as a shared secret", checked(public_key_as_secret),
            ("keys[0].key", "0644", "an EC key on the curve prime256v1, public part")),
    Mistake("secrets that the daemon's user cannot reach", as_daemon_user(closed_secrets, start=False),
            ("ledger.key", "may not enter the folder", "/secrets", "chmod g+x"), ("must belong",)),
    # The configuration.
    Mistake("missing comma", edited('"secrets/ledger-key", pseudonymKey', '"secrets/ledger-key" pseudonymKey'),
            ("line", "expected a comma", "add the comma")),
    Mistake("equals sign for a colon", edited('url: "sqlite:', 'url = "sqlite:'), ("line", "expected a colon")),
    Mistake("unknown field", edited("maximumLife", "maxLife"),
            ("line", "issuers[0].maxLife", "no such field", 'did you mean "maximumLife"')),
    Mistake("mistyped option", command("latchkeyd", "--config", "SETUP/latchkey.json5", "--chek"),
            ("unknown option --chek", "did you mean --check", "--help")),
    Mistake("mistyped variable", command("latchkeyd", "--config", "SETUP/latchkey.json5", "--check",
                                         environment={"LATCHKEY_LISTN": "127.0.0.1:0"}),
            ("LATCHKEY_LISTN", "overrides nothing", "did you mean LATCHKEY_LISTEN")),
    Mistake("algorithm that is not served", edited('algorithm: "ES256"', 'algorithm: "RS512"'),
            ("line", "keys[0].algorithm", '"ES256", "EdDSA", "RS256"')),
    Mistake("name in the place of an address", edited("127.0.0.1:8080", "localhost:8080"),
            ("listeners.public[0].address", "numeric IP address", "127.0.0.1:8443", "a name stands in the place")),
    Mistake("port that does not exist", edited("127.0.0.1:8080", "127.0.0.1:80800"),
            ("listeners.public[0].address", "the port is above 65535")),
    Mistake("configuration without its option", command("latchkeyd", "SETUP/latchkey.json5"),
            ("argument 1 is not expected", "if it is meant for --config FILE")),
    Mistake("abbreviated option", command("latchkey", "init", "--prod"), ("did you mean --production",)),
    Mistake("two listeners with one address", edited("127.0.0.1:8080", "127.0.0.1:9080"),
            ("line", "listeners.admin[0].address", "the same address as listeners.public[0]", "a port or a path")),
    Mistake("every key of an issuer revoked", edited('algorithm: "ES256"', 'algorithm: "ES256", state: "revoked"'),
            ("no key of the issuer latchkey-development is in use", "add the issuer's new key", "good")),
    Mistake("plain HTTP on every address", edited("127.0.0.1:8080", "0.0.0.0:8080"),
            ("0.0.0.0:8080", "plain HTTP", "allowPlaintext")),
    # Starting.
    Mistake("port in use", port_in_use, ("start_failed", "is in use by another listener", "Stop the program")),
    Mistake("second daemon on one database", second_daemon,
            ("start_failed", "another daemon", "database file of its own")),
    Mistake("storage folder that is missing", started(lambda setup: replace_in(setup, "sqlite:", "sqlite:missing/")),
            ("start_failed", "missing/latchkey.db", "its folder", "is missing", "mkdir")),
    Mistake("TLS certificate that has ended", certificate_out_of_time("ended", ended=True),
            ("warning: listeners.public[0]: its TLS certificate has ended", "bad     tls.end: listeners.public[0]")),
    Mistake("TLS certificate that is not valid yet", certificate_out_of_time("early", begins_tomorrow=True),
            ("warning: listeners.public[0]: its TLS certificate is not valid before 20", "refuse it until then",
             "bad     tls.begin: listeners.public[0]"), ("good    tls.end",)),
    # Tokens.
    Mistake("exp in milliseconds", refused("token_schema", exp=(NOW + 300) * 1000),
            ("the claim exp", f"exp: {(NOW + 300) * 1000}", "since 1970, not of milliseconds", "at the issuer")),
    Mistake("lease as a text", refused("token_schema", rights=[RIGHT | {"lease": "5m"}]),
            ("rights[0].lease", "a text of 2 bytes", "a number of seconds without quotes", "at the issuer")),
    Mistake("country in small letters", refused("token_schema", limits={"countries": ["ch"]}),
            ('limits.countries: ["ch"]', "two capital letters (ISO 3166-1 alpha-2)", "at the issuer")),
    Mistake("unsigned token", with_header("token_alg", alg="none"),
            ("no algorithm that this server verifies", "alg none", "one of ES256", "are never accepted")),
    Mistake("algorithm of a token that is not served", with_header("token_alg", alg="ES384"),
            ("no algorithm that this server verifies", "alg ES384", "one of ES256", "configured for its key")),
    Mistake("type of a token for another use", with_header("token_malformed", typ="logout+jwt"),
            ("header member typ", "the typ JWT or at+jwt", "in the header of its tokens")),
    Mistake("signature that was cut", lambda lab: lab.why(
                lab.shared, lab.refused(lab.shared, "token_signature", bearer=token()[:-3])).output,
            ("a signature of 30 bytes", "HS256, of 32 bytes", "was cut off")),
    Mistake("token in another header", sent("token_missing", bearer("{}", "X-Auth-Token")),
            ("header X-Auth-Token", "a token in one of: Authorization", "entitlement.tokenHeaders")),
    Mistake("token without Bearer", sent("token_missing", bearer("{}")),
            ("header Authorization", "not in the form that is read there", "Have the app send")),
    Mistake("token in quotes", sent("token_malformed", bearer('Bearer "{}"')),
            ("header Authorization", "in quotes", "three parts of base64url", "without quotes")),
    Mistake("token that lives too long", refused("token_life", exp=NOW + 20 * LIFE_SECONDS),
            ("token_life", f"at most {LIFE_SECONDS} s", "maximumLife")),
    Mistake("offline without a right", sent("offline_not_allowed", bearer(), path="/fps/license?offline=1"),
            ("offline_not_allowed", "streaming only", "Grant offline use")),
    Mistake("token for another content", other_content, (f"content {OTHER}", f"content {ISSUERS.content}", "rights")),
    # Requests.
    Mistake("app with another certificate", other_certificate,
            ("certificate hash", "development", "latchkey credentials list")),
    Mistake("compressed body", sent("spc_version_unsupported", bearer(), body=gzip.compress),
            ("compressed with gzip", "one of 1, 2", "send the bytes")),
    Mistake("wrong path", sent("not_found", bearer(), path="/fps/licenses"),
            ("POST /fps/licenses", "POST /fps/license", "reference/http.md")),
    Mistake("address of the admin listener", sent("not_found", dict, "GET", "/metrics"),
            ("GET /metrics", "the admin listeners serve")),
    Mistake("certificate of a credential that is not there",
            sent("not_found", dict, "GET", "/fps/certificate?credential=nosuch"),
            ("credential=nosuch", "no credential has the name", "latchkey credentials list")),
    Mistake("wrong method", sent("method_not_allowed", bearer(), method="PUT"),
            ("PUT /fps/license", "takes only POST", "reference/http.md")),
    Mistake("plain HTTP to a TLS listener", lambda lab: line_of_handshake(lab, plain_client),
            ('"listener":"public"', "127.0.0.0/24", "not_tls", "plain HTTP", "https://")),
    Mistake("client that distrusts the certificate", lambda lab: line_of_handshake(lab, distrusting_client),
            ('"listener":"public"', "127.0.0.0/24", "refused", "trust", "the client knows the authority")),
    Mistake("two live keys under one name", two_live_keys, ("several live keys fit", "candidates", "name its key id", "latchkey keys list")),
    Mistake("revoked subject", revoked, ("the subject", "was revoked at", "by user:", "latchkey revocations lift")),
]  # fmt: skip

# Mistakes beyond those that were collected from operators.
MORE = [
    Mistake("private key in the place of a certificate",
            checked(lambda setup: shutil.copy(setup / "fairplay" / "private-key-2048.pem",
                                              setup / "fairplay" / "certificate-2048.der")),
            ("certificate2048", "not an X.509 certificate", "it is a private key")),
    Mistake("certificate in the place of an issuer's key",
            issuer_key(lambda setup, file: shutil.copy(setup / "tls" / "certificate.pem", file)),
            ("keys[0].key", "P-256", "a certificate of an EC key", "openssl x509 -in FILE -noout -pubkey")),
    Mistake("typographic quotes in the configuration", edited('name: "development"', "name: \u201cdevelopment\u201d"),
            ("line", "straight quotes")),
    Mistake("right for rights in the token", refused("token_schema", rights=None, right=[RIGHT]),
            ("the claim rights", "there is right", "a list of rights")),
    Mistake("folder of the database that the daemon may not write",
            as_daemon_user(lambda setup: setup.chmod(0o555), start=True),
            ("start_failed", "may not write in the folder", "/setup", "chown")),
    Mistake("duration with a unit of words",
            command("latchkey", "token", "mint", "--config", "SETUP/latchkey.json5", "--content", "x", "--expires",
                    "5min"),
            ("--expires", "from 1s to 366d", "s, m, h and d", "such as 5m")),
    Mistake("command without a configuration", command("latchkey", "keys", "list"),
            ("--config FILE is missing", "LATCHKEY_CONFIG")),
]  # fmt: skip


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultLab]:
    with FaultLab(tmp_path_factory.mktemp("mistakes")) as lab:
        yield lab


@pytest.mark.parametrize("mistake", [*MISTAKES, *MORE], ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_the_mistake_is_named(mistake: Mistake, lab: FaultLab) -> None:
    output = mistake.make(lab)
    missing = [word for word in mistake.words if word.lower() not in output.lower()]
    assert not missing, f"{missing} are not in:\n{output}"
    assert not [word for word in mistake.absent if word in output], output


def test_an_admin_socket_that_does_not_answer_is_looked_at(lab: FaultLab) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # Paths of sockets are short.
        path = Path(folder) / "admin"
        Path(folder).chmod(0o755)

        def asked(user: int | None = None) -> str:
            """What every command that asks the admin listener says alike."""
            program = Path(os.environ["LATCHKEY_BIN"])
            words = ("--config", lab.shared.setup / "latchkey.json5")
            commands = [
                (program, "admin", "whoami", "--server", f"unix:{path}"),
                (program, "why", "--server", f"unix:{path}"),
            ]
            if user is None:
                commands += [
                    (program, "doctor", *words, "--server", f"unix:{path}"),
                    (program, "credentials", "list", "--use", *words, "--server", f"unix:{path}"),
                    (program.with_name("latchkeyd"), *words, "--probe"),
                ]
            causes = set()
            for command in commands:
                finished = subprocess.run(
                    command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
                    env=os.environ | {"LATCHKEY_ADMIN_LISTEN": f"unix:{path}"},
                    **({} if user is None else {"user": user, "group": user, "extra_groups": []}),
                )  # fmt: skip
                output = finished.stdout + finished.stderr
                assert finished.returncode == 1 and "localhost port" not in output and "notConnected" not in output, output
                (line,) = [line for line in output.splitlines() if f"no daemon answers at unix:{path}: " in line]
                causes.add(line.partition(f"unix:{path}: ")[2])
            (cause,) = causes
            return cause

        assert asked().startswith(f"there is no socket {path}")
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(path))
        assert asked().startswith(f"no program listens at the socket {path}")
        if os.geteuid() == 0:
            path.chmod(0o640)
            assert asked(UNPRIVILEGED).startswith(
                "this user may not use the socket, which belongs to root:root with mode 0640"
            )
            Path(folder).chmod(0o700)
            assert asked(UNPRIVILEGED).startswith(
                f"this user may not enter the folder {folder}, which belongs to root:root with mode 0700"
            )


def test_a_public_listener_is_told_from_an_admin_listener(lab: FaultLab) -> None:
    node = lab.shared
    config = ("--config", node.setup / "latchkey.json5")
    for words in (
        ("why",), ("why", "0" * 16), ("admin", "whoami"), ("admin", "drain"), ("admin", "ready"),
        ("doctor", *config), ("credentials", "list", "--use", *config),
    ):  # fmt: skip
        status, output = lab.run("latchkey", *words, "--server", node.url)
        assert status == 1 and f"{node.url} is a public listener" in output, output
        assert "is known to" not in output and "status 404" not in output, output
    # The ledger is read all the same, and the message does not say that the daemon was asked.
    status, output = lab.run("latchkey", "why", "0" * 16, *config, "--server", node.url)
    assert status == 1 and f"warning: {node.url} is a public listener" in output, output
    assert "is known to this node's ledger." in output, output
    # An admin listener that does not know a refusal is asked alike.
    host, port = node.admin
    status, output = lab.run("latchkey", "why", "0" * 16, *config, "--server", f"http://{host}:{port}")
    assert status == 1 and "is known to the admin listener and this node's ledger." in output, output


def test_a_probe_without_an_answer_says_why(lab: FaultLab) -> None:
    status, output = lab.run(
        "latchkeyd", "--config", lab.shared.setup / "latchkey.json5", "--probe",
        environment={"LATCHKEY_ADMIN_LISTEN": "127.0.0.1:1"},
    )  # fmt: skip
    assert status == 1 and "no daemon answers at http://127.0.0.1:1 (" in output, output
    assert "notConnected" not in output, output


def test_a_developers_set_up_has_no_warning(lab: FaultLab, tmp_path: Path) -> None:
    output = lab.check(new_setup(tmp_path)).output
    warnings = [line for line in output.splitlines() if line.startswith("warning: ")]
    assert "good" in output and all("overrides nothing" in line for line in warnings), output


def test_the_latest_refusals_are_listed(lab: FaultLab) -> None:
    request_id = lab.refused(lab.shared, "token_malformed", bearer="a.b")
    host, port = lab.shared.admin
    status, output = lab.run(
        "latchkey", "why", "--server", f"http://{host}:{port}",
        environment={"LATCHKEY_CONFIG": str(lab.shared.setup / "latchkey.json5")},
    )  # fmt: skip
    assert status == 0 and f"{request_id}  token_malformed" in output.splitlines()[0], output


def test_a_claim_that_limits_nothing_is_named(lab: FaultLab) -> None:
    file = lab.folder / "misspelled.jwt"
    file.write_text(token(devices={"max": 2}))
    status, output = lab.run("latchkey", "token", "explain", file, "--config", lab.shared.setup / "latchkey.json5")
    assert status == 0 and "  devices is ignored: is device meant?" in output, output


def test_an_alias_is_removed_without_its_key(lab: FaultLab) -> None:
    setup = lab.shared.setup
    kid = json.loads(run_latchkey(setup, "keys", "create", "--content", "aliased", "--json"))["kid"]
    for more in ([], ["--remove"]):
        run_latchkey(setup, "keys", "alias", "--kid", kid, "--alias", "other-name", *more)
    shown = json.loads(run_latchkey(setup, "keys", "show", "--kid", kid, "--json"))
    assert shown["aliases"] == []
    newest = json.loads(run_latchkey(setup, "ledger", "query", "--content", "aliased", "--json"))["entries"][0]
    assert (newest["kind"], newest["detail"]) == ("key_alias_removed", "other-name")
    status, output = lab.run(
        "latchkey", "keys", "alias", "--kid", kid, "--alias", "other-name", "--remove", "--config",
        setup / "latchkey.json5",
    )  # fmt: skip
    assert status == 1 and "no alias other-name" in output


def test_help_is_a_command(lab: FaultLab) -> None:
    for words in (["keys", "create"], ["why"], []):
        assert lab.run("latchkey", "help", *words) == lab.run("latchkey", *words, "--help")
    status, output = lab.run("latchkey", "help", "kyes")
    assert status == 2 and "did you mean keys" in output


def test_a_terminal_gets_words(lab: FaultLab) -> None:
    setup = lab.setup()
    leader, follower = os.openpty()
    through = ("sh", "-c", f'exec "$@" 2>/dev/fd/{follower}', "-")
    process = start_daemon(setup, setup.parent / "daemon.log", through=through, pass_fds=(follower,))
    try:
        shown, deadline = b"", time.monotonic() + COMMAND_SECONDS
        while b" ready" not in shown and time.monotonic() < deadline:
            if select.select([leader], [], [], 1)[0]:
                shown += os.read(leader, 65536)
    finally:
        stop_daemon(process)
        os.close(leader)
        os.close(follower)
    line = next(line for line in shown.decode().splitlines() if "listening" in line and "public" in line)
    assert re.match(r"\d\d:\d\d:\d\d\.\d{3}Z info +listening  listener=public  address=127\.0\.0\.1:\d+", line), line
