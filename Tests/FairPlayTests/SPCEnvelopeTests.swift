import ByteCoding
import FairPlay
import TestSupport
import Testing

@Suite struct SPCEnvelopeTests {
    /// A container of either version with a payload of 32 bytes; nothing in it is encrypted.
    static func container(version: SPCVersion, payloadSize: Int = 32) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, UInt8(version.rawValue), 0, 0, 0, 0]
        bytes += (0..<16).map { UInt8($0) }
        bytes += [UInt8](repeating: 0xAB, count: version.wrappedKeySize)
        bytes += [UInt8](repeating: 0xCD, count: 20)
        bytes += bigEndianBytes(UInt32(payloadSize))
        return bytes + [UInt8](repeating: 0xEF, count: payloadSize)
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func findsEveryField(version: SPCVersion) throws {
        let message = Self.container(version: version)
        let envelope = try SPCEnvelope(parsing: message)
        let header = version == .v1 ? 176 : 304
        #expect(envelope.version == version)
        #expect(envelope.protection == .none(iv: Bytes16((0..<16).map { UInt8($0) }, at: 0)))
        #expect(envelope.wrappedKey == 24..<24 + version.wrappedKeySize)
        #expect(envelope.certificateHash.bytes == [UInt8](repeating: 0xCD, count: 20))
        #expect(envelope.payload == header..<header + 32)
    }

    /// Every prefix of a valid message must be refused, by an error and not by a trap.
    @Test(arguments: [SPCVersion.v1, .v2])
    func refusesEveryTruncation(version: SPCVersion) {
        let message = Self.container(version: version)
        for length in 0..<message.count {
            #expect(throws: SPCError.self, "\(length) bytes") {
                try SPCEnvelope(parsing: Array(message.prefix(length)))
            }
        }
    }

    @Test func refusesEveryLengthButTheRightOne() {
        let message = Self.container(version: .v1)
        for length in [0, 1, 15, 16, 31, 33, 48, 1 << 31, UInt32.max] {
            var altered = message
            altered.replaceSubrange(172..<176, with: bigEndianBytes(length))
            #expect(throws: SPCError.malformed(.payloadLength(declared: length, available: 32))) {
                try SPCEnvelope(parsing: altered)
            }
        }
    }

    @Test func refusesPayloadsThatAreEmptyOrUnaligned() {
        #expect(throws: SPCError.malformed(.payloadEmpty)) {
            try SPCEnvelope(parsing: Self.container(version: .v1, payloadSize: 0))
        }
        #expect(throws: SPCError.malformed(.payloadUnaligned)) {
            try SPCEnvelope(parsing: Self.container(version: .v1, payloadSize: 31))
        }
    }

    @Test func boundsTheSize() throws {
        let header = 176
        let largest = (SPCEnvelope.sizeMaximum - header) & ~15
        #expect(try SPCEnvelope(parsing: Self.container(version: .v1, payloadSize: largest)).payload.count == largest)
        #expect(throws: SPCError.malformed(.tooLarge(maximum: SPCEnvelope.sizeMaximum))) {
            try SPCEnvelope(parsing: Self.container(version: .v1, payloadSize: SPCEnvelope.sizeMaximum))
        }
    }

    @Test func namesWhatIsNoSPC() {
        #expect(throws: SPCError.empty) { try SPCEnvelope(parsing: []) }
        #expect(throws: SPCError.isCertificate) { try SPCEnvelope(parsing: [0x30, 0x82, 0x04, 0xD3, 0x30]) }
        #expect(throws: SPCError.unsupportedVersion(3)) { try SPCEnvelope(parsing: [0, 0, 0, 3]) }
        #expect(throws: SPCError.unsupportedVersion(0x7370_633D)) { try SPCEnvelope(parsing: Array("spc=AAAA".utf8)) }
    }
}
