package import Entitlements

extension Right {
    /// Makes a right in one expression.
    package init(
        _ selector: Selector, start: Int64? = nil, end: Int64? = nil, duration: Int64? = nil, lease: Int64? = nil,
        mode: Mode = .stream, storage: Int64? = nil, playback: Int64? = nil, hdcp: HDCP? = nil,
        minimumLevel: SecurityLevel? = nil, tracks: [String: Protection] = [:],
        outputs: OutputPermissions = OutputPermissions(), profile: String? = nil, renewAhead: Int64? = nil,
        session: SessionClaims = SessionClaims()
    ) {
        self.init(selector)
        (self.start, self.end, self.duration, self.lease) = (start, end, duration, lease)
        (self.mode, self.storage, self.playback) = (mode, storage, playback)
        protection = Protection(hdcp: hdcp, securityLevel: minimumLevel)
        (self.tracks, self.outputs, self.profile) = (tracks, outputs, profile)
        (self.renewAhead, self.session) = (renewAhead, session)
    }
}
