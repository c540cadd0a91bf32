import ByteCoding
import ContentKeys
import Glibc
import Records
import StoreConformance
import Synchronization

@testable import StorageSQLite

/// What a child process does until it dies: many licences at once, each said aloud once it was acknowledged.
enum CrashLoad {
    static let slotLimit: UInt32 = 3
    static let tokenCount: UInt64 = 40
    static let groupCount: UInt64 = 15
    private static let taskCount: UInt64 = 16

    /// A licence that spends everything that can be spent.
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

    /// What a licence makes of its rental.
    static func firstPlay(of number: UInt64) -> RentalRecord {
        RentalRecord(openedAt: 0, firstPlay: Int64(number))
    }

    /// The number of a licence that `decision` made.
    static func number(of license: LicenseID) -> UInt64 { license.bytes.low }

    static func open(_ path: String) throws -> SQLiteDecisionStore {
        try SQLiteDecisionStore.open(path: path, chain: SampleLedger.chain())
    }

    /// Commits the licences of these numbers from several tasks. Says "ack N" once one is acknowledged, and "err N"
    /// where it is not.
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

    /// The two keys of a call.
    static func wishes(_ number: UInt64) throws -> [KeyWish] {
        try [number * 2, number * 2 + 1].map {
            KeyProviderConformance.wish(try SampleKeys.record($0, content: "c-\(number)"))
        }
    }

    /// Makes keys from several tasks, as `run` commits licences.
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

    /// One line, written at once: what was said is heard even if the process ends next.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // The bytes live until the call returns.
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// Ends the process as `kill -9` does.
    static func die() {
        kill(getpid(), SIGKILL)
    }
}

/// What a child has said.
struct CrashReport {
    private(set) var acknowledged: Set<UInt64> = []
    private(set) var refused: Set<UInt64> = []
    /// All other lines, word by word.
    private(set) var others: [[String]] = []

    init(_ output: [UInt8]) {
        // A line that was cut off in the middle says nothing.
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

    /// The numbers behind a word that stands at the beginning of a line.
    func numbers(_ word: String) -> [[UInt64]] {
        others.filter { $0.first == word }.map { $0.dropFirst().compactMap { UInt64($0) } }
    }
}
