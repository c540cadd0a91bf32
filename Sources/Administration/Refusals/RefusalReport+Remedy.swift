import ByteCoding
import ContentKeys
import Entitlements
import Licensing
import Records

extension RefusalReport {
    /// What to do about it.
    package var remedy: String {
        if let rejection { return rejection.remedy }
        return remedyOfCause ?? ProblemCode(rawValue: code)?.remedy ?? remedyOfTokenRequest
            ?? "Look the code up in reference/errors.md of the documentation; the cause says what was wrong."
    }

    /// What to do about a refused token request in ExpressPlay's manner; nil if the request itself is not at fault.
    private var remedyOfTokenRequest: String? {
        guard let known = Int(code).flatMap({ ExpressPlayCode(rawValue: $0) }) else { return nil }
        switch known {
        case .authenticatorMissing, .authenticatorInvalid:
            return "Compare customerAuthenticator of the request with the customers in the configuration."
        case .accountDisabled, .quotaExhausted, .serviceUnavailable, .licenseNotMade: return nil
        default:  // Every other code is about a parameter of the request.
            return
                "Have the back end correct the parameter that the cause names: tokens/expressplay.md of the documentation "
                + "has the parameters."
        }
    }

    /// What to do about a cause that shares its code with others; nil if the code says it.
    private var remedyOfCause: String? {
        if let known = Self.remedy(causedBy: cause) { return known }
        if isCaused(by: .entitlement(.rightEnded)), self[.found]?.hasPrefix(RentalStanding.firstWords) == true {
            return "The right is a rental, and its time has ended, so a new token does not help. latchkey account "
                + "rentals list shows it. If the viewer has rented the content again, latchkey account rentals "
                + "forget lets it begin again."
        }
        if isCaused(by: .contentUnknown), let keyID = askedKeyID {
            return "The asset id is a key id, and no live key has it: the key was withdrawn or deleted, or the key URI "
                + "is wrong. latchkey keys show --kid \(keyID) finds a withdrawn key, and latchkey keys delete "
                + "--restore makes it live again."
        }
        return nil
    }

    /// What to do about a cause that decides it alone; nil for any other cause.
    static func remedy(causedBy cause: String) -> String? {
        if headerFaults.contains(where: { LicenseError.entitlement(.tokenMalformed($0)).cause.text == cause }) {
            return "Have the issuer correct this member in the header of its tokens."
        }
        // The license store, the key store and packagers name the outage behind words of their own.
        if cause.hasSuffix(StoreOutage.diskFull.explanation) {
            return
                "Make room on the disk of the database: latchkey store info shows the database and how much is free. "
                + "A shorter ledger.retention lets the ledger take less. With PostgreSQL, look at the disk of its server too."
        }
        return remedies.first { $0.error.cause.text == cause }?.remedy
    }

    private static let headerFaults: [TokenFault] =
        ["alg", "kid", "typ"].map { TokenFault.headerInvalid($0) }
        + ["crit", "jku", "jwk", "x5u", "x5c"].map { TokenFault.headerForbidden($0) }

    private func isCaused(by error: LicenseError) -> Bool { error.cause.text == cause }

    /// Causes that alone decide what to do.
    private static let remedies: [(error: LicenseError, remedy: String)] = [
        (
            .entitlement(.algorithmNotServed),
            "Have the issuer sign with the algorithm that is configured for its key: ES256, EdDSA, RS256 or HS256. Tokens without a "
                + "signature (none) are never accepted."
        ),
        (
            .denied(.slotEvicted),
            "latchkey account playbacks list shows what plays instead. If an operator has ended the playback, the ledger has a "
                + "row playback_ended: latchkey ledger query. The viewer may start the playback again."
        ),
        (
            .denied(.otherDevice),
            "The token belongs to the device that used it first. Have the app fetch a token for each device. The devices of the "
                + "account do not matter."
        ),
        (
            .denied(.deviceLimit(limit: 0)),
            "The token takes registered devices alone, and this one is not registered: latchkey account devices list shows "
                + "those that are. Have the app use a token that may add a device."
        ),
        (
            .entitlement(.deviceMismatch),
            "The token belongs to another device (cnf, or a session token), or takes registered devices alone. Have the app fetch "
                + "a token for this device. The devices of the account do not matter."
        ),
        (
            .keyAmbiguous,
            "Several keys fit, so the name of the content is not enough. Have the key URI of each key name its key id "
                + "(skd://KEY-ID) or its track. latchkey keys list --content ID shows the keys; latchkey keys delete "
                + "--kid KEY-ID withdraws one that is not used."
        ),
        (
            .entitlement(.contentRevoked),
            "The content or its key is revoked: latchkey revocations list shows why and until when, and latchkey revocations lift "
                + "ends it. A new token does not help."
        ),
    ]
}
