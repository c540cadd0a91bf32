import ByteCoding
import ContentKeys
import DatabaseSupport
import Entitlements
import EventLoops
import Foundation
import KeyCrypto
import Records
import Synchronization
import Telemetry
import TestSupport

@testable import AdminRoutes
@testable import LatchkeyService
@testable import Licensing
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import StoragePostgreSQL
@testable import StorageSQLite
@testable import Upkeep

/// A node without listeners: its decisions are settled in PostgreSQL and appended to its own ledger, which is shipped.
final class CrashingNode: Sendable {
    let decisions: SharedDecisionStore
    let shared: PostgreSQLStore
    private let ledger: SQLiteDecisionStore
    private let shipping: LedgerShipping
    private let upkeep: UpkeepLoop

    init(_ place: NodePlace) throws {
        shared = try PostgreSQLStore.open(
            place.settings(), keyRing: SampleKeys.keyRing(), mayBeAway: true)
        let chain = try NodePlace.chain()
        ledger = try SQLiteDecisionStore.open(path: place.ledgerPath, chain: chain)
        decisions = SharedDecisionStore(shared: shared, ledger: ledger)
        upkeep = try UpkeepLoop()
        shipping = LedgerShipping(
            path: place.ledgerPath,
            copy: LedgerCopy(
                chain: chain, label: chain.node.text, retention: 36_500 * 86_400, store: shared, ledger: ledger),
            on: upkeep.context, logger: Logger(level: .error, sink: MemoryLogSink()),
            clock: TrustedClock(.init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5))))
    }

    /// Ships the remaining rows, if the database answers, and stops everything.
    func stop() {
        ledger.stop()
        shipping.stop()
        shared.close()
    }
}

/// Where a crashing node stores its data. The members are texts, so that a child process can get them.
struct NodePlace {
    let url: String
    let passwordFile: String
    let schema: String
    let ledgerPath: String

    func settings() throws -> PostgreSQLSettings {
        // Other tests may keep the machine busy at the same time.
        var limits = PostgreSQLLimits()
        limits.connect = .seconds(60)
        limits.call = .seconds(30)
        limits.statement = .seconds(25)
        limits.lock = .seconds(20)
        let text = try String(contentsOfFile: passwordFile, encoding: .utf8)
        let password = SharedSecret(SecretBytes(copying: Array(text.utf8.prefix { $0 != UInt8(ascii: "\n") })))
        return PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(url)&schema=\(schema)"), password: password, limits: limits)
    }

    static func chain() throws -> LedgerChain {
        LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))), node: try NodeID("node-1"))
    }
}

/// The load of a node's child process until it dies: many licenses at the same time, each printed when it is
/// acknowledged.
enum NodeCrashLoad {
    static let slotLimit: UInt32 = 3
    static let tokenCount: UInt64 = 40
    static let groupCount: UInt64 = 15
    private static let taskCount: UInt64 = 16
    private static let end: Int64 = .max / 2

    /// A license that uses everything that can be counted. Nothing in it ends, because the node forgets what has ended.
    static func decision(_ number: UInt64) -> LicenseDecision {
        let answer = RecordedAnswer(license: SampleDecisions.license(number))
        return LicenseDecision(
            now: 0,
            replay: SampleDecisions.replay(number, window: end, keptUntil: end, answer: answer.bytes),
            tokenUse: SampleDecisions.use(number % tokenCount, limit: .max, keptUntil: end),
            devicePlaces: [SampleDecisions.place(owner: number % tokenCount, device: number % 3, limit: 3)],
            slotClaims: [
                SampleDecisions.slot(
                    group: number % groupCount, limit: slotLimit, .evictOldest, device: number, session: number,
                    content: number, heldUntil: end)
            ],
            entry: SampleDecisions.entry(number))
    }

    /// The number of a license that `decision` made.
    static func number(of license: LicenseID) -> UInt64 { license.bytes.low }

    /// Commits the licenses with these numbers from several tasks. Each is repeated until it is granted, as players do.
    static func run(
        _ numbers: Range<UInt64>, on node: CrashingNode, acknowledged: @escaping @Sendable () -> Void
    ) async {
        await withTaskGroup { tasks in
            for first in numbers.lowerBound..<numbers.lowerBound + taskCount {
                tasks.addTask {
                    for number in stride(from: first, to: numbers.upperBound, by: Int(taskCount)) {
                        await give(number, node)
                        say("ack \(number)")
                        acknowledged()
                    }
                }
            }
        }
    }

    private static func give(_ number: UInt64, _ node: CrashingNode) async {
        while true {
            do throws(StoreError) {
                switch try await node.decisions.commit(decision(number)) {
                case .recorded, .repeated: return
                case .denied(let denial): say("denied \(number) \(denial)")
                }
            } catch {
                say("err \(number)")
            }
            // Only a pace for the load while calls fail immediately: no result depends on it.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Writes one line without a buffer, so that it is not lost if the process ends next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // Safe: the bytes stay valid until the call returns.
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// The numbers after "ack". A line that was cut off is ignored.
    static func acknowledged(in output: [UInt8]) -> Set<UInt64> {
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return Set(lines.dropLast().compactMap { $0.hasPrefix("ack ") ? UInt64($0.dropFirst(4)) : nil })
    }

    /// Ends a process as `kill -9` does.
    static func kill(_ process: Int32) {
        _ = Foundation.kill(process, SIGKILL)
    }
}
