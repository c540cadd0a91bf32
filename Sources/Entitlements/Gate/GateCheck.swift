/// A check of the whole request, which does not depend on a right.
package enum RequestCheck: String, Sendable, CaseIterable {
    /// The token, its key, its issuer, its subject, the device, the content and the session are not revoked.
    case revocation
    /// The issuer's tokens may open the content.
    case scope
    /// The device is the one to which the token is pinned. If it must be registered, it is the viewer's own device.
    case device
    /// The token allows the client's address.
    case address
    /// The token allows the client's country.
    case country

    package func check(_ request: GateRequest) throws(EntitlementError) {
        switch self {
        case .revocation:
            try request.revocations.check(
                request.claims, content: request.content, device: request.device.identifier, now: request.now)
        case .scope:
            guard request.claims.mayOpen(contentID: request.content.contentID) else { throw .contentNotCovered }
        case .device:
            // The HU is compared even if the SPC names AirPlay or an adapter. Otherwise a client could claim AirPlay
            // to avoid the check.
            if let pinned = request.claims.device.pinned, request.device.identifier != pinned { throw .deviceMismatch }
            // A receiver or an adapter is never registered and does not reach the store's check, so it is refused here.
            if request.claims.device.isRegisteredOnly, !request.device.isViewersOwn { throw .deviceMismatch }
        case .address:
            guard request.claims.limits.allows(request.origin.address) else { throw .addressDenied }
        case .country:
            guard request.claims.limits.allows(request.origin.country) else { throw .countryDenied }
        }
    }
}

/// A check of one right, after the policy has tightened it.
package enum RightCheck: String, Sendable, CaseIterable {
    /// The right covers the content.
    case coverage
    /// The profile that the right names exists.
    case profile
    /// The right grants the use.
    case use
    /// The right has begun.
    case start
    /// The right has not ended.
    case end
    /// The rental whose state this server stores has not ended.
    case rental
    /// The right allows the output that the device uses.
    case outputs
    /// The security level of the device is sufficient or unknown.
    case securityLevel = "security_level"

    package func check(_ right: Right, _ request: GateRequest) throws(EntitlementError) {
        switch self {
        case .coverage:
            let isCovered = right.covers(contentID: request.content.contentID, keyID: request.content.keyID)
            guard isCovered else { throw .contentNotCovered }
        case .profile: _ = try request.policy.rule(for: right)
        case .use: try Self.checkUse(of: right, request)
        case .start: if let start = right.start, request.now < start { throw .rightNotStarted(start, now: request.now) }
        case .end: if let end = right.end, request.now >= end { throw .rightEnded }
        case .rental: _ = try request.remainder(of: right)
        case .outputs: try Self.checkOutputs(of: right, request)
        case .securityLevel:
            let demanded = try request.tightened(right).protection(ofTracks: request.content.trackLabels).securityLevel
            guard let demanded, let level = request.device.securityLevel, level < demanded else { return }
            throw .securityLevelTooLow
        }
    }

    private static func checkUse(of right: Right, _ request: GateRequest) throws(EntitlementError) {
        let right = try request.tightened(right)
        switch (request.use, right.mode) {
        case (.streaming, .stream), (.streaming, .both): return
        case (.streaming, .offline): throw .streamingNotGranted
        case (.offline, .stream): throw .offlineNotGranted
        case (.offline, .offline), (.offline, .both): if right.lease != nil { throw .offlineOutlivesLease }
        }
    }

    private static func checkOutputs(of right: Right, _ request: GateRequest) throws(EntitlementError) {
        let outputs = try request.tightened(right).outputs
        if request.device.isAirPlay, outputs.airPlay == false { throw .outputNotAllowed }
        if request.device.isAVAdapter, outputs.avAdapter == false { throw .outputNotAllowed }
    }
}

extension GateRequest {
    /// Returns a right after the policy has tightened it, for the requested use, with what a repeated request leaves of
    /// it. Throws `profileUnknown` and `offlineNotGranted`.
    func tightened(_ right: Right) throws(EntitlementError) -> Right {
        let tightened = try right.tightened(by: policy.rule(for: right), for: use)
        return first.map { tightened.remaining(of: $0, now: now) } ?? tightened
    }
}

extension GateRequest {
    /// Returns the remainder of the right's rental; nil if the right has no rental. Throws `rightEnded` and the errors
    /// of `tightened`.
    func remainder(of right: Right) throws(EntitlementError) -> RentalRemainder? {
        guard let terms = right.rental else { return nil }
        return try RentalRemainder(of: terms, rental, lease: try tightened(right).lease, for: use, now: now)
    }
}

extension EntitlementError {
    fileprivate static func rightNotStarted(_ start: Int64, now: Int64) -> EntitlementError {
        .rightNotStarted(retryAfterSeconds: start - now)
    }
}
