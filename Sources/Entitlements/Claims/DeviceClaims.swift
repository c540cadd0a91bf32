import ByteCoding

/// The claims of a token about the devices that may use it (entitlement, section 4.2).
package struct DeviceClaims: Equatable, Sendable {
    /// How a token is bound to a device.
    package enum Binding: String, Sendable, CaseIterable {
        /// Any device.
        case unbound = "none"
        /// Only the first device that redeems the token.
        case firstUse = "first"
        /// Only the device that the token names.
        case pinned
    }

    /// The device that the token names.
    package let pinned: DeviceIdentifier?
    package let binding: Binding
    /// The operator's own name for the device. No device sends it: it is only compared with revocations.
    package let id: String?
    /// The operator's name for the account.
    package let account: String?
    /// The most devices that the subject may have in use.
    package let maximum: UInt32?
    /// Whether the token is valid only for devices that the subject has in use already, and never adds a device.
    package let isRegisteredOnly: Bool
    /// Whether a device beyond the maximum replaces the subject's oldest device.
    package let replacesOldest: Bool

    package init(
        pinned: DeviceIdentifier? = nil, binding: Binding? = nil, id: String? = nil, account: String? = nil,
        maximum: UInt32? = nil, isRegisteredOnly: Bool = false, replacesOldest: Bool = false
    ) {
        self.pinned = pinned
        self.binding = pinned == nil ? binding ?? .unbound : .pinned
        self.id = id
        self.account = account
        self.maximum = maximum
        self.isRegisteredOnly = isRegisteredOnly
        self.replacesOldest = replacesOldest
    }
}

extension DeviceClaims {
    /// Reads `cnf` and `device` of the native vocabulary. Throws `claimInvalid` and `claimUnsupported`.
    init(native claims: ClaimObject) throws(EntitlementError) {
        let pinned = try Self.pinned(in: claims)
        guard let device = try claims.object("device") else {
            self.init(pinned: pinned)
            return
        }
        try device.refuseStrangers(to: ["id", "account", "bind", "max"])
        let binding: Binding? = try device.word("bind")
        // A token that says "pinned" but names no device would be valid for all devices.
        if binding == .pinned, pinned == nil { throw device.invalid("bind") }
        self.init(
            pinned: pinned, binding: binding, id: try device.string("id"), account: try device.string("account"),
            maximum: try device.count("max"))
    }

    /// Reads `cnf` (RFC 7800). The device's identifier is the only confirmation that a license request can give.
    private static func pinned(in claims: ClaimObject) throws(EntitlementError) -> DeviceIdentifier? {
        guard let confirmation = try claims.object("cnf") else { return nil }
        try confirmation.refuseStrangers(to: ["fps:hu"])
        let text = try confirmation.required("fps:hu", try confirmation.string("fps:hu"))
        return try confirmation.required("fps:hu", DeviceIdentifier(text: text))
    }
}

/// The 20 bytes by which an SPC identifies its device (HU). A token can pin them.
package struct DeviceIdentifier: Hashable, Sendable {
    package static let size = 20

    package let bytes: [UInt8]

    /// Nil for any other number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Forty hexadecimal digits in either case, or 27 characters of base64url; nil for anything else.
    package init?(text: String) {
        let bytes = text.utf8.count == Self.size * 2 ? try? Hexadecimal.decode(text) : try? Base64URL.decode(text)
        guard let bytes else { return nil }
        self.init(bytes)
    }
}

extension DeviceIdentifier: CustomStringConvertible {
    /// Forty upper-case hexadecimal digits, as Apple's tools print it.
    package var description: String { Hexadecimal.encode(bytes).uppercased() }
}
