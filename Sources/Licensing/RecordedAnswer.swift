import ByteCoding
import Records

/// What a store keeps of a decision so that a repeated request gets the same license: the license's id, and the end of
/// the right that granted it.
///
///     offset  size  field
///          0     1  version, 2
///          1    16  license id
///         17     8  the end of the right in seconds since 1970, a signed number; absent if the right has no end
///
/// Everything else is computed again from the request, the key and the time, so nothing secret is kept. An answer of
/// version 1 has one byte for the use before the id, and no end.
struct RecordedAnswer: Equatable, Sendable {
    private static let version: UInt8 = 2
    private static let sizeWithoutEnd = 17

    let license: LicenseID
    /// The end of the right, in seconds since 1970; nil if it has none.
    let rightEnd: Int64?

    init(license: LicenseID, rightEnd: Int64? = nil) {
        self.license = license
        self.rightEnd = rightEnd
    }

    /// Returns nil for bytes that are not in this format.
    init?(_ bytes: [UInt8]) {
        switch (bytes.first, bytes.count) {
        case (1, 18):
            self.init(license: LicenseID(Bytes16(bytes, at: 2)))
        case (Self.version, Self.sizeWithoutEnd):
            self.init(license: LicenseID(Bytes16(bytes, at: 1)))
        case (Self.version, Self.sizeWithoutEnd + 8):
            let end = bytes[Self.sizeWithoutEnd...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.init(license: LicenseID(Bytes16(bytes, at: 1)), rightEnd: Int64(bitPattern: end))
        default: return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.sizeWithoutEnd + 8)
        writer.write(Self.version)
        writer.write(license.bytes)
        if let rightEnd { writer.write(UInt64(bitPattern: rightEnd)) }
        return writer.bytes
    }

    /// Whether this is the answer to a request that would be answered with `asked` if it came for the first time.
    ///
    /// It is not, if the right of the new request ends more than the retry window later: that is another grant. Tokens
    /// that are minted for each attempt may end a little later each time.
    func answers(_ asked: RecordedAnswer, within retryWindow: Int64) -> Bool {
        guard let rightEnd else { return true }
        guard let other = asked.rightEnd else { return false }
        let (latest, overflows) = rightEnd.addingReportingOverflow(retryWindow)
        return overflows || other <= latest
    }
}
