import ByteCoding
import ContentKeys
import Entitlements
import FairPlay

/// What the log says about a refusal: a text and, for a rejected SPC, the TLLV tag and the number that it concerns.
package struct RefusalCause: Sendable {
    package let text: String
    package let tag: UInt64
    package let number: UInt64

    package init(_ text: String) {
        self.text = text
        tag = 0
        number = 0
    }

    /// The text, and behind it tag and number if there are any, as `tag=` with 16 hexadecimal digits and `number=`.
    var line: String {
        guard tag != 0 || number != 0 else { return text }
        return "\(text) tag=\(Hexadecimal.encode(Bytes16(high: tag, low: 0).bytes.prefix(8))) number=\(number)"
    }

    /// Does the same work for each rejection, so that its time tells nothing: see `SPCRejection.logged`.
    init(_ rejection: SPCRejection) {
        let logged = rejection.logged
        text = logged.name.description
        tag = logged.tag
        number = logged.number
    }
}

extension LicenseError {
    /// The true cause, for the log only. It contains no secret and no text of the token.
    package var cause: RefusalCause {
        switch self {
        case .tokenMissing: RefusalCause("no token was presented")
        case .entitlement(let error): RefusalCause(error.description)
        case .spc(.rejected(let rejection)): RefusalCause(rejection)
        case .spc(let error): RefusalCause(error.description)
        case .contentUnknown: RefusalCause("the asset id names no single live key, and no right names it")
        case .keyNotFound: RefusalCause("no live key is stored for the asset id")
        case .keyAmbiguous: RefusalCause("several live keys fit the asset id, which does not say which one is meant")
        case .boundKeyMissing: RefusalCause("the asset id has an explicit key id, and only that key may be given")
        case .schemeNotPlayed(let scheme, _):
            RefusalCause("the key is for the scheme \(scheme.rawValue), which FairPlay does not play")
        case .periodNotServed(let refusal): RefusalCause(refusal.description)
        case .hintMismatch(let place):
            RefusalCause("the \(place.rawValue) of the request names another key than the SPC")
        case .store(let error): RefusalCause("store: \(error)")
        case .keyStore(let outage): RefusalCause("key store: \(outage)")
        case .denied(let denial): RefusalCause("shared state: \(denial)")
        case .terms(let error, let term):
            RefusalCause("terms: \(error)\(term.map { " (\($0.rawValue))" } ?? "")")
        case .challengeNotOpen: RefusalCause("the sync report's challenge is not open")
        case .module(let error): RefusalCause("external module: \(error)")
        case .clockUntrusted: RefusalCause("the wall clock is behind the time that is known: only renewals are served")
        case .overloaded: RefusalCause("more to do than can be done: waited for nothing")
        case .entitlementDenied(let error):
            RefusalCause("the entitlement service said no\(error.map { " (error \($0))" } ?? "")")
        case .entitlementUnavailable(let outage): RefusalCause("entitlement service: \(outage)")
        case .rateLimited(.address, _): RefusalCause("too many requests of an address")
        case .rateLimited(.subject, _): RefusalCause("too many requests of a subject")
        case .rateLimited(.unverifiedTokens, _):
            RefusalCause("too many requests with tokens that this server cannot verify")
        case .internalFailure(let error): RefusalCause("cryptography: \(error)")
        }
    }
}
