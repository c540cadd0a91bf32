package import ByteCoding
package import POSIXSockets

/// The facts in an SPC about the device that asks, as far as rights depend on them.
package struct RequestingDevice: Equatable, Sendable {
    /// The HU; nil if it is unknown. A token that is pinned to a device is then refused.
    package let identifier: DeviceIdentifier?
    /// Whether the content goes to an AirPlay receiver. The HU then belongs to the receiver.
    package let isAirPlay: Bool
    /// Whether the content goes to Apple's digital AV adapter. The HU then belongs to the adapter.
    package let isAVAdapter: Bool
    /// The highest level that the device is known to have; nil if no level is known.
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

/// The address and the country from which a request comes.
package struct RequestOrigin: Equatable, Sendable {
    package let address: IPAddress?
    package let country: CountryCode?
    /// The name of the listener that accepted the connection; no decision looks at it.
    package let listener: String?
    /// The player's own names for its session and the content; no decision looks at them.
    package let mark: PlayerMark?

    package init(
        address: IPAddress? = nil, country: CountryCode? = nil, listener: String? = nil, mark: PlayerMark? = nil
    ) {
        self.address = address
        self.country = country
        self.listener = listener
        self.mark = mark
    }
}

/// All the facts on which a decision depends.
package struct GateRequest: Equatable, Sendable {
    let held: HeldClaims
    package let content: RequestedContent
    package let use: LicenseUse
    /// Seconds since 1970.
    package let now: Int64
    package var device = RequestingDevice()
    /// The stored state of the rental. It matters only for rights with a rental.
    package var rental = RentalStanding()
    /// The license that was given to the same request before; nil for a request that is decided for the first time.
    package var first: FirstLicense?
    package var origin = RequestOrigin()
    package var policy = EntitlementPolicy()
    package var revocations = RevocationView()

    package var claims: Claims { held.claims }

    package init(claims: HeldClaims, content: RequestedContent, use: LicenseUse, now: Int64) {
        held = claims
        self.content = content
        self.use = use
        self.now = now
    }

    package init(claims: Claims, content: RequestedContent, use: LicenseUse, now: Int64) {
        self.init(claims: HeldClaims(claims), content: content, use: use, now: now)
    }
}

/// The content for which a license is requested, as it is in the key store.
package struct RequestedContent: Equatable, Sendable {
    package let contentID: String
    package let keyID: KeyID
    /// The labels by which the `tracks` of a right can mean the key: the packager's own label, and the label of its
    /// content type.
    package let trackLabels: [String]

    package init(contentID: String, keyID: KeyID, trackLabels: [String]) {
        self.contentID = contentID
        self.keyID = keyID
        self.trackLabels = trackLabels
    }
}
