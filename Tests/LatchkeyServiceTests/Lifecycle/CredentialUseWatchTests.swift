import FairPlay
import KeyCrypto
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct CredentialUseWatchTests {
    private static let start: Int64 = 1_800_000_000

    private let clock = ManualClock(wallTime: WallTime(seconds: start))
    private let first: Credential
    private let second: Credential

    init() throws {
        first = try TestCredential.shared.get().credential
        second = try TestCredential(name: "second").credential.counting(in: CredentialUse())
    }

    private func watch(_ credentials: @escaping @Sendable () throws -> CredentialSet) -> CredentialUseWatch {
        CredentialUseWatch(
            { (try? credentials()) ?? { preconditionFailure("the credentials differ") }() }, clock: clock)
    }

    @Test func aCountThatHasGrownIsAUseNow() throws {
        let own = first.counting(in: CredentialUse())
        let watch = watch { [second] in try CredentialSet([own, second]) }
        #expect(watch.look() == [:])
        own.use.note()
        #expect(watch.look() == ["test": Self.start])
        clock.advance(by: .seconds(60))
        #expect(watch.look() == ["test": Self.start])
        second.use.note()
        #expect(watch.look() == ["test": Self.start, "second": Self.start + 60])
    }

    /// Credentials that are not configured any more have no series, and one that comes back counts from 0.
    @Test func onlyConfiguredCredentialsAreKnown() throws {
        let current = Mutex([first.counting(in: CredentialUse()), second])
        let watch = watch { try CredentialSet(current.withLock { $0 }) }
        for credential in current.withLock({ $0 }) { credential.use.note() }
        #expect(watch.look().count == 2)
        current.withLock { $0 = [second] }
        #expect(watch.look() == ["second": Self.start])
        current.withLock { $0 = [first.counting(in: CredentialUse()), second] }
        #expect(watch.look() == ["second": Self.start])
        current.withLock { $0[0].use.note() }
        #expect(watch.look().count == 2)
    }

    @Test func metricsShowCountsAndTimes() throws {
        let own = first.counting(in: CredentialUse())
        let watch = watch { [second] in try CredentialSet([own, second]) }
        let registry = MetricsRegistry()
        watch.register(in: registry)
        own.use.note()
        let text = registry.render()
        #expect(text.contains("latchkey_credential_requests_total{credential=\"test\"} 1\n"))
        #expect(text.contains("latchkey_credential_requests_total{credential=\"second\"} 0\n"))
        #expect(text.contains("latchkey_credential_last_use_timestamp_seconds{credential=\"test\"} \(Self.start)\n"))
        #expect(!text.contains("latchkey_credential_last_use_timestamp_seconds{credential=\"second\"}"))
    }
}
