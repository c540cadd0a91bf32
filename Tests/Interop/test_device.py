"""The Python device and its own key server against each other, and against published values; needs no daemon."""

import random
import struct
from dataclasses import replace

import pytest

from fairplay_device import containers, tags
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import Credential, sha1, sha256
from fairplay_device.facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    KeyFormats,
    NotSync,
    PlaybackState,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
    VMDeviceInfo,
)
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.license import License, OfflineKey, Persistent, Streaming, Terms
from fairplay_device.refusal import Refusal
from fairplay_device.session_keys import aes_cmac, aes_ecb_encrypt, d_function
from fairplay_device.spc import Device, DeviceSession, SPCOptions, device_for, device_with_bundle_hash
from fairplay_device.tllv import Block, FramingError, Padding, by_tag, parse, serialise
from license_policy import Policy, Refused, decide
from random_requests import named_on_failure, random_content_key, random_options, random_right, random_sync

ASSET_ID = b"interop-asset"
COMBINATION_COUNT = 400
SYNC_COUNT = 200
LICENSE = License(
    bytes(range(16)),
    bytes(range(16, 32)),
    Streaming(lease=120, rental=3600),
    hdcp_level=tags.HDCP_TYPE_1,
    security_level=tags.LEVEL_MAIN,
)
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)
OFFLINE_CAPABILITIES = tags.CAPABILITY_OFFLINE_KEY | tags.CAPABILITY_OFFLINE_KEY_V2

# Published pairs of R2 and the first 16 bytes of the digest.
D_FUNCTION_VALUES = [
    line.split()
    for line in """
a4c411c54d94727143504aece5613da8c6ee6dd2 3a24a068c116842f10fac5c86cb1cb5c
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9 93c82dc4d1c4a338896bfce2e7dc12a0
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe1 73b8445fd639462154f3503c6ea32c89
303838a2b4cab66f25d53bd331b5ee4c035b6e12 c74f35704ec58c0882bc4014a74152a8
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec4 4b46ab65bd04af0dd721718a68663390
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5 c63d0c630bcd579d072901dba82ae2a6
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9cc 2d467d6fc4aab309e8b4618247567e06
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4 353d491edc8f6f8191a3cb366bafe14c
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251a 8439a36b359c7c1c5b698c594b56b020
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223 430b6db2ce11ce6bcd7076187c44aa1b
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c a77994aeda51df868cd82bd3b1131401
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9e fcff3ff19e2911e52ce252e85f0498da
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251acb3a4bb19898891973db \
f2272c254504fc4ce7af2873c1de184f
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223d588edb0e48ec073d28b \
0f25a9bf940daca0a520937be1752f75
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9eceeb019acaa7ae6c8ca7 \
10e41b10df29f8c2ea91fe7d126f50e1
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c834671c1632afca943eb \
b1caecddef433ceb4d8ed554f1702dbd
""".strip().splitlines()
]


# The key, the message lengths and the tags of RFC 4493, section 4.
CMAC_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
CMAC_MESSAGE = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CMAC_VALUES = [
    (0, "bb1d6929e95937287fa37d129b756746"),
    (16, "070a16b46b4d4144f79bdd9dd04a287c"),
    (40, "dfa66747de9ae63030ca32611497c827"),
    (64, "51f0bebf7e3b9d92fc49741779363cfe"),
]


pytestmark = pytest.mark.oracle


@pytest.fixture(params=["version 1", "version 2", "version 3", "version 1, bundle hash", "version 3, bundle hash"])
def device(request: pytest.FixtureRequest, made_credential: Credential) -> Device:
    version = int(request.param.split(",")[0][-1])
    if "bundle" in request.param:
        return device_with_bundle_hash(made_credential, version)
    return device_for(made_credential, version)


@pytest.fixture(scope="session")
def key_server(made_credential: Credential) -> KeyServer:
    return key_server_for(made_credential)


def rich_options() -> SPCOptions:
    return SPCOptions(
        ASSET_ID,
        transaction_id=7,
        playback_state=STATE,
        streaming_indicator=tags.STREAMING_TO_AIRPLAY,
        capabilities=tags.CAPABILITY_HDCP_TYPE_1,
        device_identity=DeviceIdentity(1, 2, b"vendor--", b"product-", 3, 4, 0x00110402),
        device_info=DeviceInfo(tags.DEVICE_TYPE_MAC, 0x000F0000),
        deny_list_version=DenyListVersion(33),
        security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, 32),
        key_formats=KeyFormats((tags.KEY_FORMAT_16_BYTES, 5)),
        vm_device_info=VMDeviceInfo(1, 2, 3, 4, 5, 6, 7),
        sync=NotSync(),
        video=True,
        unknown_blocks=((0x1111111111111111, b"kept"), (0x2222222222222222, b"")),
        return_request=(0x2222222222222222, tags.ASSET_ID, 0x1111111111111111, tags.ASSET_ID),
    )


def assert_read_as_said(opened: OpenedSPC, options: SPCOptions) -> None:
    for name in (
        *("asset_id", "transaction_id", "protocol_versions_supported", "streaming_indicator", "playback_state"),
        *("capabilities", "device_identity", "device_info", "deny_list_version", "security_level_report"),
        *("key_formats", "vm_device_info", "sync", "return_request"),
    ):
        said = getattr(options, name)
        # A report of an unknown version is ignored.
        if isinstance(said, SecurityLevelReport) and said.version != 1:
            said = None
        assert getattr(opened, name) == said, name


# --- Published values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r2", "expected"), D_FUNCTION_VALUES)
def test_the_d_function_gives_the_published_values(r2: str, expected: str) -> None:
    assert d_function(bytes.fromhex(r2)).hex() == expected


def test_there_are_sixteen_published_values() -> None:
    assert len(D_FUNCTION_VALUES) == 16


@pytest.mark.parametrize("size", [0, 56])
def test_the_d_function_refuses_an_r2_out_of_bounds(size: int) -> None:
    with pytest.raises(ValueError, match="R2"):
        d_function(bytes(size))


@pytest.mark.parametrize(("length", "expected"), CMAC_VALUES)
def test_the_mac_gives_the_values_of_its_rfc(length: int, expected: str) -> None:
    assert aes_cmac(CMAC_KEY, CMAC_MESSAGE[:length]).hex() == expected


# --- Containers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "wrapped_size"), [(1, 128), (2, 256)])
def test_the_older_containers_have_the_published_layout(
    version: int, wrapped_size: int, made_credential: Credential
) -> None:
    context = device_for(made_credential, version).request(SPCOptions(ASSET_ID))
    message, hash_start = context.message, 24 + wrapped_size
    assert struct.unpack_from(">II", message) == (version, 0)
    assert message[hash_start : hash_start + 20] == sha1(made_credential.certificate(version))
    assert struct.unpack_from(">I", message, hash_start + 20) == (len(context.payload),)
    assert len(message) == hash_start + 24 + len(context.payload)


def test_the_container_of_version_3_has_the_published_layout(made_credential: Credential) -> None:
    context = device_for(made_credential, 3).request(SPCOptions(ASSET_ID))
    message, keys = context.message, context.session.keys
    payload_size = len(context.payload)
    assert struct.unpack_from(">II", message) == (3, 0)
    assert message[8:24].hex() == "6644ff2ba87c99b6ff9655270cd068a6"
    assert message[24:280] == context.session.wrapped_key
    assert message[280:312] == sha256(made_credential.certificate_2048)
    assert struct.unpack_from(">12xI", message, 312) == (payload_size,)
    assert not any(message[312:324])
    assert len(message) == 328 + payload_size + 16
    master = keys.transport_key
    assert keys.payload_key == aes_ecb_encrypt(master, bytes.fromhex("70d1e6c34f07e849b3a624340f4f176d"))
    assert keys.payload_iv == aes_ecb_encrypt(master, bytes.fromhex("c11b3ed1a3803f4e1322a08803145ac6"))
    assert keys.mac_key == aes_ecb_encrypt(master, bytes.fromhex("96d3435f6ef08d7d121fa86b253e4ac9"))
    assert message[-16:] == aes_cmac(keys.mac_key, message[24:-16])


def test_version_3_is_refused_before_anything_else_where_it_is_not_served(
    made_credential: Credential, key_server: KeyServer
) -> None:
    message = device_for(made_credential, 3).request(SPCOptions(ASSET_ID)).message
    older = replace(key_server, served_versions=(1, 2))
    for body in (message, message[:4], message[:100], message + b"\x00", message[:8] + bytes(16) + message[24:]):
        with pytest.raises(Refusal) as refusal:
            older.open(body)
        assert (refusal.value.status, refusal.value.code) == (400, "spc_version_unsupported")


# --- Requests and licenses -------------------------------------------------------------------------------------------


def test_what_a_device_asks_is_what_a_key_server_reads(device: Device, key_server: KeyServer) -> None:
    context = device.request(rich_options())
    opened = module_server(key_server, context.session).open(context.message)
    assert_read_as_said(opened, rich_options())
    assert opened.keys == context.session.keys
    assert opened.device_id == device.device_id
    assert opened.secrets == context.secrets


def test_what_a_key_server_grants_is_what_a_device_opens(device: Device, key_server: KeyServer) -> None:
    context = device.request(rich_options())
    opened = open_ckc(key_server.answer(key_server.open(context.message), LICENSE), context.secrets)
    assert (opened.content_key, opened.content_iv) == (LICENSE.content_key, LICENSE.content_iv)
    assert opened.terms == LICENSE.terms
    assert opened.hdcp_level == LICENSE.hdcp_level
    assert opened.security_level == LICENSE.security_level
    assert (opened.version, opened.session_key_version) == (1, None)


@pytest.mark.parametrize(
    ("terms", "key_type", "fields"),
    [
        (Streaming(60), tags.LEASE_ONLY, (60, 0)),
        (Streaming(None, 60), tags.RENTAL_ONLY, (0, 60)),
        (Streaming(60, 61), tags.LEASE_AND_RENTAL, (60, 61)),
        (Persistent(), tags.PERSISTENT, (0, 0)),
        (Persistent(60), tags.PERSISTENT_LIMITED, (0, 60)),
    ],
)
def test_durations_have_their_key_type(
    terms: Terms, key_type: int, fields: tuple[int, int], device: Device, key_server: KeyServer
) -> None:
    context = device.request(SPCOptions(ASSET_ID, playback_state=STATE))
    ckc = key_server.answer(key_server.open(context.message), replace(LICENSE, terms=terms))
    opened = open_ckc(ckc, context.secrets)
    assert opened.duration is not None
    assert (opened.duration.key_type, opened.duration.lease_field, opened.duration.rental_field) == (key_type, *fields)
    assert opened.terms == terms
    assert opened.is_persistent == isinstance(terms, Persistent)


@pytest.mark.parametrize("title_id", [None, b"sixteen bytes id"], ids=["version 1", "version 2"])
@pytest.mark.parametrize("limits", [(None, None), (1, None), (None, 1), (2_592_000, 86_400)])
def test_offline_keys_have_both_limits(
    limits: tuple[int | None, int | None], title_id: bytes | None, device: Device, key_server: KeyServer
) -> None:
    terms = OfflineKey(bytes(range(16)), *limits, title_id)
    context = device.request(SPCOptions(ASSET_ID, capabilities=OFFLINE_CAPABILITIES))
    ckc = key_server.answer(key_server.open(context.message), replace(LICENSE, terms=terms))
    opened = open_ckc(ckc, context.secrets)
    assert opened.offline_key == terms
    assert opened.duration is None
    assert opened.is_persistent


def module_server(key_server: KeyServer, session: DeviceSession) -> KeyServer:
    """The key server with a module that can open the video blocks of this one session."""

    def open_video(session_key_and_r1: bytes, r2: bytes) -> object:
        assert (session_key_and_r1, r2) == (session.video.session_key_and_r1, session.video.r2)
        return session.video

    return replace(key_server, open_video=open_video)


@pytest.mark.parametrize(
    ("session_key_version", "ckc_version"), [(tags.SESSION_KEY_GENERIC, 1), (tags.SESSION_KEY_VIDEO, 2)]
)
def test_a_module_says_which_session_key_it_used(
    session_key_version: int, ckc_version: int, device: Device, key_server: KeyServer
) -> None:
    context = device.request(rich_options())
    server = module_server(key_server, context.session)
    license = replace(LICENSE, session_key_version=session_key_version)
    opened = open_ckc(server.answer(server.open(context.message), license), context.secrets, from_module=True)
    assert (opened.version, opened.session_key_version) == (ckc_version, session_key_version)
    assert opened.content_key == LICENSE.content_key


@pytest.mark.parametrize("padding", list(Padding))
def test_every_padding_is_read(padding: Padding, made_credential: Credential, key_server: KeyServer) -> None:
    context = device_for(made_credential, 1).request(replace(rich_options(), padding=padding, video=False))
    assert key_server.open(context.message).secrets == context.secrets


def test_a_fixed_device_key_needs_no_application_secret(made_credential: Credential) -> None:
    fixed = bytes(range(16))
    device = Device(1, made_credential.certificate_1024, fixed_device_key=fixed)
    context = device.request(SPCOptions(ASSET_ID))
    server = replace(key_server_for(made_credential), application_secret=None, fixed_device_key=fixed)
    assert server.open(context.message).secrets == context.secrets


def test_another_application_secret_does_not_open(made_credential: Credential, key_server: KeyServer) -> None:
    device = Device(1, made_credential.certificate_1024, application_secret=bytes(16))
    with pytest.raises(Refusal, match="integrity"):
        key_server.open(device.request(SPCOptions(ASSET_ID)).message)


def test_a_seed_repeats_a_payload(made_credential: Credential) -> None:
    first, second = (
        device_for(made_credential, 1, random.Random(5)).request(rich_options()).payload for _ in range(2)
    )
    assert first == second


# --- Random combinations ---------------------------------------------------------------------------------------------


def random_devices(credential: Credential, randomness: random.Random) -> list[Device]:
    plain = [device_for(credential, version, randomness) for version in containers.VERSIONS]
    return plain + [device_with_bundle_hash(credential, version, randomness) for version in (1, 3)]


def test_random_combinations_agree_on_key_and_terms_and_refusal(
    made_credential: Credential, key_server: KeyServer, seed: int
) -> None:
    randomness = random.Random(seed)
    devices = random_devices(made_credential, randomness)
    policy = Policy(title_id=randomness.randbytes(16))
    kinds: dict[str, int] = {}
    for number in range(COMBINATION_COUNT):
        options = random_options(randomness, ASSET_ID)
        key = random_content_key(randomness)
        right = random_right(randomness, key)
        offline = randomness.random() < {"stream": 0.2, "offline": 0.9, "both": 0.5}[right.mode]
        context = randomness.choice(devices).request(options)
        with named_on_failure(f"combination {number}, offline {offline}", options, key, right, policy):
            opened = key_server.open(context.message)
            assert_read_as_said(opened, options)
            try:
                license = decide(opened, right, key, policy, offline=offline)
            except Refused as refused:
                for code in refused.codes:
                    kinds[code] = kinds.get(code, 0) + 1
                continue
            granted = open_ckc(key_server.answer(opened, license), context.secrets)
            assert (granted.content_key, granted.content_iv) == (key.key, key.iv)
            assert granted.terms == license.terms
            assert (granted.hdcp_level, granted.security_level) == (license.hdcp_level, license.security_level)
            assert granted.is_persistent == offline
        kind = type(license.terms).__name__
        kinds[kind] = kinds.get(kind, 0) + 1
    print(kinds)
    assert {"Streaming", "OfflineKey", "security_level", "terms_not_expressible", "offline_not_allowed"} <= kinds.keys()


def test_random_sync_requests_are_read_as_they_were_written(
    made_credential: Credential, key_server: KeyServer, seed: int
) -> None:
    randomness = random.Random(seed)
    devices = random_devices(made_credential, randomness)
    for number in range(SYNC_COUNT):
        request = random_sync(randomness, challenge=randomness.getrandbits(64))
        options = replace(random_options(randomness, ASSET_ID), sync=request, return_request=())
        with named_on_failure(f"sync request {number}", options):
            opened = key_server.open(randomness.choice(devices).request(options).message)
            assert opened.sync_request == request


@pytest.mark.parametrize(
    ("request_", "size"),
    [(SyncV1(bytes(16), 0), 28), (SyncV2(0, 1, bytes(16), 0), 48), (SyncV2(0, 1, bytes(16), 0, (bytes(16),)), 64)],
)
def test_sync_requests_have_the_published_sizes(request_: SyncV1 | SyncV2, size: int) -> None:
    assert len(request_.encoded) == size


def test_the_facts_have_the_published_sizes() -> None:
    sizes = {
        STATE: 16,
        DeviceIdentity(1, 1, bytes(8), bytes(8), 1, 1, 1): 36,
        DeviceInfo(1, 1): 16,
        DenyListVersion(1): 4,
        SecurityLevelReport(1): 20,
        EncryptedSecurityLevelReport(bytes(32)): 32,
        KeyFormats((1, 2, 3)): 36,
        VMDeviceInfo(0): 28,
        NotSync(): 28,
    }
    assert [len(fact.encoded) for fact in sizes] == list(sizes.values())


# --- Framing ---------------------------------------------------------------------------------------------------------


def test_every_truncation_of_a_payload_is_refused() -> None:
    payload = serialise([Block(1, b"", b""), Block(2, b"value", bytes(11)), Block(3, bytes(32), b"")])
    starts = {0, 16, 48}
    for length in set(range(len(payload))) - starts:
        with pytest.raises(FramingError):
            parse(payload[:length])


def test_a_tag_that_occurs_twice_is_refused() -> None:
    with pytest.raises(FramingError, match="twice"):
        by_tag([Block(1, b"", b""), Block(1, b"", b"")])
