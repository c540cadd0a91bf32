import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import Licensing
import Records
import Telemetry
import Testing

@testable import Administration

@Suite struct RefusalReportTests {
    private static let entry = RecentRefusals.Entry(
        "4be1c7a2d0396f58", trace: "0af7651916cd43dd8448eb211c80319c",
        at: WallTime(seconds: 1_700_000_000, nanoseconds: 250_000_000), event: "license_refused",
        code: "token_audience", cause: "the token is not meant for this server",
        facts: [
            ("tag", "0000000000000000"), ("number", "0"), ("listener", "public"), ("found", #"aud "other""#),
            ("expected", #"aud "latchkey""#),
        ])

    @Test func saysCauseValuesAndRemedy() {
        let report = RefusalReport(Self.entry)
        let lines = report.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "refused     token_audience (license_refused), 2023-11-14T22:13:20.250Z")
        #expect(lines.contains("request id  4be1c7a2d0396f58"))
        #expect(lines.contains("trace_id    0af7651916cd43dd8448eb211c80319c"))
        #expect(lines.contains("cause       the token is not meant for this server"))
        #expect(lines.contains(#"found       aud "other""#) && lines.contains(#"expected    aud "latchkey""#))
        #expect(lines.last?.hasPrefix("what to do  Compare iss and aud") == true)
        #expect(!report.text.contains("tag"), "what programs read is not for people")
    }

    @Test func readsBackWhatItWrites() throws {
        let report = RefusalReport(Self.entry, degraded: "postgresql: it does not answer")
        let read = try #require(RefusalReport(parsing: JSONWriter.object(report.write)))
        #expect(read == report && read[.found] == #"aud "other""#)
        #expect(RefusalReport(parsing: Array("{}".utf8)) == nil && RefusalReport(parsing: [1]) == nil)
    }

    /// Numbers of an SPC are only in a refusal that has one.
    @Test func leavesOutNumbersThatNoSPCHas() throws {
        let report = RefusalReport(Self.entry)
        #expect(!report.facts.contains { ["tag", "number"].contains($0.name) })
        let text = #"{"request_id":"1","time":"t","event":"e","code":"c","cause":"x","tag":"00","number":"7"}"#
        #expect(try #require(RefusalReport(parsing: Array(text.utf8))).facts.map(\.name) == ["number"])
    }

    /// One code has several causes, and the cause decides what to do.
    @Test(
        arguments: [
            (.denied(.slotEvicted), "account playbacks"), (.entitlement(.sessionKilled), "revocations list"),
            (.denied(.otherDevice), "used it first"), (.entitlement(.deviceMismatch), "another device"),
            (.entitlement(.contentRevoked), "revocations lift"), (.entitlement(.contentNotCovered), "keys list"),
            (.denied(.deviceLimit(limit: 2)), "devices remove"),
            (.entitlement(.algorithmNotPinned), "configured for this key"),
            (.entitlement(.algorithmNotServed), "never accepted"),
            (.entitlement(.tokenMalformed(.headerInvalid("typ"))), "in the header of its tokens"),
            (.entitlement(.tokenMalformed(.notThreeParts)), "in its compact form"),
            (.store(.unavailable(.diskFull)), "Make room on the disk"), (.keyStore(.diskFull), "Make room on the disk"),
            (.keyNotFound, "keys list --content ID. If it"), (.keyAmbiguous, "name its key id"),
            (.store(.unavailable(.unreachable)), "the database that storage.url names"),
            (.denied(.deviceLimit(limit: 0)), "may add a device"), (.entitlement(.rightEnded), "a token whose right"),
        ] as [(LicenseError, String)])
    func tellsTheCausesOfOneCodeApart(error: LicenseError, words: String) {
        #expect(report(of: error).remedy.contains(words))
    }

    @Test func knowsARentalThatHasEnded() {
        let found = "\(RentalStanding.firstWords), first played at 2026-01-31T12:00:00Z"
        let remedy = report(of: .entitlement(.rightEnded), facts: [("found", found)]).remedy
        #expect(remedy.contains("account rentals") && remedy.contains("a new token does not help"))
    }

    @Test func knowsAKeyThatWasAskedForByItsID() throws {
        let keyID = try KeyID(parsing: "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11")
        let names: [(name: String, value: String)] = [("content", keyID.description), ("kid", keyID.description)]
        #expect(report(of: .contentUnknown, facts: names).askedKeyID == keyID)
        #expect(report(of: .contentUnknown, facts: names).remedy.contains("keys show --kid \(keyID)"))
        #expect(report(of: .contentUnknown, facts: [("content", "movie-1"), names[1]]).askedKeyID == nil)
        #expect(report(of: .entitlement(.rightEnded), facts: names).askedKeyID == nil)
    }

    private func report(of error: LicenseError, facts: [(name: String, value: String)] = []) -> RefusalReport {
        RefusalReport(
            RecentRefusals.Entry(
                "4be1c7a2d0396f58", at: WallTime(seconds: 1_700_000_000, nanoseconds: 0), event: "license_refused",
                code: error.code.rawValue, cause: error.cause.text, facts: facts))
    }

    /// The codes of token requests are numbers, and the cause names the parameter.
    @Test(arguments: [
        ("-2005", "correct the parameter"), ("-2018", "customerAuthenticator"), ("-6004", "reference/errors.md"),
    ])
    func saysWhatToDoAboutATokenRequest(code: String, words: String) {
        let entry = RecentRefusals.Entry(
            "4be1c7a2d0396f58", at: WallTime(seconds: 1_700_000_000, nanoseconds: 0), event: "token_refused",
            code: code, cause: "contentKey and iv are equal, and an initialization vector is public", facts: [])
        let report = RefusalReport(entry)
        #expect(report.explanation.hasPrefix("contentKey and iv are equal"))
        #expect(report.remedy.contains(words), "\(report.remedy)")
    }

    /// A row has the cause with its numbers, and names subject, content and key in fields of its own.
    @Test func readsARowOfTheLedger() throws {
        var entry = LedgerEntry(
            kind: .licenseRefused, at: 1_700_000_000, license: LicenseID(.zero), keyID: KeyID(words: .zero),
            content: "movie-1", detail: "spc_rejected")
        #expect(RefusalReport(entry) == nil, "without a request id")
        entry.request = "4be1c7a2d0396f58"
        entry.subject = Pseudonym(short: Bytes16(high: 1, low: 2))
        entry.facts[.credential] = "main"
        entry.facts[.cause] = "wrong_size tag=47aa7ad3440577de number=5"
        let report = try #require(RefusalReport(entry))
        #expect(report.cause == "wrong_size" && report.source == .ledger)
        #expect(report.explanation.contains("47aa7ad3440577de") && report.explanation.contains("5 bytes"))
        #expect(report[.content] == "movie-1" && report[.subject] == "00000000000000010000000000000002")
        #expect(report[.credential] == "main" && !report.text.contains("tag="))
        entry.kind = .licenseIssued
        #expect(RefusalReport(entry) == nil)
    }

    @Test(arguments: ProblemCode.allCases)
    func hasARemedyForEveryCode(code: ProblemCode) {
        #expect(code.remedy.hasSuffix(".") && code.remedy.count > 20)
    }

    @Test(
        arguments: [
            .sessionKey, .authenticationTag, .missingTag(1), .wrongSize(tag: 2, size: 3),
            .returnRequestTooLong(count: 4), .returnRequestForbidden(5), .returnRequestMissing(6),
            .protocolVersion(used: 7), .reservedWord(tag: 8), .syncContradictory, .moduleRefused(status: 9),
            .moduleRefused(status: -42605), .integrity, .framing(.truncatedHeader(offset: 10)),
            .framing(.blockUnaligned(tag: 11, length: 12)), .framing(.blockOverrun(tag: 13, length: 14)),
            .framing(.valueExceedsBlock(tag: 15, length: 16)), .framing(.tooManyBlocks(maximum: 17)),
            .framing(.duplicateTag(18)),
        ] as [SPCRejection])
    func findsTheRejectionOfALogLine(rejection: SPCRejection) {
        let logged = rejection.logged
        #expect(SPCRejection(logged: logged.name.description, tag: logged.tag, number: logged.number) == rejection)
        #expect(rejection.remedy.hasSuffix("."))
        #expect(SPCRejection(logged: "else", tag: 0, number: 0) == nil)
    }
}
