import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// Faults of other key servers (protocol, section 6), with one test each that this server does not have the fault. The
/// letters are those of the list.
@Suite struct ReferenceServerFaultTests {
    private let bench: SPCBench
    private let fixture: TestCredential

    init() throws {
        bench = try SPCBench()
        fixture = try TestCredential.shared.get()
    }

    private func license(
        _ spc: SPC, _ request: DeviceRequest, key: [UInt8] = [UInt8](0x20...0x2F), terms: LicenseTerms = LicenseTerms()
    ) throws -> PlainLicense {
        try PlainLicense(
            bench.server.answer(spc, contentKey: key, terms: terms), for: request, using: bench.crypto)
    }

    private func request(_ version: SPCVersion, with fault: SPCFault) throws -> DeviceRequest {
        try fixture.makeDevice(version, using: bench.crypto).makeRequest(
            DeviceOptions(version: version, assetID: Array("movie-1".utf8)), with: fault)
    }

    // MARK: The lettered list

    @Test("(a) every license has its key, and never a key of zeros instead")
    func theKeyIsNeverLeftOut() throws {
        let request = try bench.request { _ in }
        let license = try license(bench.server.open(request.message), request)
        let value = try #require(license.value(of: TLLVTag.contentKey))
        let wrapped = try #require(Bytes16(Array(value.dropFirst(16))))
        let opened = try bench.crypto.unwrapBlock(wrapped, key: request.secrets.sessionBlock.bytes)
        #expect(opened.revealed() == [UInt8](0x20...0x2F))
    }

    @Test("(b) bytes after the payload are refused, and the tag is not part of it", arguments: SPCVersion.allCases)
    func nothingBehindThePayloadIsDecrypted(version: SPCVersion) throws {
        for fault in [ContainerFault.oneTrailingByte, .sixteenTrailingBytes, .sixtyFourTrailingBytes] {
            let message = try request(version, with: .container(fault)).message
            let error = #expect(throws: SPCError.self) { try bench.server.open(message) }
            guard case .malformed(.payloadLength) = error else {
                Issue.record("\(fault): \(String(describing: error))")
                continue
            }
        }
        let sound = try fixture.makeDevice(version, using: bench.crypto).makeRequest(
            DeviceOptions(version: version, assetID: Array("movie-1".utf8)))
        let envelope = try SPCEnvelope(parsing: sound.message, served: [.v1, .v2, .v3])
        let spc = try bench.server.open(sound.message)
        #expect(spc.blocks.last?.range.upperBound == envelope.payload.count)
    }

    @Test("(c) lengths that are not multiples of 16 are refused", arguments: SPCVersion.allCases)
    func lengthsAreMultiplesOf16(version: SPCVersion) throws {
        let container = try request(version, with: .container(.lengthUnaligned)).message
        #expect(throws: SPCError.malformed(.payloadUnaligned)) { try bench.server.open(container) }
        let block = try request(version, with: .payload(.blockUnaligned)).message
        let error = #expect(throws: SPCError.self) { try bench.server.open(block) }
        guard case .rejected(.framing(.blockUnaligned)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "(d) an asset id that is not UTF-8 is not cut",
        arguments: [
            hex("aabbccddeeffaabbccddeeffaabbccddeeff"), hex("00ff"), Array("movie\u{0}-1".utf8),
            hex("6d6f766965c328c0ff2d31"),
        ])
    func theAssetIDIsBytes(assetID: [UInt8]) throws {
        #expect(try Array(bench.open { $0.assetID = assetID }.assetID) == assetID)
    }

    @Test("(f) device info and device identity each keep their own system's version")
    func theSystemsAreNotMixedUp() throws {
        let facts = try bench.open {
            $0.deviceInfo = DeviceInfo(rawType: 1, operatingSystem: .init(rawValue: 0x000A_0102))
            $0.deviceIdentity = DeviceIdentity(
                version: 1, deviceClass: .unknown, vendorHash: 0, productHash: 0, systemFairPlayVersion: 0,
                trustedFairPlayVersion: 0, operatingSystem: .init(rawValue: 0x000B_0304))
        }.device
        #expect(facts.info?.operatingSystem.description == "10.1.2")
        #expect(facts.identity?.operatingSystem.description == "11.3.4")
    }

    @Test("(i) an offline key of version 1 needs only capability bit 1")
    func bit1IsEnoughForAnOfflineKey() throws {
        let device = try bench.open { $0.capabilities = .offlineKey }.device
        let key = OfflineKey(.version1(contentID: .zero), storage: LicenseSeconds(60), playback: LicenseSeconds(30))
        try LicenseTerms(validity: .offlineKey(key)).check(for: device, by: DevicePolicy())
    }

    @Test("(j) a lease that cannot be sent is refused, and never becomes a license without an end")
    func noLeaseIsSilentlyUnlimited() throws {
        let request = try bench.request { _ in }
        let spc = try bench.server.open(request.message)
        let terms = LicenseTerms(validity: .duration(.lease(try #require(LicenseSeconds(300)))))
        #expect(throws: LicenseTermsError.durationNeedsPlaybackState) {
            try terms.check(for: spc.device, by: DevicePolicy())
        }
        // The writer itself never leaves the duration out.
        #expect(try license(spc, request, terms: terms).value(of: TLLVTag.contentKeyDuration) != nil)
    }

    @Test("(k) the protocol version is enforced", arguments: [PayloadFault.versionUsedNine, .versionUsedNotSupported])
    func theProtocolVersionIsEnforced(fault: PayloadFault) throws {
        let message = try request(.v1, with: .payload(fault)).message
        let error = #expect(throws: SPCError.self) { try bench.server.open(message) }
        guard case .rejected(.protocolVersion) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("(l) no return request makes a duplicate of a block of the CKC", arguments: TLLVTag.carriedByCKC)
    func noEchoTakesTheTagOfAnotherBlock(tag: UInt64) throws {
        let request = try bench.request {
            $0.otherBlocks = [DeviceBlock(tag, zeros(16))]
            $0.returnRequest = [TLLVTag.assetID, tag]
        }
        #expect(throws: SPCError.rejected(.returnRequestForbidden(tag))) { try bench.server.open(request.message) }
    }

    @Test("(m) an old deny list limits a device to Baseline, but does not itself refuse it")
    func anOldDenyListIsNoRefusal() throws {
        let device = try bench.open {
            $0.capabilities = .securityLevelMain
            $0.denyListVersion = 30
        }.device
        #expect(device.securityLevel == .baseline)
        try LicenseTerms(securityLevel: .baseline).check(for: device, by: DevicePolicy())
    }

    @Test("(n) the content id of a sync of version 1 is kept")
    func theContentIDOfASyncIsKept() throws {
        let contentID = Bytes16(high: 0xdead_beef_dead_fefe, low: 0x0000_0000_0dea_ddaa)
        let report = SyncReport(.version1(contentID: contentID), remaining: .seconds(2_591_995))
        #expect(try bench.open { $0.sync = .report(report) }.syncReport == report)
    }

    // MARK: Others

    @Test("Go: an SPC for another certificate is refused", arguments: SPCVersion.allCases)
    func theCertificateHashIsChecked(version: SPCVersion) throws {
        let message = try request(version, with: .container(.unknownCertificateHash)).message
        let error = #expect(throws: SPCError.self) { try bench.server.open(message) }
        guard case .unknownCertificate = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Go: short input, an unknown requested tag and an RSA failure do not trap")
    func nothingFromOutsideTraps() throws {
        for size in 0..<200 {
            #expect(throws: SPCError.self) {
                try bench.server.open(Array([0, 0, 0, 1] + zeros(size)).prefix(size).map(\.self))
            }
        }
        for fault in [SPCFault.payload(.returnRequestUnknownTag), .container(.corruptedWrappedKey)] {
            let message = try request(.v1, with: fault).message
            #expect(throws: SPCError.self) { try bench.server.open(message) }
        }
    }

    @Test(
        "Go and .NET: a tag that comes twice is refused, not overwritten",
        arguments: [
            PayloadFault.duplicateTagDifferent, .duplicateTagIdentical,
        ])
    func duplicatesAreRefused(fault: PayloadFault) throws {
        let message = try request(.v1, with: .payload(fault)).message
        #expect(throws: SPCError.rejected(.framing(.duplicateTag(TLLVTag.assetID)))) { try bench.server.open(message) }
    }

    @Test("Go: a license for the session has no duration; WebKit: no duration is sent unless requested")
    func noDurationUnlessAskedFor() throws {
        let request = try bench.request {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        }
        let license = try license(bench.server.open(request.message), request)
        #expect(license.value(of: TLLVTag.contentKeyDuration) == nil)
        #expect(license.value(of: TLLVTag.offlineKey) == nil)
    }

    @Test("Go: the stored key is not encrypted in place")
    func theStoredKeyStaysAsItIs() throws {
        let spc = try bench.server.open(bench.request { _ in }.message)
        let key = SharedSecret(SecretBytes(copying: [UInt8](0x20...0x2F)))
        let keys = try #require(spc.sessionKeys)
        let first = try keys.wrap(key.bytes, using: bench.crypto)
        #expect(key.bytes.revealed() == [UInt8](0x20...0x2F))
        #expect(try keys.wrap(key.bytes, using: bench.crypto) == first)
    }

    @Test("Go: a key that every server shares is marked as a test key")
    func aFixedDASkIsDevelopmentMaterial() throws {
        let pair = try Credential.KeyPair(
            certificate: Certificate(parsing: OwnVectors.bytes("credential/certificate-1024.der")),
            privateKey: RSAPrivateKey(parsing: OwnVectors.bytes("credential/private-key-1024.pem")))
        let ladder = try ApplicationSecretKeyLadder(.fixedDASk, SecretBytes(copying: zeros(16)))
        let credential = try Credential(
            name: "shared", pair1024: pair, pair2048: nil, ladder: .applicationSecret(ladder))
        #expect(credential.isDevelopmentMaterial)
    }

    @Test(".NET: lease and rental differ, like all five key types")
    func theKeyTypesDiffer() throws {
        let seconds = try #require(LicenseSeconds(1))
        let durations: [KeyDuration] = [
            .lease(seconds), .rental(seconds), .leaseAndRental(lease: seconds, rental: seconds), .persistent,
            .persistentLimited(seconds),
        ]
        #expect(Set(durations.map(\.keyType)).count == 5)
    }

    @Test(".NET: the HDCP block has 16 bytes")
    func theHDCPBlockIsWhole() throws {
        let request = try bench.request { _ in }
        let license = try license(bench.server.open(request.message), request, terms: LicenseTerms(hdcp: .type0))
        #expect(license.value(of: TLLVTag.hdcpEnforcement)?.count == 16)
    }

    @Test(".NET: a device's clock may be wrong", arguments: [UInt32(0), 1_400_716_283, .max])
    func theCreationDateIsNotChecked(createdAt: UInt32) throws {
        let state = MediaPlaybackState(createdAt: createdAt, state: .readyToStart, sessionID: 1)
        #expect(try bench.open { $0.playbackState = state }.device.playbackState == state)
    }

    @Test("Java: a capability is a bit, not the whole word")
    func aSecondCapabilityHidesNone() throws {
        let device = try bench.open { $0.capabilities = [.hdcpEnforcement, .offlineKey] }.device
        #expect(device.capabilities.contains(.hdcpEnforcement) && device.capabilities.contains(.offlineKey))
        try LicenseTerms(hdcp: .type1).check(for: device, by: DevicePolicy())
    }

    @Test("Java: a value may fill its block")
    func aValueMayFillItsBlock() throws {
        let spc = try bench.open { $0.otherBlocks = [DeviceBlock(9, zeros(32), extraBlocks: 0)] }
        let block = try #require(spc.blocks.first { $0.tag == 9 })
        #expect(block.value.upperBound == block.range.upperBound && block.value.count == 32)
    }

    @Test("Java: a requested block that is missing is a refusal")
    func aMissingEchoIsARefusal() throws {
        let message = try request(.v1, with: .payload(.returnRequestUnknownTag)).message
        #expect(throws: SPCError.rejected(.returnRequestMissing(0x0102_0304_0506_0708))) {
            try bench.server.open(message)
        }
    }
}
