import ByteCoding
import Testing

@testable import Entitlements

@Suite struct CallbackMemoryTests {
    private static let limits = CallbackMemory.Limits(
        allowedSeconds: 30, denialMaximum: 2, deniedSeconds: 10, capacity: 8)

    private static func subject(_ number: UInt8, key: UInt64 = 1, use: LicenseUse = .streaming)
        -> CallbackMemory.Subject
    {
        CallbackMemory.Subject(
            token: token(number), keyID: KeyID(words: Bytes16(high: 0, low: key)), device: nil, use: use)
    }

    private static func token(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private static func claims() throws -> Claims {
        try Claims.decided(
            by: "portal",
            allowing: RequestedContent(
                contentID: "movie-1", keyID: KeyID(words: Bytes16(high: 0, low: 1)), trackLabels: []),
            now: 0, life: 3600)
    }

    @Test(arguments: [(nil, Int64(30)), (300, 30), (30, 30), (20, 20), (1, 1)])
    func believesAnAnswerNoLongerThanItMayAndNoLongerThanTheLease(lease: Int64?, life: Int64) throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: lease, now: 100)
        #expect(memory.permission(for: Self.subject(1), now: 100 + life - 1) != nil)
        #expect(memory.permission(for: Self.subject(1), now: 100 + life) == nil)
    }

    @Test func keepsTokensContentsAndUsesApart() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: 60, now: 0)
        #expect(memory.permission(for: Self.subject(2), now: 0) == nil)
        #expect(memory.permission(for: Self.subject(1, key: 2), now: 0) == nil)
        #expect(memory.permission(for: Self.subject(1, use: .offline), now: 0) == nil)
    }

    @Test func givesGraceForOneLeaseAtMost() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: 60, now: 0)
        // A licence by grace is noted nowhere, so that however many come, the last of them begins before this second.
        #expect(memory.grace(for: Self.subject(1), now: 59) != nil)
        #expect(memory.grace(for: Self.subject(1), now: 60) == nil)
        #expect(memory.grace(for: Self.subject(2), now: 1) == nil)
    }

    @Test func countsGraceFromTheLastLicenceThatAnAnswerAllowed() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: 60, now: 0)
        memory.noteRemembered(Self.subject(1), lease: 60, now: 20)
        #expect(memory.grace(for: Self.subject(1), now: 79) != nil)
        #expect(memory.grace(for: Self.subject(1), now: 80) == nil)
    }

    @Test func givesNoGraceWithoutALease() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: nil, now: 0)
        #expect(memory.grace(for: Self.subject(1), now: 1) == nil)
    }

    @Test func refusesATokenAfterSoManyDenialsInARow() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteDenial(of: Self.subject(1), now: 0)
        #expect(!memory.isDenied(token: Self.token(1), now: 0))
        // Another track was refused too.
        memory.noteDenial(of: Self.subject(1, key: 2), now: 1)
        #expect(memory.isDenied(token: Self.token(1), now: 10))
        #expect(!memory.isDenied(token: Self.token(1), now: 11))
        #expect(!memory.isDenied(token: Self.token(2), now: 1))
    }

    @Test func forgetsDenialsOnceTheTokenIsAllowedSomething() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteDenial(of: Self.subject(1), now: 0)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1, key: 2), lease: 60, now: 0)
        memory.noteDenial(of: Self.subject(1), now: 1)
        #expect(!memory.isDenied(token: Self.token(1), now: 1))
    }

    @Test func believesNoAnswerAfterADenial() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: 60, now: 0)
        memory.noteDenial(of: Self.subject(1), now: 1)
        #expect(memory.permission(for: Self.subject(1), now: 1) == nil)
        #expect(memory.grace(for: Self.subject(1), now: 1) == nil)
    }

    @Test func staysBounded() throws {
        var memory = CallbackMemory(Self.limits)
        let claims = try Self.claims()
        for number in 0...200 {
            memory.noteAnswer(claims, for: Self.subject(UInt8(number)), lease: 60, now: 0)
        }
        let known = (0...200).filter { memory.permission(for: Self.subject(UInt8($0)), now: 0) != nil }
        #expect(known.count <= 8 && known.contains(200))
    }
}
