package import ContentKeys
package import Entitlements
package import Records

/// What every request shape comes down to: one SPC, and what its sender says beside it. The token comes separately.
package struct LicenseRequest: Sendable {
    /// The SPC as it came, not yet looked at.
    package let message: [UInt8]
    /// What the app wants the licence for, which an SPC cannot say; nil if the app does not say it either.
    package let use: LicenseUse?
    package let origin: RequestOrigin
    /// What the app says of a licence that this one follows. It changes what is written down, and never what is
    /// granted.
    package let renewal: RenewalWish
    /// What names the key beside the SPC.
    package let assetHints: [AssetHint]
    /// The id that the log and the ledger know the request by; nil for a request that is only explained.
    package let id: String?

    package init(
        message: [UInt8], use: LicenseUse? = nil, origin: RequestOrigin = RequestOrigin(),
        renewal: RenewalWish = RenewalWish(), assetHints: [AssetHint] = [], id: String? = nil
    ) {
        self.message = message
        self.use = use
        self.origin = origin
        self.renewal = renewal
        self.assetHints = assetHints
        self.id = id
    }
}

/// What an app says of a licence that the new one follows.
package struct RenewalWish: Equatable, Sendable {
    /// Whether it follows one at all.
    package var isRenewal: Bool
    /// Which one; believed only if the ledger has it for the same device and key.
    package var previous: LicenseID?

    package init(isRenewal: Bool = false, previous: LicenseID? = nil) {
        self.isRenewal = isRenewal
        self.previous = previous
    }
}

/// A name for the key of a request that stands beside its SPC. The SPC decides which key is meant; a request whose hint
/// means another one is refused (clients, section 2).
package struct AssetHint: Equatable, Sendable {
    /// Where it stands.
    package enum Place: String, Sendable, CaseIterable {
        case path
        case query
        case headerField = "header field"
        case body
    }

    package let place: Place
    /// Nil if it has too few or too many bytes to name anything.
    private let name: AssetID?

    package init(_ name: AssetID, in place: Place) {
        self.place = place
        self.name = name
    }

    /// A name as it came, decoded; nil if it is empty.
    package init?(_ name: some Collection<UInt8>, in place: Place) {
        guard !name.isEmpty else { return nil }
        self.place = place
        self.name = try? AssetID(bytes: Array(name))
    }

    /// Whether it may mean the key that the asset id of an SPC has led to.
    func agrees(with key: ContentKeyAttributes, _ assetID: AssetID) -> Bool {
        guard let name else { return false }
        // What nearly every player sends needs no reading.
        return name == assetID || name.bytes.elementsEqual(key.contentID.text.utf8)
            || AssetReference(name).agrees(with: key, assetID)
    }
}
