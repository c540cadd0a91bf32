"""The stand-ins for the library of the SDK open the public vectors, and find what is published in them."""

from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_der_private_key

from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, OpenedSPC
from fairplay_device.license import Streaming
from fairplay_device.spc import PlaybackContext
from sdk_certificates import newer_entry, write_certificates
from sdk_lab import Start, built, facts, flavour, granted, start
from test_vectors import VECTORS, Vector, key_server, pytestmark, read_message, spc, vector


def test_the_published_device_and_facts_are_found(
    vector: Vector, spc: OpenedSPC, key_server: KeyServer, made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    credential = replace(
        made_credential,
        certificate_1024=(VECTORS / "dev_certificate.der").read_bytes(),
        private_key_1024=load_der_private_key((VECTORS / "dev_private_key.der").read_bytes(), None),
    )
    # The last of two secrets counts.
    entry = newer_entry(tmp_path, credential, "one", f"dask {key_server.fixed_device_key.hex()}")
    library = start(write_certificates(tmp_path, entry))
    context = PlaybackContext(read_message(vector, "spc"), b"", None, spc.secrets)
    found = facts(library, context)
    assert found["hu"] == vector.device_id.upper()
    assert found["transaction-id"] == vector.transaction_id
    assert found["streaming-indicator"] == (vector.streaming_indicator or 0)
    assert found["playback-state"]["session-id"] == (vector.playback_session or 0)
    opened = granted(library, context, lease_duration=120)
    assert opened.terms == (Streaming() if vector.creation_date is None else Streaming(lease=120))
