import ByteCoding
import FairPlay

/// What a license allows. Each kind has an asset, a content key and a token of its own.
enum ConformanceKind: String, CaseIterable, Sendable {
    case streaming
    case lease
    case rental
    case leaseAndRental = "lease-and-rental"
    /// A key that the device may keep without an end.
    case persistent
    /// A key that the device may keep, with a limit until its first play and one after it.
    case offline
    /// A key that needs HDCP Type 1 and the security level Baseline.
    case protected

    // The limits in seconds.
    static let leaseLimit = LicenseSeconds(atLeastOne: 600)
    static let rentalLimit = LicenseSeconds(atLeastOne: 86_400)
    static let storageLimit = LicenseSeconds(atLeastOne: 2_592_000)
    static let playbackLimit = LicenseSeconds(atLeastOne: 172_800)

    var assetID: [UInt8] { Array("conformance-\(rawValue)".utf8) }

    /// Further asset ids of the same key: of the shortest size, the longest, and one that is not text.
    var aliases: [[UInt8]] {
        switch self {
        case .streaming: [Self.shortAssetID, Self.longAssetID, Self.binaryAssetID]
        case .lease, .rental, .leaseAndRental, .persistent, .offline, .protected: []
        }
    }

    static let shortAssetID: [UInt8] = [0x63, 0x31]
    static let longAssetID = Array("conformance-".utf8) + [UInt8](repeating: 0x6c, count: 188)
    /// The id of no asset.
    static let unknownAssetID = Array("conformance-unknown".utf8)
    static let binaryAssetID: [UInt8] = [0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0xaa, 0xbb, 0xcc, 0x00, 0xee, 0xff]

    /// The number of the kind, from 1 on.
    private var number: UInt8 {
        switch self {
        case .streaming: 1
        case .lease: 2
        case .rental: 3
        case .leaseAndRental: 4
        case .persistent: 5
        case .offline: 6
        case .protected: 7
        }
    }

    /// The content key: `10 11 … 1f` for the first kind, `20 21 … 2f` for the second, and so on.
    var contentKey: [UInt8] { (0..<16).map { number << 4 | $0 } }

    /// The initialization vector: the content key in reverse.
    var contentIV: [UInt8] { contentKey.reversed() }

    /// The key id, for servers that need one.
    var keyID: [UInt8] { [UInt8](repeating: 0xc0, count: 15) + [number] }

    /// Whether the device asks for a key to be kept.
    var asksOffline: Bool { self == .persistent || self == .offline }

    /// The HDCP level that the license must have; nil for any.
    var hdcp: HDCPLevel? { self == .protected ? .type1 : nil }

    /// The terms that a device with these abilities must get. The ids of offline keys are zeros (protocol, sections 4.2
    /// and 4.3).
    func validity(for capabilities: Capabilities?) -> LicenseTerms.Validity {
        let keepsVersion2 = capabilities?.contains(.offlineKeyVersion2) ?? false
        let name: OfflineKey.Name =
            keepsVersion2 ? .version2(streamID: .zero, titleID: .zero) : .version1(contentID: .zero)
        return switch self {
        case .streaming, .protected: .session
        case .lease: .duration(.lease(Self.leaseLimit))
        case .rental: .duration(.rental(Self.rentalLimit))
        case .leaseAndRental: .duration(.leaseAndRental(lease: Self.leaseLimit, rental: Self.rentalLimit))
        case .persistent where keepsVersion2: .offlineKey(OfflineKey(name, storage: nil, playback: nil))
        case .persistent: .duration(.persistent)
        case .offline: .offlineKey(OfflineKey(name, storage: Self.storageLimit, playback: Self.playbackLimit))
        }
    }

    /// The same terms for the library of an SDK; nil if its requests cannot say them (SDK 26, section 3).
    func libraryTerms(for capabilities: Capabilities?) -> LibraryTerms? {
        let name =
            capabilities?.contains(.offlineKeyVersion2) ?? false
            ? (streamID: Bytes16(keyID, at: 0), titleID: Bytes16(contentIV, at: 0)) : nil
        let validity: LibraryTerms.Validity
        switch self {
        case .streaming, .protected: validity = .session
        case .lease: validity = .lease(Self.leaseLimit)
        case .rental, .leaseAndRental: return nil
        case .persistent: validity = .kept(.init(name: name, storage: nil, playback: nil))
        case .offline: validity = .kept(.init(name: name, storage: Self.storageLimit, playback: Self.playbackLimit))
        }
        return LibraryTerms(
            contentType: self == .protected ? .hd : .sd, scheme: .cbcs, hdcp: hdcp ?? .type0, validity: validity)
    }
}

extension LicenseTerms.Validity {
    /// The terms with zeros in place of the ids of an offline key, which a server may choose.
    var withoutIDs: Self {
        guard case .offlineKey(let key) = self else { return self }
        return switch key.name {
        case .version1:
            .offlineKey(OfflineKey(.version1(contentID: .zero), storage: key.storage, playback: key.playback))
        case .version2:
            .offlineKey(
                OfflineKey(
                    .version2(streamID: .zero, titleID: .zero), storage: key.storage, playback: key.playback))
        }
    }
}
