import ByteCoding
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Values that another implementation of AES and CMAC computed from the seeds of protocol section 1.2. There is no
/// public vector of version 3.
@Suite struct AuthenticatedPayloadKeysTests {
    private let crypto: CryptoContext
    private let master = SharedSecret(SecretBytes(copying: Array(0..<16)))

    init() throws {
        crypto = try CryptoContext()
    }

    @Test func derivesKeyAndVectorFromTheMasterKey() throws {
        let keys = try AuthenticatedPayloadKeys(master: master.bytes, using: crypto)
        #expect(hex(keys.payload.revealed()) == "c9712223b6fe18c5b838f3f738a62c18")
        #expect(hex(keys.iv.bytes) == "39c0b3e706db0c8fd5871266541df355")
    }

    @Test func authenticatesWrappedKeyHashLengthAndPayload() throws {
        let keys = try AuthenticatedPayloadKeys(master: master.bytes, using: crypto)
        let tag = try keys.tag(
            wrappedKey: [UInt8](repeating: 0xA5, count: 256)[...], certificateHash: Array(0..<32),
            payload: Array(0..<48)[...], using: crypto)
        #expect(hex(tag) == "319d7c4cc7d4bd3410da70f9ee3c4ead")
    }
}
