import ByteCoding
package import Entitlements
import KeyCrypto
package import Records

/// The names by which an installation stores and compares what is revoked: pseudonyms of what tells of a person, and
/// all else as it is.
package struct RevocationNames: Sendable {
    private let pseudonyms: Pseudonymizer

    package init(_ pseudonyms: Pseudonymizer) {
        self.pseudonyms = pseudonyms
    }

    /// What a request is checked against, from what the store has.
    package func view(of revocations: some Sequence<Revocation>) -> RevocationView {
        var view = emptyView
        for revocation in revocations { revoke(revocation, in: &view) }
        return view
    }

    /// What a request is checked against while nothing is revoked.
    package var emptyView: RevocationView {
        RevocationView { [self] kind, value, issuer throws(EntitlementError) in
            guard let name = pseudonym(of: kind, value, issuer) else { throw .cryptoFailed }
            return name.bytes
        }
    }

    /// Adds a revocation. One of the same value in another spelling holds until the later of both ends.
    package func revoke(_ revocation: Revocation, in view: inout RevocationView) {
        let kind = RevocationView.Kind(revocation.kind)
        if revocation.kind.isPersonal {
            // A pseudonym that this installation did not make names no viewer.
            guard let name = try? Hexadecimal.decode(revocation.value) else { return }
            view.revoke(kind, named: name, until: revocation.until)
        } else {
            let value = Self.spelling(of: revocation.value, revocation.kind)
            view.revoke(kind, value, of: revocation.issuer, until: revocation.until)
        }
    }

    /// Makes a change; whether the view is another one now. A revocation replaces the one of the same value.
    package func apply(_ change: RevocationChange, to view: inout RevocationView) -> Bool {
        switch change {
        case .revoked(let revocation):
            set(revocation.kind, revocation.value, of: revocation.issuer, .holds(until: revocation.until), in: &view)
        case .lifted(let kind, let value, let issuer): set(kind, value, of: issuer, .isLifted, in: &view)
        }
    }

    private func set(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?, _ standing: RevocationView.Standing,
        in view: inout RevocationView
    ) -> Bool {
        guard kind.isPersonal else {
            return view.set(RevocationView.Kind(kind), Self.spelling(of: value, kind), of: issuer, standing)
        }
        guard let name = try? Hexadecimal.decode(value) else { return false }
        return view.set(RevocationView.Kind(kind), named: name, standing)
    }

    /// Whether a revocation is spelled otherwise than requests are compared with it. The store may have the same value
    /// in two spellings, which a view does not tell apart.
    package static func isSpelledOtherwise(_ revocation: Revocation) -> Bool {
        spelling(of: revocation.value, revocation.kind) != revocation.value
    }

    /// Key ids and licence ids as requests are compared with them, however they were written.
    private static func spelling(of value: String, _ kind: Revocation.Kind) -> String {
        switch kind {
        case .content: (try? KeyID(parsing: value))?.description ?? value
        case .session: (try? KeyID(parsing: value)).map { Hexadecimal.encode($0.bytes) } ?? value
        case .tokenID, .signingKey, .issuer, .subject, .hardware, .device: value
        }
    }

    /// The pseudonym of a personal value. HU is 40 hexadecimal digits, and no issuer's. Nil if the value is not one of
    /// its kind, or if OpenSSL fails.
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
