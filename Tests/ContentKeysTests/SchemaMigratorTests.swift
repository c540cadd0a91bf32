import Testing

@testable import ContentKeys

@Suite struct SchemaMigratorTests {
    /// A database that records its calls. On request it simulates other programs and failures.
    private struct ScriptedDatabase: MigratedDatabase {
        enum Event: Equatable {
            case read
            case begin
            case apply(Int64, String)
            case commit
            case rollBack
        }

        struct Failure: Error, Equatable {
            let event: Event
        }

        var state: SchemaState
        /// The state after another program's migration, just before this program gets the lock.
        var stateBehindLock: SchemaState?
        /// The call that must fail.
        var failing: Event?
        private(set) var events: [Event] = []

        init(_ state: SchemaState) {
            self.state = state
        }

        private mutating func note(_ event: Event) throws(Failure) {
            events.append(event)
            if event == failing { throw Failure(event: event) }
        }

        mutating func schemaState() throws(Failure) -> SchemaState {
            try note(.read)
            return state
        }

        mutating func beginMigration() throws(Failure) {
            try note(.begin)
            state = stateBehindLock ?? state
        }

        mutating func apply(_ step: SchemaMigration<String>) throws(Failure) {
            try note(.apply(step.number, step.script))
        }

        mutating func commit() throws(Failure) { try note(.commit) }

        mutating func rollBack() { events.append(.rollBack) }
    }

    private typealias Refusal = SchemaError<ScriptedDatabase.Failure>

    private static let steps = [
        SchemaMigration(number: 1, oldestProgram: 1, script: "one"),
        SchemaMigration(number: 2, oldestProgram: 1, script: "two"),
        SchemaMigration(number: 3, oldestProgram: 2, script: "three"),
    ]

    private func run(on database: inout ScriptedDatabase) throws(Refusal) {
        try SchemaMigrator(Self.steps).run(on: &database)
    }

    @Test(
        arguments: [
            (SchemaState.empty, [1, 2, 3]), (.migrated(newest: 1, oldestProgram: 1), [2, 3]),
            (.migrated(newest: 2, oldestProgram: 1), [3]),
        ] as [(SchemaState, [Int64])])
    func runsTheStepsThatAreMissingInOneTransaction(state: SchemaState, numbers: [Int64]) throws {
        var database = ScriptedDatabase(state)
        try run(on: &database)
        let applied = Self.steps.filter { numbers.contains($0.number) }
            .map { ScriptedDatabase.Event.apply($0.number, $0.script) }
        #expect(applied.count == numbers.count)
        #expect(database.events == [.read, .begin, .read] + applied + [.commit])
    }

    /// A newer database is used if its own steps allow this program.
    @Test(
        arguments: [
            SchemaState.migrated(newest: 3, oldestProgram: 2), .migrated(newest: 4, oldestProgram: 2),
            .migrated(newest: 9, oldestProgram: 3),
        ])
    func takesNoLockIfNoStepIsMissing(state: SchemaState) throws {
        var database = ScriptedDatabase(state)
        try run(on: &database)
        #expect(database.events == [.read])
    }

    @Test(
        arguments: [
            (SchemaState.foreign, Refusal.foreign), (.retired, .retired),
            (.migrated(newest: 4, oldestProgram: 4), .tooNew(found: 4, supported: 3)),
            (.migrated(newest: 9, oldestProgram: 5), .tooNew(found: 9, supported: 3)),
        ])
    private func refusesADatabaseWithoutTouchingIt(state: SchemaState, refusal: Refusal) {
        var database = ScriptedDatabase(state)
        #expect(throws: refusal) { try run(on: &database) }
        #expect(database.events == [.read])
    }

    @Test func looksAgainBehindTheLock() throws {
        var faster = ScriptedDatabase(.empty)
        faster.stateBehindLock = .migrated(newest: 3, oldestProgram: 2)
        try run(on: &faster)
        #expect(faster.events == [.read, .begin, .read, .commit])

        var newer = ScriptedDatabase(.empty)
        newer.stateBehindLock = .migrated(newest: 4, oldestProgram: 4)
        #expect(throws: Refusal.tooNew(found: 4, supported: 3)) { try run(on: &newer) }
        #expect(newer.events == [.read, .begin, .read, .rollBack])
    }

    @Test(arguments: [ScriptedDatabase.Event.apply(2, "two"), .commit])
    private func leavesNothingOfAMigrationThatFails(failing: ScriptedDatabase.Event) {
        var database = ScriptedDatabase(.empty)
        database.failing = failing
        #expect(throws: Refusal.database(.init(event: failing))) { try run(on: &database) }
        #expect(database.events.suffix(2) == [failing, .rollBack])
    }

    /// No transaction has begun, so there is nothing to roll back.
    @Test func passesOnThatNoTransactionBegan() {
        var database = ScriptedDatabase(.empty)
        database.failing = .begin
        #expect(throws: Refusal.database(.init(event: .begin))) { try run(on: &database) }
        #expect(database.events == [.read, .begin])
    }
}
