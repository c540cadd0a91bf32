import ByteCoding
import Testing

@testable import Entitlements

@Suite struct GateTests {
    private static let now = Issuance.now
    private static let keyIDText = "00112233-4455-6677-8899-aabbccddeeff"

    private let issuance: Issuance
    private let movie: RequestedContent

    init() throws {
        issuance = try Issuance()
        movie = RequestedContent(contentID: "movie-42", keyID: try KeyID(parsing: Self.keyIDText))
    }

    private func authorize(_ rights: String, content: RequestedContent? = nil, now: Int64 = now) throws -> Authorization
    {
        try Gate.authorize(claims: try issuance.claims(rights: rights), content: content ?? movie, now: now)
    }

    private func named(_ contentID: String) -> RequestedContent {
        RequestedContent(contentID: contentID, keyID: movie.keyID)
    }

    @Test(arguments: [
        #"{"content":"movie-42"}"#, #"{"kids":["\#(keyIDText)"]}"#, #"{"content_prefix":"movie-"}"#,
        #"{"content_prefix":"movie-42"}"#, #"{"kids":["ffffffffffffffffffffffffffffffff","\#(keyIDText)"]}"#,
    ])
    func everySelectorCoversItsContent(right: String) throws {
        let authorization = try authorize("[\(right)]")
        #expect(authorization.content == movie)
        #expect(authorization.subject == "account-123")
        #expect(authorization.tokenID == "4f1c")
        #expect(authorization.issuer == Issuance.name)
        #expect(authorization.limits.lease == nil)
        #expect(authorization.limits.rental == nil)
        #expect(authorization.limits.hdcp == nil)
    }

    @Test(arguments: [
        "Movie-42", "MOVIE-42", "movie-42 ", " movie-42", "movie-42\0", "movie-4", "movie-421", "movie%2D42",
        "movie-42/", "",
        "movie\u{2010}42",
    ])
    func anythingButTheSameBytesIsOtherContent(contentID: String) throws {
        #expect(throws: EntitlementError.contentNotCovered) {
            try authorize(#"[{"content":"movie-42"}]"#, content: named(contentID))
        }
    }

    /// U+212A, the Kelvin sign, is canonically equivalent to K, and Swift's texts with the two are equal.
    @Test(arguments: [#"{"content":"K"}"#, #"{"content_prefix":"K"}"#])
    func equivalentCharactersAreOtherContent(right: String) throws {
        #expect("\u{212A}" == "K")
        #expect(throws: EntitlementError.contentNotCovered) { try authorize("[\(right)]", content: named("\u{212A}")) }
        #expect(try authorize("[\(right)]", content: named("K")).content.contentID == "K")
    }

    @Test(arguments: ["[]", #"[{"content":"other"}]"#, #"[{"kids":["ffffffffffffffffffffffffffffffff"]}]"#])
    func deniesByDefault(rights: String) {
        #expect(throws: EntitlementError.contentNotCovered) { try authorize(rights) }
    }

    @Test(arguments: [-100, -1])
    func asksToComeBackBeforeTheStart(offset: Int64) {
        #expect(throws: EntitlementError.rightNotStarted(retryAfterSeconds: -offset)) {
            try authorize(#"[{"content":"movie-42","start":\#(Self.now)}]"#, now: Self.now + offset)
        }
    }

    @Test(arguments: [Int64(0), 1])
    func grantsFromTheStartOn(offset: Int64) throws {
        _ = try authorize(#"[{"content":"movie-42","start":\#(Self.now)}]"#, now: Self.now + offset)
    }

    @Test(arguments: [Int64(0), 1, 1_000_000])
    func refusesFromTheEndOn(offset: Int64) {
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(
                #"[{"content":"movie-42","end":\#(Self.now),"lease":60,"duration":60}]"#, now: Self.now + offset)
        }
    }

    @Test func refusesStreamingOfWhatIsForOfflineUse() throws {
        let rights = #"[{"content":"movie-42","mode":"offline"}]"#
        #expect(throws: EntitlementError.streamingNotGranted) { try authorize(rights) }
        for mode in ["stream", "both"] { _ = try authorize(#"[{"content":"movie-42","mode":"\#(mode)"}]"#) }
    }

    /// What a right says besides its content, and the lease and rental that it grants at `now`.
    struct Grant: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lease: UInt32?
        let rental: UInt32?

        init(_ right: String, lease: UInt32?, rental: UInt32?) {
            testDescription = right
            self.lease = lease
            self.rental = rental
        }
    }

    @Test(arguments: [
        Grant(#""hdcp":"none""#, lease: nil, rental: nil),
        Grant(#""lease":300"#, lease: 300, rental: nil),
        Grant(#""duration":7200"#, lease: nil, rental: 7200),
        Grant(#""lease":300,"duration":7200"#, lease: 300, rental: 7200),
        Grant(#""lease":300,"duration":200"#, lease: 200, rental: 200),
        Grant(#""end":1750000100"#, lease: 100, rental: nil),
        Grant(#""end":1750000001"#, lease: 1, rental: nil),
        Grant(#""end":1750000100,"lease":300"#, lease: 100, rental: nil),
        Grant(#""end":1750000100,"lease":30"#, lease: 30, rental: nil),
        Grant(#""end":1750000100,"duration":7200"#, lease: 100, rental: 100),
        Grant(#""end":1750000100,"duration":60"#, lease: 100, rental: 60),
        Grant(#""end":1750000100,"duration":60,"lease":30"#, lease: 30, rental: 60),
        Grant(#""end":1750000100,"duration":60,"lease":90"#, lease: 60, rental: 60),
        Grant(#""lease":4294967294"#, lease: 0xFFFF_FFFE, rental: nil),
        Grant(#""lease":4294967295"#, lease: 0xFFFF_FFFE, rental: nil),
        Grant(#""lease":4294967296,"duration":9223372036854775807"#, lease: 0xFFFF_FFFE, rental: 0xFFFF_FFFE),
        Grant(#""end":253402300799"#, lease: 0xFFFF_FFFE, rental: nil),
    ])
    func grantsTheLeastOfAllLimits(grant: Grant) throws {
        let limits = try authorize("[{\"content\":\"movie-42\",\(grant.testDescription)}]").limits
        #expect(limits.lease == grant.lease)
        #expect(limits.rental == grant.rental)
    }

    @Test(arguments: [("none", Right.HDCP.notRequired), ("type0", .type0), ("type1", .type1)])
    func carriesTheProtectionOfOutputs(name: String, hdcp: Right.HDCP) throws {
        #expect(try authorize(#"[{"content":"movie-42","hdcp":"\#(name)"}]"#).limits.hdcp == hdcp)
    }

    @Test func takesTheFirstRightThatGrantsNow() throws {
        let ended = #"{"content":"movie-42","end":1749999999}"#
        let early = #"{"content":"movie-42","start":1750000010}"#
        let other = #"{"content":"other","lease":1}"#
        let short = #"{"content":"movie-42","lease":60}"#
        let long = #"{"content_prefix":"movie","lease":600}"#
        #expect(try authorize("[\(other),\(ended),\(early),\(short),\(long)]").limits.lease == 60)
        #expect(try authorize("[\(long),\(short)]").limits.lease == 600)
        #expect(throws: EntitlementError.rightEnded) { try authorize("[\(other),\(ended),\(early)]") }
        #expect(throws: EntitlementError.rightNotStarted(retryAfterSeconds: 10)) {
            try authorize("[\(early),\(ended)]")
        }
    }

    @Test func tellsWhetherTheRightsNameAnUnknownAsset() throws {
        let claims = try issuance.claims(
            rights: #"[{"content":"movie-42","end":1},{"kids":["\#(Self.keyIDText)"]},{"content_prefix":"live/"}]"#)
        #expect(Gate.namesAsset(claims, contentID: "movie-42", keyID: nil))
        #expect(Gate.namesAsset(claims, contentID: "live/1", keyID: nil))
        #expect(Gate.namesAsset(claims, contentID: Self.keyIDText, keyID: movie.keyID))
        #expect(Gate.namesAsset(claims, contentID: nil, keyID: movie.keyID))
        #expect(!Gate.namesAsset(claims, contentID: "Movie-42", keyID: nil))
        #expect(
            !Gate.namesAsset(claims, contentID: "vod/1", keyID: try KeyID(parsing: "ffffffffffffffffffffffffffffffff")))
        #expect(!Gate.namesAsset(claims, contentID: nil, keyID: nil))
    }
}
