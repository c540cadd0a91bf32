import TestSupport
import Testing

@testable import KeyCrypto

/// The removal of OAEP paddings (RFC 8017, section 7.1.2), with paddings that the test builds itself.
@Suite struct OAEPDecoderTests {
    /// What is wrong with a padding.
    enum Fault: CaseIterable {
        case none, firstByte, labelDigest, noSeparator, otherSeparator, allZero
    }

    private static func digest(_ bytes: [UInt8], _ padding: OAEPDigest) throws -> [UInt8] {
        let crypto = try CryptoContext()
        switch padding {
        case .sha1: return try crypto.sha1(bytes, in: bytes.indices)
        case .sha256: return try crypto.sha256(bytes)
        }
    }

    /// MGF1 (RFC 8017, appendix B.2.1).
    private static func mask(_ seed: [UInt8], count: Int, _ padding: OAEPDigest) throws -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt8 = 0
        while mask.count < count {
            mask += try digest(seed + [0, 0, 0, counter], padding)
            counter += 1
        }
        return Array(mask.prefix(count))
    }

    /// The padded form of a message, as many bytes as a modulus has.
    private static func padded(
        _ message: [UInt8], size: Int, _ padding: OAEPDigest, _ fault: Fault
    ) throws -> [UInt8] {
        let label = try digest(fault == .labelDigest ? [1] : [], padding)
        let separator: [UInt8] = fault == .noSeparator ? [0] : fault == .otherSeparator ? [2] : [1]
        let zeroCount = size - 2 - 2 * label.count - message.count
        var block = label + [UInt8](repeating: 0, count: zeroCount) + separator + message
        if fault == .allZero { block = label + [UInt8](repeating: 0, count: block.count - label.count) }
        let seed = (0..<label.count).map { UInt8($0 &* 7 &+ 3) }
        let maskedBlock = zip(block, try mask(seed, count: block.count, padding)).map { $0 ^ $1 }
        let maskedSeed = zip(seed, try mask(maskedBlock, count: seed.count, padding)).map { $0 ^ $1 }
        return [fault == .firstByte ? 1 : 0] + maskedSeed + maskedBlock
    }

    private func decode(_ padded: [UInt8], _ padding: OAEPDigest) throws -> [UInt8]? {
        let decoder = try #require(OAEPDecoder())
        let output = SecretBytes(count: 512)
        // The array has bytes, and exists during the call.
        let count = unsafe decoder.decode(padded, size: padded.count, padding: padding, into: output)
        return count.map { Array(output.revealed().prefix($0)) }
    }

    @Test(arguments: [OAEPDigest.sha1, .sha256], [0, 1, 15, 16, 17, 62])
    func findsTheMessage(padding: OAEPDigest, size: Int) throws {
        let message = (0..<size).map { UInt8($0) }
        for modulusSize in [128, 256] {
            #expect(try decode(Self.padded(message, size: modulusSize, padding, .none), padding) == message)
        }
    }

    @Test(arguments: [OAEPDigest.sha1, .sha256], Fault.allCases.filter { $0 != .none })
    func refusesEveryFault(padding: OAEPDigest, fault: Fault) throws {
        // A message of zeros, so that a missing separator cannot be found in it.
        let message = [UInt8](repeating: 0, count: 16)
        for modulusSize in [128, 256] {
            #expect(try decode(Self.padded(message, size: modulusSize, padding, fault), padding) == nil)
        }
    }

    @Test(arguments: [OAEPDigest.sha1, .sha256])
    func refusesThePaddingOfTheOtherDigest(padding: OAEPDigest) throws {
        let other: OAEPDigest = padding == .sha1 ? .sha256 : .sha1
        #expect(try decode(Self.padded([1, 2, 3], size: 128, other, .none), padding) == nil)
        #expect(try decode([UInt8](repeating: 0, count: 128), padding) == nil)
        #expect(try decode([UInt8](repeating: 0xFF, count: 128), padding) == nil)
    }
}
