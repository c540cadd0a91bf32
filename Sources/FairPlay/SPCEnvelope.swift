package import ByteCoding

/// The outer, unencrypted layout of a Server Playback Context (protocol, sections 1.1 and 1.2).
///
///     offset  size  versions 1 and 2                       version 2   size  version 3
///          0     4  version                                               4  version
///          4     4  reserved, ignored                                     4  reserved, ignored
///          8    16  initialization vector                                16  transport identifier
///         24   128  RSA-wrapped session key                     256     256  RSA-wrapped master key
///        152    20  SHA-1 of the application certificate     at 280      32  SHA-256 of it, at 280
///        172     4  payload length N, a multiple of 16       at 300      16  twelve zeros, then the length, at 312
///        176     N  AES-CBC encrypted payload                at 304       N  at 328
///                                                                        16  AES-CMAC, after the payload
///
/// The message must end there. The envelope keeps the message, and copies only small fields.
package struct SPCEnvelope: Sendable {
    /// The largest message that is accepted, in bytes. Real messages have 800 to 4,200 bytes.
    package static let sizeMaximum = 64 * 1024

    package let message: [UInt8]
    package let version: SPCVersion
    package let wrappedKey: Range<Int>
    package let certificateHash: CertificateHash
    package let payload: Range<Int>
    package let protection: Protection

    /// The protection of the payload in addition to its encryption.
    package enum Protection: Sendable, Equatable {
        /// Versions 1 and 2 have no further protection. The initialization vector is part of the message.
        case none(iv: Bytes16)
        /// Version 3 has an authentication tag. The initialization vector is derived from the master key.
        case authenticated(tag: Bytes16)
    }

    /// The identifier of the one known transport of version 3.
    package static let transportIdentifier = Bytes16(high: 0x6644_ff2b_a87c_99b6, low: 0xff96_5527_0cd0_68a6)

    /// Parses a message. A version that is not in `served` is refused before the rest of the message is read.
    ///
    /// Throws `empty`, `isCertificate`, `unsupportedVersion` or `malformed`.
    package init(parsing message: [UInt8], served: Set<SPCVersion> = [.v1, .v2]) throws(SPCError) {
        version = try Self.version(of: message, served: served)
        self.message = message
        do throws(SPCContainerFault) {
            guard message.count <= Self.sizeMaximum else { throw .tooLarge(maximum: Self.sizeMaximum) }
            let fields = try Fields(parsing: message, version: version)
            wrappedKey = fields.wrappedKey
            certificateHash = fields.certificateHash
            payload = fields.payload
            protection = fields.protection
        } catch {
            throw .malformed(error)
        }
    }

    /// Reads the version. Throws if the message is empty or is a certificate, or if the version is not served.
    private static func version(of message: [UInt8], served: Set<SPCVersion>) throws(SPCError) -> SPCVersion {
        guard !message.isEmpty else { throw .empty }
        if message.starts(with: [0x30, 0x82]) { throw .isCertificate }
        var reader = ByteReader(message)
        let number = try wrap({ SPCError.malformed(.truncated($0)) }, try reader.readUInt32("version"))
        guard let version = SPCVersion(rawValue: number), served.contains(version) else {
            throw .unsupportedVersion(number)
        }
        return version
    }

    private struct Fields {
        let wrappedKey: Range<Int>
        let certificateHash: CertificateHash
        let payload: Range<Int>
        let protection: Protection

        init(parsing message: [UInt8], version: SPCVersion) throws(SPCContainerFault) {
            let block: Bytes16
            let lengthHigh: (UInt64, UInt32)
            let declared: UInt32
            var reader = ByteReader(message)
            do throws(ByteReaderError) {
                _ = try reader.readUInt32("version")
                _ = try reader.readUInt32("reserved")
                block = try reader.readBytes16(version == .v3 ? "transport identifier" : "initialization vector")
                wrappedKey = try reader.readRange(count: version.wrappedKeySize, "wrapped key")
                let hash = try reader.readRange(count: version.certificateHash.size, "certificate hash")
                guard let certificateHash = CertificateHash(message[hash]) else {
                    preconditionFailure("the range has the size of a hash")
                }
                self.certificateHash = certificateHash
                switch version {
                case .v1, .v2: lengthHigh = (0, 0)
                case .v3:
                    lengthHigh = (
                        try reader.readUInt64("payload length"), try reader.readUInt32("payload length")
                    )
                }
                declared = try reader.readUInt32("payload length")
            } catch {
                throw .truncated(error)
            }
            guard lengthHigh == (0, 0) else { throw .payloadLengthHigh }
            let available = reader.remaining - version.authenticationTagSize
            guard Int(declared) == available else {
                throw .payloadLength(declared: declared, available: max(available, 0))
            }
            guard declared > 0 else { throw .payloadEmpty }
            guard declared % 16 == 0 else { throw .payloadUnaligned }
            payload = reader.offset..<reader.offset + available
            switch version {
            case .v1, .v2: protection = .none(iv: block)
            case .v3:
                guard block == SPCEnvelope.transportIdentifier else { throw .transportIdentifier }
                protection = .authenticated(tag: Bytes16(message, at: payload.upperBound))
            }
        }
    }
}
