/// How well a device protects keys and pictures (protocol, section 4.6). The numeric order of the raw values is the
/// order of strength.
package enum SecurityLevel: UInt64, Sendable, CaseIterable, Comparable {
    case audio = 0x17d9_9d57_4eed_567d
    case baseline = 0x32f0_0049_66a5_c4f8
    case main = 0x4e7f_d924_21d5_88b4

    /// The strongest known level that a reported number reaches; nil below all of them.
    package init?(reported: UInt64) {
        guard let level = Self.allCases.last(where: { $0.rawValue <= reported }) else { return nil }
        self = level
    }

    package static func < (one: SecurityLevel, other: SecurityLevel) -> Bool { one.rawValue < other.rawValue }
}
