import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// Several SPCs in one request.
@Suite struct SeveralKeysTests {
    private func code(_ outcome: Result<LicenseOutcome, LicenseError>) -> String {
        switch outcome {
        case .success(.license): "license"
        case .success(.syncReport): "sync"
        case .success(.playbackEnded): "ended"
        case .failure(let error): error.code.rawValue
        }
    }

    /// One verification, one batch of RSA and one commit. Each SPC has its own outcome.
    @Test func areAdmittedOnceAndCommittedTogether() async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(recorder: try store.recorder())
        let messages = [
            try fixture.deviceRequest(.v1).message, try fixture.deviceRequest(.v2, assetID: "movie-2").message,
            try fixture.deviceRequest(.v2).message,
        ]
        let outcomes = try await fixture.outcomes(of: messages, token: try fixture.token()).get()
        #expect(outcomes.map(code) == ["license", "content_mismatch", "license"])
        #expect(fixture.operations.value == 3)
        #expect(fixture.operations.batchCount == 1)
        #expect(store.batchSizes == [2])
        #expect(store.decisions.count == 2)
    }

    /// A malformed container costs nothing, and does not stop the others.
    @Test func areRefusedEachForItself() async throws {
        let fixture = try LicensingFixture()
        let good = try fixture.deviceRequest(.v1).message
        let outcomes = try await fixture.outcomes(
            of: [Array(good.dropLast()), good, [0, 0, 0, 9]], token: try fixture.token()
        ).get()
        #expect(outcomes.map(code) == ["spc_malformed", "license", "spc_version_unsupported"])
        #expect(fixture.operations.value == 1)
    }

    /// Several SPCs in one request count in the rate as much as if each came in its own request.
    @Test func takeAPlaceEachInTheRateOfTheirSubject() async throws {
        let fixture = try LicensingFixture(clock: ManualClock())
        fixture.reload { $0.rates = RequestRates(perSubject: Rate(perSecond: 1, burst: 5)) }
        let token = try fixture.token(subject: "viewer")
        for expected in [["license", "license", "license"], ["license", "license", "rate_limited"]] {
            let messages = try (0..<3).map { _ in try fixture.deviceRequest(.v1).message }
            #expect(try await fixture.outcomes(of: messages, token: token).get().map(code) == expected)
        }
        #expect(fixture.operations.value == 5)
        let message = try fixture.deviceRequest(.v1).message
        guard case .failure(.rateLimited(.subject, _)) = await fixture.outcomes(of: [message, message], token: token)
        else {
            Issue.record("the request was admitted")
            return
        }
    }

    /// The request's head counts once for the address, in place of the first SPC.
    @Test func takeAPlaceEachInTheRateOfTheirAddress() async throws {
        let fixture = try LicensingFixture(clock: ManualClock())
        fixture.reload { $0.rates = RequestRates(perAddress: Rate(perSecond: 1, burst: 2)) }
        let messages = try (0..<3).map { _ in try fixture.deviceRequest(.v1).message }
        let outcomes = try await fixture.outcomes(of: messages, token: try fixture.token(), from: .v4(0x7f00_0001))
            .get()
        #expect(outcomes.map(code) == ["license", "license", "rate_limited"])
    }

    /// A request that exceeds its subject's rate is refused as a whole. Malformed containers do not count in the rate.
    @Test func useUpNoRateWithoutAnSPC() async throws {
        let fixture = try LicensingFixture(clock: ManualClock())
        fixture.reload { $0.rates = RequestRates(perSubject: Rate(perSecond: 1, burst: 1)) }
        let token = try fixture.token(subject: "viewer")
        for _ in 0..<3 {
            let outcomes = try await fixture.outcomes(of: [[0, 0, 0, 1], [0, 0, 0, 2]], token: token).get()
            #expect(outcomes.map(code) == ["spc_malformed", "spc_malformed"])
        }
        let message = try fixture.deviceRequest(.v1).message
        #expect(try await fixture.outcomes(of: [message], token: token).get().map(code) == ["license"])
    }

    /// The same SPC twice in one request results in one license.
    @Test func mayBeCopiesOfEachOther() async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(recorder: try store.recorder())
        let message = try fixture.deviceRequest(.v1).message
        let outcomes = try await fixture.outcomes(of: [message, message], token: try fixture.token()).get()
        let ids = outcomes.compactMap { outcome in
            if case .success(.license(let license)) = outcome { return license.id }
            return nil
        }
        #expect(ids.count == 2 && ids.first == ids.last)
        #expect(fixture.operations.value == 1)
        #expect(store.decisions.count == 1)
    }

    /// Copies of a request with its SPCs in another order, on other loops: no copy waits without end.
    @Test func mayComeInEveryOrderAtOnce() async throws {
        let store = RecordingStore()
        let fixture = try LicensingFixture(loopCount: 3, recorder: try store.recorder())
        let token = try fixture.token()
        for _ in 0..<20 {
            let messages = try (0..<4).map { _ in try fixture.deviceRequest(.v1).message }
            let good = try await withThrowingTaskGroup(of: Int.self) { group in
                for turn in 0..<6 {
                    let turned = (0..<4).map { messages[turn.isMultiple(of: 2) ? $0 : 3 - $0] }
                    group.addTask {
                        try await fixture.outcomes(of: turned, token: token, loopIndex: turn % 3).get()
                            .count { (try? $0.get()) != nil }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(good == 24)
        }
        #expect(store.decisions.count == 80)
        #expect(fixture.operations.value == 80)
    }

    /// If the store fails, the outcome of each key says so.
    @Test func shareTheFailureOfTheStore() async throws {
        let store = RecordingStore(.failure(.unavailable(.notWritable)))
        let fixture = try LicensingFixture(recorder: try store.recorder())
        let messages = try (0..<2).map { _ in try fixture.deviceRequest(.v1).message }
        let outcomes = try await fixture.outcomes(of: messages, token: try fixture.token()).get()
        #expect(outcomes.map(code) == ["storage_unavailable", "storage_unavailable"])
    }

    @Test func needATokenAsOneDoes() async throws {
        let fixture = try LicensingFixture()
        let message = try fixture.deviceRequest(.v1).message
        guard case .failure(.tokenMissing) = await fixture.outcomes(of: [message], token: nil) else {
            Issue.record("the request was admitted")
            return
        }
        #expect(fixture.operations.value == 0)
    }
}

extension LicensingFixture {
    /// Sends several SPCs of one request through the pipeline, as the endpoint does.
    func outcomes(
        of messages: [[UInt8]], token: [UInt8]?, from address: IPAddress? = nil, loopIndex: Int = 0
    ) async -> Result<[Result<LicenseOutcome, LicenseError>], LicenseError> {
        await onLoop(loopIndex) { [pipelines, rules] loop async throws(LicenseError) in
            let control = try pipelines.pipeline(on: loop).admissionControl
            let sender = try control.admitSender(
                presenting: Self.carriers(of: token), from: RequestOrigin(address: address), renewal: RenewalWish(),
                under: rules, now: Self.now, id: nil)
            let admissions = try control.admit(messages.map { LicenseRequest(message: $0) }, of: sender)
            var rest = try await pipelines.answer(
                admissions.compactMap { try? $0.get() }, now: Self.now, on: loop
            ).makeIterator()
            return admissions.map { admission in
                switch admission {
                case .success: rest.next() ?? .failure(.overloaded)
                case .failure(let error): .failure(error)
                }
            }
        }
    }
}
