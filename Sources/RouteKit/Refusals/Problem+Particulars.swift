import ContentKeys
import Entitlements
import FairPlay
import Licensing
import Records

/// Details that a client gets with the code, if they lead to the fix.
///
/// None of them helps an attacker: either the token is verified by then, or the client itself has sent the fact.
extension Problem {
    mutating func tellParticulars(of error: LicenseError) {
        switch error {
        case .entitlement(let error): tellParticulars(of: error)
        case .denied(.slotsFull(let current, let limit)):
            detail = "\(current) playbacks run, and \(limit) may run at once"
            facts = [("current", .number(Int64(current))), ("max", .number(Int64(limit)))]
        case .terms(let error, let term): tellParticulars(of: error, term)
        case .hintMismatch(let place):
            detail = "The \(place.rawValue) of the request names another key than the SPC"
            hint = "Send with each SPC the key that its own key URI names, or no name: the SPC itself names its key."
        case .keyAmbiguous:
            detail = "Several keys are stored for this content, and the asset id does not say which one is meant"
            hint = "Ask by key id: have the key URI of each key name its own key id, or its track."
        case .periodNotServed(let refusal):
            detail =
                "The key's period of the live content is not served \(refusal.reason == .past ? "any more" : "yet")"
            hint = "Play from within the content's window; an operator sets it with latchkey keys rotate --window."
        case .boundKeyMissing(_, isNamed: true):
            detail = "The asset id has an explicit key id, and no other key is given in its place"
            hint = "Correct the key URI, or remove the key id from it if the content has one key."
        case .tokenMissing, .spc, .contentUnknown, .keyNotFound, .boundKeyMissing, .schemeNotPlayed, .store, .keyStore,
            .denied, .challengeNotOpen, .module, .entitlementDenied, .entitlementUnavailable, .rateLimited, .overloaded,
            .clockUntrusted, .internalFailure:
            break
        }
    }

    private mutating func tellParticulars(of error: EntitlementError) {
        switch error {
        case .tokenExpired(let seconds):
            detail = "The token expired \(seconds) s ago"
            facts = [("expired_ago", .number(seconds))]
        case .tokenNotYetValid(let seconds):
            detail = "The token becomes valid in \(seconds) s"
            facts = [("valid_in", .number(seconds))]
        case .claimInvalid(let name):
            detail = "The claim \(name) of the token is missing or invalid"
            facts = [("claim", .word(name))]
        case .claimUnsupported(let name):
            detail = "The claim \(name) of the token is not supported"
            facts = [("claim", .word(name))]
        case .profileUnknown:
            detail = "A right of the token names a profile that the server does not have"
            hint = "Configure the profile under entitlement.profiles, or name another one."
        case .keysUnavailable: detail = "The keys that can verify the token are not available now"
        case .streamingNotGranted:
            detail = "The token allows this content only for offline use"
            hint = "Ask for an offline license with ?offline=1, or fetch a token with a right to stream."
        case .offlineNotGranted: detail = "The token allows this content only for streaming"
        case .offlineOutlivesLease:
            detail = "The right has a lease, and an offline license would outlive it"
            hint = "Fetch a token whose right for offline use has no lease; storage and playback limit it."
        case .tokenMalformed(.signatureInDER):
            detail = "The token's signature is in DER, and ES256 wants r and s as 64 bytes"
            hint = "Convert the signature to r and s, as libraries for JWT do: openssl and many key services give DER."
        case .tokenMalformed(.headerInvalid("typ")):
            detail = "The header typ of the token names another use, or is no text"
            hint = "Send an access token, with the typ JWT or at+jwt."
        case .algorithmNotServed: detail = "The token names no algorithm that this server verifies"
        case .tokenMalformed, .tokenAmbiguous, .algorithmNotPinned, .keyUnknown, .keyRevoked, .keyRetired,
            .signatureInvalid, .lifeTooLong, .issuerMismatch, .audienceMismatch, .contentNotCovered, .rightNotStarted,
            .rightEnded, .tokenRevoked, .subjectDisabled, .deviceRevoked, .contentRevoked, .sessionKilled,
            .sessionEnded,
            .tokenOfAnotherServer, .sessionOfAnotherServer, .deviceMismatch, .addressDenied, .countryDenied,
            .outputNotAllowed,
            .securityLevelTooLow, .cryptoFailed:
            break
        }
    }

    private mutating func tellParticulars(of error: LicenseTermsError, _ term: LimitedTerm?) {
        let name = term?.rawValue
        switch error {
        case .durationNeedsPlaybackState:
            detail = "This device cannot be told \(name ?? "a limit in time"): its SPC has no media playback state"
            hint =
                "Have the player support leases (HLS: EXT-X-KEY with the playback state), or grant a right without it."
        case .offlineKeyUnsupported, .offlineKeyVersion2Unsupported:
            detail = "This device cannot be told \(name ?? "the limits of an offline license"): it has no offline keys"
            hint = "Update the device, or grant a right with an end alone."
        case .dualExpiryUnsupported:
            detail = "This device cannot be told \(name ?? "storage and playback"): its stored keys have only one end"
            hint = "Grant a right with one of storage and end, without playback."
        case .library(let error):
            detail = "The credential's library cannot be told \(error)"
            facts = [("term", .word(error.term))]
            return
        // Only the log says which protection the device lacks.
        case .hdcpTypeUnsupported, .securityLevelTooLow, .denyListOutdated, .virtualMachine, .virtualMachineUnknown:
            return
        }
        if let name { facts = [("term", .word(name))] }
    }
}
