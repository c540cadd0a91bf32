import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import PlayerMessages
import TestSupport
import Testing

@testable import PlayerTools

/// Verdicts on answers with genuine CKCs, in the shapes of clients, section 2.
@Suite struct PlayerJudgeTests {
    private static let contentKey = [UInt8](repeating: 0xC5, count: 16)

    private let crypto: CryptoContext
    private let server: TestServer
    private let device: SimulatedDevice

    init() throws {
        let credential = try TestCredential.shared.get()
        crypto = try CryptoContext()
        server = try TestServer([credential.credential])
        device = try credential.makeDevice(.v1, using: crypto)
    }

    private func requests(_ count: Int) throws -> [DeviceRequest] {
        try (0..<count).map { index in
            var options = DeviceOptions(version: .v1, assetID: Array("movie-\(index)".utf8))
            options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 7)
            options.capabilities = CapabilityName.all
            return try device.makeRequest(options)
        }
    }

    private func ckc(_ request: DeviceRequest, _ terms: LicenseTerms = LicenseTerms()) throws -> [UInt8] {
        try server.answer(server.open(request.message), contentKey: Self.contentKey, terms: terms)
    }

    private func judge(
        _ player: Player, _ requests: [DeviceRequest], status: Int = 200, code: String? = nil, isOffline: Bool = false,
        labels: [String] = ["1", "2"], _ body: [UInt8]
    ) -> (verdict: PlayerVerdict, terms: [LicenseTerms]) {
        let judge = PlayerJudge(profile: player.profile, isOffline: isOffline) { (ckc, index) throws(CKCFault) in
            try CKCOpener(secrets: requests[index].secrets, using: crypto).open(ckc).terms
        }
        let answer = ReceivedLicense(status: status, requestID: nil, errorCode: code, body: body)
        return judge.judge(answer, labels: Array(labels.prefix(requests.count)))
    }

    /// The table of section 2: the daemon's default answer to each player.
    private static func answer(to player: Player, _ ckc: [UInt8]) -> [UInt8] {
        let text = Base64.encode(ckc)
        return switch player.profile.answer {
        case .raw: ckc
        case .shaka where player.profile.body.shape.name == "form", .tagsOrBase64: Array("<ckc>\(text)</ckc>".utf8)
        case .shaka: JSONWriter.object { $0.member("ckc", text) }
        case .strictBase64: Array(text.utf8)
        case .kaltura:
            JSONWriter.object { writer in
                writer.member("ckc", text)
                writer.member("persistence_duration", 60)
            }
        case .member(let name): JSONWriter.object { $0.member(name, text) }
        case .getFairplayLicense:
            JSONWriter.object { writer in
                writer.name("getFairplayLicenseResponse")
                writer.object { $0.member("ckcResponse", text) }
            }
        case .keyArray: Array("[{\"keyID\":\"1\",\"payload\":\"\(text)\"}]".utf8)
        case .streamingKeys:
            JSONWriter.object { writer in
                writer.name("fairplay-streaming-response")
                writer.object { writer in
                    writer.name("streaming-keys")
                    writer.array { writer in
                        writer.object { writer in
                            writer.member("id", 1)
                            writer.member("status", 0)
                            writer.member("ckc", text)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: Player.allCases)
    func playsWithTheDefaultAnswerToItsShape(player: Player) throws {
        let requests = try requests(1)
        let terms = LicenseTerms(validity: .duration(.lease(try #require(LicenseSeconds(300)))), hdcp: .type1)
        let body = Self.answer(to: player, try ckc(requests[0], terms))
        let judged = judge(player, requests, body)
        #expect(judged.verdict == .plays)
        #expect(judged.terms == [terms])
        #expect(judged.terms.first?.summary == "lease 300 s, HDCP type1")
    }

    /// A player that reads only its own form of answer cannot play with another form.
    @Test(arguments: Player.allCases.filter { $0.profile.answer != .raw && $0.profile.answer != .shaka })
    func doesNotPlayWithBytesIfItReadsText(player: Player) throws {
        let requests = try requests(1)
        let verdict = judge(player, requests, try ckc(requests[0])).verdict
        guard case .notUnderstood(let why) = verdict else { return #expect(verdict == .notUnderstood("")) }
        #expect(why.hasSuffix("; the answer is a CKC"))
    }

    @Test(arguments: Player.allCases.filter { $0.profile.answer == .raw })
    func doesNotPlayWithTagsIfItTakesBytes(player: Player) throws {
        let requests = try requests(1)
        let body = Array("<ckc>\(Base64.encode(try ckc(requests[0])))</ckc>".utf8)
        let verdict = judge(player, requests, body).verdict
        guard case .notOpened(let why) = verdict else { return #expect(verdict == .notOpened("")) }
        #expect(why.contains("<ckc>"))
    }

    @Test func refusesTheCKCOfAnotherRequest() throws {
        let requests = try requests(2)
        let verdict = judge(.hlsJS, [requests[0]], try ckc(requests[1])).verdict
        guard case .notOpened(let why) = verdict else { return #expect(verdict == .notOpened("")) }
        #expect(why.contains("another SPC"))
    }

    @Test(arguments: Player.allCases)
    func readsRefusals(player: Player) throws {
        let problem = #"{"status":403,"code":"token_expired","detail":"The token has expired.","hint":"Mint another."}"#
        let expected = PlayerVerdict.refused(
            status: 403, code: "token_expired", advice: "The token has expired. Mint another.")
        let requests = try requests(1)
        #expect(judge(player, requests, status: 403, Array(problem.utf8)).verdict == expected)
        #expect(expected.text == "refused: token_expired. The token has expired. Mint another.")
    }

    @Test func takesTheCodeOfTheHeaderIfTheBodyHasNone() throws {
        let verdict = judge(.expressPlay, try requests(1), status: 400, code: "spc_rejected", Array("<html>".utf8))
            .verdict
        #expect(verdict == .refused(status: 400, code: "spc_rejected", advice: ""))
        #expect(judge(.shaka, try requests(1), status: 502, []).verdict.text == "refused with status 502")
    }

    @Test(arguments: [(Player.hlsJS, 201, false), (.shaka, 201, true), (.shaka, 202, false), (.videoJS, 202, true)])
    func minds(player: Player, status: Int, plays: Bool) throws {
        let requests = try requests(1)
        let verdict = judge(player, requests, status: status, try ckc(requests[0])).verdict
        #expect(verdict.isGood == plays)
    }

    @Test func wantsAKeyThatItMayKeep() throws {
        let requests = try requests(1)
        let streaming = try ckc(requests[0])
        #expect(judge(.hlsJS, requests, isOffline: true, streaming).verdict == .notKept)
        #expect(!PlayerVerdict.notKept.isGood)
        let kept = LicenseTerms(validity: .duration(.persistent))
        let verdict = judge(.hlsJS, requests, isOffline: true, try ckc(requests[0], kept))
        #expect(verdict.verdict == .plays)
        #expect(verdict.terms.first?.summary == "stored offline")
    }

    @Test func judgesEachKeyOfAnArray() throws {
        let requests = try requests(2)
        let texts = try requests.map { Base64.encode(try ckc($0)) }
        func array(_ second: String) -> [UInt8] {
            Array("[{\"keyID\":\"2\",\(second)},{\"keyID\":\"1\",\"payload\":\"\(texts[0])\"}]".utf8)
        }
        let both = judge(.safariCENC, requests, array("\"payload\":\"\(texts[1])\""))
        #expect(both.verdict == .plays)
        #expect(both.terms.count == 2)
        let denied = judge(.safariCENC, requests, array("\"error\":7"))
        #expect(denied.verdict == .keyDenied("key 2 of 2: error 7"))
        #expect(denied.terms.count == 1)
        let swapped = judge(.safariCENC, requests, array("\"payload\":\"\(texts[0])\"")).verdict
        guard case .notOpened(let why) = swapped else { return #expect(swapped == .notOpened("")) }
        #expect(why.hasPrefix("key 2 of 2: "))
    }

    /// The answer of an unknown server must not write control characters to the terminal.
    @Test func showsNothingThatATerminalWouldObey() throws {
        let requests = try requests(1)
        let denial = #"{"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":"\u001b[31m9\u009b"}]}}"#
        #expect(judge(.appleStreamingKeys, requests, Array(denial.utf8)).verdict == .keyDenied("status [31m9"))
        let label = Array("-----BEGIN \u{9B}31m \u{1B}-----\n".utf8)
        for player in [Player.hlsJS, .kaltura, .reactNativeLegacy] {
            let text = judge(player, requests, label).verdict.text
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "\(player)")
        }
    }

    /// The output does not contain the key.
    @Test func printsNoKey() throws {
        let requests = try requests(1)
        var outcome = PlayerOutcome(player: .hlsJS)
        (outcome.verdict, outcome.terms) = judge(.hlsJS, requests, try ckc(requests[0]))
        let report = PlayerReport(outcomes: [outcome])
        let json = String(decoding: JSONWriter.object(report.write), as: UTF8.self)
        #expect(json.contains("\"verdict\":\"plays\""))
        #expect(report.text.contains("plays"))
        #expect(!(json + report.text).lowercased().contains("c5c5c5"))
    }
}
