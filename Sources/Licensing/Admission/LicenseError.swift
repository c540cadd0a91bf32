package import ByteCoding
package import ContentKeys
package import Entitlements
package import FairPlay
package import KeyCrypto
package import Records

/// Why a license was not issued. It wraps the errors of the floors below, and does not decide what a client is told.
package enum LicenseError: Error, Equatable, Sendable {
    case tokenMissing
    case entitlement(EntitlementError)
    case spc(SPCError)
    /// The rights do not name the asset, and the store has no key for it or several live ones. The sender is not told
    /// whether the asset exists.
    case contentUnknown
    /// The rights name the asset, but the store has no live key for it.
    case keyNotFound
    /// The rights name the asset, and the store has several live keys for it that the asset id does not tell apart.
    case keyAmbiguous
    /// The explicit key id of the asset id binds, and gives no license: it has no live key, or there are several key
    /// ids. The content stands beside it in the asset id, or the token names it. `isNamed` says whether the rights name
    /// one of the two: only then the sender is told that there is no key.
    case boundKeyMissing(BoundKeyNames, isNamed: Bool)
    /// The key that is stored for the asset id has a scheme that FairPlay does not play. `isNamed` says whether the
    /// rights name the asset: only then the sender is told that there is no key.
    case schemeNotPlayed(EncryptionScheme, isNamed: Bool)
    /// The key belongs to a key period that is not served: it has left the window, or is not due yet.
    case periodNotServed(PeriodRefusal)
    /// The request names another key than its SPC does.
    case hintMismatch(AssetHint.Place)
    case store(StoreError)
    /// The store gave no answer in time when it was asked for the key.
    case keyStore(StoreOutage)
    /// No use, device place or playback slot is left, or the request is a replay.
    case denied(DecisionDenial)
    /// The rights demand something that cannot be told to the device, for example this term.
    case terms(LicenseTermsError, of: LimitedTerm? = nil)
    /// A sync report carries a challenge that is not open: it was never given to this holder, was used, or has expired.
    case challengeNotOpen
    /// The credential's external module or library gave no answer.
    case module(LadderModuleError)
    /// The operator's service refused; the error number is the service's own.
    case entitlementDenied(error: Int64?)
    /// The operator's service gave no answer that decides.
    case entitlementUnavailable(CallbackOutage)
    /// A party asks more often than its rate allows.
    case rateLimited(RatedParty, retryAfterSeconds: Int64)
    /// The server has too much to do, and the request has waited as long as it may.
    case overloaded
    /// The node's clock has gone back, or differs from the clock of the database.
    case clockUntrusted
    /// The fault is ours: the cryptographic library failed.
    case internalFailure(CryptoError)
}

/// The names in a refusal of an asset id with an explicit key id.
package struct BoundKeyNames: Hashable, Sendable {
    package let keyIDs: [KeyID]
    package let content: String?

    package init(keyIDs: [KeyID], content: String?) {
        self.keyIDs = keyIDs
        self.content = content
    }

    /// The key ids, as a text.
    package var keyWords: String {
        switch keyIDs.count {
        case 0: "a text that is not a key id"
        case 1: "the key id \(keyIDs[0])"
        default: "the key ids \(keyIDs.prefix(4).map(\.description).joined(separator: ", "))"
        }
    }
    /// What the asset id or the token names beside the key ids, as a text.
    package var contentWords: String { content.map { "a key of the content \($0)" } ?? "one of several keys" }
}

/// What a right limits. The raw values are the names in the native claims, and clients are told them.
package enum LimitedTerm: String, Sendable, CaseIterable {
    case lease
    case duration
    case leaseAndDuration = "lease and duration"
    case end
    case storage
    case playback
    case storageAndPlayback = "storage and playback"

    /// The part of these limits that cannot be told to the device; nil if the error has another cause.
    init?(_ limits: LicenseLimits, where error: LicenseTermsError) {
        switch error {
        case .durationNeedsPlaybackState, .offlineKeyUnsupported, .offlineKeyVersion2Unsupported,
            .dualExpiryUnsupported:
            break
        case .hdcpTypeUnsupported, .securityLevelTooLow, .denyListOutdated, .virtualMachine, .virtualMachineUnknown,
            .library:
            return nil
        }
        switch limits {
        case .streaming(let limits):
            switch (limits.lease, limits.rental) {
            case (nil, nil): return nil
            case (.some, nil): self = .lease
            case (nil, .some): self = .duration
            case (.some, .some): self = .leaseAndDuration
            }
        case .offline(.unlimited): return nil
        case .offline(.hardEnd): self = .end
        case .offline(.aroundFirstPlay(let storage, let playback)):
            self = playback == nil ? .storage : storage == nil ? .playback : .storageAndPlayback
        }
    }
}

/// The party whose rate a request exceeds.
package enum RatedParty: Sendable, CaseIterable {
    case address
    case subject
    /// All senders whose tokens only the operator's service can read.
    case unverifiedTokens
}

extension LicenseError {
    /// If a module refuses the SK..R1 block, the sender gets the same refusal as from the server's own ladder.
    init(_ error: LadderError) {
        switch error {
        case .module(.refused(let status)): self = .spc(.rejected(.moduleRefused(status: status)))
        case .module(let error): self = .module(error)
        case .inexpressible(let term): self = .terms(.library(term))
        case .cryptography(let error): self = .internalFailure(error)
        }
    }
}
