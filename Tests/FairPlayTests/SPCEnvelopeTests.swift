import ByteCoding
import FairPlay
import TestSupport
import Testing

@Suite struct SPCEnvelopeTests {
    private static let all: Set<SPCVersion> = Set(SPCVersion.allCases)

    /// A container of any version, by default with a payload of 32 bytes. Nothing in it is encrypted.
    static func container(version: SPCVersion, payloadSize: Int = 32) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, UInt8(version.rawValue), 0, 0, 0, 0]
        switch version {
        case .v1, .v2: bytes += (0..<16).map { UInt8($0) }
        case .v3: bytes += hex("6644ff2ba87c99b6ff9655270cd068a6")
        }
        bytes += [UInt8](repeating: 0xAB, count: version == .v1 ? 128 : 256)
        bytes += [UInt8](repeating: 0xCD, count: version == .v3 ? 32 : 20)
        if version == .v3 { bytes += [UInt8](repeating: 0, count: 12) }
        bytes += bigEndianBytes(UInt32(payloadSize))
        bytes += [UInt8](repeating: 0xEF, count: payloadSize)
        return version == .v3 ? bytes + [UInt8](repeating: 0x77, count: 16) : bytes
    }

    private static func headerSize(_ version: SPCVersion) -> Int {
        switch version {
        case .v1: 176
        case .v2: 304
        case .v3: 328
        }
    }

    @Test(arguments: SPCVersion.allCases)
    func findsEveryField(version: SPCVersion) throws {
        let envelope = try SPCEnvelope(parsing: Self.container(version: version), served: Self.all)
        let header = Self.headerSize(version)
        #expect(envelope.version == version)
        #expect(envelope.wrappedKey == 24..<(version == .v1 ? 152 : 280))
        #expect(envelope.certificateHash.bytes == [UInt8](repeating: 0xCD, count: version == .v3 ? 32 : 20))
        #expect(envelope.certificateHash.algorithm == (version == .v3 ? .sha256 : .sha1))
        #expect(envelope.payload == header..<header + 32)
        let block = Bytes16((0..<16).map { UInt8($0) }, at: 0)
        let tag = Bytes16([UInt8](repeating: 0x77, count: 16), at: 0)
        #expect(envelope.protection == (version == .v3 ? .authenticated(tag: tag) : .none(iv: block)))
    }

    /// Every prefix of a valid message is refused by an error, not by a trap.
    @Test(arguments: SPCVersion.allCases)
    func refusesEveryTruncation(version: SPCVersion) {
        let message = Self.container(version: version)
        for length in 0..<message.count {
            #expect(throws: SPCError.self, "\(length) bytes") {
                try SPCEnvelope(parsing: Array(message.prefix(length)), served: Self.all)
            }
        }
    }

    @Test(arguments: SPCVersion.allCases, [1, 15, 16, 17, 64])
    func refusesTrailingBytes(version: SPCVersion, count: Int) {
        let message = Self.container(version: version) + [UInt8](repeating: 0, count: count)
        #expect(throws: SPCError.malformed(.payloadLength(declared: 32, available: 32 + count))) {
            try SPCEnvelope(parsing: message, served: Self.all)
        }
    }

    @Test(arguments: SPCVersion.allCases, [0, 1, 15, 16, 31, 33, 48, 1 << 31, UInt32.max])
    func refusesEveryLengthButTheRightOne(version: SPCVersion, length: UInt32) {
        var altered = Self.container(version: version)
        let header = Self.headerSize(version)
        altered.replaceSubrange(header - 4..<header, with: bigEndianBytes(length))
        #expect(throws: SPCError.malformed(.payloadLength(declared: length, available: 32))) {
            try SPCEnvelope(parsing: altered, served: Self.all)
        }
    }

    @Test(arguments: SPCVersion.allCases)
    func refusesPayloadsThatAreEmptyOrUnaligned(version: SPCVersion) {
        #expect(throws: SPCError.malformed(.payloadEmpty)) {
            try SPCEnvelope(parsing: Self.container(version: version, payloadSize: 0), served: Self.all)
        }
        #expect(throws: SPCError.malformed(.payloadUnaligned)) {
            try SPCEnvelope(parsing: Self.container(version: version, payloadSize: 31), served: Self.all)
        }
    }

    @Test(arguments: SPCVersion.allCases)
    func boundsTheSize(version: SPCVersion) throws {
        let around = Self.headerSize(version) + (version == .v3 ? 16 : 0)
        let largest = (SPCEnvelope.sizeMaximum - around) & ~15
        let message = Self.container(version: version, payloadSize: largest)
        #expect(try SPCEnvelope(parsing: message, served: Self.all).payload.count == largest)
        #expect(throws: SPCError.malformed(.tooLarge(maximum: SPCEnvelope.sizeMaximum))) {
            try SPCEnvelope(
                parsing: Self.container(version: version, payloadSize: SPCEnvelope.sizeMaximum), served: Self.all)
        }
    }

    /// The word is zero in every sample, but any value is accepted.
    @Test(arguments: SPCVersion.allCases)
    func ignoresTheReservedWord(version: SPCVersion) throws {
        var message = Self.container(version: version)
        message.replaceSubrange(4..<8, with: [0xFF, 0xFE, 0xFD, 0xFC])
        #expect(try SPCEnvelope(parsing: message, served: Self.all).payload.count == 32)
    }

    @Test(arguments: 8..<24)
    func refusesAnotherTransportInVersion3(offset: Int) {
        var message = Self.container(version: .v3)
        message[offset] ^= 1
        #expect(throws: SPCError.malformed(.transportIdentifier)) {
            try SPCEnvelope(parsing: message, served: Self.all)
        }
    }

    /// The authentication tag does not cover these bytes.
    @Test(arguments: 312..<324)
    func refusesAnyByteBeforeTheLengthOfVersion3(offset: Int) {
        var message = Self.container(version: .v3)
        message[offset] = 1
        #expect(throws: SPCError.malformed(.payloadLengthHigh)) {
            try SPCEnvelope(parsing: message, served: Self.all)
        }
    }

    @Test func readsVersion3OnlyWhereItIsServed() {
        #expect(throws: SPCError.unsupportedVersion(3)) { try SPCEnvelope(parsing: Self.container(version: .v3)) }
        #expect(throws: SPCError.unsupportedVersion(1)) {
            try SPCEnvelope(parsing: Self.container(version: .v1), served: [.v3])
        }
    }

    @Test func namesWhatIsNoSPC() {
        #expect(throws: SPCError.empty) { try SPCEnvelope(parsing: []) }
        #expect(throws: SPCError.isCertificate) { try SPCEnvelope(parsing: [0x30, 0x82, 0x04, 0xD3, 0x30]) }
        #expect(throws: SPCError.unsupportedVersion(3)) { try SPCEnvelope(parsing: [0, 0, 0, 3]) }
        #expect(throws: SPCError.unsupportedVersion(0x7370_633D)) { try SPCEnvelope(parsing: Array("spc=AAAA".utf8)) }
    }
}
