import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

@Suite struct TokenTests {
    private static let header = #"{"alg":"ES256","kid":"es"}"#

    private static func token(header: String = header, payload: String = "{}", signature: String = "AA") -> [UInt8] {
        Array((Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8) + "." + signature).utf8)
    }

    @Test func keepsThePartsAndWhatTheSignatureIsOver() throws {
        let bytes = Self.token(payload: #"{"a":1}"#)
        let token = try Token(parsing: bytes)
        #expect(token.algorithm == .es256)
        #expect(token.keyID == "es")
        #expect(token.payload == Array(#"{"a":1}"#.utf8))
        #expect(token.signature == [0])
        #expect(Array(token.signedBytes) == bytes.dropLast(3))
    }

    /// RFC 9068 issuers send "at+jwt". The type is a media type, so neither its case nor "application/" counts.
    @Test(arguments: [
        "JWT", "jwt", "fps-ent+jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/jwt", "JOSE", "JWS", "",
        "text/logout+jwt", "logout", "application/application/logout+jwt",
    ])
    func takesTheTypesOfAccessTokensAndUnknownOnes(type: String) throws {
        _ = try Token(parsing: Self.token(header: #"{"alg":"HS256","kid":"k","typ":"\#(type)"}"#))
    }

    /// A key may also sign tokens for other uses, with the same claims. They must not open films.
    @Test(arguments: [
        #""logout+jwt""#, #""dpop+jwt""#, #""secevent+jwt""#, #""Logout+JWT""#, #""application/logout+jwt""#,
        #""APPLICATION/DPoP+jwt""#, #""logout+jwt;charset=utf-8""#, #"" logout+jwt ; a=b""#,
        #""token-introspection+jwt""#,
        #""oauth-authz-req+jwt""#, #""kb+jwt""#, "null", "1", "[\"JWT\"]",
    ])
    func refusesTypesThatNameAnotherUse(type: String) {
        #expect(throws: EntitlementError.tokenMalformed(.headerInvalid("typ"))) {
            try Token(parsing: Self.token(header: #"{"alg":"ES256","kid":"es","typ":\#(type)}"#))
        }
    }

    @Test(arguments: ["crit", "jku", "jwk", "x5u", "x5c"])
    func refusesHeadersThatBringKeysOrDemandExtensions(name: String) {
        for value in ["null", "[]", #""https://attacker.example/keys""#, #"{"kty":"oct","k":"AA"}"#] {
            #expect(throws: EntitlementError.tokenMalformed(.headerForbidden(name))) {
                try Token(parsing: Self.token(header: #"{"alg":"ES256","kid":"es","\#(name)":\#(value)}"#))
            }
        }
    }

    @Test(arguments: [
        "none", "None", "NONE", "nOnE", "", "es256", "Es256", "ES256 ", "hs256", "ES384", "RS512", "PS256", "Ed25519",
        "eddsa",
    ])
    func refusesAlgorithmsThatNoKeyCanHave(name: String) {
        for keyID in [#","kid":"es""#, ""] {
            #expect(throws: EntitlementError.algorithmNotServed) {
                try Token(parsing: Self.token(header: #"{"alg":"\#(name)"\#(keyID)}"#, signature: ""))
            }
        }
    }

    @Test func refusesAHeaderWithoutAlgorithmOrKey() throws {
        #expect(throws: EntitlementError.algorithmNotServed) {
            try Token(parsing: Self.token(header: #"{"kid":"es"}"#))
        }
        #expect(try Token(parsing: Self.token(header: #"{"alg":"ES256"}"#)).keyID == nil)
    }

    @Test(arguments: ["1", "null", "true", "[\"es\"]", "\"" + String(repeating: "k", count: 201) + "\""])
    func refusesKeyIDsThatAreNoShortText(value: String) {
        #expect(throws: EntitlementError.tokenMalformed(.headerInvalid("kid"))) {
            try Token(parsing: Self.token(header: #"{"alg":"ES256","kid":\#(value)}"#))
        }
    }

    @Test(arguments: [
        #"{"alg":"ES256","alg":"HS256","kid":"es"}"#, #"{"alg":"ES256","kid":"es","kid":"hs"}"#,
        #"{"alg":"ES256","kid":"es","\u006bid":"hs"}"#, #"{"alg":"ES256","kid":"es",}"#,
        #"{"alg":"ES256","kid":"es"} x"#,
        #"{'alg':'ES256','kid':'es'}"#, "", #"{"alg":"ES256","kid":"es""#,
    ])
    func refusesHeadersThatAreNotStrictJSON(header: String) throws {
        let error = try #require(throws: EntitlementError.self) { try Token(parsing: Self.token(header: header)) }
        #expect(error.code == "token_malformed")
    }

    @Test(arguments: ["[]", "null", "\"ES256\"", "1"])
    func refusesHeadersThatAreNoObject(header: String) {
        #expect(throws: EntitlementError.tokenMalformed(.notAnObject)) {
            try Token(parsing: Self.token(header: header))
        }
    }

    @Test(arguments: ["", ".", "..", "...", "e30", "e30.e30", "e30..AA", ".e30.AA", "e30.e30.AA.", "e30.e30.AA.AA.AA"])
    func refusesAnythingButThreeParts(text: String) {
        #expect(throws: EntitlementError.tokenMalformed(.notThreeParts)) { try Token(parsing: Array(text.utf8)) }
    }

    /// "AB" has extra bits after its one byte, and "A" is less than a byte. The rest use other alphabets or white
    /// space.
    @Test(arguments: ["AB", "A", "AA==", "AA=", "+/8", "A A", " AA", "AA\n", "AA\r\n", "ÄÄ", "AAAAA"])
    func refusesPartsThatAreNotCanonical(signature: String) throws {
        for bytes in [
            Self.token(signature: signature), Array("\(signature).e30.AA".utf8), Array("e30.\(signature).AA".utf8),
        ] {
            let error = try #require(throws: EntitlementError.self) { try Token(parsing: bytes) }
            #expect(error.code == "token_malformed")
        }
    }

    @Test func takesEightKibibytesAndNotOneByteMore() throws {
        let rest = Self.token(signature: "").count
        let longest = String(repeating: "A", count: Token.sizeMaximum - rest)
        #expect(try Token(parsing: Self.token(signature: longest)).signature.count == longest.utf8.count / 4 * 3)
        #expect(throws: EntitlementError.tokenMalformed(.tooLarge(size: 8193))) {
            try Token(parsing: Self.token(signature: longest + "A"))
        }
    }

    /// Many libraries and key services sign in DER. Such a token is told so, and not that its signature is wrong.
    @Test func tellsASignatureInDERApart() throws {
        func parse(_ signature: [UInt8], _ algorithm: String = "ES256") throws {
            let header = #"{"alg":"\#(algorithm)","kid":"es"}"#
            _ = try Token(parsing: Self.token(header: header, signature: Base64URL.encode(signature)))
        }
        let integer: [UInt8] = [0x02, 0x20] + [UInt8](repeating: 0x11, count: 32)
        for size in [68, 69, 70, 71, 72] {
            let numbers = (integer + integer + [0, 0, 0, 0]).prefix(size)
            #expect(throws: EntitlementError.tokenMalformed(.signatureInDER)) {
                try parse([0x30, UInt8(size)] + numbers)
            }
        }
        // The same first bytes are good in a signature of 64 bytes, and say nothing with another algorithm.
        try parse([0x30, 0x3E] + (integer + integer).prefix(62))
        try parse([0x30, 0x44] + integer + integer, "RS256")
        try parse([0x30, 0x45] + integer + integer)
        for size in 0...3 { try parse([UInt8](repeating: 0x30, count: size)) }
    }
}
