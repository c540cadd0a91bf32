import ByteCoding
import KeyCrypto
import Testing

@testable import Entitlements

/// Keys of RFC 7515, RFC 7517 and RFC 8037, and faults of other keys.
@Suite struct JWKSetTests {
    private static let p256 = """
        "kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
        """
    private static let ed25519 = #""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#
    private static let rsa = """
        "kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCi\
        FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6\
        qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqD\
        Kgw","e":"AQAB"
        """
    private static let secret =
        #""kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow""#

    private func set(_ keys: String...) throws(JWKSetError) -> JWKSet {
        try parse(#"{"keys":[\#(keys.map { "{\($0)}" }.joined(separator: ","))]}"#)
    }

    private func parse(_ text: String) throws(JWKSetError) -> JWKSet {
        try JWKSet(parsing: SecretBytes(copying: Array(text.utf8)))
    }

    @Test func takesAKeyOfEachKind() throws {
        let set = try set(
            #""kid":"a",\#(Self.p256)"#, #"\#(Self.ed25519),"kid":"b","alg":"EdDSA","use":"sig""#,
            #"\#(Self.rsa),"kid":"c","alg":"RS256","key_ops":["verify"]"#, #""kid":"d",\#(Self.secret)"#)
        #expect(set.keys.map(\.id) == ["a", "b", "c", "d"])
        #expect(set.keys.map(\.algorithm) == [.es256, .edDSA, .rs256, .hs256])
        #expect(set.keys.allSatisfy { $0.state == .active })
        #expect(set.ignoredCount == 0)
        #expect(set.holdsSecrets)
        #expect(try !self.set(#""kid":"a",\#(Self.p256)"#).holdsSecrets)
    }

    /// RFC 7515, appendix A.1: the header of the example has no `kid`, so the key is tested directly.
    @Test func theSecretIsTheOneOfTheFile() throws {
        let key = try #require(try set(#""kid":"d",\#(Self.secret)"#).keys.first)
        let secret = try Base64URL.decode(
            "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        let contents = TokenContents(
            issuer: "i", audience: "a", issuedAt: Issuance.now, expiresAt: Issuance.now + 1, rights: [])
        let token = try TokenMinter(keyID: "d", hs256: SecretBytes(copying: secret)).mint(contents)
        #expect(key.isValidSignature(of: try Token(parsing: Array(token.utf8))))
    }

    @Test func theTextThatIsParsedHoldsNoSecret() {
        let text = #"{"keys":[{"kty":"oct", "k" : "c2VjcmV0" ,"kid":"k"},{"k":"b3RoZXI","n":"k","k2":"stays"}]}"#
        let hidden = SecretMembers(hiding: SecretBytes(copying: Array(text.utf8)))
        let expected = #"{"keys":[{"kty":"oct", "k" : "00000000" ,"kid":"k"},{"k":"0000000","n":"k","k2":"stays"}]}"#
        #expect(String(decoding: hidden.bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("", KeyState.active), (#","state":"active""#, .active), (#","state":"next""#, .next),
        (#","state":"revoked""#, .revoked), (#","revoked":{"revoked_at":1750000000}"#, .revoked),
        (#","state":"active","revoked":{}"#, .revoked), (#","revoked":true"#, .revoked),
        (#","revoked":1750000000"#, .revoked), (#","revoked":"2026-01-01""#, .revoked),
        (#","revoked":false"#, .active), (#","revoked":null"#, .active), (#","revoked":false,"state":"next""#, .next),
        (#","revoked":false,"state":"revoked""#, .revoked), (#","exp":1750000000"#, .retiring(until: 1_750_000_000)),
        (#","state":"retiring","exp":1750000000.9"#, .retiring(until: 1_750_000_000)),
    ])
    func readsTheStateOfAKey(members: String, state: KeyState) throws {
        #expect(try set(#""kid":"a",\#(Self.p256)\#(members)"#).keys.map(\.state) == [state])
    }

    @Test(arguments: [
        #""state":"retired""#, #""state":"retiring""#, #""state":1"#, #""exp":"1750000000""#,
        #""state":"retiring","exp":null"#, #""state":"next","exp":1750000000"#,
    ])
    func refusesStatesThatNobodyKnows(members: String) {
        let key = #""kid":"a",\#(Self.p256),\#(members)"#
        let error = #expect(throws: JWKSetError.self) { try set(key) }
        guard case .memberInvalid("state", 0) = error else {
            guard case .memberInvalid("exp", 0) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            return
        }
    }

    @Test(arguments: [
        #""kty":"EC","crv":"P-384","x":"AA","y":"AA""#, #""kty":"OKP","crv":"X25519","x":"AA""#, #""kty":"AKP""#,
        #"\#(rsa),"alg":"RS512""#, #"\#(rsa),"alg":"PS256""#, #"\#(rsa),"alg":"RSA-OAEP""#, #"\#(p256),"use":"enc""#,
        #"\#(p256),"key_ops":["sign"]"#, #"\#(secret),"alg":"A256GCM""#, #"\#(p256),"alg":"HS256""#,
        #"\#(secret),"alg":"ES256""#, #"\#(p256),"alg":"none""#,
    ])
    func passesOverWhatIsForSomethingElse(key: String) throws {
        #expect(throws: JWKSetError.noUsableKey) { try set(#""kid":"x",\#(key)"#) }
        let both = try set(#""kid":"x",\#(key)"#, #""kid":"a",\#(Self.p256)"#)
        #expect(both.keys.map(\.id) == ["a"])
        #expect(both.ignoredCount == 1)
    }

    @Test(
        arguments: [
            (p256, JWKSetError.keyIDMissing(index: 0)), (#""kid":"",\#(p256)"#, .keyIDMissing(index: 0)),
            (#""kid":1,\#(p256)"#, .keyIDMissing(index: 0)),
            (#""kid":"a",\#(p256),"d":"AA""#, .privateKey(index: 0)),
            (#""kid":"a",\#(rsa),"p":"AA""#, .privateKey(index: 0)),
            (#""kid":"a","kty":"EC","crv":"P-256","x":"AA","y":"AA""#, .keyUnusable(index: 0)),
            (
                #""kid":"a","kty":"EC","crv":"P-256","x":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","y":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4""#,
                .keyUnusable(index: 0)
            ),
            (#""kid":"a","kty":"EC","crv":"P-256","x":"AA""#, .memberInvalid("y", index: 0)),
            (#""kid":"a","kty":"EC","crv":"P-256","x":"A=","y":"AA""#, .memberInvalid("x", index: 0)),
            (#""kid":"a","kty":"OKP","crv":"Ed25519","x":"AAAA""#, .keyUnusable(index: 0)),
            (#""kid":"a","kty":"RSA","n":"AQAB","e":"AQAB""#, .keyUnusable(index: 0)),
            (#""kid":"a","kty":"oct","k":"c2hvcnQ""#, .keyUnusable(index: 0)),
            (#""kid":"a","kty":"oct","k":"not base64""#, .memberInvalid("k", index: 0)),
            (#""kid":"a","kty":"oct""#, .memberInvalid("k", index: 0)),
            (
                #""kid":"a","kty":"oct","\u006b":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T""#,
                .memberInvalid("k", index: 0)
            ),
            (#""kid":"a","kid":"b",\#(p256)"#, nil), (#""kid":"a","kty":"oct","k":"AA","k":"BB""#, nil),
        ] as [(String, JWKSetError?)])
    func refusesKeysThatAreMeantAndCannotBeUsed(key: String, expected: JWKSetError?) {
        let error = #expect(throws: JWKSetError.self) { try set(key) }
        if let expected { #expect(error == expected) }
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, "null", "not JSON"])
    func refusesWhatIsNoKeySet(text: String) {
        #expect(throws: JWKSetError.self) { try parse(text.isEmpty ? " " : text) }
    }

    private func publish(_ keys: String...) throws(JWKSetError) -> JWKSet {
        let text = #"{"keys":[\#(keys.map { "{\($0)}" }.joined(separator: ","))]}"#
        return try JWKSet(published: SecretBytes(copying: Array(text.utf8)))
    }

    /// A secret of a published set is not used, even if the key is for something else.
    @Test(arguments: [
        #""kid":"s",\#(secret)"#, #""kty":"oct","use":"enc""#, #""kty":"EC","crv":"P-384","d":"AA""#,
        #""kty":"unknown","k":"AAAA""#,
    ])
    func aPublishedSetHasNoSecret(key: String) throws {
        let good = #""kid":"a",\#(Self.p256)"#
        let whole = try publish(good)
        #expect(whole.keys.map(\.id) == ["a"] && whole.unusableCount == 0 && whole.firstFault == nil)
        let set = try publish(good, key)
        #expect(set.keys.map(\.id) == ["a"] && set.unusableCount == 1)
        #expect(set.firstFault == .secretPublished(index: 1))
        #expect(throws: JWKSetError.secretPublished(index: 0)) { try publish(key) }
    }

    /// A library may write each member that a key does not have as null. A null hides no secret beside it.
    @Test func aMemberThatIsNullIsAbsent() throws {
        let nulls = ["alg", "use", "key_ops", "state", "exp", "revoked", "k"] + JWKReader.privateMembers
        let whole = #""kid":"a",\#(Self.p256),"# + nulls.map { "\"\($0)\":null" }.joined(separator: ",")
        for set in [try set(whole), try publish(whole)] {
            #expect(set.keys.map(\.state) == [.active] && set.keys.map(\.algorithm) == [.es256])
            #expect(set.unusableCount == 0 && set.ignoredCount == 0 && !set.holdsSecrets)
        }
        #expect(try set(#""kid":"c","crv":null,\#(Self.rsa)"#).keys.map(\.algorithm) == [.rs256])
        for key in [#"\#(Self.p256),"k":null,"d":"AA""#, #""kty":"oct","k":null"#] {
            #expect(throws: JWKSetError.secretPublished(index: 0)) { try publish(#""kid":"a",\#(key)"#) }
        }
        #expect(throws: JWKSetError.memberInvalid("k", index: 0)) { try set(#""kid":"a","kty":"oct","k":null"#) }
        #expect(throws: JWKSetError.keyIDMissing(index: 0)) { try set(#""kid":null,\#(Self.p256)"#) }
    }

    /// The other keys of a published set are not to blame for a key that cannot be used.
    @Test(
        arguments: [
            (#""kty":"EC","crv":"P-256","x":"AA","y":"AA""#, JWKSetError.keyIDMissing(index: 1)),
            (#""kid":"b","kty":"EC","crv":"P-256","x":"AA","y":"AA""#, .keyUnusable(index: 1)),
            (#""kid":"b","kty":"EC","crv":"P-256""#, .memberInvalid("x", index: 1)),
            (#""kid":"b",\#(p256),"state":"retired""#, .memberInvalid("state", index: 1)),
            (#""kid":"a",\#(ed25519)"#, .keyIDTwice(index: 1)),
        ] as [(String, JWKSetError)])
    func skipsAKeyThatCannotBeUsedInAPublishedSet(key: String, fault: JWKSetError) throws {
        let (first, last) = (#""kid":"a",\#(Self.p256)"#, #""kid":"c",\#(Self.ed25519)"#)
        let set = try publish(first, key, last)
        #expect(set.keys.map(\.id) == ["a", "c"] && set.keys[0].algorithm == .es256)
        #expect(set.unusableCount == 1 && set.ignoredCount == 0 && set.firstFault == fault)
        guard fault != .keyIDTwice(index: 1) else { return }
        #expect(throws: JWKSetError.self) { try publish(key, #""kid":"x","kty":"AKP""#, #""kty":1"#) }
        #expect(throws: fault) { try self.set(first, key, last) }
    }

    /// A key that is called not revoked ends no session. 0 and an empty text could mean either, so they are faults.
    @Test func aKeyThatIsCalledNotRevokedIsGood() throws {
        let key = #""kid":"a",\#(Self.p256),"revoked":"#
        for value in ["false", "null"] {
            let set = try publish(key + value)
            #expect(set.keys.map(\.state) == [.active] && set.revokedIDs == [], "\(value)")
        }
        for value in ["0", "-0.0", #""""#] {
            let set = try publish(key + value, #""kid":"b",\#(Self.ed25519)"#)
            #expect(set.keys.map(\.id) == ["b"] && set.revokedIDs == [], "\(value)")
            #expect(set.firstFault == .memberInvalid("revoked", index: 0))
            #expect(throws: JWKSetError.memberInvalid("revoked", index: 0)) { try self.set(key + value) }
        }
    }

    @Test func aRevocationCountsAlthoughItsKeyIDIsThereTwice() throws {
        let (good, revoked) = (#""kid":"a",\#(Self.p256)"#, #""kid":"a",\#(Self.p256),"revoked":true"#)
        #expect(try publish(good, revoked).keys.map(\.state) == [.revoked])
        #expect(try publish(revoked, good).keys.map(\.state) == [.revoked])
        #expect(try publish(good).revokedIDs == [] && publish(good, revoked).revokedIDs == ["a"])
        // The key itself may have been removed from its entry.
        for tombstone in [#""kid":"b","revoked":true"#, #""kid":"b","kty":"EC","crv":"P-384","state":"revoked""#] {
            #expect(try publish(good, tombstone).revokedIDs == ["b"])
        }
    }

    /// A published set without keys withdraws all keys. A file without keys is an error.
    @Test func onlyAPublishedSetMayBeEmpty() throws {
        let set = try publish()
        #expect(set.keys.isEmpty && set.unusableCount == 0)
        #expect(throws: JWKSetError.noUsableKey) { try self.set() }
        #expect(throws: JWKSetError.noUsableKey) { try publish(#""kid":"x","kty":"AKP""#) }
    }

    @Test func refusesTooManyKeys() {
        let keys = (0...256).map { "{\"kid\":\"\($0)\",\"kty\":\"AKP\"}" }.joined(separator: ",")
        #expect(throws: JWKSetError.tooManyKeys) { try parse(#"{"keys":[\#(keys)]}"#) }
    }

    /// Every prefix of a file is refused by an error, not by a trap.
    @Test func refusesEveryTruncation() {
        let text = #"{"keys":[{"kid":"d",\#(Self.secret)},{"kid":"a",\#(Self.p256)}]}"#
        for length in 1..<text.utf8.count {
            #expect(throws: JWKSetError.self) { try parse(String(decoding: text.utf8.prefix(length), as: UTF8.self)) }
        }
    }
}
