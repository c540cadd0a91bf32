import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto

// Keys that a token names or brings along, so that the SPC's asset id has no say (entitlement, section 1.1.3): an app
// that was handed a token URL may give the whole URL as asset id.

extension ContentKeyRecord {
    /// A record of the key inside a token, made for one licence and wiped with it.
    ///
    /// Its key id and content id are those that the token gives. Otherwise the token's own id, which is random, stands
    /// for the key id, and "key:" with the key id for the content: neither says anything of the key. Throws
    /// `claimInvalid` if these ids are not valid.
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
    /// The key of an asset id. If that names nothing, and a sealed token names one stored key, or a content that has
    /// exactly one, it is that key. An asset id that names another key names something, and so stays for the gate to
    /// refuse.
    func record(for assetID: AssetID, orNamedBy claims: Claims) async throws(StoreError) -> ContentKeyRecord? {
        if let record = try await record(for: assetID) { return record }
        guard let name = claims.onlyStoredName, let assetID = try? AssetID(bytes: name.bytes),
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

    /// What a sealed token is for, if that is one key or one content.
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

    /// As an asset id.
    var bytes: [UInt8] {
        switch self {
        case .keyID(let keyID): keyID.bytes
        case .content(let text): Array(text.utf8)
        }
    }

    /// Whether a record that was found by these bytes is meant: they can be another key's alias.
    func names(_ record: ContentKeyRecord) -> Bool {
        switch self {
        case .keyID(let keyID): record.keyID == keyID
        case .content(let text): record.contentID.text == text
        }
    }
}
