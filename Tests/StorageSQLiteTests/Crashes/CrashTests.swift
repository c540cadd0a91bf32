import ByteCoding
import CTestVFS
import ContentKeys
import Glibc
import Records
import Synchronization
import TestSupport
import Testing

@testable import StorageSQLite

/// Processes that are killed while they write. `Scripts/test-crashes` kills more of them than a normal run.
@Suite(.tags(.startsProcesses, .slow), .serialized) struct CrashTests {
    /// The number of processes that are killed in each test.
    private static let rounds = environmentNumber("LATCHKEY_CRASH_ROUNDS") ?? 10
    /// For each process, which operation fails, counted from 1.
    private static let faultPlaces: [UInt64] = rounds >= 50 ? Array(1...50) : [1, 2, 3, 7, 18, 40]

    private static func environmentNumber(_ name: String) -> Int? {
        // The test process never changes its environment, and the text is copied immediately.
        unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
    }

    /// The number of processes that are killed on one database, one after the other.
    private static let deathsPerDatabase = 15

    /// Several processes write the same database one after the other. Each is killed after a random number of
    /// acknowledgements.
    @Test func losesNothingWhenItIsKilled() async throws {
        var random = SeededGenerator.announced("a store loses nothing when it is killed")
        var folder = try TemporaryFolder()
        var acknowledged: Set<UInt64> = []
        for round in 0..<Self.rounds {
            if round % Self.deathsPerDatabase == 0 { (folder, acknowledged) = (try TemporaryFolder(), []) }
            let path: String = folder.database
            let first = UInt64(round) * 10_000
            let last = Int.random(in: 0..<300, using: &random)
            let result = await #expect(
                processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) { [path = path as String, first = first as UInt64, last = last as Int] in
                let store = try CrashLoad.open(path)
                let count = Atomic<Int>(0)
                await CrashLoad.run(first..<first + 9_000, on: store) { _ in
                    if count.add(1, ordering: .relaxed).oldValue == last { CrashLoad.die() }
                }
            }
            let report = CrashReport(result?.standardOutputContent ?? [])
            #expect(report.acknowledged.count >= last && report.refused.isEmpty)
            acknowledged.formUnion(report.acknowledged)
            try CrashedDatabase(path: path).check(acknowledged: acknowledged, "round \(round)")
        }
    }

    /// A power cut at a random write or sync loses some or all of the bytes that were not synced.
    @Test func losesNothingWhenThePowerGoes() async throws {
        var random = SeededGenerator.announced("a store loses nothing when the power goes")
        var acknowledgedCount = 0
        var folder = try TemporaryFolder()
        var acknowledged: Set<UInt64> = []
        for round in 0..<Self.rounds {
            if round % Self.deathsPerDatabase == 0 { (folder, acknowledged) = (try TemporaryFolder(), []) }
            let path: String = folder.database
            let first = UInt64(round) * 10_000
            let place = UInt64.random(in: 1...600, using: &random)
            let seed = round % 3 == 0 ? 0 : UInt64.random(in: 1 ... .max, using: &random)
            // In some rounds the power is cut while the database is opened and recovers from the previous cut.
            let isEarly = round % 4 == 3
            let result = await #expect(
                processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) {
                [
                    path = path as String, first = first as UInt64, place = place as UInt64, seed = seed as UInt64,
                    isEarly = isEarly as Bool
                ] in
                guard latchkey_test_vfs_install() == 0 else { return }
                if isEarly { latchkey_test_vfs_arm(LATCHKEY_FAULT_POWER, place % 12 + 1, 1, seed) }
                let store = try CrashLoad.open(path)
                if !isEarly { latchkey_test_vfs_arm(LATCHKEY_FAULT_POWER, place, 1, seed) }
                await CrashLoad.run(first..<first + 9_000, on: store)
                latchkey_test_vfs_cut(seed)
            }
            acknowledged.formUnion(CrashReport(result?.standardOutputContent ?? []).acknowledged)
            acknowledgedCount += acknowledged.count
            let database = CrashedDatabase(path: path)
            database.forgetSharedMemory()
            try database.check(acknowledged: acknowledged, "round \(round)")
        }
        #expect(acknowledgedCount > 0)
    }

    /// A process that makes keys for packagers, two in each call, is killed or loses its power.
    ///
    /// Both keys of a call are stored, or none of them, and no delivered key is lost.
    @Test func losesNoKeyThatWasGivenOut() async throws {
        var random = SeededGenerator.announced("a provider of keys loses nothing when its process dies")
        let folder = try TemporaryFolder()
        let path: String = folder.database
        var acknowledged: Set<UInt64> = []
        for round in 0..<Self.rounds {
            let first = UInt64(round) * 10_000
            let last = Int.random(in: 0..<20, using: &random)
            let place = round % 2 == 0 ? 0 : UInt64.random(in: 1...60, using: &random)
            let result = await #expect(
                processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) {
                [
                    path = path as String, first = first as UInt64, last = last as Int, place = place as UInt64
                ] in
                guard latchkey_test_vfs_install() == 0 else { return }
                let store = try SQLiteKeyStore.open(path: path, keyRing: SampleKeys.keyRing(), maximumReaders: 4)
                if place > 0 { latchkey_test_vfs_arm(LATCHKEY_FAULT_POWER, place, 1, place) }
                let count = Atomic<Int>(0)
                try await CrashLoad.provide(first..<first + 400, on: store) { _ in
                    // A process that dies amid the power cut would leave half of the simulated disk.
                    if place == 0, count.add(1, ordering: .relaxed).oldValue == last { CrashLoad.die() }
                }
                latchkey_test_vfs_cut(0)
            }
            acknowledged.formUnion(CrashReport(result?.standardOutputContent ?? []).acknowledged)
            CrashedDatabase(path: path).forgetSharedMemory()
            try await CrashedDatabase(path: path).checkKeys(acknowledged: acknowledged, "round \(round)")
        }
        #expect(!acknowledged.isEmpty)
    }

    /// An error of the disk becomes an error of the callers, and the store recovers by itself. After a later power cut,
    /// everything that was acknowledged before and after the error is there.
    @Test(arguments: [LATCHKEY_FAULT_SYNC_EIO, LATCHKEY_FAULT_WRITE_ENOSPC, LATCHKEY_FAULT_WRITE_EIO].map(\.rawValue))
    func losesNothingWhenTheDiskFails(fault: UInt32) async throws {
        var refusedCount = 0
        for (round, place) in Self.faultPlaces.enumerated() {
            let folder = try TemporaryFolder()
            let path: String = folder.database
            let times: UInt64 = round % 3 == 2 ? 5 : 1
            let result = await #expect(
                processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) { [path = path as String, fault = fault as UInt32, place = place as UInt64, times = times as UInt64] in
                guard latchkey_test_vfs_install() == 0 else { return }
                let store = try CrashLoad.open(path)
                latchkey_test_vfs_arm(latchkey_test_fault(rawValue: fault), place, times, 0)
                var next: UInt64 = 0
                // Commits licenses until all planned faults have happened, and some more after them.
                while latchkey_test_vfs_failed() < times, next < 20_000 {
                    await CrashLoad.run(next..<next + 100, on: store)
                    next += 100
                }
                await CrashLoad.run(next..<next + 100, on: store)
                CrashLoad.say("failed \(latchkey_test_vfs_failed())")
                CrashLoad.say("last \(next) \(next + 100)")
                latchkey_test_vfs_cut(0)
            }
            let report = CrashReport(result?.standardOutputContent ?? [])
            let comment: Comment = "fault \(fault) at \(place), \(times) times"
            #expect(report.numbers("failed") == [[times]], comment)
            let last = try #require(report.numbers("last").first, comment)
            #expect(report.acknowledged.isSuperset(of: last[0]..<last[1]), comment)
            refusedCount += report.refused.count
            let database = CrashedDatabase(path: path)
            database.forgetSharedMemory()
            try database.check(acknowledged: report.acknowledged, comment)
        }
        #expect(refusedCount > 0, "some of the faults hit a batch, whose callers got an error")
    }

    /// The file is synced between the write of a license's row and its acknowledgement.
    @Test func syncsEachRowBeforeItIsAcknowledged() async throws {
        let folder = try TemporaryFolder()
        let path: String = folder.database
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [path = path as String] in
            guard latchkey_test_vfs_install() == 0 else { return }
            let store = try CrashLoad.open(path)
            latchkey_test_vfs_trace(1)
            let marks = Mutex<[UInt64: UInt64]>([:])
            await CrashLoad.run(0..<160, on: store) { number in
                let mark = latchkey_test_vfs_mark()
                marks.withLock { $0[number] = mark }
            }
            for (number, mark) in marks.withLock({ $0 }) {
                let license = SampleDecisions.license(number).bytes.bytes
                // The bytes are valid until the call returns.
                let write = unsafe latchkey_test_vfs_find_write(license, license.count)
                CrashLoad.say("trace \(number) \(write) \(latchkey_test_vfs_find_sync(write)) \(mark)")
            }
            store.stop()
        }
        let trace = CrashReport(result?.standardOutputContent ?? []).numbers("trace")
        #expect(trace.count == 160)
        for line in trace {
            let (write, sync, acknowledgement) = (line[1], line[2], line[3])
            #expect(0 < write && write < sync && sync < acknowledgement, "license \(line[0])")
        }
    }
}
