import ByteCoding
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The license in a vector's CKC, as the vector's file has it. A member is missing if the term is missing.
struct ExpectedLicense: Codable, Sendable {
    let contentKey: String
    let contentIV: String
    var leaseSeconds: UInt32?
    var rentalSeconds: UInt32?
    /// The name of the duration block's key type: `lease`, `rental`, `leaseAndRental`, `persistent`,
    /// `persistentLimited`.
    var keyType: String?
    var offlineKey: OfflineKey?
    /// The level's name: `none`, `type0`, `type1`.
    var hdcp: String?
    /// The level's name: `audio`, `baseline`, `main`.
    var securityLevel: String?

    struct OfflineKey: Codable, Sendable {
        let version: UInt32
        /// Version 1.
        var contentID: String?
        /// Version 2.
        var streamID: String?
        var titleID: String?
        var storageSeconds: UInt32?
        var playbackSeconds: UInt32?
    }
}

extension ExpectedLicense {
    init(contentKey: [UInt8], contentIV: Bytes16, terms: LicenseTerms) {
        self.contentKey = hex(contentKey)
        self.contentIV = hex(contentIV.bytes)
        leaseSeconds = terms.lease?.value
        rentalSeconds = terms.rental?.value
        switch terms.validity {
        case .session: break
        case .duration(let duration): keyType = duration.name
        case .offlineKey(let key): offlineKey = OfflineKey(key)
        }
        hdcp = terms.hdcp.map { "\($0)" }
        securityLevel = terms.securityLevel.map { "\($0)" }
    }

    func terms() throws -> LicenseTerms {
        LicenseTerms(
            validity: try validity(),
            hdcp: try hdcp.map { name in try #require(HDCPLevel.allCases.first { "\($0)" == name }) },
            securityLevel: try securityLevel.map { name in
                try #require(SecurityLevel.allCases.first { "\($0)" == name })
            })
    }

    private func validity() throws -> LicenseTerms.Validity {
        if let offlineKey { return .offlineKey(try offlineKey.key()) }
        let lease = leaseSeconds.flatMap { LicenseSeconds(UInt64($0)) }
        let rental = rentalSeconds.flatMap { LicenseSeconds(UInt64($0)) }
        switch keyType {
        case nil: return .session
        case "lease": return .duration(.lease(try #require(lease)))
        case "rental": return .duration(.rental(try #require(rental)))
        case "leaseAndRental":
            return .duration(.leaseAndRental(lease: try #require(lease), rental: try #require(rental)))
        case "persistent": return .duration(.persistent)
        case "persistentLimited": return .duration(.persistentLimited(try #require(rental)))
        case .some(let name): throw UnknownName(name: name)
        }
    }

    struct UnknownName: Error {
        let name: String
    }
}

extension ExpectedLicense.OfflineKey {
    init(_ key: FairPlay.OfflineKey) {
        switch key.name {
        case .version1(let contentID):
            version = 1
            self.contentID = hex(contentID.bytes)
        case .version2(let streamID, let titleID):
            version = 2
            self.streamID = hex(streamID.bytes)
            self.titleID = hex(titleID.bytes)
        }
        storageSeconds = key.storage?.value
        playbackSeconds = key.playback?.value
    }

    fileprivate func key() throws -> FairPlay.OfflineKey {
        let name: FairPlay.OfflineKey.Name =
            if version == 1 {
                .version1(contentID: try identifier(contentID))
            } else {
                .version2(streamID: try identifier(streamID), titleID: try identifier(titleID))
            }
        return FairPlay.OfflineKey(
            name, storage: storageSeconds.flatMap { LicenseSeconds(UInt64($0)) },
            playback: playbackSeconds.flatMap { LicenseSeconds(UInt64($0)) })
    }

    private func identifier(_ digits: String?) throws -> Bytes16 {
        try #require(digits.flatMap { Bytes16(hex($0)) })
    }
}

extension KeyDuration {
    fileprivate var name: String {
        switch self {
        case .lease: "lease"
        case .rental: "rental"
        case .leaseAndRental: "leaseAndRental"
        case .persistent: "persistent"
        case .persistentLimited: "persistentLimited"
        }
    }
}
