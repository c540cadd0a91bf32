import ByteCoding
import ContentKeys
import KeyCrypto
import Testing

@Suite struct ContentKeyTests {
    @Test(arguments: [1, 15, 17, 32])
    func hasSixteenBytes(size: Int) {
        #expect(throws: ContentKeyError.wrongSize(size)) { try ContentKey(SecretBytes(count: size)) }
    }

    @Test func comparesItsBytes() throws {
        let key = try ContentKey(SecretBytes(copying: Array(0..<16)))
        #expect(try key == ContentKey(SecretBytes(copying: Array(0..<16))))
        #expect(try key != ContentKey(SecretBytes(copying: Array(1..<17))))
    }

    /// No way of printing a record or its key shows a byte of the key or of the initialization vector, in hexadecimal
    /// or decimal digits.
    @Test func neverPrints() throws {
        let attributes = ContentKeyAttributes(
            keyID: try #require(KeyID(bytes: [UInt8](repeating: 0x11, count: 16))), contentID: try ContentID("movie"),
            createdAt: 0)
        let record = try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: [UInt8](repeating: 0xC5, count: 16))),
            iv: Bytes16(high: 0xD7D7_D7D7_D7D7_D7D7, low: 0xD7D7_D7D7_D7D7_D7D7))
        var text = "\(record) \(record.key) \(String(reflecting: record)) \(String(reflecting: record.key))"
        dump(record, to: &text)
        dump(record.key, to: &text)
        dump([record], to: &text)
        print([Optional(record)], [record.key], to: &text)
        for trace in ["c5", "C5", "197", "d7", "D7", "215", String(0xD7D7_D7D7_D7D7_D7D7 as UInt64)] {
            #expect(!text.contains(trace))
        }
        #expect("\(record)" == "content key 11111111-1111-1111-1111-111111111111 of movie")
    }
}

@Suite struct ContentKeyRecordTests {
    static func record(
        _ change: (inout ContentKeyAttributes) throws -> Void = { _ in }, key: UInt8 = 1, iv: UInt64 = 2
    ) throws -> ContentKeyRecord {
        var attributes = ContentKeyAttributes(
            keyID: try #require(KeyID(bytes: [UInt8](repeating: 9, count: 16))), contentID: try ContentID("movie"),
            createdAt: 5)
        try change(&attributes)
        return try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: [UInt8](repeating: key, count: 16))),
            iv: Bytes16(high: iv, low: iv))
    }

    @Test func refusesAnInitializationVectorThatIsTheKey() {
        #expect(throws: ContentKeyError.ivEqualsKey) { try Self.record(key: 7, iv: 0x0707_0707_0707_0707) }
    }

    @Test func isTheSameKeyWheneverItWasStoredAndWhetherLiveOrNot() throws {
        let record = try Self.record()
        #expect(record.isSameKey(as: try Self.record { $0.createdAt = 99 }))
        #expect(record.isSameKey(as: try Self.record { $0.state = .withdrawn }))
    }

    @Test func isAnotherKeyWhenAnythingElseDiffers() throws {
        let record = try Self.record()
        #expect(!record.isSameKey(as: try Self.record(key: 3)))
        #expect(!record.isSameKey(as: try Self.record(iv: 3)))
        #expect(!record.isSameKey(as: try Self.record { $0.contentID = try ContentID("other") }))
        #expect(!record.isSameKey(as: try Self.record { $0.track = Track(.hd) }))
        #expect(!record.isSameKey(as: try Self.record { $0.track = try Track(label: nil, contentType: .hd) }))
        #expect(!record.isSameKey(as: try Self.record { $0.leastHDCP = .notRequired }))
        #expect(!record.isSameKey(as: try Self.record { $0.leastSecurityLevel = .main }))
        #expect(!record.isSameKey(as: try Self.record { $0.periodIndex = 0 }))
        #expect(!record.isSameKey(as: try Self.record { $0.scheme = .sampleAES }))
        #expect(!record.isSameKey(as: try Self.record { $0.keyID = try KeyGeneration.generateKeyID() }))
    }

    @Test func defaultsToALiveCBCSKeyForEveryTrack() throws {
        let attributes = try Self.record().attributes
        #expect(attributes.scheme == .cbcs)
        #expect(attributes.state == .live)
        #expect(attributes.trackLabel == nil)
        #expect(attributes.contentType == .sd)
        #expect(attributes.leastHDCP == nil)
        #expect(attributes.leastSecurityLevel == nil)
        #expect(attributes.periodIndex == nil)
    }
}

@Suite struct KeyGenerationTests {
    @Test func makesKeysAndVectorsThatAreAllDifferent() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 {
            let (key, iv) = try KeyGeneration.generate()
            #expect(seen.insert(key.bytes.revealed()).inserted)
            #expect(seen.insert(iv.bytes).inserted)
        }
    }

    @Test func makesKeyIDsThatAreRandomUUIDs() throws {
        let keyIDs = try (0..<100).map { _ in try KeyGeneration.generateKeyID() }
        #expect(Set(keyIDs).count == 100)
        #expect(keyIDs.allSatisfy { $0.bytes[6] >> 4 == 4 && $0.bytes[8] >> 6 == 2 })
    }
}
