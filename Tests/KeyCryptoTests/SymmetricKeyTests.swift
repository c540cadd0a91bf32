import KeyCrypto
import TestSupport
import Testing

@Suite struct HMACSHA256KeyTests {
    /// RFC 4231, test case 2.
    @Test func givesThePublishedCode() throws {
        let key = try HMACSHA256Key(SecretBytes(copying: Array("Jefe".utf8)))
        let message = Array("what do ya want for nothing?".utf8)
        let code = try key.code(for: message[...])
        #expect(hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(key.isValid(code[...], for: message[...]))
        #expect(!key.isValid(code.dropLast(), for: message[...]))
        #expect(!key.isValid(code[...], for: message.dropLast()))
        for index in code.indices {
            var altered = code
            altered[index] ^= 0x80
            #expect(!key.isValid(altered[...], for: message[...]))
        }
    }

    /// A context serves one message after another. Nothing of a message may be left for the next one.
    @Test func givesTheSameCodesInAnyOrderAndOnManyThreads() async throws {
        let secret = [UInt8](repeating: 9, count: 32)
        let messages = (0..<100).map { [UInt8](repeating: UInt8($0), count: $0 * 3) }
        let expected = try messages.map { message in
            try HMACSHA256Key(SecretBytes(copying: secret)).code(for: message[...])
        }
        let key = try HMACSHA256Key(SecretBytes(copying: secret))
        try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<16 {
                group.addTask { try messages.reversed().map { try key.code(for: $0[...]) }.reversed() }
            }
            for try await codes in group { #expect(codes == expected) }
        }
    }
}

@Suite struct AES256GCMKeyTests {
    private let key: AES256GCMKey
    private let sealed: [UInt8]

    init() throws {
        key = try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 5, count: 32)))
        sealed = try key.seal(SecretBytes(copying: Array(0..<16)), associatedData: [1, 2, 3])
    }

    @Test func opensWhatItSealed() throws {
        #expect(sealed.count == 12 + 16 + 16)
        #expect(try key.open(sealed, associatedData: [1, 2, 3]).revealed() == Array(0..<16))
    }

    @Test func neverSealsAlikeTwice() throws {
        let again = try key.seal(SecretBytes(copying: Array(0..<16)), associatedData: [1, 2, 3])
        #expect(again != sealed)
    }

    @Test func refusesEveryAlteredByteAndTruncation() {
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= 1
            #expect(throws: CryptoError.authenticationFailed) { _ = try key.open(altered, associatedData: [1, 2, 3]) }
            #expect(throws: CryptoError.authenticationFailed) {
                _ = try key.open(Array(sealed.prefix(index)), associatedData: [1, 2, 3])
            }
        }
    }

    @Test func refusesOtherAssociatedDataAndKeys() throws {
        #expect(throws: CryptoError.authenticationFailed) { _ = try key.open(sealed, associatedData: [1, 2]) }
        let other = try AES256GCMKey(SecretBytes(count: 32))
        #expect(throws: CryptoError.authenticationFailed) { _ = try other.open(sealed, associatedData: [1, 2, 3]) }
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: 16)) { try AES256GCMKey(SecretBytes(count: 16)) }
    }
}
