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
        movie = RequestedContent(
            contentID: "movie-42", keyID: try KeyID(parsing: Self.keyIDText), trackLabels: ["HD"])
    }

    private func authorize(
        _ rights: String, content: RequestedContent? = nil, for use: LicenseUse = .streaming, now: Int64 = now
    ) throws -> Authorization {
        try Gate.authorize(
            claims: try issuance.claims(rights: rights), content: content ?? movie, for: use, now: now)
    }

    private func streaming(_ rights: String) throws -> StreamingLimits {
        switch try authorize(rights).limits {
        case .streaming(let limits): return limits
        case .offline: throw UnexpectedLimits()
        }
    }

    private func offline(_ rights: String) throws -> OfflineLimits {
        switch try authorize(rights, for: .offline).limits {
        case .offline(let limits): return limits
        case .streaming: throw UnexpectedLimits()
        }
    }

    private struct UnexpectedLimits: Error {}

    private func named(_ contentID: String) -> RequestedContent {
        RequestedContent(contentID: contentID, keyID: movie.keyID, trackLabels: [])
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
        #expect(try streaming("[\(right)]").lease == nil)
        #expect(try streaming("[\(right)]").rental == nil)
        #expect(authorization.protection == Protection())
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

    /// U+212A, the Kelvin sign, is canonically equivalent to K, so Swift's strings with either are equal. They name
    /// different contents.
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
        for mode in ["stream", "both"] { _ = try streaming(#"[{"content":"movie-42","mode":"\#(mode)"}]"#) }
    }

    /// The members of a right besides its content, and the lease and rental that the right grants at `now`.
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
        let limits = try streaming("[{\"content\":\"movie-42\",\(grant.testDescription)}]")
        #expect(limits.lease == grant.lease)
        #expect(limits.rental == grant.rental)
    }

    @Test func takesTheFirstRightThatGrantsNow() throws {
        let ended = #"{"content":"movie-42","end":1749999999}"#
        let early = #"{"content":"movie-42","start":1750000010}"#
        let other = #"{"content":"other","lease":1}"#
        let short = #"{"content":"movie-42","lease":60}"#
        let long = #"{"content_prefix":"movie","lease":600}"#
        #expect(try streaming("[\(other),\(ended),\(early),\(short),\(long)]").lease == 60)
        #expect(try streaming("[\(long),\(short)]").lease == 600)
        #expect(throws: EntitlementError.rightEnded) { try authorize("[\(other),\(ended),\(early)]") }
        #expect(throws: EntitlementError.rightNotStarted(retryAfterSeconds: 10)) {
            try authorize("[\(early),\(ended)]")
        }
    }

    // MARK: Offline use

    @Test(arguments: [#""lease":60"#, #""storage":60,"playback":60"#, #""mode":"stream""#, #""hdcp":"none""#])
    func refusesOfflineUseOfWhatIsForStreaming(right: String) {
        #expect(throws: EntitlementError.offlineNotGranted) {
            try offline("[{\"content\":\"movie-42\",\(right)}]")
        }
    }

    @Test(arguments: ["offline", "both"])
    func refusesOfflineUseUnderALease(mode: String) {
        #expect(throws: EntitlementError.offlineOutlivesLease) {
            try offline(#"[{"content":"movie-42","mode":"\#(mode)","lease":4294967295,"storage":1}]"#)
        }
    }

    /// A mode that allows offline use, the other members of a right, and the terms that the right grants at `now`.
    struct OfflineGrant: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let limits: OfflineLimits

        init(_ right: String, _ limits: OfflineLimits) {
            testDescription = right
            self.limits = limits
        }

        init(_ right: String, storage: UInt32?, playback: UInt32?) {
            self.init(right, .aroundFirstPlay(storage: storage, playback: playback))
        }
    }

    @Test(
        arguments: [
            OfflineGrant(#""mode":"offline""#, .unlimited),
            OfflineGrant(#""mode":"both","hdcp":"type1","start":1750000000"#, .unlimited),
            // Storage limits the time until the first play, a duration the whole time.
            OfflineGrant(#""mode":"both","storage":604800"#, storage: 604_800, playback: nil),
            OfflineGrant(#""mode":"both","duration":7200"#, .hardEnd(7200)),
            OfflineGrant(#""mode":"both","storage":604800,"duration":7200"#, .hardEnd(7200)),
            OfflineGrant(#""mode":"both","storage":600,"duration":7200"#, storage: 600, playback: 6600),
            OfflineGrant(#""mode":"both","end":1750000100"#, .hardEnd(100)),
            OfflineGrant(#""mode":"both","end":1750000001"#, .hardEnd(1)),
            OfflineGrant(#""mode":"both","end":1750000100,"storage":101"#, .hardEnd(100)),
            OfflineGrant(#""mode":"both","end":1750000100,"storage":100"#, .hardEnd(100)),
            // The time between storage and the end is left for playback.
            OfflineGrant(#""mode":"both","end":1750000100,"storage":99"#, storage: 99, playback: 1),
            OfflineGrant(#""mode":"both","end":1750000100,"duration":40"#, .hardEnd(40)),
            OfflineGrant(#""mode":"both","storage":4294967295"#, storage: 0xFFFF_FFFE, playback: nil),
            // With playback and without an end, both are as given.
            OfflineGrant(#""mode":"both","playback":172800"#, storage: nil, playback: 172_800),
            OfflineGrant(#""mode":"both","playback":172800,"storage":604800"#, storage: 604_800, playback: 172_800),
            OfflineGrant(#""mode":"both","playback":300,"storage":200,"duration":100"#, .hardEnd(100)),
            OfflineGrant(#""mode":"both","playback":300,"duration":400"#, .hardEnd(300)),
            OfflineGrant(
                #""mode":"both","playback":9223372036854775807,"storage":9223372036854775807"#, storage: 0xFFFF_FFFE,
                playback: 0xFFFF_FFFE),
            // With an end, both together must fit into the remaining time. They are as given if they fit, otherwise
            // storage is shortened.
            OfflineGrant(#""mode":"both","end":1750000100,"playback":30,"storage":70"#, storage: 70, playback: 30),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":30,"storage":71"#, storage: 70, playback: 30),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":30"#, storage: 70, playback: 30),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":50"#, storage: 50, playback: 50),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":90,"storage":10"#, storage: 10, playback: 90),
            // If too little storage would be left, the license has a hard end that keeps every limit.
            OfflineGrant(#""mode":"both","end":1750000100,"playback":51"#, .hardEnd(51)),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":99"#, .hardEnd(99)),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":100"#, .hardEnd(100)),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":101"#, .hardEnd(100)),
            OfflineGrant(
                #""mode":"both","end":1750000100,"playback":9223372036854775807"#, .hardEnd(100)),
            OfflineGrant(#""mode":"both","end":1750000100,"playback":95,"storage":10"#, .hardEnd(10)),
            OfflineGrant(#""mode":"both","end":1750000001,"playback":1"#, .hardEnd(1)),
            OfflineGrant(#""mode":"both","end":1750000002,"playback":1"#, storage: 1, playback: 1),
        ])
    func grantsOfflineUseWithinAllLimits(grant: OfflineGrant) throws {
        #expect(try offline("[{\"content\":\"movie-42\",\(grant.testDescription)}]") == grant.limits)
    }

    @Test func offlineUseKeepsTheTimesOfTheRight() {
        let rights = #"[{"content":"movie-42","mode":"offline","start":1750000000,"end":1750000100,"playback":5}]"#
        #expect(throws: EntitlementError.rightNotStarted(retryAfterSeconds: 1)) {
            try authorize(rights, for: .offline, now: Self.now - 1)
        }
        #expect(throws: EntitlementError.rightEnded) { try authorize(rights, for: .offline, now: Self.now + 100) }
    }

    @Test func takesTheFirstRightThatGrantsTheUse() throws {
        let stream = #"{"content":"movie-42","lease":60}"#
        let leased = #"{"content":"movie-42","mode":"both","lease":70}"#
        let kept = #"{"content":"movie-42","mode":"offline","storage":80}"#
        let both = #"{"content":"movie-42","mode":"both","duration":90}"#
        let rights = "[\(stream),\(leased),\(kept),\(both)]"
        #expect(try streaming(rights).lease == 60)
        #expect(try offline(rights) == .aroundFirstPlay(storage: 80, playback: nil))
        #expect(try streaming("[\(kept),\(both),\(stream)]").rental == 90)
        #expect(try offline("[\(stream),\(both),\(kept)]") == .hardEnd(90))
        #expect(throws: EntitlementError.offlineNotGranted) { try offline("[\(stream),\(leased)]") }
        #expect(throws: EntitlementError.offlineOutlivesLease) { try offline("[\(leased),\(stream)]") }
        #expect(throws: EntitlementError.streamingNotGranted) { try streaming("[\(kept)]") }
        #expect(throws: EntitlementError.contentNotCovered) { try offline(#"[{"content":"other","mode":"both"}]"#) }
    }

    /// A right that grants the use at another time says more than a right that never grants it.
    @Test func refusesAsTheRightThatGrantsTheUseAtAnotherTime() throws {
        let stream = #"{"content":"movie-42","lease":60}"#
        let ended = #"{"content":"movie-42","mode":"offline","end":1749999999}"#
        let early = #"{"content":"movie-42","mode":"offline","start":1750000010}"#
        let endedStream = #"{"content":"movie-42","end":1749999000}"#
        for rights in ["[\(stream),\(ended)]", "[\(ended),\(stream)]", "[\(endedStream),\(ended),\(early)]"] {
            #expect(throws: EntitlementError.rightEnded, "\(rights)") { try offline(rights) }
        }
        #expect(throws: EntitlementError.rightNotStarted(retryAfterSeconds: 10)) {
            try offline("[\(stream),\(early),\(ended)]")
        }
        #expect(throws: EntitlementError.rightEnded) { try streaming("[\(ended),\(endedStream)]") }
        // A right for another content, and one that never grants the use, do not count.
        let other = #"{"content":"other","mode":"offline","end":1749999999}"#
        #expect(throws: EntitlementError.offlineNotGranted) { try offline("[\(stream),\(other),\(endedStream)]") }
    }

    /// The values are those of the right that was judged, also if an earlier right has ended too.
    @Test func namesTheEndOfTheRightThatGrantsTheUse() throws {
        let rights =
            #"[{"content":"movie-42","end":1749999000},{"content":"movie-42","mode":"offline","end":1749999999}]"#
        let request = GateRequest(
            claims: try issuance.claims(rights: rights), content: movie, use: .offline, now: Self.now)
        let values = Gate.values(of: .rightEnded, request, address: nil)
        #expect(values.expected == "before \(ExplainedText.time(1_749_999_999))")
    }

    // MARK: Protection

    @Test(arguments: [("none", Right.HDCP.notRequired), ("type0", .type0), ("type1", .type1)])
    func carriesTheProtectionOfOutputs(name: String, hdcp: Right.HDCP) throws {
        #expect(try authorize(#"[{"content":"movie-42","hdcp":"\#(name)"}]"#).protection == Protection(hdcp: hdcp))
    }

    @Test(arguments: [("audio", Right.SecurityLevel.audio), ("baseline", .baseline), ("main", .main)])
    func carriesTheSecurityLevel(name: String, level: Right.SecurityLevel) throws {
        for use in LicenseUse.allCases {
            let rights = #"[{"content":"movie-42","mode":"both","min_level":"\#(name)"}]"#
            #expect(try authorize(rights, for: use).protection == Protection(securityLevel: level))
        }
    }

    /// The demand of the right, the demand of the track, and both combined.
    @Test(
        arguments: [
            ("", #""hdcp":"type1""#, Protection(hdcp: .type1)),
            (#""hdcp":"type1""#, "", Protection(hdcp: .type1)),
            (#""hdcp":"type1""#, #""hdcp":"none""#, Protection(hdcp: .type1)),
            (#""hdcp":"none""#, #""hdcp":"type0""#, Protection(hdcp: .type0)),
            (
                #""hdcp":"type0""#, #""hdcp":"none","min_level":"audio""#,
                Protection(hdcp: .type0, securityLevel: .audio)
            ),
            (#""min_level":"main""#, #""min_level":"baseline""#, Protection(securityLevel: .main)),
            (#""min_level":"audio""#, #""min_level":"baseline""#, Protection(securityLevel: .baseline)),
            (
                #""hdcp":"type0","min_level":"main""#, #""hdcp":"type1","min_level":"audio""#,
                Protection(hdcp: .type1, securityLevel: .main)
            ),
        ] as [(String, String, Protection)])
    func theStricterOfRightAndTrackHolds(right: String, track: String, protection: Protection) throws {
        let members = right.isEmpty ? "" : right + ","
        let rights = "[{\"content\":\"movie-42\",\(members)\"tracks\":{\"HD\":{\(track)},\"SD\":{}}}]"
        #expect(try authorize(rights).protection == protection)
    }

    @Test(arguments: [
        (["SD"], Protection()), (["HD"], Protection(hdcp: .type0)), (["hd"], Protection()), ([], Protection()),
        (["UHD"], Protection(hdcp: .type1, securityLevel: .main)), (["H", "D", "HDR", "HD "], Protection()),
        (["cinema", "UHD"], Protection(hdcp: .type1, securityLevel: .main)),
        (["cinema", "HD"], Protection(hdcp: .type0, securityLevel: .baseline)),
        (["cinema"], Protection(hdcp: .notRequired, securityLevel: .baseline)),
    ])
    func aTrackIsFoundByTheLabelsOfTheKey(labels: [String], protection: Protection) throws {
        let tracks =
            #"{"HD":{"hdcp":"type0"},"UHD":{"hdcp":"type1","min_level":"main"},"#
            + #""cinema":{"hdcp":"none","min_level":"baseline"}}"#
        let content = RequestedContent(contentID: "movie-42", keyID: movie.keyID, trackLabels: labels)
        let authorization = try authorize(#"[{"content":"movie-42","tracks":\#(tracks)}]"#, content: content)
        #expect(authorization.protection == protection)
        #expect(authorization.content.trackLabels == labels)
    }

    @Test func onlyTheRightThatGrantsProtects() throws {
        let ended = #"{"content":"movie-42","end":1,"hdcp":"type1"}"#
        let granting = #"{"content":"movie-42","hdcp":"type0"}"#
        let unused = #"{"content":"movie-42","min_level":"main"}"#
        #expect(try authorize("[\(ended),\(granting),\(unused)]").protection == Protection(hdcp: .type0))
    }

    // MARK: Sync requests

    @Test(arguments: [
        #"{"content":"movie-42","mode":"offline"}"#, #"{"kids":["\#(keyIDText)"],"mode":"both"}"#,
        #"{"content_prefix":"movie","mode":"both","end":1}"#,
        #"{"content":"movie-42","mode":"both","start":4000000000}"#,
        #"{"content":"movie-42"}"#,
    ])
    func permitsASyncRequestAboutWhatARightCovers(rights: String) throws {
        let permission = try Gate.permitSync(claims: try issuance.claims(rights: "[\(rights)]"), content: movie)
        #expect(permission.content == movie)
        #expect(permission.subject == "account-123")
        #expect(permission.tokenID == "4f1c")
        #expect(permission.issuer == Issuance.name)
    }

    @Test func refusesOtherSyncRequests() throws {
        let other = try issuance.claims(rights: #"[{"content":"other","mode":"both"}]"#)
        #expect(throws: EntitlementError.contentNotCovered) { try Gate.permitSync(claims: other, content: movie) }
    }

    // MARK: Unknown assets

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
