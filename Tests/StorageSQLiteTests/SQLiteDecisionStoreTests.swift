import ByteCoding
import ContentKeys
import EventLoops
import Foundation
import Glibc
import KeyCrypto
import Records
import StoreConformance
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct SQLiteDecisionStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(
        loops: [LoopContext] = [], chain: LedgerChain? = nil, options: SQLiteDecisionStore.Options = .init()
    ) throws -> SQLiteDecisionStore {
        try SQLiteDecisionStore.open(
            path: folder.database, chain: chain ?? SampleLedger.chain(), loops: loops, options: options)
    }

    @Test(arguments: DecisionConformance.Case.allCases)
    func decides(by rule: DecisionConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await DecisionConformance.run(rule, on: [WholeDecisionStore(store)])
    }

    @Test(.tags(.slow), arguments: DecisionConformance.Case.allCases)
    func settles(by rule: DecisionConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await DecisionConformance.run(rule, on: [store])
        #expect(store.statistics.rowCount == 0)
    }

    /// A tool beside the daemon follows the same rules, and both write to the same ledger.
    @Test(.tags(.slow), arguments: DecisionConformance.Case.allCases)
    func decidesBesideATool(by rule: DecisionConformance.Case) async throws {
        var options = SQLiteDecisionStore.Options()
        options.locksLedger = false
        let stores = [try open(), try open(options: options)]
        defer { for store in stores { store.stop() } }
        try await DecisionConformance.run(rule, on: stores.map { WholeDecisionStore($0) })
        let rowCount = stores.reduce(0) { $0 + $1.statistics.rowCount }
        #expect(try SampleLedger.verify(folder.database).count == rowCount)
    }

    /// The decisions of one request cost one sync of the disk, and each has its own outcome.
    @Test func commitsDecisionsTogether() async throws {
        let store = try open()
        defer { store.stop() }
        func decision(_ number: UInt8) throws -> LicenseDecision {
            let name = try #require(Pseudonym([UInt8](repeating: number, count: Pseudonym.size)))
            var decision = LicenseDecision(
                now: 1000,
                entry: LedgerEntry(
                    kind: .licenseIssued, at: 1000,
                    license: LicenseID(milliseconds: 1_000_000, random: Bytes16(high: 0, low: UInt64(number)))))
            decision.replay = ReplayRecord(
                request: name, retryWindow: 60, keptUntil: 5000, answer: [number])
            return decision
        }
        _ = try await store.commit(try decision(2))
        let before = store.statistics
        let outcomes = await store.commit(together: try [1, 2, 3].map(decision))
        #expect(try outcomes.map { try $0.get() } == [.recorded, .repeated(answer: [2]), .recorded])
        #expect(store.statistics.batchCount == before.batchCount + 1)
        #expect(store.statistics.rowCount == before.rowCount + 2)
        try await store.append(together: [try decision(4).entry, try decision(5).entry])
        #expect(store.statistics.batchCount == before.batchCount + 2)
        #expect(store.statistics.rowCount == before.rowCount + 4)
    }

    /// A cell without a meaning concerns the account that it belongs to. The others of the same commit are recorded.
    @Test func aMalformedCellFailsItsOwnAccountAlone() async throws {
        let store = try open()
        defer { store.stop() }
        func decision(_ number: UInt64, group: UInt64) -> LicenseDecision {
            LicenseDecision(
                now: 0, replay: SampleDecisions.replay(number),
                slotClaims: [SampleDecisions.slot(group: group, device: number, session: number)],
                entry: SampleDecisions.entry(number))
        }
        #expect(try await store.commit(decision(1, group: 1)) == .recorded)
        var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 60_000)
        try other.execute("UPDATE cell SET value = x'0107' WHERE kind = 4")
        let outcomes = await store.commit(together: [decision(2, group: 1), decision(3, group: 2)])
        #expect(outcomes == [.failure(.recordMalformed), .success(.recorded)])
        await #expect(throws: StoreError.recordMalformed) { try await store.commit(decision(4, group: 1)) }
        await #expect(throws: StoreError.recordMalformed) {
            try await store.release(decision(1, group: 1).slotClaims, at: 0)
        }
        #expect(
            try other.readInteger("SELECT count(*) FROM cell WHERE kind = 1") == 2, "nothing of the failed ones is kept"
        )
        #expect(try SampleLedger.verify(folder.database).count == 2)
    }

    @Test(arguments: RevocationConformance.Case.allCases)
    func revokes(by rule: RevocationConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await RevocationConformance.run(rule, on: [store])
    }

    @Test(arguments: AccountConformance.Case.allCases)
    func managesAccounts(by rule: AccountConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await AccountConformance.run(rule, on: [store])
    }

    /// The command uses the store beside the daemon.
    @Test(arguments: AccountConformance.Case.allCases)
    func managesAccountsBesideATool(by rule: AccountConformance.Case) async throws {
        var options = SQLiteDecisionStore.Options()
        options.locksLedger = false
        let stores = [try open(), try open(options: options)]
        defer { for store in stores { store.stop() } }
        try await AccountConformance.run(rule, on: stores)
    }

    /// Two stores in turn, as a daemon and a tool beside it.
    @Test(.tags(.slow)) func keepsCellsAsTheRulesSay() async throws {
        var options = SQLiteDecisionStore.Options()
        options.locksLedger = false
        let stores = [try open(), try open(options: options)]
        defer { for store in stores { store.stop() } }
        try await AccountDifferential.run(count: TestLength.inputs(short: 2_000, long: 20_000), on: stores)
    }

    /// A change has a row. A call that changed nothing has none.
    @Test func recordsChangesOfAccountsWithTheirRows() async throws {
        let store = try open()
        defer { store.stop() }
        let place = SampleDecisions.place(device: 1, limit: 1)
        let decision = LicenseDecision(now: 0, devicePlaces: [place], entry: SampleDecisions.entry(1))
        #expect(try await store.commit(decision) == .recorded)
        var entry = SampleDecisions.entry(2)
        entry.kind = .deviceRemoved
        entry.actor = "token:desk"
        let removal = AccountChange.removeDevice(owner: place.owner, device: place.device)
        #expect(try await store.make(removal, recording: entry))
        #expect(try await store.make(removal, recording: entry) == false)
        store.stop()
        #expect(try SampleLedger.verify(folder.database).map(\.kind) == [.licenseIssued, .deviceRemoved])
    }

    @Test(arguments: ChallengeConformance.Case.allCases)
    func keepsChallenges(by rule: ChallengeConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await ChallengeConformance.run(rule, on: [store])
    }

    @Test(arguments: SlotReleaseConformance.Case.allCases)
    func releasesSlots(by rule: SlotReleaseConformance.Case) async throws {
        let store = try open()
        defer { store.stop() }
        try await SlotReleaseConformance.run(rule, on: [store])
    }

    @Test func recordsWhatItGrantedAndNothingElse() async throws {
        let store = try open()
        var expected: [LedgerEntry] = []
        for number in 1...20 as ClosedRange<UInt64> {
            let decision = LicenseDecision(
                now: 5, tokenUse: SampleDecisions.use(limit: 7), entry: SampleDecisions.entry(number, at: 5))
            if try await store.commit(decision) == .recorded { expected.append(decision.entry) }
        }
        let refusal = LedgerEntry(kind: .licenseRefused, at: 6, license: SampleDecisions.license(99), detail: "no")
        try await store.append(refusal)
        store.stop()
        #expect(expected.count == 7)
        #expect(try SampleLedger.verify(folder.database) == (expected + [refusal]).map(\.bounded))
    }

    @Test func goesOnWhereItStoppedAfterReopening() async throws {
        for round in 1...4 as ClosedRange<UInt64> {
            let store = try open()
            for number in 1...3 as ClosedRange<UInt64> {
                let outcome = try await store.commit(
                    LicenseDecision(
                        now: 1, replay: SampleDecisions.replay(number, answer: [UInt8(round)]),
                        tokenUse: SampleDecisions.use(limit: 3),
                        devicePlaces: [SampleDecisions.place(device: number, limit: 3)],
                        slotClaims: [SampleDecisions.slot(limit: 3, device: number, session: number)],
                        entry: SampleDecisions.entry(number)))
                #expect(outcome == (round == 1 ? .recorded : .repeated(answer: [1])))
            }
            let fourth = LicenseDecision(
                now: 1, slotClaims: [SampleDecisions.slot(limit: 3, device: 4, session: 4)],
                entry: SampleDecisions.entry(4))
            #expect(try await store.commit(fourth) == .denied(.slotsFull(current: 3, limit: 3)))
            try await store.append(SampleDecisions.entry(100 + round))
            store.stop()
        }
        #expect(try SampleLedger.verify(folder.database).count == 7)
    }

    @Test func letsOneDaemonAtATimeHaveTheLedger() throws {
        let store = try open()
        #expect(throws: StorageOpeningError.inUse(path: folder.database)) { try open() }
        store.stop()
        try open().stop()
    }

    @Test func refusesTheLedgerOfAnotherKeyOrNode() async throws {
        let store = try open()
        try await store.append(SampleDecisions.entry(1))
        store.stop()
        for chain in [try SampleLedger.chain(key: 9), try SampleLedger.chain(node: "node-2")] {
            #expect(throws: StorageOpeningError.ledgerDiffers(path: folder.database)) { try open(chain: chain) }
        }
        try open().stop()
    }

    @Test func refusesALedgerWhoseEndWasAltered() async throws {
        let store = try open()
        for number in 1...3 as ClosedRange<UInt64> { try await store.append(SampleDecisions.entry(number)) }
        store.stop()
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try connection.execute("UPDATE ledger_entry SET body = zeroblob(length(body)) WHERE sequence = 3")
        #expect(throws: StorageOpeningError.ledgerDiffers(path: folder.database)) { try open() }
        try connection.execute("DELETE FROM ledger_entry WHERE sequence = 3")
        #expect(throws: StorageOpeningError.ledgerDiffers(path: folder.database)) { try open() }
        // If all rows of the last batches are missing together with their seals, only a checkpoint that is kept
        // elsewhere shows it.
        try connection.execute("DELETE FROM ledger_batch WHERE last_sequence = 3")
        try open().stop()
    }

    /// No altered number in the last two batches makes the program crash.
    @Test(
        arguments: [
            "UPDATE ledger_batch SET last_sequence = 1 WHERE first_sequence = 3",
            "UPDATE ledger_batch SET last_sequence = 2 WHERE first_sequence = 3",
            "UPDATE ledger_batch SET last_sequence = 9223372036854775807 WHERE first_sequence = 3",
            "UPDATE ledger_batch SET last_sequence = 9223372036854775807 WHERE first_sequence = 2",
            "UPDATE ledger_batch SET last_sequence = -9223372036854775808 WHERE first_sequence = 2",
        ] as [StaticString])
    func refusesALedgerWhoseLastSequencesWereAltered(sql: StaticString) async throws {
        let store = try open()
        for number in 1...3 as ClosedRange<UInt64> { try await store.append(SampleDecisions.entry(number)) }
        store.stop()
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try connection.execute(sql)
        #expect(connection.changedRowCount == 1)
        #expect(throws: StorageOpeningError.ledgerDiffers(path: folder.database)) { try open() }
    }

    @Test func refusesWhatComesAfterItsEnd() async throws {
        let store = try open()
        store.stop()
        store.stop()
        await #expect(throws: StoreError.unavailable(.notWritable)) {
            try await store.append(SampleDecisions.entry(1))
        }
        #expect(try await store.revocations(at: 0) == [])
    }

    /// A revocation and its ledger entry are written in one transaction.
    @Test func revokesAndSaysSoOrDoesNeither() async throws {
        let store = try open()
        let revocation = Revocation(kind: .tokenID, value: "t-1", until: nil, revokedAt: 5, reason: "")
        var entry = SampleDecisions.entry(1, at: 5)
        entry.kind = .revoked
        try await store.revoke(revocation, recording: entry)
        #expect(try await store.revocations(at: 5) == [revocation])
        #expect(try await store.lift(revocation, recording: SampleDecisions.entry(2, at: 6)))
        #expect(try await store.lift(revocation, recording: SampleDecisions.entry(3, at: 7)) == false)
        try await store.keep(revocation, recording: SampleDecisions.entry(4, at: 8))
        #expect(try await store.pendingRevocations() == [revocation])
        #expect(try await store.revocations(at: 5) == [])
        var again = revocation
        again.revokedAt = 9
        try await store.drop(again)
        #expect(try await store.pendingRevocations() == [revocation], "it has been changed in the meantime")
        try await store.drop(revocation)
        #expect(try await store.pendingRevocations() == [])
        store.stop()
        await #expect(throws: StoreError.self) {
            try await store.revoke(revocation, recording: SampleDecisions.entry(5, at: 10))
        }
        #expect(try await store.revocations(at: 0) == [])
        #expect(try SampleLedger.verify(folder.database).count == 3)
    }

    /// Callers on loops are resumed on their own loop, and share batches.
    @Test func answersCallersOnTheirLoops() async throws {
        let group = try EventLoopGroup(count: 2)
        let store = try open(loops: group.loops)
        let done = Monitor((answers: 0, strays: 0))
        for number in 0..<400 as Range<UInt64> {
            let loop = group.loops[Int(number % 2)]
            loop.spawn {
                let outcome = try? await store.commit(
                    LicenseDecision(now: 0, entry: SampleDecisions.entry(number)))
                let isStray = !loop.isCurrent || outcome != .recorded
                done.update { $0 = ($0.answers + 1, $0.strays + (isStray ? 1 : 0)) }
            }
        }
        let (answers, strays) = done.wait { $0.answers == 400 ? $0 : nil }
        #expect(answers == 400 && strays == 0)
        #expect(store.statistics.requestCount == 400)
        #expect(store.statistics.batchCount < 400, "requests share commits")
        group.stop(within: .seconds(5))
        store.stop()
        #expect(try SampleLedger.verify(folder.database).count == 400)
    }

    /// While another process holds the file's lock, requests wait. Requests that do not fit in the queue are refused
    /// immediately.
    @Test func refusesWhatDoesNotFitIntoItsQueue() async throws {
        var options = SQLiteDecisionStore.Options()
        options.queueLengthMaximum = 4
        options.batchSizeMaximum = 2
        options.busyTimeoutMilliseconds = 300_000
        let store = try open(options: options)
        var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try other.beginImmediate()
        let results = await withTaskGroup(of: Bool.self) { tasks in
            for number in 0..<20 as Range<UInt64> {
                tasks.addTask {
                    do throws(StoreError) {
                        try await store.append(SampleDecisions.entry(number))
                        return true
                    } catch {
                        return error != .unavailable(.busy)
                    }
                }
            }
            var results: [Bool] = []
            // Of 20 requests, at most 2 are in the current batch and 4 wait.
            while results.count < 14, let result = await tasks.next() { results.append(result) }
            #expect(results == [Bool](repeating: false, count: 14))
            other.rollBack()
            for await result in tasks { results.append(result) }
            return results
        }
        let storedCount = results.count { $0 }
        #expect((4...6).contains(storedCount))
        #expect(store.statistics.refusedCount == 20 - storedCount)
        store.stop()
        #expect(try SampleLedger.verify(folder.database).count == storedCount)
    }

    /// If a write hangs, callers wait at most for the configured time, and later callers do not wait at all. `stop`
    /// does not wait for the write either.
    @Test func answersWhileAWriteHangs() async throws {
        var options = SQLiteDecisionStore.Options()
        options.busyTimeoutMilliseconds = 300_000
        options.patience = .milliseconds(50)
        let store = try open(options: options)
        try await store.append(SampleDecisions.entry(1))
        #expect(store.condition == .sound)
        var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try other.beginImmediate()
        await #expect(throws: StoreError.unavailable(.hanging)) { try await store.append(SampleDecisions.entry(2)) }
        #expect(store.condition == .hanging)
        await #expect(throws: StoreError.unavailable(.hanging)) { try await store.append(SampleDecisions.entry(3)) }
        #expect(store.statistics.lateCount == 1 && store.statistics.queueLength == 0)
        #expect(!store.stop(within: .milliseconds(50)))
        // The requested write may still happen later.
        other.rollBack()
        #expect(store.stop(within: .seconds(60)))
        #expect(store.condition == .sound)
        #expect(try SampleLedger.verify(folder.database).count == 2)
    }

    @Test func isSoundAgainWhenAWriteComesBack() async throws {
        var options = SQLiteDecisionStore.Options()
        options.busyTimeoutMilliseconds = 300_000
        options.patience = .milliseconds(50)
        let store = try open(options: options)
        defer { store.stop() }
        var other = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try other.beginImmediate()
        await #expect(throws: StoreError.unavailable(.hanging)) { try await store.append(SampleDecisions.entry(1)) }
        other.rollBack()
        store.setPatience(.seconds(60))
        #expect(await comes(to: .sound, store))
        try await store.append(SampleDecisions.entry(2))
    }

    private func comes(to condition: WriterCondition, _ store: SQLiteDecisionStore) async -> Bool {
        for _ in 0..<3000 where store.condition != condition {
            // The pause only limits the polling rate; the result does not depend on it.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return store.condition == condition
    }

    /// No write is acknowledged after the file was deleted or moved. A file that was put in its place is another file.
    @Test(arguments: [true, false])
    func acknowledgesNothingWithoutItsFile(isReplaced: Bool) async throws {
        let store = try open()
        defer { store.stop() }
        try await store.append(SampleDecisions.entry(1))
        let kept = folder.database + "-kept"
        try #require(Files.move(folder.database, to: kept))
        if isReplaced { try #require(Files.write([1, 2, 3], to: folder.database)) }
        await #expect(throws: StoreError.unavailable(.replaced)) { try await store.append(SampleDecisions.entry(2)) }
        #expect(store.condition == .replaced)
        await #expect(throws: StoreError.unavailable(.replaced)) { try await store.append(SampleDecisions.entry(3)) }
        // The watch notices this without a request too, and notices when the file is back.
        try #require(Files.move(kept, to: folder.database))
        #expect(await comes(to: .sound, store))
        try await store.append(SampleDecisions.entry(4))
        try #require(Files.remove(folder.database))
        #expect(await comes(to: .replaced, store))
    }

    /// An empty database in the place of a lost one would have forgotten every use.
    @Test(arguments: [true, false])
    func makesNoDatabaseWhereItHadOne(isEmptied: Bool) async throws {
        let store = try open()
        try await store.append(SampleDecisions.entry(1))
        store.stop()
        for suffix in ["", "-wal", "-shm"] { _ = Files.remove(folder.database + suffix) }
        if isEmptied { try #require(Files.write([], to: folder.database)) }
        let missing = StorageOpeningError.databaseMissing(path: folder.database)
        #expect(throws: missing) { try open() }
        #expect(throws: missing) {
            try SQLiteKeyStore.open(path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        }
        try SQLiteDecisionStore.allowNew(path: folder.database)
        try open().stop()
        // If the database exists, `allowNew` changes nothing.
        try SQLiteDecisionStore.allowNew(path: folder.database)
        try #require(Files.remove(folder.database))
        #expect(throws: missing) { try open() }
    }

    /// The manual says `mv latchkey.db* lost/`. What this pattern matches may be gone.
    @Test func makesNoDatabaseWhereAllFilesOfItsNameWereMoved() async throws {
        let store = try open()
        try await store.append(SampleDecisions.entry(1))
        store.stop()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix("latchkey.db") {
            try #require(Files.remove("\(folder.path)/\(name)"))
        }
        #expect(throws: StorageOpeningError.databaseMissing(path: folder.database)) { try open() }
        // A restore is possible nevertheless.
        try DatabaseReplacement(path: folder.database).abandon()
        try SQLiteDecisionStore.allowNew(path: folder.database)
        try open().stop()
    }

    /// A start that ends before it has made the tables leaves an empty file and a lock without the mark.
    @Test func goesOnAfterAnInterruptedStart() throws {
        try #require(Files.write([], to: folder.database))
        _ = try NodeLock(databasePath: folder.database)
        try open().stop()
    }

    @Test func keepsDecisionsUntilTheirMarkHasPassed() async throws {
        let store = try open()
        defer { store.stop() }
        func decision(_ number: UInt64) -> LicenseDecision {
            var decision = LicenseDecision(
                now: 7, replay: SampleDecisions.replay(number, answer: [1, 2]),
                tokenUse: SampleDecisions.use(number, limit: 3),
                devicePlaces: [SampleDecisions.place(device: number, limit: 3)],
                slotClaims: [SampleDecisions.slot(limit: 3, device: number, session: number)],
                entry: SampleDecisions.entry(number))
            decision.sessionTokenUse = SessionTokenUse(
                session: SampleDecisions.spread(.token, number), generation: 4, keptUntil: 99)
            return decision
        }
        #expect(try await store.latestMark() == 0)
        for (number, mark) in [(1, nil), (2, 5), (3, 6), (4, nil)] as [(UInt64, Int64?)] {
            try await store.append(SampleDecisions.entry(number), keeping: decision(number), mark: mark)
        }
        let owed = try await store.owedDecisions(limit: 10)
        #expect(owed.map(\.number) == [1, 4])
        #expect(try await store.owedDecisions(limit: 1).map(\.number) == [1])
        for (kept, number) in zip(owed, [1, 4] as [UInt64]) {
            let known = decision(number)
            #expect(kept.decision.replay == known.replay && kept.decision.tokenUse == known.tokenUse)
            #expect(kept.decision.devicePlaces == known.devicePlaces && kept.decision.slotClaims == known.slotClaims)
            #expect(kept.decision.sessionTokenUse == known.sessionTokenUse && kept.decision.now == known.now)
            #expect(kept.decision.entry.license == known.entry.license)
        }
        #expect(try await store.latestMark() == 6)
        #expect(try await store.keptDecisions(from: 5, behind: 0, limit: 10).map(\.number) == [2, 3])
        #expect(try await store.keptDecisions(from: 6, behind: 0, limit: 10).map(\.number) == [3])
        #expect(try await store.keptDecisions(from: 5, behind: 2, limit: 10).map(\.number) == [3])
        try await store.noteSettled([1], mark: 8)
        #expect(try await store.owedDecisions(limit: 10).map(\.number) == [4])
        try await store.forgetKept(before: 8)
        // Owed decisions stay, however old they are.
        #expect(try await store.owedDecisions(limit: 10).map(\.number) == [4])
        #expect(try await store.keptDecisions(from: 0, behind: 0, limit: 10).map(\.number) == [1])
    }

    @Test(.timeLimit(.minutes(10)))
    func forgetsWhatHasEndedWhileItIsIdle() async throws {
        // The writer asks for the time before each piece, and once more after the last one.
        let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var options = SQLiteDecisionStore.Options()
        options.settledTime = {
            look.yield()
            return SettledTime(end: .max, deletion: .max)
        }
        let store = try open(options: options)
        for number in 0..<700 as Range<UInt64> {
            _ = try await store.commit(
                LicenseDecision(
                    now: 0, replay: SampleDecisions.replay(number, keptUntil: number < 600 ? 3600 : 7300),
                    tokenUse: SampleDecisions.use(number, limit: 1, keptUntil: number < 600 ? 3600 : 7300),
                    entry: SampleDecisions.entry(number)))
        }
        try await store.append(SampleDecisions.entry(0, at: 7200))
        for await _ in looks where store.statistics.forgottenCount >= 1200 { break }
        #expect(store.statistics.forgottenCount == 1200)
        store.stop()
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        #expect(try connection.readInteger("SELECT count(*) FROM cell WHERE kind = 1") == 100)
        #expect(try connection.readInteger("SELECT count(*) FROM cell WHERE kind = 2") == 100)
    }

    @Test func takesAtMostTwoHundredBytesForALicense() async throws {
        let store = try open()
        let perBatch = 20
        for batch in 0..<50 as Range<UInt64> {
            try await withThrowingTaskGroup { tasks in
                for number in 0..<UInt64(perBatch) {
                    tasks.addTask {
                        var entry = SampleDecisions.entry(batch * 20 + number)
                        entry.tokenID = "0f8fad5b-d9cb-469f-a165-70867728950e"
                        entry.content = "a-content-id-of-average-size/episode-7"
                        try await store.append(entry)
                    }
                }
                try await tasks.waitForAll()
            }
        }
        store.stop()
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        let pages = try connection.readInteger(
            "SELECT sum(pgsize) FROM dbstat WHERE name IN ('ledger_entry', 'ledger_batch')")
        #expect(pages / 1000 <= 200, "\(pages / 1000) bytes")
    }
}

/// Opens and verifies the ledger of tests.
enum SampleLedger {
    static func chain(key: UInt8 = 7, node: String = "node-1") throws -> LedgerChain {
        LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: key, count: 32))), node: try NodeID(node))
    }

    /// Returns the entries of a ledger. Records an issue if it does not verify.
    static func verify(_ path: String) throws -> [LedgerEntry] {
        var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 1000)
        var batches = try connection.prepare(
            "SELECT first_sequence, last_sequence, at, mac FROM ledger_batch ORDER BY first_sequence")
        var rows = try connection.prepare(
            "SELECT sequence, body FROM ledger_entry WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence")
        var verifier = try LedgerVerifier(chain())
        var entries: [LedgerEntry] = []
        while try batches.step() {
            let batch = LedgerBatch(
                first: try batches.integer(at: 0), last: try batches.integer(at: 1), at: try batches.integer(at: 2),
                seal: try batches.bytes(at: 3))
            let ofBatch = try rows.rows(batch.first, batch.last) { row throws(StoreError) in
                LedgerRow(sequence: try row.integer(at: 0), body: try row.bytes(at: 1))
            }
            #expect(try verifier.read(batch, ofBatch) == [])
            entries += try ofBatch.map { try LedgerEntry(parsing: $0.body) }
        }
        #expect(verifier.finish([]) == [])
        #expect(try connection.readInteger("SELECT count(*) FROM ledger_entry") == Int64(entries.count))
        return entries
    }
}
