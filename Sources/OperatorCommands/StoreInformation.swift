import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Foundation
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

extension Command {
    static let informOfStore = Command(
        "info",
        summary: "Say what is stored where, how much it is, and which versions can work with it",
        details: """
            Tells of the node's own database, and beside PostgreSQL of the one that all nodes share: its place, the schema's number and the
            programs that can work with it, sizes and free disk, how many keys and ledger entries there are, the id of the node, how far
            its ledger has come, and the highest time that was trusted. Shows no secret and changes nothing; the daemon may serve
            meanwhile.
            """,
        examples: [
            "latchkey store info --config latchkey.json5",
            "latchkey store info --config latchkey.json5 --json",
        ],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            try StoreInformation(arguments, context).run(asJSON: arguments.isSet(.json))
        })
}

/// What `latchkey store info` tells.
private struct StoreInformation {
    private let file: ConfigurationFile
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        file = try OpenedLedger.configuration(arguments.required(.config), context)
        self.context = context
    }

    func run(asJSON: Bool) throws(CommandError) {
        let storage = file.configuration.storage
        let path = storage.databasePath
        let summary: StoreSummary
        do throws(StorageOpeningError) {
            summary = try StoreSummary.read(path: path)
        } catch .fileNotUsable(_, ENOENT) {
            throw .failed("there is no database \(path); the daemon makes it when it starts")
        } catch {
            throw CommandError.opening(path)(error)
        }
        let shared = sharedSummary(storage.sharedAddress)
        let disk = DiskUse(of: path)
        if asJSON {
            try context.printObject { writer in
                writer.member("kind", shared == nil ? "sqlite" : "postgresql")
                writer.member("path", path)
                writer.member("node", summary.node.text)
                writer.member("name", file.configuration.node)
                writer.member("program", LatchkeyVersion.current)
                write(summary, disk, to: &writer)
                writer.object("shared", shared) { $1.write(to: &$0) }
            }
        } else {
            for (name, value) in lines(summary, disk) + (shared?.lines ?? []) {
                try context.print(name.padding(toLength: 22, withPad: " ", startingAt: 0) + value)
            }
        }
        if case .unreachable(let address, let reason)? = shared {
            throw .failed("cannot read the database \(address): \(reason)")
        }
    }

    /// Nil with SQLite alone.
    private func sharedSummary(_ address: String?) -> SharedInformation? {
        guard let address else { return nil }
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let settings = loader.postgreSQL() else {
            return .unreachable(address, loader.error?.description ?? "its password cannot be read")
        }
        do throws(PostgreSQLOpeningError) {
            return .read(address, try SharedStoreSummary.read(settings))
        } catch {
            return .unreachable(address, error.explanation)
        }
    }

    private func write(_ summary: StoreSummary, _ disk: DiskUse, to writer: inout JSONWriter) {
        writer.member("schema", summary.schema)
        writer.member("oldestProgram", summary.oldestProgram)
        writer.member("programSchema", StoreSummary.knownSchema)
        writer.member("isServed", summary.oldestProgram <= StoreSummary.knownSchema)
        writer.member("size", disk.size)
        writer.member("logSize", disk.logSize)
        writer.member("freeDisk", disk.free)
        writer.member("keys", summary.keyCount)
        writer.member("entries", summary.entryCount)
        writer.member("first", summary.firstSequence)
        writer.member("last", summary.link.sequence)
        writer.member("sealedAt", summary.sealedAt.map(UnixTime.text))
        writer.member("settled", summary.settled.map(UnixTime.text))
    }

    private func lines(_ summary: StoreSummary, _ disk: DiskUse) -> [(String, String)] {
        var lines = [
            ("database", file.configuration.storage.databasePath),
            ("node", "\(summary.node), called \(file.configuration.node)"),
            ("schema", Self.schema(summary.schema, summary.oldestProgram, StoreSummary.knownSchema)),
            ("size", "\(Self.mebibytes(disk.size)), and \(Self.mebibytes(disk.logSize)) of log"),
            ("free disk", disk.free.map(Self.mebibytes) ?? "not known"),
            ("keys", "\(summary.keyCount)"),
        ]
        let range = summary.firstSequence.map { ", from sequence \($0) to \(summary.link.sequence)" } ?? ""
        lines.append(("ledger entries", "\(summary.entryCount)\(range)"))
        if let sealedAt = summary.sealedAt { lines.append(("last entry at", UnixTime.text(sealedAt))) }
        if let settled = summary.settled { lines.append(("confirmed time", UnixTime.text(settled))) }
        return lines
    }

    static func schema(_ number: Int64, _ oldestProgram: Int64, _ known: Int64) -> String {
        "\(number); it serves programs that know \(oldestProgram) or more, and this one knows \(known)"
    }

    static func mebibytes(_ bytes: Int64) -> String {
        let tenths = (bytes * 10) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}

/// How much room a database takes, in bytes.
private struct DiskUse {
    let size: Int64
    /// Of the write-ahead log.
    let logSize: Int64
    /// What is left for this user on the disk; nil if the system does not say.
    let free: Int64?

    init(of path: String) {
        size = Self.size(of: path)
        logSize = Self.size(of: path + "-wal")
        let folder = BackupFolder.parent(of: path)
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }

    private static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}

/// The database of all nodes.
private enum SharedInformation {
    case read(_ address: String, SharedStoreSummary)
    case unreachable(_ address: String, _ reason: String)

    func write(to writer: inout JSONWriter) {
        switch self {
        case .unreachable(let address, let reason):
            writer.member("address", address)
            writer.member("error", reason)
        case .read(let address, let summary):
            writer.member("address", address)
            writer.member("server", summary.server)
            writer.member("schema", summary.schema)
            writer.member("oldestProgram", summary.oldestProgram)
            writer.member("programSchema", SharedStoreSummary.knownSchema)
            writer.member("isServed", summary.oldestProgram <= SharedStoreSummary.knownSchema)
            writer.member("size", summary.size)
            writer.member("keys", summary.keyCount)
            writer.member("settled", summary.settled.map(UnixTime.text))
            writer.objects("nodes", summary.nodes) { writer, node in
                writer.member("node", node.node)
                writer.member("name", node.label)
                writer.member("last", node.last)
            }
        }
    }

    var lines: [(String, String)] {
        switch self {
        case .unreachable(let address, _): return [("shared database", address)]
        case .read(let address, let summary):
            let schema = StoreInformation.schema(
                summary.schema, summary.oldestProgram, SharedStoreSummary.knownSchema)
            var lines = [
                ("shared database", address),
                ("server", "PostgreSQL \(summary.server / 10_000).\(summary.server % 10_000)"),
                ("shared schema", schema),
                ("shared size", StoreInformation.mebibytes(summary.size)),
                ("shared keys", "\(summary.keyCount)"),
            ]
            if let settled = summary.settled { lines.append(("shared confirmed time", UnixTime.text(settled))) }
            for node in summary.nodes {
                lines.append(
                    ("ledger copy", "node \(node.node), called \(node.label), to sequence \(node.last)"))
            }
            return lines
        }
    }
}
