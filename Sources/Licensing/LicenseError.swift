package import ContentKeys
package import Entitlements
package import FairPlay
package import KeyCrypto
package import Records

/// Why a licence was not issued; wraps what the floors below say, and decides nothing about wording.
package enum LicenseError: Error, Equatable, Sendable {
    case tokenMissing
    case entitlement(EntitlementError)
    case spc(SPCError)
    /// No key is stored for the asset id, or several live ones are, and the rights do not name it: its sender learns no
    /// more than that.
    case contentUnknown
    /// The rights name the asset, but no live key is stored for it, or several are and nothing says which.
    case keyNotFound
    /// The key that is stored for the asset id is of a scheme that FairPlay does not play. Only who has rights to it
    /// hears that there is no key to give.
    case schemeNotPlayed(EncryptionScheme, isNamed: Bool)
    /// The key is of a period of a live content that is not served: it has left the window, or is not due yet.
    case periodNotServed(PeriodRefusal)
    /// The request names another key beside its SPC.
    case hintMismatch(AssetHint.Place)
    case store(StoreError)
    /// The key was asked for, and the store gave no answer in time.
    case keyStore(StoreOutage)
    /// Uses, devices or playbacks are as many as there may be, or the request came before.
    case denied(DecisionDenial)
    /// The device cannot be told what the rights demand, for example this term.
    case terms(LicenseTermsError, of: LimitedTerm? = nil)
    /// A sync report carries a challenge that is not open: never given to this holder, used already, or ended.
    case challengeNotOpen
    /// The credential's external module gave no answer.
    case module(LadderModuleError)
    /// The operator's service said no; the number is its own.
    case entitlementDenied(error: Int64?)
    /// The operator's service gave no answer that decides.
    case entitlementUnavailable(CallbackOutage)
    /// A party asks more often than its rate allows.
    case rateLimited(RatedParty, retryAfterSeconds: Int64)
    /// There is more to do than can be done, and the request has waited as long as it may.
    case overloaded
    /// The node's clock is behind what it was, or differs from the database's.
    case clockUntrusted
    /// Ours: the cryptographic library failed.
    case internalFailure(CryptoError)
}

/// What a right limits, in the words of the native claims. The raw values are told to clients.
package enum LimitedTerm: String, Sendable, CaseIterable {
    case lease
    case duration
    case leaseAndDuration = "lease and duration"
    case end
    case storage
    case playback
    case storageAndPlayback = "storage and playback"

    /// What of these limits a device cannot be told; nil if the device lacks something else.
    init?(_ limits: LicenseLimits, where error: LicenseTermsError) {
        switch error {
        case .durationNeedsPlaybackState, .offlineKeyUnsupported, .offlineKeyVersion2Unsupported,
            .dualExpiryUnsupported:
            break
        case .hdcpTypeUnsupported, .securityLevelTooLow, .denyListOutdated, .virtualMachine, .virtualMachineUnknown:
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

/// Whose rate a request exceeds.
package enum RatedParty: Sendable, CaseIterable {
    case address
    case subject
    /// Everybody with a token that only the operator's service can read.
    case unverifiedTokens
}

extension LicenseError {
    /// A module that refuses the SK..R1 block finds what the own ladder finds by itself, and the sender hears the same.
    init(_ error: LadderError) {
        switch error {
        case .module(.refused(let status)): self = .spc(.rejected(.moduleRefused(status: status)))
        case .module(let error): self = .module(error)
        case .cryptography(let error): self = .internalFailure(error)
        }
    }
}
