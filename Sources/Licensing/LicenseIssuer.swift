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
    private let perLoop: LoopLocal<Result<LoopLicensing, CryptoError>>

    /// `servedVersions` are the FairPlay protocol versions; `operations` counts RSA private operations.
    package init(
        credentials: CredentialSet, tokens: VerifiedTokenCache, keys: RecentContentKeys,
        servedVersions: Set<UInt32>, operations: RSAOperationCount
    ) {
        self.credentials = credentials
        self.tokens = tokens
        self.keys = keys
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
    }

    /// The cheap part, done at once on the loop: the token first, then the container. `now` is in seconds since 1970.
    package func admit(
        _ request: LicenseRequest, now: Int64, on loop: LoopContext
    ) throws(LicenseError) -> Admission {
        let licensing = try licensing(on: loop)
        guard let token = request.token else { throw .tokenMissing }
        let claims: Claims
        do throws(EntitlementError) {
            claims = try tokens.verify(token, now: now, crypto: licensing.crypto)
        } catch {
            throw .entitlement(error)
        }
        do throws(SPCError) {
            let envelope = try SPCEnvelope(parsing: request.message)
            return Admission(
                claims: claims, envelope: envelope, credentialKey: try credentials.key(for: envelope))
        } catch {
            throw .spc(error)
        }
    }

    /// The dear part: opens the SPC, finds the key, asks the gate, and writes the licence. Stays on `loop`.
    package func issue(
        _ admission: Admission, now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> IssuedLicense {
        let licensing = try licensing(on: loop)
        let spc = try await Self.open(admission, with: licensing)
        let record = try await record(for: spc, claims: admission.claims)
        let authorization = try Self.authorize(admission.claims, record: record, now: now)
        // Nothing asks for an offline licence yet.
        guard case .streaming(let limits) = authorization.limits else { throw .entitlement(.offlineNotGranted) }
        let terms = LicenseTerms(limits, authorization.protection)
        return IssuedLicense(
            ckc: try Self.write(for: spc, record: record, terms: terms, using: licensing.crypto),
            authorization: authorization, terms: terms, key: record.attributes, spc: spc,
            credentialName: admission.credentialKey.credentialName)
    }

    private func licensing(on loop: LoopContext) throws(LicenseError) -> LoopLicensing {
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
    private func record(for spc: SPC, claims: Claims) async throws(LicenseError) -> ContentKeyRecord {
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
        _ claims: Claims, record: ContentKeyRecord, now: Int64
    ) throws(LicenseError) -> Authorization {
        do throws(EntitlementError) {
            let content = RequestedContent(
                contentID: record.contentID.text, keyID: record.keyID,
                trackLabels: record.attributes.track.policyLabels.map(\.text))
            return try Gate.authorize(claims: claims, content: content, for: .streaming, now: now)
        } catch {
            throw .entitlement(error)
        }
    }

    private static func write(
        for spc: SPC, record: ContentKeyRecord, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(LicenseError) -> [UInt8] {
        do throws(CKCError) {
            return try CKCWriter.write(
                for: spc, contentKey: record.key.bytes, iv: record.iv, terms: terms, using: crypto)
        } catch {
            switch error {
            case .notExpressible(let reason): throw .terms(reason)
            case .cryptography(let error): throw .internalFailure(error)
            }
        }
    }
}
