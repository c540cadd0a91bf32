"""The key derivations that device and key server share, built on the primitives of `cryptography`."""

import hashlib
import struct

from cryptography.hazmat.primitives import cmac, hashes
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

KEY_SIZE = 16
R2_SIZE_MAXIMUM = 55

# In version 3 the master key encrypts these three blocks. The results are payload key, initialization vector and MAC
# key.
_PAYLOAD_KEY_SEED = bytes.fromhex("70d1e6c34f07e849b3a624340f4f176d")
_PAYLOAD_IV_SEED = bytes.fromhex("c11b3ed1a3803f4e1322a08803145ac6")
_MAC_KEY_SEED = bytes.fromhex("96d3435f6ef08d7d121fa86b253e4ac9")

_D_FUNCTION_PRIME = 813416437
_D_FUNCTION_ROUNDS = 16
_WORD_MASK = 0xFFFFFFFF


def aes_ecb_encrypt(key: bytes, plaintext: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(plaintext) + encryptor.finalize()


def aes_ecb_decrypt(key: bytes, ciphertext: bytes) -> bytes:
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    return decryptor.update(ciphertext) + decryptor.finalize()


def aes_cbc_encrypt(key: bytes, initialization_vector: bytes, plaintext: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.CBC(initialization_vector)).encryptor()
    return encryptor.update(plaintext) + encryptor.finalize()


def aes_cbc_decrypt(key: bytes, initialization_vector: bytes, ciphertext: bytes) -> bytes:
    decryptor = Cipher(algorithms.AES(key), modes.CBC(initialization_vector)).decryptor()
    return decryptor.update(ciphertext) + decryptor.finalize()


def aes_cmac(key: bytes, message: bytes) -> bytes:
    mac = cmac.CMAC(algorithms.AES(key))
    mac.update(message)
    return mac.finalize()


def derive_from_master_key(master_key: bytes) -> tuple[bytes, bytes, bytes]:
    """Payload key, initialization vector and MAC key of an SPC of version 3."""
    seeds = (_PAYLOAD_KEY_SEED, _PAYLOAD_IV_SEED, _MAC_KEY_SEED)
    payload_key, payload_iv, mac_key = (aes_ecb_encrypt(master_key, seed) for seed in seeds)
    return payload_key, payload_iv, mac_key


def _oaep(spc_version: int) -> rsa_padding.OAEP:
    """Version 1 uses SHA-1 for label and mask, later versions SHA-256 for both; the label is empty."""
    digest = {1: hashes.SHA1, 2: hashes.SHA256, 3: hashes.SHA256}[spc_version]
    return rsa_padding.OAEP(mgf=rsa_padding.MGF1(digest()), algorithm=digest(), label=None)


def wrap_transport_key(spc_version: int, public_key: RSAPublicKey, transport_key: bytes) -> bytes:
    return public_key.encrypt(transport_key, _oaep(spc_version))


def unwrap_transport_key(spc_version: int, private_key: RSAPrivateKey, wrapped_key: bytes) -> bytes:
    """Decrypts a wrapped key. The result may have any length. Raises `ValueError` if the OAEP padding is wrong."""
    return private_key.decrypt(wrapped_key, _oaep(spc_version))


def d_function(r2: bytes) -> bytes:
    """The 16-byte input of the device key, from an R2 of 1 to 55 bytes.

        offset  size  field of the 64-byte block that is hashed
             0     n  R2
             n     1  0x80
           n+1  55-n  zeros
            56     4  M0, little-endian: seven words from 0, mixed
            60     4  M1, little-endian: seven words from 28, mixed
    """
    if not 1 <= len(r2) <= R2_SIZE_MAXIMUM:
        raise ValueError(f"R2 of {len(r2)} bytes")
    head = (r2 + b"\x80").ljust(56, b"\x00")
    words = struct.unpack(">14I", head)
    mixed = (_mix(sum(words[:7]) & _WORD_MASK), _mix(sum(words[7:]) & _WORD_MASK))
    return hashlib.sha1(head + struct.pack("<2I", *mixed)).digest()[:KEY_SIZE]


def _mix(word: int) -> int:
    for _ in range(_D_FUNCTION_ROUNDS):
        if word & 1:
            word >>= 1
        else:
            word = ((3 * word + 1) & _WORD_MASK) % _D_FUNCTION_PRIME
    return word


def device_key(application_secret: bytes, r2: bytes) -> bytes:
    """DASk, the key of the SK..R1 block, for this R2 under an application secret (ASk)."""
    return aes_ecb_encrypt(application_secret, d_function(r2))


def ckc_payload_key(r1: bytes, anti_replay_seed: bytes) -> bytes:
    return aes_ecb_encrypt(hashlib.sha1(r1).digest()[:KEY_SIZE], anti_replay_seed)


def wrap_content_key(session_key: bytes, content_key: bytes) -> bytes:
    return aes_ecb_encrypt(session_key, content_key)


def unwrap_content_key(session_key: bytes, wrapped: bytes) -> bytes:
    return aes_ecb_decrypt(session_key, wrapped)
