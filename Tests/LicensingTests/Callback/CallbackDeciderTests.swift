import ByteCoding
import Entitlements
import EventLoops
import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// The decisions that follow from a service's answers, and from missing answers.
@Suite struct CallbackDeciderTests {
    private static let now = LicensingFixture.now
    private static let leased = #"{"rights":[{"content":"movie-1","lease":60}]}"#

    private let fixture: LicensingFixture
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let crypto: CryptoContext

    init() throws {
        fixture = try LicensingFixture()
        crypto = try CryptoContext()
    }

    private func decider(_ adjust: (inout CallbackDecider.Settings) -> Void = { _ in }) -> CallbackDecider {
        var settings = CallbackDecider.Settings(name: "service", sources: [.drmToday])
        adjust(&settings)
        return CallbackDecider(settings, transport: transport, clock: clock)
    }

    private func question(
        _ token: String = "opaque", content: String = "movie-1", use: LicenseUse = .streaming, isRenewal: Bool = false
    ) throws -> CallbackQuestion {
        var question = CallbackQuestion(
            messageID: KeyID(words: try crypto.randomBytes16()), token: Array(token.utf8),
            content: CallbackQuestion.Content(
                contentID: content, keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff")), use: use)
        question.device = DeviceIdentifier([UInt8](repeating: 1, count: 20))
        question.session = 7
        question.isRenewal = isRenewal
        return question
    }

    private func decide(
        _ decider: CallbackDecider, _ question: CallbackQuestion? = nil, wallTime: Int64 = now
    ) async throws -> Result<CallbackDecider.Decision, LicenseError> {
        let question = try question ?? self.question()
        let (tokens, loop) = (fixture.rules.entitlement.tokens, fixture.group.loops[0])
        do throws(LicenseError) {
            return .success(
                try await decider.decide(question, tokens: tokens, wallTime: wallTime, using: crypto, on: loop))
        } catch {
            return .failure(error)
        }
    }

    private func counts(_ decider: CallbackDecider) -> [CallbackCounts.Outcome: UInt64] {
        let counted = CallbackCounts.Outcome.allCases.map { ($0, decider.counts[$0]) }
        return Dictionary(uniqueKeysWithValues: counted).filter { $0.value > 0 }
    }

    // MARK: Answers

    @Test func allowsTheContentThatWasAskedFor() async throws {
        let decider = decider()
        let claims = try await decide(decider).get().claims
        #expect(claims.issuer == "service" && claims.subject == nil)
        #expect(claims.rights == [Right(.keyIDs([try question().content.keyID]))])
        #expect(claims.issuedAt == Self.now && claims.expiresAt == Self.now + 86_400)
        #expect(counts(decider) == [.allowed: 1])
    }

    @Test func takesTheClaimsOfAPolicy() async throws {
        let policy = #"{"sub":"viewer-1","jti":"t-1","rights":[{"content":"movie-1","lease":60}]}"#
        transport.answer(with: .policy(policy))
        let claims = try await decide(decider()).get().claims
        #expect(claims.issuer == "service" && claims.subject == "viewer-1" && claims.tokenID == "t-1")
        #expect(claims.rights.map(\.lease) == [60])
    }

    @Test func verifiesTheTokenOfAnAnswer() async throws {
        transport.answer(with: .token(try fixture.token(subject: "viewer-2")))
        let claims = try await decide(decider()).get().claims
        #expect(claims.issuer == "portal" && claims.subject == "viewer-2")
        #expect(fixture.rules.entitlement.tokens.count == 1)
    }

    @Test func refusesWhatItsOwnRulesRefuseOfAnAnswer() async throws {
        let decider = decider { $0.breaker.failureMaximum = 1 }
        let refused: [(ScriptedTransport.Answer, EntitlementError)] = [
            (.token(try fixture.token(keyID: "other")), .keyUnknown),
            (.token(try fixture.token(expiresIn: -60)), .tokenExpired(agoSeconds: 55)),
            (.token(Array("opaque".utf8)), .tokenMalformed(.notThreeParts)),
            (.policy(#"{"rights":[],"aud":"latchkey"}"#), .claimUnsupported("aud")),
        ]
        for (answer, error) in refused {
            transport.answer(with: answer)
            let failure = try await decide(decider).failure
            guard case .entitlementUnavailable(.answerRefused(let found))? = failure else {
                Issue.record("\(answer): \(String(describing: failure))")
                continue
            }
            #expect(found.code == error.code)
        }
        #expect(counts(decider) == [.failed: 4])
        #expect(decider.isAvailable, "a refused answer is not an outage")
    }

    @Test func handsOnTheNumberOfADenial() async throws {
        let decider = decider()
        transport.answer(with: .denied(error: 17))
        #expect(try await decide(decider).failure == .entitlementDenied(error: 17))
        #expect(counts(decider) == [.denied: 1])
    }

    // MARK: Memory

    /// An answer is believed no longer than the lease of the license.
    @Test func believesAnAnswerForAWhileOnceALicenseWasIssued() async throws {
        let decider = decider { $0.memory.allowedSeconds = 30 }
        let first = try await decide(decider).get()
        #expect(try await decide(decider).get().origin == .service, "nothing was issued yet")
        decider.noteIssued(first, lease: nil)
        clock.advance(by: .seconds(29))
        #expect(try await decide(decider).get().origin == .memory)
        #expect(transport.questions.count == 2)
        clock.advance(by: .seconds(1))
        let second = try await decide(decider).get()
        #expect(second.origin == .service && transport.questions.count == 3)
        decider.noteIssued(second, lease: 5)
        clock.advance(by: .seconds(5))
        #expect(try await decide(decider).get().origin == .service)
        #expect(counts(decider) == [.allowed: 4, .remembered: 1])
    }

    @Test func believesAnAnswerForItsOwnQuestionAlone() async throws {
        let decider = decider()
        decider.noteIssued(try await decide(decider).get(), lease: nil)
        #expect(try await decide(decider, question(use: .offline)).get().origin == .service)
        #expect(try await decide(decider, question("another")).get().origin == .service)
        #expect(try await decide(decider).get().origin == .memory)
        // Claims expire even if they are remembered.
        #expect(try await decide(decider, wallTime: Self.now + 86_400).get().origin == .service)
    }

    @Test func aDenialEndsABelief() async throws {
        let decider = decider { $0.memory.allowedSeconds = 10 }
        decider.noteIssued(try await decide(decider).get(), lease: 3600)
        clock.advance(by: .seconds(10))
        transport.answer(with: .denied(error: 1))
        #expect(try await decide(decider).failure == .entitlementDenied(error: 1))
        transport.answer(with: .outage(.timedOut))
        #expect(
            try await decide(decider, question(isRenewal: true)).failure == .entitlementUnavailable(.timedOut))
    }

    @Test func asksNoMoreAboutAContentThatWasDeniedAgainAndAgain() async throws {
        let decider = decider { ($0.memory.denialMaximum, $0.memory.deniedSeconds) = (3, 10) }
        transport.answer(with: .denied(error: 1))
        for _ in 0..<3 { #expect(try await decide(decider).failure == .entitlementDenied(error: 1)) }
        #expect(try await decide(decider).failure == .entitlementDenied(error: nil))
        #expect(transport.questions.count == 3)
        for other in [try question("another"), try question(content: "movie-2")] {
            #expect(try await decide(decider, other).failure == .entitlementDenied(error: 1))
        }
        #expect(counts(decider) == [.denied: 6])
        clock.advance(by: .seconds(10))
        #expect(try await decide(decider).failure == .entitlementDenied(error: 1))
    }

    @Test func believesNoAnswerAboutADeviceThatIsNotKnown() async throws {
        let decider = decider { $0.failure = .grace }
        transport.answer(with: .policy(Self.leased))
        var unknown = try question(isRenewal: true)
        unknown.device = nil
        decider.noteIssued(try await decide(decider, unknown).get(), lease: 60)
        #expect(try await decide(decider, unknown).get().origin == .service)
        transport.answer(with: .outage(.timedOut))
        #expect(try await decide(decider, unknown).failure == .entitlementUnavailable(.timedOut))
    }

    @Test func takesOneTokenOfABoundedSize() throws {
        let two = [Array("a".utf8), Array("b".utf8)]
        let large = [[UInt8](repeating: 0x41, count: Token.sizeMaximum + 1)]
        #expect(throws: LicenseError.entitlement(.tokenAmbiguous)) {
            try CallbackDecider.single(PresentedToken(source: .nvAuthorizations, tokens: two))
        }
        #expect(throws: LicenseError.entitlement(.tokenMalformed(.tooLarge(size: Token.sizeMaximum + 1)))) {
            try CallbackDecider.single(PresentedToken(source: .drmToday, tokens: large))
        }
    }

    // MARK: Outages

    @Test(arguments: [CallbackOutage.timedOut, .addressForbidden, .failed(code: 7), .status(500), .answerTooLarge])
    func failsClosedUnlessToldOtherwise(outage: CallbackOutage) async throws {
        let decider = decider()
        decider.noteIssued(try await decide(decider).get(), lease: 3600)
        clock.advance(by: .seconds(30))
        transport.answer(with: .outage(outage))
        #expect(
            try await decide(decider, question(isRenewal: true)).failure == .entitlementUnavailable(outage))
        #expect(counts(decider) == [.allowed: 1, .failed: 1])
    }

    @Test func anAnswerThatIsNoneIsAnOutage() async throws {
        let decider = decider { $0.breaker.failureMaximum = 1 }
        transport.answer(with: .bytes(Array("<html>".utf8)))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.answerInvalid(.notJSON)))
        #expect(!decider.isAvailable)
    }

    /// Grace applies to a running license: it allows one more lease, and does not prolong itself.
    @Test func graceLetsARenewalGoOnForOneMoreLease() async throws {
        let decider = decider { $0.failure = .grace }
        transport.answer(with: .policy(Self.leased))
        decider.noteIssued(try await decide(decider).get(), lease: 60)
        transport.answer(with: .outage(.timedOut))
        clock.advance(by: .seconds(40))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.timedOut), "this is no renewal")
        let renewal = try question(isRenewal: true)
        let graced = try await decide(decider, renewal).get()
        #expect(graced.origin == .grace && graced.claims.rights.map(\.lease) == [60])
        decider.noteIssued(graced, lease: 60)
        clock.advance(by: .seconds(20))
        #expect(try await decide(decider, renewal).failure == .entitlementUnavailable(.timedOut))
        let another = try question("another", isRenewal: true)
        #expect(try await decide(decider, another).failure == .entitlementUnavailable(.timedOut))
        #expect(counts(decider) == [.allowed: 1, .grace: 1, .failed: 3])
    }

    // MARK: The breaker

    @Test func asksNoMoreAfterSeveralFailuresUntilAProbeIsAnswered() async throws {
        let decider = decider { $0.breaker = .init(failureMaximum: 2, openNanoseconds: 5_000_000_000) }
        transport.answer(with: .outage(.status(503)))
        for _ in 0..<2 { #expect(try await decide(decider).failure == .entitlementUnavailable(.status(503))) }
        #expect(!decider.isAvailable)
        transport.answer(with: .allowed)
        clock.advance(by: .milliseconds(1500))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.breakerOpen(seconds: 4)))
        #expect(transport.questions.count == 2)
        clock.advance(by: .milliseconds(3500))
        #expect(try await decide(decider).get().origin == .service)
        #expect(decider.isAvailable && transport.questions.count == 3)
    }

    @Test func aFailedProbeOpensTheBreakerAgain() async throws {
        let decider = decider { $0.breaker = .init(failureMaximum: 1, openNanoseconds: 5_000_000_000) }
        transport.answer(with: .outage(.timedOut))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.timedOut))
        clock.advance(by: .seconds(5))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.timedOut))
        clock.advance(by: .seconds(4))
        #expect(try await decide(decider).failure == .entitlementUnavailable(.breakerOpen(seconds: 1)))
        #expect(transport.questions.count == 2)
    }

    /// If this server asks too many questions, this is not a fault of the service.
    @Test func aBusyCallerOpensNothing() async throws {
        let decider = decider { $0.breaker.failureMaximum = 1 }
        transport.answer(with: .outage(.busy))
        for _ in 0..<3 { #expect(try await decide(decider).failure == .entitlementUnavailable(.busy)) }
        #expect(decider.isAvailable && transport.questions.count == 3)
    }

    /// A reload may bring another service, but the counters of metrics must not go back.
    @Test func countsOnFromTheDeciderBefore() async throws {
        let first = decider()
        _ = try await decide(first).get()
        let second = CallbackDecider(first.settings, transport: transport, counts: first.counts, clock: clock)
        _ = try await decide(second).get()
        #expect(counts(second) == [.allowed: 2])
    }
}
