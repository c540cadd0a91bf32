import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct CKCOpenerTests {
    private let crypto: CryptoContext
    private let request: DeviceRequest
    private let answer: [UInt8]

    init() throws {
        crypto = try CryptoContext()
        let fixture = try TestCredential.shared.get()
        let server = try TestServer([fixture.credential])
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        request = try fixture.makeDevice(.v1, using: crypto).makeRequest(options)
        let lease = try #require(LicenseSeconds(300))
        answer = try server.answer(
            server.open(request.message), contentKey: Array(0..<16),
            terms: LicenseTerms(validity: .duration(.lease(lease)), hdcp: .type0))
    }

    @Test func opensItsOwnAnswer() throws {
        let license = try CKCOpener(secrets: request.secrets, using: crypto).open(answer)
        #expect(license.terms.lease?.value == 300)
        #expect(license.terms.hdcp == .type0)
    }

    @Test func refusesEveryTruncation() {
        let opener = CKCOpener(secrets: request.secrets, using: crypto)
        for length in 0..<answer.count {
            #expect(throws: CKCFault.self) { try opener.open(Array(answer.prefix(length))) }
        }
    }

    @Test func refusesAnotherVersionAndReservedWord() {
        let opener = CKCOpener(secrets: request.secrets, using: crypto)
        var altered = answer
        altered[3] = 3
        #expect(throws: CKCFault.version(3)) { try opener.open(altered) }
        altered = answer
        altered[7] = 1
        #expect(throws: CKCFault.reserved(1)) { try opener.open(altered) }
    }

    @Test func refusesTheAnswerToAnotherRequest() throws {
        let fixture = try TestCredential.shared.get()
        let other = try fixture.makeDevice(.v1, using: crypto).makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)))
        #expect(throws: CKCFault.self) { try CKCOpener(secrets: other.secrets, using: crypto).open(answer) }
    }
}
