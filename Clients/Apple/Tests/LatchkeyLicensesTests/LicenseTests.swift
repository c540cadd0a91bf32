import Foundation
import Testing

@testable import LatchkeyLicenses

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let address = URL(string: "https://keys.example.com/player/")!
let ckc = Data([0, 0, 0, 1]) + Data(repeating: 7, count: 60)

func response(_ status: Int, _ fields: [String: String] = [:]) -> HTTPURLResponse {
    HTTPURLResponse(url: address, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)!
}

func problem(_ status: Int, _ code: String, _ fields: [String: String] = [:]) -> LicenseFailure {
    .refused(LicenseProblem(Data(), response(status, fields.merging(["X-Error-Code": code]) { first, _ in first })))
}

@Suite struct RequestTests {
    private let server = LicenseServer(base: address)

    @Test(arguments: [
        (LicensePurpose.streaming, "license"), (.renewal, "license?renew=true"), (.offline, "license?offline=1"),
        (.offlineRenewal(of: nil), "license?offline=1&renew=true"),
        (.offlineRenewal(of: "0042"), "license?offline=1&renew=true&previous=0042"), (.report, "license"),
    ])
    func saysInTheQueryWhatTheSPCDoesNot(purpose: LicensePurpose, path: String) {
        let request = server.licenseRequest(Data([1, 2]), for: purpose, token: "a.b.c")
        #expect(request.url?.absoluteString == "https://keys.example.com/player/fps/\(path)")
        #expect(request.httpMethod == "POST")
        #expect(request.httpBody == Data([1, 2]))
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer a.b.c")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
    }

    @Test func asksForTheCertificateWithoutAToken() {
        let request = server.certificateRequest()
        #expect(request.url?.absoluteString == "https://keys.example.com/player/fps/certificate")
        #expect(request.httpMethod == "GET")
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test(arguments: [
        ("skd://movie-1", "movie-1"), ("SKD://host/path?kid=1", "host/path?kid=1"), ("skd://", nil),
        ("skd:movie-42", "movie-42"), ("skd:", nil), ("https://movie-1", nil), ("", nil),
    ])
    func takesTheSchemeOffAKeyURI(uri: String, expected: String?) {
        #expect(assetID(ofKeyURI: uri) == expected.map { Data($0.utf8) })
    }
}

@Suite struct AnswerTests {
    @Test func readsALicenseWithALease() throws {
        let fields = [
            "X-License-Id": "00ff", "X-License-Type": "lease", "X-License-Issued": "1000", "X-License-Expires": "1300",
            "X-License-Renew-After": "1190", "X-Session-Token": "s.t.u",
        ]
        let license = try License(ckc, response(200, fields))
        #expect(license.ckc == ckc)
        #expect((license.id, license.type, license.sessionToken) == ("00ff", "lease", "s.t.u"))
        #expect((license.life, license.renewalDelay) == (300, 190))
    }

    @Test func readsALicenseWithoutAnEnd() throws {
        let license = try License(ckc, response(200, ["X-License-Issued": "1000"]))
        #expect((license.life, license.renewalDelay) == (nil, nil))
    }

    @Test(arguments: [
        ["X-License-Renew-After": "1190"], ["X-License-Issued": "1000", "X-License-Renew-After": "soon"],
        [
            "X-License-Issued": "1000", "X-License-Renew-After": "999",
        ],
    ])
    func takesNoTimeThatIsNotOne(fields: [String: String]) throws {
        #expect(try License(ckc, response(200, fields)).renewalDelay == nil)
    }

    @Test func waitsASecondAtLeast() throws {
        let fields = ["X-License-Issued": "1000", "X-License-Renew-After": "1000"]
        #expect(try License(ckc, response(200, fields)).renewalDelay == 1)
    }

    @Test(arguments: [
        Data(), Data("<html>Sign in to this network</html>".utf8), Data("AAAAAQ==AAAAAQ==AAAAAQ==AAAAAQ==".utf8),
        Data([0, 0, 0, 3]) + ckc,
        ckc.prefix(28),
    ])
    func takesNothingElseForALicense(body: Data) {
        #expect(throws: LicenseFailure.notALicense) { try License(body, response(200)) }
    }

    @Test func readsTheRestOfALongerData() throws {
        let slice = (Data([9, 9]) + ckc).dropFirst(2)
        #expect(try License(slice, response(200)).ckc == ckc)
    }

    @Test func readsARefusal() throws {
        let body = Data(
            #"{"code":"rate_limited","detail":"Too often.","hint":"Wait.","request_id":"ab","status":429}"#.utf8)
        let problem = LicenseProblem(body, response(429, ["Retry-After": "7"]))
        #expect((problem.status, problem.code, problem.detail) == (429, "rate_limited", "Too often."))
        #expect((problem.hint, problem.requestID, problem.retryAfter) == ("Wait.", "ab", 7))
        #expect(throws: LicenseFailure.refused(problem)) { try License(body, response(429, ["Retry-After": "7"])) }
    }

    @Test func readsARefusalWhoseBodyWasReplaced() {
        let fields = ["X-Error-Code": "token_expired", "X-Request-Id": "cd"]
        let problem = LicenseProblem(Data("<html>".utf8), response(401, fields))
        #expect((problem.code, problem.requestID, problem.detail) == ("token_expired", "cd", nil))
    }

    @Test(arguments: [
        (401, "token_expired", LicenseFailure.Advice.getToken), (403, "session_killed", .getToken),
        (403, "session_expired", .getToken),
        (403, "content_mismatch", .giveUp), (404, "key_not_found", .giveUp), (422, "spc_rejected", .giveUp),
        (400, "spc_malformed", .giveUp),
        (429, "rate_limited", .tryAgain(after: nil)), (503, "overloaded", .tryAgain(after: nil)),
        (502, "", .tryAgain(after: nil)),
    ])
    func advisesByStatusAndCode(status: Int, code: String, advice: LicenseFailure.Advice) {
        #expect(problem(status, code).advice == advice)
    }

    @Test func tellsWhenToTryAgain() {
        #expect(problem(503, "overloaded", ["Retry-After": "4"]).advice == .tryAgain(after: 4))
        #expect(LicenseFailure.unreachable.advice == .tryAgain(after: nil))
        #expect(LicenseFailure.notALicense.advice == .giveUp)
    }

    @Test(arguments: [
        (#"{"expiresInSeconds":60,"challengeAccepted":true}"#, 60),
        (#"{"expiresInSeconds":null,"challengeAccepted":true}"#, nil),
    ])
    func readsAReport(text: String, seconds: Int?) throws {
        let report = try KeyReport(Data(text.utf8), response(200))
        #expect(report.expiresInSeconds == seconds)
        #expect(report.challengeAccepted)
    }

    @Test func takesNoLicenseForAReport() {
        #expect(throws: LicenseFailure.notALicense) { try KeyReport(ckc, response(200)) }
        #expect(throws: problem(403, "device_mismatch")) {
            try KeyReport(Data(), response(403, ["X-Error-Code": "device_mismatch"]))
        }
    }

    @Test func readsAChallengeAsEightBytes() throws {
        let challenge = try Challenge(Data(#"{"challenge":"00112233445566ff","expiresIn":300}"#.utf8), response(200))
        #expect(challenge.value == Data([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xFF]))
    }

    @Test(arguments: [#"{"challenge":"0011"}"#, #"{"challenge":"001122334455667z"}"#, "{}", "[]", ""])
    func takesNothingElseForAChallenge(text: String) {
        #expect(throws: LicenseFailure.notALicense) { try Challenge(Data(text.utf8), response(200)) }
    }
}

@Suite struct RenewalTests {
    /// The renewal of a lease of 300 seconds that arrived at 5000. It is due after 190 seconds.
    private func renewal() throws -> Renewal {
        let fields = [
            "X-License-Issued": "1000", "X-License-Expires": "1300", "X-License-Renew-After": "1190",
            "X-Session-Token": "session",
        ]
        return try #require(Renewal(after: License(ckc, response(200, fields)), token: "entitlement", at: 5000))
    }

    @Test func doesNothingWithoutALease() throws {
        #expect(try Renewal(after: License(ckc, response(200)), token: "entitlement", at: 5000) == nil)
    }

    @Test func renewsWhenTheAnswerSays() throws {
        let renewal = try renewal()
        #expect(renewal.due(at: 5000) == .wait(until: 5190))
        #expect(renewal.due(at: 5189.9) == .wait(until: 5190))
        #expect(renewal.due(at: 5190) == .makeSPC)
    }

    @Test func presentsTheSessionToken() throws {
        #expect(try renewal().token == "session")
        let fields = ["X-License-Issued": "1000", "X-License-Renew-After": "1190"]
        #expect(
            try Renewal(after: License(ckc, response(200, fields)), token: "entitlement", at: 0)?.token == "entitlement"
        )
    }

    @Test func sendsTheSameSPCForAMinute() throws {
        var renewal = try renewal()
        renewal.madeSPC(at: 5190)
        #expect(renewal.failed(.unreachable, at: 5192) == .wait(until: 5195))
        #expect(renewal.due(at: 5194) == .wait(until: 5195))
        #expect(renewal.due(at: 5195) == .sendAgain)
        #expect(renewal.due(at: 5249.9) == .sendAgain)
        #expect(renewal.due(at: 5250) == .makeSPC)
    }

    @Test func waitsAsLongAsTheServerSays() throws {
        var renewal = try renewal()
        renewal.madeSPC(at: 5190)
        #expect(renewal.failed(problem(429, "rate_limited", ["Retry-After": "20"]), at: 5190) == .wait(until: 5210))
        #expect(renewal.failed(problem(503, "overloaded", ["Retry-After": "1"]), at: 5210) == .wait(until: 5213))
    }

    @Test func waitsASecondInAShortLease() throws {
        let fields = ["X-License-Issued": "0", "X-License-Expires": "30", "X-License-Renew-After": "20"]
        var renewal = try #require(Renewal(after: License(ckc, response(200, fields)), token: "t", at: 0))
        #expect(renewal.failed(.unreachable, at: 20) == .wait(until: 21))
    }

    @Test func goesOnWithANewToken() throws {
        var renewal = try renewal()
        renewal.madeSPC(at: 5190)
        #expect(renewal.failed(problem(401, "token_expired"), at: 5191) == .getToken)
        renewal.replaceToken("fresh", at: 5192)
        #expect(renewal.token == "fresh")
        #expect(renewal.due(at: 5192) == .makeSPC)
    }

    @Test func waitsIfANewTokenDoesNotHelp() throws {
        var renewal = try renewal()
        renewal.madeSPC(at: 5190)
        #expect(renewal.failed(problem(401, "token_expired"), at: 5191) == .getToken)
        renewal.replaceToken("fresh", at: 5192)
        #expect(renewal.failed(problem(401, "token_revoked"), at: 5193) == .wait(until: 5196))
        #expect(renewal.due(at: 5196) == .getToken)
        renewal.couldNotAsk(at: 5197)
        #expect(renewal.due(at: 5197) == .wait(until: 5200))
        #expect(renewal.due(at: 5200) == .getToken)
    }

    @Test func waitsLongerAfterTheEndOfTheLease() throws {
        var renewal = try renewal()
        var now = 5299.0
        var pauses: [TimeInterval] = []
        for _ in 0..<8 {
            guard case .wait(let next) = renewal.failed(.unreachable, at: now) else { break }
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [3, 3, 6, 12, 24, 48, 60, 60])
    }

    @Test func waitsAMinuteAtMostAfterTheEndOfALongLease() throws {
        let fields = ["X-License-Issued": "0", "X-License-Expires": "86400", "X-License-Renew-After": "57600"]
        var renewal = try #require(Renewal(after: License(ckc, response(200, fields)), token: "t", at: 0))
        #expect(renewal.failed(.unreachable, at: 60_000) == .wait(until: 60_864))
        #expect(renewal.failed(.unreachable, at: 86_400) == .wait(until: 86_460))
        #expect(renewal.failed(.unreachable, at: 86_460) == .wait(until: 86_520))
    }

    @Test func stopsIfTheViewerMayNot() throws {
        var renewal = try renewal()
        #expect(renewal.failed(problem(403, "content_mismatch"), at: 5190) == .stop)
        #expect(renewal.isStopped && renewal.due(at: 5190) == .stop)
    }

    @Test(arguments: [204, 403, 404, 413])
    func goesOnAfterAnAnswerOfAProxy(status: Int) throws {
        var renewal = try renewal()
        let answer = LicenseFailure.refused(LicenseProblem(Data("<html>".utf8), response(status)))
        #expect(answer.advice == .giveUp)
        renewal.madeSPC(at: 5190)
        #expect(renewal.failed(answer, at: 5190) == .wait(until: 5193))
        #expect(renewal.failed(.notALicense, at: 5193) == .wait(until: 5196))
        #expect(!renewal.isStopped)
    }

    @Test func leavesRoomForThirtyThreeAttempts() throws {
        var renewal = try renewal()
        var now = 5200.0
        var attempts = 0
        while now < 5300 {
            #expect(renewal.due(at: now) != .wait(until: now))
            attempts += 1
            guard case .wait(let next) = renewal.failed(.unreachable, at: now) else { break }
            now = next
        }
        #expect(attempts >= 33)
    }
}

@Suite struct AttemptsTests {
    @Test func endsWithTheLifeOfTheSPC() {
        var attempts = Attempts(at: 100)
        #expect(attempts.failed(.unreachable, at: 120) == .wait(until: 121))
        #expect(attempts.failed(.unreachable, at: 140) == .wait(until: 142))
        #expect(attempts.failed(.unreachable, at: 157) == .stop)
    }

    @Test func waitsAsLongAsTheServerSays() {
        var attempts = Attempts(at: 100)
        #expect(attempts.failed(problem(429, "rate_limited", ["Retry-After": "20"]), at: 100) == .wait(until: 120))
        #expect(attempts.failed(problem(429, "rate_limited", ["Retry-After": "86400"]), at: 120) == .stop)
    }

    @Test func stopsIfAskingAgainDoesNotHelp() {
        var attempts = Attempts(at: 100)
        #expect(attempts.failed(problem(403, "content_mismatch"), at: 100) == .stop)
        #expect(attempts.failed(.notALicense, at: 100) == .stop)
        #expect(attempts.failed(problem(401, "token_expired"), at: 100) == .getToken)
        #expect(attempts.failed(problem(401, "token_expired"), at: 100) == .stop)
    }
}

@Suite struct RetryLimitTests {
    @Test func allowsThreeRetriesAMinuteForEachKey() {
        var limit = RetryLimit()
        #expect((0..<5).map { limit.allows("a", at: Double($0)) } == [true, true, true, false, false])
        #expect(limit.allows("b", at: 5) == true)
        #expect(limit.allows("a", at: 59.9) == false)
        #expect(limit.allows("a", at: 60) == true)
    }
}

@Suite struct KeptKeysTests {
    @Test func usesWhatIsStored() {
        var keys = KeptKeys()
        #expect(keys.step(for: "a", isStored: true) == .use)
        #expect(keys.step(for: "b", isStored: false) == .get)
        #expect(keys.step(for: "b", isStored: false) == .join)
    }

    @Test func renewsOnceForTheApp() {
        var keys = KeptKeys()
        #expect(keys.ask(for: "a") == true)
        #expect(keys.step(for: "a", isStored: true) == .renew)
        #expect(keys.ask(for: "a") == false)
        #expect(keys.step(for: "a", isStored: true) == .use, "the old key holds")
        #expect(keys.finished("a", hasNewKey: false) == true)
        #expect(keys.step(for: "a", isStored: true) == .use)
    }

    @Test func usesNoKeyThatHasExpired() {
        var keys = KeptKeys()
        keys.hasExpired("a")
        #expect(keys.step(for: "a", isStored: true) == .renew)
        #expect(keys.step(for: "a", isStored: true) == .join)
        #expect(keys.finished("a", hasNewKey: false) == false)
        #expect(keys.step(for: "a", isStored: true) == .renew)
        #expect(keys.finished("a", hasNewKey: true) == true)
        #expect(keys.step(for: "a", isStored: true) == .use)
    }

    @Test func doesNotUseAKeyThatExpiresDuringItsRenewal() {
        var keys = KeptKeys()
        #expect(keys.ask(for: "a") == true)
        #expect(keys.step(for: "a", isStored: true) == .renew)
        keys.hasExpired("a")
        #expect(keys.step(for: "a", isStored: true) == .join)
        #expect(keys.finished("a", hasNewKey: false) == false)
    }

    @Test func forgetsAKeyThatWasGivenUp() {
        var keys = KeptKeys()
        keys.hasExpired("a")
        keys.forget("a")
        #expect(keys.step(for: "a", isStored: true) == .use)
    }
}

@Suite struct KeyStoreTests {
    @Test func keepsEachKeyByItself() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = KeyStore(folder: folder)
        let uris = [
            "skd://a", "skd://b/../a", "skd://" + String(repeating: "c", count: 94),
            "skd://" + String(repeating: "c", count: 900),
        ]
        #expect(uris.allSatisfy { store.key(for: $0) == nil })
        for (index, uri) in uris.enumerated() { try store.save(Data([UInt8(index)]), for: uri) }
        #expect(uris.map { store.key(for: $0) } == (0..<4).map { Data([UInt8($0)]) })
        try store.save(Data([9]), for: uris[0])
        store.remove(uris[1])
        store.remove(uris[1])
        #expect(uris.map { store.key(for: $0) } == [Data([9]), nil, Data([2]), Data([3])])
    }
}
