import ByteCoding

/// One step of a database's schema. It runs once in the life of the database.
///
/// A step only adds (expand) while the version before still runs beside this one. What no version uses any more goes in
/// a later step (contract), which raises `oldestProgram`. Released steps are never edited.
package struct SchemaMigration<Script: Sendable>: Sendable {
    /// Steps are numbered 1, 2, 3, without gaps.
    package let number: Int64
    /// Programs that know fewer steps than this cannot work with the schema that this step leaves behind.
    package let oldestProgram: Int64
    /// The store's own SQL.
    package let script: Script

    package init(number: Int64, oldestProgram: Int64, script: Script) {
        self.number = number
        self.oldestProgram = oldestProgram
        self.script = script
    }
}

/// What a database says about its schema.
package enum SchemaState: Equatable, Sendable {
    case empty
    /// The tables are those of another program.
    case foreign
    /// The steps through `newest` have run. Programs that know fewer than `oldestProgram` steps cannot work with the
    /// result.
    case migrated(newest: Int64, oldestProgram: Int64)
}

/// A database of which `SchemaMigrator` decides the steps. The store carries them out in its own SQL.
///
/// The table `schema_migration` says which steps the database has been through, each with the oldest program that can
/// still work with it. So a program may use the database of a newer one as long as the newer schema allows.
package protocol MigratedDatabase: ~Copyable {
    associatedtype Script: Sendable
    associatedtype Failure: Error

    /// Changes nothing, and takes no lock.
    mutating func schemaState() throws(Failure) -> SchemaState
    /// Begins a transaction that one program at a time can have.
    mutating func beginMigration() throws(Failure)
    /// Runs a step and records it. The first step also makes `schema_migration`.
    mutating func apply(_ step: SchemaMigration<Script>) throws(Failure)
    mutating func commit() throws(Failure)
    mutating func rollBack()
}

/// Brings a database to the schema of this program.
package struct SchemaMigrator<Script: Sendable> {
    private let steps: [SchemaMigration<Script>]

    /// All steps that this program knows, in their order.
    package init(_ steps: [SchemaMigration<Script>]) {
        precondition(steps.map(\.number) == steps.indices.map { Int64($0) + 1 }, "steps have no gaps")
        self.steps = steps
    }

    /// Runs the steps that are missing, all or none. Changes nothing in a database that is refused, and takes no lock
    /// if no step is missing.
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

    /// Steps that the database has not been through. A newer database that this program can work with lacks none.
    private func missingSteps<Database: MigratedDatabase & ~Copyable>(
        of database: inout Database
    ) throws(SchemaError<Database.Failure>) -> ArraySlice<SchemaMigration<Script>> {
        switch try wrap(SchemaError<Database.Failure>.database, try database.schemaState()) {
        case .empty: return steps[...]
        case .foreign: throw .foreign
        case .migrated(let newest, let oldestProgram):
            let supported = Int64(steps.count)
            guard oldestProgram <= supported else { throw .tooNew(found: newest, supported: supported) }
            return steps.drop { $0.number <= newest }
        }
    }
}

/// Why a database does not have the schema of this program.
package enum SchemaError<Failure: Error>: Error {
    /// The database is another program's.
    case foreign
    /// A newer version made the schema, and says that this one cannot work with it.
    case tooNew(found: Int64, supported: Int64)
    case database(Failure)
}

extension SchemaError: Equatable where Failure: Equatable {}
