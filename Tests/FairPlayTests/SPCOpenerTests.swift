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

    private func plainOptions(_ version: SPCVersion) -> DeviceOptions {
        DeviceOptions(version: version, assetID: Array("movie-1".utf8))
    }

    @Test(arguments: SPCVersion.allCases)
    func opensWhatADeviceSends(version: SPCVersion) throws {
        var options = plainOptions(version)
        options.deviceID = DeviceID(hex("00112233445566778899aabbccddeeff01020304"))
        options.transactionID = 0xDEAD_C0DE_0000_0001
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(options)

        let spc = try server.open(request.message)

        #expect(spc.version == version)
        #expect(Array(spc.assetID) == Array("movie-1".utf8))
        #expect(spc.sessionKeys?.deviceID.description == "00112233445566778899AABBCCDDEEFF01020304")
        #expect(spc.transactionID == 0xDEAD_C0DE_0000_0001)
        #expect(spc.sessionKeys?.r1 == request.secrets.r1)
        #expect(spc.antiReplaySeed == request.secrets.antiReplaySeed)
        #expect(spc.returnedBlocks.map(Array.init) == request.secrets.expectedEchoes)
    }

    /// Every named fault gets the answer of its group in every version. If the fault comes after the hash, RSA runs
    /// exactly once.
    @Test(
        arguments: SPCVersion.allCases.flatMap { version in SPCFault.all(for: version).map { (version, $0) } })
    func answersEachFaultAsItsGroupDemands(version: SPCVersion, fault: SPCFault) throws {
        var options = plainOptions(version)
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

    @Test(arguments: [
        (PayloadFault.wrappedKeyOf32Bytes, SPCRejection.sessionKey),
        (.wrongIntegrity, .integrity),
        (.corruptedSessionKeyBlock, .integrity),
        (.duplicateTagIdentical, .framing(.duplicateTag(TLLVTag.assetID))),
        (.missingR2, .missingTag(TLLVTag.r2)),
        (.assetIDOneByte, .wrongSize(tag: TLLVTag.assetID, size: 1)),
        (.returnRequestNamesItself, .returnRequestForbidden(TLLVTag.tagReturnRequest)),
        (.returnRequestNamesOfflineKey, .returnRequestForbidden(TLLVTag.offlineKey)),
        (.returnRequestUnknownTag, .returnRequestMissing(0x0102_0304_0506_0708)),
        (.returnRequestTooLong, .returnRequestTooLong(count: 65)),
        (.versionUsedNine, .protocolVersion(used: 9)),
        (.tooManyBlocks, .framing(.tooManyBlocks(maximum: 128))),
        (.securityLevelReportReservedWord, .reservedWord(tag: TLLVTag.securityLevelReport)),
        (.syncTooShort, .wrongSize(tag: TLLVTag.sync, size: 27)),
        (.syncVersion1ReservedWord, .reservedWord(tag: TLLVTag.sync)),
        (.syncVersion2WithoutFlags, .syncContradictory),
        (.syncVersion2TooManyRecords, .syncContradictory),
        (.syncVersion2RecordsBeyondValue, .wrongSize(tag: TLLVTag.sync, size: 95)),
    ])
    func namesTheTrueCauseForTheLog(fault: PayloadFault, cause: SPCRejection) throws {
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(plainOptions(.v1), with: .payload(fault))
        #expect(throws: SPCError.rejected(cause)) { try server.open(request.message) }
    }

    @Test(arguments: [
        ContainerFault.wrongAuthenticationTag, .authenticationTagOfZeros, .flippedPayloadByte,
    ])
    func saysThatTheTagOfVersion3DoesNotMatch(fault: ContainerFault) throws {
        let request = try fixture.makeDevice(.v3, using: crypto).makeRequest(plainOptions(.v3), with: .container(fault))
        #expect(throws: SPCError.rejected(.authenticationTag)) { try server.open(request.message) }
    }

    /// A bad wrapped key is reported first, although the tag cannot match under a random key either.
    @Test(arguments: SPCVersion.allCases)
    func saysThatTheWrappedKeyIsBad(version: SPCVersion) throws {
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(
            plainOptions(version), with: .container(.corruptedWrappedKey))
        #expect(throws: SPCError.rejected(.sessionKey)) { try server.open(request.message) }
    }

    /// No byte of a version 3 message can be altered. An altered certificate hash names no credential.
    @Test func noByteOfVersion3CanBeAltered() throws {
        let request = try fixture.makeDevice(.v3, using: crypto).makeRequest(plainOptions(.v3))
        var generator = SeededGenerator.announced("flipped bytes of version 3")
        for _ in 0..<200 {
            var message = request.message
            // Only the reserved word may have any value.
            let offset = Int.random(in: 8..<message.count, using: &generator)
            message[offset] ^= UInt8.random(in: 1...255, using: &generator)
            #expect(throws: SPCError.self, "\(offset)") { try server.open(message) }
        }
    }

    @Test func acceptsWhatIsOddButLegal() throws {
        let device = try fixture.makeDevice(.v1, using: crypto)
        var options = DeviceOptions(version: .v1, assetID: [0xAA, 0xBB, 0xFF, 0x00, 0xC3, 0x28])
        options.returnRequest = []
        #expect(try server.open(device.makeRequest(options).message).returnedBlocks.isEmpty)

        options.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.assetID]
        #expect(try server.open(device.makeRequest(options).message).returnedBlocks.count == 2)

        options.otherBlocks = [DeviceBlock(0xe03f_762b_a84c_c8e0, [], extraBlocks: 1)]
        #expect(try Array(server.open(device.makeRequest(options).message).assetID) == options.assetID)
    }

    @Test(arguments: [2, 3, 199, 200])
    func acceptsAssetIDsAtTheirLimits(size: Int) throws {
        let assetID = [UInt8](repeating: 0x7A, count: size)
        let request = try fixture.makeDevice(.v2, using: crypto).makeRequest(
            DeviceOptions(version: .v2, assetID: assetID))
        #expect(try Array(server.open(request.message).assetID) == assetID)
    }

    @Test(arguments: [1, 63, 64])
    func acceptsReturnRequestsUpToTheirLimit(count: Int) throws {
        var options = plainOptions(.v1)
        options.returnRequest = [UInt64](repeating: TLLVTag.assetID, count: count)
        let request = try fixture.makeDevice(.v1, using: crypto).makeRequest(options)
        #expect(try server.open(request.message).returnedBlocks.count == 1)
    }

    @Test(arguments: SPCVersion.allCases, [1, 2, 98, 99])
    func acceptsVersionsSupportedUpToTheirLimit(version: SPCVersion, count: Int) throws {
        var options = plainOptions(version)
        options.protocolVersionsSupported = (1...UInt32(count)).map { $0 }
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(options)
        #expect(try server.open(request.message).device.protocolVersionsSupported.count == count)
    }

    /// A module would use the same tag for the content key block.
    @Test(arguments: [[7], [1, 7, TLLVTag.contentKey]])
    func refusesToReturnABlockWithTheTagOfAKeyFormat(formats: [UInt64]) throws {
        var options = plainOptions(.v1)
        options.keyFormats = formats
        options.otherBlocks = [DeviceBlock(7, [1]), DeviceBlock(8, [1])]
        let device = try fixture.makeDevice(.v1, using: crypto)
        options.returnRequest = [8]
        #expect(try server.open(device.makeRequest(options).message).returnedBlocks.count == 1)
        options.returnRequest = [8, 7]
        let message = try device.makeRequest(options).message
        #expect(throws: SPCError.rejected(.returnRequestForbidden(7))) { try server.open(message) }
    }

    @Test func servesTheProtocolVersionsThatItIsTold() throws {
        var options = plainOptions(.v1)
        options.protocolVersionsSupported = [1, 2]
        options.protocolVersionUsed = 2
        let message = try fixture.makeDevice(.v1, using: crypto).makeRequest(options).message
        #expect(throws: SPCError.rejected(.protocolVersion(used: 2))) { try server.open(message) }
        let other = try TestServer([fixture.credential], servedVersions: [1, 2])
        #expect(try other.open(message).device.protocolVersionUsed == 2)
    }

    @Test(arguments: try TestCredential.shared.get().credential.keys.map { ($0.version, $0.subject) })
    func opensUnderEveryHashOfTheCredential(version: SPCVersion, subject: CredentialKey.Subject) throws {
        var options = plainOptions(version)
        let key = try #require(
            fixture.credential.keys.first { $0.version == version && $0.subject == subject })
        options.certificateHash = key.hash
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(options)
        #expect(try server.open(request.message).certificateHash == key.hash)
    }

    @Test(arguments: SPCVersion.allCases)
    func refusesADeviceWithAnotherApplicationSecret(version: SPCVersion) throws {
        let stranger = SimulatedDevice(
            certificate: version == .v1 ? fixture.certificate1024 : fixture.certificate2048,
            ladder: try ApplicationSecretKeyLadder(
                .applicationSecret, SecretBytes(copying: [UInt8](repeating: 9, count: 16))), using: crypto)
        let request = try stranger.makeRequest(plainOptions(version))
        #expect(throws: SPCError.rejected(.integrity)) { try server.open(request.message) }
    }

    @Test func selectsAmongSeveralCredentials() throws {
        let other = try TestCredential(name: "other", applicationSecret: [UInt8](repeating: 3, count: 16))
        let both = try TestServer([fixture.credential, other.credential])
        for (index, credential) in [fixture, other].enumerated() {
            for version in SPCVersion.allCases {
                let request = try credential.makeDevice(version, using: crypto).makeRequest(
                    DeviceOptions(version: version, assetID: Array("movie-\(index)".utf8)))
                #expect(try Array(both.open(request.message).assetID) == Array("movie-\(index)".utf8))
            }
        }
    }

    /// A flip of any byte gives either a refusal with a code, or an SPC whose session block still ends with its
    /// integrity bytes.
    @Test(arguments: [SPCVersion.v1, .v2])
    func survivesFlippedBytes(version: SPCVersion) throws {
        let request = try fixture.makeDevice(version, using: crypto).makeRequest(plainOptions(version))
        var generator = SeededGenerator.announced("flipped bytes of \(version)")
        var refusedCount = 0
        var acceptedCount = 0
        for _ in 0..<300 {
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
