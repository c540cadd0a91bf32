/// The HDCP enforcement block's first word (protocol, section 4.6); eight random bytes follow it.
///
/// Levels are ordered by how much they protect.
package enum HDCPLevel: UInt64, Sendable, CaseIterable, Comparable {
    case none = 0xef72_894c_a789_5b78
    case type0 = 0x4079_1ac7_8bd5_c571
    case type1 = 0x285a_0863_bba8_e1d3

    private var rank: Int {
        switch self {
        case .none: 0
        case .type0: 1
        case .type1: 2
        }
    }

    package static func < (one: HDCPLevel, other: HDCPLevel) -> Bool { one.rank < other.rank }
}
