extension ContentKeyAttributes {
    /// The protection that a digital output must have. The raw values are stored, and never change; cases are ordered
    /// by strength.
    package enum HDCP: String, Hashable, Sendable, CaseIterable, Comparable {
        /// "none"; the case is not called so, because an optional has a case of that name.
        case notRequired = "none"
        case type0
        case type1

        package static func < (one: HDCP, other: HDCP) -> Bool { one.strength < other.strength }

        private var strength: Int {
            switch self {
            case .notRequired: 0
            case .type0: 1
            case .type1: 2
            }
        }
    }

    /// How well a device must protect keys and pictures. The raw values are stored, and never change; cases are ordered
    /// by strength.
    package enum SecurityLevel: String, Hashable, Sendable, CaseIterable, Comparable {
        case audio
        case baseline
        case main

        package static func < (one: SecurityLevel, other: SecurityLevel) -> Bool { one.strength < other.strength }

        private var strength: Int {
            switch self {
            case .audio: 0
            case .baseline: 1
            case .main: 2
            }
        }
    }
}
