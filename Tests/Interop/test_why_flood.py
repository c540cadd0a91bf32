"""`latchkey why` after a flood of strangers: what the daemon remembers of others is still there."""

import os
import socket
from pathlib import Path

import pytest

from deployment import deployment_of, run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from own_daemon import running_daemon

REFUSALS = 100_000 if os.environ.get("LATCHKEY_TEST_LONG") else 20_000
BATCH = 100
# Another network than that of the flood: the daemon remembers the first 24 bits.
ELSEWHERE = "127.9.9.9"


def refused(address: tuple[str, int], count: int, *, source: str = "127.0.0.1") -> list[str]:
    """Sends requests without a token over one connection, and returns the ids of their refusals."""
    request = b"POST /fps/license HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    ids: list[str] = []
    with socket.create_connection(address, timeout=60, source_address=(source, 0)) as connection:
        reader = connection.makefile("rb")
        while len(ids) < count:
            size = min(BATCH, count - len(ids))
            connection.sendall(request * size)
            for _ in range(size):
                assert reader.readline().split()[1] in (b"400", b"401", b"429")
                head: dict[bytes, bytes] = {}
                while (line := reader.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    head[name.lower()] = value.strip()
                reader.read(int(head[b"content-length"]))
                ids.append(head[b"x-request-id"].decode())
    return ids


def test_a_flood_pushes_out_its_own_refusals_alone(latchkey_programs: None, tmp_path: Path) -> None:
    with running_daemon(tmp_path) as daemon:
        at = deployment_of(daemon.url, daemon.setup)
        try:
            other = device_for(at.credential, 1).request(SPCOptions(b"another-film"))
            viewer = at.client.license(other.message, at.token)
            assert viewer.code == "content_mismatch"
            viewer_id = viewer.header("X-Request-Id")
        finally:
            at.client.close()
        stranger = refused(daemon.public, 1, source=ELSEWHERE)[0]
        flood = refused(daemon.public, REFUSALS)
        assert len(set(flood)) == REFUSALS

        def why(request: str) -> str:
            return run_latchkey(daemon.setup, "why", request, "--server", "http://{}:{}".format(*daemon.admin))

        assert "content_mismatch" in why(str(viewer_id))
        assert "token_missing" in why(stranger)
        assert flood[-1] in why(flood[-1])
        with pytest.raises(AssertionError, match="refusal"):
            why(flood[0])
