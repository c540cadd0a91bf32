/// The security level of a device (protocol, section 4.6). A stronger level has a larger raw value.
package enum SecurityLevel: UInt64, Sendable, CaseIterable, Comparable {
    case audio = 0x17d9_9d57_4eed_567d
    case baseline = 0x32f0_0049_66a5_c4f8
    case main = 0x4e7f_d924_21d5_88b4

    /// Makes the highest known level that is not above a reported number; nil if the number is below all levels.
    package init?(reported: UInt64) {
        guard let level = Self.allCases.last(where: { $0.rawValue <= reported }) else { return nil }
        self = level
    }

    package static func < (one: SecurityLevel, other: SecurityLevel) -> Bool { one.rawValue < other.rawValue }
}
