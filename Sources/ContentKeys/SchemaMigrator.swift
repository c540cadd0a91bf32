import ByteCoding

/// One step of a database's schema. It runs only once in a database.
///
/// A step only adds tables and columns, because the previous version may still run beside this one. A later step
/// removes what no version uses any more, and raises `oldestProgram`. Released steps are never edited.
package struct SchemaMigration<Script: Sendable>: Sendable {
    /// The step's number: 1, 2, 3 and so on, without gaps.
    package let number: Int64
    /// The smallest number of known steps with which a program can work with the schema after this step.
    package let oldestProgram: Int64
    /// The step in the store's own SQL.
    package let script: Script

    package init(number: Int64, oldestProgram: Int64, script: Script) {
        self.number = number
        self.oldestProgram = oldestProgram
        self.script = script
    }
}

/// The state of a database's schema.
package enum SchemaState: Equatable, Sendable {
    case empty
    /// The tables belong to another program.
    case foreign
    /// A version before the first release made the tables.
    case retired
    /// The steps through `newest` have run. Programs that know fewer than `oldestProgram` steps cannot work with the
    /// schema.
    case migrated(newest: Int64, oldestProgram: Int64)
}

/// A database whose migration steps `SchemaMigrator` chooses. The store runs them in its own SQL.
///
/// The table `schema_version` has a row for each step that has run, with the oldest program that can still work with
/// the schema. A program can therefore use the database of a newer version if the newer schema allows it.
package protocol MigratedDatabase: ~Copyable {
    associatedtype Script: Sendable
    associatedtype Failure: Error

    /// Returns the state of the schema. Changes nothing, and takes no lock.
    mutating func schemaState() throws(Failure) -> SchemaState
    /// Begins a transaction that only one program at a time can have.
    mutating func beginMigration() throws(Failure)
    /// Runs a step and records it. The first step also creates `schema_version`.
    mutating func apply(_ step: SchemaMigration<Script>) throws(Failure)
    mutating func commit() throws(Failure)
    mutating func rollBack()
}

/// Migrates a database to this program's schema.
package struct SchemaMigrator<Script: Sendable> {
    private let steps: [SchemaMigration<Script>]

    /// Makes a migrator of all steps that this program can run, in their order.
    package init(_ steps: [SchemaMigration<Script>]) {
        precondition(steps.map(\.number) == steps.indices.map { Int64($0) + 1 }, "steps have no gaps")
        self.steps = steps
    }

    /// Runs all missing steps or none. A database that is refused is not changed. If no step is missing, takes no lock.
    package func run<Database: MigratedDatabase & ~Copyable>(
        on database: inout Database
    ) throws(SchemaError<Database.Failure>) where Database.Script == Script {
        guard try !missingSteps(of: &database).isEmpty else { return }
        try wrap(SchemaError<Database.Failure>.database, try database.beginMigration())
        do throws(SchemaError<Database.Failure>) {
            // Another program may have migrated the database before this one had the lock.
            for step in try missingSteps(of: &database) {
                try wrap(SchemaError<Database.Failure>.database, try database.apply(step))
            }
            try wrap(SchemaError<Database.Failure>.database, try database.commit())
        } catch {
            database.rollBack()
            throw error
        }
    }

    /// Returns the steps that have not run. A newer database that this program can use lacks no steps.
    private func missingSteps<Database: MigratedDatabase & ~Copyable>(
        of database: inout Database
    ) throws(SchemaError<Database.Failure>) -> ArraySlice<SchemaMigration<Script>> {
        switch try wrap(SchemaError<Database.Failure>.database, try database.schemaState()) {
        case .empty: return steps[...]
        case .foreign: throw .foreign
        case .retired: throw .retired
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(steps.count)
            guard oldestProgram <= supported else { throw .tooNew(found: newest, supported: supported) }
            return steps.drop { $0.number <= newest }
        }
    }
}

/// The reason why a database cannot be migrated to this program's schema.
package enum SchemaError<Failure: Error>: Error {
    /// The database belongs to another program.
    case foreign
    /// A version before the first release made the database.
    case retired
    /// A newer version made the schema, and recorded that this version cannot use it.
    case tooNew(found: Int64, supported: Int64)
    case database(Failure)
}

extension SchemaError: Equatable where Failure: Equatable {}
