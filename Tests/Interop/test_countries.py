"""Tokens that are valid only in some countries.

A proxy in front of the daemon says from which country a client comes.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from counting_node import ISSUERS, KEY, Node, message, token
from deployment import register
from license_client import LICENSE_PATH, LicenseClient
from own_daemon import new_setup, stop_daemon

FIELD = "CF-IPCountry"


def node_behind(folder: Path, proxies: str, *, says_country: bool = True) -> Node:
    """A daemon that trusts these proxies."""
    folder.mkdir()
    node = Node(new_setup(folder))
    configuration = node.setup / "latchkey.json5"
    text = configuration.read_text()
    address = 'address: "127.0.0.1:8080"'
    assert text.count(address) == 1
    text = text.replace(address, f'{address}, trustedProxies: ["{proxies}"]')
    if says_country:
        assert text.count("entitlement: {") == 1
        text = text.replace("entitlement: {", f'entitlement: {{ countryField: "{FIELD}",')
    configuration.write_text(text)
    ISSUERS.write(node.setup)
    register(node.setup, ISSUERS.content, KEY)
    return node


@pytest.fixture(scope="module")
def nodes(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Node]]:
    folder = tmp_path_factory.mktemp("countries")
    nodes = {
        "trusting": node_behind(folder / "trusting", "127.0.0.0/8"),
        "trusting others": node_behind(folder / "others", "192.0.2.0/24"),
        "asking no proxy": node_behind(folder / "none", "127.0.0.0/8", says_country=False),
    }
    for node in nodes.values():
        node.start()
    yield nodes
    for node in nodes.values():
        assert node.process is not None
        assert stop_daemon(node.process) == 0


def code_of(node: Node, country: str | None, **claims: object) -> str:
    client = LicenseClient(node.url)
    headers = {"Authorization": f"Bearer {token(**claims)}", "X-Forwarded-For": "198.51.100.7"}
    if country is not None:
        headers[FIELD] = country
    try:
        return client.send("POST", LICENSE_PATH, message(node.device()), headers).code or "good"
    finally:
        client.close()


@pytest.mark.parametrize(
    ("name", "country", "expected"),
    [
        ("trusting", "CH", "good"),
        ("trusting", "DE", "good"),
        ("trusting", "FR", "geo_denied"),
        ("trusting", None, "geo_denied"),
        ("trusting", "ch", "geo_denied"),
        ("trusting", "CH, FR", "geo_denied"),
        ("trusting", "", "geo_denied"),
        # A country that the client itself claims is ignored.
        ("trusting others", "CH", "geo_denied"),
        ("asking no proxy", "CH", "geo_denied"),
    ],
)
def test_a_token_is_good_in_its_countries(
    nodes: dict[str, Node], name: str, country: str | None, expected: str
) -> None:
    assert code_of(nodes[name], country, limits={"countries": ["CH", "DE"]}) == expected


def test_other_tokens_are_good_everywhere(nodes: dict[str, Node]) -> None:
    assert all(code_of(node, country) == "good" for node in nodes.values() for country in ("CH", "FR", None))
