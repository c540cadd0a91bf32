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
        /// Every content whose identifier begins so.
        case contentPrefix(String)
        /// Everything that a request can ask for: only some dialects can say so, and the native one is not among them.
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
        /// "none"; the case is not called so, because an optional has a case of that name.
        case notRequired = "none"
        case type0
        case type1
    }

    /// How well a device must protect keys and pictures.
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
    /// The first second in which the right holds.
    package var start: Int64?
    /// The first second in which the right no longer holds.
    package var end: Int64?
    /// How long after the licence is issued playback may begin; at least 1.
    package var duration: Int64?
    /// A rental that this server remembers; never beside a `duration` in a token.
    package var rental: RentalTerms?
    /// How long playback may go on without a renewal; at least 1.
    package var lease: Int64?
    /// How long a licence is good, for any use: a lease in streaming, an end in offline use; at least 1. Only
    /// NAGRA's dialect says it.
    package var life: Int64?
    package var mode = Mode.stream
    /// How long an offline licence is good until its first play; at least 1.
    package var storage: Int64?
    /// How long an offline licence is good from its first play; at least 1.
    package var playback: Int64?
    /// What the device must be able to do, for every track.
    package var protection = Protection()
    /// What it must be able to do besides, by the label of the track.
    package var tracks: [String: Protection] = [:]
    /// Where the pictures may go.
    package var outputs = OutputPermissions()
    /// The name of a policy of the configuration that holds besides.
    package var profile: String?
    /// How many seconds before the end of a lease the player should renew it; at least 1. It restricts nothing.
    package var renewAhead: Int64?
    /// What counts for this right besides what counts for the whole token.
    package var session = SessionClaims()

    /// A right without limits. It grants nothing before a verifier has read it from a signed token.
    package init(_ selector: Selector) {
        self.selector = selector
    }

    /// Whether the right is about this content, by identifier or by key.
    func covers(contentID: String?, keyID: KeyID?) -> Bool {
        switch selector {
        case .content(let name): contentID.map(name.hasSameUTF8) ?? false
        case .keyIDs(let keyIDs): keyID.map(keyIDs.contains) ?? false
        case .contentPrefix(let prefix): contentID.map { $0.utf8.starts(with: prefix.utf8) } ?? false
        case .anything: true
        }
    }

    /// What a device must be able to do for a key that these labels stand for: all that the right and its tracks say.
    func protection(ofTracks labels: [String]) -> Protection {
        guard !tracks.isEmpty else { return protection }
        return labels.reduce(protection) { merged, label in tracks[label].map(merged.merged) ?? merged }
    }
}

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

/// Whether a content may leave the device it was asked for on. Nil says nothing.
package struct OutputPermissions: Equatable, Sendable {
    package let airPlay: Bool?
    package let avAdapter: Bool?

    package init(airPlay: Bool? = nil, avAdapter: Bool? = nil) {
        self.airPlay = airPlay
        self.avAdapter = avAdapter
    }

    /// Both together: what either forbids is forbidden.
    func merged(with other: OutputPermissions) -> OutputPermissions {
        OutputPermissions(
            airPlay: Self.stricter(airPlay, other.airPlay), avAdapter: Self.stricter(avAdapter, other.avAdapter))
    }

    private static func stricter(_ one: Bool?, _ other: Bool?) -> Bool? {
        guard let one, let other else { return one ?? other }
        return one && other
    }
}
