import KeyCrypto
import Testing

@testable import Entitlements

@Suite struct IssuerSetTests {
    private static func key(_ id: String) throws -> VerificationKey {
        VerificationKey(id: id, es256: try ES256PrivateKey.generate().publicKey)
    }

    private static func issuer(_ name: String = "a", audience: String = "b", keys: [String] = ["k"]) throws -> Issuer {
        Issuer(name: name, audience: audience, keys: try keys.map(key))
    }

    @Test func refusesAKeyIDThatOccursTwice() throws {
        let twice = try Self.issuer(keys: ["k", "l", "k"])
        #expect(throws: IssuerSetError.duplicateKeyID("k")) { try IssuerSet([twice]) }
        let one = try Self.issuer("a", keys: ["k"])
        let other = try Self.issuer("c", keys: ["l", "k"])
        #expect(throws: IssuerSetError.duplicateKeyID("k")) { try IssuerSet([one, other]) }
    }

    @Test func tellsKeyIDsApartByTheirBytes() throws {
        let set = try IssuerSet([try Self.issuer(keys: ["K", "k", "\u{212A}"])])
        #expect(set.entry(forKeyID: "\u{212A}")?.key.id.utf8.count == 3)
        #expect(set.entry(forKeyID: "K")?.key.id.utf8.count == 1)
        #expect(set.entry(forKeyID: "l") == nil)
    }

    @Test func takesKeyIDsOfOneToTwoHundredBytes() throws {
        for size in [1, 200] { _ = try IssuerSet([try Self.issuer(keys: [String(repeating: "k", count: size)])]) }
        for size in [0, 201] {
            let issuer = try Self.issuer(keys: [String(repeating: "k", count: size)])
            #expect(throws: IssuerSetError.keyIDInvalid(String(repeating: "k", count: size))) {
                try IssuerSet([issuer])
            }
        }
    }

    @Test func refusesIssuersThatWouldAcceptNobodyOrAnybody() throws {
        let nameless = try Self.issuer("")
        #expect(throws: IssuerSetError.nameEmpty("")) { try IssuerSet([nameless]) }
        let unaddressed = try Self.issuer("a", audience: "")
        #expect(throws: IssuerSetError.nameEmpty("a")) { try IssuerSet([unaddressed]) }
        for life: Int64 in [0, -1] {
            let issuer = Issuer(name: "a", audience: "b", keys: [], maximumLife: life)
            #expect(throws: IssuerSetError.maximumLifeNotPositive("a")) { try IssuerSet([issuer]) }
        }
    }

    @Test(arguments: [Int64.min, -1, 61, .max])
    func refusesALeewayBeyondAMinute(leeway: Int64) {
        #expect(throws: IssuerSetError.leewayOutOfRange(leeway)) { try IssuerSet([], leeway: leeway) }
    }

    @Test(arguments: [Int64(0), 5, 60])
    func takesALeewayUpToAMinute(leeway: Int64) throws {
        #expect(try IssuerSet([], leeway: leeway).leeway == leeway)
    }

    @Test func wantsSecretsOfThirtyTwoBytes() throws {
        #expect(throws: IssuerSetError.secretTooShort(size: 31)) {
            try VerificationKey(id: "k", hs256: SecretBytes(copying: [UInt8](repeating: 7, count: 31)))
        }
        let key = try VerificationKey(id: "k", hs256: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        #expect(key.algorithm == .hs256)
    }

    @Test func refusesAPublicKeyAsSecret() throws {
        let pem = try ES256PrivateKey.generate().publicKey.publicPEM()
        #expect(throws: IssuerSetError.secretIsAPublicKey) {
            try VerificationKey(id: "k", hs256: SecretBytes(copying: pem))
        }
        #expect(throws: IssuerSetError.secretIsAPublicKey) {
            try TokenMinter(keyID: "k", hs256: SecretBytes(copying: pem))
        }
    }
}
