import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PlayerMessages
import Records
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Every shape of an answer, byte for byte (clients, section 2).
@Suite struct LicenseAnswerTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    // MARK: Licenses of each kind

    private func license(
        _ right: Right, use: LicenseUse? = nil, _ adjust: (inout DeviceOptions) -> Void = { _ in }
    ) async throws -> IssuedLicense {
        let request = try fixture.deviceRequest(.v2) {
            $0.capabilities = [.offlineKey]
            adjust(&$0)
        }
        let outcome = try await fixture.outcome(of: request.message, token: try fixture.token([right]), use: use)
        guard case .license(let license) = outcome else { throw AnswerTestError.anotherOutcome }
        return license
    }

    private enum AnswerTestError: Error { case anotherOutcome }

    private func leased() async throws -> IssuedLicense {
        try await license(Right(.content("movie-1"), lease: 300)) {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        }
    }

    private func kept(storage: Int64? = 600) async throws -> IssuedLicense {
        try await license(Right(.content("movie-1"), mode: .offline, storage: storage), use: .offline)
    }

    private func streaming() async throws -> IssuedLicense { try await license(Right(.content("movie-1"))) }

    // MARK: Answers

    private func answer(
        _ results: [KeyResult], _ shape: AnswerShape, afterSeconds delay: Int64 = 0
    ) -> HTTPResponse {
        let now = fixture.clock.wallTime
        return LicenseAnswer.response(
            to: results, as: shape, at: WallTime(seconds: now.seconds + delay, nanoseconds: now.nanoseconds),
            RequestID(1))
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    private func label(_ text: String) throws -> JSONNode { try JSONReader.parse(Array(text.utf8)) }

    @Test func aShapeOfOneLicenseIsExactlyThis() async throws {
        let license = try await streaming()
        let ckc = Base64.encode(license.ckc)
        let rows: [(AnswerShape, String, String)] = [
            (.base64, "text/plain; charset=utf-8", ckc),
            (.ckc, "text/plain; charset=utf-8", "<ckc>\(ckc)</ckc>"),
            (.kaltura, "application/json", #"{"ckc":"\#(ckc)","persistence_duration":0}"#),
            (.object(.spc), "application/json", #"{"ckc":"\#(ckc)"}"#),
            (.object(.spcMessage), "application/json", #"{"ckcMessage":"\#(ckc)"}"#),
            (.object(.capitalSpcMessage), "application/json", #"{"CkcMessage":"\#(ckc)"}"#),
            (.object(.spcData), "application/json", #"{"ckcData":"\#(ckc)"}"#),
            (.object(.payload), "application/json", #"{"payload":"\#(ckc)"}"#),
            (
                .object(.licenseChallenge), "application/json",
                #"{"fairplay-streaming-response":{"streaming-keys":[{"status":0,"ckc":"\#(ckc)"}]}}"#
            ),
            (.getFairplayLicense, "application/json", #"{"getFairplayLicenseResponse":{"ckcResponse":"\#(ckc)"}}"#),
        ]
        for (shape, type, expected) in rows {
            let response = answer([KeyResult(.license(license))], shape)
            #expect(text(response) == expected, "\(shape)")
            #expect(response.status == .ok && response.fields["Content-Type"] == type, "\(shape)")
        }
        let raw = answer([KeyResult(.license(license))], .raw)
        #expect(raw.body == license.ckc && raw.fields["Content-Type"] == "application/octet-stream")
    }

    @Test(arguments: [
        (AnswerShape.json, "ckc", "session_token"), (.nagra, "CkcMessage", "sessionToken"),
    ])
    func theLongObjectsSayAllThatIsKnown(shape: AnswerShape, ckc: String, token: String) async throws {
        let license = try await leased()
        let response = answer([KeyResult(.license(license))], shape)
        let members = try #require(try JSONReader.parse(response.body).object)
        #expect(members[ckc]?.string == Base64.encode(license.ckc))
        #expect(members[token] == nil && members["server_time"]?.string != nil)
        #expect(members["license"]?.object?["lease"]?.number?.signed == 300)
    }

    @Test(arguments: [AnswerShape.raw, .base64, .ckc, .kaltura, .object(.spc), .getFairplayLicense, .streamingKeys])
    func oneLicenseIsToldByFieldsToo(shape: AnswerShape) async throws {
        let license = try await leased()
        let fields = answer([KeyResult(.license(license))], shape).fields
        #expect(fields["X-License-Id"] == license.id.description)
        #expect(fields["X-License-Type"] == "lease")
        #expect(fields["X-License-Expires"] == license.facts.expiresAt.map { String($0) })
        #expect(fields["X-License-Renew-After"] == license.facts.renewAfter.map { String($0) })
        #expect(fields["Cache-Control"] == "no-store" && fields["X-Content-Type-Options"] == "nosniff")
        #expect(fields["X-Request-Id"] == RequestID(1).text)
    }

    // MARK: Durations

    @Test func aPlayerOfKalturaHearsHowLongItKeepsALicense() async throws {
        func duration(_ license: IssuedLicense, afterSeconds delay: Int64 = 0) throws -> Int64? {
            let response = answer([KeyResult(.license(license))], .kaltura, afterSeconds: delay)
            return try JSONReader.parse(response.body).object?["persistence_duration"]?.number?.signed
        }
        #expect(try duration(try await leased()) == 0)
        let kept = try await kept()
        #expect(try duration(kept) == 600)
        #expect(try duration(kept, afterSeconds: 100) == 500)
        #expect(try duration(kept, afterSeconds: 1000) == 1, "0 would mean that it is not kept")
        #expect(try duration(try await self.kept(storage: nil)) == 2_147_483_647)
    }

    @Test func aStreamingKeySaysWhenToComeBackInSecondsFromNow() async throws {
        let license = try await leased()
        let renewAfter = try #require(license.facts.renewAfter) - license.facts.issuedAt
        for (delay, lease) in [(Int64(0), Int64(300)), (10, 290), (400, 0)] {
            let response = answer([KeyResult(.license(license))], .streamingKeys, afterSeconds: delay)
            let entry = try #require(try entries(response).first)
            #expect(entry["lease-expiry-time"]?.number?.signed == lease)
            #expect(entry["renew-after"]?.number?.signed == max(0, renewAfter - delay))
        }
        let unlimited = try #require(
            try entries(answer([KeyResult(.license(try await streaming()))], .streamingKeys)).first)
        #expect(unlimited["lease-expiry-time"] == nil && unlimited["renew-after"] == nil)
    }

    private func entries(_ response: HTTPResponse) throws -> [JSONObject] {
        let answer = try JSONReader.parse(response.body).object?["fairplay-streaming-response"]
        return try #require(answer?.object?["streaming-keys"]?.array).compactMap(\.object)
    }

    // MARK: Several keys

    @Test func anArrayHasAPayloadOrAnErrorForEachKey() async throws {
        let license = try await leased()
        let response = answer(
            [
                KeyResult(label: try label(#""AAECAwQFBgcICQoLDA0ODw==""#), .license(license)),
                KeyResult(label: try label(#""b+/=""#), .refused(Problem(.contentMismatch))),
                KeyResult(.refused(Problem(.overloaded))),
            ], .keyArray)
        let ckc = Base64.encode(license.ckc)
        #expect(
            text(response) == #"[{"keyID":"AAECAwQFBgcICQoLDA0ODw==","payload":"\#(ckc)"},"#
                + #"{"keyID":"b+/=","error":-42604},{"error":-42601}]"#)
        #expect(response.status == .ok && response.fields["Content-Type"] == "application/json")
        #expect(response.fields["X-License-Id"] == nil, "the field could name only one of several licenses")
    }

    @Test func streamingKeysRepeatTheirIDs() async throws {
        let license = try await streaming()
        let response = answer(
            [
                KeyResult(label: try label("1"), .license(license)),
                KeyResult(label: try label(#""one""#), .refused(Problem(.keyNotFound))),
                KeyResult(label: try label("2.50"), .refused(Problem(.spcRejected))),
            ], .streamingKeys)
        let ckc = Base64.encode(license.ckc)
        #expect(
            text(response) == #"{"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":0,"ckc":"\#(ckc)"},"#
                + #"{"id":"one","status":-42584},{"id":2.50,"status":-42605}]}}"#)
        #expect(response.fields["X-License-Id"] == nil)
    }

    @Test(arguments: [AnswerShape.keyArray, .streamingKeys])
    func allKeysMayBeRefused(shape: AnswerShape) async throws {
        let response = answer(
            [KeyResult(.refused(Problem(.rightEnded))), KeyResult(.refused(Problem(.tokenUsed)))], shape)
        #expect(response.status == .ok && response.fields["X-Error-Code"] == nil)
        #expect(text(response).split(separator: "-42604").count == 3)
    }

    // MARK: Answers without a license

    @Test(arguments: [AnswerShape.raw, .base64, .ckc, .json, .kaltura, .object(.spc), .getFairplayLicense])
    func oneRefusedKeyIsAProblem(shape: AnswerShape) throws {
        let response = answer([KeyResult(.refused(Problem(.contentMismatch)))], shape)
        #expect(response.status == .forbidden && response.fields["X-Error-Code"] == "content_mismatch")
        #expect(response.fields["Content-Type"] == "application/problem+json")
    }

    private func accepted() async throws -> KeyOutcome {
        let report = SyncReport(.version1(contentID: Bytes16(high: 7, low: 8)), remaining: .seconds(90))
        let request = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }
        let token = try fixture.token([Right(.content("movie-1"), mode: .both, storage: 600)])
        guard case .syncReport(let accepted) = try await fixture.outcome(of: request.message, token: token) else {
            throw AnswerTestError.anotherOutcome
        }
        return .syncReport(accepted)
    }

    @Test func aSyncReportIsAnsweredByWhatItSays() async throws {
        let accepted = try await accepted()
        for shape in [AnswerShape.raw, .base64, .ckc, .kaltura, .object(.spc), .getFairplayLicense] {
            let response = answer([KeyResult(accepted)], shape)
            #expect(response.status == .ok && response.fields["Content-Type"] == "application/json")
            let members = try #require(try JSONReader.parse(response.body).object)
            #expect(
                members.members.map(\.name) == [
                    "offline-sync", "expiresInSeconds", "expirationDate", "challengeAccepted",
                ])
        }
        let entry = try #require(
            try entries(answer([KeyResult(label: try label("7"), accepted)], .streamingKeys)).first)
        #expect(
            entry.members.map(\.name) == [
                "id", "status", "offline-sync", "expiresInSeconds", "expirationDate", "challengeAccepted",
            ])
        #expect(entry["status"]?.number?.signed == 0 && entry["expiresInSeconds"]?.number?.signed == 90)
        let array = answer([KeyResult(label: try label(#""k""#), accepted)], .keyArray)
        #expect(text(array) == #"[{"keyID":"k","error":-42604}]"#)
    }

    @Test func anEndedPlaybackIsAnsweredByAWord() async throws {
        let request = try fixture.deviceRequest(.v2) {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: .stopped, sessionID: 2)
        }
        let token = try fixture.token([Right(.content("movie-1"), lease: 300)])
        guard case .playbackEnded(let playback) = try await fixture.outcome(of: request.message, token: token) else {
            throw AnswerTestError.anotherOutcome
        }
        let ended = KeyOutcome.playbackEnded(playback)
        let members = try #require(try JSONReader.parse(answer([KeyResult(ended)], .ckc).body).object)
        #expect(members["playback"]?.string == "ended")
        #expect(
            text(answer([KeyResult(label: try label("1"), ended)], .streamingKeys))
                == #"{"fairplay-streaming-response":{"streaming-keys":[{"id":1,"status":0,"playback":"ended"}]}}"#)
        #expect(text(answer([KeyResult(ended)], .keyArray)) == #"[{"error":-42604}]"#)
    }
}
