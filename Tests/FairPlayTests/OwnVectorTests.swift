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
        let duration: KeyDuration? =
            switch (lease, rental) {
            case (nil, nil): nil
            case (.some(let lease), nil): .lease(lease)
            case (nil, .some(let rental)): .rental(rental)
            case (.some(let lease), .some(let rental)): .leaseAndRental(lease: lease, rental: rental)
            }
        let hdcp = try expected.hdcp.map { name in
            try #require(HDCPLevel.allCases.first { "\($0)" == name })
        }
        return LicenseTerms(duration: duration, hdcp: hdcp)
    }

    @Test(arguments: try OwnVectors.answered())
    func parsesTheContainer(vector: AnsweredVector) throws {
        let message = hex(vector.spc)
        let envelope = try SPCEnvelope(parsing: message)
        #expect(envelope.version.rawValue == vector.expected.spcVersion)
        #expect(hex(envelope.certificateHash.bytes) == vector.expected.certificateHash)
        #expect(hex(envelope.iv.bytes) == hex(message[8..<24]))
        #expect(envelope.payload.upperBound == message.count)
        #expect(server.credentials.credentials.first?.isDevelopmentMaterial == true)
    }

    @Test(arguments: try OwnVectors.answered())
    func opensWithTheExpectedValues(vector: AnsweredVector) throws {
        let spc = try server.open(hex(vector.spc))
        let expected = vector.expected
        #expect(hex(spc.assetID) == expected.assetID)
        #expect(spc.deviceID.description.lowercased() == expected.deviceID)
        #expect(hex(bigEndianBytes(spc.transactionID)) == expected.transactionID)
        #expect(hex(spc.antiReplaySeed.bytes) == vector.secrets.antiReplaySeed)
        #expect(spc.protocolVersionUsed == expected.protocolVersionUsed)
        #expect(spc.protocolVersionsSupported == expected.protocolVersionsSupported)
        #expect(spc.streamingIndicator.map { hex(bigEndianBytes($0)) } == expected.streamingIndicator)
        #expect(hex(bigEndianBytes(spc.capabilities.rawValue)) == expected.capabilities ?? "0000000000000000")
        #expect(spc.playbackState?.createdAt == expected.playbackState?.createdAt)
        #expect(spc.playbackState.map { "\($0.state)" } == expected.playbackState?.state)
        #expect(spc.playbackState.map { hex(bigEndianBytes($0.sessionID)) } == expected.playbackState?.sessionID)
        #expect(spc.blocks.count == expected.blockCount)
        #expect(spc.returnedBlocks.map { hex($0) } == vector.secrets.expectedEchoes)
        let sessionBlock = hex(vector.secrets.sessionBlock)
        #expect(spc.sessionKeys.revealedSessionKey().bytes == Array(sessionBlock[..<16]))
        #expect(spc.sessionKeys.r1 == Array(sessionBlock[36..<80]))
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
        let answer = try CKCWriter.write(
            for: spc, contentKey: SecretBytes(copying: hex(vector.expected.contentKey)), iv: iv, terms: terms,
            using: server.crypto)
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
