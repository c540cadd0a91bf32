package import Entitlements
import FairPlay
package import HTTPMessages
package import Licensing
package import PlayerMessages

/// Details for integrators: what the server received, and what to do about it (clients, section 0).
///
/// A problem repeats only what its sender has sent, and public facts, such as certificate hashes.
extension Problem {
    /// The problem for a body that is not a request for licenses.
    package init(for error: PlayerMessageError) {
        self.init(error.code)
        detail = "The body is \(error.received)"
        hint = error.remedy
    }

    /// Adds details that the head of the request shows: which header fields and parameters have tokens. Returns what
    /// was found in the place of a token, for the log.
    package mutating func tellDiagnosis(
        of error: LicenseError, in fields: HTTPFields, _ carriers: TokenCarriers, under rules: LicenseRules
    ) -> String? {
        let finder = rules.entitlement.finder
        switch error {
        case .tokenMissing, .entitlement(.tokenMalformed):
            if let stray = finder.stray(in: fields.allBytes, query: carriers.query, isFound: error != .tokenMissing) {
                tell(stray)
                let form = stray.isQuoted ? ", in quotes" : stray.isRead ? ", not in the form that is read there" : ""
                return "\(stray.placeholder ?? "something like a token") in the \(stray.place) \(stray.name)\(form)"
            }
        case .entitlement(.tokenAmbiguous):
            let places = finder.places(in: carriers)
            guard !places.isEmpty else { return nil }
            detail = "Tokens that differ were presented in: \(places.joined(separator: ", "))"
            hint = "Send one token, in one of these places."
        default: tellDiagnosis(of: error, under: rules)  // For these errors the head shows nothing.
        }
        return nil
    }

    /// Adds details that the SPC shows: the certificate hash that no credential has.
    package mutating func tellDiagnosis(of error: LicenseError, under rules: LicenseRules) {
        guard case .spc(.unknownCertificate(let hash)) = error else { return }
        let held = Self.hashes(of: rules.fairplay.credentials, like: hash)
        detail = "The SPC was made with the certificate \(hash), which no credential of this server has"
        hint = "Give the player the certificate from GET /fps/certificate; this server has \(held)."
        facts = [("certificate_hash", .word(hash.description)), ("held_hashes", .word(held))]
    }

    /// The most hashes that a problem lists. An installation usually has one or two.
    private static let hashCountMaximum = 8

    private static func hashes(of credentials: CredentialSet, like hash: CertificateHash) -> String {
        let versions = SPCVersion.allCases.filter {
            credentials.servedVersions.contains($0) && $0.certificateHash == hash.algorithm
        }
        var found: [String] = []
        for hash in versions.flatMap(credentials.hashes).map(\.description) where !found.contains(hash) {
            found.append(hash)
        }
        return found.isEmpty ? "none" : found.prefix(hashCountMaximum).joined(separator: " ")
    }

    /// Says where the request has something like a token, and never what it is.
    private mutating func tell(_ stray: StrayToken) {
        let word = stray.place.rawValue
        let found = "The \(word) \(stray.name) has something like a token"
        facts = [(word, .word(stray.name))]
        if let placeholder = stray.placeholder {
            detail = "The \(word) \(stray.name) has \(placeholder) instead of a token"
            hint = "The app sent the request before it had a token. Wait for the token, then send the request."
        } else if stray.isQuoted {
            detail = "\(found) in quotes"
            hint = "Send the token without quotes: in the header Authorization, behind the word Bearer and a space."
        } else if stray.isRead {
            detail = "\(found), but not in the form that is read there"
            hint = "Send the token in the header Authorization, behind the word Bearer and a space."
        } else {
            detail = "\(found), and this server reads no token there"
            let other =
                switch (stray.place, stray.rightName) {
                case (.header, _): ", or add \(stray.name) to entitlement.tokenHeaders"
                case (.parameter, let name?): ", or in the parameter \(name), whose case counts"
                case (.parameter, nil): ""
                }
            hint = "Send the token in the header Authorization: Bearer\(other)."
        }
    }
}

extension PlayerMessageError {
    /// The code in the table of reference/errors.md.
    fileprivate var code: ProblemCode {
        switch self {
        case .empty: .bodyEmpty
        case .certificate: .spcIsCertificate
        case .doubleBase64: .spcDoubleBase64
        case .ambiguousToken: .tokenAmbiguous
        case .utf16, .license, .playlist, .page, .token, .formWithoutSPC, .multipartWithoutSPC, .invalidJSON,
            .repeatedMember, .jsonWithoutSPC, .ambiguous, .invalidBase64, .tooManyKeys, .labelTooLong, .unrecognised:
            .bodyUnrecognised
        }
    }
}
