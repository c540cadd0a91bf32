import FairPlay
import TestSupport

/// Plain payloads of CKCs, written from the format's description (protocol, section 2.2) and not by the server's code.
enum SeedLicenses {
    /// The blocks of each kind of terms: duration or offline key, HDCP, security level.
    static let terms: [[RawTLLV]] = [
        [],
        [duration(lease: 60, rental: 0, keyType: 0x1A4B_DE7E), hdcp(.type1)],
        [duration(lease: 0, rental: 60, keyType: 0x3DFE_45A0), hdcp(.type0)],
        [duration(lease: 60, rental: 90, keyType: 0x27B5_9BDE), level(.main)],
        [duration(lease: 0, rental: 0, keyType: 0x3DF2_D9FB), hdcp(.none)],
        [duration(lease: 0, rental: 60, keyType: 0x18F0_6048)],
        [offlineKey(version: 1), level(.baseline)],
        [offlineKey(version: 2), level(.audio)],
    ]

    /// Says that the session key for video was used.
    static let videoKeyUsed = RawTLLV(
        tag: TLLVTag.sessionKeyVersionUsed,
        value: [0, 0, 0, 1, 0, 0, 0, 0] + bigEndianBytes(SessionKeyVersion.video.rawValue), padding: []
    ).bytes

    static func payload(_ terms: [RawTLLV]) -> [UInt8] {
        let key = RawTLLV(tag: TLLVTag.contentKey, value: [UInt8](0..<32), padding: [])
        let r1 = RawTLLV(tag: TLLVTag.r1, value: FixedSession.r1, padding: [])
        return ([key, r1] + terms).flatMap(\.bytes)
    }

    private static func duration(lease: UInt32, rental: UInt32, keyType: UInt32) -> RawTLLV {
        let words = [lease, rental, keyType, 0x86D3_4A3A]
        return RawTLLV(tag: TLLVTag.contentKeyDuration, value: words.flatMap { bigEndianBytes($0) }, padding: [])
    }

    private static func offlineKey(version: UInt32) -> RawTLLV {
        let name = [UInt8](repeating: 0x1D, count: 16)
        let limits = [UInt32(3600), UInt32(60)].flatMap { bigEndianBytes($0) }
        let value = bigEndianBytes(version) + [0, 0, 0, 0] + name + limits + (version == 2 ? name : [])
        return RawTLLV(tag: TLLVTag.offlineKey, value: value, padding: [])
    }

    private static func hdcp(_ level: HDCPLevel) -> RawTLLV {
        let value = bigEndianBytes(level.rawValue) + [UInt8](repeating: 0xE7, count: 8)
        return RawTLLV(tag: TLLVTag.hdcpEnforcement, value: value, padding: [])
    }

    private static func level(_ level: SecurityLevel) -> RawTLLV {
        let value = [0, 0, 0, 1, 0, 0, 0, 0] + bigEndianBytes(level.rawValue)
        return RawTLLV(tag: TLLVTag.requiredSecurityLevel, value: value, padding: [])
    }
}
