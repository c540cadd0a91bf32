import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The vectors in `Tests/Vectors`: each is parsed, opened, answered again, and its own answer opened too.
@Suite struct OwnVectorTests {
    private let server: TestServer

    init() throws {
        server = try TestServer([OwnVectors.credential()])
    }

    private func secrets(_ vector: AnsweredVector) throws -> RequestSecrets {
        try RequestSecrets(
            payloadKey: SecretBytes(copying: hex(vector.secrets.payloadKey)),
            sessionBlock: SecretBytes(copying: hex(vector.secrets.sessionBlock)),
            antiReplaySeed: try #require(Bytes16(hex(vector.secrets.antiReplaySeed))),
            expectedEchoes: vector.secrets.expectedEchoes.map { hex($0) })
    }

    private func terms(_ expected: AnsweredVector.Expected) throws -> LicenseTerms {
        let lease = expected.leaseSeconds.flatMap { LicenseSeconds(UInt64($0)) }
        let rental = expected.rentalSeconds.flatMap { LicenseSeconds(UInt64($0)) }
        let validity: LicenseTerms.Validity =
            switch (lease, rental) {
            case (nil, nil): .session
            case (.some(let lease), nil): .duration(.lease(lease))
            case (nil, .some(let rental)): .duration(.rental(rental))
            case (.some(let lease), .some(let rental)): .duration(.leaseAndRental(lease: lease, rental: rental))
            }
        let hdcp = try expected.hdcp.map { name in
            try #require(HDCPLevel.allCases.first { "\($0)" == name })
        }
        return LicenseTerms(validity: validity, hdcp: hdcp)
    }

    @Test(arguments: try OwnVectors.answered())
    func parsesTheContainer(vector: AnsweredVector) throws {
        let message = hex(vector.spc)
        let envelope = try SPCEnvelope(parsing: message)
        #expect(envelope.version.rawValue == vector.expected.spcVersion)
        #expect(hex(envelope.certificateHash.bytes) == vector.expected.certificateHash)
        #expect(envelope.protection == .none(iv: Bytes16(message, at: 8)))
        #expect(envelope.payload.upperBound == message.count)
        #expect(server.credentials.credentials.first?.isDevelopmentMaterial == true)
    }

    @Test(arguments: try OwnVectors.answered())
    func opensWithTheExpectedValues(vector: AnsweredVector) throws {
        let spc = try server.open(hex(vector.spc))
        let device = spc.device
        let keys = try #require(spc.sessionKeys)
        let expected = vector.expected
        #expect(hex(spc.assetID) == expected.assetID)
        #expect(keys.deviceID.description.lowercased() == expected.deviceID)
        #expect(hex(bigEndianBytes(spc.transactionID)) == expected.transactionID)
        #expect(hex(spc.antiReplaySeed.bytes) == vector.secrets.antiReplaySeed)
        #expect(device.protocolVersionUsed == expected.protocolVersionUsed)
        #expect(device.protocolVersionsSupported == expected.protocolVersionsSupported)
        let indicator = spc.blocks.first { $0.tag == TLLVTag.streamingIndicator }
        #expect(indicator.map { hex(spc.bytes(in: $0.value)) } == expected.streamingIndicator)
        #expect(hex(bigEndianBytes(device.capabilities.rawValue)) == expected.capabilities ?? "0000000000000000")
        #expect(device.playbackState?.createdAt == expected.playbackState?.createdAt)
        #expect(device.playbackState.map { "\($0.state)" } == expected.playbackState?.state)
        #expect(device.playbackState.map { hex(bigEndianBytes($0.sessionID)) } == expected.playbackState?.sessionID)
        #expect(spc.blocks.count == expected.blockCount)
        #expect(spc.returnedBlocks.map { hex($0) } == vector.secrets.expectedEchoes)
        let sessionBlock = hex(vector.secrets.sessionBlock)
        #expect(keys.revealedSessionKey().bytes == Array(sessionBlock[..<16]))
        #expect(keys.r1 == Array(sessionBlock[36..<80]))
    }

    /// The session key that RSA unwraps is the vector's.
    @Test(arguments: try OwnVectors.answered())
    func unwrapsTheExpectedPayloadKey(vector: AnsweredVector) throws {
        let envelope = try SPCEnvelope(parsing: hex(vector.spc))
        let job = try server.opener.unwrapJob(for: envelope, with: server.credentials.key(for: envelope))
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        #expect(job.isGenuine)
        #expect(hex(job.sessionKey.revealed()) == vector.secrets.payloadKey)
    }

    @Test(arguments: try OwnVectors.answered())
    func theAnswerGrantsWhatIsExpected(vector: AnsweredVector) throws {
        let license = try CKCOpener(secrets: secrets(vector), using: server.crypto).open(hex(vector.ckc))
        #expect(hex(license.contentKey.bytes.revealed()) == vector.expected.contentKey)
        #expect(hex(license.contentIV.bytes) == vector.expected.contentIV)
        #expect(license.terms == (try terms(vector.expected)))
    }

    @Test(arguments: try OwnVectors.answered())
    func aNewAnswerGrantsTheSame(vector: AnsweredVector) throws {
        let spc = try server.open(hex(vector.spc))
        let terms = try terms(vector.expected)
        let iv = try #require(Bytes16(hex(vector.expected.contentIV)))
        let answer = try server.answer(spc, contentKey: hex(vector.expected.contentKey), iv: iv, terms: terms)
        #expect(answer != hex(vector.ckc))
        let license = try CKCOpener(secrets: secrets(vector), using: server.crypto).open(answer)
        #expect(hex(license.contentKey.bytes.revealed()) == vector.expected.contentKey)
        #expect(license.contentIV == iv)
        #expect(license.terms == terms)
    }

    /// The secrets of one request open no other's answer.
    @Test func eachAnswerOpensForItsOwnRequestAlone() throws {
        let vectors = try OwnVectors.answered()
        for (vector, other) in zip(vectors, vectors.dropFirst() + vectors.prefix(1)) {
            let opener = try CKCOpener(secrets: secrets(other), using: server.crypto)
            #expect(throws: CKCFault.self, "\(vector.name), \(other.name)") { try opener.open(hex(vector.ckc)) }
        }
    }

    @Test(arguments: try OwnVectors.refused())
    func refusesWhatIsMalformed(vector: RefusedVector) throws {
        let error = #expect(throws: SPCError.self) { try server.open(hex(vector.spc)) }
        #expect(error.flatMap { RefusedVector.Answer($0) } == vector.expected)
    }

    @Test func everyAnswerOfTheListHasAVector() throws {
        #expect(Set(try OwnVectors.refused().map(\.expected)) == Set(RefusedVector.Answer.allCases))
        let answered = try OwnVectors.answered()
        #expect(answered.count >= 12)
        #expect(Set(answered.map(\.expected.spcVersion)) == [1, 2])
    }
}
