package import ByteCoding
package import FairPlay
package import KeyCrypto

/// The secrets of an SPC that was made here. With them the device can open and check the answer.
package final class RequestSecrets: Sendable {
    /// The 16 bytes that RSA wraps: the key of the SPC's payload, or the master key in version 3.
    package let wrappedKey: SharedSecret
    /// The plain SK..R1 block, 96 bytes: session key, HU, R1, integrity.
    package let sessionBlock: SharedSecret
    /// The plain SK..R1 block for video; nil if the device has no second session key.
    package let videoSessionBlock: SharedSecret?
    package let antiReplaySeed: Bytes16
    /// The complete blocks that the CKC must return, in the order of the return request, each of them once.
    package let expectedEchoes: [[UInt8]]
    package let abilities: DeviceAbilities

    /// Throws `wrongSize` if a part has another size.
    package init(
        wrappedKey: SharedSecret, sessionBlock: SharedSecret, videoSessionBlock: SharedSecret? = nil,
        antiReplaySeed: Bytes16, expectedEchoes: [[UInt8]], abilities: DeviceAbilities
    ) throws(CryptoError) {
        let sizes = [
            (wrappedKey.bytes.count, 16), (sessionBlock.bytes.count, 96), (videoSessionBlock?.bytes.count ?? 96, 96),
        ]
        for (size, expected) in sizes where size != expected {
            throw .wrongSize(expected: expected, actual: size)
        }
        self.wrappedKey = wrappedKey
        self.sessionBlock = sessionBlock
        self.videoSessionBlock = videoSessionBlock
        self.antiReplaySeed = antiReplaySeed
        self.expectedEchoes = expectedEchoes
        self.abilities = abilities
    }

    /// HU, 20 bytes.
    package var deviceID: DeviceID { DeviceID(sessionBlock.bytes.copy(16..<36).revealed()) }

    /// R1, 44 bytes.
    package var r1: [UInt8] { sessionBlock.bytes.copy(36..<80).revealed() }

    /// Returns the key that encrypts the payload of the SPC, 16 bytes.
    package func payloadKey(_ version: SPCVersion, using crypto: CryptoContext) throws(CryptoError) -> SharedSecret {
        switch version {
        case .v1, .v2: wrappedKey
        case .v3: try ContainerKeys(masterKey: wrappedKey, using: crypto).payload
        }
    }

    /// Decrypts the payload of the SPC that these secrets belong to.
    package func decryptPayload(of envelope: SPCEnvelope, using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        let keys =
            switch envelope.protection {
            case .none(let iv): ContainerKeys(payloadKey: wrappedKey, iv: iv)
            case .authenticated: try ContainerKeys(masterKey: wrappedKey, using: crypto)
            }
        return try crypto.decryptCBC(
            envelope.message, in: envelope.payload, key: keys.payload.bytes, iv: keys.iv)
    }
}

/// The statements in a device's SPC that limit what a CKC may contain.
package struct DeviceAbilities: Sendable, Equatable {
    package var hasPlaybackState: Bool
    /// The capabilities; nil if the device stated none.
    package var capabilities: Capabilities?
    /// Whether the device sent the blocks for a second session key.
    package var offersVideoSessionKey: Bool

    package init(hasPlaybackState: Bool, capabilities: Capabilities?, offersVideoSessionKey: Bool = false) {
        self.hasPlaybackState = hasPlaybackState
        self.capabilities = capabilities
        self.offersVideoSessionKey = offersVideoSessionKey
    }
}
