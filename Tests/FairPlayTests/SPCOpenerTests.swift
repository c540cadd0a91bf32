import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct SPCOpenerTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential
    private let server: TestServer

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
        server = try TestServer([fixture.credential])
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func opensWhatADeviceSends(version: SPCVersion) throws {
        var options = DeviceOptions(version: version, assetID: Array("movie-1".utf8))
        options.deviceID = hex("00112233445566778899aabbccddeeff01020304")
        options.transactionID = 0xDEAD_C0DE_0000_0001
        options.playbackState = MediaPlaybackState(createdAt: 1_700_000_000, state: .leaseExpiring, sessionID: 42)
        options.capabilities = [.hdcpEnforcement, .offlineKey]
        options.streamingIndicator = 0x5f9c_8132_b59f_2fde
        options.protocolVersionsSupported = [1, 2]
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(options)

        let spc = try server.open(request.message)

        #expect(spc.version == version)
        #expect(Array(spc.assetID) == Array("movie-1".utf8))
        #expect(spc.sessionKeys?.deviceID.description == "00112233445566778899AABBCCDDEEFF01020304")
        #expect(spc.transactionID == 0xDEAD_C0DE_0000_0001)
        #expect(spc.device.playbackState == options.playbackState)
        #expect(spc.device.capabilities == options.capabilities)
        #expect(spc.device.output == .avAdapter)
        #expect(spc.device.protocolVersionsSupported == [1, 2])
        #expect(spc.device.protocolVersionUsed == 1)
        #expect(spc.sessionKeys?.r1 == request.secrets.r1)
        #expect(spc.returnedBlocks.map(Array.init) == request.secrets.expectedEchoes)
    }

    /// Every named fault, in both versions, gets the answer that its group demands, and after the hash RSA has run exactly once.
    @Test(arguments: SPCFault.allCases, [SPCVersion.v1, .v2])
    func answersEachFaultAsItsGroupDemands(fault: SPCFault, version: SPCVersion) throws {
        var options = DeviceOptions(version: version, assetID: Array("movie-1".utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1_700_000_000, state: .readyToStart, sessionID: 7)
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(options, with: fault)
        let before = server.operations.value

        let error = #expect(throws: SPCError.self) { try server.open(request.message) }

        #expect(error.map(Self.answer) == fault.answer)
        #expect(server.operations.value - before == (fault.answer == .rejected ? 1 : 0))
    }

    private static func answer(_ error: SPCError) -> SPCFault.Answer? {
        switch error {
        case .unsupportedVersion: .versionUnsupported
        case .malformed: .malformed
        case .unknownCertificate: .certificateUnknown
        case .rejected: .rejected
        case .empty, .isCertificate, .internalFailure: nil
        }
    }

    @Test func namesTheTrueCauseForTheLog() throws {
        let causes: [(SPCFault, SPCRejection)] = [
            (.corruptedWrappedKey, .sessionKey),
            (.wrappedKeyOf32Bytes, .sessionKey),
            (.wrongIntegrity, .integrity),
            (.corruptedSessionKeyBlock, .integrity),
            (.duplicateTagIdentical, .framing(.duplicateTag(TLLVTag.assetID))),
            (.missingR2, .missingTag(TLLVTag.r2)),
            (.assetIDOneByte, .wrongSize(tag: TLLVTag.assetID, size: 1)),
            (.returnRequestNamesItself, .returnRequestForbidden(TLLVTag.tagReturnRequest)),
            (.returnRequestTooLong, .returnRequestTooLong(count: 65)),
            (.versionUsedNine, .protocolVersion(used: 9)),
            (.tooManyBlocks, .framing(.tooManyBlocks(maximum: 128))),
        ]
        let device = try fixture.makeDevice(.v1, using: crypto)
        for (fault, cause) in causes {
            let request = try device.makeRequest(
                DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)), with: fault)
            #expect(throws: SPCError.rejected(cause), "\(fault)") { try server.open(request.message) }
        }
    }

    @Test func acceptsWhatIsOddButLegal() throws {
        let device = try fixture.makeDevice(.v1, using: crypto)
        var options = DeviceOptions(version: .v1, assetID: [0xAA, 0xBB, 0xFF, 0x00, 0xC3, 0x28])
        options.returnRequest = []
        #expect(try server.open(device.makeRequest(options).message).returnedBlocks.isEmpty)

        options.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.assetID]
        #expect(try server.open(device.makeRequest(options).message).returnedBlocks.count == 2)

        options.otherBlocks = [
            DeviceBlock(0xe03f_762b_a84c_c8e0, [], extraBlocks: 1),
            DeviceBlock(
                TLLVTag.mediaPlaybackState, [0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78] + [UInt8](repeating: 9, count: 16)),
        ]
        let spc = try server.open(device.makeRequest(options).message)
        #expect(spc.device.playbackState?.state == .readyToStart)
        #expect(Array(spc.assetID) == options.assetID)
    }

    @Test(arguments: [2, 200])
    func acceptsAssetIDsAtTheirLimits(size: Int) throws {
        let assetID = [UInt8](repeating: 0x7A, count: size)
        let request = try fixture.makeDevice(.v2, using: crypto).makeRequest(
            DeviceOptions(version: .v2, assetID: assetID))
        #expect(try Array(server.open(request.message).assetID) == assetID)
    }

    @Test func opensVersionOneUnderTheBundleHash() throws {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        let bundle = fixture.credential.bundle
        options.certificateHash = try CertificateHash(.sha1, of: bundle, using: crypto)
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(options)
        #expect(try Array(server.open(request.message).assetID) == options.assetID)
    }

    @Test func refusesADeviceWithAnotherApplicationSecret() throws {
        let stranger = SimulatedDevice(
            certificate: fixture.certificate1024,
            ladder: try ApplicationSecretKeyLadder(
                .applicationSecret, SecretBytes(copying: [UInt8](repeating: 9, count: 16))), using: crypto)
        let request = try stranger.makeRequest(DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        #expect(throws: SPCError.rejected(.integrity)) { try server.open(request.message) }
    }

    @Test func selectsAmongSeveralCredentials() throws {
        let other = try TestCredential(name: "other", applicationSecret: [UInt8](repeating: 3, count: 16))
        let both = try TestServer([fixture.credential, other.credential])
        for (index, credential) in [fixture, other].enumerated() {
            let request = try credential.makeDevice(.v1, using: crypto).makeRequest(
                DeviceOptions(version: .v1, assetID: Array("movie-\(index)".utf8)))
            #expect(try Array(both.open(request.message).assetID) == Array("movie-\(index)".utf8))
        }
        #expect(throws: CredentialError.duplicateHash(first: "test", second: "test")) {
            try CredentialSet([fixture.credential, fixture.credential])
        }
    }

    /// Flips of one byte anywhere: either a refusal with a code, or an SPC whose session block still ends with its integrity bytes.
    @Test func survivesFlippedBytes() throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        var generator = SeededGenerator.announced("flipped bytes")
        var refusedCount = 0
        var acceptedCount = 0
        for _ in 0..<500 {
            var message = request.message
            message[Int.random(in: message.indices, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
            do throws(SPCError) {
                let spc = try server.open(message)
                #expect(spc.blocks.map(\.tag).contains(TLLVTag.assetID))
                acceptedCount += 1
            } catch {
                if case .internalFailure = error { Issue.record("byte flips are the sender's fault: \(error)") }
                refusedCount += 1
            }
        }
        #expect(refusedCount > 0 && acceptedCount > 0)
    }
}
