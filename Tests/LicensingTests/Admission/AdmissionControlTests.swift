import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// Which requests are admitted, in which order the checks are made, and which rules apply.
@Suite struct AdmissionControlTests {
    private static let one = Rate(perSecond: 1, burst: 1)
    private static let here = RequestOrigin(address: .v4(0x7f00_0001))
    private static let tooOften = LicenseError.rateLimited(.address, retryAfterSeconds: 2)

    private let clock = ManualClock()
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture(clock: clock)
    }

    private func token() throws -> [UInt8] { try fixture.token(subject: "viewer-1") }

    private func ask(
        _ message: [UInt8]? = nil, token: [UInt8]?, from origin: RequestOrigin = here, isRenewal: Bool = false
    ) async throws -> LicenseError? {
        let request = LicenseRequest(
            message: try message ?? fixture.deviceRequest(.v1).message, origin: origin,
            renewal: RenewalWish(isRenewal: isRenewal))
        return await fixture.outcome(of: request, token: token).failure
    }

    /// A token that was looked for ahead is looked for once. A token from the body is looked for again.
    @Test func searchesForATokenOnce() async throws {
        let (token, message) = (try token(), try fixture.deviceRequest(.v1).message)
        let (pipelines, rules) = (fixture.pipelines, fixture.rules)
        let counts = await fixture.onLoop(0) { loop throws(LicenseError) -> [Int] in
            let control = try pipelines.pipeline(on: loop).admissionControl
            var searchCount = 0
            var carriers = TokenCarriers { name in
                searchCount += 1
                return name == "Authorization" ? ["Bearer " + String(decoding: token, as: UTF8.self)] : []
            }
            let pending = control.pendingSignatures(
                presenting: &carriers, from: nil, under: rules, now: LicensingFixture.now)
            let first = searchCount
            _ = try control.admit(
                LicenseRequest(message: message), presenting: carriers, under: rules, now: LicensingFixture.now)
            let second = searchCount
            _ = try control.admit(
                LicenseRequest(message: message), presenting: carriers.with(bodyToken: token), under: rules,
                now: LicensingFixture.now)
            return [pending.count, first, second - first, searchCount - second]
        }
        let found = try counts.get()
        #expect(found[0] == 1 && found[1] > 0 && found[2] == 0 && found[3] == found[1])
    }

    // MARK: Order

    /// The address is counted before anything else of a request is read.
    @Test func countsTheAddressFirst() async throws {
        fixture.reload { $0.rates = RequestRates(perAddress: Self.one) }
        #expect(try await ask([], token: nil) == .tokenMissing)
        #expect(try await ask([], token: nil) == Self.tooOften)
        #expect(try await ask(token: token()) == Self.tooOften)
        #expect(await fixture.holder(of: try token(), from: Self.here).failure == Self.tooOften)
        #expect(try await ask(token: token(), from: RequestOrigin(address: .v4(0x7f00_0002))) == nil)
        #expect(try await ask(token: token(), from: RequestOrigin()) == nil, "a unix socket has no address")
        #expect(fixture.operations.value == 2)
    }

    /// All addresses of a subscriber count as one party.
    @Test func countsTheAddressesOfASubscriberTogether() async throws {
        fixture.reload { $0.rates = RequestRates(perAddress: Self.one) }
        let addresses = try ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map { try #require(IPAddress($0)) }
        let failures = try await [
            ask(token: token(), from: RequestOrigin(address: addresses[0])),
            ask(token: token(), from: RequestOrigin(address: addresses[1])),
            ask(token: token(), from: RequestOrigin(address: addresses[2])),
        ]
        #expect(failures == [nil, Self.tooOften, nil])
    }

    /// The token is checked before the container, and the subject is counted only if both are good.
    @Test func countsTheSubjectLast() async throws {
        fixture.reload { $0.rates = RequestRates(perSubject: Self.one) }
        var view = RevocationView()
        view.revoke(.subject, "viewer-1", of: "portal")
        #expect(try await ask([], token: fixture.token(expiresIn: -60, subject: "viewer-1")) != .spc(.empty))
        #expect(try await ask([], token: token()) == .spc(.empty))
        fixture.shared.revocations.replace(with: view)
        #expect(try await ask([], token: token()) == .entitlement(.subjectDisabled))
        fixture.shared.revocations.replace(with: RevocationView())
        #expect(try await ask(token: token()) == nil)
        #expect(try await ask(token: token()) == .rateLimited(.subject, retryAfterSeconds: 2))
        #expect(await fixture.holder(of: try token()).failure == .rateLimited(.subject, retryAfterSeconds: 2))
        #expect(try await ask(token: fixture.token(subject: "viewer-2")) == nil)
        #expect(try await ask(token: fixture.token()) == nil)
        #expect(
            try await ask(token: fixture.token()) == .rateLimited(.subject, retryAfterSeconds: 2),
            "a token without a subject stands for itself")
        #expect(try await ask(token: fixture.token(tokenID: "t-1")) == nil)
        #expect(try await ask(token: fixture.token(expiresIn: 200)) == nil)
        #expect(fixture.operations.value == 5)
    }

    @Test func letsRenewalsGoOnForAnotherBurst() async throws {
        fixture.reload { $0.rates = RequestRates(perSubject: Self.one) }
        #expect(try await ask(token: token()) == nil)
        #expect(try await ask(token: token(), isRenewal: true) == nil)
        #expect(
            try await ask(token: token(), isRenewal: true) == .rateLimited(.subject, retryAfterSeconds: 2))
    }

    /// A request that is refused for its rate has no row in the ledger, and neither has one that waited without
    /// success.
    @Test func refusesWithoutARow() async throws {
        let ledger = RecordingLedger()
        let pseudonyms = try SampleDecisions.pseudonyms()
        let fixture = try LicensingFixture(
            refusals: { loop in
                RefusalRecorder(ledger: ledger, pseudonyms: pseudonyms, perSecond: 100, on: loop)
            }, clock: clock)
        fixture.reload { rules in
            rules.rates = RequestRates(all: Self.one)
            rules.overload.wait = .zero
        }
        let message = try fixture.deviceRequest(.v1).message
        let token = try fixture.token(subject: "viewer-1")
        #expect(await fixture.issue(message, token: token).failure == nil)
        #expect(await fixture.issue(message, token: token).failure == .overloaded)
        fixture.reload { $0.rates = RequestRates(perSubject: Self.one) }
        #expect(await fixture.issue(message, token: token).failure == nil)
        #expect(await fixture.issue(message, token: token).failure == .rateLimited(.subject, retryAfterSeconds: 2))
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(await fixture.issue(message, token: other).failure == .entitlement(.contentNotCovered))
        #expect(try await ledger.entries(atLeast: 1).count == 1)
    }

    @Test func findsTheTokenWhereTheRulesLook() async throws {
        fixture.reload { $0.finder = TokenFinder(ignoring: [.bearer]) }
        #expect(try await ask(token: token()) == .tokenMissing)
    }

    // MARK: Other rules

    /// The buckets survive a reload, and the new rate applies immediately.
    @Test func aReloadGivesNoNewBurst() async throws {
        fixture.reload { $0.rates = RequestRates(perAddress: Self.one) }
        #expect(try await ask(token: token()) == nil)
        fixture.reload { $0.rates = RequestRates(perAddress: Self.one) }
        #expect(try await ask(token: token()) == Self.tooOften)
        fixture.reload { $0.rates = RequestRates(perAddress: Rate(perSecond: 1, burst: 2)) }
        #expect(try await ask(token: token()) == nil)
        fixture.reload { $0.rates = RequestRates() }
        for _ in 0..<5 { #expect(try await ask(token: token()) == nil) }
    }

    /// New credentials and versions take effect with the new rules, on loops that have served requests before.
    @Test func aReloadBringsCredentialsAndVersions() async throws {
        let message = try fixture.deviceRequest(.v2).message
        #expect(try await ask(message, token: token()) == nil)
        let credentials = fixture.rules.fairplay.credentials
        try fixture.reload { $0.credentials = try CredentialSet([]) }
        guard case .spc(.unknownCertificate) = try await ask(message, token: token()) else {
            Issue.record("a removed credential has opened an SPC")
            return
        }
        fixture.reload { $0.credentials = credentials }
        let newer = try fixture.deviceRequest(.v2) {
            ($0.protocolVersionsSupported, $0.protocolVersionUsed) = ([1, 2], 2)
        }.message
        #expect(try await ask(newer, token: token()) == .spc(.rejected(.protocolVersion(used: 2))))
        fixture.reload { $0.servedVersions = [1, 2] }
        #expect(try await ask(newer, token: token()) == nil)
    }

    /// If the issuer of a token was removed, the token is refused immediately, although it was verified before.
    @Test func aReloadForgetsVerifiedTokens() async throws {
        let token = try token()
        #expect(try await ask(token: token) == nil)
        #expect(fixture.rules.entitlement.tokens.count == 1)
        try fixture.reload { $0.verifier = TokenVerifier(issuers: try IssuerSet([])) }
        #expect(fixture.rules.entitlement.tokens.count == 0)
        guard case .entitlement = try await ask(token: token) else {
            Issue.record("the token of a removed issuer was accepted")
            return
        }
    }

    /// A request that was admitted continues under the rules of its admission.
    @Test func aRequestKeepsItsRules() async throws {
        let fixture = fixture
        let loop = fixture.group.loops[0]
        let request = LicenseRequest(message: try fixture.deviceRequest(.v1).message)
        let token = try fixture.token([Right(.content("movie-1"), lease: 300)])
        let terms: [UInt32?] = await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(LicenseError) {
                    let pipeline = try fixture.pipelines.pipeline(on: loop)
                    var leases: [UInt32?] = []
                    let carriers = LicensingFixture.carriers(of: token)
                    let first = try pipeline.admissionControl.admit(
                        request, presenting: carriers, under: fixture.rules, now: LicensingFixture.now)
                    fixture.reload { $0.entitlementPolicy = EntitlementPolicy(common: PolicyRule(lease: 60)) }
                    let second = try pipeline.admissionControl.admit(
                        request, presenting: carriers, under: fixture.rules, now: LicensingFixture.now)
                    for admission in [first, second] {
                        let outcome = try await pipeline.answer(admission, now: LicensingFixture.now)
                        if case .license(let license) = outcome { leases.append(license.terms.lease?.value) }
                    }
                    continuation.resume(returning: leases)
                } catch {
                    Issue.record(error)
                    continuation.resume(returning: [])
                }
            }
        }
        #expect(terms == [300, 60])
    }
}
