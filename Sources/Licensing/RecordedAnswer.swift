import ByteCoding
import Entitlements
import Records

/// What a store keeps of a decision so that the same request gets the same licence again: its name, and for what use it
/// was given.
///
///     offset  size  field
///          0     1  version, 1
///          1     1  use: 0 streaming, 1 offline
///          2    16  licence id
///
/// Everything else follows from the request, the key and the time, so nothing secret is kept.
struct RecordedAnswer: Equatable, Sendable {
    private static let version: UInt8 = 1
    private static let size = 18

    let license: LicenseID
    let use: LicenseUse

    init(license: LicenseID, use: LicenseUse) {
        self.license = license
        self.use = use
    }

    /// Nil for bytes that no version wrote which this one knows.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes[0] == Self.version, bytes[1] <= 1 else { return nil }
        use = bytes[1] == 1 ? .offline : .streaming
        license = LicenseID(Bytes16(bytes, at: 2))
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.write(Self.version)
        writer.write(UInt8(use == .offline ? 1 : 0))
        writer.write(license.bytes)
        return writer.bytes
    }
}
