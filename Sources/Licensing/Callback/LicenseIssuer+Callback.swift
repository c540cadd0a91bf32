import ByteCoding
import ContentKeys
import Entitlements
package import EventLoops
package import FairPlay
import KeyCrypto

/// The way of a request whose token only the operator's service can read:
///
///     SPCEnvelope -> SPC -> ContentKeyRecord -> [the service] -> Claims -> Authorization and the rest, as for any other
///
/// RSA comes before the token is verified, because the service is told which content and device it decides on. That is the one exception from
/// the rule, and `CallbackDecider.admit` bounds it.
extension LicenseIssuer {
    /// A request that may cost RSA, and whose token nobody has vouched for.
    package struct OpaqueAdmission: Sendable {
        package let envelope: SPCEnvelope
        fileprivate let credentialKey: CredentialKey
        fileprivate let request: LicenseRequest
        fileprivate let token: PresentedToken
    }

    /// The cheap part, done at once on the loop; nil where the token is none for the service, and `admit` is the way.
    package func admitOpaque(
        _ request: LicenseRequest, on loop: LoopContext
    ) throws(LicenseError) -> OpaqueAdmission? {
        guard let callback, let token = request.token, callback.decides(token) else { return nil }
        // The container first: a rate is no use to whoever sends no SPC.
        let (envelope, key) = try container(of: request.message)
        try callback.admit(token, from: request.origin.address, using: try licensing(on: loop).crypto)
        return OpaqueAdmission(envelope: envelope, credentialKey: key, request: request, token: token)
    }

    /// Opens the SPC, asks the service, and goes on as with any claims. Stays on `loop`; `now` is in seconds since 1970.
    package func issue(
        _ opaque: OpaqueAdmission, now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> LicenseOutcome {
        guard let callback else { throw .tokenMissing }
        let licensing = try licensing(on: loop)
        let spc = try await Self.open(
            opaque.envelope, with: opaque.credentialKey, isUrgent: opaque.request.renewal.isRenewal, licensing)
        let record = try await Self.record(for: spc, claims: nil, in: keys)
        let question = try opaque.question(about: spc, record.attributes, using: licensing.crypto)
        let decision = try await callback.decide(question, wallTime: now, using: licensing.crypto, on: loop)
        var admission = Admission(
            claims: decision.claims, envelope: opaque.envelope, credentialKey: opaque.credentialKey,
            use: opaque.request.use, message: opaque.request.message, token: opaque.token,
            origin: opaque.request.origin, renewal: opaque.request.renewal)
        admission.isDecidedByService = true
        do throws(LicenseError) {
            try checkRevocations(of: decision.claims, now: now)
            if let report = spc.syncReport {
                return .syncReport(try await accept(report, in: spc, admission, now: now, using: licensing.crypto))
            }
            let license = try await license(for: spc, admission, now: now, using: licensing.crypto, on: loop)
            callback.noteIssued(decision, lease: license.terms.lease?.value)
            return .license(license)
        } catch {
            refusals?.note(error, decision.claims, asset: AssetReference(try Self.assetID(of: spc)), now: now)
            throw error
        }
    }
}

extension LicenseIssuer.OpaqueAdmission {
    fileprivate func question(
        about spc: SPC, _ key: ContentKeyAttributes, using crypto: CryptoContext
    ) throws(LicenseError) -> CallbackQuestion {
        let device = spc.device
        let token = try CallbackDecider.single(token)
        do throws(CryptoError) {
            return CallbackQuestion(
                messageID: KeyID(words: try crypto.randomBytes16()), token: token, content: RequestedContent(key),
                device: spc.sessionKeys.flatMap { DeviceIdentifier($0.deviceID.bytes) },
                session: device.playbackState?.sessionID, address: request.origin.address, use: request.use,
                isRenewal: request.renewal.isRenewal || device.playbackState?.state == .leaseExpiring)
        } catch {
            throw .internalFailure(error)
        }
    }
}
