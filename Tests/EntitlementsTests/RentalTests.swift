import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

/// Rentals that the server remembers.
@Suite struct RentalTests {
    private static let now = Issuance.now
    private static let day: Int64 = 86_400
    private static let hour: Int64 = 3600

    private let issuance: Issuance
    private let content: RequestedContent

    init() throws {
        issuance = try Issuance()
        content = RequestedContent(
            contentID: "movie-42", keyID: try KeyID(parsing: "00112233445566778899aabbccddeeff"), trackLabels: [])
    }

    /// Authorizes a right with a rental, given as JSON members, with what the server remembers.
    private func authorize(
        _ rental: String = #"{"start":"30d","play":"48h","finish":true}"#, more: String = #","lease":300"#,
        opened: Int64? = nil, firstPlay: Int64? = nil, isPlayed: Bool = false, isRunning: Bool = false,
        use: LicenseUse = .streaming, policy: EntitlementPolicy = EntitlementPolicy(), now: Int64 = now
    ) throws -> Authorization {
        let claims = try issuance.claims(rights: #"[{"content":"movie-42","rental":\#(rental)\#(more)}]"#)
        var request = GateRequest(claims: claims, content: content, use: use, now: now)
        request.rental = RentalStanding(
            memory: opened.map { RentalStanding.Memory(openedAt: $0, firstPlay: firstPlay) }, isPlayed: isPlayed,
            isRunning: isRunning)
        request.policy = policy
        return try Gate.authorize(request)
    }

    private func streaming(_ authorization: Authorization) throws -> StreamingLimits {
        guard case .streaming(let limits) = authorization.limits else { throw EntitlementError.streamingNotGranted }
        return limits
    }

    /// The other right of the token never grants offline use, so the end of the rental says more.
    @Test func saysThatTheRentalHasEndedBesideARightForStreaming() throws {
        let rental = #"{"content":"movie-42","mode":"offline","rental":{"start":"30d","play":"48h"}}"#
        let claims = try issuance.claims(rights: #"[{"content":"movie-42","lease":300},\#(rental)]"#)
        var request = GateRequest(claims: claims, content: content, use: .offline, now: Self.now)
        let opened = Self.now - 40 * Self.day
        request.rental = RentalStanding(
            memory: RentalStanding.Memory(openedAt: opened, firstPlay: opened), isPlayed: true, isRunning: false)
        #expect(throws: EntitlementError.rightEnded) { try Gate.authorize(request) }
        #expect(Gate.values(of: .rightEnded, request, address: nil).found?.hasPrefix(RentalStanding.firstWords) == true)
        let streaming = try Gate.authorize(claims: claims, content: content, for: .streaming, now: Self.now)
        #expect(streaming.right == claims.rights[0])
    }

    // MARK: Claims

    @Test(arguments: [
        #"{"start":"30d","play":"48h","finish":true}"#, #"{"start":2592000,"play":172800,"finish":true}"#,
        #"{"start":"720h","play":"2880m","finish":true}"#, #"{"start":"2592000s","play":"2d","finish":true}"#,
    ])
    func readsDurationsAsTextsAndAsSeconds(rental: String) throws {
        let claims = try issuance.claims(rights: #"[{"content":"movie-42","rental":\#(rental)}]"#)
        #expect(claims.rights[0].rental == RentalTerms(start: 30 * Self.day, play: 2 * Self.day, finish: true))
        #expect(claims.remembersRental)
    }

    @Test(arguments: [
        #"{"start":"30d"}"#, #"{"play":"48h"}"#, #"{}"#, #"{"start":"0d","play":"48h"}"#,
        #"{"start":"030d","play":"48h"}"#,
        #"{"start":"30","play":"48h"}"#, #"{"start":"30w","play":"48h"}"#, #"{"start":"-1d","play":"48h"}"#,
        #"{"start":0,"play":"48h"}"#, #"{"start":1.5,"play":"48h"}"#, #"{"start":"4294967295s","play":"48h"}"#,
        #"{"start":"99999999999d","play":"48h"}"#, #"{"start":"30d","play":"48h","finish":"true"}"#,
        #"{"start":"30d","play":"48h","resume":true}"#, #""30d""#, "null", "2592000",
    ])
    func refusesWhatIsNoRental(rental: String) throws {
        let error = try #require(throws: EntitlementError.self) {
            try issuance.claims(rights: #"[{"content":"movie-42","rental":\#(rental)}]"#)
        }
        #expect(error.code == "token_schema")
    }

    @Test func refusesARentalWithADurationAndOneWithoutASubject() throws {
        let rental = #""rental":{"start":"30d","play":"48h"}"#
        #expect(throws: EntitlementError.claimInvalid("rights[0].rental")) {
            try issuance.claims(rights: #"[{"content":"movie-42","duration":60,\#(rental)}]"#)
        }
        #expect(throws: EntitlementError.claimInvalid("sub")) {
            try issuance.verify(
                try issuance.token(changing: ["sub": nil, "rights": #"[{"content":"movie-42",\#(rental)}]"#]))
        }
    }

    @Test func writesARentalSoThatItReadsTheSameAgain() throws {
        let right = Right(.content("movie-42"))
        for finish in [false, true] {
            var written = right
            written.rental = RentalTerms(start: 60, play: 30, finish: finish)
            let text = String(
                decoding: JSONWriter.object { writer in
                    writer.name("right")
                    written.write(to: &writer)
                }, as: UTF8.self)
            let claims = try issuance.claims(rights: "[\(text.dropFirst(9).dropLast())]")
            #expect(claims.rights == [written])
        }
    }

    // MARK: Limits

    @Test func theFirstLicenseOpensTheRental() throws {
        let ready = try authorize()
        #expect(try streaming(ready).rental == UInt32(30 * Self.day) && streaming(ready).lease == 300)
        let step = try #require(ready.obligations.rental)
        #expect(step.known == nil && step.memory == RentalStanding.Memory(openedAt: Self.now, firstPlay: nil))
        #expect(step.keptUntil == Self.now + 32 * Self.day)
        let played = try authorize(isPlayed: true)
        #expect(played.obligations.rental?.memory.firstPlay == Self.now)
        #expect(try streaming(played).rental == UInt32(2 * Self.day))
    }

    private static let cut = #"{"start":"30d","play":"48h"}"#

    /// A device that need not renew does not report its play. So its first license is the first play, and all licenses
    /// end with `play`. A lease that is not shorter than `play` brings no report in time either.
    @Test(arguments: ["", #","lease":172800"#, #","lease":604800"#])
    func theFirstLicenseThatNeedsNoRenewalIsAPlay(more: String) throws {
        let first = try authorize(Self.cut, more: more)
        #expect(first.obligations.rental?.memory == RentalStanding.Memory(openedAt: Self.now, firstPlay: Self.now))
        #expect(first.rentalEnd == Self.now + 2 * Self.day)
        #expect(try streaming(first).lease == UInt32(2 * Self.day))
        let second = try authorize(Self.cut, more: more, opened: Self.now - Self.day, firstPlay: Self.now - Self.day)
        #expect(try streaming(second).lease == UInt32(Self.day) && streaming(second).rental == UInt32(Self.day))
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(Self.cut, more: more, opened: Self.now - 2 * Self.day, firstPlay: Self.now - 2 * Self.day)
        }
    }

    /// FairPlay's rental lets a playback finish, so no lease is needed.
    @Test func withFinishALicenseWithoutALeaseLimitsWhenPlaybackMayBegin() throws {
        let first = try authorize(more: "")
        #expect(first.obligations.rental?.memory.firstPlay == Self.now)
        #expect(try streaming(first).rental == UInt32(2 * Self.day) && streaming(first).lease == nil)
    }

    /// The rental may have been opened by a license with a lease, which was never reported as played.
    @Test func aLicenseWithoutALeaseStartsAnOpenedRental() throws {
        let opened = Self.now - Self.day
        let first = try authorize(Self.cut, more: "", opened: opened)
        #expect(first.obligations.rental?.memory == RentalStanding.Memory(openedAt: opened, firstPlay: Self.now))
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(Self.cut, more: "", opened: Self.now - 30 * Self.day)
        }
    }

    @Test func theLeaseOfAProfileAndOfTheFloorWaitsForAPlayToo() throws {
        let rule = PolicyRule(lease: 300)
        let floored = try authorize(Self.cut, more: "", policy: EntitlementPolicy(common: rule))
        #expect(floored.obligations.rental?.memory.firstPlay == nil)
        #expect(try streaming(floored).lease == 300 && streaming(floored).rental == UInt32(30 * Self.day))
        let profiled = try authorize(
            Self.cut, more: #","profile":"HD""#, policy: EntitlementPolicy(profiles: ["HD": rule]))
        #expect(profiled.obligations.rental?.memory.firstPlay == nil)
    }

    @Test func laterLicensesGetWhatRemains() throws {
        let opened = Self.now - 10 * Self.day
        #expect(try streaming(authorize(opened: opened)).rental == UInt32(20 * Self.day))
        let played = try authorize(opened: opened, firstPlay: Self.now - 47 * Self.hour)
        #expect(try streaming(played).rental == UInt32(Self.hour) && streaming(played).lease == 300)
        #expect(
            played.obligations.rental?.memory.firstPlay == Self.now - 47 * Self.hour, "the first play stays the first")
        let last = try authorize(opened: opened, firstPlay: Self.now - 48 * Self.hour + 1)
        #expect(try streaming(last).rental == 1)
        let cut = try authorize(
            #"{"start":"30d","play":"48h"}"#, opened: opened, firstPlay: Self.now - 48 * Self.hour + 100)
        #expect(try streaming(cut).lease == 100)
    }

    @Test func nothingIsLeftAtTheEnd() throws {
        let opened = Self.now - 30 * Self.day
        #expect(throws: EntitlementError.rightEnded) { try authorize(opened: opened) }
        #expect(throws: EntitlementError.rightEnded) { try authorize(opened: opened, isPlayed: true) }
        for finish in ["true", "false"] {
            #expect(throws: EntitlementError.rightEnded) {
                try authorize(
                    #"{"start":"30d","play":"48h","finish":\#(finish)}"#, opened: opened,
                    firstPlay: Self.now - 48 * Self.hour)
            }
        }
    }

    /// Only a session token proves a running playback, because the sender of an SPC can alter its playback state.
    @Test func aFilmThatRunsIsNotCutWithFinish() throws {
        let opened = Self.now - 10 * Self.day
        let running = try authorize(
            opened: opened, firstPlay: Self.now - 48 * Self.hour, isPlayed: true, isRunning: true)
        #expect(try streaming(running).lease == 300 && streaming(running).rental == nil)
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(opened: opened, firstPlay: Self.now - 48 * Self.hour, isPlayed: true)
        }
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(
                #"{"start":"30d","play":"48h"}"#, opened: opened, firstPlay: Self.now - 48 * Self.hour, isPlayed: true,
                isRunning: true)
        }
    }

    /// A session that began in time reports its first play with its first renewal.
    @Test func aSessionThatBeganInTimeMayTellOfItsPlayLate() throws {
        let opened = Self.now - 30 * Self.day - 60
        let late = try authorize(
            #"{"start":"30d","play":"48h"}"#, opened: opened, isPlayed: true, isRunning: true)
        #expect(late.obligations.rental?.memory.firstPlay == Self.now - 60)
        #expect(late.rentalEnd == Self.now - 60 + 2 * Self.day)
    }

    @Test func anOfflineLicenseIsAPlay() throws {
        let offline = try authorize(more: #","mode":"both""#, use: .offline)
        #expect(offline.obligations.rental?.memory.firstPlay == Self.now)
        #expect(offline.limits == .offline(.hardEnd(UInt32(2 * Self.day))))
        let later = try authorize(
            more: #","mode":"both""#, opened: Self.now - 10, firstPlay: Self.now - Self.hour, use: .offline)
        #expect(later.limits == .offline(.hardEnd(UInt32(47 * Self.hour))))
        #expect(throws: EntitlementError.rightEnded) {
            try authorize(
                more: #","mode":"both""#, opened: Self.now - 10, firstPlay: Self.now - 48 * Self.hour, use: .offline)
        }
    }

    @Test func theRightsOwnEndBoundsItBesides() throws {
        let bounded = try authorize(more: #","lease":300,"end":\#(Self.now + 100)"#)
        #expect(try streaming(bounded).lease == 100 && streaming(bounded).rental == 100)
    }
}
