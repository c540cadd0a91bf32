import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto

extension DecisionRecorder {
    /// What granting this licence spends, and what the ledger says of it.
    func decision(
        on license: GrantedLicense, of request: DecidedRequest, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(LicenseError) -> LicenseDecision {
        do throws(CryptoError) {
            let entry = try entry(for: license, of: request, deviceID)
            return LicenseDecision(now: license.times.issuedAt, entry: entry)
        } catch {
            throw .internalFailure(error)
        }
    }

    private func entry(
        for license: GrantedLicense, of request: DecidedRequest, _ deviceID: DeviceID
    ) throws(CryptoError) -> LedgerEntry {
        let authorization = license.authorization
        return LedgerEntry(
            kind: request.device.playbackState?.state == .leaseExpiring ? .licenseRenewed : .licenseIssued,
            at: license.times.issuedAt, license: license.id, keyID: request.key.keyID,
            content: request.key.contentID.text,
            subject: try authorization.subject.map { subject throws(CryptoError) in
                try pseudonyms.pseudonym(of: .subject, Array(authorization.issuer.utf8), Array(subject.utf8))
            },
            device: try pseudonyms.pseudonym(of: .device, deviceID.bytes), tokenID: authorization.tokenID,
            detail: license.terms.validity.name, lease: license.terms.lease?.value,
            rental: license.terms.rental?.value, until: license.times.expiresAt)
    }
}
