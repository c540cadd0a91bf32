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
    /// No key is stored for the asset id, or several live ones are, and the rights do not name it: its sender learns no more than that.
    case contentUnknown
    /// The rights name the asset, but no live key is stored for it, or several are and nothing says which.
    case keyNotFound
    case store(StoreError)
    /// Uses, devices or playbacks are as many as there may be, or the request came before.
    case denied(DecisionDenial)
    /// The device cannot be told what the rights demand.
    case terms(LicenseTermsError)
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
