/// What a device must be able to do before it may have a key.
package struct Protection: Equatable, Sendable {
    /// The least protection of digital outputs; nil says nothing.
    package let hdcp: Right.HDCP?
    /// The least security level of the device; nil says nothing.
    package let securityLevel: Right.SecurityLevel?

    package init(hdcp: Right.HDCP? = nil, securityLevel: Right.SecurityLevel? = nil) {
        self.hdcp = hdcp
        self.securityLevel = securityLevel
    }

    /// Both together: in each respect the stricter one wins, and what says nothing leaves the other as it is.
    func merged(with other: Protection) -> Protection {
        Protection(
            hdcp: Self.stricter(hdcp, other.hdcp), securityLevel: Self.stricter(securityLevel, other.securityLevel))
    }

    private static func stricter<Requirement: Comparable>(
        _ one: Requirement?, _ other: Requirement?
    ) -> Requirement? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }
}

extension Right.HDCP: Comparable {
    package static func < (one: Right.HDCP, other: Right.HDCP) -> Bool { one.strength < other.strength }

    private var strength: Int {
        switch self {
        case .notRequired: 0
        case .type0: 1
        case .type1: 2
        }
    }
}

extension Right.SecurityLevel: Comparable {
    package static func < (one: Right.SecurityLevel, other: Right.SecurityLevel) -> Bool {
        one.strength < other.strength
    }

    private var strength: Int {
        switch self {
        case .audio: 0
        case .baseline: 1
        case .main: 2
        }
    }
}
