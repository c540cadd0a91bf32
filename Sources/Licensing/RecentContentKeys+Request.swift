import ByteCoding
import ContentKeys
import Entitlements
import FairPlay

extension RecentContentKeys {
    /// The key inside the token, or else the key that the SPC's asset id names.
    ///
    /// A sender without rights to an asset gets the same refusal whether the asset is known or not. Without claims the
    /// sender's rights are not known, so it always gets that refusal. Only beside a content to which the sender has
    /// rights, the refusal of an explicit key id says whether the key is missing or is another content's.
    func record(for spc: SPC, claims held: HeldClaims?) async throws(LicenseError) -> ContentKeyRecord {
        if let held, let key = held.claims.embeddedKey {
            let record = try ContentKeyRecord(key, of: held.claims)
            try requireBound(record, try spc.identifiedAsset, held)
            return record
        }
        return try await record(ofAsset: try spc.identifiedAsset, claims: held)
    }

    /// The key of an asset. Throws like `record(for:claims:)`.
    func record(ofAsset assetID: AssetID, claims held: HeldClaims?) async throws(LicenseError) -> ContentKeyRecord {
        let found: ContentKeyRecord?
        do throws(StoreError) {
            found =
                if let held {
                    try await record(for: assetID, orNamedBy: held)
                } else {
                    try await record(for: assetID)
                }
        } catch {
            if case .contentAmbiguous = error {
                let refusal = Self.missing(reference(to: assetID), held)
                throw refusal == .keyNotFound ? .keyAmbiguous : refusal
            }
            // A full queue and an untrusted clock keep their own errors. Every other outage is a key store that does
            // not answer.
            if case .unavailable(let outage) = error, outage != .busy, outage != .clockUntrusted {
                throw .keyStore(outage)
            }
            throw .store(error)
        }
        guard let found else { throw Self.missing(reference(to: assetID), held) }
        try requireFairPlay(found.attributes, held)
        return found
    }

    /// Throws if the key has a scheme that FairPlay does not play. No other check keeps such keys out of licenses.
    private func requireFairPlay(_ key: ContentKeyAttributes, _ held: HeldClaims?) throws(LicenseError) {
        if key.scheme.isFairPlay { return }
        let isNamed =
            held.map { Gate.namesAsset($0.claims, contentID: key.contentID.text, keyID: key.keyID) } ?? false
        throw .schemeNotPlayed(key.scheme, isNamed: isNamed)
    }

    /// Throws if the asset id has an explicit key id, and the token has another key and names it.
    private func requireBound(
        _ record: ContentKeyRecord, _ assetID: AssetID, _ held: HeldClaims
    ) throws(LicenseError) {
        guard held.claims.namesOwnKeyID, let binding = reference(to: assetID).binding,
            binding.keyIDs != [record.keyID]
        else { return }
        throw .boundKeyMissing(BoundKeyNames(keyIDs: binding.keyIDs, content: record.contentID.text), isNamed: true)
    }

    private static func missing(_ reference: AssetReference, _ held: HeldClaims?) -> LicenseError {
        guard let claims = held?.claims else { return .contentUnknown }
        if let binding = reference.binding, let error = missing(binding, claims) { return error }
        let isNamed = reference.candidates.contains { candidate in
            switch candidate {
            case .alias: false
            case .keyID(let keyID): Gate.namesAsset(claims, contentID: nil, keyID: keyID)
            case .contentID, .track: Gate.namesAsset(claims, contentID: candidate.contentID?.text, keyID: nil)
            }
        }
        return isNamed ? .keyNotFound : .contentUnknown
    }

    /// The refusal of an asset id with an explicit key id; nil if only one name is known, the key id itself.
    private static func missing(_ binding: AssetReference.Binding, _ claims: Claims) -> LicenseError? {
        let content = claims.onlyStoredContent ?? binding.contentIDs.first?.text
        guard content != nil || binding.keyIDs.count > 1 else { return nil }
        let isNamed =
            binding.keyIDs.contains { Gate.namesAsset(claims, contentID: nil, keyID: $0) }
            || (content.map { Gate.namesAsset(claims, contentID: $0, keyID: nil) } ?? false)
        return .boundKeyMissing(BoundKeyNames(keyIDs: binding.keyIDs, content: content), isNamed: isNamed)
    }
}

extension SPC {
    /// The asset id of the SPC, which says which content is meant.
    var identifiedAsset: AssetID {
        get throws(LicenseError) {
            do throws(IdentifierError) {
                return try AssetID(bytes: Array(assetID))
            } catch {
                // An SPC with an asset id of another size was rejected before.
                throw .spc(.rejected(.wrongSize(tag: TLLVTag.assetID, size: assetID.count)))
            }
        }
    }
}
