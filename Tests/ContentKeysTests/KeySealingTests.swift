import ByteCoding
import KeyCrypto
import Testing

@testable import ContentKeys

@Suite struct KeySealingTests {
    static let sealedSize = 12 + 32 + 16

    let sealing: KeySealing

    init() throws {
        sealing = try Self.sealing(byte: 0x11, version: 1)
    }

    static func sealing(byte: UInt8, version: UInt32) throws -> KeySealing {
        let secret = SecretBytes(copying: [UInt8](repeating: byte, count: AES256GCMKey.keySize))
        return KeySealing(keyEncryptionKey: try AES256GCMKey(secret), version: version)
    }

    static func record(kid: UInt8 = 1, content: String = "movie", period: UInt32? = nil) throws -> ContentKeyRecord {
        let keyID = try #require(KeyID(bytes: [UInt8](repeating: kid, count: 16)))
        return try ContentKeyRecord(
            attributes: ContentKeyAttributes(
                keyID: keyID, contentID: ContentID(content), periodIndex: period, createdAt: 1_700_000_000),
            key: ContentKey(SecretBytes(copying: Array(0x20..<0x30))), iv: Bytes16(high: 0xA0A1, low: 0xB0B1))
    }

    @Test func opensWhatItSealed() throws {
        let record = try Self.record(period: 7)
        let sealed = try sealing.seal(record)
        #expect(sealed.keyVersion == 1)
        #expect(sealed.bytes.count == Self.sealedSize)
        let opened = try sealing.open(sealed, attributes: record.attributes)
        #expect(opened == record)
        #expect(opened.key.bytes.revealed() == Array(0x20..<0x30))
        #expect(opened.iv == Bytes16(high: 0xA0A1, low: 0xB0B1))
    }

    @Test func neverSealsTheSameWayTwice() throws {
        let record = try Self.record()
        #expect(try sealing.seal(record) != sealing.seal(record))
    }

    @Test(arguments: 0..<sealedSize)
    func refusesEveryFlippedByte(offset: Int) throws {
        let record = try Self.record()
        let sealed = try sealing.seal(record)
        for bit in 0..<8 {
            var bytes = sealed.bytes
            bytes[offset] ^= 1 << bit
            let flipped = SealedContentKey(keyVersion: 1, bytes: bytes)
            #expect(throws: CryptoError.authenticationFailed) {
                try sealing.open(flipped, attributes: record.attributes)
            }
        }
    }

    @Test(arguments: 0..<sealedSize)
    func refusesEveryTruncation(size: Int) throws {
        let record = try Self.record()
        let cut = SealedContentKey(keyVersion: 1, bytes: Array(try sealing.seal(record).bytes.prefix(size)))
        #expect(throws: CryptoError.authenticationFailed) { try sealing.open(cut, attributes: record.attributes) }
    }

    /// Each argument differs in one property by which a record is found.
    @Test(
        arguments: [
            (2, "movie", nil), (1, "movie2", nil), (1, "movi", nil), (1, "movie", 0), (1, "movie", 1),
        ] as [(UInt8, String, UInt32?)])
    func refusesAnotherRecord(kid: UInt8, content: String, period: UInt32?) throws {
        let sealed = try sealing.seal(Self.record())
        let other = try Self.record(kid: kid, content: content, period: period)
        #expect(throws: CryptoError.authenticationFailed) { try sealing.open(sealed, attributes: other.attributes) }
        #expect(throws: CryptoError.authenticationFailed) {
            try sealing.open(sealing.seal(other), attributes: Self.record().attributes)
        }
    }

    @Test func refusesAnotherKeyEncryptionKeyAndAnotherVersion() throws {
        let record = try Self.record()
        let sealed = try sealing.seal(record)
        for other in [try Self.sealing(byte: 0x12, version: 1), try Self.sealing(byte: 0x11, version: 2)] {
            #expect(throws: CryptoError.authenticationFailed) { try other.open(sealed, attributes: record.attributes) }
            let claimed = SealedContentKey(keyVersion: other.version, bytes: sealed.bytes)
            #expect(throws: CryptoError.authenticationFailed) { try other.open(claimed, attributes: record.attributes) }
        }
    }

    /// Each argument differs in one of the other properties.
    @Test(
        arguments: [
            { $0.track = Track(.hd) }, { $0.track = try Track(label: nil, contentType: .uhd) },
            { $0.scheme = .sampleAES }, { $0.state = .withdrawn }, { $0.createdAt += 1 },
            { $0.leastHDCP = .type1 }, { $0.leastSecurityLevel = .main },
        ] as [@Sendable (inout ContentKeyAttributes) throws -> Void])
    func refusesARecordThatWasAltered(change: @Sendable (inout ContentKeyAttributes) throws -> Void) throws {
        let record = try Self.record()
        var attributes = record.attributes
        try change(&attributes)
        #expect(attributes != record.attributes)
        #expect(throws: CryptoError.authenticationFailed) {
            try sealing.open(sealing.seal(record), attributes: attributes)
        }
    }

    @Test func bindsTheDocumentedEncoding() throws {
        var attributes = try Self.record(kid: 0xAB, content: "id", period: 0x0102_0304).attributes
        (attributes.leastHDCP, attributes.track) = (.type1, Track(.hd))
        var expected =
            Array("LKCKEY01".utf8) + [0, 0, 0, 9] + [UInt8](repeating: 0xAB, count: 16) + [1]
            + [0, 0, 0, 0, 1, 2, 3, 4]
        let words = [("id", 2), ("HD", 2), ("hd", 2), ("cbcs", 4), ("live", 4)] as [(String, UInt8)]
        expected += words.flatMap { [$0.1] + Array($0.0.utf8) }
        expected += Bytes16(high: 0, low: 1_700_000_000).bytes.suffix(8)
        expected += [5] + Array("type1".utf8) + [0xFF]
        #expect(KeySealing.associatedData(attributes, version: 9) == expected)
        let unperiodic = try Self.record(kid: 0xAB, content: "id").attributes
        let data = KeySealing.associatedData(unperiodic, version: 9)
        #expect(data[28...36] == [0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(data[40...43] == [0xFF, 2, UInt8(ascii: "s"), UInt8(ascii: "d")])
    }

    @Test func recognisesItsOwnProofAlone() throws {
        let proof = try sealing.makeProof()
        #expect(sealing.accepts(proof: proof))
        #expect(!(try Self.sealing(byte: 0x12, version: 1).accepts(proof: proof)))
        #expect(!(try Self.sealing(byte: 0x11, version: 2).accepts(proof: proof)))
        #expect(!sealing.accepts(proof: []))
        #expect(!sealing.accepts(proof: try sealing.seal(Self.record()).bytes))
    }
}
