import ByteCoding
import ContentKeys
import DatabaseSupport
import Entitlements
import EventLoops
import Foundation
import KeyCrypto
import Records
import StoreConformance
import Synchronization
import Telemetry
import TestSupport

@testable import LatchkeyService
@testable import Licensing
@testable import StoragePostgreSQL
@testable import StorageSQLite

/// A node among many, without its listeners: decisions that are settled in PostgreSQL and appended to a ledger of its
/// own, which is shipped.
final class CrashingNode: Sendable {
    let decisions: SharedDecisionStore
    let shared: PostgreSQLStore
    private let ledger: SQLiteDecisionStore
    private let shipping: LedgerShipping

    init(_ place: NodePlace) throws {
        shared = try PostgreSQLStore.open(
            place.settings(), keyRing: SampleKeys.keyRing(), mayBeAway: true)
        let chain = try NodePlace.chain()
        ledger = try SQLiteDecisionStore.open(path: place.ledgerPath, chain: chain)
        decisions = SharedDecisionStore(shared: shared, ledger: ledger)
        shipping = try LedgerShipping(
            path: place.ledgerPath,
            copy: LedgerCopy(
                chain: chain, label: chain.node, retention: 36_500 * 86_400, store: shared, ledger: ledger),
            logger: Logger(level: .error, sink: MemoryLogSink()),
            clock: TrustedClock(.init(stepTolerance: .seconds(30), settleTime: .seconds(3600), leeway: .seconds(5))))
    }

    /// Ships what is left, if the database answers, and ends everything.
    func stop() {
        ledger.stop()
        shipping.stop()
        shared.close()
    }
}

/// Where a crashing node keeps what it knows; texts, so that a child process can be told.
struct NodePlace {
    let url: String
    let passwordFile: String
    let schema: String
    let ledgerPath: String

    func settings() throws -> PostgreSQLSettings {
        // Tests run beside others that keep the machine busy.
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

/// What a node's child process does until it dies: many licences at once, each said aloud once it was acknowledged.
enum NodeCrashLoad {
    static let slotLimit: UInt32 = 3
    static let tokenCount: UInt64 = 40
    static let groupCount: UInt64 = 15
    private static let taskCount: UInt64 = 16
    private static let end: Int64 = .max / 2

    /// A licence that spends everything that can be spent. Nothing of it ends, because the node forgets what has ended.
    static func decision(_ number: UInt64) -> LicenseDecision {
        let answer = RecordedAnswer(license: SampleDecisions.license(number), use: .streaming)
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

    /// The number of a licence that `decision` made.
    static func number(of license: LicenseID) -> UInt64 { license.bytes.low }

    /// Commits the licences of these numbers from several tasks, each until it is given, as players ask again.
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
            // A pace for the load, while calls fail at once; nothing depends on it.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// One line, written at once: what was said is heard even if the process ends next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // The bytes live until the call returns.
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// The numbers behind "ack"; a line that was cut off in the middle says nothing.
    static func acknowledged(in output: [UInt8]) -> Set<UInt64> {
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return Set(lines.dropLast().compactMap { $0.hasPrefix("ack ") ? UInt64($0.dropFirst(4)) : nil })
    }

    /// Ends a process as `kill -9` does.
    static func kill(_ process: Int32) {
        _ = Foundation.kill(process, SIGKILL)
    }
}
