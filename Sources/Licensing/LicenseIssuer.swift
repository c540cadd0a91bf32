import ByteCoding
import ContentKeys
package import Entitlements
package import EventLoops
package import FairPlay
package import KeyCrypto

/// The way of a licence request, each stage giving what the next one needs (architecture, "The life of a request").
///
///     LicenseRequest -> Claims + SPCEnvelope -> SPC -> ContentKeyRecord -> Authorization -> LicenseTerms -> CKC
///
/// RSA is bought only by a verified token: `admit` needs no private key, and only what it admitted can be issued.
package final class LicenseIssuer: Sendable {
    private let credentials: CredentialSet
    private let tokens: VerifiedTokenCache
    private let keys: RecentContentKeys
    private let policy: LicensePolicy
    package let challenges: ServerChallenges
    private let perLoop: LoopLocal<Result<LoopLicensing, CryptoError>>

    /// `servedVersions` are the FairPlay protocol versions; `operations` counts RSA private operations.
    package init(
        credentials: CredentialSet, tokens: VerifiedTokenCache, keys: RecentContentKeys,
        policy: LicensePolicy = LicensePolicy(), challenges: ServerChallenges = ServerChallenges(),
        servedVersions: Set<UInt32>, operations: RSAOperationCount
    ) {
        self.credentials = credentials
        self.tokens = tokens
        self.keys = keys
        self.policy = policy
        self.challenges = challenges
        perLoop = LoopLocal { loop in
            Result { () throws(CryptoError) in
                try LoopLicensing(servedVersions: servedVersions, operations: operations, on: loop)
            }
        }
    }

    /// A request whose token has been verified and whose SPC names a credential; nothing has been decrypted.
    package struct Admission: Sendable {
        package let claims: Claims
        package let envelope: SPCEnvelope
        package let credentialKey: CredentialKey
        package let use: LicenseUse
    }

    /// The cheap part, done at once on the loop: the token first, then the container. `now` is in seconds since 1970.
    package func admit(
        _ request: LicenseRequest, now: Int64, on loop: LoopContext
    ) throws(LicenseError) -> Admission {
        let licensing = try licensing(on: loop)
        let claims = try verify(request.token, now: now, using: licensing.crypto)
        do throws(SPCError) {
            let envelope = try SPCEnvelope(parsing: request.message, served: credentials.servedVersions)
            return Admission(
                claims: claims, envelope: envelope, credentialKey: try credentials.key(for: envelope), use: request.use)
        } catch {
            throw .spc(error)
        }
    }

    func verify(_ token: [UInt8]?, now: Int64, using crypto: CryptoContext) throws(LicenseError) -> Claims {
        guard let token else { throw .tokenMissing }
        do throws(EntitlementError) {
            return try tokens.verify(token, now: now, crypto: crypto)
        } catch {
            throw .entitlement(error)
        }
    }

    /// The dear part: opens the SPC and writes the licence, or takes the report that it carries. Stays on `loop`.
    package func issue(
        _ admission: Admission, now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> LicenseOutcome {
        let licensing = try licensing(on: loop)
        let spc = try await Self.open(admission, with: licensing)
        if let report = spc.syncReport {
            return .syncReport(try await accept(report, in: spc, admission, using: licensing.crypto))
        }
        return .license(try await license(for: spc, admission, now: now, using: licensing.crypto))
    }

    /// Finds the key, asks the gate, and writes the licence.
    private func license(
        for spc: SPC, _ admission: Admission, now: Int64, using crypto: CryptoContext
    ) async throws(LicenseError) -> IssuedLicense {
        let record = try await record(for: spc, claims: admission.claims)
        let authorization = try Self.authorize(admission, record: record, now: now)
        let device = spc.device
        let terms = try terms(for: authorization, key: record.attributes, device: device, using: crypto)
        let contentKey = try await Self.wrap(record, for: spc, using: crypto)
        return IssuedLicense(
            ckc: try Self.write(for: spc, contentKey: contentKey, terms: terms, using: crypto),
            authorization: authorization, terms: terms, key: record.attributes, spc: spc, device: device,
            deviceID: contentKey.deviceID, credentialName: admission.credentialKey.credentialName)
    }

    func licensing(on loop: LoopContext) throws(LicenseError) -> LoopLicensing {
        switch loop.value(of: perLoop) {
        case .success(let licensing): return licensing
        case .failure(let error): throw .internalFailure(error)
        }
    }

    private static func open(_ admission: Admission, with licensing: LoopLicensing) async throws(LicenseError) -> SPC {
        do throws(SPCError) {
            let key = admission.credentialKey
            let job = try licensing.opener.unwrapJob(for: admission.envelope, with: key)
            await licensing.unwraps.unwrap(job)
            return try licensing.opener.open(admission.envelope, with: key, unwrapped: job)
        } catch {
            throw .spc(error)
        }
    }

    /// The key that the SPC's asset id names. What a sender without rights to an unknown asset hears is what a known asset would give.
    func record(for spc: SPC, claims: Claims) async throws(LicenseError) -> ContentKeyRecord {
        let assetID = try Self.assetID(of: spc)
        let record: ContentKeyRecord?
        do throws(StoreError) {
            record = try await keys.record(for: assetID)
        } catch {
            if case .contentAmbiguous = error { throw Self.missing(AssetReference(assetID), claims) }
            throw .store(error)
        }
        guard let record else { throw Self.missing(AssetReference(assetID), claims) }
        return record
    }

    private static func assetID(of spc: SPC) throws(LicenseError) -> AssetID {
        do throws(IdentifierError) {
            return try AssetID(bytes: Array(spc.assetID))
        } catch {
            // An SPC with an asset id of another size was rejected before.
            throw .spc(.rejected(.wrongSize(tag: TLLVTag.assetID, size: spc.assetID.count)))
        }
    }

    private static func missing(_ reference: AssetReference, _ claims: Claims) -> LicenseError {
        let isNamed = reference.candidates.contains { candidate in
            switch candidate {
            case .alias: false
            case .keyID(let keyID): Gate.namesAsset(claims, contentID: nil, keyID: keyID)
            case .contentID(let contentID): Gate.namesAsset(claims, contentID: contentID.text, keyID: nil)
            }
        }
        return isNamed ? .keyNotFound : .contentUnknown
    }

    private static func authorize(
        _ admission: Admission, record: ContentKeyRecord, now: Int64
    ) throws(LicenseError) -> Authorization {
        do throws(EntitlementError) {
            return try Gate.authorize(
                claims: admission.claims, content: RequestedContent(record.attributes), for: admission.use, now: now)
        } catch {
            throw .entitlement(error)
        }
    }

    private func terms(
        for authorization: Authorization, key: ContentKeyAttributes, device: DeviceFacts, using crypto: CryptoContext
    ) throws(LicenseError) -> LicenseTerms {
        let titleID = try Self.titleID(of: key, for: authorization.limits, using: crypto)
        do throws(LicenseTermsError) {
            return try LicenseTerms(authorization, key: key, titleID: titleID, device: device, policy: policy)
        } catch {
            throw .terms(error)
        }
    }

    /// Only a device that keeps the key hears the title's id, which costs a digest.
    private static func titleID(
        of key: ContentKeyAttributes, for limits: LicenseLimits, using crypto: CryptoContext
    ) throws(LicenseError) -> Bytes16? {
        guard case .offline = limits else { return nil }
        do throws(CryptoError) {
            return try key.titleID(using: crypto)
        } catch {
            throw .internalFailure(error)
        }
    }

    /// Waits where an external module wraps the key.
    private static func wrap(
        _ record: ContentKeyRecord, for spc: SPC, using crypto: CryptoContext
    ) async throws(LicenseError) -> WrappedContentKey {
        do throws(LadderError) {
            return try await spc.wrap(
                record.key.bytes, iv: record.iv, for: ContentKeyUse(record.attributes), using: crypto)
        } catch {
            throw LicenseError(error)
        }
    }

    private static func write(
        for spc: SPC, contentKey: WrappedContentKey, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(LicenseError) -> [UInt8] {
        do throws(CryptoError) {
            return try CKCWriter.write(for: spc, contentKey: contentKey, terms: terms, using: crypto)
        } catch {
            throw .internalFailure(error)
        }
    }
}
