import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The blocks of a CKC byte by byte, compared with the layouts of protocol section 2.2.
@Suite struct LicenseBlockTests {
    private static let contentKeyDuration: UInt64 = 0x47ac_f6a4_18cd_091a
    private static let offlineKey: UInt64 = 0x6375_d972_7060_218c
    private static let hdcpEnforcement: UInt64 = 0x2e52_f153_0d8d_db4a
    private static let requiredSecurityLevel: UInt64 = 0x644c_b1da_c031_3250
    private static let sessionKeyVersionUsed: UInt64 = 0x42ca_089e_8e9f_a924
    private static let contentKey: UInt64 = 0x58b3_8165_af0e_3d5a
    private static let r1: UInt64 = 0xea74_c464_5d5e_fee9

    private let bench: SPCBench
    private let request: DeviceRequest

    init() throws {
        bench = try SPCBench()
        request = try bench.request { $0.returnRequest = [] }
    }

    private func license(_ terms: LicenseTerms) throws -> PlainLicense {
        let ckc = try bench.server.answer(
            bench.server.open(request.message), contentKey: [UInt8](0x20...0x2F),
            iv: Bytes16([UInt8](0x40...0x4F), at: 0), terms: terms)
        return try PlainLicense(ckc, for: request, using: bench.crypto)
    }

    private static func durations() throws -> [(KeyDuration, String)] {
        let first = try #require(LicenseSeconds(0x0102_0304))
        let second = try #require(LicenseSeconds(0x0506_0708))
        return [
            (.lease(first), "01020304" + "00000000" + "1a4bde7e" + "86d34a3a"),
            (.rental(second), "00000000" + "05060708" + "3dfe45a0" + "86d34a3a"),
            (.leaseAndRental(lease: first, rental: second), "01020304" + "05060708" + "27b59bde" + "86d34a3a"),
            (.persistent, "00000000" + "00000000" + "3df2d9fb" + "86d34a3a"),
            (.persistentLimited(second), "00000000" + "05060708" + "18f06048" + "86d34a3a"),
        ]
    }

    @Test(arguments: try durations())
    func writesEveryDuration(duration: KeyDuration, digits: String) throws {
        let license = try license(LicenseTerms(validity: .duration(duration)))
        #expect(license.value(of: Self.contentKeyDuration).map { hex($0) } == digits)
        #expect(license.value(of: Self.offlineKey) == nil)
    }

    private static let identifier = "00112233445566778899aabbccddeeff"
    private static let otherIdentifier = "ffeeddccbbaa99887766554433221100"

    private static func offlineKeys() throws -> [(OfflineKey, String)] {
        let first = try #require(LicenseSeconds(0x0102_0304))
        let second = try #require(LicenseSeconds(0x0506_0708))
        let id = try #require(Bytes16(hex(identifier)))
        let other = try #require(Bytes16(hex(otherIdentifier)))
        let head1 = "00000001" + "00000000" + identifier
        let head2 = "00000002" + "00000000" + identifier
        return [
            (OfflineKey(.version1(contentID: id), storage: first, playback: second), head1 + "01020304" + "05060708"),
            (OfflineKey(.version1(contentID: id), storage: nil, playback: nil), head1 + "00000000" + "00000000"),
            (
                OfflineKey(.version2(streamID: id, titleID: other), storage: first, playback: second),
                head2 + "01020304" + "05060708" + otherIdentifier
            ),
            (
                OfflineKey(.version2(streamID: id, titleID: other), storage: nil, playback: second),
                head2 + "00000000" + "05060708" + otherIdentifier
            ),
        ]
    }

    @Test(arguments: try offlineKeys())
    func writesBothVersionsOfOfflineKeys(key: OfflineKey, digits: String) throws {
        let license = try license(LicenseTerms(validity: .offlineKey(key)))
        #expect(license.value(of: Self.offlineKey).map { hex($0) } == digits)
        #expect(license.value(of: Self.contentKeyDuration) == nil)
    }

    /// The value has sixteen bytes. A known server writes only the first eight.
    @Test(arguments: [
        (HDCPLevel.none, "ef72894ca7895b78"), (.type0, "40791ac78bd5c571"), (.type1, "285a0863bba8e1d3"),
    ])
    func writesHDCPWithEightRandomBytes(level: HDCPLevel, digits: String) throws {
        let values = try (0..<4).compactMap { _ in
            try license(LicenseTerms(hdcp: level)).value(of: Self.hdcpEnforcement)
        }
        #expect(values.allSatisfy { $0.count == 16 && hex($0.prefix(8)) == digits })
        #expect(Set(values.map { hex($0.dropFirst(8)) }).count == 4)
    }

    @Test(arguments: [
        (SecurityLevel.audio, "17d99d574eed567d"), (.baseline, "32f0004966a5c4f8"), (.main, "4e7fd92421d588b4"),
    ])
    func writesTheRequiredLevel(level: SecurityLevel, digits: String) throws {
        let license = try license(LicenseTerms(securityLevel: level))
        #expect(license.value(of: Self.requiredSecurityLevel).map { hex($0) } == "00000001" + "00000000" + digits)
    }

    @Test func writesKeyAndR1AndNothingThatWasNotAskedFor() throws {
        let license = try license(LicenseTerms())
        #expect(Set(license.blocks.map(\.tag)) == [Self.contentKey, Self.r1])
        #expect(license.value(of: Self.r1) == request.secrets.r1)
        let sessionKey = request.secrets.sessionBlock.bytes.copy(0..<16)
        let wrapped = try bench.crypto.encryptBlock(secret: SecretBytes(copying: [UInt8](0x20...0x2F)), key: sessionKey)
        #expect(license.value(of: Self.contentKey) == [UInt8](0x40...0x4F) + wrapped.bytes)
    }

    @Test func knowsEveryTagOfACKC() {
        let tags: Set = [
            Self.contentKey, Self.r1, Self.contentKeyDuration, Self.offlineKey, Self.hdcpEnforcement,
            Self.requiredSecurityLevel, Self.sessionKeyVersionUsed,
        ]
        #expect(Set(TLLVTag.carriedByCKC) == tags)
    }
}
