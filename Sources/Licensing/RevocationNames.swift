import ByteCoding
package import Entitlements
import KeyCrypto
package import Records

/// The names under which an installation stores and compares revoked values: pseudonyms for values that identify a
/// person, and all other values unchanged.
package struct RevocationNames: Sendable {
    private let pseudonyms: Pseudonymizer

    package init(_ pseudonyms: Pseudonymizer) {
        self.pseudonyms = pseudonyms
    }

    /// Makes the view against which requests are checked, from the revocations in the store.
    package func view(of revocations: some Sequence<Revocation>) -> RevocationView {
        var view = emptyView
        for revocation in revocations { revoke(revocation, in: &view) }
        return view
    }

    /// The view against which requests are checked while nothing is revoked.
    package var emptyView: RevocationView {
        RevocationView { [self] kind, value, issuer throws(EntitlementError) in
            guard let name = pseudonym(of: kind, value, issuer) else { throw .cryptoFailed }
            return name.bytes
        }
    }

    /// Adds a revocation. If the view has the same value, perhaps from another spelling, the later of both ends counts.
    package func revoke(_ revocation: Revocation, in view: inout RevocationView) {
        let kind = RevocationView.Kind(revocation.kind)
        if revocation.kind.isPersonal {
            // A value that is no pseudonym of this installation identifies no viewer.
            guard let name = try? Hexadecimal.decode(revocation.value) else { return }
            view.revoke(kind, named: name, until: revocation.until)
        } else {
            let value = Self.spelling(of: revocation.value, revocation.kind)
            view.revoke(kind, value, of: revocation.issuer, until: revocation.until)
        }
    }

    /// Applies a change, and returns whether the view has changed. A revocation replaces the one of the same value.
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

    /// Whether the value of a revocation has another spelling than the one that requests are compared with.
    ///
    /// The store may have the same value in two spellings. A view does not tell them apart.
    package static func isSpelledOtherwise(_ revocation: Revocation) -> Bool {
        spelling(of: revocation.value, revocation.kind) != revocation.value
    }

    /// The spelling of a value that requests are compared with. Key ids and license ids may be written in several ways.
    private static func spelling(of value: String, _ kind: Revocation.Kind) -> String {
        switch kind {
        case .content: (try? KeyID(parsing: value))?.description ?? value
        case .session: (try? KeyID(parsing: value)).map { Hexadecimal.encode($0.bytes) } ?? value
        case .tokenID, .signingKey, .issuer, .subject, .hardware, .device: value
        }
    }

    /// The pseudonym of a personal value; nil if the value does not fit its kind, or if OpenSSL fails.
    ///
    /// HU is written as 40 hexadecimal digits and has no issuer.
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
