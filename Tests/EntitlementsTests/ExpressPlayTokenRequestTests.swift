import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@testable import Entitlements

/// The parameters of a token request, one by one.
@Suite struct ExpressPlayTokenRequestTests {
    private static let now: Int64 = 1_800_000_000
    private static let key = "00112233445566778899AABBCCDDEEFF"
    private static let iv = "0f0e0d0c0b0a09080706050403020100"
    private static let kek = "000102030405060708090A0B0C0D0E0F"
    /// The key wrapped under the key-encryption key (RFC 3394, section 4.1).
    private static let ek = "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"
    private static let good = "contentKey=\(key)&iv=\(iv)"

    private func read(
        _ body: String, query: String? = nil, allowsKeysInURL: Bool = false,
        lifeMaximum: Int64 = ExpressPlayTokenRequest.lifeMaximum
    ) throws(ExpressPlayCode) -> ExpressPlayTokenRequest {
        try ExpressPlayTokenRequest(
            reading: ExpressPlayForm(query: query, body: Array(body.utf8)), allowsKeysInURL: allowsKeysInURL,
            now: Self.now, lifeMaximum: lifeMaximum)
    }

    private func contents(_ more: String = "") throws -> SealedTokenContents {
        try read(Self.good + more).contents(tokenID: Bytes16(high: 1, low: 2), issuedAt: Self.now)
    }

    // MARK: Accepted requests

    @Test func takesAKeyInClear() throws {
        let contents = try contents()
        #expect(contents.contentKey?.key.revealed() == hex(Self.key))
        #expect(contents.contentKey?.iv.bytes == hex(Self.iv))
        #expect(contents.issuedAt == Self.now && contents.expiresAt == Self.now + 30 * 86_400)
        #expect(contents.keyID == nil && contents.contentID == nil && contents.rental == nil && contents.cookie == nil)
    }

    @Test func takesAWrappedKey() throws {
        let request = try read("kek=\(Self.kek)&ek=\(Self.ek)&iv=\(Self.iv)")
        let contents = request.contents(tokenID: .zero, issuedAt: Self.now)
        #expect(contents.contentKey?.key.revealed() == hex(Self.key))
    }

    @Test(arguments: ["", "kek=000102030405060708090a0b0c0d0e0f&"])
    func takesTheNameOfAStoredKey(kek: String) throws {
        let keyID = try KeyID(parsing: Self.key)
        #expect(try read(kek + "kid=\(Self.key)").key == .stored(.keyID(keyID), iv: nil))
        #expect(
            try read(kek + "kid=%5Emovie-42&iv=\(Self.iv)").key
                == .stored(.text("movie-42"), iv: Bytes16(hex(Self.iv), at: 0)))
        let longest = String(repeating: "n", count: 64)
        #expect(try read(kek + "kid=^\(longest)").key == .stored(.text(longest), iv: nil))
    }

    /// If the request contains a key, `kid` is the key's id in the ledger.
    @Test func namesAKeyThatTravelsAlong() throws {
        #expect(try contents("&kid=\(Self.iv)").keyID == KeyID(parsing: Self.iv))
        #expect(try contents("&kid=^movie-42").contentID == "movie-42")
    }

    @Test(arguments: [
        ("%2B60", now + 60), ("+60", now + 60), ("+2592000", now + 30 * 86_400), ("2027-01-15T08:00:01Z", now + 1),
        ("2027-02-14T08:00:00Z", now + 30 * 86_400),
    ])
    func takesBothFormsOfAnEnd(text: String, end: Int64) throws {
        #expect(try read(Self.good + "&expirationTime=" + text).expiresAt == end)
    }

    @Test func livesNoLongerThanItsIssuerAllows() throws {
        #expect(try read(Self.good, lifeMaximum: 3600).expiresAt == Self.now + 3600)
        #expect(try read(Self.good + "&expirationTime=%2B3600", lifeMaximum: 3600).expiresAt == Self.now + 3600)
        #expect(throws: ExpressPlayCode.expirationInvalid) {
            try read(Self.good + "&expirationTime=%2B3601", lifeMaximum: 3600)
        }
        #expect(try read(Self.good, lifeMaximum: 366 * 86_400).expiresAt == Self.now + 30 * 86_400)
    }

    @Test func takesTerms() throws {
        let more =
            "&rentalDuration=7200&cookie=order+12%C3%A9&fpExtension=wudo,AAAAAA%3D%3D&fpExtension=wudo,AAAAAA==&generalFlags=0000"
        let contents = try contents(more)
        #expect(contents.rental == 7200 && contents.cookie == "order 12é")
        #expect(
            contents.extensions == .init(repeating: .init(type: Array("wudo".utf8), payload: [0, 0, 0, 0]), count: 2))
        #expect(try self.contents("&rentalDuration=0&cookie=").rental == nil)
        #expect(try self.contents("&cookie=\(String(repeating: "c", count: 32))").cookie?.count == 32)
        #expect(try self.contents("&generalFlags=00000001").contentKey != nil)
    }

    @Test func takesWhatExpressPlayDoesNotHave() throws {
        let device = String(repeating: "0A", count: 20)
        let contents = try contents(
            "&latchkey.lease=300&latchkey.device=\(device)&latchkey.uses=3&latchkey.hdcp=type1")
        #expect(contents.lease == 300 && contents.device == DeviceIdentifier(text: device))
        #expect(contents.usesPerKey == 3 && contents.protection.hdcp == .type1 && !contents.bindsFirstDevice)
        #expect(try self.contents("&latchkey.bind=first").bindsFirstDevice)
        #expect(try !self.contents("&latchkey.bind=none").bindsFirstDevice)
    }

    @Test func namesWhatHasNoEffect() throws {
        let all =
            "&rightsType=Rental&rental.periodEndTime=%2B60&rental.playDuration=3600&analogVideoOPL=0&compressedDigitalAudioOPL=999"
            + "&compressedDigitalVideoOPL=100&uncompressedDigitalAudioOPL=1&uncompressedDigitalVideoOPL=2&prFlag=00000001&useHttps=true"
        #expect(try read(Self.good + all).unused == UnusedParameter.allCases)
        #expect(try read(Self.good + "&rightsType=BuyToOwn").unused == [.rightsType])
        #expect(try read(Self.good + "&rental.periodEndTime=2027-02-14T08:00:00Z").unused == [.rentalEnd])
        #expect(try read(Self.good + "&somethingElse=1").unused == [])
        // All of them fit into a row of the ledger.
        #expect(UnusedParameter.allCases.map(\.shortName).joined(separator: ",").utf8.count <= 54)
    }

    // MARK: Refused requests

    @Test(
        arguments: [
            // Keys.
            ("", .contentKeyInvalid), ("iv=\(iv)", .contentKeyInvalid),
            ("contentKey=&iv=\(iv)", .contentKeySizeWrong), ("contentKey=\(key)00&iv=\(iv)", .contentKeySizeWrong),
            ("contentKey=0011&iv=\(iv)", .contentKeySizeWrong),
            ("contentKey=g0112233445566778899AABBCCDDEEFF&iv=\(iv)", .contentKeyInvalid),
            ("contentkey=\(key)&iv=\(iv)", .contentKeyInvalid),
            ("contentKey=\(iv)&iv=\(iv)", .contentKeyInvalid),
            ("contentKey=\(key)&contentKey=\(key)&iv=\(iv)", .contentKeyInvalid),
            ("contentKey=\(key)&kek=\(kek)&iv=\(iv)", .contentKeyInvalid),
            ("contentKey=\(key)&ek=\(ek)&iv=\(iv)", .contentKeyInvalid),
            ("contentKey=\(key)", .ivInvalid), ("contentKey=\(key)&iv=", .ivInvalid),
            ("contentKey=\(key)&iv=\(iv)00", .ivInvalid), ("contentKey=\(key)&IV=\(iv)", .ivInvalid),
            ("contentKey=\(key)&iv=x\(iv.dropFirst())", .ivInvalid),
            ("contentKey=\(key)&iv=\(iv)&iv=\(iv)", .ivInvalid),
            ("kek=\(kek)&iv=\(iv)", .keyIDMissing), ("ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=\(ek)", .ivInvalid), ("kek=\(kek)&ek=\(ek)&kid=\(key)&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=\(ek.dropLast())&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=\(ek.dropLast(16))&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=\(ek.dropLast(2))00&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=zz\(ek.dropFirst(2))&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)00&ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid), ("kek=&ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=x\(kek.dropFirst())&kid=\(key)", .wrappedKeyInvalid),
            ("kek=\(kek)&kek=\(kek)&ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&ek=\(ek)&ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid),
            ("kid=", .keyIDSizeWrong), ("kid=\(key)0", .keyIDSizeWrong), ("kid=abc", .keyIDSizeWrong),
            ("kid=x\(key.dropFirst())", .keyIDInvalid), ("kid=^", .keyIDInvalid), ("kid=^a%20b", .keyIDInvalid),
            ("kid=^\(String(repeating: "n", count: 65))", .keyNameTooLong), ("kid=^a%C3%A9", .keyIDInvalid),
            ("kid=\(key)&kid=\(key)", .keyIDInvalid), ("kid=\(key)&iv=1", .ivInvalid),
        ] as [(String, ExpressPlayCode)])
    func refusesKeysThatAreNone(body: String, code: ExpressPlayCode) {
        #expect(throws: code) { try read(body) }
    }

    /// One code has several causes, and the log names the one that holds.
    @Test(arguments: [
        ("contentKey=\(iv)&iv=\(iv)", "contentKey and iv are equal"), ("iv=\(iv)", "there is no contentKey"),
        ("contentkey=\(key)&iv=\(iv)", "there is no contentKey"),
        ("contentKey=\(key)&contentKey=\(key)&iv=\(iv)", "given twice"),
        ("contentKey=\(key)&kek=\(kek)&iv=\(iv)", "beside kek or ek"),
        ("contentKey=g0112233445566778899AABBCCDDEEFF&iv=\(iv)", "hexadecimal digits"),
    ])
    func namesTheOneCauseOfAContentKey(body: String, words: String) throws {
        #expect(throws: ExpressPlayCode.contentKeyInvalid) { try read(body) }
        let cause = try #require(form(body).cause(of: .contentKeyInvalid, allowsKeysInURL: false))
        #expect(cause.contains(words), "\(cause)")
        for secret in [Self.key, Self.iv] { #expect(!cause.lowercased().contains(secret.lowercased())) }
        #expect(form(body).cause(of: .ivInvalid, allowsKeysInURL: false) == nil)
    }

    @Test func namesAContentKeyInAURL() throws {
        let form = ExpressPlayForm(query: Self.good, body: [])
        let cause = form.cause(of: .contentKeyInvalid, allowsKeysInURL: false)
        #expect(cause == "contentKey is in the URL, where keys must not be")
        #expect(throws: ExpressPlayCode.contentKeyInvalid) { try read("", query: Self.good) }
    }

    @Test(
        arguments: [
            ("generalFlags=", .generalFlagsInvalid), ("generalFlags=000", .generalFlagsInvalid),
            ("generalFlags=000000", .generalFlagsInvalid), ("generalFlags=000g", .generalFlagsInvalid),
            ("generalFlags=0000&generalFlags=0000", .generalFlagsInvalid),
            ("rentalDuration=", .rentalDurationInvalid), ("rentalDuration=-1", .rentalDurationInvalid),
            ("rentalDuration=1.5", .rentalDurationInvalid), ("rentalDuration=4294967295", .rentalDurationInvalid),
            ("rentalDuration=99999999999999999999", .rentalDurationInvalid),
            ("rentalDuration=1&rentalDuration=1", .rentalDurationInvalid),
            ("fpExtension=", .extensionInvalid), ("fpExtension=wudo", .extensionInvalid),
            ("fpExtension=wud,AAAAAA==", .extensionTypeSizeWrong),
            ("fpExtension=wudos,AAAAAA==", .extensionTypeSizeWrong),
            ("fpExtension=wudo,AAAAAA", .extensionPayloadInvalid), ("fpExtension=wudo,????", .extensionPayloadInvalid),
            ("fpExtension=wudo,", .extensionInvalid), ("fpExtension=wudo,AAAAAQ==", .extensionInvalid),
            ("fpExtension=abcd,AAAAAA==", .extensionInvalid),
            ("fpExtension=wudo," + String(repeating: "AAAA", count: 22), .extensionInvalid),
            (String(repeating: "fpExtension=wudo,AAAAAA==&", count: 9), .extensionInvalid),
            ("expirationTime=", .expirationInvalid), ("expirationTime=60", .expirationInvalid),
            ("expirationTime=%2B0", .expirationInvalid), ("expirationTime=%2B-1", .expirationInvalid),
            ("expirationTime=%2B2592001", .expirationInvalid), ("expirationTime=%2B99999999999", .expirationInvalid),
            ("expirationTime=2027-01-15T08:00:00Z", .expirationInvalid),
            ("expirationTime=2027-02-14T08:00:01Z", .expirationInvalid),
            ("expirationTime=2027-01-20T09:00:00%2B01:00", .expirationInvalid),
            ("expirationTime=2027-13-20T09:00:00Z", .expirationInvalid),
            ("expirationTime=%2B60&expirationTime=%2B60", .expirationInvalid),
            ("cookie=\(String(repeating: "c", count: 33))", .cookieInvalid), ("cookie=%FF", .cookieInvalid),
            ("cookie=a%0Ab", .cookieInvalid), ("cookie=a&cookie=a", .cookieInvalid),
            ("rightsType=", .rightsMissing), ("rightsType=rental", .rightsTypeInvalid),
            ("rightsType=BuyToOwn&rightsType=BuyToOwn", .rightsTypeInvalid),
            ("rightsType=Rental", .rentalEndMissing), ("rental.periodEndTime=", .rentalEndMissing),
            ("rightsType=Rental&rental.periodEndTime=tomorrow", .rentalEndMissing),
            ("rental.playDuration=", .playDurationMissing), ("rental.playDuration=x", .playDurationInvalid),
            ("analogVideoOPL=1000", .outputControlOutOfRange), ("compressedDigitalAudioOPL=", .outputControlOutOfRange),
            ("compressedDigitalVideoOPL=-1", .outputControlOutOfRange),
            ("uncompressedDigitalAudioOPL=a", .outputControlOutOfRange),
            ("uncompressedDigitalVideoOPL=1&uncompressedDigitalVideoOPL=1", .outputControlOutOfRange),
            ("prFlag=0000", .outputFlagSizeWrong), ("prFlag=0000000g", .outputFlagSizeWrong),
            ("useHttps=maybe", .valueUnknown),
            ("latchkey.lease=0", .rentalDurationInvalid), ("latchkey.lease=", .rentalDurationInvalid),
            ("latchkey.bind=second", .deviceBindingInvalid), ("latchkey.device=00", .deviceBindingInvalid),
            ("latchkey.device=\(String(repeating: "0A", count: 20))&latchkey.bind=first", .deviceBindingInvalid),
            ("latchkey.uses=0", .valueUnknown), ("latchkey.uses=4294967296", .valueUnknown),
            ("latchkey.hdcp=type2", .outputFlagsInvalid),
        ] as [(String, ExpressPlayCode)])
    func refusesTermsThatAreNone(more: String, code: ExpressPlayCode) {
        #expect(throws: code) { try read(Self.good + "&" + more) }
    }

    // MARK: Keys in URLs

    @Test(
        arguments: [
            ("contentKey=\(key)&iv=\(iv)", .contentKeyInvalid), ("kek=\(kek)&ek=\(ek)&iv=\(iv)", .wrappedKeyInvalid),
            ("kek=\(kek)&kid=\(key)", .wrappedKeyInvalid),
        ] as [(String, ExpressPlayCode)])
    func takesKeysInURLsOnlyWhereThatIsAllowed(query: String, code: ExpressPlayCode) throws {
        #expect(throws: code) { try read("", query: query) }
        _ = try read("", query: query, allowsKeysInURL: true)
        #expect(throws: code) { try read(query, query: query) }
    }

    @Test func takesNamesOfKeysInURLs() throws {
        #expect(try read("", query: "kid=^movie-42").key == .stored(.text("movie-42"), iv: nil))
        #expect(try read("contentKey=\(Self.key)", query: "iv=\(Self.iv)").expiresAt > Self.now)
    }

    // MARK: Authenticators

    private func form(_ body: String) -> ExpressPlayForm { ExpressPlayForm(query: nil, body: Array(body.utf8)) }

    @Test func findsTheAuthenticator() throws {
        #expect(try form("customerAuthenticator=201722%2C1ad8").readAuthenticator() == Array("201722,1ad8".utf8))
        for none in ["", "customerAuthenticator=", "customerauthenticator=1", "customerAuthenticator"] {
            #expect(throws: ExpressPlayCode.authenticatorMissing) { try form(none).readAuthenticator() }
        }
        #expect(throws: ExpressPlayCode.authenticatorInvalid) {
            try form("customerAuthenticator=1&customerAuthenticator=1").readAuthenticator()
        }
    }

    @Test func findsTheFormatOfErrors() throws {
        #expect(form("").errorFormat == .html && form("errorFormat=html").errorFormat == .html)
        #expect(try form("errorFormat=json").readErrorFormat() == .json)
        for bad in ["errorFormat=", "errorFormat=JSON", "errorFormat=xml", "errorFormat=json&errorFormat=json"] {
            #expect(form(bad).errorFormat == .html)
            #expect(throws: ExpressPlayCode.errorFormatInvalid) { try form(bad).readErrorFormat() }
        }
    }

    /// A stranger may send a form, so it is not read if it has very many parameters.
    @Test func readsNoMoreParametersThanAQueryMayHave() {
        let good = String(repeating: "a&", count: 63) + "errorFormat=json"
        #expect(!form(good).hasTooManyParameters && form(good).errorFormat == .json)
        let bad = String(repeating: "a&", count: 64) + "errorFormat=json"
        #expect(form(bad).hasTooManyParameters && form(bad).errorFormat == .html)
        #expect(ExpressPlayForm(query: bad, body: []).hasTooManyParameters)
    }

    /// Any bytes give a request or a code, but never a trap.
    @Test func neverTrapsOnAnyForm() {
        var generator = SeededGenerator.announced("neverTrapsOnAnyForm")
        let names = ExpressPlayForm.Name.allCases.map(\.rawValue) + UnusedParameter.allCases.map(\.rawValue)
        let values = [Self.key, Self.iv, Self.kek, Self.ek, "^", "+1", "wudo,AAAA", "Rental", "%", "%0", "0", ","]
        var readable = 0
        for _ in 0..<3000 {
            // Without a valid beginning, hardly any form could be read.
            var body = Bool.random(using: &generator) ? Array("\(Self.good)&".utf8) : []
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                body += Array((names.randomElement(using: &generator) ?? "").utf8) + [UInt8(ascii: "=")]
                body += Array((values.randomElement(using: &generator) ?? "").utf8)
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    body.append(UInt8.random(in: 0...255, using: &generator))
                }
                body.append(UInt8(ascii: "&"))
            }
            let form = ExpressPlayForm(query: nil, body: body)
            let request = try? ExpressPlayTokenRequest(reading: form, allowsKeysInURL: false, now: Self.now)
            if let request {
                readable += request.contents(tokenID: .zero, issuedAt: Self.now).expiresAt > Self.now ? 1 : 0
            }
        }
        #expect(readable > 100)
    }
}
