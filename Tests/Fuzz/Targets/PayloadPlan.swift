import ByteCoding
import FairPlay

/// The first four bytes of an input, which choose how a payload is encrypted, opened and answered.
///
///     offset  size  field
///          0     1  bits 0-1 version (3 is version 1), 2 module, 3 not repaired, 4 foreign key, 5 altered tag,
///                   6 protocol 2 served
///          1     1  bits 0-2 validity, 3-4 HDCP, 5-6 security level
///          2     1  a duration in seconds
///          3     1  bits 0-2 device policy, 3-4 content kind, 5 allows the session key for video
struct PayloadPlan {
    static let size = 4

    private let bytes: [UInt8]

    /// `bytes` are the first four of an input.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(
        version: SPCVersion, ladder: SPCSealer.Ladder = .applicationSecret, validity: UInt8 = 0, hdcp: UInt8 = 0,
        securityLevel: UInt8 = 0
    ) {
        let module: UInt8 = ladder == .module ? 1 << 2 : 0
        self.init([
            UInt8(version.rawValue - 1) | module | 1 << 6, validity | hdcp << 3 | securityLevel << 5, 59, 1 | 1 << 5,
        ])
    }

    /// An input with this plan.
    func input(_ payload: [UInt8]) -> [UInt8] { bytes + payload }

    // MARK: - The SPC

    var version: SPCVersion {
        switch bytes[0] & 3 {
        case 1: .v2
        case 2: .v3
        case _: .v1
        }
    }

    var ladder: SPCSealer.Ladder { bit(2) ? .module : .applicationSecret }

    /// Whether the session's blocks are repaired before the payload is encrypted.
    var isRepaired: Bool { !bit(3) }

    /// Whether the payload is encrypted under the key that RSA unwraps.
    var isKeyGenuine: Bool { !bit(4) }

    /// Whether the authentication tag is altered, if there is one.
    var isTagAltered: Bool { bit(5) && version == .v3 }

    var servesProtocolVersion2: Bool { bit(6) }

    private func bit(_ index: UInt8) -> Bool { bytes[0] >> index & 1 != 0 }

    // MARK: - The answer

    var terms: LicenseTerms {
        LicenseTerms(validity: validity, hdcp: hdcp, securityLevel: securityLevel)
    }

    var policy: DevicePolicy {
        var policy = DevicePolicy()
        policy.refusesOldDenyLists = bytes[3] & 2 != 0
        policy.refusesVirtualMachines = bytes[3] & 4 != 0
        return policy
    }

    var contentKeyUse: ContentKeyUse {
        let kind = LadderCall.ContentKind(rawValue: UInt32(bytes[3] >> 3 & 3)) ?? .unknown
        return ContentKeyUse(
            kind: kind, contentType: .sd, scheme: bytes[3] >> 5 & 1 != 0 ? .cbcs : .transportStream)
    }

    private static let contentID = Bytes16(high: 0xC0, low: 0x1D)
    private static let titleID = Bytes16(high: 0x71, low: 0x1D)

    private var validity: LicenseTerms.Validity {
        guard let seconds = LicenseSeconds(UInt64(bytes[2]) + 1) else { return .session }
        switch bytes[1] & 7 {
        case 1: return .duration(.lease(seconds))
        case 2: return .duration(.rental(seconds))
        case 3: return .duration(.leaseAndRental(lease: seconds, rental: seconds))
        case 4: return .duration(.persistent)
        case 5: return .duration(.persistentLimited(seconds))
        case 6: return .offlineKey(OfflineKey(.version1(contentID: Self.contentID), storage: seconds, playback: nil))
        case 7:
            let name = OfflineKey.Name.version2(streamID: Self.contentID, titleID: Self.titleID)
            return .offlineKey(OfflineKey(name, storage: nil, playback: seconds))
        case _: return .session
        }
    }

    private var hdcp: HDCPLevel? {
        switch bytes[1] >> 3 & 3 {
        case 1: HDCPLevel.none
        case 2: .type0
        case 3: .type1
        case _: nil
        }
    }

    private var securityLevel: SecurityLevel? {
        switch bytes[1] >> 5 & 3 {
        case 1: .audio
        case 2: .baseline
        case 3: .main
        case _: nil
        }
    }
}
