/// A device's report of its security level.
///
///     offset  size  field
///          0     4  version, 1
///          4     4  reserved, 0
///          8     8  level
///         16     4  version of the kext deny list
///
/// A value of 32 bytes is the encrypted form. It is passed over, as are other versions and shorter values. A level of 0
/// is a report: it is below every level (protocol, section 4.6).
package struct SecurityLevelReport: Sendable, Equatable {
    package static let size = 20
    package static let encryptedSize = 32
    static let version: UInt32 = 1

    /// The number as reported.
    package let rawLevel: UInt64
    package let denyListVersion: UInt32

    package init(rawLevel: UInt64, denyListVersion: UInt32) {
        self.rawLevel = rawLevel
        self.denyListVersion = denyListVersion
    }
}
