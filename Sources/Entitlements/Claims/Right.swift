package import ByteCoding

/// One entry of a token's `rights`: which content, when, for how long and how.
///
/// Times are seconds since 1970, durations seconds.
package struct Right: Equatable, Sendable {
    /// What a right covers. Texts are compared byte for byte.
    package enum Selector: Equatable, Sendable {
        /// The content with this identifier.
        case content(String)
        /// The content keys with these identifiers, 1 to `keyIDCountMaximum` of them.
        case keyIDs([KeyID])
        /// Every content whose identifier begins with this text.
        case contentPrefix(String)
        /// Every content. Only Axinom's dialect and sealed tokens have this selector; the native vocabulary has not.
        case anything
    }

    /// How the content may be used.
    package enum Mode: String, Sendable, CaseIterable {
        case stream
        case offline
        case both
    }

    /// The protection that a digital output must have.
    package enum HDCP: String, Sendable, CaseIterable {
        /// Named differently from its value "none", because `Optional` has a case `none`.
        case notRequired = "none"
        case type0
        case type1
    }

    /// The security level that a device must have.
    package enum SecurityLevel: String, Sendable, CaseIterable {
        case audio
        case baseline
        case main
    }

    /// The most key ids that one right may name.
    package static let keyIDCountMaximum = 64
    /// The most labels that the `tracks` of one right may name.
    package static let trackCountMaximum = 32
    /// The sizes that a label may have, in bytes.
    package static let trackLabelSizes = 1...64

    package var selector: Selector
    /// The first second in which the right is valid.
    package var start: Int64?
    /// The first second in which the right is no longer valid.
    package var end: Int64?
    /// For how long after the license is issued playback may begin; at least 1.
    package var duration: Int64?
    /// A rental whose state this server stores; a token never has it together with a `duration`.
    package var rental: RentalTerms?
    /// For how long playback may continue without a renewal; at least 1.
    package var lease: Int64?
    /// For how long a license is valid; at least 1. In streaming it is a lease, in offline use an end. Only NAGRA's
    /// dialect has it.
    package var life: Int64?
    package var mode = Mode.stream
    /// For how long an offline license is valid before its first play; at least 1.
    package var storage: Int64?
    /// For how long an offline license is valid after its first play; at least 1.
    package var playback: Int64?
    /// The protection that the device must have for every track.
    package var protection = Protection()
    /// The additional protection that the device must have for a track, by the label of the track.
    package var tracks: [String: Protection] = [:]
    /// The outputs to which the content may be sent.
    package var outputs = OutputPermissions()
    /// The name of a policy in the configuration that applies in addition.
    package var profile: String?
    /// How many seconds before the end of a lease the player should renew it; at least 1. It restricts nothing.
    package var renewAhead: Int64?
    /// The limits on playbacks for this right, in addition to those for the whole token.
    package var session = SessionClaims()

    /// Makes a right without limits. A right grants nothing by itself: only verified claims grant something.
    package init(_ selector: Selector) {
        self.selector = selector
    }

    /// Whether the right covers this content, by its identifier or by its key.
    func covers(contentID: String?, keyID: KeyID?) -> Bool {
        switch selector {
        case .content(let name): contentID.map(name.hasSameUTF8) ?? false
        case .keyIDs(let keyIDs): keyID.map(keyIDs.contains) ?? false
        case .contentPrefix(let prefix): contentID.map { $0.utf8.starts(with: prefix.utf8) } ?? false
        case .anything: true
        }
    }

    /// Returns the protection that a device must have for the key of these tracks: the right's own and the protection
    /// of each track, merged.
    func protection(ofTracks labels: [String]) -> Protection {
        guard !tracks.isEmpty else { return protection }
        return labels.reduce(protection) { merged, label in tracks[label].map(merged.merged) ?? merged }
    }
}

/// The protection that a device must have before it gets a key.
package struct Protection: Equatable, Sendable {
    /// The minimum protection of digital outputs; nil for no demand.
    package let hdcp: Right.HDCP?
    /// The minimum security level of the device; nil for no demand.
    package let securityLevel: Right.SecurityLevel?

    package init(hdcp: Right.HDCP? = nil, securityLevel: Right.SecurityLevel? = nil) {
        self.hdcp = hdcp
        self.securityLevel = securityLevel
    }

    /// Returns both demands combined: for each property, the stricter one.
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

/// Whether a content may be sent from the device to other outputs. Nil means that no demand is made.
package struct OutputPermissions: Equatable, Sendable {
    package let airPlay: Bool?
    package let avAdapter: Bool?

    package init(airPlay: Bool? = nil, avAdapter: Bool? = nil) {
        self.airPlay = airPlay
        self.avAdapter = avAdapter
    }

    /// Returns both combined: an output that either of them forbids is forbidden.
    func merged(with other: OutputPermissions) -> OutputPermissions {
        OutputPermissions(
            airPlay: Self.stricter(airPlay, other.airPlay), avAdapter: Self.stricter(avAdapter, other.avAdapter))
    }

    private static func stricter(_ one: Bool?, _ other: Bool?) -> Bool? {
        guard let one, let other else { return one ?? other }
        return one && other
    }
}
