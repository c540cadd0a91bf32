import ByteCoding
import Testing

@testable import Entitlements

@Suite struct CallbackMemoryTests {
    private static let limits = CallbackMemory.Limits(
        allowedSeconds: 30, denialMaximum: 2, deniedSeconds: 10, capacity: 8)

    private static let device = DeviceIdentifier([UInt8](repeating: 1, count: 20))

    private static func subject(
        _ number: UInt8, key: UInt64 = 1, content: String = "movie-1", track: String? = nil,
        device: DeviceIdentifier? = device, use: LicenseUse = .streaming
    ) -> CallbackMemory.Subject {
        CallbackMemory.Subject(
            token: token(number),
            content: CallbackQuestion.Content(
                contentID: content, keyID: KeyID(words: Bytes16(high: 0, low: key)), track: track),
            device: device, use: use)
    }

    private static func token(_ number: UInt8) -> TokenDigest {
        TokenDigest(Bytes32(.zero, Bytes16(high: 0, low: UInt64(number))))
    }

    private static func claims() throws -> Claims {
        try Claims.decided(
            by: "portal",
            allowing: CallbackQuestion.Content(contentID: "movie-1", keyID: KeyID(words: Bytes16(high: 0, low: 1))),
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
        // A license by grace does not extend the grace, so the last one must begin before this second.
        #expect(memory.grace(for: Self.subject(1), now: 59) != nil)
        #expect(memory.grace(for: Self.subject(1), now: 60) == nil)
        #expect(memory.grace(for: Self.subject(2), now: 1) == nil)
    }

    @Test func countsGraceFromTheLastLicenseThatAnAnswerAllowed() throws {
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

    @Test func refusesAContentAfterSoManyDenialsInARow() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteDenial(of: Self.subject(1), now: 0)
        #expect(!memory.isDenied(Self.subject(1), now: 0))
        // A denial for another device and use is for the same content and track.
        memory.noteDenial(of: Self.subject(1, device: nil, use: .offline), now: 1)
        #expect(memory.isDenied(Self.subject(1), now: 10))
        #expect(!memory.isDenied(Self.subject(1), now: 11))
        #expect(!memory.isDenied(Self.subject(2), now: 1))
    }

    /// Denials of UHD and HD do not affect SD.
    @Test func keepsDenialsOfTracksAndContentsApart() throws {
        var memory = CallbackMemory(Self.limits)
        for track in ["UHD", "HD"] {
            for _ in 0..<2 { memory.noteDenial(of: Self.subject(1, key: 2, track: track), now: 0) }
            #expect(memory.isDenied(Self.subject(1, key: 3, track: track), now: 0))
        }
        #expect(!memory.isDenied(Self.subject(1, track: "SD"), now: 0))
        #expect(!memory.isDenied(Self.subject(1, content: "movie-2", track: "HD"), now: 0))
    }

    @Test func forgetsDenialsOnceTheTokenIsAllowedTheContent() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteDenial(of: Self.subject(1), now: 0)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1), lease: 60, now: 0)
        memory.noteDenial(of: Self.subject(1), now: 1)
        #expect(!memory.isDenied(Self.subject(1), now: 1))
    }

    /// If only an external module can tell devices apart, the service's answer about one device is not used for
    /// another.
    @Test func believesNoAnswerAboutADeviceThatIsNotKnown() throws {
        var memory = CallbackMemory(Self.limits)
        memory.noteAnswer(try Self.claims(), for: Self.subject(1, device: nil), lease: 60, now: 0)
        memory.noteRemembered(Self.subject(1, device: nil), lease: 60, now: 0)
        #expect(memory.permission(for: Self.subject(1, device: nil), now: 0) == nil)
        #expect(memory.grace(for: Self.subject(1, device: nil), now: 0) == nil)
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
