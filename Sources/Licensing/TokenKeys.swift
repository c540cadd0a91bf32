import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto

// Keys that a token names or contains, so that the SPC's asset id does not decide (entitlement, section 1.1.3). An app
// that got a token URL may use the whole URL as the asset id.

extension ContentKeyRecord {
    /// Makes a record of the key inside a token, for one license. The key is wiped with the record.
    ///
    /// The token gives the key id and the content id. If it does not, the token's own id, which is random, is the key
    /// id, and "key:" with the key id is the content id. Neither says anything about the key. Throws `claimInvalid` if
    /// these ids are not valid.
    convenience init(_ embedded: EmbeddedContentKey, of claims: Claims) throws(LicenseError) {
        guard let keyID = claims.ownKeyID, let contentID = claims.ownContentID(of: keyID) else {
            throw .entitlement(.claimInvalid("key"))
        }
        let attributes = ContentKeyAttributes(
            keyID: keyID, contentID: contentID, createdAt: claims.issuedAt ?? 0)
        do throws(ContentKeyError) {
            try self.init(
                attributes: attributes, key: ContentKey(embedded.key.copy(0..<EmbeddedContentKey.size)),
                iv: embedded.iv)
        } catch {
            throw .entitlement(.claimInvalid("key"))
        }
    }
}

extension RecentContentKeys {
    /// The key of an asset id, or else the key that a sealed token names.
    ///
    /// The token is used only if the asset id has no explicit key id and names no stored key, and if the token names
    /// one stored key or a content with exactly one key. If the asset id names another key, that key is returned, and
    /// the gate refuses it.
    func record(for assetID: AssetID, orNamedBy held: HeldClaims) async throws(StoreError) -> ContentKeyRecord? {
        if let record = try await record(for: assetID) { return record }
        if reference(to: assetID).binding != nil { return nil }
        guard let name = held.claims.onlyStoredName, let assetID = try? AssetID(bytes: name.bytes),
            let record = try await record(for: assetID), name.names(record)
        else { return nil }
        return record
    }
}

extension Claims {
    /// The id of the key inside the token.
    fileprivate var ownKeyID: KeyID? {
        if case .keyIDs(let keyIDs) = rights.first?.selector, keyIDs.count == 1 { return keyIDs[0] }
        // A sealed token's id has 32 hexadecimal digits.
        return tokenID.flatMap { try? KeyID(parsing: $0) }
    }

    fileprivate func ownContentID(of keyID: KeyID) -> ContentID? {
        if case .content(let text) = rights.first?.selector { return try? ContentID(text) }
        return try? ContentID("key:\(keyID)")
    }

    /// Whether the token names the key that is inside it.
    var namesOwnKeyID: Bool {
        if case .keyIDs(let keyIDs) = rights.first?.selector { return keyIDs.count == 1 }
        return false
    }

    /// The one content that a sealed token names; nil for other tokens.
    var onlyStoredContent: String? {
        if case .content(let text) = onlyStoredName { return text }
        return nil
    }

    /// The one key or the one content that a sealed token names; nil for other tokens.
    fileprivate var onlyStoredName: StoredName? {
        guard dialect == .expressPlay, rights.count == 1 else { return nil }
        switch rights[0].selector {
        case .keyIDs(let keyIDs): return keyIDs.count == 1 ? .keyID(keyIDs[0]) : nil
        case .content(let text): return .content(text)
        case .contentPrefix, .anything: return nil
        }
    }
}

/// A key or a content, as a token names it.
private enum StoredName {
    case keyID(KeyID)
    case content(String)

    /// The name as an asset id.
    var bytes: [UInt8] {
        switch self {
        case .keyID(let keyID): keyID.bytes
        case .content(let text): Array(text.utf8)
        }
    }

    /// Whether the name means this record. A record that was found by the bytes may be another one, because they can be
    /// an alias of another key.
    func names(_ record: ContentKeyRecord) -> Bool {
        switch self {
        case .keyID(let keyID): record.keyID == keyID
        case .content(let text): record.contentID.text == text
        }
    }
}
