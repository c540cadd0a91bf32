package import ByteCoding

/// The outer, unencrypted layout of a Server Playback Context, versions 1 and 2 (protocol, section 1.1).
///
///     offset  size  field                                 version 2
///          0     4  version
///          4     4  reserved, ignored
///          8    16  initialization vector
///         24   128  RSA-wrapped session key               256
///        152    20  SHA-1 of the application certificate  at 280
///        172     4  payload length N, a multiple of 16    at 300
///        176     N  AES-CBC encrypted payload             at 304
///
/// The message ends with the payload. The envelope keeps the message and copies nothing out of it but small fields.
package struct SPCEnvelope: Sendable {
    /// The largest message that is looked at, in bytes. Real ones have 800 to 4,200.
    package static let sizeMaximum = 64 * 1024

    package let message: [UInt8]
    package let version: SPCVersion
    package let iv: Bytes16
    package let wrappedKey: Range<Int>
    package let certificateHash: CertificateHash
    package let payload: Range<Int>

    /// Throws `empty`, `isCertificate`, `unsupportedVersion` or `malformed`.
    package init(parsing message: [UInt8]) throws(SPCError) {
        version = try Self.version(of: message)
        self.message = message
        do throws(SPCContainerFault) {
            guard message.count <= Self.sizeMaximum else { throw .tooLarge(maximum: Self.sizeMaximum) }
            let fields = try Fields(parsing: message, version: version)
            iv = fields.iv
            wrappedKey = fields.wrappedKey
            certificateHash = fields.certificateHash
            payload = fields.payload
        } catch {
            throw .malformed(error)
        }
    }

    /// The version, once it is plain that the message could be an SPC at all.
    private static func version(of message: [UInt8]) throws(SPCError) -> SPCVersion {
        guard !message.isEmpty else { throw .empty }
        if message.starts(with: [0x30, 0x82]) { throw .isCertificate }
        var reader = ByteReader(message)
        let number: UInt32
        do throws(ByteReaderError) {
            number = try reader.readUInt32("version")
        } catch {
            throw .malformed(.truncated(error))
        }
        guard let version = SPCVersion(rawValue: number), version != .v3 else { throw .unsupportedVersion(number) }
        return version
    }

    private struct Fields {
        let iv: Bytes16
        let wrappedKey: Range<Int>
        let certificateHash: CertificateHash
        let payload: Range<Int>

        init(parsing message: [UInt8], version: SPCVersion) throws(SPCContainerFault) {
            let declared: UInt32
            var reader = ByteReader(message)
            do throws(ByteReaderError) {
                _ = try reader.readUInt32("version")
                _ = try reader.readUInt32("reserved")
                iv = try reader.readBytes16("initialization vector")
                wrappedKey = try reader.readRange(count: version.wrappedKeySize, "wrapped session key")
                let hash = try reader.readRange(count: version.certificateHash.size, "certificate hash")
                guard let certificateHash = CertificateHash(message[hash]) else {
                    preconditionFailure("the range has the size of a hash")
                }
                self.certificateHash = certificateHash
                declared = try reader.readUInt32("payload length")
            } catch {
                throw .truncated(error)
            }
            guard Int(declared) == reader.remaining else {
                throw .payloadLength(declared: declared, available: reader.remaining)
            }
            guard declared > 0 else { throw .payloadEmpty }
            guard declared % 16 == 0 else { throw .payloadUnaligned }
            payload = reader.offset..<message.count
        }
    }
}
