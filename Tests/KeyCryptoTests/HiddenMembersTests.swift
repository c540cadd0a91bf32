import ByteCoding
import Testing

@testable import KeyCrypto

@Suite struct HiddenMembersTests {
    private func hide(_ text: String) -> (text: String, key: String?, iv: String?) {
        let hidden = HiddenMembers(["key", "iv"], in: Array(text.utf8))
        let texts = ["key", "iv"].map { name in
            hidden.texts[name].map { String(decoding: $0.bytes.revealed(), as: UTF8.self) }
        }
        return (String(decoding: hidden.bytes, as: UTF8.self), texts[0], texts[1])
    }

    @Test func takesOutWhatIsNamedAndNothingElse() {
        let found = hide(#"{"kid": "key", "key" : "a1b2", "content":"iv","iv":"c3"}"#)
        #expect(found.text == #"{"kid": "key", "key" : "0000", "content":"iv","iv":"00"}"#)
        #expect(found.key == "a1b2" && found.iv == "c3")
    }

    @Test(arguments: [
        #"{"key":7}"#, #"{"key":null}"#, #"{"key"}"#, #"{"key":"#, #"{"key":"open"#, #"{"other":"\"key\":"}"#, "",
        "key",
    ])
    func leavesEverythingElseAsItIs(text: String) {
        let found = hide(text)
        #expect(found.text == text && found.key == nil)
    }

    @Test func doesNotEndAtAnEscapedQuote() {
        let found = hide(#"{"key":"a\"b"}"#)
        #expect(found.text == #"{"key":"0000"}"# && found.key == #"a\"b"#)
    }
}
