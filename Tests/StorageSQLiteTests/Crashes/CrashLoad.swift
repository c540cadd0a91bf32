import ByteCoding
import ContentKeys
import Glibc
import Records
import StoreConformance
import Synchronization
import TestSupport

@testable import StorageSQLite

/// The work of a child process until it is killed: many parallel licenses. It prints each one after its
/// acknowledgement.
enum CrashLoad {
    static let slotLimit: UInt32 = 3
    static let tokenCount: UInt64 = 40
    static let groupCount: UInt64 = 15
    private static let taskCount: UInt64 = 16

    /// Makes a license that spends everything that can be spent.
    static func decision(_ number: UInt64) -> LicenseDecision {
        var decision = LicenseDecision(
            now: 0, replay: SampleDecisions.replay(number, answer: [UInt8](repeating: 7, count: 100)),
            tokenUse: SampleDecisions.use(number % tokenCount, limit: .max),
            devicePlaces: [SampleDecisions.place(owner: number % tokenCount, device: number % 3, limit: 3)],
            slotClaims: [
                SampleDecisions.slot(
                    group: number % groupCount, limit: slotLimit, .evictOldest, device: number, session: number,
                    content: number)
            ],
            entry: SampleDecisions.entry(number))
        decision.rental = SampleDecisions.rental(number, known: nil, firstPlay(of: number))
        return decision
    }

    /// Returns the rental record that a license writes.
    static func firstPlay(of number: UInt64) -> RentalRecord {
        RentalRecord(openedAt: 0, firstPlay: Int64(number))
    }

    /// Returns the number of a license that `decision` made.
    static func number(of license: LicenseID) -> UInt64 { license.bytes.low }

    static func open(_ path: String) throws -> SQLiteDecisionStore {
        try SQLiteDecisionStore.open(path: path, chain: SampleLedger.chain())
    }

    /// Commits the licenses of these numbers from several tasks. Prints "ack N" after an acknowledgement, and "err N"
    /// after an error.
    static func run(
        _ numbers: Range<UInt64>, on store: SQLiteDecisionStore,
        acknowledged: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) async {
        await withTaskGroup { tasks in
            for first in numbers.lowerBound..<numbers.lowerBound + taskCount {
                tasks.addTask {
                    for number in stride(from: first, to: numbers.upperBound, by: Int(taskCount)) {
                        do throws(StoreError) {
                            guard try await store.commit(decision(number)) == .recorded else { continue }
                            say("ack \(number)")
                            acknowledged(number)
                        } catch {
                            say("err \(number)")
                        }
                    }
                }
            }
        }
    }

    /// Returns the wishes of a call, for two keys.
    static func wishes(_ number: UInt64) throws -> [KeyWish] {
        try [number * 2, number * 2 + 1].map {
            KeyProviderConformance.wish(try SampleKeys.record($0, content: "c-\(number)"))
        }
    }

    /// Makes keys from several tasks, in the same way as `run` commits licenses.
    static func provide(
        _ numbers: Range<UInt64>, on store: SQLiteKeyStore, acknowledged: @escaping @Sendable (UInt64) -> Void
    ) async throws {
        try await withThrowingTaskGroup { tasks in
            for first in numbers.lowerBound..<numbers.lowerBound + 4 {
                tasks.addTask {
                    for number in stride(from: first, to: numbers.upperBound, by: 4) {
                        guard try await store.provide(wishes(number)).count == 2 else { continue }
                        say("ack \(number)")
                        acknowledged(number)
                    }
                }
            }
            try await tasks.waitForAll()
        }
    }

    /// Writes a line immediately, so that it is not lost if the process is killed next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // The bytes are valid until the call returns.
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// Ends the process as `kill -9` does.
    static func die() {
        kill(getpid(), SIGKILL)
    }
}

/// The output of a child process.
struct CrashReport {
    private(set) var acknowledged: Set<UInt64> = []
    private(set) var refused: Set<UInt64> = []
    /// All other lines, split into words.
    private(set) var others: [[String]] = []

    init(_ output: [UInt8]) {
        // A line that was cut off is ignored.
        let text = String(decoding: output, as: UTF8.self)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 2, words[0] == "ack", let number = UInt64(words[1]) {
                acknowledged.insert(number)
            } else if words.count == 2, words[0] == "err", let number = UInt64(words[1]) {
                refused.insert(number)
            } else {
                others.append(words)
            }
        }
    }

    /// Returns the numbers after a word at the beginning of a line, for each such line.
    func numbers(_ word: String) -> [[UInt64]] {
        others.filter { $0.first == word }.map { $0.dropFirst().compactMap { UInt64($0) } }
    }
}
