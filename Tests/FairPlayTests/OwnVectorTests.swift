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

    private func opener(_ vector: AnsweredVector) throws -> CKCOpener {
        CKCOpener(secrets: try vector.secrets.requestSecrets(vector.expected.request), using: server.crypto)
    }

    private func envelope(_ digits: String) throws -> SPCEnvelope {
        try SPCEnvelope(parsing: hex(digits), served: server.credentials.servedVersions)
    }

    @Test(arguments: try OwnVectors.answered())
    func parsesTheContainer(vector: AnsweredVector) throws {
        let message = hex(vector.spc)
        let envelope = try envelope(vector.spc)
        #expect(envelope.version.rawValue == vector.expected.request.spcVersion)
        #expect(hex(envelope.certificateHash.bytes) == vector.expected.request.certificateHash)
        switch envelope.protection {
        case .none(let iv):
            #expect(iv == Bytes16(message, at: 8))
            #expect(envelope.payload.upperBound == message.count)
        case .authenticated(let tag):
            #expect(tag == Bytes16(message, at: message.count - 16))
            #expect(envelope.payload.upperBound == message.count - 16)
        }
        #expect(server.credentials.credentials.first?.isDevelopmentMaterial == true)
    }

    @Test(arguments: try OwnVectors.answered())
    func opensWithTheExpectedValues(vector: AnsweredVector) throws {
        try check(server.open(hex(vector.spc)), vector.expected.request, vector.secrets)
    }

    private func check(_ spc: SPC, _ expected: ExpectedRequest, _ secrets: VectorSecrets) throws {
        expected.check(spc)
        let keys = try #require(spc.sessionKeys)
        #expect(hex(spc.antiReplaySeed.bytes) == secrets.antiReplaySeed)
        #expect(spc.returnedBlocks.map { hex($0) } == secrets.expectedEchoes)
        let sessionBlock = hex(secrets.sessionBlock)
        #expect(keys.revealedSessionKey().bytes == Array(sessionBlock[..<16]))
        #expect(keys.r1 == Array(sessionBlock[36..<80]))
    }

    /// RSA unwraps the key of the vector, and that key opens the payload.
    @Test(arguments: try OwnVectors.answered())
    func unwrapsTheExpectedKeys(vector: AnsweredVector) throws {
        let envelope = try envelope(vector.spc)
        let job = try server.opener.unwrapJob(for: envelope, with: server.credentials.key(for: envelope))
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        #expect(job.isGenuine)
        #expect(hex(job.sessionKey.revealed()) == vector.secrets.masterKey ?? vector.secrets.payloadKey)
        switch envelope.protection {
        case .none: #expect(vector.secrets.masterKey == nil)
        case .authenticated:
            let keys = try AuthenticatedPayloadKeys(master: job.sessionKey, using: server.crypto)
            #expect(hex(keys.payload.revealed()) == vector.secrets.payloadKey)
        }
    }

    @Test(arguments: try OwnVectors.answered())
    func theAnswerGrantsWhatIsExpected(vector: AnsweredVector) throws {
        let license = try opener(vector).open(hex(vector.ckc))
        let expected = vector.expected.license
        #expect(hex(license.contentKey.bytes.revealed()) == expected.contentKey)
        #expect(hex(license.contentIV.bytes) == expected.contentIV)
        #expect(license.terms == (try expected.terms()))
        #expect(license.version == 1)
        #expect(license.sessionKeyVersion == nil)
    }

    @Test(arguments: try OwnVectors.answered())
    func aNewAnswerGrantsTheSame(vector: AnsweredVector) throws {
        let spc = try server.open(hex(vector.spc))
        let expected = vector.expected.license
        let iv = try #require(Bytes16(hex(expected.contentIV)))
        let terms = try expected.terms()
        try terms.check(for: spc.device, by: DevicePolicy())
        let answer = try server.answer(spc, contentKey: hex(expected.contentKey), iv: iv, terms: terms)
        #expect(answer != hex(vector.ckc))
        let license = try opener(vector).open(answer)
        #expect(hex(license.contentKey.bytes.revealed()) == expected.contentKey)
        #expect(license.contentIV == iv)
        #expect(license.terms == terms)
    }

    /// The secrets of one request do not open the answer to another request.
    @Test func eachAnswerOpensForItsOwnRequestAlone() throws {
        let vectors = try OwnVectors.answered()
        for (vector, other) in zip(vectors, vectors.dropFirst() + vectors.prefix(1)) {
            #expect(throws: CKCFault.self, "\(vector.name), \(other.name)") { try opener(other).open(hex(vector.ckc)) }
        }
    }

    @Test(arguments: try OwnVectors.sync())
    func readsWhatASyncReports(vector: SyncVector) throws {
        let spc = try server.open(hex(vector.spc))
        try check(spc, vector.expected.request, vector.secrets)
        #expect(spc.syncReport.map { ExpectedSync($0) } == vector.expected.sync)
    }

    @Test(arguments: try OwnVectors.answered())
    func noOrdinaryRequestIsASync(vector: AnsweredVector) throws {
        #expect(try server.open(hex(vector.spc)).syncReport == nil)
    }

    @Test(arguments: try OwnVectors.refused())
    func refusesWhatIsMalformed(vector: RefusedVector) throws {
        let error = #expect(throws: SPCError.self) { try server.open(hex(vector.spc)) }
        #expect(error.flatMap { RefusedVector.Answer($0) } == vector.expected)
    }

    @Test func everyAnswerOfTheListHasAVector() throws {
        #expect(Set(try OwnVectors.refused().map(\.expected)) == Set(RefusedVector.Answer.allCases))
        let answered = try OwnVectors.answered()
        #expect(answered.count >= 30)
        #expect(Set(answered.map(\.expected.request.spcVersion)) == [1, 2, 3])
        #expect(Set(try OwnVectors.sync().map(\.expected.sync.version)) == [1, 2])
        #expect(Set(answered.compactMap(\.expected.license.keyType)).count == 5)
        #expect(Set(answered.compactMap(\.expected.license.offlineKey?.version)) == [1, 2])
        #expect(Set(answered.compactMap(\.expected.license.hdcp)).count == 3)
        #expect(Set(answered.compactMap(\.expected.license.securityLevel)).count == 3)
    }
}
