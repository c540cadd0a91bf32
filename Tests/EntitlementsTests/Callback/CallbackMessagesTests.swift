import ByteCoding
import POSIXSockets
import TestSupport
import Testing

@testable import Entitlements

@Suite struct CallbackMessagesTests {
    private static let content = CallbackQuestion.Content(
        contentID: "movie-1", keyID: KeyID(words: Bytes16(high: 1, low: 2)))
    private static let question = {
        var question = CallbackQuestion(
            messageID: KeyID(words: Bytes16(high: 3, low: 4)), token: Array("opaque".utf8), content: content,
            use: .streaming)
        question.device = DeviceIdentifier([UInt8](repeating: 0xAB, count: 20))
        question.session = 7
        question.address = .v4(0x7f00_0001)
        question.isRenewal = true
        return question
    }()
    private static let messageID = "00000000-0000-0003-0000-000000000004"

    private func answer(_ members: String) throws(CallbackAnswerFault) -> CallbackAnswer {
        try CallbackAnswer(
            parsing: Array("{\"messageID\":\"\(Self.messageID)\",\"version\":1,\(members)}".utf8), to: Self.question)
    }

    @Test func asksWithEverythingThatTheServiceDecidesOn() throws {
        let object = try #require(try JSONReader.parse(Self.question.body).object)
        #expect(object["messageID"]?.string == Self.messageID)
        #expect(object["version"]?.number?.signed == 1)
        #expect(object["contentID"]?.string == "movie-1")
        #expect(object["kid"]?.string == "00000000-0000-0001-0000-000000000002")
        #expect(object["device"]?.string == String(repeating: "AB", count: 20))
        #expect(object["session"]?.string == "0000000000000007")
        #expect(object["token"]?.string == "opaque")
        #expect(object["clientIP"]?.string == "127.0.0.1")
        #expect(object["offline"]?.bool == false)
        #expect(object["renew"]?.bool == true)
    }

    @Test func readsEveryKindOfAnswer() throws {
        guard case .allowed = try answer(#""isAllowed":true"#) else { throw Unexpected() }
        guard case .allowed = try answer(#""isAllowed":true,"policy":null,"more":[1]"#) else { throw Unexpected() }
        guard case .policy(let policy) = try answer(#""isAllowed":true,"policy":{"rights":[]}"#) else {
            throw Unexpected()
        }
        #expect(policy["rights"]?.array?.isEmpty == true)
        guard case .token(let token) = try answer(#""isAllowed":true,"entitlement":"a.b.c""#) else {
            throw Unexpected()
        }
        #expect(token == Array("a.b.c".utf8))
        guard case .denied(let error, let text) = try answer(#""isAllowed":false,"error":17,"errorText":"no""#) else {
            throw Unexpected()
        }
        #expect(error == 17 && text == "no")
    }

    private struct Unexpected: Error {}

    @Test(arguments: [
        ("", CallbackAnswerFault.notJSON), ("[]", .notJSON), ("{", .notJSON), ("{}", .anotherMessage),
        (#"{"messageID":"00000000-0000-0003-0000-000000000005","version":1,"isAllowed":true}"#, .anotherMessage),
        (#"{"messageID":"\#(messageID)","version":2,"isAllowed":true}"#, .anotherVersion),
        (#"{"messageID":"\#(messageID)","isAllowed":true}"#, .anotherVersion),
        (#"{"messageID":"\#(messageID)","version":1}"#, .invalid("isAllowed")),
        (#"{"messageID":"\#(messageID)","version":1,"isAllowed":"true"}"#, .invalid("isAllowed")),
        (#"{"messageID":"\#(messageID)","version":1,"isAllowed":true,"policy":"HD"}"#, .invalid("policy")),
        (#"{"messageID":"\#(messageID)","version":1,"isAllowed":true,"entitlement":{}}"#, .invalid("entitlement")),
        (
            #"{"messageID":"\#(messageID)","version":1,"isAllowed":true,"policy":{},"entitlement":"a"}"#,
            .invalid("entitlement")
        ),
        (#"{"messageID":"\#(messageID)","messageID":"\#(messageID)","version":1,"isAllowed":true}"#, .notJSON),
    ])
    func refusesWhatIsNoAnswerToTheQuestion(body: String, fault: CallbackAnswerFault) {
        #expect(throws: fault) { try CallbackAnswer(parsing: Array(body.utf8), to: Self.question) }
    }

    @Test func refusesAnAnswerThatIsTooLarge() {
        let body = [UInt8](repeating: UInt8(ascii: " "), count: CallbackAnswer.sizeMaximum + 1)
        #expect(throws: CallbackAnswerFault.notJSON) { try CallbackAnswer(parsing: body, to: Self.question) }
    }

    // MARK: Claims

    private func claims(_ policy: String) throws -> Claims {
        let object = try #require(try JSONReader.parse(Array(policy.utf8)).object)
        return try Claims.decided(by: "portal", policy: object, now: 1000, life: 60)
    }

    @Test func readsAPolicyAsThePayloadOfATokenOfTheService() throws {
        let claims = try claims(#"{"sub":"viewer-1","rights":[{"content":"movie-1","lease":300}]}"#)
        #expect(claims.issuer == "portal" && claims.subject == "viewer-1")
        #expect(claims.rights == [Right(.content("movie-1"), lease: 300)])
        #expect(claims.issuedAt == 1000 && claims.expiresAt == 1060)
    }

    @Test(arguments: [
        #"{}"#, #"{"rights":{}}"#, #"{"rights":[{"content":"movie-1","leese":300}]}"#,
        #"{"rights":[],"exp":99999999999}"#, #"{"rights":[],"iss":"other"}"#,
        #"{"rights":[{"content":"movie-1","lease":0}]}"#,
    ])
    func refusesAPolicyThatCouldMeanSomethingElse(policy: String) {
        #expect(throws: EntitlementError.self) { try claims(policy) }
    }

    @Test func grantsNoMoreThanStreamingWhereTheServiceSaysNoMore() throws {
        let claims = try Claims.decided(by: "portal", allowing: Self.content, now: 1000, life: 60)
        #expect(claims.rights == [Right(.keyIDs([Self.content.keyID]))])
        #expect(throws: EntitlementError.offlineNotGranted) {
            try Gate.authorize(
                claims: claims,
                content: RequestedContent(
                    contentID: Self.content.contentID, keyID: Self.content.keyID, trackLabels: []),
                for: .offline, now: 1000)
        }
    }
}
