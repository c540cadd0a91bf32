import ByteCoding
package import Entitlements
package import FairPlay
package import Records
import Synchronization

/// An admitted request for which an RSA operation may be spent, and the rules that admitted it.
///
/// No part of its SPC has been decrypted. It is a class, because every stage of a license hands it on: copying a
/// structure would count dozens of references.
package final class Admission: Sendable {
    /// How far the token is known to be good.
    enum Standing: Sendable {
        /// This server has verified it.
        case verified(HeldClaims)
        /// Only the operator's service can read the token. The service decides once the SPC is open.
        case undecided(CallbackDecider)
    }

    let request: LicenseRequest
    /// The token as the request presented it. A repeated request is recognized by its SPC and its token.
    let token: PresentedToken
    let standing: Standing
    package let envelope: SPCEnvelope
    let credentialKey: CredentialKey
    let rules: LicenseRules
    private let pseudonyms: Pseudonymizer?
    /// The seat at which the decision waits for the decisions about the other SPCs of its request; nil for an SPC that
    /// came alone.
    let seat: DecisionSeat?
    /// What a refusal has found, noted where it is known; nil as long as nothing is refused.
    private let findings: Mutex<Findings?>
    /// The admission that this one is a copy of, whose findings count.
    private let original: Admission?

    private struct Findings {
        var facts = RefusalFacts()
        var device: DeviceSummary?
    }

    /// Reads the container of the SPC, and finds the credential that the SPC names. Needs no private key. Throws `spc`.
    init(
        _ request: LicenseRequest, by token: PresentedToken, _ standing: Standing, under rules: LicenseRules,
        pseudonyms: Pseudonymizer? = nil
    ) throws(LicenseError) {
        let credentials = rules.fairplay.credentials
        let envelope = try wrap(
            LicenseError.spc, try SPCEnvelope(parsing: request.message, served: credentials.servedVersions))
        credentialKey = try wrap(LicenseError.spc, try credentials.key(for: envelope))
        self.envelope = envelope
        self.request = request
        self.token = token
        self.standing = standing
        self.rules = rules
        self.pseudonyms = pseudonyms
        seat = nil
        findings = Mutex(nil)
        original = nil
    }

    private init(_ admission: Admission, seat: DecisionSeat) {
        request = admission.request
        token = admission.token
        standing = admission.standing
        envelope = admission.envelope
        credentialKey = admission.credentialKey
        rules = admission.rules
        pseudonyms = admission.pseudonyms
        self.seat = seat
        findings = Mutex(nil)
        original = admission
    }

    /// The same admission with a seat, for one SPC among several.
    func seated(at seat: DecisionSeat) -> Admission { Admission(self, seat: seat) }

    /// What is known of the request if it was refused: where it came from, the credential, and what was noted.
    package var refusalFacts: RefusalFacts {
        var facts = RefusalFacts(request.origin, rules, pseudonyms)
        facts[.credential] = credentialKey.credentialName
        if let found = (original ?? self).findings.withLock({ $0 }) {
            facts.add(found.facts)
            facts[.device] = found.device?.text
        }
        return facts
    }

    /// What the device of a refused request has stated about itself; nil if its SPC was not opened.
    package var refusedDevice: DeviceSummary? { (original ?? self).findings.withLock { $0?.device } }

    /// Notes what a refusal has found. What was noted before stays.
    func note(_ found: RefusalFacts) {
        noteFinding { $0.facts.add(found) }
    }

    /// Notes the device of a request that is refused.
    func note(_ device: DeviceSummary) {
        noteFinding { $0.device = device }
    }

    private func noteFinding(_ note: (inout Findings) -> Void) {
        (original ?? self).findings.withLock { findings in
            var all = findings ?? Findings()
            note(&all)
            findings = all
        }
    }

    /// Whether the request renews the license of a running playback, as its token or its app says.
    ///
    /// A renewal goes first when requests wait, and is granted nothing more. A token that was not verified gives no
    /// priority, because its sender is not known.
    var isRenewal: Bool {
        switch standing {
        case .verified(let held): held.claims.renewal != nil || request.renewal.isRenewal
        case .undecided: false
        }
    }
}

/// The sender of a request for licenses, and the rules that judge the request. The head of the request was admitted;
/// its SPCs have not been read.
package struct LicenseSender: Sendable {
    let token: PresentedToken
    let standing: Admission.Standing
    package let origin: RequestOrigin
    /// What the app says about the license that the new ones renew.
    package let renewal: RenewalWish
    package let rules: LicenseRules

    /// Whether this server has verified the token.
    package var isVerified: Bool {
        if case .verified = standing { return true }
        return false
    }
}

/// The sender of a request that costs no RSA operation, and the rules that admitted the request.
package struct TokenSender: Sendable {
    let token: PresentedToken
    let standing: Admission.Standing
    /// The party that holds the sender's challenges.
    package let party: TokenParty
    package let origin: RequestOrigin
    let rules: LicenseRules

    /// The sender as the holder of a verified token; nil if only the operator's service can read the token.
    package var holder: TokenHolder? {
        guard case .verified(let held) = standing else { return nil }
        return TokenHolder(claims: held.claims, origin: origin, rules: rules)
    }
}

/// The sender of a request whose claims are known, and the rules that admitted the request.
package struct TokenHolder: Sendable {
    /// The claims of the token, or those that the operator's service has answered.
    package let claims: Claims
    package let origin: RequestOrigin
    let rules: LicenseRules
}
