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
        /// Whatever the request asks for: only some dialects can say so, and the native one is not among them.
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

    package let selector: Selector
    /// The first second in which the right holds.
    package let start: Int64?
    /// The first second in which the right no longer holds.
    package let end: Int64?
    /// How long after the licence is issued playback may begin; at least 1.
    package let duration: Int64?
    /// How long playback may go on without a renewal; at least 1.
    package let lease: Int64?
    package let mode: Mode
    /// How long an offline licence is good until its first play; at least 1.
    package let storage: Int64?
    /// How long an offline licence is good from its first play; at least 1.
    package let playback: Int64?
    /// What the device must be able to do, whatever the track.
    package let protection: Protection
    /// What it must be able to do besides, by the label of the track.
    package let tracks: [String: Protection]
    /// Where the pictures may go.
    package let outputs: OutputPermissions
    /// The name of a policy of the configuration that holds besides.
    package let profile: String?
    /// How many seconds before the end of a lease the player should renew it; at least 1. It restricts nothing.
    package let renewAhead: Int64?
    /// What counts for this right besides what counts for the whole token.
    package let session: SessionClaims

    /// A right to be minted. It grants nothing before a verifier has read it from a signed token.
    package init(
        _ selector: Selector, start: Int64? = nil, end: Int64? = nil, duration: Int64? = nil, lease: Int64? = nil,
        mode: Mode = .stream, storage: Int64? = nil, playback: Int64? = nil, hdcp: HDCP? = nil,
        minimumLevel: SecurityLevel? = nil, tracks: [String: Protection] = [:],
        outputs: OutputPermissions = OutputPermissions(), profile: String? = nil, renewAhead: Int64? = nil,
        session: SessionClaims = SessionClaims()
    ) {
        self.selector = selector
        self.start = start
        self.end = end
        self.duration = duration
        self.lease = lease
        self.mode = mode
        self.storage = storage
        self.playback = playback
        protection = Protection(hdcp: hdcp, securityLevel: minimumLevel)
        self.tracks = tracks
        self.outputs = outputs
        self.profile = profile
        self.renewAhead = renewAhead
        self.session = session
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
