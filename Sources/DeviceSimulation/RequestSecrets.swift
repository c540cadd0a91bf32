package import ByteCoding
package import FairPlay
package import KeyCrypto

/// What a device keeps of an SPC that it made, so that it can open the answer.
package final class RequestSecrets: Sendable {
    /// The key of the SPC's payload, 16 bytes.
    package let payloadKey: SecretBytes
    /// The plain SK..R1 block, 96 bytes: session key, HU, R1, integrity.
    package let sessionBlock: SecretBytes
    package let antiReplaySeed: Bytes16
    /// The whole blocks that the CKC must return, in the order of the return request, each once.
    package let expectedEchoes: [[UInt8]]

    /// Throws `wrongSize` for parts of other sizes.
    package init(
        payloadKey: consuming SecretBytes, sessionBlock: consuming SecretBytes, antiReplaySeed: Bytes16,
        expectedEchoes: [[UInt8]]
    ) throws(CryptoError) {
        let sizes = (payloadKey.count, sessionBlock.count)
        guard sizes.0 == 16 else { throw .wrongSize(expected: 16, actual: sizes.0) }
        guard sizes.1 == 96 else { throw .wrongSize(expected: 96, actual: sizes.1) }
        self.payloadKey = payloadKey
        self.sessionBlock = sessionBlock
        self.antiReplaySeed = antiReplaySeed
        self.expectedEchoes = expectedEchoes
    }

    /// R1, 44 bytes.
    package var r1: [UInt8] { sessionBlock.copy(36..<80).revealed() }

    /// HU, 20 bytes.
    package var deviceID: [UInt8] { sessionBlock.copy(16..<36).revealed() }

    /// The plain payload of the SPC that these secrets belong to.
    package func decryptPayload(of envelope: SPCEnvelope, using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        switch envelope.protection {
        case .none(let iv):
            return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: payloadKey, iv: iv)
        case .authenticated:
            throw .operationFailed("no device makes version 3")
        }
    }

    /// The key of the CKC's payload (protocol, section 3.3).
    func licensePayloadKey(using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        try crypto.deriveKey(from: antiReplaySeed, key: try crypto.sha1Key(of: sessionBlock, in: 36..<80))
    }

    /// The content key that a CKC wraps (section 3.4).
    func unwrapContentKey(_ wrapped: Bytes16, using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        try crypto.unwrapBlock(wrapped, key: sessionBlock)
    }
}
