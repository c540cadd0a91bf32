import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import POSIXSockets
import Records
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// Requests whose token only the operator's service can read. RSA comes first, within limits. The rest is as for any
/// other request.
@Suite struct OpaqueTokenTests {
    private static let header = "x-dt-auth-token"
    private static let token = Array("opaque".utf8)
    private static let leased = #"{"sub":"viewer-1","jti":"t-1","rights":[{"content":"movie-1","lease":60}]}"#

    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let store = MemoryDecisionStore()
    private let ledger = RecordingLedger()
    private let fixture: LicensingFixture

    init() throws {
        let pseudonyms = try SampleDecisions.pseudonyms()
        fixture = try LicensingFixture(
            recorder: store.recorder(),
            refusals: { [ledger] loop in
                RefusalRecorder(ledger: ledger, pseudonyms: pseudonyms, perSecond: 100, on: loop)
            }, sessions: LicensingFixture.sessions(), clock: clock)
        configure()
    }

    /// Configures a service.
    private func configure(_ adjust: (inout CallbackDecider.Settings) -> Void = { _ in }) {
        var settings = CallbackDecider.Settings(name: "service", sources: [.drmToday])
        adjust(&settings)
        let decider = CallbackDecider(settings, transport: transport, clock: clock)
        fixture.reload { $0.callback = decider }
    }

    private func outcome(
        _ message: [UInt8]? = nil, token: [UInt8] = token, from address: IPAddress? = .v4(0x7f00_0001),
        isRenewal: Bool = false, trace: TraceContext? = nil
    ) async throws -> Result<LicenseOutcome, LicenseError> {
        let request = LicenseRequest(
            message: try message ?? fixture.deviceRequest(.v1).message, origin: RequestOrigin(address: address),
            renewal: RenewalWish(isRenewal: isRenewal), trace: trace)
        return await fixture.outcome(of: request, token: token, header: Self.header)
    }

    private func license(
        _ message: [UInt8]? = nil, token: [UInt8] = token, isRenewal: Bool = false
    ) async throws -> Result<IssuedLicense, LicenseError> {
        try await outcome(message, token: token, isRenewal: isRenewal).map { outcome in
            switch outcome {
            case .license(let license): license
            case .syncReport, .playbackEnded: preconditionFailure("an ordinary SPC contains no report")
            }
        }
    }

    /// The service gets the trace of the request, and no trace if the request has none.
    @Test func tellsTheServiceTheTrace() async throws {
        let parent = Array("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".utf8)
        let trace = TraceContext(traceparent: parent[...], spanID: "00f067aa0ba902b7")
        for trace in [trace, nil] { _ = try await outcome(trace: trace) }
        #expect(transport.tracesOfQuestions == [trace, nil] && trace != nil)
    }

    // MARK: What the service decides

    @Test func givesTheLicenseThatTheServiceAllows() async throws {
        let request = try fixture.deviceRequest(.v2)
        let license = try await license(request.message, isRenewal: true).get()
        let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
        #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        #expect(fixture.operations.value == 1)
        let question = try #require(transport.questions.first)
        #expect(transport.questions.count == 1)
        #expect(question["token"]?.string == "opaque" && question["contentID"]?.string == "movie-1")
        #expect(question["device"]?.string == request.secrets.deviceID.description.uppercased())
        #expect(question["clientIP"]?.string == "127.0.0.1")
        #expect(question["offline"]?.bool == false && question["renew"]?.bool == true)
        #expect(store.entries.map(\.kind) == [.licenseRenewed])
    }

    @Test func meetsTheFloorAndGivesNoSessionToken() async throws {
        transport.answer(with: .policy(Self.leased))
        let first = try await license().get()
        #expect(first.terms.lease?.value == 60 && first.sessionToken == nil)
        let entry = try #require(store.entries.first)
        #expect(entry.tokenID == "t-1" && entry.subject != nil && entry.lease == 60)
        fixture.reload { $0.entitlementPolicy = EntitlementPolicy(common: PolicyRule(lease: 20)) }
        #expect(try await license().get().terms.lease?.value == 20)
    }

    @Test func takesATokenInPlaceOfTheOpaqueOne() async throws {
        transport.answer(with: .token(try fixture.token([Right(.content("movie-1"), lease: 90)])))
        #expect(try await license().get().terms.lease?.value == 90)
        transport.answer(with: .token(try fixture.token([Right(.content("movie-2"))])))
        let other = try await license(token: Array("another".utf8))
        #expect(other.failure == .entitlement(.contentNotCovered))
    }

    @Test func refusesWhatTheServiceDenies() async throws {
        transport.answer(with: .denied(error: 17))
        #expect(try await license().failure == .entitlementDenied(error: 17))
        #expect(fixture.operations.value == 1 && store.entries.isEmpty)
        transport.answer(with: .outage(.timedOut))
        #expect(try await license().failure == .entitlementUnavailable(.timedOut))
        #expect(ledger.all.isEmpty, "no row for a token that no service has confirmed")
    }

    /// Otherwise a sender with any token could learn which assets have keys.
    @Test(arguments: ["movie-1", "movie-9", "00112233-4455-6677-8899-000000000000", "https://elsewhere.example/a?b=c"])
    func refusesUnknownAssetsLikeKnownOnes(asset: String) async throws {
        transport.answer(with: .denied(error: 17))
        let message = try fixture.deviceRequest(.v1, assetID: asset).message
        #expect(try await license(message).failure == .entitlementDenied(error: 17))
        #expect(transport.questions.count == 1 && fixture.operations.value == 1)
        transport.answer(with: .outage(.timedOut))
        #expect(try await license(message).failure == .entitlementUnavailable(.timedOut))
        #expect(transport.questions.first?["contentID"]?.string?.isEmpty == false)
        #expect(transport.questions.first?["kid"]?.string.flatMap { try? KeyID(parsing: $0) } != nil)
    }

    @Test func saysThatAKeyIsMissingOnceTheServiceAllowsTheContent() async throws {
        let message = try fixture.deviceRequest(.v1, assetID: "movie-9").message
        transport.answer(with: .policy(#"{"rights":[{"content":"movie-9"}]}"#))
        #expect(try await license(message).failure == .keyNotFound)
        #expect(transport.questions.first?["contentID"]?.string == "movie-9")
    }

    /// A copy of a request costs no RSA, and the service is asked only about the first request.
    @Test func remembersWhatTheServiceAllowed() async throws {
        let message = try fixture.deviceRequest(.v1).message
        _ = try await license(message).get()
        _ = try await license(message).get()
        #expect(transport.questions.count == 1 && fixture.operations.value == 1)
        clock.advance(by: .seconds(30))
        _ = try await license(message).get()
        #expect(transport.questions.count == 2)
    }

    /// A lease that the service allowed can be renewed once while the service is unavailable.
    @Test func renewsByGrace() async throws {
        configure { $0.failure = .grace }
        transport.answer(with: .policy(Self.leased))
        let message = try fixture.deviceRequest(.v1).message
        _ = try await license(message).get()
        transport.answer(with: .outage(.timedOut))
        clock.advance(by: .seconds(61))
        #expect(try await license(message, isRenewal: true).failure == .entitlementUnavailable(.timedOut))
        transport.answer(with: .policy(Self.leased))
        _ = try await license(message).get()
        transport.answer(with: .outage(.timedOut))
        clock.advance(by: .seconds(59))
        #expect(try await license(message, isRenewal: true).get().terms.lease?.value == 60)
        clock.advance(by: .seconds(1))
        #expect(try await license(message, isRenewal: true).failure == .entitlementUnavailable(.timedOut))
    }

    @Test func acceptsASyncReportThatTheServiceAllows() async throws {
        let report = SyncReport(.version1(contentID: Bytes16(high: 5, low: 6)), remaining: .seconds(60))
        let message = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }.message
        guard case .syncReport(let accepted) = try await outcome(message).get() else {
            Issue.record("a sync SPC is answered without a license")
            return
        }
        #expect(accepted.report == report && store.entries.map(\.kind) == [.syncReportAccepted])
    }

    // MARK: Revocations

    /// Revocations are applied to the claims in the service's answer.
    @Test(arguments: [(RevocationView.Kind.issuer, "service"), (.subject, "viewer-1"), (.token, "t-1")])
    func checksRevocationsAfterTheAnswer(kind: RevocationView.Kind, value: String) async throws {
        transport.answer(with: .policy(Self.leased))
        var view = RevocationView()
        view.revoke(kind, value, of: kind == .issuer ? nil : "service")
        fixture.shared.revocations.replace(with: view)
        let error: EntitlementError = kind == .token ? .tokenRevoked : .subjectDisabled
        #expect(try await license().failure == .entitlement(error))
        #expect(transport.questions.count == 1 && fixture.operations.value == 1 && store.entries.isEmpty)
        let row = try #require(try await ledger.entries(atLeast: 1).first)
        #expect(row.kind == .licenseRefused && row.tokenID == "t-1" && row.content == "movie-1")
    }

    /// The gate checks revocations only for licenses, so reports need a check of their own.
    @Test func acceptsNoReportOfARevokedSubject() async throws {
        transport.answer(with: .policy(Self.leased))
        var view = RevocationView()
        view.revoke(.subject, "viewer-1", of: "service")
        fixture.shared.revocations.replace(with: view)
        let report = SyncReport(.version1(contentID: Bytes16(high: 5, low: 6)), remaining: .seconds(60))
        let message = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }.message
        #expect(try await outcome(message).failure == .entitlement(.subjectDisabled))
        #expect(store.entries.isEmpty)
    }

    @Test func givesNothingBeforeRevocationsAreKnown() async throws {
        let fixture = try LicensingFixture(knowsRevocations: false)
        let decider = CallbackDecider(
            CallbackDecider.Settings(name: "service", sources: [.drmToday]), transport: transport)
        fixture.reload { $0.callback = decider }
        let request = LicenseRequest(message: try fixture.deviceRequest(.v1).message)
        let outcome = await fixture.outcome(of: request, token: Self.token, header: Self.header)
        #expect(outcome.failure == .store(.unavailable(.unreachable)))
    }

    // MARK: What RSA is bought for

    /// The content id is inside the SPC, so RSA comes before this check.
    @Test func asksNoMoreAboutAContentThatWasDeniedAgainAndAgain() async throws {
        configure { ($0.memory.denialMaximum, $0.memory.deniedSeconds) = (2, 10) }
        transport.answer(with: .denied(error: 17))
        for _ in 0..<2 { #expect(try await license().failure == .entitlementDenied(error: 17)) }
        #expect(try await license().failure == .entitlementDenied(error: nil))
        #expect(fixture.operations.value == 3 && transport.questions.count == 2)
        clock.advance(by: .seconds(10))
        #expect(try await license().failure == .entitlementDenied(error: 17))
    }

    /// `?renew=true` beside an unverified token proves nothing about the sender.
    @Test func givesNoPriorityToATokenThatWasNotVerified() throws {
        let request = LicenseRequest(
            message: try fixture.deviceRequest(.v1).message, renewal: RenewalWish(isRenewal: true))
        let callback = try #require(fixture.rules.callback)
        let token = PresentedToken(source: .drmToday, tokens: [Self.token])
        let admission = try Admission(request, by: token, .undecided(callback), under: fixture.rules)
        #expect(!admission.isRenewal)
    }

    // MARK: Other requests

    /// The challenge belongs to the token itself, independent of the subject that the service names.
    @Test func givesAChallengeThatTheReportOfTheSameTokenUses() async throws {
        transport.answer(with: .policy(Self.leased))
        guard case .challenge(let challenge) = try await fixture.challenge(token: Self.token, header: Self.header).get()
        else {
            Issue.record("no challenge")
            return
        }
        #expect(transport.questions.isEmpty)
        let details = SyncReportVersion2(
            challenge: challenge, flags: [.report, .success], titleID: Bytes16(high: 1, low: 2), streamIDs: [])
        let report = SyncReport(.version2(details), remaining: .seconds(60))
        let message = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }.message
        #expect(try await outcome(message, token: Array("another".utf8)).failure == .challengeNotOpen)
        guard case .syncReport(let accepted) = try await outcome(message).get() else {
            Issue.record("a sync SPC is answered without a license")
            return
        }
        #expect(accepted.isChallengeAccepted)
        #expect(try await outcome(message).failure == .challengeNotOpen)
    }

    @Test func boundsTheChallengesOfTokensThatNobodyHasVerified() async throws {
        configure { $0.ratePerAddress = Rate(perSecond: 1, burst: 2) }
        let here = RequestOrigin(address: .v4(0x7f00_0001))
        for number in 1...2 {
            let token = Array("token-\(number)".utf8)
            #expect(await fixture.challenge(token: token, header: Self.header, from: here).failure == nil)
        }
        let failure = await fixture.challenge(token: Self.token, header: Self.header, from: here).failure
        #expect(failure == .rateLimited(.unverifiedTokens, retryAfterSeconds: 2))
    }

    /// If the service is asked about licenses, its answer says whose token it is.
    @Test func asksWhoseTokenAskerHas() async throws {
        let content = CallbackQuestion.Content(contentID: "movie-1", keyID: KeyID(words: Bytes16(high: 1, low: 2)))
        transport.answer(with: .policy(Self.leased))
        let holder = try await fixture.holder(of: Self.token, header: Self.header, asking: content).get()
        #expect(holder.claims.subject == "viewer-1" && holder.claims.issuer == "service")
        transport.answer(with: .denied(error: 1))
        let failure = await fixture.holder(of: Self.token, header: Self.header, asking: content).failure
        #expect(failure == .entitlementDenied(error: 1))
    }

    /// If the service names no subject and no id, the ledger names the token, by a pseudonym.
    @Test func namesTheTokenInTheLedgerIfNothingElseDoes() async throws {
        let license = try await license()
        #expect(license.failure == nil)
        let entry = try #require(store.entries.first)
        #expect(entry.subject == nil && entry.tokenID?.hasPrefix("digest-") == true)
        #expect(entry.tokenID?.contains("opaque") == false)
    }

    /// The rate per subject applies to the subject that the service names, so that one token cannot fill the ledger.
    @Test func countsTheSubjectThatTheServiceNames() async throws {
        transport.answer(with: .policy(Self.leased))
        fixture.reload { $0.rates = RequestRates(perSubject: Rate(perSecond: 1, burst: 2)) }
        for _ in 0..<2 { #expect(try await license().failure == nil) }
        #expect(try await license().failure == .rateLimited(.subject, retryAfterSeconds: 2))
    }

    @Test func boundsWhatAnAddressBuys() async throws {
        configure { $0.ratePerAddress = Rate(perSecond: 1, burst: 2) }
        for _ in 0..<2 { #expect(try await outcome().failure == nil) }
        #expect(try await outcome().failure == .rateLimited(.unverifiedTokens, retryAfterSeconds: 2))
        #expect(fixture.operations.value == 2)
        #expect(try await outcome(from: .v4(0x7f00_0002)).failure == nil)
        clock.advance(by: .seconds(1))
        #expect(try await outcome().failure == nil)
    }

    /// Each SPC of a request costs RSA and a question. A malformed container costs neither, and does not count in the
    /// rate.
    @Test(arguments: [true, false])
    func boundsEachSPCOfARequest(isPerAddress: Bool) async throws {
        let rate = Rate(perSecond: 1, burst: 3)
        configure { if isPerAddress { $0.ratePerAddress = rate } else { $0.rate = rate } }
        let good = try (0..<5).map { _ in try fixture.deviceRequest(.v1).message }
        let messages = [good[0], [0, 0, 0, 1]] + good[1...]
        let limited = LicenseError.rateLimited(.unverifiedTokens, retryAfterSeconds: 2)
        let results = try await outcomes(of: messages, from: .v4(0x7f00_0001)).get()
        #expect(results.count == 6)
        #expect(results[1].failure?.code == .spcMalformed)
        #expect([0, 2, 3].allSatisfy { results[$0].failure == nil })
        #expect(results[4...].map(\.failure) == [limited, limited])
        #expect(fixture.operations.value == 3 && transport.questions.count == 3 && store.entries.count == 3)
        // Another address has places left in its own rate, but not in the rate of all addresses.
        let others = await outcomes(of: [good[4]], from: .v4(0x7f00_0002)).flatMap { $0[0] }
        #expect(others.failure == (isPerAddress ? nil : limited))
        clock.advance(by: .seconds(1))
        #expect(try await outcomes(of: [good[3]], from: .v4(0x7f00_0001)).get().map(\.failure) == [nil])
        #expect(transport.questions.count == (isPerAddress ? 5 : 4))
    }

    private func outcomes(
        of messages: [[UInt8]], from address: IPAddress
    ) async -> Result<[Result<LicenseOutcome, LicenseError>], LicenseError> {
        await fixture.onLoop(0) {
            [pipelines = fixture.pipelines, rules = fixture.rules] loop async throws(LicenseError) in
            let control = try pipelines.pipeline(on: loop).admissionControl
            let sender = try control.admitSender(
                presenting: LicensingFixture.carriers(of: Self.token, in: Self.header),
                from: RequestOrigin(address: address), renewal: RenewalWish(), under: rules, now: LicensingFixture.now,
                id: nil)
            let admissions = try control.admit(messages.map { LicenseRequest(message: $0) }, of: sender)
            var answers = try await pipelines.answer(
                admissions.compactMap { try? $0.get() }, now: LicensingFixture.now, on: loop
            ).makeIterator()
            return admissions.map { admission in admission.flatMap { _ in answers.next() ?? .failure(.overloaded) } }
        }
    }

    @Test func boundsWhatAllAddressesBuyTogether() async throws {
        configure { $0.rate = Rate(perSecond: 1, burst: 2) }
        for number: UInt32 in 1...2 { #expect(try await outcome(from: .v4(number)).failure == nil) }
        #expect(
            try await outcome(from: .v4(0x7f00_0009)).failure == .rateLimited(.unverifiedTokens, retryAfterSeconds: 2))
        #expect(fixture.operations.value == 2 && transport.questions.count == 2)
    }

    /// The buckets survive a reload, and the new rate applies immediately.
    @Test func aReloadGivesNoNewBurst() async throws {
        configure { $0.rate = Rate(perSecond: 1, burst: 2) }
        for _ in 0..<2 { #expect(try await outcome().failure == nil) }
        configure { $0.rate = Rate(perSecond: 1, burst: 2) }
        #expect(try await outcome().failure == .rateLimited(.unverifiedTokens, retryAfterSeconds: 2))
        configure { $0.rate = Rate(perSecond: 1, burst: 3) }
        #expect(try await outcome().failure == nil)
    }

    /// The container is read first: data that is not an SPC does not count in the rate, and costs no RSA.
    @Test func readsTheContainerBeforeItCounts() async throws {
        configure { $0.rate = Rate(perSecond: 1, burst: 1) }
        #expect(try await outcome([]).failure == .spc(.empty))
        #expect(try await outcome([1, 2, 3]).failure != nil)
        #expect(fixture.operations.value == 0)
        #expect(try await outcome().failure == nil)
    }

    /// Only tokens of the service's sources are treated in this way. Any other token is verified first.
    @Test func leavesOtherSourcesAlone() async throws {
        let message = try fixture.deviceRequest(.v1).message
        let opaque = await fixture.issue(message, token: Self.token)
        #expect(opaque.failure == .entitlement(.tokenMalformed(.notThreeParts)))
        #expect(fixture.operations.value == 0)
        #expect(await fixture.issue(message, token: try fixture.token()).failure == nil)
        #expect(transport.questions.isEmpty)
    }
}
