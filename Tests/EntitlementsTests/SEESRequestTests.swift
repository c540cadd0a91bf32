import Testing

@testable import Entitlements

@Suite struct SEESRequestTests {
    private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"

    private func read(_ text: String) throws(SEESRequest.Fault) -> SEESRequest {
        try SEESRequest(parsing: Array(text.utf8))
    }

    private func question(_ members: String) -> String { #"{"messageID":"\#(Self.id)",\#(members)}"# }

    @Test func readsEveryKind() throws {
        let timeBased = try read(question(#""version":1,"requestType":1,"contentID":"movie-42","other":[1]"#))
        #expect(timeBased.kind == .timeBased && timeBased.contentID == "movie-42" && timeBased.customerCookie == nil)
        #expect(timeBased.messageID == Self.id)
        let named = question(#""version":1,"requestType":3,"contentID":"m","customerCookie":"viewer 7""#)
        #expect(try read(named).kind == .deviceBound)
        #expect(try read(named).customerCookie == "viewer 7")
        let registration = question(#""version":1,"requestType":2,"contentID":"m","customerCookie":"v""#)
        #expect(try read(registration).kind == .deviceRegistration)
    }

    @Test(
        arguments: [
            ("", nil), ("[]", nil), ("null", nil), ("{}", .messageID), (#"{"messageID":7}"#, .messageID),
            (#"{"messageID":"no-guid"}"#, .messageID), (#"{"messageID":""}"#, .messageID),
        ] as [(String, SEESRequest.Member?)])
    func answersNobodyWhomItCannotName(text: String, member: SEESRequest.Member?) {
        #expect(throws: SEESRequest.Fault(messageID: "", code: .valueUnknown, member: member)) { try read(text) }
    }

    @Test(
        arguments: [
            (#""version":2,"requestType":1,"contentID":"m""#, .valueUnknown, .version),
            (#""version":"1","requestType":1,"contentID":"m""#, .valueUnknown, .version),
            (#""requestType":1,"contentID":"m""#, .valueUnknown, .version),
            (#""version":1,"contentID":"m""#, .valueUnknown, .requestType),
            (#""version":1,"requestType":0,"contentID":"m""#, .valueUnknown, .requestType),
            (#""version":1,"requestType":4,"contentID":"m""#, .valueUnknown, .requestType),
            (#""version":1,"requestType":1"#, .keyIDInvalid, .contentID),
            (#""version":1,"requestType":1,"contentID":"""#, .keyIDInvalid, .contentID),
            (#""version":1,"requestType":1,"contentID":"a b""#, .keyIDInvalid, .contentID),
            (#""version":1,"requestType":1,"contentID":7"#, .keyIDInvalid, .contentID),
            (#""version":1,"requestType":1,"contentID":"m","customerCookie":"""#, .cookieInvalid, .customerCookie),
            (#""version":1,"requestType":1,"contentID":"m","customerCookie":7"#, .cookieInvalid, .customerCookie),
            (
                #""version":1,"requestType":1,"contentID":"m","customerCookie":"\#(String(repeating: "c", count: 33))""#,
                .cookieInvalid, .customerCookie
            ),
            (#""version":1,"requestType":2,"contentID":"m""#, .cookieInvalid, .customerCookie),
            (#""version":1,"requestType":3,"contentID":"m","customerCookie":null"#, .cookieInvalid, .customerCookie),
        ] as [(String, ExpressPlayCode, SEESRequest.Member)])
    func saysWhatIsWrongAndWhere(members: String, code: ExpressPlayCode, member: SEESRequest.Member) {
        #expect(throws: SEESRequest.Fault(messageID: Self.id, code: code, member: member)) {
            try read(question(members))
        }
    }
}
