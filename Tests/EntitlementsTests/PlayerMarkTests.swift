import Testing

@testable import Entitlements

@Suite struct PlayerMarkTests {
    private func read(_ values: String...) -> PlayerMark? { PlayerMark(values.map { Array($0.utf8)[...] }) }

    /// What dash.js, hls.js and Shaka Player send, and the examples of CTA-5004.
    @Test(
        arguments: [
            (#"sid="6e2fb550-c457-11e9-bb97-0800200c9a66""#, "6e2fb550-c457-11e9-bb97-0800200c9a66", nil),
            (#"cid="faec5fc2",sid="6e2f",sf=h,st=v,v=1,pr=1.08"#, "6e2f", "faec5fc2"),
            (#"cid="a",bs,sid="b""#, "b", "a"), (#"cid="a", sid="b""#, "b", "a"), (#"br=3200,sid="b",su"#, "b", nil),
            (#"cid="a\"b\\c,d=e""#, nil, #"a"b\c,d=e"#),
            (#"nor="..%2F300kbps%2Fsegment35.m4v",nrr="12323-48763",sid="b""#, "b", nil),
            (#"nor=("a,b.m4s";r="0-1" "c"),sid="b""#, "b", nil), (#"com.example-myKey="x",sid="b""#, "b", nil),
        ] as [(String, String?, String?)])
    func readsTheTwoIDs(value: String, session: String?, content: String?) throws {
        let mark = try #require(read(value))
        #expect(mark.session == session && mark.content == content)
    }

    @Test func readsSeveralHeadersTogether() throws {
        let mark = try #require(read("bl=21300", #"sid="b",cid="a""#, #"sid="b""#))
        #expect(mark.session == "b" && mark.content == "a")
    }

    /// None of these may be taken apart into something that looks right.
    @Test(arguments: [
        "", "sid", "sid=", "sid=b", #"sid="""#, #"sid="b"#, #"sid="b"x"#, #"sid="b",,cid="a""#, #"sid="b","#,
        #",sid="b""#, #"sid="b\n""#, "sid=\"b\u{1B}[31m\"", "sid=\"b\r\nx: y\"", #"sid="é""#, #"sid="b",sid="c""#,
        #"sid=("b")"#, #"="b""#, #"si d="b""#, #"sid ="b""#, #"bl=,sid="b""#, #"nor="x,sid="b""#, #"sid="b";p=1"#,
        #"sid="b" x"#,
    ])
    func ignoresWhatBreaksTheSyntax(value: String) {
        #expect(read(value) == nil)
    }

    @Test func isBounded() {
        let longest = String(repeating: "a", count: 128)
        #expect(read("sid=\"\(longest)\"")?.session == longest)
        #expect(read("sid=\"\(longest)a\"") == nil)
        #expect(read("sid=\"b\",a=" + String(repeating: "a", count: 2038))?.session == "b")
        #expect(read("sid=\"b\",a=" + String(repeating: "a", count: 2039)) == nil)
        #expect(read("sid=\"b\"," + String(repeating: "a,", count: 62) + "a")?.session == "b")
        #expect(read("sid=\"b\"," + String(repeating: "a,", count: 63) + "a") == nil)
        #expect(read(#"sid="b""#, "a", "a", "a")?.session == "b")
        #expect(read(#"sid="b""#, "a", "a", "a", "a") == nil)
        #expect(PlayerMark([]) == nil)
    }

    /// The size of all values counts, so that several do not cost more than one.
    @Test func isBoundedTogether() {
        let half = "a=" + String(repeating: "a", count: 1100)
        #expect(read(#"sid="b""#, half)?.session == "b")
        #expect(read(#"sid="b""#, half, half) == nil)
    }

    /// The content's id is written to the log as it is, and the session's id only as a pseudonym.
    @Test(arguments: [
        ("6e2fb550-c457", "6e2fb550-c457", nil), ("6e2fb550-c457", "https://a/b?s=6E2FB550-C457&c", nil),
        ("6e2fb550-c457", "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOi", nil), ("b", "https://a/?t=eyJhbGciOiJFUzI1NiJ9", nil),
        ("7", "7", nil), ("7", "film-7", "film-7"), ("6e2fb550-c457", "6e2fb550", "6e2fb550"),
    ])
    func leavesOutAContentThatTellsASecret(session: String, content: String, kept: String?) {
        let mark = read("cid=\"\(content)\",sid=\"\(session)\"")
        #expect(mark?.session == session)
        #expect(mark?.content == kept)
    }

    @Test func differentIDsInOneRequestAreIgnored() {
        #expect(read(#"sid="b""#, #"sid="c""#) == nil)
    }
}
