import ByteCoding
import TestSupport
import Testing

@testable import PackagerAPI

/// Which credential is read from header fields.
@Suite struct PackagerCredentialsTests {
    typealias Presented = PackagerCredentials.Presented

    static func read(_ authorization: [String] = [], keys: [String] = []) -> Presented {
        PackagerCredentials(
            authorization: authorization.map { Array($0.utf8)[...] }, apiKeys: keys.map { Array($0.utf8)[...] }
        ).presented
    }

    static func basic(_ text: String) -> String { "Basic " + Base64.encode(Array(text.utf8)) }

    private static func secret(_ text: String, user: String? = nil) -> Presented {
        .secret(Array(text.utf8), user: user.map { Array($0.utf8) })
    }

    @Test(arguments: [
        ([], [], Presented.nothing),
        (["Bearer s3cret"], [], secret("s3cret")),
        (["bEARER   s3cret:~/+="], [], secret("s3cret:~/+=")),
        ([], ["s3cret"], secret("s3cret")),
        // The example of RFC 7617, section 2, and the UTF-8 example of section 2.1.
        (["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="], [], secret("open sesame", user: "Aladdin")),
        (["Basic dGVzdDoxMjPCow=="], [], secret("123£", user: "test")),
        (["BASIC  QTpi"], [], secret("b", user: "A")),
        ([basic("a:b:c:")], [], secret("b:c:", user: "a")),
        ([basic(":b")], [], secret("b", user: "")),
        // The same credential may stand in several fields.
        (["Bearer s", "bearer s"], ["s", "s"], secret("s")),
        ([basic("u:s"), "Bearer s"], ["s"], secret("s", user: "u")),
    ])
    func readsOneCredential(authorization: [String], keys: [String], expected: Presented) {
        #expect(Self.read(authorization, keys: keys) == expected)
    }

    @Test(arguments: [
        (["Bearer s", "Bearer t"], []), (["Bearer s"], ["t"]), ([], ["s", "t"]), ([basic("u:s"), basic("v:s")], []),
        ([basic("u:s")], ["t"]), (["Bearer s", "Bearer t"], ["s"]), ([], ["s", "S"]),
    ])
    func findsTwoCredentialsAmbiguous(authorization: [String], keys: [String]) {
        #expect(Self.read(authorization, keys: keys) == .ambiguous)
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearers s", "Bearer\ts", "Bearer a b", "Bearer \u{e9}", "Basic", "Basic ",
        "Basic QQ==", "Basic OnM", "Basic  Q Tpi", "Basic YTo=", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZR==", "Basic YTpi!",
        basic("a\u{0}:b"), basic("a:b\u{7f}"), basic("a:b\nc"), "Basic YTr/", "Digest username=\"a\"",
        "AWS4-HMAC-SHA256 Credential=a", "Basic-YTpi",
    ])
    func refusesWhatIsNotReadable(authorization: String) {
        #expect(Self.read([authorization]) == .malformed)
        // A valid field beside it does not help.
        #expect(Self.read([authorization, "Bearer s"]) == .malformed)
        #expect(Self.read([authorization], keys: ["s"]) == .malformed)
    }

    @Test(arguments: ["", "a b", "\u{e9}", "a\u{1}"])
    func refusesAnUnreadableKey(key: String) {
        #expect(Self.read(keys: [key]) == .malformed)
        #expect(Self.read(["Bearer s"], keys: ["s", key]) == .malformed)
    }

    /// If a valid value is cut off, the rest is refused or is a shorter credential. It is never the whole credential.
    @Test(arguments: [basic("packager-1:0123456789abcdef"), "Bearer 0123456789abcdef"])
    func neverCompletesATruncatedField(value: String) {
        let whole = Self.read([value])
        for count in 0..<value.utf8.count {
            #expect(Self.read([String(value.prefix(count))]) != whole)
        }
    }

    /// Any user and secret are read as they were written, in any order of fields. Any other bytes are read without a
    /// trap, and always with the same result.
    @Test func readsWhatItWrites() {
        var generator = SeededGenerator.announced("PackagerCredentialsTests.readsWhatItWrites")
        let visible = (0x21...0x7E).map { UInt8($0) }
        for _ in 0..<2_000 {
            let secret = (0..<Int.random(in: 1...64, using: &generator)).map { _ in
                visible.randomElement(using: &generator) ?? 0x21
            }
            let user = secret.filter { $0 != UInt8(ascii: ":") }.shuffled(using: &generator)
            let fields = [
                Array("Basic \(Base64.encode(user + [UInt8(ascii: ":")] + secret))".utf8)[...],
                Array("Bearer ".utf8)[...] + secret,
            ].shuffled(using: &generator)
            let both = PackagerCredentials(authorization: fields, apiKeys: [secret[...]])
            #expect(both.presented == .secret(secret, user: user))

            var other = secret
            let place = Int.random(in: secret.indices, using: &generator)
            other[place] = visible.filter { $0 != secret[place] }.randomElement(using: &generator) ?? 0x21
            let two = PackagerCredentials(authorization: fields, apiKeys: [other[...]])
            #expect(two.presented == .ambiguous)

            let noise = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            let value = (["", "Basic ", "Bearer "].randomElement(using: &generator) ?? "").utf8 + noise
            let once = PackagerCredentials(authorization: [value[...]], apiKeys: [])
            let twice = PackagerCredentials(authorization: [value[...], value[...]], apiKeys: [])
            #expect(once.presented == twice.presented && once.presented != .ambiguous)
            #expect(once.presented != .nothing)
        }
    }

    @Test func printsNothingOfASecret() {
        let credentials = PackagerCredentials(
            authorization: [Array(Self.basic("user-name:password").utf8)[...]], apiKeys: [])
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(credentials.presented, to: &dumped)
        dumped += "\(credentials) \(credentials.presented)"
        #expect(!dumped.contains("user-name") && !dumped.contains("password") && !dumped.contains("112"))
    }
}
