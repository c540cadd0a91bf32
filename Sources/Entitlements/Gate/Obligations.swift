/// What a decision must spend, bind or count in the one commit that releases its answer: the gate cannot know these,
/// because other nodes and requests change them.
package struct Obligations: Equatable, Sendable {
    /// With how many distinct requests the token may ask for this key.
    package let usesPerKey: UInt32?
    /// Whether the token is good for the device alone that redeems it first.
    package let bindsFirstDevice: Bool
    /// How many devices the subject may have; 0 if the device must be among them already.
    package let deviceMaximum: UInt32?
    /// The limits of playbacks at once: those of the token and those of the right.
    package let sessions: [SessionClaims]
    /// What must be remembered of the rental.
    package let rental: RentalStep?
    /// Whether a device beyond the maximum takes the place of the oldest one.
    package let replacesOldestDevice: Bool

    package static let none = Obligations(
        usesPerKey: nil, bindsFirstDevice: false, deviceMaximum: nil, sessions: [], rental: nil)

    package var isEmpty: Bool { self == .none }

    private init(
        usesPerKey: UInt32?, bindsFirstDevice: Bool, deviceMaximum: UInt32?, sessions: [SessionClaims],
        rental: RentalStep?, replacesOldestDevice: Bool = false
    ) {
        self.usesPerKey = usesPerKey
        self.bindsFirstDevice = bindsFirstDevice
        self.deviceMaximum = deviceMaximum
        self.sessions = sessions
        self.rental = rental
        self.replacesOldestDevice = replacesOldestDevice
    }

    /// A receiver or an adapter is not the viewer's device: it is not bound and not counted.
    init(_ right: Right, _ request: GateRequest, rental: RentalStep?) {
        let claims = request.claims
        let isOwn = request.device.isViewersOwn
        self.init(
            usesPerKey: claims.limits.usesPerKey,
            bindsFirstDevice: claims.device.binding == .firstUse && isOwn,
            deviceMaximum: claims.device.isRegisteredOnly ? 0 : isOwn ? claims.device.maximum : nil,
            sessions: [claims.session, right.session].filter { !$0.groups.isEmpty }, rental: rental,
            replacesOldestDevice: claims.device.replacesOldest)
    }
}
