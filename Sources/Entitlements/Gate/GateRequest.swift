package import ByteCoding
package import POSIXSockets

/// What an SPC says of the device that asks, as far as rights speak of it.
package struct RequestingDevice: Equatable, Sendable {
    /// HU; nil if it is not known, and then no token that is pinned to a device is good.
    package let identifier: DeviceIdentifier?
    /// Whether the pictures go to an AirPlay receiver, whose HU it then is.
    package let isAirPlay: Bool
    /// Whether they go to Apple's digital AV adapter, whose HU it then is.
    package let isAVAdapter: Bool
    /// The strongest level that the device is known to reach; nil if nothing is known.
    package let securityLevel: Right.SecurityLevel?

    package init(
        identifier: DeviceIdentifier? = nil, isAirPlay: Bool = false, isAVAdapter: Bool = false,
        securityLevel: Right.SecurityLevel? = nil
    ) {
        self.identifier = identifier
        self.isAirPlay = isAirPlay
        self.isAVAdapter = isAVAdapter
        self.securityLevel = securityLevel
    }

    /// Whether the device is the viewer's own, so that it can be bound and counted.
    var isViewersOwn: Bool { !isAirPlay && !isAVAdapter }
}

/// Where a request comes from.
package struct RequestOrigin: Equatable, Sendable {
    package let address: IPAddress?
    package let country: CountryCode?
    /// The name of the listener that accepted the connection; no decision looks at it.
    package let listener: String?

    package init(address: IPAddress? = nil, country: CountryCode? = nil, listener: String? = nil) {
        self.address = address
        self.country = country
        self.listener = listener
    }
}

/// Everything that a decision looks at, and nothing else.
package struct GateRequest: Equatable, Sendable {
    package let claims: Claims
    package let content: RequestedContent
    package let use: LicenseUse
    /// Seconds since 1970.
    package let now: Int64
    package var device = RequestingDevice()
    /// Counts only for rights with a rental that this server remembers.
    package var rental = RentalStanding()
    package var origin = RequestOrigin()
    package var policy = EntitlementPolicy()
    package var revocations = RevocationView()

    package init(claims: Claims, content: RequestedContent, use: LicenseUse, now: Int64) {
        self.claims = claims
        self.content = content
        self.use = use
        self.now = now
    }
}

/// The content that a licence is asked for, as the key store knows it.
package struct RequestedContent: Equatable, Sendable {
    package let contentID: String
    package let keyID: KeyID
    /// The labels under which the `tracks` of a right may speak of the key: the packager's own, and the one of its
    /// content type.
    package let trackLabels: [String]

    package init(contentID: String, keyID: KeyID, trackLabels: [String]) {
        self.contentID = contentID
        self.keyID = keyID
        self.trackLabels = trackLabels
    }
}
