import ByteCoding
package import Entitlements
import KeyCrypto
package import Records

/// The names by which an installation stores and compares what is revoked: pseudonyms of what tells of a person, and all else as it is.
package struct RevocationNames: Sendable {
    private let pseudonyms: Pseudonymizer

    package init(_ pseudonyms: Pseudonymizer) {
        self.pseudonyms = pseudonyms
    }

    /// What a request is checked against, from what the store has.
    package func view(of revocations: some Sequence<Revocation>) -> RevocationView {
        var view = RevocationView { [self] kind, value, issuer throws(EntitlementError) in
            guard let name = pseudonym(of: kind, value, issuer) else { throw .cryptoFailed }
            return name.bytes
        }
        for revocation in revocations {
            let kind = RevocationView.Kind(revocation.kind)
            if revocation.kind.isPersonal {
                // A pseudonym that this installation did not make names nobody.
                guard let name = try? Hexadecimal.decode(revocation.value) else { continue }
                view.revoke(kind, named: name, until: revocation.until)
            } else {
                view.revoke(kind, Self.spelling(revocation), of: revocation.issuer, until: revocation.until)
            }
        }
        return view
    }

    /// Key ids and licence ids as requests are compared with them, however they were written.
    private static func spelling(_ revocation: Revocation) -> String {
        guard let id = try? KeyID(parsing: revocation.value) else { return revocation.value }
        return switch revocation.kind {
        case .content: id.description
        case .session: Hexadecimal.encode(id.bytes)
        default: revocation.value
        }
    }

    /// The pseudonym of a personal value. HU is 40 hexadecimal digits, and no issuer's. Nil where the value is none of its kind, or OpenSSL
    /// fails.
    package func pseudonym(of kind: Revocation.Kind, _ value: String, issuer: String?) -> Pseudonym? {
        guard kind.isPersonal else { return nil }
        return pseudonym(of: RevocationView.Kind(kind), value, issuer ?? "")
    }

    private func pseudonym(of kind: RevocationView.Kind, _ value: String, _ issuer: String) -> Pseudonym? {
        do throws(CryptoError) {
            let (issuer, text) = (Array(issuer.utf8), Array(value.utf8))
            switch kind {
            case .subject: return try pseudonyms.pseudonym(of: .subject, issuer, text)
            case .device: return try pseudonyms.pseudonym(of: .namedDevice, issuer, text)
            case .hardware:
                guard let device = DeviceIdentifier(text: value) else { return nil }
                return try pseudonyms.pseudonym(of: .device, device.bytes)
            case .token, .key, .issuer, .content, .session: return nil
            }
        } catch {
            return nil
        }
    }
}

extension RevocationView.Kind {
    package init(_ kind: Revocation.Kind) {
        self =
            switch kind {
            case .tokenID: .token
            case .signingKey: .key
            case .issuer: .issuer
            case .subject: .subject
            case .hardware: .hardware
            case .device: .device
            case .content: .content
            case .session: .session
            }
    }
}
