package import ByteCoding
package import KeyCrypto

/// The claims of a verified token, in any dialect.
///
/// Only the verifiers of this module make claims, after they have checked the signature and the times. Code that has
/// claims need not check them again.
package struct Claims: Equatable, Sendable {
    /// The most rights that a token may have.
    package static let rightCountMaximum = 64
    /// The most bytes of a `cookie`.
    package static let cookieSizeMaximum = 64

    /// `iss`, which is the issuer that the key is pinned to.
    package let issuer: String
    /// How that issuer writes its tokens.
    package let dialect: TokenDialect
    /// `sub`: the account or viewer.
    package let subject: String?
    /// `jti`.
    package let tokenID: String?
    /// The `kid` that verified the token.
    package let keyID: String
    /// What the token grants; the first right that grants counts.
    package let rights: [Right]
    package internal(set) var device = DeviceClaims()
    /// The limits on playbacks for all rights. A right can have additional limits of its own.
    package internal(set) var session = SessionClaims()
    package internal(set) var limits = UseLimits()
    /// The operator's mark, for finding the license in the ledger.
    package internal(set) var cookie: String?
    /// The content key that the license must carry, if the token contains one.
    package internal(set) var embeddedKey: EmbeddedContentKey?
    /// Whether a right for offline use is sufficient for a license that the device keeps.
    let offlineByRight: Bool
    /// What a session token renews; nil for an entitlement token.
    package internal(set) var renewal: SessionGrant?

    /// The contents that the issuer's tokens may open, in addition to the limits of the rights; nil for all contents.
    package internal(set) var scope: ContentScope?

    let times: TokenTimes
    /// The first second in which the key no longer verifies; nil if it has no end.
    let keyEnd: Int64?

    /// `exp` in seconds since 1970: the first second in which the token has expired, without leeway.
    package var expiresAt: Int64 { times.expiresAt.up }
    /// Whether a license depends on the stored state of a rental.
    package var remembersRental: Bool { rights.contains { $0.rental != nil } }
    /// `nbf` in seconds since 1970.
    package var notBefore: Int64? { times.notBefore?.up }
    /// `iat` in seconds since 1970.
    package var issuedAt: Int64? { times.issuedAt?.up }
}

extension Claims {
    /// Whether the issuer's tokens may open a content.
    ///
    /// `contentID` is nil if only the key ID of the asset is known. An issuer without a scope may open such an asset;
    /// an issuer with a scope may not.
    package func mayOpen(contentID: String?) -> Bool {
        guard let scope else { return true }
        return contentID.map(scope.covers) ?? false
    }

    /// Whether the issuer's scope and at least one right have a content in common.
    package var mayOpenAnything: Bool { scope.map { scope in rights.contains { scope.meets($0.selector) } } ?? true }

    /// Whether a right covers this content, and the issuer's tokens may open it.
    func covers(contentID: String?, keyID: KeyID?) -> Bool {
        mayOpen(contentID: contentID) && rights.contains { $0.covers(contentID: contentID, keyID: keyID) }
    }
}

/// A content key that came inside a sealed token.
///
/// The key is wiped when its last reference is released, and is never printed.
package final class EmbeddedContentKey: Sendable {
    /// The sizes of a key and of an initialization vector, in bytes.
    package static let size = 16

    package let key: SecretBytes
    package let iv: Bytes16

    /// Throws `claimInvalid` if the key has another size, or is equal to the vector, which is not secret.
    package init(key: consuming SecretBytes, iv: Bytes16) throws(EntitlementError) {
        guard key.count == Self.size, !key.isEqual(to: SecretBytes(copying: iv.bytes)) else {
            throw .claimInvalid("key")
        }
        self.key = key
        self.iv = iv
    }
}

extension EmbeddedContentKey: Equatable {
    /// Compares in a time that does not depend on the key.
    package static func == (left: EmbeddedContentKey, right: EmbeddedContentKey) -> Bool {
        left.key.isEqual(to: right.key) && left.iv == right.iv
    }
}

extension EmbeddedContentKey: CustomStringConvertible, CustomReflectable {
    /// The name of the type, without any part of the key.
    package var description: String { "EmbeddedContentKey" }

    /// Empty, so that `dump` and test failures show nothing either.
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

/// A restriction that a token can demand in addition to its times, contents, uses and protection.
///
/// A token that demands a restriction that this server does not enforce is refused. If the restriction were ignored,
/// the token would grant more than its issuer meant.
package enum Restriction: String, Sendable, CaseIterable {
    case pinnedDevice = "cnf"
    case firstUse = "device.bind"
    case deviceMaximum = "device.max"
    case registeredDevice = "device.registered"
    case sessions = "session.groups"
    case usesPerKey = "limits.uses"
    case networks = "limits.ips"
    case countries = "limits.countries"
    case airPlay = "rights.airplay"
    case avAdapter = "rights.av_adapter"
    case profile = "rights.profile"
    /// The license carries the key of the token, and no other.
    case embeddedKey = "key"

    /// The restrictions that the license pipeline of this version enforces.
    ///
    /// A new restriction is added to this list in the same change that makes the pipeline enforce it.
    package static let enforced: Set<Restriction> = [
        .pinnedDevice, .firstUse, .deviceMaximum, .registeredDevice, .sessions, .usesPerKey, .networks, .countries,
        .airPlay,
        .avAdapter, .profile, .embeddedKey,
    ]
}

extension Claims {
    /// The restrictions that these claims demand, in the order of `Restriction`.
    package var restrictions: [Restriction] {
        Restriction.allCases.filter(demands)
    }

    private func demands(_ restriction: Restriction) -> Bool {
        switch restriction {
        case .pinnedDevice: device.pinned != nil
        case .firstUse: device.binding == .firstUse
        case .deviceMaximum: device.maximum != nil
        case .registeredDevice: device.isRegisteredOnly
        case .sessions: !session.groups.isEmpty || rights.contains { !$0.session.groups.isEmpty }
        case .usesPerKey: limits.usesPerKey != nil
        case .networks: !limits.networks.isEmpty
        case .countries: !limits.countries.isEmpty
        case .airPlay: rights.contains { $0.outputs.airPlay == false }
        case .avAdapter: rights.contains { $0.outputs.avAdapter == false }
        case .profile: rights.contains { $0.profile != nil }
        case .embeddedKey: embeddedKey != nil
        }
    }

    /// Throws `claimUnsupported` for the first restriction that is demanded and not enforced.
    func refuseUnenforced(_ enforced: Set<Restriction>) throws(EntitlementError) {
        for restriction in Restriction.allCases where demands(restriction) && !enforced.contains(restriction) {
            throw .claimUnsupported(restriction.rawValue)
        }
    }
}
