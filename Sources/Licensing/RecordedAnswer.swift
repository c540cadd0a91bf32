import ByteCoding
import ContentKeys

/// What a store keeps of a decision so that the same request gets the same licence again: its name and its time.
///
///     offset  size  field
///          0     1  version, 1
///          1    16  licence id
///         17     8  when it was decided, seconds since 1970
///
/// with big-endian integers. Everything else follows from the request, the key and that time, so nothing secret is kept.
struct RecordedAnswer: Equatable, Sendable {
    private static let version: UInt8 = 1
    private static let size = 25

    let license: LicenseID
    let decidedAt: Int64

    init(license: LicenseID, decidedAt: Int64) {
        self.license = license
        self.decidedAt = decidedAt
    }

    /// Nil for bytes that no version wrote which this one knows.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes[0] == Self.version else { return nil }
        license = LicenseID(Bytes16(bytes, at: 1))
        decidedAt = Int64(bitPattern: bytes[17...].reduce(0) { $0 << 8 | UInt64($1) })
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.write(Self.version)
        writer.write(license.bytes)
        writer.write(UInt64(bitPattern: decidedAt))
        return writer.bytes
    }
}
