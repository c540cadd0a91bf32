package import ContentKeys
package import Entitlements
package import Records
package import Telemetry

/// One SPC, and what its sender says beside it: the common form of all request shapes. The token comes separately.
package struct LicenseRequest: Sendable {
    /// The SPC as it was received. It is not parsed yet.
    package let message: [UInt8]
    /// What the app wants the license for. An SPC cannot say it. It is nil if the app does not say it either.
    package let use: LicenseUse?
    package let origin: RequestOrigin
    /// What the app says about the license that this one renews. It changes what is recorded, and never what is
    /// granted.
    package let renewal: RenewalWish
    /// The names of the key that stand beside the SPC.
    package let assetHints: [AssetHint]
    /// The id of the request in the log and the ledger; nil for a request that is only explained.
    package let id: String?
    /// The trace that the request is part of; no decision looks at it.
    package let trace: TraceContext?

    package init(
        message: [UInt8], use: LicenseUse? = nil, origin: RequestOrigin = RequestOrigin(),
        renewal: RenewalWish = RenewalWish(), assetHints: [AssetHint] = [], id: String? = nil,
        trace: TraceContext? = nil
    ) {
        self.message = message
        self.use = use
        self.origin = origin
        self.renewal = renewal
        self.assetHints = assetHints
        self.id = id
        self.trace = trace
    }
}

/// What an app says about the license that the new one renews.
package struct RenewalWish: Equatable, Sendable {
    /// Whether the app asks for a renewal at all.
    package var isRenewal: Bool
    /// The license before this one. It is believed only if the ledger has it for the same device and key.
    package var previous: LicenseID?

    package init(isRenewal: Bool = false, previous: LicenseID? = nil) {
        self.isRenewal = isRenewal
        self.previous = previous
    }
}

/// A name of the key that stands beside the SPC of a request. The SPC decides which key is meant. A request whose hint
/// means another key is refused (clients, section 2).
package struct AssetHint: Equatable, Sendable {
    /// The part of the request that has the hint.
    package enum Place: String, Sendable, CaseIterable {
        case path
        case query
        case headerField = "header field"
        case body
    }

    package let place: Place
    /// The name as an asset id; nil if it is too short or too long for one.
    private let name: AssetID?

    package init(_ name: AssetID, in place: Place) {
        self.place = place
        self.name = name
    }

    /// Makes a hint from a name that was decoded but not checked; returns nil if the name is empty.
    package init?(_ name: some Collection<UInt8>, in place: Place) {
        guard !name.isEmpty else { return nil }
        self.place = place
        self.name = try? AssetID(bytes: Array(name))
    }

    /// Whether the hint may mean the key that was found by the asset id of the SPC.
    func agrees(with key: ContentKeyAttributes, _ assetID: AssetID, _ forms: @autoclosure () -> AssetForms) -> Bool {
        guard let name else { return false }
        // These are the names that nearly every player sends. They need no parsing.
        return name == assetID || name.bytes.elementsEqual(key.contentID.text.utf8)
            || AssetReference(name, forms()).agrees(with: key, assetID, forms())
    }
}
